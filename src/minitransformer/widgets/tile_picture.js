// The matrix of scores between queries, keys, values and outputs, with the tile in fast memory.

const CELL = 32;
const LEFT = 52; // of the matrix
const TOP = 64;

// What has become of one score after the steps taken: its class, and what is written into its cell.
function cellState(taken, causal, i, j) {
  if (causal && j > i) return ["mt-hide", "–"];
  const step = taken.find((one) => one.rows.includes(i) && one.columns.includes(j));
  if (step === undefined) return ["mt-todo", ""];
  if (step !== taken[taken.length - 1]) return ["mt-done", "·"];
  return ["mt-now", fixed(step.scores[step.rows.indexOf(i)][step.columns.indexOf(j)], 1)];
}

// A box with a word in it; show() changes both in place.
function labelled(x, y, width, height) {
  const word = svg("text", { x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle" });
  const box = svg("rect", { x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 4 });
  const node = svg("g", {}, box, word);
  const show = (kind, text) => {
    setText(word, text);
    if (node.getAttribute("class") !== kind) setAttributes(node, { class: kind });
  };
  return { node, show };
}

class TilePicture {
  constructor() {
    this.root = svg("svg", { class: "mt-strip mt-tiles", "aria-hidden": "true" });
  }

  // The boxes are made anew only when there are more or fewer queries or keys.
  build(n, m) {
    if (this.cells?.length === n && this.keys.length === m) return;
    const right = LEFT + m * CELL + 12;
    const column = (y) => (_, j) => labelled(LEFT + j * CELL, y, CELL, 26);
    const row = (x, width) => (_, i) => labelled(x, TOP + i * CELL, width, CELL);
    this.keys = Array.from({ length: m }, column(0));
    this.values = Array.from({ length: m }, column(27));
    this.queries = Array.from({ length: n }, row(0, 38));
    this.outputs = Array.from({ length: n }, row(right, CELL));
    this.cells = this.queries.map((_, i) => this.keys.map((_, j) => row(LEFT + j * CELL, CELL)(0, i)));
    const all = [this.keys, this.values, this.queries, this.outputs, ...this.cells].flat();
    this.root.replaceChildren(...all.map(({ node }) => node));
    setAttributes(this.root, { viewBox: `0 0 ${right + CELL + 2} ${TOP + n * CELL + 2}` });
  }

  // taken: the steps so far, the last of them being the one shown; written: outputs, or null.
  draw({ query, key, causal, written, taken }) {
    this.build(query.length, key.length);
    const step = taken[taken.length - 1];
    const fill = (boxes, letter, isFilled) =>
      boxes.forEach(({ show }, i) => {
        const kind = `mt-${letter.toLowerCase()}`;
        show(isFilled(i) ? `${kind} mt-in` : kind, `${letter}${i + 1}`);
      });
    fill(this.keys, "K", (j) => step?.columns.includes(j));
    fill(this.values, "V", (j) => step?.columns.includes(j));
    fill(this.queries, "Q", (i) => step?.rows.includes(i));
    fill(this.outputs, "O", (i) => written[i] !== null);
    this.cells.forEach((row, i) => row.forEach(({ show }, j) => show(...cellState(taken, causal, i, j))));
  }
}
