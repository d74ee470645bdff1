// Scaling: what the width of queries and keys, the divisor and a temperature do to the weights.

const INPUTS = ["d_k", "divisor", "size", "temperature", "draw"];
const WIDTHS = Array.from({ length: 11 }, (_, power) => 2 ** power);
const WIDEST = WIDTHS[WIDTHS.length - 1];
const POWERS = { nothing: 0, "√d_k": 0.5, d_k: 1 }; // of d_k
const N_KEYS = 8;
const MOST_DRAW = 9999; // as in Python
const CHART = { width: 340, height: 220, left: 22, right: 66, top: 12, bottom: 40 };
const DASHES = { nothing: "7 5", "√d_k": null, d_k: "2 4" };

// The generator mulberry32: numbers in [0, 1), the same ones as in Python.
function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Dot products of the first 1, 2, 4, ..., 1024 numbers of a random query with those of each key,
// as { width: [products] }. The numbers are independent and normal, with variance 1.
export function productsByWidth(draw) {
  const next = uniform(draw);
  const normal = () => {
    const [radius, angle] = [next(), next()];
    return Math.sqrt(-2 * Math.log(1 - radius)) * Math.cos(2 * Math.PI * angle);
  };
  const vectors = Array.from({ length: 1 + N_KEYS }, () => Array.from({ length: WIDEST }, normal));
  const [query, ...keys] = vectors;
  const found = Object.fromEntries(WIDTHS.map((width) => [width, []]));
  for (const key of keys) {
    let sum = 0;
    key.forEach((x, c) => {
      sum += x * query[c];
      if (c + 1 in found) found[c + 1].push(sum);
    });
  }
  return found;
}

// From products of numbers of size 1 to weights, and how sharp and how movable these are.
export function scaled(unit, d_k, divisor, size, temperature) {
  const products = unit.map((x) => x * size * size);
  const scores = products.map((x) => x / d_k ** POWERS[divisor] / temperature);
  const weights = softmax(scores);
  const entropy = weights.reduce((sum, w) => (w > 0 ? sum - w * Math.log(w) : sum), 0);
  const squares = weights.flatMap((a, i) => weights.map((b, j) => ((i === j ? a : 0) - a * b) ** 2));
  const norm = Math.sqrt(squares.reduce((sum, x) => sum + x, 0));
  return { products, scores, weights, effective: Math.exp(entropy), norm };
}

class ScalingWidget extends LinkedWidget {
  constructor(model, el) {
    super(model, INPUTS);
    this.build(el);
    this.draw();
  }

  build(el) {
    const octaves = { place: Math.log2, value: (x) => Math.round(2 ** x * 1000) / 1000 };
    const power = { place: Math.log2, value: (x) => 2 ** x };
    this.sliders = [
      this.slider("Width d_k", "d_k", { min: 0, max: 10, step: 1 }, power),
      this.slider("Size of numbers", "size", { min: -2, max: 2, step: 0.25 }, octaves),
      this.slider("Temperature", "temperature", { min: -3.25, max: 3.25, step: 0.25 }, octaves),
    ];
    const divisors = Object.keys(POWERS).map((divisor) => [divisor, divisor]);
    this.divisor = this.choice("Divided by", "divisor", divisors);
    const { width, height } = CHART;
    this.chart = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      class: "mt-strip",
      "aria-hidden": "true", // the table below says the same
    });
    [this.keys, this.widths] = [html("table"), html("table", { class: "mt-matrix" })];
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.arrange(el);
  }

  arrange(el) {
    const buttons = this.buildButtons();
    const others = () => this.change({ draw: (this.state.draw + 1) % (MOST_DRAW + 1) }, null);
    buttons.prepend(html("button", { type: "button", onclick: others }, "New vectors"));
    const root = div(
      "mt-widget",
      html(
        "p",
        {},
        html("b", {}, "Scaling. "),
        "A random query meets 8 random keys. Widen the vectors and choose what their dot products ",
        "are divided by.",
      ),
      div("mt-sliders", ...this.sliders.map(({ node }) => node)),
      this.divisor.node,
      buttons,
      this.problem,
      div(
        "mt-stage",
        div(
          "mt-picture",
          this.chart,
          html(
            "p",
            { class: "mt-legend" },
            "Effective number of keys against the width, for three divisors; the dot is the width ",
            "chosen. It is one query only, so the lines are ragged.",
          ),
        ),
        div("mt-working", scroller("Products, scores and weights", this.keys), this.summary),
      ),
      html(
        "details",
        {},
        html("summary", {}, "The picture as a table"),
        scroller("Effective number of keys by width", this.widths),
      ),
    );
    this.mount(el, root, "Scaling");
  }

  // All widths under all divisors, for the vectors, size and temperature of the state.
  curves() {
    const { draw, size, temperature } = this.state;
    if (this.drawn !== draw) [this.drawn, this.units] = [draw, productsByWidth(draw)];
    return Object.keys(POWERS).map((divisor) => ({
      divisor,
      effective: WIDTHS.map((w) => scaled(this.units[w], w, divisor, size, temperature).effective),
    }));
  }

  draw() {
    const { d_k, divisor, size, temperature } = this.state;
    const curves = this.curves();
    const now = scaled(this.units[d_k], d_k, divisor, size, temperature);
    this.sliders.forEach(({ show }) => show());
    this.divisor.show();
    this.drawButtons();
    this.drawChart(curves);
    this.drawTables(curves, now);
    setText(
      this.summary,
      `Divided by ${divisor}, effectively ${fixed(now.effective, 2)} of ${N_KEYS} keys take part. ` +
        `The largest weight is ${fixed(Math.max(...now.weights))}, ` +
        `the norm of the Jacobian ${fixed(now.norm)}.`,
    );
  }

  drawChart(curves) {
    const { width, height, left, right, top, bottom } = CHART;
    const x = (power) => left + (power / (WIDTHS.length - 1)) * (width - left - right);
    const y = (n) => height - bottom - ((n - 1) / (N_KEYS - 1)) * (height - top - bottom);
    const text = (at, up, content, anchor) =>
      svg("text", { x: at, y: up, "text-anchor": anchor }, content);
    const chosen = WIDTHS.indexOf(this.state.d_k);
    const heights = curves.map(({ effective }) => y(effective[effective.length - 1]) + 4);
    const order = heights.map((_, i) => i).sort((a, b) => heights[a] - heights[b]);
    order.forEach((i, k) => {
      if (k > 0) heights[i] = Math.max(heights[i], heights[order[k - 1]] + 15); // labels keep apart
    });
    const excess = Math.max(0, Math.max(...heights) - (height - bottom + 4));
    const lines = curves.map(({ divisor, effective }, i) => {
      const follow = divisor === this.state.divisor;
      return svg(
        "g",
        { class: follow ? "mt-curve mt-chosen" : "mt-curve" },
        svg("polyline", {
          points: effective.map((n, power) => `${x(power)},${y(n)}`).join(" "),
          "stroke-dasharray": DASHES[divisor],
        }),
        text(width - right + 8, heights[i] - excess, divisor, "start"),
        ...(follow ? [svg("circle", { cx: x(chosen), cy: y(effective[chosen]), r: 6 })] : []),
      );
    });
    this.chart.replaceChildren(
      svg("line", { x1: x(chosen), x2: x(chosen), y1: top, y2: height - bottom, class: "mt-gridline" }),
      ...[1, 2, 4, 6, 8].map((n) => text(left - 8, y(n) + 4, String(n), "end")),
      ...[0, 2, 4, 6, 8, 10].map((p) => text(x(p), height - bottom + 18, String(2 ** p), "middle")),
      text((left + width - right) / 2, height - 4, "width d_k", "middle"),
      svg("line", { x1: left, x2: width - right, y1: y(1), y2: y(1), class: "mt-axis" }),
      ...lines,
    );
  }

  drawTables(curves, { products, scores, weights }) {
    fillTable(this.keys, {
      caption: `A query of width ${this.state.d_k} among ${N_KEYS} keys`,
      head: [["", "product", "score", "weight"].map((title) => heading(title || "key", "col"))],
      rows: weights.map((weight, j) => [
        heading(String(j + 1), "row"),
        number(products[j], { text: fixed(products[j], 2) }),
        number(scores[j]),
        number(weight, { kind: "number bar", heat: weight }),
      ]),
    });
    fillTable(this.widths, {
      caption: "Effective number of keys, divided by",
      head: [[heading("d_k", "col"), ...curves.map(({ divisor }) => heading(divisor, "col"))]],
      rows: WIDTHS.map((width, power) => [
        heading(String(width), "row", { followed: width === this.state.d_k }),
        ...curves.map(({ effective }) => number(effective[power], { text: fixed(effective[power], 2) })),
      ]),
    });
  }
}

export default {
  render({ model, el }) {
    const widget = new ScalingWidget(model, el);
    return () => widget.remove();
  },
};
