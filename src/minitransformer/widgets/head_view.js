// Head view: the attention of a whole model on stored texts, all heads at once and one of them
// large, with lines between the words.

const INPUTS = ["text", "layer", "head", "query", "hide"];
const MODEL = ["model", "n_layers", "n_heads", "texts", "maps"];
const HIDE = ["nothing", "first token", "first + marks"];
const LINES = { width: 340, left: 132, right: 208, step: 22, top: 16 };
const SHOWN = 8; // keys in the table
const [FAINT, THIN] = [0.2, 0.01]; // weights from which lines of other queries, of this one appear
const quoted = (token) => `“${token}”`;
const cut = (token) => (token.length > 14 ? `${token.slice(0, 13)}…` : token);

class HeadView extends LinkedWidget {
  constructor(model, el) {
    super(model, INPUTS, MODEL);
    this.el = el;
    this.unpacked = new Map(); // by what is stored of a text
    this.draw();
  }

  fits({ texts, maps, n_layers: layers, n_heads: heads, text, layer, head, query }) {
    const inside = text < texts.length && layer < layers && head < heads;
    return texts.length === maps.length && inside && query < texts[text][1].length;
  }

  get tokens() {
    return this.state.texts[this.state.text][1];
  }

  // Made anew only when the model or the titles are others.
  build() {
    const { model, texts, n_layers: layers, n_heads: heads } = this.state;
    const titles = texts.map(([title], k) => [k, title]);
    const about = JSON.stringify([model, layers, heads, titles]);
    if (this.built === about) return;
    this.built = about;
    this.root?.remove();
    [this.shown, this.shownMap] = [null, null];
    const inside = (k) => ({ query: Math.min(this.state.query, texts[k][1].length - 1) });
    this.texts = this.choice("Text", "text", titles, inside);
    this.hide = this.choice(
      "Hide keys",
      "hide",
      HIDE.map((name) => [name, name]),
    );
    const place = (i) => `${i} ${cut(this.tokens[i] ?? "")}`;
    this.sliders = [
      this.slider("Layer", "layer", { min: 0, max: layers - 1 }),
      this.slider("Head", "head", { min: 0, max: heads - 1 }),
      this.slider("Query", "query", { min: 0 }, { tell: place }),
    ];
    this.open = html("button", { type: "button", class: "mt-primary", onclick: () => this.load() });
    this.status = html("p", { class: "mt-legend", role: "status" });
    this.grid = new HeadGrid((layer, head) => this.change({ layer, head }, null));
    this.map = new HeadMap((query) => this.change({ query }, null));
    this.table = html("table", { class: "mt-top" });
    [this.faint, this.strong] = [
      svg("path", { class: "mt-faint" }),
      svg("g", { class: "mt-strong" }),
    ];
    this.words = svg("g");
    this.lines = svg(
      "svg",
      { class: "mt-lines", "aria-hidden": "true" },
      this.faint,
      this.strong,
      this.words,
    );
    this.lineBox = scroller("Lines from queries to keys", this.lines);
    this.lineBox.classList.add("mt-line-box");
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.arrange();
  }

  arrange() {
    const buttons = this.buildButtons();
    const legend = (...text) => html("p", { class: "mt-legend" }, ...text);
    this.inside = div(
      "mt-inside",
      this.hide.node,
      div("mt-sliders mt-places", ...this.sliders.map(({ node }) => node)),
      buttons,
      div(
        "mt-stage",
        div(
          "mt-picture",
          this.grid.root,
          legend("All heads: a row a layer, a column a head, each on its own scale. Tap one."),
          this.map.root,
          legend(
            "The chosen head: rows are queries, columns keys. Tap a row to choose its query. ",
            `Weights are stored in ${STEPS} steps.`,
          ),
        ),
        div(
          "mt-working",
          scroller("Largest weights of the query", this.table),
          this.summary,
          this.lineBox,
          legend(
            `Queries at the left, keys at the right. Strong: the chosen query. Faint: all others, `,
            `weights from ${FAINT}. Tap a word at the left to choose it.`,
          ),
        ),
      ),
    );
    const root = div(
      "mt-widget mt-head-view",
      html(
        "p",
        {},
        html("b", {}, "Head view. "),
        `Where ${this.state.model} looks: ${this.state.n_layers} layers of ${this.state.n_heads} heads.`,
      ),
      this.texts.node,
      div("mt-buttons", this.open),
      this.status,
      this.problem,
      this.inside,
    );
    this.mount(this.el, root, "Head view");
  }

  // A text's weights are asked for when the reader opens the view, not before.
  async load() {
    const stored = this.state.maps[this.state.text];
    if (this.unpacked.has(stored)) return;
    const { activeElement: held } = document; // is hidden when they are there, or meanwhile
    const back = held === this.open ? this.sliders[0].input : this.inside.contains(held) && held;
    this.opened = true;
    this.unpacked.set(stored, null); // on its way
    this.say(null);
    this.draw();
    try {
      const text = typeof stored === "string" ? stored : await this.model.load(stored);
      this.unpacked.set(stored, await unpack(text));
    } catch (error) {
      this.unpacked.delete(stored);
      this.opened = false;
      this.say(`The weights could not be loaded (${error.message}).`);
    }
    if (this.removed) return;
    const elsewhere = ![held, document.body].includes(document.activeElement);
    this.draw();
    if (back && this.opened && !elsewhere) back.focus({ preventScroll: true });
  }

  draw() {
    this.build();
    const stored = this.state.maps[this.state.text];
    if (this.opened && !this.unpacked.has(stored)) this.load();
    const maps = this.unpacked.get(stored);
    const bytes = typeof stored === "string" ? stored.length : stored.bytes;
    this.texts.show();
    this.open.hidden = Boolean(maps); // until then it keeps the focus of whoever pressed it
    setAttributes(this.open, { "aria-disabled": String(Boolean(this.opened)) });
    setText(this.open, `Show the heads (${fixed(bytes / 1e6, 2)} MB)`);
    setText(this.status, this.opened && !maps ? "Loading the weights …" : "");
    this.inside.hidden = !maps;
    if (!maps) return;
    this.say(null);
    this.drawHeads(maps);
  }

  drawHeads(maps) {
    const { text, layer, head, query, hide, n_layers: layers, n_heads: heads } = this.state;
    const n = this.tokens.length;
    const hidden = hiddenKeys(this.tokens, hide);
    const shown = JSON.stringify([text, hide, this.tokens]);
    if (this.shown !== shown) {
      this.grid.paint(maps, n, layers, heads, hidden);
      this.drawWords(hidden);
    }
    if (this.shownMap !== `${shown} ${layer} ${head}`) {
      this.map.paint(maps, n, layer * heads + head, hidden);
      this.drawFaint(maps, hidden);
    }
    [this.shown, this.shownMap] = [shown, `${shown} ${layer} ${head}`];
    setAttributes(this.sliders[2].input, { max: n - 1 });
    for (const { show } of [this.hide, ...this.sliders]) show();
    this.drawButtons();
    this.grid.choose(layer, head);
    this.map.choose(query);
    const found = lookUp(maps, n, heads, layer, head, query, hidden);
    this.drawStrong(found, query);
    this.drawTable(found, query);
    setText(this.summary, this.inWords(found, query));
  }

  // --- lines between words

  y(i) {
    return LINES.top + i * LINES.step;
  }

  drawWords(hidden) {
    const height = this.y(this.tokens.length - 1) + LINES.top;
    setAttributes(this.lines, { viewBox: `0 0 ${LINES.width} ${height}` });
    const word = (x, i, anchor, more) =>
      svg("text", { x, y: this.y(i) + 5, "text-anchor": anchor, ...more }, cut(this.tokens[i]));
    this.queries = this.tokens.map((_, i) =>
      word(LINES.left - 8, i, "end", {
        class: "mt-word",
        onclick: () => this.change({ query: i }, null),
      }),
    );
    const keys = this.tokens.map((_, i) =>
      word(LINES.right + 8, i, "start", { class: hidden[i] ? "mt-gone" : "" }),
    );
    this.words.replaceChildren(...this.queries, ...keys);
  }

  drawFaint(maps, hidden) {
    const { layer, head, n_heads: heads } = this.state;
    const n = this.tokens.length;
    const start = (layer * heads + head) * n * n;
    let path = "";
    for (let k = 0; k < n * n; k += 1) {
      if (maps[start + k] < FAINT * STEPS || hidden[k % n]) continue;
      path += `M${LINES.left} ${this.y(Math.floor(k / n))}L${LINES.right} ${this.y(k % n)}`;
    }
    setAttributes(this.faint, { d: path });
  }

  drawStrong({ row, order }, query) {
    const line = (j) =>
      svg("line", {
        x1: LINES.left,
        y1: this.y(query),
        x2: LINES.right,
        y2: this.y(j),
        "stroke-width": 1 + 4 * row[j],
        "stroke-opacity": Math.max(0.15, row[j] / row[order[0]]),
      });
    this.strong.replaceChildren(...order.filter((j) => row[j] >= THIN).map(line));
    this.queries.forEach((word, i) => word.classList.toggle("mt-asks", i === query));
    const scale = this.lines.clientWidth / LINES.width; // keep the query in sight
    this.lineBox.scrollTop = this.y(query) * scale - this.lineBox.clientHeight / 2;
  }

  drawTable({ row, order, share }, query) {
    const { layer, head } = this.state;
    const top = order.slice(0, SHOWN);
    const rest = order.slice(SHOWN).reduce((sum, j) => sum + row[j], 0);
    fillTable(this.table, {
      caption: `Layer ${layer}, head ${head}: largest weights of ${quoted(this.tokens[query])}`,
      head: [["key", "place", "weight"].map((name) => heading(name, "col"))],
      rows: top.map((j) => [
        heading(this.tokens[j], "row", { kind: "key", followed: j === query }),
        cell(String(j), { kind: "number" }),
        number(row[j], { kind: "number bar", heat: row[j] }),
      ]),
      foot: [
        [heading("other keys", "row"), cell(""), number(rest)],
        [heading("hidden keys", "row"), cell(""), number(share)],
      ],
    });
  }

  inWords({ row, order, share }, query) {
    const asked = quoted(this.tokens[query]);
    const gone = share > 0 ? ` Keys that are hidden hold ${fixed(share, 2)} of its weight.` : "";
    if (order.length === 0) return `${asked} gives no weight to a key that is shown.${gone}`;
    return `${asked} looks most at ${quoted(this.tokens[order[0]])} (${fixed(row[order[0]], 2)}).${gone}`;
  }

  remove() {
    this.removed = true;
    super.remove();
  }
}

export default {
  render({ model, el }) {
    const view = new HeadView(model, el);
    return () => view.remove();
  },
};
