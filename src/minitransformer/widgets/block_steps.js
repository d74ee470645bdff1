// The steps of the block walk: what each one is called, says and tabulates. `n` is what is looked
// at: { tokens, token (its text), i (its index), position (of the norms), activation, norm,
// isCausal }.

const quoted = (token) => `“${token}”`;
const PARTS = { attention: "attention", feed: "the feed-forward network" };
const size = (row) => Math.hypot(...row);
const columns = (...texts) => [texts.map((text) => heading(text, "col", { kind: "wrap" }))];
const change = (a, b) => size(a.map((x, c) => x - b[c]));

// A table with a row a dimension, from several vectors.
const byDimension = (caption, heads, ...vectors) => ({
  caption,
  head: columns("dimension", ...heads),
  rows: vectors[0].map((_, c) => [
    heading(String(c), "row"),
    ...vectors.map((vector) => number(vector[c])),
  ]),
});

const IN = {
  title: () => "Residual stream",
  explain: (_, n) =>
    "Each token has one vector, the residual stream. The parts of the block read it, and what they " +
    "find is added to it. " +
    (n.position === "pre"
      ? "Nothing else changes it."
      : "Here the norms stand on the stream itself and rescale it after each sum."),
  table: ({ rows }, n) =>
    byDimension(`The vector of ${quoted(n.token)} as it comes in`, ["value"], rows[n.i]),
  summary: ({ rows }, n) => `${quoted(n.token)} comes in with length ${fixed(size(rows[n.i]))}.`,
};

const NORM = {
  title: ({ of }) => `Norm ${of}`,
  explain: (_, n) =>
    n.norm === "layer"
      ? "Layer norm takes off the mean of the vector's numbers, divides by their spread (standard " +
        "deviation), then applies a weight and a bias to each dimension, which were trained."
      : "RMS norm divides the vector by the root mean square of its numbers, then applies a weight " +
        "to each dimension, which was trained.",
  table: ({ from, stats, rows }, n) => {
    const { centre, spread, unit } = stats[n.i];
    const caption = `Norm of ${quoted(n.token)}: mean ${fixed(centre)}, spread ${fixed(spread)}`;
    return n.norm === "layer"
      ? byDimension(caption, ["in", "(in − mean) ÷ spread", "out"], from[n.i], unit, rows[n.i])
      : byDimension(
          `Norm of ${quoted(n.token)}: root mean square ${fixed(spread)}`,
          ["in", "in ÷ root mean square", "out"],
          from[n.i],
          unit,
          rows[n.i],
        );
  },
  summary: ({ from, rows }, n) =>
    `Length before the norm ${fixed(size(from[n.i]))}, after it ${fixed(size(rows[n.i]))}.`,
};

const ATTENTION = {
  title: () => "Attention",
  explain: (_, n) =>
    "The only step in which tokens read one another. Each head gives every token " +
    `${n.isCausal ? "up to its own place " : ""}a weight and mixes their values; a matrix joins ` +
    "what the heads found.",
  table: ({ weights, mask }, n) => ({
    caption: `Whom ${quoted(n.token)} reads: its weights`,
    head: columns("key", ...weights.map((_, h) => `head ${h}`)),
    rows: n.tokens.map((token, j) => [
      heading(token, "row", { kind: "key", followed: j === n.i }),
      ...weights.map((head) =>
        mask[n.i][j]
          ? number(head[n.i][j], { kind: "number bar", heat: head[n.i][j] })
          : cell("–", { kind: "hidden", value: 0, heat: 0 }),
      ),
    ]),
  }),
  summary: ({ on, weights, rows }, n) => {
    if (!on) return "Attention is off: the weights are there, but nothing is added.";
    const most = weights.map((head, h) => {
      const largest = Math.max(...head[n.i]);
      const token = n.tokens[head[n.i].indexOf(largest)];
      return `head ${h} on ${quoted(token)} (${fixed(largest, 2)})`;
    });
    return `Largest weights: ${listing(most)}. Length of what is found: ${fixed(size(rows[n.i]))}.`;
  },
};

const ADD = {
  title: () => "Add",
  explain: ({ what }) =>
    `What ${PARTS[what]} found is added to the residual stream, dimension by dimension. The vector ` +
    "that was there goes on, changed by that much.",
  table: ({ what, from, added, rows }, n) =>
    byDimension(
      `Stream + ${PARTS[what]}, for ${quoted(n.token)}`,
      ["stream", "+ found", "= stream"],
      from[n.i],
      added[n.i],
      rows[n.i],
    ),
  summary: ({ from, added, rows }, n) =>
    `The vector moved by ${fixed(size(added[n.i]))}: its length was ${fixed(size(from[n.i]))} and ` +
    `is ${fixed(size(rows[n.i]))}.`,
};

const FEED = {
  title: () => "Feed-forward",
  explain: (_, n) =>
    "Each token on its own. Every hidden unit compares the vector with a direction of its own: " +
    (n.activation === "relu"
      ? "above 0 it is on, below 0 it is off and gives 0. "
      : "above 0 it is on, below 0 it gives next to nothing. ") +
    "Units that are on add what they stand for.",
  table: ({ before, hidden }, n) => {
    const gated = n.activation === "swiglu";
    const largest = Math.max(1e-12, ...hidden[n.i].map(Math.abs));
    const on = before[n.i].filter((x) => x > 0).length;
    return {
      caption: `Hidden units of ${quoted(n.token)}: ${on} of ${hidden[n.i].length} are on`,
      head: columns("unit", gated ? "gate" : "before", `after ${n.activation}`, "state"),
      rows: hidden[n.i].map((x, k) => [
        heading(String(k), "row"),
        number(before[n.i][k]),
        number(x, { kind: "number bar", heat: Math.abs(x) / largest }),
        cell(before[n.i][k] > 0 ? "on" : "off"),
      ]),
    };
  },
  summary: ({ on, before, rows }, n) => {
    if (!on) return "The feed-forward network is off: its units are there, but nothing is added.";
    const lit = before[n.i].flatMap((x, k) => (x > 0 ? [String(k)] : []));
    const units = lit.length ? `Units on: ${listing(lit)}.` : "No unit is on.";
    return `${units} Length of what is found: ${fixed(size(rows[n.i]))}.`;
  },
};

const STEPS = { in: IN, norm: NORM, attention: ATTENTION, add: ADD, feed: FEED };
