// A plane with points that can be moved by mouse, finger and arrow keys, and marks drawn by stage.

const PLANE_HALF = 200; // the plane is 400 units wide, the origin in its middle
const LABEL_HEIGHT = 15;

// The square window [low, high]² of a plane: round ends, a round grid step, all points and the
// origin inside, and room to move a point outwards.
function niceWindow(points) {
  const all = points.flat();
  const [least, most] = [Math.min(0, ...all), Math.max(0, ...all)];
  const span = Math.max(most - least, 1);
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 2.5, 5, 10].map((x) => x * power).find((x) => x >= span / 4);
  const low = Math.floor((least - 0.3 * span) / step) * step;
  const high = Math.ceil((most + 0.3 * span) / step) * step;
  // an arrow key moves by 0.1 in a window of 2, by 1 in a window of 20; with Shift by a tenth
  const nudge = 10 ** (Math.floor(Math.log10(high - low)) - 1);
  return { low, high, step, nudge };
}

class Plane {
  // moves: what the reader does to point i: onGrab(i), onMove(i, [x, y]), onDrop(i), onNudge(i,
  // [x, y]), onPick(i)
  constructor(label, moves) {
    this.moves = moves;
    this.handles = [];
    this.grid = svg("g", { "aria-hidden": "true" });
    this.marks = svg("g", { "aria-hidden": "true" });
    this.points = svg("g");
    this.top = svg("circle", { r: 8, class: "mt-top", "aria-hidden": "true" }); // over points that lie on one another
    const size = 2 * PLANE_HALF;
    this.root = svg(
      "svg",
      {
        viewBox: `${-PLANE_HALF} ${-PLANE_HALF} ${size} ${size}`,
        class: "mt-plane",
        role: "group",
        "aria-label": label,
      },
      this.grid,
      this.marks,
      this.points,
      this.top,
    );
  }

  at([x, y]) {
    const { low, high } = this.window;
    const unit = (2 * PLANE_HALF) / (high - low);
    return [(x - low) * unit - PLANE_HALF, PLANE_HALF - (y - low) * unit];
  }

  // Inside the window, and on the grid of the smallest steps.
  round(point) {
    const { low, high, nudge } = this.window;
    const digits = Math.max(0, 1 - Math.round(Math.log10(nudge)));
    return point.map((x) => Number(Math.max(low, Math.min(high, x)).toFixed(digits)));
  }

  fromPointer(event) {
    const { low, high } = this.window;
    const box = this.root.getBoundingClientRect();
    const along = (part) => low + part * (high - low);
    return [
      along((event.clientX - box.left) / box.width),
      along((box.bottom - event.clientY) / box.height),
    ];
  }

  setWindow(window) {
    if (this.window && window.low === this.window.low && window.high === this.window.high) return;
    this.window = window;
    const { low, high, step } = window;
    const [edge, lines] = [PLANE_HALF, []];
    for (let k = Math.round(low / step) + 1; k < Math.round(high / step); k += 1) {
      const [x, y] = this.at([k * step, k * step]);
      const kind = k === 0 ? "mt-axis" : "mt-gridline";
      lines.push(svg("line", { class: kind, x1: x, x2: x, y1: -edge, y2: edge }));
      lines.push(svg("line", { class: kind, y1: y, y2: y, x1: -edge, x2: edge }));
      if (k % 2 !== 0) continue;
      lines.push(
        svg("text", { x, y: edge - 5, class: "mt-tick", "text-anchor": "middle" }, short(k * step)),
      );
      lines.push(svg("text", { x: 5 - edge, y: y + 4, class: "mt-tick" }, short(k * step)));
    }
    lines.push(
      svg(
        "text",
        { x: edge - 5, y: edge - 22, class: "mt-tick", "text-anchor": "end" },
        "dimension 1 →",
      ),
    );
    lines.push(svg("text", { x: 5 - edge, y: 15 - edge, class: "mt-tick" }, "↑ dimension 2"));
    this.grid.replaceChildren(...lines);
  }

  // points: [{ name, at, note, chosen, spoken }]; marks: SVG nodes made with this plane's helpers
  draw(points, marks) {
    this.marks.replaceChildren(...marks);
    if (this.handles.length !== points.length) {
      this.handles = points.map((_, i) => this.makeHandle(i));
      this.points.replaceChildren(...this.handles);
    }
    this.current = points;
    const taken = [];
    const chosen = points.findIndex((point) => point.chosen);
    const [cx, cy] = this.at(points[chosen].at);
    for (const i of [chosen, ...points.keys()]) {
      // the chosen point's label takes the best place
      if (i !== chosen || taken.length === 0) this.showHandle(this.handles[i], points[i], taken);
      if (taken.length === 1) taken.push({ x: cx, y: cy + 4, half: 8 }); // no label over its dot
    }
    setAttributes(this.top, { cx, cy });
  }

  showHandle(handle, { name, at, note, chosen, spoken = `embedding of ${name}` }, taken) {
    const [x, y] = this.at(at);
    const shown = name.length > 14 ? `${name.slice(0, 13)}…` : name;
    const label = note ? `${shown} ${note}` : shown;
    const place = this.labelPlace(x, y, label.length * 4 + 4, taken);
    taken.push(place);
    setAttributes(handle, {
      transform: `translate(${x} ${y})`,
      "aria-label": spoken,
      "aria-valuenow": at[0],
      "aria-valuetext": `${short(at[0])}, ${short(at[1])}`,
    });
    handle.classList.toggle("mt-chosen", chosen);
    setAttributes(handle.lastChild, { x: place.x - x, y: place.y - y });
    setText(handle.lastChild, label);
  }

  // The first place above or below a point that is inside the plane and free.
  labelPlace(x, y, half, taken) {
    const room = PLANE_HALF - half;
    const places = [-15, 26, -31, 42, -47, 58].map((dy) => ({
      x: Math.max(-room, Math.min(room, x)),
      y: y + dy,
      half,
    }));
    const inside = places.filter((place) => Math.abs(place.y - 4) < PLANE_HALF - 8);
    const clash = (a, b) =>
      Math.abs(a.x - b.x) < a.half + b.half && Math.abs(a.y - b.y) < LABEL_HEIGHT;
    return inside.find((place) => !taken.some((other) => clash(place, other))) ?? places[0];
  }

  makeHandle(i) {
    const handle = svg(
      "g",
      {
        class: "mt-handle",
        tabindex: "0",
        role: "slider",
        "aria-roledescription": "movable point",
      },
      svg("circle", { r: 20, class: "mt-reach" }),
      svg("circle", { r: 8, class: "mt-dot" }),
      svg("text", { "text-anchor": "middle" }),
    );
    handle.addEventListener("pointerdown", (event) => this.grab(event, i));
    // touch-action does not hold inside an SVG in every browser: this keeps a finger from scrolling
    handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
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
      if (!moved && Math.hypot(move.clientX - event.clientX, move.clientY - event.clientY) < 3)
        return;
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
    const direction = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowDown: [0, -1],
      ArrowUp: [0, 1],
    }[event.key];
    if (direction === undefined) {
      if (event.key !== "Enter" && event.key !== " ") return;
      this.moves.onPick(i);
    } else {
      const step = this.window.nudge / (event.shiftKey ? 10 : 1);
      const target = this.round(this.current[i].at.map((x, k) => x + step * direction[k]));
      this.moves.onNudge(i, target);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  arrow(from, to, kind, label = "", head = 11) {
    const [[x1, y1], [x2, y2]] = [this.at(from), this.at(to)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 2) return svg("g");
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const corners = [
      [0, 0],
      [-head, head / 2],
      [-head, -head / 2],
    ];
    const points = corners
      .map(([a, b]) => `${x2 + ux * a - uy * b},${y2 + uy * a + ux * b}`)
      .join(" ");
    const anchor = Math.abs(uy) < 0.3 ? "middle" : uy < 0 ? "start" : "end";
    return svg(
      "g",
      { class: `mt-arrow ${kind}` },
      svg("line", {
        x1,
        y1,
        x2: x2 - ux * Math.min(length, head - 3),
        y2: y2 - uy * Math.min(length, head - 3),
      }),
      svg("polygon", { points }),
      svg(
        "text",
        { x: (x1 + x2) / 2 - uy * 10, y: (y1 + y2) / 2 + ux * 10 + 5, "text-anchor": anchor },
        label,
      ),
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
