// Positions in plain JavaScript, in double precision: what positions.py says, for the widgets.

const turn = (position, pair, d, base) => position * base ** ((-2 * pair) / d);

// Content (position, d) as it is after positions were told: unchanged, with sines (even columns)
// and cosines (odd columns) added, or with its half-split pairs turned.
export function place(kind, content, base) {
  const d = content[0].length;
  const half = d / 2;
  if (kind === "none") return content;
  return content.map((row, position) =>
    row.map((x, c) => {
      if (kind === "sinusoidal") {
        const angle = turn(position, Math.floor(c / 2), d, base);
        return x + (c % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
      }
      const angle = turn(position, c % half, d, base);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      return c < half ? x * cos - row[c + half] * sin : x * cos + row[c - half] * sin;
    }),
  );
}

const filled = (n, d, x) => Array.from({ length: n }, () => Array(d).fill(x));

// What is added at each position, or what ones are turned into; and the scores of content of ones
// for each place of query and key, with the part of it that comes from positions alone.
export function positioned(kind, n, d, base) {
  const encoding = place(kind, filled(n, d, kind === "rotary" ? 1 : 0), base);
  const product = (rows) =>
    matmul(rows, transpose(rows)).map((row) => row.map((x) => x / Math.sqrt(d)));
  return {
    encoding,
    scores: product(place(kind, filled(n, d, 1), base)),
    alone: kind === "sinusoidal" ? product(encoding) : null,
  };
}

// The words of a sentence read forwards and backwards: the weights of the middle word on each word
// in both orders, and how much the output of each word changes.
export function orders(kind, words, d, base) {
  const content = words.map((word) =>
    Array.from({ length: d }, (_, c) => Math.sin(1.3 * (words.indexOf(word) + 1) * (c + 2))),
  );
  const read = (rows) => {
    const placed = place(kind, rows, base);
    const scale = 1 / Math.sqrt(d);
    const scores = matmul(placed, transpose(placed));
    const weights = scores.map((row) => softmax(row.map((x) => x * scale)));
    return { weights, output: matmul(weights, kind === "rotary" ? rows : placed) };
  };
  const [forwards, backwards] = [read(content), read([...content].reverse())];
  const output = [...backwards.output].reverse();
  const middle = Math.floor(words.length / 2);
  const back = backwards.weights[words.length - 1 - middle];
  return {
    weights: [forwards.weights[middle], [...back].reverse()],
    changes: forwards.output.map((row, i) =>
      Math.max(...row.map((x, c) => Math.abs(x - output[i][c]))),
    ),
  };
}
