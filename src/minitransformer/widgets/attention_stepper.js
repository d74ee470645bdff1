// The attention stepper: one query's way through project, compare, scale and normalise, mix.

const INPUTS = ["tokens", "embeddings", "w_q", "w_k", "w_v"];
const LIMIT = 1e6; // the same as Python's: no product of products can overflow
const SAVE_AFTER = 150; // milliseconds without a change

class Stepper {
  constructor(model, el) {
    this.model = model;
    this.id = `mt-${Math.random().toString(36).slice(2)}`;
    this.history = new History();
    this.dragging = false;
    this.read();
    this.build(el);
    this.draw();
    this.onModel = () => this.fromModel();
    for (const name of [...INPUTS, "query", "stage"]) model.on(`change:${name}`, this.onModel);
  }

  // --- state: `this.state` is what is shown; the model is told of it

  read() {
    this.state = Object.fromEntries(
      [...INPUTS, "query", "stage"].map((name) => [name, this.model.get(name)]),
    );
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
    return INPUTS.every(
      (name) => JSON.stringify(this.state[name]) === JSON.stringify(this.first[name]),
    );
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
    this.back = button(
      "← Back",
      () => this.state.stage > 0 && this.set({ stage: this.state.stage - 1 }),
    );
    this.next = button(
      "Next →",
      () => this.state.stage < 3 && this.set({ stage: this.state.stage + 1 }),
    );
    this.next.className = "mt-primary";
    this.steps = STAGES.map(({ title }, k) =>
      html(
        "button",
        { type: "button", onclick: () => this.set({ stage: k }) },
        html("b", {}, String(k + 1)),
        html("span", {}, title),
      ),
    );
    [this.explanation, this.legend] = [
      html("p", { class: "mt-explain" }),
      html("p", { class: "mt-legend" }),
    ];
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.problem = html("p", { class: "mt-problem", role: "alert" });
    [this.detail, this.matrix] = [html("table"), html("table", { class: "mt-matrix" })];
    this.tokenChoice = div("mt-tokens");
    this.editor = div("mt-editor");
    this.arrange(el);
  }

  arrange(el) {
    const scroller = (label, table) =>
      html("div", { class: "mt-scroll", tabindex: "0", role: "group", "aria-label": label }, table);
    const steps = this.steps.map((step) => html("li", {}, step));
    this.root = div(
      "mt-widget",
      html(
        "p",
        {},
        html("b", {}, "Attention stepper. "),
        "Pick a token and follow its query through the four stages. Drag a point, or move it with ",
        "the arrow keys (Shift: small steps), or type its numbers: everything is computed anew.",
      ),
      html("fieldset", {}, html("legend", {}, "Query of"), this.tokenChoice),
      html("ol", { class: "mt-steps", "aria-label": "Stages" }, ...steps),
      div(
        "mt-stage",
        this.explanation,
        div(
          "mt-picture",
          this.plane.root,
          this.legend,
          div("mt-buttons", this.undoButton, this.resetButton),
        ),
        div(
          "mt-working",
          scroller("Working for the followed query", this.detail),
          this.summary,
          div("mt-buttons mt-walk", this.back, this.next),
        ),
      ),
      div(
        "mt-numbers",
        div("mt-input", this.problem, this.editor),
        scroller("Full table", this.matrix),
      ),
    );
    setAttributes(this.root, {
      role: "group",
      "aria-label": "Attention stepper",
      // JupyterLab would take the keys of a focused point for its own shortcuts
      "data-lm-suppress-shortcuts": "true",
      onkeydown: (event) => this.key(event),
    });
    el.append(this.root);
  }

  key(event) {
    const typing = event.target.tagName === "INPUT" && event.target.type === "number";
    if (typing || event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.undo();
  }

  // The choice of tokens and the number fields: made anew only when the tokens are others.
  buildInputs(tokens) {
    if (this.shown === JSON.stringify(tokens)) return;
    this.shown = JSON.stringify(tokens);
    this.radios = tokens.map((_, i) =>
      html("input", {
        type: "radio",
        name: this.id,
        value: i,
        onchange: () => this.set({ query: i }),
      }),
    );
    this.tokenChoice.replaceChildren(
      ...tokens.map((token, i) =>
        html("label", {}, this.radios[i], html("span", { title: token }, token)),
      ),
    );
    this.fields = [];
    this.editor.replaceChildren(
      this.fieldTable("embeddings", "Embeddings", tokens, ["dimension 1", "dimension 2"]),
      html(
        "details",
        {},
        html("summary", {}, "Projection matrices"),
        div(
          "mt-projections",
          ...[
            ["w_q", "W_Q"],
            ["w_k", "W_K"],
            ["w_v", "W_V"],
          ].map(([name, title]) =>
            this.fieldTable(name, title, ["row 1", "row 2"], ["column 1", "column 2"]),
          ),
        ),
      ),
    );
  }

  fieldTable(name, title, rows, columns) {
    const row = (label, i) =>
      html(
        "tr",
        {},
        html("th", { scope: "row", title: label }, label),
        ...columns.map((column, k) => {
          const tag = `${name} ${i} ${k}`;
          const made = numberField({
            label: `${title}, ${label}, ${column}`,
            limit: LIMIT,
            get: () => this.state[name][i][k],
            onNumber: (x) =>
              this.change(
                name,
                i,
                this.state[name][i].map((old, c) => (c === k ? x : old)),
                tag,
              ),
            onProblem: (text) => this.say(text),
            onLeave: () => this.history.seal(),
          });
          this.fields.push(made);
          return html("td", {}, made.field);
        }),
      );
    return html(
      "table",
      { class: "mt-fields" },
      html("caption", {}, title),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          ...["", ...columns].map((text) =>
            text ? html("th", { scope: "col" }, text) : html("td"),
          ),
        ),
      ),
      html("tbody", {}, ...rows.map(row)),
    );
  }

  say(text) {
    setText(this.problem, text ?? "");
  }

  draw() {
    const n = compute(this.state);
    const stage = STAGES[this.state.stage];
    this.buildInputs(n.tokens);
    this.radios.forEach((radio, i) => {
      radio.checked = i === n.i;
    });
    this.fields.forEach(({ show }) => show());
    this.steps.forEach((step, k) =>
      setAttributes(step, { "aria-current": k === this.state.stage ? "step" : null }),
    );
    setAttributes(this.back, { "aria-disabled": String(this.state.stage === 0) });
    setAttributes(this.next, { "aria-disabled": String(this.state.stage === 3) });
    setAttributes(this.undoButton, { "aria-disabled": String(this.history.steps.length === 0) });
    setAttributes(this.resetButton, { "aria-disabled": String(this.isFirst()) });
    if (!this.dragging)
      this.plane.setWindow(niceWindow([n.embeddings, n.query, n.key, n.value].flat()));
    this.plane.draw(
      n.tokens.map((name, j) => ({
        name,
        at: n.embeddings[j],
        note: stage.note(n, j),
        chosen: j === n.i,
      })),
      stage.marks(n, this.plane),
    );
    this.root.classList.toggle("mt-many", n.tokens.length > 6);
    fillTable(this.detail, stage.detail(n));
    fillTable(this.matrix, stage.matrix(n));
    this.explanation.replaceChildren(
      html("b", {}, `Stage ${this.state.stage + 1} of 4: ${stage.title}. `),
      ...stage.explain(n),
    );
    setText(this.legend, stage.legend(n));
    this.summary.setAttribute("aria-busy", String(this.dragging)); // speak when the drag is over
    setText(this.summary, stage.summary(n));
  }

  remove() {
    if (this.timer !== undefined) this.save();
    for (const name of [...INPUTS, "query", "stage"])
      this.model.off(`change:${name}`, this.onModel);
    this.root.remove();
  }
}

export default {
  render({ model, el }) {
    const stepper = new Stepper(model, el);
    return () => stepper.remove();
  },
};
