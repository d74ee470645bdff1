// What attention costs, as costs.py says it, and how such large numbers are told.

const TILE = 128; // queries, and keys, of one tile

export function nScores(n, causal) {
  return causal ? (n * (n + 1)) / 2 : n * n;
}

export function multiplyAdds(n, d_model, n_layers, n_heads, n_kv_heads, causal) {
  const mixed = n_layers * d_model * nScores(n, causal);
  const projections = n_layers * n * d_model * (2 * d_model + (2 * d_model * n_kv_heads) / n_heads);
  const feedForward = n_layers * n * 8 * d_model ** 2;
  return { scores: mixed, values: mixed, projections, feedForward };
}

export function scoreBytes(n, n_heads, bytes) {
  return n_heads * nScores(n, false) * bytes;
}

export function tiledScoreBytes(n, n_heads, bytes) {
  return n_heads * (Math.min(n, TILE) ** 2 + 2 * n) * bytes;
}

export function cacheBytes(length, n_layers, n_kv_heads, d_head, bytes, batch) {
  return 2 * n_layers * n_kv_heads * d_head * bytes * batch * length;
}

// --- telling

const NAMED = [
  [1e15, "quadrillion"],
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
];
const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

const grouped = (x) => String(Math.round(x)).replace(/\B(?=(\d{3})+$)/g, ",");

// Three digits: 1.05, 10.5, 105.
const threeDigits = (x) => String(Number(x.toPrecision(3)));

const power = (exponent) =>
  `10${[...String(exponent)].map((digit) => SUPERSCRIPTS[Number(digit)]).join("")}`;

// 12,288 · 10 billion · 1.59 × 10¹⁸
export function amount(x) {
  if (x < 1e6) return grouped(x);
  if (x >= 1e18) {
    const [digits, exponent] = x.toExponential(2).split("e+");
    return `${Number(digits)} × ${power(exponent)}`;
  }
  const rounded = Number(x.toPrecision(3));
  const [size, name] = NAMED.find(([least]) => rounded >= least);
  return `${threeDigits(rounded / size)} ${name}`;
}

// Decimal units: 1 kB = 1,000 bytes.
export function bytesText(x) {
  const rounded = x < 1000 ? x : Number(x.toPrecision(3));
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(rounded || 1) / 3 + 1e-9)));
  return `${threeDigits(rounded / 1000 ** unit)} ${UNITS[unit]}`;
}

const percent = (share) => `${Number((100 * share).toFixed(1))} %`;

// --- choosing

const divisors = (n) => Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);

// Of the values, the one nearest to x by its ratio.
const nearest = (values, x) =>
  values.reduce((best, v) => (Math.abs(Math.log(v / x)) < Math.abs(Math.log(best / x)) ? v : best));

// A slider over a list of values; get() makes the list anew where it depends on other inputs.
const listed = (get) => ({
  place: (x) => get().indexOf(nearest(get(), x)),
  value: (place) => get()[place],
});

const span = (values) => ({ min: 0, max: values.length - 1, step: 1 });

const BYTES = [
  [4, "4: float32"],
  [2, "2: float16"],
  [1, "1: int8"],
];

// The models a reader may load, as a row of buttons. `pick` gives the inputs that a model sets.
function modelButtons(widget, pick) {
  const row = html("div", { class: "mt-buttons", role: "group", "aria-label": "Models" });
  const fits = (model) =>
    Object.entries(pick(model)).every(([name, value]) => widget.state[name] === value);
  const show = () => {
    const { models } = widget.state;
    if (row.dataset.shown !== JSON.stringify(models)) {
      row.dataset.shown = JSON.stringify(models);
      const load = (model) => () => widget.change(pick(model), null);
      row.replaceChildren(
        ...models.map((model) =>
          html("button", { type: "button", onclick: load(model) }, model[0]),
        ),
      );
    }
    [...row.children].forEach((button, k) =>
      setAttributes(button, { "aria-pressed": String(fits(models[k])) }),
    );
  };
  return { node: row, show };
}
