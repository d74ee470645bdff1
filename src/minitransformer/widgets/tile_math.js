// Attention in tiles with the online softmax, step by step: what reference_tiled.py computes.

const range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

// One tile of keys added to what is known of some queries; largest and total (query,), summed
// (query, d_v). A key that a query may not see has the score -Infinity.
export function onlineStep({ largest, total, summed }, scores, value) {
  const most = scores.map((row, i) => Math.max(largest[i], ...row));
  const shrink = most.map((top, i) => Math.exp(largest[i] - top));
  const exponentials = scores.map((row, i) => row.map((score) => Math.exp(score - most[i])));
  const added = matmul(exponentials, value);
  return {
    largest: most,
    shrink,
    total: total.map((t, i) => t * shrink[i] + exponentials[i].reduce((sum, x) => sum + x, 0)),
    summed: summed.map((row, i) => row.map((x, c) => x * shrink[i] + added[i][c])),
  };
}

// All steps: each computes one tile, or writes the outputs of a tile of queries (no columns).
// moved = numbers moved so far, held = numbers in fast memory in this step.
export function tileSteps(query, key, value, query_tile, key_tile, causal) {
  const [d_k, d_v] = [query[0].length, value[0].length];
  const steps = [];
  let moved = 0;
  for (let first = 0; first < query.length; first += query_tile) {
    const rows = range(first, Math.min(first + query_tile, query.length));
    const seen = causal ? rows[rows.length - 1] + 1 : key.length;
    moved += rows.length * d_k;
    let state = {
      largest: rows.map(() => -Infinity),
      total: rows.map(() => 0),
      summed: rows.map(() => Array(d_v).fill(0)),
    };
    const kept = rows.length * (2 + d_v);
    for (let start = 0; start < seen; start += key_tile) {
      const columns = range(start, Math.min(start + key_tile, seen));
      moved += columns.length * (d_k + d_v);
      const products = matmul(rows.map((i) => query[i]), transpose(columns.map((j) => key[j])));
      const scores = products.map((row, i) =>
        row.map((x, j) => (causal && columns[j] > rows[i] ? -Infinity : x / Math.sqrt(d_k))),
      );
      const before = state.largest;
      state = onlineStep(state, scores, columns.map((j) => value[j]));
      const tile = rows.length * d_k + columns.length * (d_k + d_v) + rows.length * columns.length;
      steps.push({ rows, columns, scores, before, ...state, moved, held: tile + kept });
    }
    moved += rows.length * d_v;
    steps.push({ rows, columns: [], scores: [], before: state.largest, ...state, moved, held: kept });
  }
  return steps;
}

// Outputs of the steps taken: summed / total, or null where nothing has been written yet.
export function writtenOutputs(steps, nQueries) {
  const outputs = Array(nQueries).fill(null);
  for (const { rows, columns, total, summed } of steps)
    if (columns.length === 0)
      rows.forEach((query, i) => {
        outputs[query] = summed[i].map((x) => x / total[i]);
      });
  return outputs;
}

// The numbers that attention moves when it writes scores and weights out and reads them again.
export function storedMoves(query, key, value) {
  const [n, m] = [query.length, key.length];
  const [d_k, d_v] = [query[0].length, value[0].length];
  return 4 * n * m + n * d_k + m * d_k + m * d_v + n * d_v;
}

// The output from the whole matrix of scores.
export function plainOutput(query, key, value, causal) {
  const products = matmul(query, transpose(key));
  const scale = 1 / Math.sqrt(query[0].length);
  const weights = products.map((row, i) =>
    softmax(row.map((x) => x * scale), causal ? row.map((_, j) => j <= i) : null),
  );
  return matmul(weights, value);
}
