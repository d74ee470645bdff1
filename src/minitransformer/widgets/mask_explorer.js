// The mask explorer: which keys each query may attend to, and what its weights become.

const MOST = 10; // queries, keys; a window of MOST stands for "no limit"
const SAVE_AFTER = 150; // milliseconds without a change

// Everything that the inputs decide: places of the queries, made-up scores, mask, weights.
export function masked({ n_queries, n_keys, q_offset, causal, window, pad_left, pad_right }) {
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const places = range(n_queries).map((i) => q_offset + i);
  const table = (entry) => places.map((p) => range(n_keys).map((j) => entry(p, j)));
  const scores = table((p, j) => 1.5 * Math.sin(2.1 * p + 3.7 * j + 1));
  const mask = table(
    (p, j) =>
      j >= pad_left &&
      j < n_keys - pad_right &&
      (!causal || j <= p) &&
      (window === null || Math.abs(j - p) <= window),
  );
  return { places, scores, mask, weights: scores.map((row, i) => softmax(row, mask[i])) };
}

const OPEN = { q_offset: 0, causal: true, window: null, pad_left: 0, pad_right: 0 };
const PRESETS = [
  ["Training", { ...OPEN, n_queries: 6, n_keys: 6 }],
  ["One new token", { ...OPEN, n_queries: 1, n_keys: 6, q_offset: 5 }],
  ["Chunk", { ...OPEN, n_queries: 3, n_keys: 8, q_offset: 5 }],
  ["Wrong alignment", { ...OPEN, n_queries: 1, n_keys: 6 }],
  ["Padding on the left", { ...OPEN, n_queries: 6, n_keys: 6, pad_left: 2 }],
  ["Window", { ...OPEN, n_queries: 8, n_keys: 8, window: 2 }],
  ["Encoder", { ...OPEN, n_queries: 6, n_keys: 6, causal: false, pad_right: 1 }],
];
const NAMES = Object.keys(PRESETS[0][1]);
const SLIDERS = [
  ["n_queries", "queries", 1, MOST],
  ["n_keys", "keys", 1, MOST],
  ["q_offset", "query offset", 0, MOST - 1],
  ["pad_left", "padding, left", 0, MOST],
  ["pad_right", "padding, right", 0, MOST],
  ["window", "window, keys back", 0, MOST],
];

// What a reader should notice, in sentences.
function summary(state, { places, mask }) {
  const allowed = mask.flat().filter(Boolean).length;
  const empty = places.filter((_, i) => !mask[i].some(Boolean)).map((p) => String(p + 1));
  const bottomRight = state.n_keys - state.n_queries;
  const parts = [`${allowed} of ${mask.flat().length} scores count.`];
  if (empty.length)
    parts.push(`Nothing to see at place ${listing(empty)}: weights of 0, not NaN.`);
  if (state.causal && state.q_offset !== bottomRight && bottomRight >= 0)
    parts.push(
      `The last query stands at place ${places[places.length - 1] + 1}, the last key at place ` +
        `${state.n_keys}. With a cache the offset would be keys − queries = ${bottomRight}.`,
    );
  return parts.join(" ");
}

function weightTable(state, { places, mask, weights }) {
  const padded = (j) => j < state.pad_left || j >= state.n_keys - state.pad_right;
  const body = (i) =>
    weights[i].map((w, j) =>
      mask[i][j]
        ? cell(fixed(w, 2), { value: w, kind: "number heat", heat: w })
        : cell("–", { value: 0, kind: "number hidden", heat: 0 }),
    );
  return {
    caption: "Weights: rows = queries by their place, columns = keys; – = hidden",
    head: [
      [
        heading("query", "col"),
        ...weights[0].map((_, j) =>
          heading(padded(j) ? "pad" : String(j + 1), "col", { kind: padded(j) ? "" : "key" }),
        ),
        heading("sum", "col"),
      ],
    ],
    rows: places.map((p, i) => [
      heading(String(p + 1), "row", { kind: "query" }),
      ...body(i),
      cell(fixed(weights[i].reduce((sum, w) => sum + w, 0), 0), { kind: "edge" }),
    ]),
  };
}

class MaskExplorer {
  constructor(model, el) {
    this.model = model;
    this.read();
    this.build(el);
    this.draw();
    this.onModel = () => this.fromModel();
    for (const name of NAMES) model.on(`change:${name}`, this.onModel);
  }

  read() {
    this.state = Object.fromEntries(NAMES.map((name) => [name, this.model.get(name)]));
  }

  fromModel() {
    if (this.telling) return;
    this.read();
    if (this.state.pad_left + this.state.pad_right > this.state.n_keys) return; // half a change
    this.draw();
  }

  // Padding never exceeds the keys: the end that the reader moves pushes the other one.
  set(changes) {
    const next = { ...this.state, ...changes };
    const fixedEnd = "pad_right" in changes ? "pad_right" : "pad_left";
    const other = fixedEnd === "pad_left" ? "pad_right" : "pad_left";
    next[fixedEnd] = Math.min(next[fixedEnd], next.n_keys);
    next[other] = Math.min(next[other], next.n_keys - next[fixedEnd]);
    this.telling = true;
    for (const name of NAMES)
      if (next[name] !== this.state[name]) this.model.set(name, next[name]);
    this.telling = false;
    this.state = next;
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), SAVE_AFTER);
  }

  save() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.model.save_changes();
  }

  build(el) {
    this.sliders = SLIDERS.map(([name, label, min, max]) => this.slider(name, label, min, max));
    this.causal = html("input", {
      type: "checkbox",
      onchange: () => this.set({ causal: this.causal.checked }),
    });
    this.table = html("table", { class: "mt-matrix mt-mask" });
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.presets = PRESETS.map(([label, state]) =>
      html("button", { type: "button", onclick: () => this.set(state) }, label),
    );
    this.root = div(
      "mt-widget",
      html(
        "p",
        {},
        html("b", {}, "Mask explorer. "),
        "The scores are fixed. Set who may see whom; the weights are computed anew.",
      ),
      html("div", { class: "mt-buttons", role: "group", "aria-label": "Examples" }, ...this.presets),
      div(
        "mt-sliders",
        ...this.sliders.map(({ row }) => row),
        html("label", { class: "mt-check" }, this.causal, html("span", {}, "causal mask")),
      ),
      html(
        "div",
        { class: "mt-scroll", tabindex: "0", role: "group", "aria-label": "Table of weights" },
        this.table,
      ),
      this.summary,
    );
    setAttributes(this.root, { role: "group", "aria-label": "Mask explorer" });
    putInto(el, this.root);
  }

  slider(name, label, min, max) {
    const field = html("input", {
      type: "range",
      min,
      max,
      step: 1,
      "aria-label": label,
      oninput: () => {
        const value = Number(field.value);
        this.set({ [name]: name === "window" && value === MOST ? null : value });
      },
    });
    const shown = html("output", {});
    const row = html("label", {}, html("span", {}, label), field, shown);
    const show = (value) => {
      const text = value === null ? "no limit" : String(value);
      field.value = value === null ? MOST : value;
      setAttributes(field, { "aria-valuetext": text });
      setText(shown, text);
    };
    return { name, row, show };
  }

  draw() {
    const numbers = masked(this.state);
    for (const { name, show } of this.sliders) show(this.state[name]);
    this.causal.checked = this.state.causal;
    PRESETS.forEach(([, preset], k) => {
      const shown = Object.entries(preset).every(([name, value]) => this.state[name] === value);
      setAttributes(this.presets[k], { "aria-pressed": String(shown) });
    });
    fillTable(this.table, weightTable(this.state, numbers));
    setText(this.summary, summary(this.state, numbers));
  }

  remove() {
    if (this.timer !== undefined) this.save();
    for (const name of NAMES) this.model.off(`change:${name}`, this.onModel);
    this.root.remove();
  }
}

export default {
  render({ model, el }) {
    const explorer = new MaskExplorer(model, el);
    return () => explorer.remove();
  },
};
