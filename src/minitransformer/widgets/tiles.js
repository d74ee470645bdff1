// Tiles: attention a few queries and a few keys at a time, step by step.

const INPUTS = ["query_tile", "key_tile", "causal", "step"];
const MOST_STEPS = 72; // as in Python; stands for “at the end”

const named = (i) => String(i + 1);
const SINGULAR = { queries: "query", keys: "key", outputs: "output" };

// "query 3", "keys 5 to 8"
function spoken(word, places) {
  if (places.length === 1) return `${SINGULAR[word]} ${named(places[0])}`;
  const join = places.length === 2 ? "and" : "to";
  return `${word} ${named(places[0])} ${join} ${named(places[places.length - 1])}`;
}

const titles = (...list) => [list.map((text) => heading(text, "col", { kind: "wrap" }))];
const capital = (text) => text[0].toUpperCase() + text.slice(1);

class TilesWidget extends LinkedWidget {
  constructor(model, el) {
    super(model, INPUTS, ["query", "key", "value"]);
    this.build(el);
    this.draw();
  }

  fits({ query, key, value, causal }) {
    return key.length === value.length && (!causal || query.length === key.length);
  }

  // Everything that the inputs decide, but for how far the reader has stepped.
  compute() {
    const { query, key, value, query_tile, key_tile, causal } = this.state;
    const inputs = JSON.stringify([query, key, value, query_tile, key_tile, causal]);
    if (this.computed === inputs) return;
    this.computed = inputs;
    this.steps = tileSteps(query, key, value, query_tile, key_tile, causal);
    this.plain = plainOutput(query, key, value, causal);
    this.stored = storedMoves(query, key, value);
  }

  at() {
    return Math.min(this.state.step, this.steps.length);
  }

  build(el) {
    this.compute();
    const stay = () => ({ step: this.at() === this.steps.length ? MOST_STEPS : 0 });
    const size = (label, name, rows) =>
      this.slider(label, name, { min: 1, max: this.state[rows].length, step: 1 }, {
        place: (x) => Math.min(x, this.state[rows].length),
        tell: (x) => String(Math.min(x, this.state[rows].length)),
        more: stay,
      });
    this.sizes = [
      [size("Queries a tile", "query_tile", "query"), "query"],
      [size("Keys a tile", "key_tile", "key"), "key"],
    ];
    this.stepper = this.slider("Step", "step", { min: 0, max: this.steps.length, step: 1 }, {
      place: () => this.at(),
      tell: () => `${this.at()} of ${this.steps.length}`,
    });
    this.mask = this.choice("Mask", "causal", [
      [false, "none"],
      [true, "causal"],
    ]);
    for (const radio of this.mask.node.querySelectorAll("input"))
      radio.addEventListener("change", () => this.set({ step: 0 }));
    this.picture = new TilePicture(); // the tables say the same
    const table = (kind) => html("table", { class: kind });
    this.running = table("mt-running");
    this.moves = table("mt-moves");
    this.outputs = table("mt-outputs");
    this.list = table("mt-list");
    this.more = html(
      "details",
      { ontoggle: () => this.drawMore() },
      html("summary", {}, "Outputs, and all steps as a table"),
      scroller("Outputs", this.outputs),
      scroller("Steps", this.list),
    );
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.arrange(el);
  }

  walkButtons() {
    const button = (label, kind, next) =>
      html(
        "button",
        {
          type: "button",
          class: kind,
          onclick: () => {
            const step = Math.max(0, Math.min(this.steps.length, next()));
            if (step !== this.at()) this.change({ step }, null);
          },
        },
        label,
      );
    this.back = button("Back", null, () => this.at() - 1);
    this.next = button("Next step", "mt-primary", () => this.at() + 1);
    this.end = button("To the end", null, () => this.steps.length);
    return [this.back, this.next, this.end];
  }

  arrange(el) {
    const buttons = this.buildButtons();
    buttons.prepend(...this.walkButtons());
    const root = div(
      "mt-widget",
      html(
        "p",
        {},
        html("b", {}, "Tiles. "),
        "Fast memory is small: it takes a few queries and a few keys at a time. Step through and ",
        "watch what is known of the queries when a larger score comes.",
      ),
      div("mt-sliders", ...[...this.sizes.map(([slider]) => slider), this.stepper].map(({ node }) => node)),
      this.mask.node,
      buttons,
      this.problem,
      this.summary,
      div(
        "mt-stage",
        div(
          "mt-picture",
          this.picture.root,
          html(
            "p",
            { class: "mt-legend" },
            "Filled: in fast memory, with the scores of the tile. Dots: scores that were used and ",
            "thrown away. Dashes: hidden by the mask. O: outputs, filled once written.",
          ),
        ),
        div(
          "mt-working",
          scroller("What is known of the queries", this.running),
          html(
            "p",
            { class: "mt-legend" },
            "Largest: the largest score so far. Total: e to the power of (score − largest), added ",
            "up; summed: the same, each times its value. Shrink: what both are multiplied by when ",
            "the largest rises. Output: summed over total.",
          ),
          scroller("Numbers moved", this.moves),
        ),
      ),
      this.more,
    );
    this.mount(el, root, "Tiles");
  }

  draw() {
    this.compute();
    for (const [{ input }, rows] of this.sizes) setAttributes(input, { max: this.state[rows].length });
    setAttributes(this.stepper.input, { max: this.steps.length });
    for (const { show } of [...this.sizes.map(([slider]) => slider), this.stepper, this.mask]) show();
    this.mask.node.hidden = this.state.query.length !== this.state.key.length;
    this.drawButtons();
    const [at, last] = [this.at(), this.steps.length];
    setAttributes(this.back, { "aria-disabled": String(at === 0) });
    for (const node of [this.next, this.end]) setAttributes(node, { "aria-disabled": String(at === last) });
    this.written = writtenOutputs(this.steps.slice(0, at), this.state.query.length);
    const step = at > 0 ? this.steps[at - 1] : null;
    this.picture.draw({ ...this.state, written: this.written, taken: this.steps.slice(0, at) });
    this.drawRunning(step);
    this.drawMoves(step);
    this.drawMore();
    setText(this.summary, this.inWords(step));
  }

  drawRunning(step) {
    const { rows, before, largest, shrink, total, summed } = step ?? { rows: [] };
    fillTable(this.running, {
      caption: step
        ? `Known of ${spoken("queries", rows)} after this step`
        : "Nothing is known of any query yet",
      head: step ? titles("query", "largest", "shrink", "total", "summed 1", "summed 2") : [],
      rows: rows.map((query, i) => [
        heading(named(query), "row", { kind: "query" }),
        number(largest[i]),
        before[i] === -Infinity || step.columns.length === 0
          ? cell("–", { value: 1, kind: "number" })
          : cell(`× ${fixed(shrink[i])}`, { value: shrink[i], kind: "number" }),
        number(total[i]),
        ...summed[i].map((x) => number(x)),
      ]),
    });
  }

  drawMoves(step) {
    const last = this.steps[this.steps.length - 1].moved;
    const bar = (text, x) => [
      heading(text, "row", { kind: "wrap" }),
      cell(String(x), { value: x, kind: "number bar", heat: x / Math.max(this.stored, last) }),
    ];
    fillTable(this.moves, {
      caption: "Numbers",
      head: titles("what", "how many"),
      rows: [
        bar("in fast memory now", step ? step.held : 0),
        bar("most at once", Math.max(...this.steps.map(({ held }) => held))),
        bar("moved so far", step ? step.moved : 0),
        bar("moved in all", last),
        bar("moved if scores and weights are stored", this.stored),
      ],
    });
  }

  drawMore() {
    if (!this.more.open) return;
    this.drawOutputs();
    this.drawList();
  }

  drawOutputs() {
    fillTable(this.outputs, {
      caption: "Outputs: in tiles, and from the whole matrix",
      head: titles("query", "tiles 1", "tiles 2", "whole 1", "whole 2"),
      rows: this.plain.map((whole, i) => [
        heading(named(i), "row", { kind: "query" }),
        ...whole.map((_, c) =>
          this.written[i] === null ? cell("–", { kind: "number" }) : number(this.written[i][c]),
        ),
        ...whole.map((x) => number(x)),
      ]),
    });
  }

  drawList() {
    fillTable(this.list, {
      caption: "All steps",
      head: titles("step", "queries", "keys", "moved so far"),
      rows: this.steps.map(({ rows, columns, moved }, k) => [
        heading(String(k + 1), "row", { followed: k + 1 === this.at() }),
        cell(spoken("queries", rows)),
        cell(columns.length ? spoken("keys", columns) : "outputs written"),
        cell(String(moved), { value: moved, kind: "number" }),
      ]),
    });
  }

  inWords(step) {
    const last = this.steps.length;
    if (step === null) return `Nothing is in fast memory yet. ${last} steps lie ahead.`;
    if (this.at() === last) return this.ending();
    const start = `Step ${this.at()} of ${last}. `;
    const { rows, columns, before, largest, shrink } = step;
    if (columns.length === 0)
      return `${start}Summed over total: ${spoken("outputs", rows)} written. No score was ever stored.`;
    const verb = rows.length === 1 ? "meets" : "meet";
    const meet = `${capital(spoken("queries", rows))} ${verb} ${spoken("keys", columns)}. `;
    if (before[0] === -Infinity) return `${start}${meet}These are the first keys they see.`;
    const i = largest.findIndex((x, k) => x > before[k]);
    if (i < 0) return `${start}${meet}No score is larger than the largest before: nothing shrinks.`;
    return (
      `${start}${meet}The largest score of query ${named(rows[i])} rises from ${fixed(before[i])} to ` +
      `${fixed(largest[i])}: what was added up before shrinks, × ${fixed(shrink[i])}.`
    );
  }

  ending() {
    const gaps = this.plain.flatMap((row, i) => row.map((x, c) => Math.abs(x - this.written[i][c])));
    const apart = Math.max(...gaps);
    const said = apart < 1e-12 ? "less than 10⁻¹²" : String(apart);
    return (
      `All outputs are written. They and those of plain attention are ${said} apart. Moved: ` +
      `${this.steps[this.steps.length - 1].moved} numbers; with scores and weights stored, ${this.stored}.`
    );
  }
}

export default {
  render({ model, el }) {
    const widget = new TilesWidget(model, el);
    return () => widget.remove();
  },
};
