// Positions: the score of a query and a key at two places, a pair of dimensions as a turning hand,
// and all positions as a map.

const INPUTS = ["kind", "n_positions", "d_model", "base", "query_at", "key_at", "pair", "words"];
const KINDS = ["none", "sinusoidal", "rotary"];
const EXPLAIN = {
  none: "Nothing tells a place. The score is the same wherever query and key stand, and no hand turns.",
  sinusoidal:
    "Sines and cosines are added to the content. The part of the score that comes from positions " +
    "alone depends on the distance only; where content meets position, the place counts too.",
  rotary:
    "Each pair of dimensions is turned, the farther the later it stands. Move both: the two hands " +
    "turn together, the angle between them stays, and so does the score.",
};
const quoted = (word) => `“${word}”`;

// The two dimensions of a pair: the horizontal and the vertical one of its hand.
const dimensions = (kind, pair, d) =>
  kind === "sinusoidal" ? [2 * pair + 1, 2 * pair] : [pair, pair + d / 2];

class PositionsWidget extends LinkedWidget {
  constructor(model, el) {
    super(model, INPUTS);
    this.build(el);
    this.draw();
  }

  fits({ n_positions: n, d_model: d, query_at: i, key_at: j, pair, words }) {
    return Math.max(i, j) < n && pair < d / 2 && words.length > 1;
  }

  buildSliders() {
    const apart = () => this.state.key_at - this.state.query_at;
    const inside = (n) => ({
      query_at: Math.min(this.state.query_at, n - 1),
      key_at: Math.min(this.state.key_at, n - 1),
    });
    const together = {
      tell: (i) => `${i}, ${i + apart()}`,
      more: (i) => ({ key_at: i + apart() }),
    };
    const powers = {
      place: Math.log2,
      value: (x) => 2 ** x,
      more: (d) => ({ pair: Math.min(this.state.pair, d / 2 - 1) }),
    };
    const decades = { place: Math.log10, value: (x) => Number((10 ** x).toPrecision(2)) };
    this.sliders = {
      both: this.slider("Both together", "query_at", {}, together),
      query: this.slider("Query at", "query_at", { min: 0 }),
      key: this.slider("Key at", "key_at", { min: 0 }),
      pair: this.slider("Pair shown", "pair", { min: 0 }),
      count: this.slider("Positions", "n_positions", { min: 2, max: 64 }, { more: inside }),
      width: this.slider("Width d_model", "d_model", { min: 1, max: 5 }, powers),
      base: this.slider("Base", "base", { min: 0, max: 6, step: 0.25 }, decades),
    };
  }

  build(el) {
    this.kind = this.choice(
      "Positions are",
      "kind",
      KINDS.map((kind) => [kind, kind]),
    );
    this.buildSliders();
    this.chart = new DistanceChart(
      (distance) => {
        const { n_positions: n, query_at: i, key_at: j } = this.state;
        const key_at = Math.max(0, Math.min(n - 1, i + distance));
        this.dragging = true;
        if (key_at !== j) this.change({ key_at }, "drag");
      },
      () => {
        this.dragging = false;
        this.history.seal();
        this.draw();
      },
    );
    this.map = new PositionMap((query_at, c) => {
      const { kind, d_model: d } = this.state;
      this.change(
        { query_at, pair: kind === "sinusoidal" ? Math.floor(c / 2) : c % (d / 2) },
        null,
      );
    });
    this.dial = new PairDial();
    this.explanation = html("p", { class: "mt-explain" });
    this.summary = html("p", { class: "mt-summary", role: "status" });
    [this.moved, this.turned, this.sentence] = ["moved", "turned", "sentence"].map((name) =>
      html("table", { class: `mt-${name}` }),
    );
    this.all = html("table", { class: "mt-matrix mt-all" });
    this.verdict = html("p", { class: "mt-verdict" });
    this.arrange(el);
  }

  arrange(el) {
    const buttons = this.buildButtons();
    const { both, query, key, ...others } = this.sliders;
    const sliders = (...some) => div("mt-sliders", ...some.map(({ node }) => node));
    const legend = (...text) => html("p", { class: "mt-legend" }, ...text);
    const chartLegend = legend(
      "Thick line: the query where it stands now. Thin lines: the same query at every other ",
      "position; where the distance alone counts, they all coincide. Drag along to move the key.",
    );
    const mapLegend = legend(
      "What each position does to the vector: the stronger the shade, the larger the number. ",
      "Framed: the rows of query (solid) and key (dashed), and the pair shown. Tap to choose a query and a pair.",
    );
    this.details = html(
      "details",
      { ontoggle: () => this.drawAll() },
      html("summary", {}, "The map as a table"),
      scroller("All positions", this.all),
    );
    const root = div(
      "mt-widget mt-positions",
      html(
        "p",
        {},
        html("b", {}, "Positions. "),
        "A query and a key of the same content, 1 in every dimension, stand at two places. Move ",
        "them with “Both together”, once for each kind of positions, and watch the score.",
      ),
      this.kind.node,
      sliders(both, query, key),
      buttons,
      this.problem,
      div(
        "mt-stage",
        this.explanation,
        div("mt-picture", this.chart.root, chartLegend),
        div("mt-working", scroller("Scores of both moved together", this.moved), this.summary),
      ),
      sliders(...Object.values(others)),
      div(
        "mt-stage",
        div("mt-picture", this.map.root, mapLegend),
        div("mt-working", this.dial.root, scroller("Angles of the pair", this.turned)),
      ),
      scroller("A sentence in both orders", this.sentence),
      this.verdict,
      this.details,
    );
    this.mount(el, root, "Positions");
  }

  draw() {
    const { kind, n_positions: n, d_model: d, base, query_at: i, key_at: j, words } = this.state;
    const inputs = JSON.stringify([kind, n, d, base, words]);
    if (this.shown !== inputs) {
      this.shown = inputs;
      this.numbers = positioned(kind, n, d, base);
      this.chart.drawAll(this.numbers.scores);
      this.map.drawCells(this.numbers.encoding);
      this.drawSentence();
      this.drawAll();
    }
    const { both, query, key, pair } = this.sliders;
    for (const { input } of [query, key]) setAttributes(input, { max: n - 1 });
    setAttributes(both.input, { min: i - Math.min(i, j), max: n - 1 - Math.max(i, j) + i });
    setAttributes(pair.input, { max: d / 2 - 1 });
    for (const { show } of [this.kind, ...Object.values(this.sliders)]) show();
    this.drawButtons();
    setText(this.explanation, EXPLAIN[kind]);
    this.chart.drawAt(i, j);
    this.map.drawMarks(i, j, dimensions(kind, this.state.pair, d));
    this.drawMoved();
    this.drawTurned();
    this.summary.setAttribute("aria-busy", String(this.dragging)); // speak when the drag is over
    setText(this.summary, this.inWords());
  }

  // Both moved together, to five places between the first position and the last.
  drawMoved() {
    const { n_positions: n, query_at: i, key_at: j } = this.state;
    const [back, on] = [-Math.min(i, j), n - 1 - Math.max(i, j)];
    const shifts = [...new Set([back, Math.trunc(back / 2), 0, Math.trunc(on / 2), on])];
    const { scores, alone } = this.numbers;
    const heads = ["query at", "key at", "score", ...(alone ? ["positions alone"] : [])];
    fillTable(this.moved, {
      caption: `Moved together, ${Math.abs(j - i)} apart`,
      head: [heads.map((text) => heading(text, "col", { kind: "wrap" }))],
      rows: shifts.map((shift) => [
        heading(String(i + shift), "row", { followed: shift === 0 }),
        cell(String(j + shift), { kind: "number" }),
        number(scores[i + shift][j + shift]),
        ...(alone ? [number(alone[i + shift][j + shift])] : []),
      ]),
    });
  }

  drawTurned() {
    const { kind, d_model: d, base, query_at: i, key_at: j, pair } = this.state;
    const angle = (position) => (kind === "none" ? 0 : turn(position, pair, d, base));
    const [across, up] = dimensions(kind, pair, d);
    const start = kind === "sinusoidal" ? 0 : Math.PI / 4; // where content of ones points
    this.dial.draw(start + angle(i), start + angle(j), [across, up]);
    const round =
      kind === "none"
        ? "never turns"
        : `one full turn in ${fixed((2 * Math.PI) / angle(1), 1)} positions`;
    fillTable(this.turned, {
      caption: `Pair ${pair} (dimensions ${Math.min(across, up)} and ${Math.max(across, up)}): ${round}`,
      head: [["", "query", "key", "between"].map((text) => heading(text || "angle", "col"))],
      rows: [
        [
          heading("radians", "row"),
          ...[angle(i), angle(j), angle(i) - angle(j)].map((x) => number(x)),
        ],
      ],
    });
  }

  drawSentence() {
    const { kind, d_model, base, words } = this.state;
    const { weights, changes } = orders(kind, words, d_model, base);
    const middle = quoted(words[Math.floor(words.length / 2)]);
    const lines = [words, [...words].reverse()].map((line) => quoted(line.join(" ")));
    const heads = ["word", ...lines.map((line) => `weight in ${line}`), "its output changes by"];
    fillTable(this.sentence, {
      caption: `Does the order count? What ${middle} reads in both orders`,
      head: [heads.map((text) => heading(text, "col", { kind: "wrap" }))],
      rows: words.map((word, w) => [
        heading(word, "row"),
        ...weights.map((row) => number(row[w], { kind: "number bar", heat: row[w] })),
        number(changes[w]),
      ]),
    });
    setText(
      this.verdict,
      Math.max(...changes) < 1e-9
        ? `No: ${lines[0]} and ${lines[1]} give each word the same output.`
        : `Yes: ${lines[0]} and ${lines[1]} give the words other outputs.`,
    );
  }

  // The table of the map is filled while it is open.
  drawAll() {
    if (!this.details.open) return;
    const { encoding } = this.numbers;
    fillTable(this.all, {
      caption: "Rows are positions, columns dimensions",
      head: [[heading("position", "col"), ...encoding[0].map((_, c) => heading(String(c), "col"))]],
      rows: encoding.map((row, i) => [
        heading(String(i), "row"),
        ...row.map((x) => number(x, { text: fixed(x, 2) })),
      ]),
    });
  }

  inWords() {
    const { n_positions: n, query_at: i, key_at: j } = this.state;
    const { scores } = this.numbers;
    const found = `Query at ${i}, key at ${j}: score ${fixed(scores[i][j])}. `;
    const inside = (a) => a + j - i >= 0 && a + j - i < n;
    const same = scores.flatMap((row, a) => (inside(a) ? [row[a + j - i]] : []));
    if (same.length === 1) return `${found}No other place of the query has a key at this distance.`;
    const [least, most] = spread(same);
    return most - least < 1e-9
      ? `${found}Move both together: it is the same at all ${same.length} places.`
      : `${found}Move both together: over ${same.length} places it runs from ${fixed(least)} to ${fixed(most)}.`;
  }
}

export default {
  render({ model, el }) {
    const widget = new PositionsWidget(model, el);
    return () => widget.remove();
  },
};
