// The pictures of the positions widget: score by distance, map of all positions, a pair's hands.

const CHART = { width: 340, height: 220, left: 40, right: 12, top: 24, bottom: 42 };
const MAP = { width: 340, height: 250, left: 40, right: 12, top: 10, bottom: 38 };
const SHADES = 15;
const ARM = 82; // length of the query's hand; the key's is shorter

const spread = (x) =>
  x.reduce(([low, high], y) => [Math.min(low, y), Math.max(high, y)], [x[0], x[0]]);
const round = (x) => Math.round(x * 10) / 10; // of a unit: shorter paths are faster
// A straight scale from [low, high] to [from, to].
const scale = (low, high, from, to) => (x) => from + ((x - low) / (high - low)) * (to - from);
const write = (x, y, text, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, text);

const frame = ({ width, height }, kind, spoken) =>
  svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: `mt-strip ${kind}`,
    role: "img",
    "aria-label": spoken,
  });

// Where a pointer is in a picture, in the picture's units.
function pointerAt(event, root, { width, height }) {
  const box = root.getBoundingClientRect();
  return [
    ((event.clientX - box.left) / box.width) * width,
    ((event.clientY - box.top) / box.height) * height,
  ];
}

// The scores of a query against the distance of the key. onDistance(distance) while a pointer is
// dragged along, onDrop() after it.
class DistanceChart {
  constructor(onDistance, onDrop) {
    this.root = frame(CHART, "mt-distance", "Score by distance; the table beside it says the same");
    [this.lines, this.mark] = [svg("g"), svg("g")];
    this.root.append(this.lines, this.mark);
    const follow = (event) => {
      const [x] = pointerAt(event, this.root, CHART);
      const far = this.scores.length - 1;
      onDistance(Math.round(scale(CHART.left, CHART.width - CHART.right, -far, far)(x)));
    };
    const drop = (event) => {
      if (event.pointerId !== this.held) return;
      this.held = undefined;
      onDrop();
    };
    // A finger may only be passing by, to scroll the page: it drags once it moves sideways.
    const drags = ({ pointerType, clientX, clientY }) =>
      pointerType === "mouse" || Math.abs(clientX - this.from[0]) > Math.abs(clientY - this.from[1]);
    setAttributes(this.root, {
      onpointerdown: (event) => {
        if (event.button !== 0 || this.held !== undefined) return;
        this.held = event.pointerId;
        this.from = [event.clientX, event.clientY];
        this.root.setPointerCapture(event.pointerId);
        if (drags(event)) follow(event);
      },
      onpointermove: (event) => event.pointerId === this.held && drags(event) && follow(event),
      onpointerup: (event) => {
        if (event.pointerId === this.held) follow(event);
        drop(event);
      },
      onpointercancel: drop,
    });
  }

  path(i) {
    const far = this.scores.length - 1;
    const point = (s, j) => `${j ? "L" : "M"}${this.across[far + j - i]} ${round(this.y(s))}`;
    return this.scores[i].map(point).join("");
  }

  drawAll(scores) {
    const { width, height, left, right, top, bottom } = CHART;
    const [least, most] = spread(scores.flat());
    const room = Math.max(0.1 * (most - least), 0.5);
    const far = scores.length - 1;
    const floor = height - bottom;
    this.scores = scores;
    this.x = scale(-far, far, left, width - right);
    this.across = Array.from({ length: 2 * far + 1 }, (_, k) => round(this.x(k - far)));
    this.y = scale(least - room, most + room, floor, top);
    this.lines.replaceChildren(
      svg("line", { x1: this.x(0), x2: this.x(0), y1: top, y2: floor, class: "mt-gridline" }),
      svg("line", { x1: left, x2: width - right, y1: floor, y2: floor, class: "mt-axis" }),
      svg("path", { d: scores.map((_, i) => this.path(i)).join(""), class: "mt-others" }),
      ...(most - least > 1e-9 ? [least, most] : [most]).map((s) =>
        write(left - 6, this.y(s) + 4, fixed(s, 1), "end"),
      ),
      ...[-far, 0, far].map((distance, k) =>
        write(this.x(distance), floor + 17, short(distance), ["start", "middle", "end"][k]),
      ),
      write((left + width - right) / 2, height - 6, "distance: key − query"),
      write(4, 13, "score", "start"),
    );
  }

  drawAt(i, j) {
    const [cx, cy] = [this.x(j - i), this.y(this.scores[i][j])];
    this.mark.replaceChildren(
      svg("line", {
        x1: cx,
        x2: cx,
        y1: CHART.top,
        y2: CHART.height - CHART.bottom,
        class: "mt-drop",
      }),
      svg("path", { d: this.path(i), class: "mt-this" }),
      svg("circle", { cx, cy, r: 6, class: "mt-top" }),
    );
  }
}

// A map position × dimension; onPick(position, dimension) when a cell is tapped.
class PositionMap {
  constructor(onPick) {
    this.root = frame(
      MAP,
      "mt-encoding",
      "Map of all positions; its numbers stand in a table below",
    );
    [this.cells, this.mark] = [svg("g"), svg("g")];
    this.root.append(this.cells, this.mark);
    this.root.addEventListener("click", (event) => {
      const inside = (at, count) => Math.max(0, Math.min(count - 1, Math.floor(at)));
      const [x, y] = pointerAt(event, this.root, MAP);
      const row = inside((y - MAP.top) / this.high, this.rows);
      onPick(row, inside((x - MAP.left) / this.wide, this.columns));
    });
  }

  // One path a shade, because a rectangle a cell would be too slow to follow a slider.
  drawCells(encoding) {
    const { width, height, left, right, top, bottom } = MAP;
    [this.rows, this.columns] = [encoding.length, encoding[0].length];
    this.wide = (width - left - right) / this.columns;
    this.high = (height - top - bottom) / this.rows;
    const limit = Math.max(1, ...spread(encoding.flat()).map(Math.abs));
    const paths = Array.from({ length: SHADES + 1 }, () => []);
    const box = `h${this.wide}v${this.high}h${-this.wide}z`;
    encoding.forEach((row, i) => {
      const y = top + i * this.high;
      row.forEach((x, c) => {
        const shade = Math.round(((x / limit + 1) / 2) * SHADES);
        paths[shade].push(`M${left + c * this.wide} ${y}${box}`);
      });
    });
    const floor = height - bottom;
    const last = this.columns - 1;
    this.cells.replaceChildren(
      ...paths.map((boxes, k) =>
        svg("path", { d: boxes.join(""), class: "mt-shade", "fill-opacity": k / SHADES }),
      ),
      svg("rect", {
        x: left,
        y: top,
        width: width - left - right,
        height: floor - top,
        class: "mt-edge",
      }),
      write(left - 6, top + 11, "0", "end"),
      write(left - 6, floor - 1, String(this.rows - 1), "end"),
      write(left, floor + 16, "0", "start"),
      write(width - right, floor + 16, String(last), "end"),
      write((left + width - right) / 2, height - 5, "dimension"),
      svg(
        "text",
        { transform: `translate(15 ${(top + floor) / 2}) rotate(-90)`, "text-anchor": "middle" },
        "position",
      ),
    );
  }

  // Frames around the rows of query and key and around the columns of the pair.
  drawMarks(query, key, pair) {
    const { width, height, left, right, top, bottom } = MAP;
    const row = (i, kind) =>
      svg("rect", {
        x: left,
        y: top + i * this.high,
        width: width - left - right,
        height: this.high,
        class: kind,
      });
    const column = (c) =>
      svg("rect", {
        x: left + c * this.wide,
        y: top,
        width: this.wide,
        height: height - top - bottom,
        class: "mt-pair",
      });
    this.mark.replaceChildren(...pair.map(column), row(key, "mt-key"), row(query, "mt-row"));
  }
}

// Two hands, at the directions of query and key in the plane of a pair of dimensions.
class PairDial {
  constructor() {
    this.root = frame(
      { width: 260, height: 224 },
      "mt-dial",
      "Hands of query and key; the table says their angles",
    );
  }

  draw(query, key, [across, up]) {
    const at = (angle, length) => [130 + length * Math.cos(angle), 108 - length * Math.sin(angle)];
    const hand = (angle, length, kind, aside = 0) => {
      const [[x, y], [tx, ty]] = [at(angle, length), at(angle + aside, length + 17)];
      return svg(
        "g",
        { class: `mt-hand ${kind}` },
        svg("line", { x1: 130, y1: 108, x2: x, y2: y }),
        svg("circle", { cx: x, cy: y, r: 5 }),
        write(tx, ty + 5, kind),
      );
    };
    const turn = Math.atan2(Math.sin(query - key), Math.cos(query - key)); // the short way round
    const [from, to] = [at(key, 26), at(key + turn, 26)];
    const arc = `M${from.join(" ")}A26 26 0 0 ${turn > 0 ? 0 : 1} ${to.join(" ")}`;
    this.root.replaceChildren(
      svg("circle", { cx: 130, cy: 108, r: ARM, class: "mt-edge" }),
      svg("line", { x1: 130 - ARM, x2: 130 + ARM, y1: 108, y2: 108, class: "mt-gridline" }),
      svg("line", { x1: 130, x2: 130, y1: 108 - ARM, y2: 108 + ARM, class: "mt-gridline" }),
      svg("path", { d: arc, class: "mt-angle" }),
      hand(key, 0.72 * ARM, "key", Math.abs(turn) > 0.4 ? 0 : turn > 0 ? -0.4 : 0.4), // not over the query's
      hand(query, ARM, "query"),
      write(258, 220, `dim ${across} →`, "end"),
      write(2, 13, `↑ dim ${up}`, "start"),
    );
  }
}
