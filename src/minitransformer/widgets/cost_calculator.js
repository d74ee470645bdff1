// The cost calculator: scores, multiply-adds and bytes of a transformer against the length.

const INPUTS = [
  "n",
  "d_model",
  "n_layers",
  "n_heads",
  "n_kv_heads",
  "causal",
  "bytes_per_number",
  "curves",
];
const LONGEST = 1e6;
const LENGTHS = [1, 10, 100, 1e3, 1e4, 1e5].flatMap((x) => [x, 2 * x, 5 * x]).concat(LONGEST);
const WIDTHS = [64, 128, 256, 384, 512, 576, 768, 1024, 1536, 2048, 4096, 8192, 12288, 16384];
const CHART = { width: 340, height: 300, left: 40, right: 12, top: 12, bottom: 40 };

// What n tokens cost, by name, in three groups.
export function counted({ n, d_model, n_layers, n_heads, n_kv_heads, causal, bytes_per_number }) {
  const oneHead = nScores(n, causal);
  const products = multiplyAdds(n, d_model, n_layers, n_heads, n_kv_heads, causal);
  const d_head = d_model / n_heads;
  return {
    "scores of one head": oneHead,
    "scores of all heads and layers": oneHead * n_heads * n_layers,
    "queries · keys": products.scores,
    "weights · values": products.values,
    projections: products.projections,
    "feed-forward": products.feedForward,
    "scores of a layer, stored": scoreBytes(n, n_heads, bytes_per_number),
    "scores of a layer, in tiles": tiledScoreBytes(n, n_heads, bytes_per_number),
    "cache of all layers": cacheBytes(n, n_layers, n_kv_heads, d_head, bytes_per_number, 1),
  };
}

// From this length on, scores and values cost more than all else.
export function crossing({ d_model, n_heads, n_kv_heads, causal }) {
  const rest = 10 * d_model + (2 * d_model * n_kv_heads) / n_heads;
  return causal ? rest - 1 : Math.floor(rest / 2);
}

const sum = (parts) => (costs) => parts.reduce((total, name) => total + costs[name], 0);

// The lines of each chart: name, what it adds up, dashes.
const CURVES = {
  arithmetic: [
    ["scores and values", sum(["queries · keys", "weights · values"]), null],
    ["projections, feed-forward", sum(["projections", "feed-forward"]), "7 5"],
  ],
  memory: [
    ["scores, stored", sum(["scores of a layer, stored"]), null],
    ["cache", sum(["cache of all layers"]), "7 5"],
    ["scores, in tiles", sum(["scores of a layer, in tiles"]), "2 4"],
  ],
};
const GROUPS = [
  ["Scores", ["scores of one head", "scores of all heads and layers"], amount],
  ["Multiply-adds", ["queries · keys", "weights · values", "projections", "feed-forward"], amount],
  ["Bytes", ["scores of a layer, stored", "scores of a layer, in tiles", "cache of all layers"], bytesText],
];

const growth = (times) =>
  cell(`× ${Number(times.toFixed(2))}`, { value: times, kind: "number" });

// Places on a chart whose axes are logarithmic: powers of ten that hold all curves.
function logChart(curves) {
  const { width, height, left, right, top, bottom } = CHART;
  const all = curves.flatMap(({ values }) => values.map(Math.log10));
  const low = Math.floor(Math.min(...all));
  const high = Math.ceil(Math.max(...all));
  return {
    low,
    high,
    x: (n) => left + (Math.log10(n) / Math.log10(LONGEST)) * (width - left - right),
    y: (cost) => height - bottom - ((Math.log10(cost) - low) / (high - low)) * (height - top - bottom),
  };
}

class CostCalculator extends LinkedWidget {
  constructor(model, el) {
    super(model, INPUTS, ["models"]);
    this.build(el);
    this.draw();
  }

  fits({ d_model, n_heads, n_kv_heads }) {
    return d_model % n_heads === 0 && n_heads % n_kv_heads === 0;
  }

  build(el) {
    const heads = () => divisors(this.state.d_model).filter((d) => d <= 128);
    const serving = () => divisors(this.state.n_heads);
    // what a new width or number of heads does to the numbers that must divide it
    const share = (n_heads) => ({ n_kv_heads: nearest(divisors(n_heads), this.state.n_kv_heads) });
    const widen = (d_model) => {
      const fitting = divisors(d_model).filter((d) => d <= 128);
      const n_heads = nearest(fitting, this.state.n_heads);
      return { n_heads, ...share(n_heads) };
    };
    const over = (label, name, get, more = {}) =>
      this.slider(label, name, span(get()), { ...listed(get), tell: amount, ...more });
    this.parts = [
      [over("Heads", "n_heads", heads, { more: share }), heads],
      [over("KV heads", "n_kv_heads", serving), serving],
    ];
    this.sliders = [
      over("Tokens n", "n", () => LENGTHS),
      over("Width d_model", "d_model", () => WIDTHS, { more: widen }),
      ...this.parts.map(([slider]) => slider),
      this.slider("Layers", "n_layers", { min: 1, max: 128, step: 1 }),
    ];
    this.choices = [
      this.choice("Mask", "causal", [
        [false, "none"],
        [true, "causal"],
      ]),
      this.choice("Bytes a number", "bytes_per_number", BYTES),
    ];
    this.shown = this.choice("Curves", "curves", [
      ["arithmetic", "multiply-adds"],
      ["memory", "bytes"],
    ]);
    this.models = modelButtons(this, ([, n_layers, n_heads, n_kv_heads, d_head]) => ({
      n_layers,
      n_heads,
      n_kv_heads,
      d_model: n_heads * d_head,
    }));
    const { width, height } = CHART;
    this.chart = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      class: "mt-strip mt-loglog",
      "aria-hidden": "true", // the table below says the same
    });
    this.legend = html("p", { class: "mt-legend mt-lines" });
    [this.table, this.points] = [html("table", { class: "mt-costs" }), html("table", { class: "mt-matrix" })];
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.arrange(el);
  }

  arrange(el) {
    const buttons = this.buildButtons();
    const double = () => {
      if (this.state.n < LONGEST) this.change({ n: Math.min(LONGEST, 2 * this.state.n) }, null);
    };
    this.double = html("button", { type: "button", class: "mt-primary", onclick: double }, "Double n");
    buttons.prepend(this.double);
    const root = div(
      "mt-widget",
      html(
        "p",
        {},
        html("b", {}, "Cost calculator. "),
        "What a text of n tokens costs. Double n a few times and watch what doubles and what ",
        "quadruples.",
      ),
      this.models.node,
      div("mt-sliders mt-long", ...this.sliders.map(({ node }) => node)),
      ...this.choices.map(({ node }) => node),
      buttons,
      this.problem,
      div(
        "mt-stage",
        div("mt-picture", this.shown.node, this.chart, this.legend),
        div(
          "mt-working",
          scroller("Costs", this.table),
          html("p", { class: "mt-legend" }, "Bars: share of all multiply-adds. 1 GB = 10⁹ bytes."),
        ),
      ),
      this.summary,
      html(
        "details",
        {},
        html("summary", {}, "The curves as a table"),
        scroller("Curves by length", this.points),
      ),
    );
    this.mount(el, root, "Cost calculator");
  }

  draw() {
    for (const [slider, get] of this.parts)
      setAttributes(slider.input, { max: get().length - 1 });
    for (const control of [...this.sliders, ...this.choices, this.shown, this.models]) control.show();
    this.drawButtons();
    setAttributes(this.double, { "aria-disabled": String(this.state.n === LONGEST) });
    const [now, later] = [1, 2].map((times) => counted({ ...this.state, n: times * this.state.n }));
    this.drawTable(now, later);
    this.drawCurves();
    setText(this.summary, this.inWords(now));
  }

  drawTable(now, later) {
    const products = GROUPS[1][1];
    const total = sum(products)(now);
    fillTable(this.table, {
      caption: `What ${amount(this.state.n)} tokens cost, and by what it grows`,
      head: [["", "now", "n doubled"].map((text) => (text ? heading(text, "col") : cell("")))],
      rows: GROUPS.flatMap(([group, names, tell]) => [
        [heading(group, "row", { kind: "wrap mt-group" }), cell(""), cell("")],
        ...names.map((name) => [
          heading(name, "row", { kind: "wrap" }),
          cell(tell(now[name]), {
            value: now[name],
            kind: products.includes(name) ? "number bar" : "number",
            heat: products.includes(name) ? now[name] / total : 0,
          }),
          growth(later[name] / now[name]),
        ]),
      ]),
    });
  }

  drawCurves() {
    const at = LENGTHS.map((n) => counted({ ...this.state, n }));
    const now = counted(this.state);
    const curves = CURVES[this.state.curves].map(([name, add, dashes]) => ({
      name,
      dashes,
      values: at.map(add),
      now: add(now),
    }));
    this.drawChart(curves);
    this.legend.replaceChildren(
      ...curves.map(({ name, dashes }, k) =>
        html("span", {}, this.sample(dashes, k === 0), `${name} `),
      ),
      html("span", {}, "A line that climbs two decades in one grows with n²: × 4 when n doubles."),
    );
    const tell = this.state.curves === "memory" ? bytesText : amount;
    fillTable(this.points, {
      caption: this.state.curves === "memory" ? "Bytes" : "Multiply-adds",
      head: [["tokens", ...curves.map(({ name }) => name)].map((text) => heading(text, "col", { kind: "wrap" }))],
      rows: LENGTHS.map((n, k) => [
        heading(amount(n), "row", { followed: n === this.state.n }),
        ...curves.map(({ values }) => cell(tell(values[k]), { value: values[k], kind: "number" })),
      ]),
    });
  }

  sample(dashes, chosen) {
    const line = { points: "0,6 34,6", "stroke-dasharray": dashes };
    const curve = svg("g", { class: chosen ? "mt-curve mt-chosen" : "mt-curve" }, svg("polyline", line));
    return svg("svg", { viewBox: "0 0 36 12", width: 36, height: 12, "aria-hidden": "true" }, curve);
  }

  drawChart(curves) {
    const { width, height, left, right, top, bottom } = CHART;
    const { low, high, x, y } = logChart(curves);
    const text = (at, up, content, anchor) =>
      svg("text", { x: at, y: up, "text-anchor": anchor }, content);
    const line = (x1, y1, x2, y2, kind) => svg("line", { x1, y1, x2, y2, class: kind });
    const step = Math.ceil((high - low) / 7);
    const levels = Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, k) => low + k * step);
    const { n } = this.state;
    this.chart.replaceChildren(
      ...levels.flatMap((level) => [
        line(left, y(10 ** level), width - right, y(10 ** level), "mt-gridline"),
        text(left - 6, y(10 ** level) + 4, power(level), "end"),
      ]),
      ...[0, 1, 2, 3, 4, 5, 6].map((level) => text(x(10 ** level), height - bottom + 18, power(level), "middle")),
      text((left + width - right) / 2, height - 4, "tokens n", "middle"),
      line(x(n), top, x(n), height - bottom, "mt-drop"),
      ...curves.map(({ values, dashes, now }, k) =>
        svg(
          "g",
          { class: k === 0 ? "mt-curve mt-chosen" : "mt-curve" },
          svg("polyline", {
            points: values.map((cost, i) => `${x(LENGTHS[i])},${y(cost)}`).join(" "),
            "stroke-dasharray": dashes,
          }),
          svg("circle", { cx: x(n), cy: y(now), r: k === 0 ? 6 : 4 }),
        ),
      ),
    );
  }

  inWords(now) {
    const { n, causal } = this.state;
    const ours = sum(["queries · keys", "weights · values"])(now);
    const share = ours / (ours + sum(["projections", "feed-forward"])(now));
    const from = crossing(this.state);
    return (
      `${amount(n)} tokens, ${amount(now["scores of one head"])} scores in each head` +
      `${causal ? " (those that the mask hides are not counted)" : ""}. Scores and values are ` +
      `${percent(share)} of the multiply-adds; from ${amount(from)} tokens on, more than half. ` +
      `The scores of one layer take ${bytesText(now["scores of a layer, stored"])} when stored, ` +
      `${bytesText(now["scores of a layer, in tiles"])} in tiles, with no fewer multiply-adds.`
    );
  }
}

export default {
  render({ model, el }) {
    const widget = new CostCalculator(model, el);
    return () => widget.remove();
  },
};
