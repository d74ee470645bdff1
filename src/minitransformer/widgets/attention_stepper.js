// The attention stepper: one query's way through project, compare, scale and normalise, mix.

const INPUTS = ["tokens", "embeddings", "w_q", "w_k", "w_v"];
const LIMIT = 1e6; // the same as Python's: no product of products can overflow

class Stepper extends LinkedWidget {
  constructor(model, el) {
    super(model, INPUTS, ["query", "stage"]);
    this.id = `mt-${Math.random().toString(36).slice(2)}`;
    this.build(el);
    this.draw();
  }

  fits({ tokens, embeddings }) {
    return tokens.length === embeddings.length;
  }

  // --- page

  build(el) {
    this.plane = new Plane(
      "The plane of the embeddings",
      this.moves(
        (i) => ["embeddings", i],
        (i) => this.set({ query: i }),
      ),
    );
    const button = (label, action) => html("button", { type: "button", onclick: action }, label);
    this.buttons = this.buildButtons();
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
    [this.detail, this.matrix] = [html("table"), html("table", { class: "mt-matrix" })];
    this.tokenChoice = div("mt-tokens");
    this.editor = div("mt-editor");
    this.arrange(el);
  }

  arrange(el) {
    const steps = this.steps.map((step) => html("li", {}, step));
    const root = div(
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
        div("mt-picture", this.plane.root, this.legend, this.buttons),
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
    this.mount(el, root, "Attention stepper");
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
      this.fieldTable("embeddings", "Embeddings", tokens, ["dimension 1", "dimension 2"], LIMIT),
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
            this.fieldTable(name, title, ["row 1", "row 2"], ["column 1", "column 2"], LIMIT),
          ),
        ),
      ),
    );
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
    this.drawButtons();
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
}

export default {
  render({ model, el }) {
    const stepper = new Stepper(model, el);
    return () => stepper.remove();
  },
};
