// The four stages of the attention stepper: what each one says, tabulates and draws.

const total = (row) => row.reduce((sum, x) => sum + x, 0);
const sub = (text) => html("sub", {}, text);
const quoted = (token) => `“${token}”`;
const factor = (x) => (x < 0 ? `(${short(x)})` : short(x));
const terms = (a, b) => a.map((x, k) => `${factor(x)} × ${factor(b[k])}`).join(" + ");
const rowOf = (matrix, heat) =>
  matrix.map((x) => number(x, { kind: "number heat", heat: heat(x) }));

// All numbers of a state; `i` is the row of the query that is followed.
function compute(state) {
  const { tokens, embeddings, w_q, w_k, w_v, query: i } = state;
  const all = attention(embeddings, w_q, w_k, w_v);
  return {
    ...all,
    tokens,
    embeddings,
    projections: { query: w_q, key: w_k, value: w_v },
    i,
    token: tokens[i],
  };
}

// "0.238 to “in” and “den”": which keys have the largest or smallest entry of a row
function extreme(row, tokens, pick, joint) {
  const best = pick(...row);
  const names = row.flatMap((x, j) => (Math.abs(x - best) < 1e-9 ? [quoted(tokens[j])] : []));
  return `${fixed(best)} ${joint} ${listing(names)}`;
}

// Keys as diamonds, where they do not lie on their embeddings.
const movedKeys = (n) =>
  n.key.filter((k, j) => k.some((x, c) => Math.abs(x - n.embeddings[j][c]) > 1e-9));
const keyLegend = (n) =>
  movedKeys(n).length ? "Diamonds: keys." : "The keys lie on the embeddings.";

// A matrix with a row for each query and a column for each key; the followed query is marked.
function squareTable(n, matrix, caption, more = { heads: [], cells: () => [] }) {
  const heat = heatScale(matrix);
  const corner = heading("query ↓ key →", "col", { kind: "wrap" });
  return {
    caption,
    head: [
      [
        corner,
        ...n.tokens.map((t) => heading(t, "col")),
        ...more.heads.map((t, k) => heading(t, "col", { kind: k === 0 ? "wrap edge" : "wrap" })),
      ],
    ],
    rows: matrix.map((row, i) => [
      heading(n.tokens[i], "row", { followed: i === n.i }),
      ...rowOf(row, heat),
      ...more.cells(i),
    ]),
  };
}

const PROJECT = {
  title: "Project",
  explain: (n) => [
    `Three matrices turn the embedding of ${quoted(n.token)} into a query (what it looks for), a key `,
    "(what it is found by) and a value (what it passes on): q = x·W",
    sub("Q"),
    ", k = x·W",
    sub("K"),
    ", v = x·W",
    sub("V"),
    ". Every token is projected in the same way.",
  ],
  legend: (n) =>
    `Arrows: query, key and value of ${quoted(n.token)}. With the identity as a matrix they end on the embedding.`,
  detail: (n) => ({
    caption: `Query, key and value of ${quoted(n.token)}`,
    head: [["vector", "dimension 1", "dimension 2"].map((text) => heading(text, "col"))],
    rows: ["query", "key", "value"].map((name) => [
      heading(name, "row", { kind: name }),
      ...n[name][n.i].map((x, k) =>
        cell(
          `${terms(
            n.embeddings[n.i],
            n.projections[name].map((row) => row[k]),
          )} = ${fixed(x)}`,
          { value: x, kind: "working" },
        ),
      ),
    ]),
  }),
  matrix: (n) => ({
    caption: "All tokens: query, key and value",
    head: [["token", "q₁", "q₂", "k₁", "k₂", "v₁", "v₂"].map((text) => heading(text, "col"))],
    rows: n.tokens.map((token, i) => [
      heading(token, "row", { followed: i === n.i }),
      ...[n.query, n.key, n.value].flatMap((part) => part[i].map((x) => number(x))),
    ]),
  }),
  note: () => "",
  marks: (n, plane) => {
    const arrows = new Map(); // arrows with one tip share one label
    for (const [name, letter] of [
      ["value", "v"],
      ["key", "k"],
      ["query", "q"],
    ]) {
      const tip = n[name][n.i];
      const at = tip.map((x) => fixed(x)).join();
      arrows.set(at, {
        tip,
        name,
        label: arrows.has(at) ? `${letter} = ${arrows.get(at).label}` : letter,
      });
    }
    return [...arrows.values()].map(({ tip, name, label }) =>
      plane.arrow([0, 0], tip, name, label),
    );
  },
  summary: (n) =>
    `${quoted(n.token)} has the query ${vector(n.query[n.i])}, the key ${vector(n.key[n.i])} and the value ${vector(n.value[n.i])}.`,
};

const COMPARE = {
  title: "Compare",
  explain: (n) => [
    `The query of ${quoted(n.token)} is compared with every key: the dot product q·k = q₁k₁ + q₂k₂ is large `,
    "where the two arrows point the same way, 0 at a right angle, negative where they oppose.",
  ],
  legend: (n) =>
    `Arrow: the query of ${quoted(n.token)}. ${keyLegend(n)} A dotted line drops each key onto ` +
    "the query: the farther along it lands, the larger the dot product.",
  detail: (n) => {
    const heat = heatScale(n.products);
    return {
      caption: `The query of ${quoted(n.token)}, ${vector(n.query[n.i])}, with each key`,
      head: [["key of", "q₁ × k₁ + q₂ × k₂", "dot product"].map((text) => heading(text, "col"))],
      rows: n.tokens.map((token, j) => [
        heading(token, "row"),
        cell(terms(n.query[n.i], n.key[j]), { kind: "working" }),
        number(n.products[n.i][j], { kind: "number heat", heat: heat(n.products[n.i][j]) }),
      ]),
    };
  },
  matrix: (n) => squareTable(n, n.products, "All dot products: rows = queries, columns = keys"),
  note: (n, j) => fixed(n.products[n.i][j], 2),
  marks: (n, plane) => {
    const q = n.query[n.i];
    const square = q[0] ** 2 + q[1] ** 2;
    const foot = (j) => q.map((x) => (x * n.products[n.i][j]) / square);
    const far = q.map((x) => (x * 2 * (plane.window.high - plane.window.low)) / Math.sqrt(square));
    const drops =
      square === 0
        ? []
        : [
            plane.line(
              far.map((x) => -x),
              far,
              "mt-ray",
            ),
            ...n.key.map((k, j) => plane.line(k, foot(j), "mt-drop")),
          ];
    return [
      ...drops,
      ...movedKeys(n).map((k) => plane.diamond(k, "mt-key")),
      plane.arrow([0, 0], q, "query", "q"),
    ];
  },
  summary: (n) => {
    const row = n.products[n.i];
    const [most, least] = [Math.max, Math.min].map((pick) => extreme(row, n.tokens, pick, "with"));
    return `Dot products of ${quoted(n.token)}: largest ${most}; smallest ${least}.`;
  },
};

const NORMALISE = {
  title: "Scale and normalise",
  explain: () => [
    "Each dot product is divided by √d",
    sub("k"),
    " = √2: that is the score. The softmax turns the scores of one query into weights, ",
    "e",
    html("sup", {}, "score"),
    " divided by the sum of all e",
    html("sup", {}, "score"),
    ": all positive, together 1.",
  ],
  legend: (n) =>
    `The larger the disc around a key, the more weight ${quoted(n.token)} gives it. ${keyLegend(n)}`,
  detail: (n) => ({
    caption: `From dot product to weight, for the query of ${quoted(n.token)}`,
    head: [
      ["key of", "dot product", "score (÷ √2)", "e^score", "weight"].map((text) =>
        heading(text, "col", { kind: "wrap" }),
      ),
    ],
    rows: n.tokens.map((token, j) => [
      heading(token, "row"),
      number(n.products[n.i][j]),
      number(n.scores[n.i][j]),
      number(Math.exp(n.scores[n.i][j])),
      number(n.weights[n.i][j], { kind: "number bar", heat: n.weights[n.i][j] }),
    ]),
    foot: [
      [
        heading("sum", "row"),
        cell(""),
        cell(""),
        number(total(n.scores[n.i].map(Math.exp))),
        number(total(n.weights[n.i])),
      ],
    ],
  }),
  matrix: (n) =>
    squareTable(n, n.weights, "All weights: rows = queries, columns = keys; each row sums to 1"),
  note: (n, j) => fixed(n.weights[n.i][j], 2),
  marks: (n, plane) => [
    ...n.key.map((k, j) => plane.disc(k, 44 * Math.sqrt(n.weights[n.i][j]), "mt-halo")),
    ...movedKeys(n).map((k) => plane.diamond(k, "mt-key")),
    plane.arrow([0, 0], n.query[n.i], "query", "q"),
  ],
  summary: (n) => {
    const row = n.weights[n.i];
    const [most, least] = [Math.max, Math.min].map((pick) => extreme(row, n.tokens, pick, "to"));
    return `Weights of ${quoted(n.token)}: largest ${most}; smallest ${least}.`;
  },
};

const MIX = {
  title: "Mix",
  explain: (n) => [
    `Each value is multiplied by its weight, and the pieces are added: their sum is the output of ${quoted(n.token)}, `,
    "its embedding mixed with what it attended to.",
  ],
  legend: () =>
    "Thin arrows: weight × value of each token, laid tip to tail. Thick arrow: their sum, the output.",
  detail: (n) => ({
    caption: `Weight × value, summed: the output of ${quoted(n.token)}`,
    head: [["value of", "weight", "value", "weight × value"].map((text) => heading(text, "col"))],
    rows: n.tokens.map((token, j) => [
      heading(token, "row"),
      number(n.weights[n.i][j], { kind: "number bar", heat: n.weights[n.i][j] }),
      cell(`[${n.value[j].map(short).join(", ")}]`, { kind: "number" }),
      cell(vector(n.value[j].map((v) => n.weights[n.i][j] * v)), { kind: "number" }),
    ]),
    foot: [
      [
        heading("output", "row", { kind: "value" }),
        cell(""),
        cell(""),
        cell(vector(n.output[n.i]), { kind: "number total" }),
      ],
    ],
  }),
  matrix: (n) =>
    squareTable(n, n.weights, "All weights and outputs: rows = queries, columns = keys", {
      heads: ["output 1", "output 2"],
      cells: (i) =>
        n.output[i].map((x, k) => number(x, { kind: k === 0 ? "number edge" : "number" })),
    }),
  note: () => "",
  marks: (n, plane) => {
    let sum = [0, 0];
    const chain = n.value.map((v, j) => {
      const from = sum;
      sum = sum.map((x, k) => x + n.weights[n.i][j] * v[k]);
      return plane.arrow(from, sum, "piece", "", 7);
    });
    return [plane.arrow([0, 0], n.output[n.i], "output", "output"), ...chain];
  },
  summary: (n) =>
    `The output of ${quoted(n.token)} is ${vector(n.output[n.i])}; its value was ${vector(n.value[n.i])}.`,
};

const STAGES = [PROJECT, COMPARE, NORMALISE, MIX];
