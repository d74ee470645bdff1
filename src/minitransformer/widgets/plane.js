// A plane with points that can be moved by mouse, finger and arrow keys, and marks drawn by stage.

const PLANE_HALF = 200; // the plane is 400 units wide, the origin in its middle
const LABEL_STEP = 16;

// A round extent that shows all points and leaves room around them.
function niceExtent(points) {
  const largest = Math.max(1.2, ...points.flat().map(Math.abs)) * 1.2;
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 1.5, 2, 3, 5, 10].map((step) => step * power).find((extent) => extent >= largest);
}

class Plane {
  // moves: onGrab(i), onMove(i, [x, y]), onDrop(i), onPick(i): what the reader does to point i
  constructor(label, moves) {
    this.moves = moves;
    this.extent = 1.5;
    this.handles = [];
    this.grid = svg("g", { class: "mt-grid" });
    this.marks = svg("g", { "aria-hidden": "true" });
    this.points = svg("g");
    const h = PLANE_HALF;
    this.root = svg(
      "svg",
      { viewBox: `${-h} ${-h} ${2 * h} ${2 * h}`, class: "mt-plane", role: "group", "aria-label": label },
      this.grid,
      this.marks,
      this.points,
    );
  }

  at([x, y]) {
    const unit = PLANE_HALF / this.extent;
    return [x * unit, -y * unit];
  }

  // The smallest step of a move: 0.01 in a plane that reaches to 1.5.
  round(point) {
    const digits = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(this.extent))));
    return point.map((x) => Number(Math.max(-this.extent, Math.min(this.extent, x)).toFixed(digits)));
  }

  fromPointer(event) {
    const box = this.root.getBoundingClientRect();
    return [
      (((event.clientX - box.left) / box.width) * 2 - 1) * this.extent,
      (1 - ((event.clientY - box.top) / box.height) * 2) * this.extent,
    ];
  }

  setExtent(extent) {
    if (extent === this.extent && this.grid.childElementCount > 0) return;
    this.extent = extent;
    const step = extent / (extent % 1.5 === 0 ? 3 : 2);
    const lines = [];
    for (const t of [-2, -1, 0, 1, 2].map((k) => k * step).filter((x) => Math.abs(x) < extent)) {
      const [[x], [, y]] = [this.at([t, 0]), this.at([0, t])];
      const kind = t === 0 ? "mt-axis" : "mt-gridline";
      lines.push(svg("line", { class: kind, x1: x, x2: x, y1: -PLANE_HALF, y2: PLANE_HALF }));
      lines.push(svg("line", { class: kind, y1: y, y2: y, x1: -PLANE_HALF, x2: PLANE_HALF }));
      if (t === 0) continue;
      lines.push(svg("text", { x: x + 4, y: 14, class: "mt-tick" }, short(t)));
      lines.push(svg("text", { x: 4, y: y - 4, class: "mt-tick" }, short(t)));
    }
    lines.push(svg("text", { x: PLANE_HALF - 6, y: -6, class: "mt-tick", "text-anchor": "end" }, "dimension 1"));
    lines.push(svg("text", { x: 6, y: -PLANE_HALF + 14, class: "mt-tick" }, "dimension 2"));
    this.grid.replaceChildren(...lines);
  }

  // points: [{ name, at, note, chosen }]; marks: SVG nodes made with this plane's helpers
  draw(points, marks) {
    this.marks.replaceChildren(...marks);
    if (this.handles.length !== points.length) {
      this.handles = points.map((_, i) => this.makeHandle(i));
      this.points.replaceChildren(...this.handles);
    }
    this.current = points;
    const taken = [];
    points.forEach((point, i) => this.showHandle(this.handles[i], point, taken));
  }

  showHandle(handle, { name, at, note, chosen }, taken) {
    const [x, y] = this.at(at);
    const above = y > -PLANE_HALF + 60;
    const label = `${name.length > 14 ? `${name.slice(0, 13)}…` : name}${note ? `  ${note}` : ""}`;
    const spot = { x, y, width: label.length * 4 + 4 };
    const crowd = taken.filter(
      (other) => Math.abs(other.x - x) < other.width + spot.width && Math.abs(other.y - y) < LABEL_STEP,
    ).length;
    taken.push(spot);
    handle.setAttribute("transform", `translate(${x} ${y})`);
    handle.setAttribute("aria-valuenow", at[0]);
    handle.setAttribute("aria-valuetext", `${short(at[0])}, ${short(at[1])}`);
    handle.setAttribute("aria-label", `embedding of ${name}`);
    handle.classList.toggle("mt-chosen", chosen);
    const text = handle.lastChild;
    text.setAttribute("y", above ? -16 - LABEL_STEP * crowd : 26 + LABEL_STEP * crowd);
    const room = PLANE_HALF - spot.width;
    text.setAttribute("x", Math.max(-room, Math.min(room, x)) - x);
    setText(text, label);
  }

  makeHandle(i) {
    const handle = svg(
      "g",
      { class: "mt-handle", tabindex: "0", role: "slider", "aria-roledescription": "movable point" },
      svg("circle", { r: 20, class: "mt-reach" }),
      svg("circle", { r: 8, class: "mt-dot" }),
      svg("text", { "text-anchor": "middle" }),
    );
    handle.addEventListener("pointerdown", (event) => this.grab(event, i));
    handle.addEventListener("keydown", (event) => this.key(event, i));
    return handle;
  }

  // Where points lie on one another, the chosen one is taken: the others can be reached by key.
  topmost(i) {
    const [x, y] = this.at(this.current[i].at);
    const chosen = this.current.findIndex((point) => point.chosen);
    const [cx, cy] = this.at(this.current[chosen].at);
    return Math.hypot(cx - x, cy - y) < 8 ? chosen : i;
  }

  grab(event, touched) {
    if (event.button !== 0 || this.held !== undefined) return;
    event.preventDefault();
    const i = this.topmost(touched);
    const handle = this.handles[i];
    const [start, from] = [this.fromPointer(event), this.current[i].at];
    let moved = false;
    this.held = event.pointerId;
    handle.focus({ preventScroll: true });
    handle.setPointerCapture(event.pointerId);
    const follow = (move) => {
      if (move.pointerId !== this.held) return;
      const now = this.fromPointer(move);
      const target = this.round(from.map((x, k) => x + now[k] - start[k]));
      if (!moved && Math.hypot(move.clientX - event.clientX, move.clientY - event.clientY) < 3) return;
      if (!moved) this.moves.onGrab(i);
      moved = true;
      this.moves.onMove(i, target);
    };
    const release = (end) => {
      if (end.pointerId !== this.held) return;
      this.held = undefined;
      handle.removeEventListener("pointermove", follow);
      for (const name of ["pointerup", "pointercancel"]) handle.removeEventListener(name, release);
      if (moved) this.moves.onDrop(i);
      else this.moves.onPick(i);
    };
    handle.addEventListener("pointermove", follow);
    for (const name of ["pointerup", "pointercancel"]) handle.addEventListener(name, release);
  }

  key(event, i) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
    if (direction === undefined) {
      if (event.key !== "Enter" && event.key !== " ") return;
      this.moves.onPick(i);
    } else {
      const step = 10 ** Math.floor(Math.log10(this.extent)) / (event.shiftKey ? 100 : 10);
      const target = this.round(this.current[i].at.map((x, k) => x + step * direction[k]));
      this.moves.onNudge(i, target);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  arrow(from, to, kind, label = "") {
    const [[x1, y1], [x2, y2]] = [this.at(from), this.at(to)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 2) return svg("g");
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const tip = [[0, 0], [-11, 5], [-11, -5]].map(([a, b]) => `${x2 + ux * a - uy * b},${y2 + uy * a + ux * b}`);
    return svg(
      "g",
      { class: `mt-arrow ${kind}` },
      svg("line", { x1, y1, x2: x2 - ux * 8, y2: y2 - uy * 8 }),
      svg("polygon", { points: tip.join(" ") }),
      svg("text", { x: (x1 + x2) / 2 + uy * 12, y: (y1 + y2) / 2 - ux * 12 + 4, "text-anchor": uy < -0.3 ? "end" : "start" }, label),
    );
  }

  line(from, to, kind) {
    const [[x1, y1], [x2, y2]] = [this.at(from), this.at(to)];
    return svg("line", { x1, y1, x2, y2, class: kind });
  }

  disc(at, radius, kind) {
    const [cx, cy] = this.at(at);
    return svg("circle", { cx, cy, r: radius, class: kind });
  }

  diamond(at, kind) {
    const [x, y] = this.at(at);
    return svg("path", { d: `M${x} ${y - 11}l11 11l-11 11l-11 -11z`, class: kind });
  }
}
