// The block walk: one token's vector on its way through a transformer block, step by step.

const SWITCHES = ["norm_position", "attention", "feed_forward"];
const BLOCK = ["tokens", "x", "weights", "n_heads", "norm", "norm_eps", "activation", "is_causal"];
const LAST = 6;

class BlockWalk extends LinkedWidget {
  constructor(model, el) {
    super(model, SWITCHES, ["token", "step", ...BLOCK]);
    this.id = `mt-${Math.random().toString(36).slice(2)}`;
    this.build(el);
    this.draw();
  }

  fits({ tokens, x, weights, token }) {
    const width = weights["ln1.weight"].length;
    return x.length === tokens.length && x[0].length === width && token < tokens.length;
  }

  build(el) {
    this.choiceOfTokens = div("mt-tokens");
    this.position = this.choice("Norm", "norm_position", [
      ["pre", "before (pre)"],
      ["post", "after (post)"],
    ]);
    this.boxes = [
      ["attention", "attention"],
      ["feed_forward", "feed-forward"],
    ].map(([name, text]) => {
      const box = html("input", {
        type: "checkbox",
        onchange: () => this.change({ [name]: box.checked }, null),
      });
      return { name, box, node: html("label", { class: "mt-check" }, box, html("span", {}, text)) };
    });
    this.picture = new BlockPicture((step) => this.set({ step }));
    const button = (text, action, kind = "") =>
      html("button", { type: "button", class: kind, onclick: action }, text);
    const go = (by) => this.set({ step: Math.max(0, Math.min(LAST, this.state.step + by)) });
    this.back = button("← Back", () => go(-1));
    this.next = button("Next →", () => go(1), "mt-primary");
    this.explanation = html("p", { class: "mt-explain" });
    this.detail = html("table", { class: "mt-detail" });
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.effect = html("p", { class: "mt-effect" });
    this.outputs = html("table", { class: "mt-matrix mt-outputs" });
    this.arrange(el);
  }

  arrange(el) {
    const buttons = this.buildButtons();
    const root = div(
      "mt-widget mt-walking",
      html(
        "p",
        {},
        html("b", {}, "Block walk. "),
        "Follow one token's vector through a block: Next → goes on, a click on a step goes there. ",
        "Then switch a part off and compare what comes out.",
      ),
      html("fieldset", {}, html("legend", {}, "Token"), this.choiceOfTokens),
      this.position.node,
      html(
        "fieldset",
        {},
        html("legend", {}, "Switched on"),
        div("mt-switches", ...this.boxes.map(({ node }) => node)),
      ),
      buttons,
      this.problem,
      div(
        "mt-stage",
        this.explanation,
        div(
          "mt-picture",
          this.picture.root,
          html(
            "p",
            { class: "mt-legend" },
            "On the stream, + adds and n norms. Bars: the vector's dimensions, up for positive, down ",
            "for negative, all on one scale. Dashed: the same in the block as it was given.",
          ),
        ),
        div(
          "mt-working",
          div("mt-buttons mt-walk", this.back, this.next),
          scroller("Numbers of this step", this.detail),
          this.summary,
          this.effect,
        ),
      ),
      html(
        "details",
        {},
        html("summary", {}, "All tokens after the block"),
        scroller("Vectors after the block", this.outputs),
      ),
    );
    this.mount(el, root, "Block walk");
  }

  buildTokens(tokens) {
    if (this.shownTokens === JSON.stringify(tokens)) return;
    this.shownTokens = JSON.stringify(tokens);
    this.radios = tokens.map((_, i) =>
      html("input", {
        type: "radio",
        name: this.id,
        value: i,
        onchange: () => this.set({ token: i }),
      }),
    );
    this.choiceOfTokens.replaceChildren(
      ...tokens.map((token, i) =>
        html("label", {}, this.radios[i], html("span", { title: token }, token)),
      ),
    );
  }

  // The steps, and those of the block as it was given where these differ.
  compute() {
    const whole = { ...this.state, norm_position: this.first.norm_position };
    const given = { ...whole, attention: true, feed_forward: true };
    const changed = SWITCHES.some((name) => given[name] !== this.state[name]);
    this.steps = walk(this.state);
    this.given = changed ? walk(given) : null;
    // the given block's steps in the order of those shown, by what they are
    const name = ({ part, what, of }) => [part, what, of].join();
    this.matched = this.steps.map((step) => this.given?.find((one) => name(one) === name(step)));
  }

  draw() {
    const { tokens, token: i, step, activation, norm, is_causal: isCausal } = this.state;
    const inputs = JSON.stringify([...SWITCHES, ...BLOCK].map((name) => this.state[name]));
    if (this.shown !== inputs) {
      this.shown = inputs;
      this.compute();
    }
    const position = this.state.norm_position;
    const n = { tokens, i, token: tokens[i], position, activation, norm, isCausal };
    const now = this.steps[step];
    const kind = STEPS[now.part];
    const titles = this.steps.map((one) => STEPS[one.part].title(one));
    this.buildTokens(tokens);
    this.radios.forEach((radio, k) => {
      radio.checked = k === i;
    });
    this.position.show();
    for (const { name, box } of this.boxes) box.checked = this.state[name];
    this.drawButtons();
    setAttributes(this.back, { "aria-disabled": String(step === 0) });
    setAttributes(this.next, { "aria-disabled": String(step === LAST) });
    this.picture.draw(this.steps, this.given && this.matched, i, step, titles);
    this.explanation.replaceChildren(
      html("b", {}, `Step ${step + 1} of ${LAST + 1}: ${titles[step]}. `),
      kind.explain(now, n),
    );
    fillTable(this.detail, kind.table(now, n));
    setText(this.summary, kind.summary(now, n));
    setText(this.effect, this.inWords(n));
    this.drawOutputs();
  }

  inWords({ i, token }) {
    const out = this.steps[LAST].rows[i];
    if (!this.given)
      return `With all parts on, ${quoted(token)} leaves with length ${fixed(size(out))}.`;
    const whole = this.given[LAST].rows[i];
    return (
      `What comes out for ${quoted(token)} is now ${fixed(change(out, whole))} away from what the ` +
      `block as given makes of it, a vector of length ${fixed(size(whole))}.`
    );
  }

  drawOutputs() {
    const { rows } = this.steps[LAST];
    fillTable(this.outputs, {
      caption: "Rows are tokens, columns dimensions",
      head: columns("token", ...rows[0].map((_, c) => String(c))),
      rows: rows.map((row, i) => [
        heading(this.state.tokens[i], "row", { followed: i === this.state.token }),
        ...row.map((x) => number(x)),
      ]),
    });
  }
}

export default {
  render({ model, el }) {
    const widget = new BlockWalk(model, el);
    return () => widget.remove();
  },
};
