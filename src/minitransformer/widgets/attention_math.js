// Attention in plain JavaScript, in double precision: what reference.py says, for the widgets.
// Matrices are arrays of rows; rows = queries, columns = keys. A mask is an array of rows of
// true and false, true = may attend. A score stands before the softmax, a weight after it.

export function matmul(a, b) {
  return a.map((row) =>
    b[0].map((_, column) => row.reduce((sum, x, k) => sum + x * b[k][column], 0)),
  );
}

export function transpose(a) {
  return a[0].map((_, column) => a.map((row) => row[column]));
}

// One row of scores to weights. What stands in a masked place does not matter; a row in which
// nothing takes part gives weights of 0.
export function softmax(scores, mask = null) {
  const taking = scores.map((score, j) => (mask === null || mask[j] ? score : -Infinity));
  if (taking.some((score) => Number.isNaN(score) || score === Infinity)) {
    throw new RangeError("a score that takes part is NaN or +infinity: softmax is not defined");
  }
  const largest = Math.max(...taking);
  if (largest === -Infinity) return scores.map(() => 0);
  const exponentials = taking.map((score) => Math.exp(score - largest)); // cannot overflow
  const total = exponentials.reduce((sum, x) => sum + x, 0);
  return exponentials.map((x) => x / total);
}

// Self-attention of x (token, d_model), with everything it computes on the way:
// query, key, value (token, d), products = query · keyᵀ, scores = products · scale, weights, output.
export function attention(x, w_q, w_k, w_v, mask = null, scale = null) {
  const [query, key, value] = [w_q, w_k, w_v].map((w) => matmul(x, w));
  const factor = scale === null ? 1 / Math.sqrt(query[0].length) : scale;
  const products = matmul(query, transpose(key));
  const scores = products.map((row) => row.map((product) => product * factor));
  const weights = scores.map((row, i) => softmax(row, mask === null ? null : mask[i]));
  return { query, key, value, products, scores, weights, output: matmul(weights, value) };
}
