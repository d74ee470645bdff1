// The attention stepper: one query's way through project, compare, scale and normalise, mix.

const INPUTS = ["tokens", "embeddings", "w_q", "w_k", "w_v"];
const LIMIT = 1e6; // the same as Python's: no product of products can overflow
const SAVE_AFTER = 150; // milliseconds without a change

const sub = (text) => html("sub", {}, text);
const quoted = (token) => `“${token}”`;
const terms = (a, b) => a.map((x, k) => `${short(x)} × ${short(b[k])}`).join(" + ");
const rowOf = (matrix, heat) => matrix.map((x) => number(x, { kind: "number heat", heat: heat(x) }));

// All numbers of a state. `chosen` is the row of the query that is followed.
function compute(state) {
  const { tokens, embeddings, w_q, w_k, w_v, query: i } = state;
  const all = attention(embeddings, w_q, w_k, w_v);
  return { ...all, tokens, embeddings, projections: { query: w_q, key: w_k, value: w_v }, i, token: tokens[i] };
}

// "0.238 to “in” and “den”": which keys have the largest or smallest entry of a row
function extreme(row, tokens, pick, joint) {
  const best = pick(...row);
  const names = row.flatMap((x, j) => (Math.abs(x - best) < 1e-9 ? [quoted(tokens[j])] : []));
  return `${fixed(best)} ${joint} ${listing(names)}`;
}

// Keys as diamonds, where they do not lie on their embeddings.
const movedKeys = (n) => n.key.filter((k, j) => k.some((x, c) => Math.abs(x - n.embeddings[j][c]) > 1e-9));
const keyLegend = (n) => (movedKeys(n).length ? "Diamonds: keys." : "The keys lie on the embeddings.");

// A matrix with a row for each query and a column for each key; the followed query is marked.
function squareTable(n, matrix, caption, more = { heads: [], cells: () => [] }) {
  const heat = heatScale(matrix);
  const corner = heading("query ↓ key →", "col", { kind: "wrap" });
  return {
    caption,
    head: [[corner, ...n.tokens.map((t) => heading(t, "col")), ...more.heads.map((t, k) => heading(t, "col", { kind: k === 0 ? "wrap edge" : "wrap" }))]],
    rows: matrix.map((row, i) => [
      heading(n.tokens[i], "row", { followed: i === n.i }),
      ...rowOf(row, heat),
      ...more.cells(i),
    ]),
  };
}

const PROJECT = {
  title: "Project",
  explain: (n) => [
    `Three matrices turn the embedding of ${quoted(n.token)} into a query (what it looks for), a key `,
    "(what it is found by) and a value (what it passes on): q = x·W", sub("Q"), ", k = x·W", sub("K"),
    ", v = x·W", sub("V"), ". Every token is projected in the same way.",
  ],
  legend: (n) => `Arrows: query, key and value of ${quoted(n.token)}. With the identity as a matrix they end on the embedding.`,
  detail: (n) => ({
    caption: `Query, key and value of ${quoted(n.token)}`,
    head: [["vector", "dimension 1", "dimension 2"].map((text) => heading(text, "col"))],
    rows: ["query", "key", "value"].map((name) => [
      heading(name, "row", { kind: name }),
      ...n[name][n.i].map((x, k) =>
        cell(`${terms(n.embeddings[n.i], n.projections[name].map((row) => row[k]))} = ${fixed(x)}`, { value: x, kind: "working" }),
      ),
    ]),
  }),
  matrix: (n) => ({
    caption: "All tokens: query, key and value",
    head: [["token", "q₁", "q₂", "k₁", "k₂", "v₁", "v₂"].map((text) => heading(text, "col"))],
    rows: n.tokens.map((token, i) => [
      heading(token, "row", { followed: i === n.i }),
      ...[n.query, n.key, n.value].flatMap((part) => part[i].map((x) => number(x))),
    ]),
  }),
  note: () => "",
  marks: (n, plane) => {
    const arrows = new Map(); // arrows with one tip share one label
    for (const [name, letter] of [["value", "v"], ["key", "k"], ["query", "q"]]) {
      const tip = n[name][n.i];
      const at = tip.map((x) => fixed(x)).join();
      arrows.set(at, { tip, name, label: arrows.has(at) ? `${letter} = ${arrows.get(at).label}` : letter });
    }
    return [...arrows.values()].map(({ tip, name, label }) => plane.arrow([0, 0], tip, name, label));
  },
  summary: (n) =>
    `${quoted(n.token)} has the query ${vector(n.query[n.i])}, the key ${vector(n.key[n.i])} and the value ${vector(n.value[n.i])}.`,
};

const COMPARE = {
  title: "Compare",
  explain: (n) => [
    `The query of ${quoted(n.token)} is compared with every key: the dot product q·k = q₁k₁ + q₂k₂ is large `,
    "where the two arrows point the same way, 0 at a right angle, negative where they oppose.",
  ],
  legend: (n) => `Arrow: the query of ${quoted(n.token)}. ${keyLegend(n)} A dotted line drops each key onto the query: the farther along it lands, the larger the dot product.`,
  detail: (n) => {
    const heat = heatScale(n.products);
    return {
      caption: `The query of ${quoted(n.token)}, ${vector(n.query[n.i])}, with each key`,
      head: [["key of", "q₁ × k₁ + q₂ × k₂", "dot product"].map((text) => heading(text, "col"))],
      rows: n.tokens.map((token, j) => [
        heading(token, "row"),
        cell(terms(n.query[n.i], n.key[j]), { kind: "working" }),
        number(n.products[n.i][j], { kind: "number heat", heat: heat(n.products[n.i][j]) }),
      ]),
    };
  },
  matrix: (n) => squareTable(n, n.products, "All dot products: rows = queries, columns = keys"),
  note: (n, j) => fixed(n.products[n.i][j], 2),
  marks: (n, plane) => {
    const q = n.query[n.i];
    const square = q[0] ** 2 + q[1] ** 2;
    const foot = (j) => q.map((x) => (x * n.products[n.i][j]) / square);
    const far = q.map((x) => (x * 2 * (plane.window.high - plane.window.low)) / Math.sqrt(square));
    const drops = square === 0 ? [] : [
      plane.line(far.map((x) => -x), far, "mt-ray"),
      ...n.key.map((k, j) => plane.line(k, foot(j), "mt-drop")),
    ];
    return [...drops, ...movedKeys(n).map((k) => plane.diamond(k, "mt-key")), plane.arrow([0, 0], q, "query", "q")];
  },
  summary: (n) => {
    const row = n.products[n.i];
    return `Dot products of ${quoted(n.token)}: largest ${extreme(row, n.tokens, Math.max, "with")}; smallest ${extreme(row, n.tokens, Math.min, "with")}.`;
  },
};

const NORMALISE = {
  title: "Scale and normalise",
  explain: () => [
    "Each dot product is divided by √d", sub("k"), " = √2: that is the score. The softmax turns the scores of one query into weights, ",
    "e", html("sup", {}, "score"), " divided by the sum of all e", html("sup", {}, "score"), ": all positive, together 1.",
  ],
  legend: (n) => `The larger the disc around a key, the more weight ${quoted(n.token)} gives it. ${keyLegend(n)}`,
  detail: (n) => ({
    caption: `From dot product to weight, for the query of ${quoted(n.token)}`,
    head: [["key of", "dot product", "score (÷ √2)", "weight"].map((text) => heading(text, "col"))],
    rows: n.tokens.map((token, j) => [
      heading(token, "row"),
      number(n.products[n.i][j]),
      number(n.scores[n.i][j]),
      number(n.weights[n.i][j], { kind: "number bar", heat: n.weights[n.i][j] }),
    ]),
    foot: [[heading("sum", "row"), cell(""), cell(""), number(n.weights[n.i].reduce((a, b) => a + b, 0))]],
  }),
  matrix: (n) => squareTable(n, n.weights, "All weights: rows = queries, columns = keys; each row sums to 1"),
  note: (n, j) => fixed(n.weights[n.i][j], 2),
  marks: (n, plane) => [
    ...n.key.map((k, j) => plane.disc(k, 44 * Math.sqrt(n.weights[n.i][j]), "mt-halo")),
    ...movedKeys(n).map((k) => plane.diamond(k, "mt-key")),
    plane.arrow([0, 0], n.query[n.i], "query", "q"),
  ],
  summary: (n) => {
    const row = n.weights[n.i];
    return `Weights of ${quoted(n.token)}: largest ${extreme(row, n.tokens, Math.max, "to")}; smallest ${extreme(row, n.tokens, Math.min, "to")}.`;
  },
};

const MIX = {
  title: "Mix",
  explain: (n) => [
    `Each value is multiplied by its weight, and the pieces are added: their sum is the output of ${quoted(n.token)}, `,
    "its embedding mixed with what it attended to.",
  ],
  legend: () => "Thin arrows: weight × value of each token, laid tip to tail. Thick arrow: their sum, the output.",
  detail: (n) => ({
    caption: `Weight × value, summed: the output of ${quoted(n.token)}`,
    head: [["value of", "weight", "value", "weight × value"].map((text) => heading(text, "col"))],
    rows: n.tokens.map((token, j) => [
      heading(token, "row"),
      number(n.weights[n.i][j], { kind: "number bar", heat: n.weights[n.i][j] }),
      cell(`[${n.value[j].map(short).join(", ")}]`, { kind: "number" }),
      cell(vector(n.value[j].map((v) => n.weights[n.i][j] * v)), { kind: "number" }),
    ]),
    foot: [[heading("output", "row", { kind: "value" }), cell(""), cell(""), cell(vector(n.output[n.i]), { kind: "number total" })]],
  }),
  matrix: (n) =>
    squareTable(n, n.weights, "All weights and outputs: rows = queries, columns = keys", {
      heads: ["output 1", "output 2"],
      cells: (i) => n.output[i].map((x, k) => number(x, { kind: k === 0 ? "number edge" : "number" })),
    }),
  note: () => "",
  marks: (n, plane) => {
    let sum = [0, 0];
    const chain = n.value.map((v, j) => {
      const from = sum;
      sum = sum.map((x, k) => x + n.weights[n.i][j] * v[k]);
      return plane.arrow(from, sum, "piece", "", 7);
    });
    return [plane.arrow([0, 0], n.output[n.i], "output", "output"), ...chain];
  },
  summary: (n) => `The output of ${quoted(n.token)} is ${vector(n.output[n.i])}; its value was ${vector(n.value[n.i])}.`,
};

const STAGES = [PROJECT, COMPARE, NORMALISE, MIX];

class Stepper {
  constructor(model, el) {
    this.model = model;
    this.id = `mt-${Math.random().toString(36).slice(2)}`;
    this.history = new History();
    this.read();
    this.build(el);
    this.draw();
    this.onModel = () => this.fromModel();
    for (const name of [...INPUTS, "query", "stage"]) model.on(`change:${name}`, this.onModel);
  }

  // --- state: `this.state` is what is shown; the model is told of it

  read() {
    this.state = Object.fromEntries([...INPUTS, "query", "stage"].map((name) => [name, this.model.get(name)]));
    this.first = this.state;
  }

  fromModel() {
    if (this.telling) return;
    const coming = [...INPUTS, "query", "stage"].map((name) => this.model.get(name));
    if (JSON.stringify(coming) === JSON.stringify(Object.values(this.state))) return;
    const [tokens, embeddings] = coming;
    if (tokens.length !== embeddings.length) return; // the other half of one change is on its way
    this.read();
    this.history.clear();
    this.draw();
  }

  set(changes) {
    this.state = { ...this.state, ...changes };
    this.draw();
    this.telling = true;
    for (const [name, value] of Object.entries(changes)) this.model.set(name, value);
    this.telling = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), SAVE_AFTER);
  }

  save() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.model.save_changes();
  }

  // One number of a matrix, or a whole row; changes with one tag are undone together.
  change(name, i, row, tag) {
    this.history.remember(this.state, tag);
    this.set({ [name]: this.state[name].map((old, j) => (j === i ? row : old)) });
  }

  restore(snapshot) {
    this.say(null);
    this.set(Object.fromEntries(INPUTS.map((name) => [name, snapshot[name]])));
  }

  undo() {
    const snapshot = this.history.back();
    if (snapshot) this.restore(snapshot);
  }

  isFirst() {
    return INPUTS.every((name) => JSON.stringify(this.state[name]) === JSON.stringify(this.first[name]));
  }

  reset() {
    if (this.isFirst()) return;
    this.history.remember(this.state, null);
    this.restore(this.first);
  }

  // --- page

  build(el) {
    this.plane = new Plane("The plane of the embeddings", {
      onGrab: (i) => {
        this.dragging = true;
        this.history.seal();
        this.history.remember(this.state, "drag");
      },
      onMove: (i, point) => this.change("embeddings", i, point, "drag"),
      onDrop: () => {
        this.dragging = false;
        this.history.seal();
        this.draw();
      },
      onNudge: (i, point) => this.change("embeddings", i, point, `nudge ${i}`),
      onPick: (i) => this.set({ query: i }),
    });
    const button = (label, action) => html("button", { type: "button", onclick: action }, label);
    this.undoButton = button("Undo", () => this.undo());
    this.resetButton = button("Reset", () => this.reset());
    this.back = button("← Back", () => this.state.stage > 0 && this.set({ stage: this.state.stage - 1 }));
    this.next = button("Next →", () => this.state.stage < 3 && this.set({ stage: this.state.stage + 1 }));
    this.next.className = "mt-primary";
    this.steps = STAGES.map(({ title }, k) =>
      html("button", { type: "button", onclick: () => this.set({ stage: k }) }, html("b", {}, String(k + 1)), html("span", {}, title)),
    );
    [this.explanation, this.legend] = [html("p", { class: "mt-explain" }), html("p", { class: "mt-legend" })];
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.problem = html("p", { class: "mt-problem", role: "alert" });
    [this.detail, this.matrix] = [html("table"), html("table", { class: "mt-matrix" })];
    this.tokenChoice = html("div", { class: "mt-tokens" });
    this.editor = html("div", { class: "mt-editor" });
    this.arrange(el);
  }

  arrange(el) {
    const scroller = (label, table) => html("div", { class: "mt-scroll", tabindex: "0", role: "group", "aria-label": label }, table);
    const hint = `${this.id}-hint`;
    this.root = html(
      "div",
      // JupyterLab would take the keys of a focused point for its own shortcuts
      { class: "mt-widget", role: "group", "aria-label": "Attention stepper", "data-lm-suppress-shortcuts": "true" },
      html("p", { class: "mt-lead", id: hint },
        html("b", {}, "Attention stepper. "),
        "Pick a token and follow its query through the four stages. Drag a point, or move it with the arrow keys (Shift: small steps), or type its numbers: everything is computed anew."),
      html("fieldset", { class: "mt-choice" }, html("legend", {}, "Query of"), this.tokenChoice),
      html("div", { class: "mt-nav" }, html("ol", { class: "mt-steps", "aria-label": "Stages" }, ...this.steps.map((step) => html("li", {}, step)))),
      html("div", { class: "mt-stage" }, this.explanation,
        html("div", { class: "mt-picture" }, this.plane.root, this.legend,
          html("div", { class: "mt-buttons" }, this.undoButton, this.resetButton)),
        html("div", { class: "mt-working" }, scroller("Working for the followed query", this.detail), this.summary,
          html("div", { class: "mt-buttons mt-walk" }, this.back, this.next))),
      html("div", { class: "mt-numbers" },
        html("div", {}, this.problem, this.editor),
        scroller("Full table", this.matrix)),
    );
    this.root.addEventListener("keydown", (event) => {
      const typing = event.target.tagName === "INPUT" && event.target.type === "number";
      if (typing || event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.undo();
    });
    el.append(this.root);
  }

  // The choice of tokens and the number fields: made anew only when the tokens are others.
  buildInputs(tokens) {
    if (this.shown === JSON.stringify(tokens)) return;
    this.shown = JSON.stringify(tokens);
    this.radios = tokens.map((_, i) =>
      html("input", { type: "radio", name: this.id, value: i, onchange: () => this.set({ query: i }) }));
    this.tokenChoice.replaceChildren(
      ...tokens.map((token, i) => html("label", {}, this.radios[i], html("span", { title: token }, token))));
    this.fields = [];
    this.editor.replaceChildren(
      this.fieldTable("embeddings", "Embeddings", tokens, ["dimension 1", "dimension 2"]),
      html("details", {}, html("summary", {}, "Projection matrices"),
        html("div", { class: "mt-projections" }, ...[["w_q", "W_Q"], ["w_k", "W_K"], ["w_v", "W_V"]].map(([name, title]) =>
          this.fieldTable(name, title, ["row 1", "row 2"], ["column 1", "column 2"])))),
    );
  }

  fieldTable(name, title, rows, columns) {
    const row = (label, i) => html("tr", {}, html("th", { scope: "row", title: label }, label), ...columns.map((column, k) => {
      const tag = `${name} ${i} ${k}`;
      const made = numberField({
        label: `${title}, ${label}, ${column}`,
        limit: LIMIT,
        get: () => this.state[name][i][k],
        onNumber: (x) => this.change(name, i, this.state[name][i].map((old, c) => (c === k ? x : old)), tag),
        onProblem: (text) => this.say(text),
        onLeave: () => this.history.seal(),
      });
      this.fields.push(made);
      return html("td", {}, made.field);
    }));
    return html("table", { class: "mt-fields" },
      html("caption", {}, title),
      html("thead", {}, html("tr", {}, ...["", ...columns].map((text) => (text ? html("th", { scope: "col" }, text) : html("td"))))),
      html("tbody", {}, ...rows.map(row)));
  }

  say(text) {
    setText(this.problem, text ?? "");
  }

  draw() {
    const n = compute(this.state);
    const stage = STAGES[this.state.stage];
    this.buildInputs(n.tokens);
    this.radios.forEach((radio, i) => { radio.checked = i === n.i; });
    this.fields.forEach(({ show }) => show());
    this.steps.forEach((step, k) => setAttributes(step, { "aria-current": k === this.state.stage ? "step" : null }));
    setAttributes(this.back, { "aria-disabled": String(this.state.stage === 0) });
    setAttributes(this.next, { "aria-disabled": String(this.state.stage === 3) });
    setAttributes(this.undoButton, { "aria-disabled": String(this.history.steps.length === 0) });
    setAttributes(this.resetButton, { "aria-disabled": String(this.isFirst()) });
    if (!this.dragging) this.plane.setWindow(niceWindow([n.embeddings, n.query, n.key, n.value].flat()));
    this.plane.draw(
      n.tokens.map((name, j) => ({ name, at: n.embeddings[j], note: stage.note(n, j), chosen: j === n.i })),
      stage.marks(n, this.plane),
    );
    this.root.classList.toggle("mt-many", n.tokens.length > 6);
    fillTable(this.detail, stage.detail(n));
    fillTable(this.matrix, stage.matrix(n));
    this.explanation.replaceChildren(html("b", {}, `Stage ${this.state.stage + 1} of 4: ${stage.title}. `), ...stage.explain(n));
    setText(this.legend, stage.legend(n));
    this.summary.setAttribute("aria-busy", String(Boolean(this.dragging))); // speak when the drag is over
    setText(this.summary, stage.summary(n));
  }

  remove() {
    if (this.timer !== undefined) this.save();
    for (const name of [...INPUTS, "query", "stage"]) this.model.off(`change:${name}`, this.onModel);
    this.root.remove();
  }
}

export default {
  render({ model, el }) {
    const stepper = new Stepper(model, el);
    return () => stepper.remove();
  },
};
