// A transformer block in plain JavaScript, in double precision: what blocks.py says, for the widgets.

const SERIES_ENDS = 6; // beyond it, erf is 1 to double precision

// The error function, by a series of positive terms: nothing cancels.
function erf(x) {
  if (Math.abs(x) > SERIES_ENDS) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

const silu = (x) => x / (1 + Math.exp(-x));
const ACTIVATIONS = {
  relu: (x) => Math.max(0, x),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

const add = (a, b) => a.map((row, i) => row.map((x, c) => x + b[i][c]));

// The linear map `name`, with its bias if it has one.
function linear(rows, weights, name) {
  const bias = weights[`${name}.bias`];
  const out = matmul(rows, transpose(weights[`${name}.weight`]));
  return bias ? out.map((row) => row.map((x, c) => x + bias[c])) : out;
}

// Layer norm or RMS norm of each row. centre is what is taken off, spread what is divided by.
function normed(rows, weights, name, { norm, norm_eps: eps }) {
  const [weight, bias] = [weights[`${name}.weight`], weights[`${name}.bias`]];
  const mean = (row) => row.reduce((sum, x) => sum + x, 0) / row.length;
  const stats = rows.map((row) => {
    const centre = norm === "layer" ? mean(row) : 0;
    const spread = Math.sqrt(mean(row.map((x) => (x - centre) ** 2)) + eps);
    return { centre, spread, unit: row.map((x) => (x - centre) / spread) };
  });
  const out = stats.map(({ unit }) => unit.map((x, c) => x * weight[c] + (bias ? bias[c] : 0)));
  return { stats, rows: out };
}

// Self-attention of each head, and its output.
function attend(rows, weights, { n_heads: heads, is_causal: causal }) {
  const w = transpose(weights["attn.qkv_proj.weight"]); // (d_model, rows of queries, keys, values)
  const bias = weights["attn.qkv_proj.bias"] ?? w[0].map(() => 0);
  const inner = weights["attn.o_proj.weight"][0].length;
  const width = inner / heads;
  const kvHeads = (w[0].length - inner) / (2 * width);
  // a column of ones carries the bias
  const [ones, full] = [rows.map((row) => [...row, 1]), [...w, bias]];
  const columns = (start) => full.map((row) => row.slice(start, start + width));
  const mask = rows.map((_, i) => rows.map((__, j) => !causal || j <= i));
  const found = Array.from({ length: heads }, (_, h) => {
    const group = Math.floor((h * kvHeads) / heads) * width;
    const [key, value] = [inner + group, inner + kvHeads * width + group];
    return attention(ones, columns(h * width), columns(key), columns(value), mask);
  });
  const z = rows.map((_, i) => found.flatMap(({ output }) => output[i]));
  return {
    mask,
    scores: found.map((head) => head.scores),
    weights: found.map((head) => head.weights),
    rows: linear(z, weights, "attn.o_proj"),
  };
}

// The feed-forward network: hidden units before and after the nonlinearity, and the output.
function feed(rows, weights, { activation }) {
  const up = linear(rows, weights, "mlp.up_proj");
  if (activation !== "swiglu") {
    const hidden = up.map((row) => row.map(ACTIVATIONS[activation]));
    return { before: up, hidden, rows: linear(hidden, weights, "mlp.down_proj") };
  }
  const gate = linear(rows, weights, "mlp.gate_proj");
  const hidden = gate.map((row, i) => row.map((x, k) => silu(x) * up[i][k]));
  return { before: gate, hidden, rows: linear(hidden, weights, "mlp.down_proj") };
}

// The steps of a block, in their order: { part, from, rows, ... } with what came in, what the step
// makes of it, and for each part its own numbers. `branch` says that a step stands beside the
// residual stream, `of` numbers the norms. What is off adds 0.
export function walk(state) {
  const { x, weights, norm_position: position } = state;
  const steps = [{ part: "in", rows: x }];
  let stream = x;
  const parts = [
    ["attention", 1, attend, state.attention],
    ["feed", 2, feed, state.feed_forward],
  ];
  for (const [part, of, run, on] of parts) {
    const norm = (from) => ({ part: "norm", of, from, ...normed(from, weights, `ln${of}`, state) });
    let into = stream;
    if (position === "pre") {
      steps.push({ ...norm(stream), branch: true });
      into = steps[steps.length - 1].rows;
    }
    const found = run(into, weights, state);
    const rows = on ? found.rows : found.rows.map((row) => row.map(() => 0));
    steps.push({ ...found, part, on, from: into, rows, branch: true });
    const sum = add(stream, rows);
    steps.push({ part: "add", what: part, from: stream, added: rows, rows: sum });
    if (position === "post") steps.push(norm(sum));
    stream = steps[steps.length - 1].rows;
  }
  return steps;
}
