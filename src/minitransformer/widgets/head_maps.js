// The maps of many heads: unpacked, looked up and painted.

const STEPS = 255; // as in Python
const MOST_PIXELS = 24; // of a small map's side
const PAINT = [43, 125, 233]; // seen on light and on dark; the shade is how opaque it is

// Text to bytes: base64 of a compressed row of weights in steps.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Which keys are not shown: the first token, and marks: no letter or digit in it, or a special
// token in brackets.
export function hiddenKeys(tokens, hide) {
  const mark = /^[^\p{L}\p{N}]*$|^\s*(\[\w+\]|<.*>)\s*$/u;
  return tokens.map(
    (token, j) => (hide !== "nothing" && j === 0) || (hide === "first + marks" && mark.test(token)),
  );
}

// The weights of one query, what of them lies on hidden keys, and the keys by weight, largest
// first. `maps` is what a text's weights unpack to, (layer, head, query, key) in steps.
export function lookUp(maps, n, nHeads, layer, head, query, hidden) {
  const start = ((layer * nHeads + head) * n + query) * n;
  const row = Array.from({ length: n }, (_, j) => maps[start + j] / STEPS);
  const share = row.reduce((sum, w, j) => (hidden[j] ? sum + w : sum), 0);
  const order = row.flatMap((w, j) => (hidden[j] || w === 0 ? [] : [j]));
  return { row, share, order: order.sort((a, b) => row[b] - row[a]) };
}

// The largest steps of a head's map in each of size × size blocks, without hidden keys.
export function shrink(maps, start, n, size, hidden) {
  const place = Array.from({ length: n }, (_, i) => Math.floor((i * size) / n));
  const small = new Uint8Array(size * size);
  for (let i = 0; i < n; i += 1) {
    const [from, to] = [start + i * n, place[i] * size];
    for (let j = 0; j < n; j += 1) {
      const steps = maps[from + j];
      if (steps > small[to + place[j]] && !hidden[j]) small[to + place[j]] = steps;
    }
  }
  return small;
}

// Paint size × size steps at a place of a canvas; the largest is opaque.
function paint(context, steps, size, x, y) {
  const image = context.createImageData(size, size);
  const pixels = image.data;
  const scale = 255 / steps.reduce((most, s) => Math.max(most, s), 1);
  for (let k = 0; k < steps.length; k += 1) {
    [pixels[4 * k], pixels[4 * k + 1], pixels[4 * k + 2]] = PAINT;
    pixels[4 * k + 3] = steps[k] * scale;
  }
  context.putImageData(image, x, y);
}

// All heads of a text as small maps on one canvas: a row a layer, a column a head.
class HeadGrid {
  constructor(onPick) {
    this.canvas = html("canvas", { "aria-hidden": "true" });
    this.mark = html("i", { class: "mt-chosen-map" });
    this.root = html(
      "div",
      {
        class: "mt-head-grid",
        role: "img",
        "aria-label": "All heads as small maps; choose one with the sliders",
        onclick: (event) => {
          const box = this.root.getBoundingClientRect();
          const at = (share, count) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
          onPick(
            at((event.clientY - box.top) / box.height, this.layers),
            at((event.clientX - box.left) / box.width, this.heads),
          );
        },
      },
      this.canvas,
      this.mark,
    );
  }

  paint(maps, n, layers, heads, hidden) {
    const size = Math.min(n, MOST_PIXELS);
    const step = size + 2;
    [this.layers, this.heads] = [layers, heads];
    [this.canvas.width, this.canvas.height] = [heads * step, layers * step];
    const context = this.canvas.getContext("2d");
    context.fillStyle = "rgb(128 128 128 / 0.3)"; // stays between the maps
    context.fillRect(0, 0, heads * step, layers * step);
    for (let k = 0; k < layers * heads; k += 1) {
      const [x, y] = [(k % heads) * step + 1, Math.floor(k / heads) * step + 1];
      paint(context, shrink(maps, k * n * n, n, size, hidden), size, x, y);
    }
    this.root.style.setProperty("--columns", heads);
  }

  choose(layer, head) {
    this.mark.style.inset =
      `${(100 * layer) / this.layers}% ${100 - (100 * (head + 1)) / this.heads}% ` +
      `${100 - (100 * (layer + 1)) / this.layers}% ${(100 * head) / this.heads}%`;
  }
}

// One head's map, large; onPick(query) when a row is tapped.
class HeadMap {
  constructor(onPick) {
    this.canvas = html("canvas", { "aria-hidden": "true" });
    this.mark = html("i", { class: "mt-chosen-row" });
    this.root = html(
      "div",
      {
        class: "mt-head-map",
        role: "img",
        "aria-label": "Map of the chosen head; the table says the weights of the chosen query",
        onclick: (event) => {
          const box = this.root.getBoundingClientRect();
          const row = Math.floor(((event.clientY - box.top) / box.height) * this.n);
          onPick(Math.max(0, Math.min(this.n - 1, row)));
        },
      },
      this.canvas,
      this.mark,
    );
  }

  paint(maps, n, k, hidden) {
    this.n = n;
    [this.canvas.width, this.canvas.height] = [n, n];
    paint(this.canvas.getContext("2d"), shrink(maps, k * n * n, n, n, hidden), n, 0, 0);
  }

  choose(query) {
    this.mark.style.inset = `${(100 * query) / this.n}% 0 ${100 - (100 * (query + 1)) / this.n}% 0`;
  }
}
