// Library search: a request among cards in the plane, and the mixture of books it gets.

const INPUTS = ["words", "key", "value", "query", "sharpness"];
const LIMIT = 1e6; // the same as Python's
const MOST_SHARPNESS = 20;
const STRIP = { width: 400, height: 64, edge: 24 };
const quoted = (word) => `“${word}”`;

// One query (2 numbers) among keys: dot products, scores, weights, and the mixed value.
export function search(query, keys, values, sharpness) {
  const products = keys.map((key) => key.reduce((sum, x, k) => sum + x * query[k], 0));
  const scores = products.map((product) => sharpness * product);
  const weights = softmax(scores);
  const answer = weights.reduce((sum, weight, j) => sum + weight * values[j], 0);
  return { products, scores, weights, answer };
}

class LibrarySearch extends LinkedWidget {
  constructor(model, el) {
    super(model, INPUTS);
    this.build(el);
    this.draw();
  }

  fits({ words, key, value }) {
    return words.length === key.length && words.length === value.length;
  }

  build(el) {
    // the cards, and after them the request
    const row = (i) => (i < this.state.words.length ? ["key", i] : ["query", 0]);
    this.plane = new Plane(
      "The plane of cards and request",
      this.moves(row, () => {}),
    );
    this.slider = html("input", {
      type: "range",
      min: 0,
      max: MOST_SHARPNESS,
      step: 0.1,
      "aria-label": "Sharpness",
      oninput: () => this.sharpen(Number(this.slider.value), "slider"),
      onchange: () => this.history.seal(),
    });
    this.shownSharpness = html("output");
    const step = (label, next) => {
      const to = () => Math.min(MOST_SHARPNESS, next(this.state.sharpness));
      const node = html("button", { type: "button", onclick: () => this.sharpen(to(), null) }, label);
      const show = () =>
        setAttributes(node, { "aria-disabled": String(to() === this.state.sharpness) });
      return { node, show };
    };
    this.steps = [
      step("Average", () => 0),
      step("Soften", (now) => now / 2),
      step("Sharpen", (now) => (now === 0 ? 0.1 : now * 2)),
      step("Best card", () => MOST_SHARPNESS),
    ];
    this.table = html("table");
    this.strip = svg("svg", {
      viewBox: `0 0 ${STRIP.width} ${STRIP.height}`,
      class: "mt-strip",
      "aria-hidden": "true", // the table says the same
    });
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.editor = html("details");
    this.arrange(el);
  }

  arrange(el) {
    const buttons = this.buildButtons();
    const root = div(
      "mt-widget",
      html(
        "p",
        {},
        html("b", {}, "Library search. "),
        "Drag the request or a card, or move it with the arrow keys (Shift: small steps). ",
        "Soften or sharpen: all scores, weights and the answer are computed anew.",
      ),
      div(
        "mt-sliders",
        html(
          "label",
          { class: "mt-alone" },
          html("span", {}, "Sharpness"),
          this.slider,
          this.shownSharpness,
        ),
      ),
      div("mt-buttons", ...this.steps.map(({ node }) => node)),
      div(
        "mt-stage",
        div(
          "mt-picture",
          this.plane.root,
          html(
            "p",
            { class: "mt-legend" },
            "Arrow: the request. The larger the disc around a card, the more weight it gets; ",
            "the number is its weight.",
          ),
          buttons,
        ),
        div(
          "mt-working",
          scroller("Cards, scores and weights", this.table),
          this.strip,
          html(
            "p",
            { class: "mt-legend" },
            "The line of books: a circle for each, as large as its weight. The bar is the answer.",
          ),
          this.summary,
        ),
      ),
      this.problem,
      this.editor,
    );
    this.mount(el, root, "Library search");
  }

  sharpen(sharpness, tag) {
    if (sharpness !== this.state.sharpness) this.change({ sharpness }, tag);
  }

  // The number fields: made anew only when the words are others.
  buildFields(words) {
    if (this.shown === JSON.stringify(words)) return;
    this.shown = JSON.stringify(words);
    this.fields = [];
    const axes = ["dimension 1", "dimension 2"];
    this.editor.replaceChildren(
      html("summary", {}, "Type the numbers"),
      div(
        "mt-projections",
        this.fieldTable("query", "Request", ["request"], axes, LIMIT),
        this.fieldTable("key", "Cards", words, axes, LIMIT),
        this.fieldTable("value", "Books", words, ["value"], LIMIT),
      ),
    );
  }

  draw() {
    const { words, key, value, query, sharpness } = this.state;
    const books = value.map(([book]) => book);
    const found = search(query[0], key, books, sharpness);
    this.buildFields(words);
    this.fields.forEach(({ show }) => show());
    this.drawButtons();
    this.slider.value = String(sharpness);
    setText(this.shownSharpness, short(sharpness));
    for (const { show } of this.steps) show();
    if (!this.dragging) this.plane.setWindow(niceWindow([...key, ...query]));
    this.drawPlane(found);
    this.drawStrip(books, found);
    this.drawTable(books, found);
    this.summary.setAttribute("aria-busy", String(this.dragging)); // speak when the drag is over
    setText(this.summary, this.inWords(found));
  }

  drawPlane({ weights }) {
    const { words, key, query } = this.state;
    const cards = words.map((name, j) => ({
      name,
      at: key[j],
      note: fixed(weights[j], 2),
      chosen: false,
      spoken: `card of ${name}`,
    }));
    const request = { name: "request", at: query[0], note: "", chosen: true, spoken: "request" };
    this.plane.draw(
      [...cards, request],
      [
        ...key.map((card, j) => this.plane.disc(card, 44 * Math.sqrt(weights[j]), "mt-halo")),
        this.plane.arrow([0, 0], query[0], "query"),
      ],
    );
  }

  drawStrip(books, { weights, answer }) {
    const [low, high] = [Math.min(...books), Math.max(...books)];
    const { width, edge } = STRIP;
    const place = (x) =>
      high > low ? edge + ((x - low) / (high - low)) * (width - 2 * edge) : width / 2;
    const at = place(answer);
    const text = (x, y, content, anchor = "middle") =>
      svg("text", { x, y, "text-anchor": anchor }, content);
    this.strip.replaceChildren(
      svg("line", { x1: edge, x2: width - edge, y1: 34, y2: 34, class: "mt-axis" }),
      ...books.map((book, j) =>
        svg("circle", { cx: place(book), cy: 34, r: 3 + 13 * Math.sqrt(weights[j]), class: "mt-book" }),
      ),
      svg("line", { x1: at, x2: at, y1: 20, y2: 48, class: "mt-answer" }),
      text(Math.max(28, Math.min(width - 28, at)), 13, fixed(answer)),
      ...(high > low
        ? [text(0, 60, short(low), "start"), text(width, 60, short(high), "end")]
        : []),
    );
  }

  drawTable(books, { products, scores, weights, answer }) {
    fillTable(this.table, {
      caption: `The request ${vector(this.state.query[0])} among the cards`,
      head: [
        ["card", "book", "dot product", "score", "weight"].map((text) =>
          heading(text, "col", { kind: "wrap" }),
        ),
      ],
      rows: this.state.words.map((word, j) => [
        heading(word, "row"),
        cell(short(books[j]), { value: books[j], kind: "number" }),
        number(products[j]),
        number(scores[j]),
        number(weights[j], { kind: "number bar", heat: weights[j] }),
      ]),
      foot: [
        [
          heading("answer", "row", { kind: "value" }),
          number(answer),
          cell(""),
          cell(""),
          number(weights.reduce((sum, weight) => sum + weight, 0)),
        ],
      ],
    });
  }

  inWords({ weights, answer }) {
    const most = Math.max(...weights);
    const names = this.state.words.filter((_, j) => most - weights[j] < 1e-9).map(quoted);
    const each = names.length > 1 ? "each to " : "to ";
    return `The answer is ${fixed(answer)}. Largest weight: ${fixed(most)} ${each}${listing(names)}.`;
  }
}

export default {
  render({ model, el }) {
    const widget = new LibrarySearch(model, el);
    return () => widget.remove();
  },
};
