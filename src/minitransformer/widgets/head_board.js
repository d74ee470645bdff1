// The head board: the weights of several heads side by side, for one query of a sentence.

// Weights (head, query, key) of queries and keys (head, token, d_head).
export function headWeights(queries, keys) {
  return queries.map((query, h) => {
    const scale = 1 / Math.sqrt(query[0].length);
    return matmul(query, transpose(keys[h])).map((row) => softmax(row.map((x) => x * scale)));
  });
}

const mean = (rows) =>
  rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
const named = (h) => `head ${h}`;
const share = (x, largest, more = {}) =>
  cell(fixed(x, 2), { value: x, kind: "number heat", heat: x / largest, ...more });

class HeadBoard extends LinkedWidget {
  constructor(model, el) {
    super(model, ["query"], ["tokens", "head_queries", "head_keys", "links"]);
    this.build(el);
    this.draw();
  }

  fits({ tokens, head_queries: queries, head_keys: keys, links, query }) {
    const all = [...queries, ...keys];
    const places = links.flatMap(([, q, k]) => [q, k]);
    return (
      queries.length === keys.length &&
      all.every((head) => head.length === tokens.length) &&
      Math.max(query, ...places) < tokens.length
    );
  }

  build(el) {
    const id = `mt-heads-${Math.random().toString(36).slice(2)}`;
    this.id = id;
    this.relations = html("div", { class: "mt-buttons", role: "group", "aria-label": "Relations" });
    this.maps = div("mt-maps");
    this.legend = html("p", { class: "mt-legend" });
    this.choice = div("mt-tokens");
    this.rowTable = html("table", { class: "mt-matrix mt-rows" });
    this.linkTable = html("table", { class: "mt-matrix mt-links" });
    this.summary = html("p", { class: "mt-summary", role: "status" });
    const scroll = (label, table) =>
      html("div", { class: "mt-scroll", tabindex: "0", role: "group", "aria-label": label }, table);
    const root = div(
      "mt-widget mt-board",
      html("p", {}, html("b", {}, "Head board. "), "Pick a relation, a word or a row of a map."),
      this.relations,
      html("fieldset", {}, html("legend", {}, "Query"), this.choice),
      this.maps,
      this.legend,
      this.summary,
      scroll("Weights of the chosen query", this.rowTable),
      scroll("Weights on the relations", this.linkTable),
    );
    this.mount(el, root, "Head board");
  }

  // What depends on the sentence and its heads alone: made once.
  buildSentence() {
    const { tokens, head_queries: queries, head_keys: keys, links } = this.state;
    const inputs = JSON.stringify([tokens, queries, keys, links]);
    if (this.shown === inputs) return;
    this.shown = inputs;
    this.weights = headWeights(queries, keys);
    this.largest = Math.max(...this.weights.flat(2));
    this.relations.replaceChildren(
      ...links.map(([name, q]) =>
        html("button", { type: "button", onclick: () => this.set({ query: q }) }, name),
      ),
    );
    this.radios = tokens.map((_, i) =>
      html("input", {
        type: "radio",
        name: this.id,
        value: i,
        onchange: () => this.set({ query: i }),
      }),
    );
    this.choice.replaceChildren(
      ...tokens.map((token, i) =>
        html("label", {}, this.radios[i], html("span", { title: token }, token)),
      ),
    );
    this.marks = this.weights.map(() =>
      svg("rect", { x: 0, width: tokens.length, height: 1, class: "mt-row" }),
    );
    this.maps.replaceChildren(...this.weights.map((rows, h) => this.map(rows, h)));
    setText(
      this.legend,
      "Each map: rows are queries, columns keys, in the order of the sentence. The stronger the " +
        `shade, the larger the weight, up to ${fixed(this.largest, 2)}.`,
    );
    fillTable(this.linkTable, this.linkCells());
  }

  // A pointer may pick a row; by keyboard the same choice is made with the words above.
  map(rows, h) {
    const n = rows.length;
    const shade = (w) => `--heat: ${(w / this.largest).toFixed(4)}`;
    const cells = rows.flatMap((row, i) =>
      row.map((w, j) => svg("rect", { x: j, y: i, width: 1, height: 1, style: shade(w) })),
    );
    const root = svg(
      "svg",
      {
        viewBox: `0 0 ${n} ${n}`,
        role: "img",
        "aria-label": `Map of ${named(h)}; its numbers stand in the tables below`,
        onclick: (event) => {
          const box = root.getBoundingClientRect();
          const row = Math.floor((n * (event.clientY - box.top)) / box.height);
          this.set({ query: Math.max(0, Math.min(n - 1, row)) });
        },
      },
      ...cells,
      this.marks[h],
    );
    return html("figure", {}, html("figcaption", {}, named(h)), root);
  }

  heads(first, last) {
    return [
      [
        heading(first, "col", { kind: "wrap" }),
        ...this.weights.map((_, h) => heading(named(h), "col", { kind: "wrap" })),
        heading(last, "col", { kind: "wrap edge" }),
      ],
    ];
  }

  rowCells() {
    const { tokens, query } = this.state;
    const rows = this.weights.map((head) => head[query]);
    const means = mean(rows);
    return {
      caption: `Weights of “${tokens[query]}”: a row for each key`,
      head: this.heads("key", "mean"),
      rows: tokens.map((token, j) => [
        heading(token, "row", { kind: "key", followed: j === query }),
        ...rows.map((row) => share(row[j], this.largest)),
        share(means[j], this.largest, { kind: "number heat edge" }),
      ]),
    };
  }

  linkCells() {
    const { tokens, links } = this.state;
    return {
      caption: "Weight of each head on each relation",
      head: this.heads("relation", "mean"),
      rows: links.map(([name, q, k]) => {
        const on = this.weights.map((head) => head[q][k]);
        return [
          heading(`${name}: ${tokens[q]} → ${tokens[k]}`, "row", { kind: "wrap" }),
          ...on.map((w) => share(w, this.largest)),
          share(mean(on.map((w) => [w]))[0], this.largest, { kind: "number heat edge" }),
        ];
      }),
    };
  }

  sentence() {
    const { tokens, query } = this.state;
    const found = this.weights.map((head, h) => {
      const most = Math.max(...head[query]);
      return `${named(h)} on “${tokens[head[query].indexOf(most)]}” (${fixed(most, 2)})`;
    });
    return `From “${tokens[query]}”, the largest weight lies: ${listing(found)}.`;
  }

  draw() {
    const { query, links } = this.state;
    this.buildSentence();
    this.radios.forEach((radio, i) => {
      radio.checked = i === query;
    });
    [...this.relations.children].forEach((button, i) =>
      setAttributes(button, { "aria-pressed": String(links[i][1] === query) }),
    );
    for (const mark of this.marks) setAttributes(mark, { y: query });
    fillTable(this.rowTable, this.rowCells());
    setText(this.summary, this.sentence());
  }
}

export default {
  render({ model, el }) {
    const board = new HeadBoard(model, el);
    return () => board.remove();
  },
};
