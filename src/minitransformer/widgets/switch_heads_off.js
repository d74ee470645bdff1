// Switch heads off: the sum of single effects beside the measured joint effect.

const CHART = { size: 300, left: 44, right: 14, top: 14, bottom: 42 };

// The sum of the single effects of heads [[layer, head], ...].
export function added(effects, heads) {
  return heads.reduce((sum, [layer, head]) => sum + effects[layer][head], 0);
}

const byPlace = ([a, b], [c, d]) => a - c || b - d;

// The place in `sets` of the set that holds exactly these heads, or −1.
export function storedSet(sets, off) {
  const wanted = JSON.stringify([...off].sort(byPlace));
  return sets.findIndex(([, heads]) => JSON.stringify(heads) === wanted);
}

// Off with those heads that were on, or, if all of them were off, without them.
export function switched(off, heads) {
  const among = (list, [layer, head]) => list.some(([l, h]) => l === layer && h === head);
  const coming = heads.filter((one) => !among(off, one));
  const next = coming.length ? [...off, ...coming] : off.filter((one) => !among(heads, one));
  return next.sort(byPlace);
}

const signed = (x) => (x < 0 ? fixed(x) : `+${fixed(x)}`);
const hundredths = (x) => String(Math.round(100 * x) || 0).replace("-", "−");
const titles = (...list) => [list.map((text) => heading(text, "col", { kind: "wrap" }))];

class SwitchHeadsOff extends LinkedWidget {
  constructor(model, el) {
    super(model, ["off"], ["model", "effects", "sets"]);
    this.build(el);
    this.draw();
  }

  fits({ effects, sets, off }) {
    const all = [...off, ...sets.flatMap(([, heads]) => heads)];
    return all.every(([layer, head]) => layer < effects.length && head < effects[0].length);
  }

  build(el) {
    this.grid = html("table", { class: "mt-switchboard", onkeydown: (event) => this.move(event) });
    this.picker = html("select", { onchange: () => this.pick(Number(this.picker.value)) });
    this.chart = svg("svg", {
      viewBox: `0 0 ${CHART.size} ${CHART.size}`,
      class: "mt-strip mt-sums",
      "aria-hidden": "true", // the table below says the same
    });
    [this.numbers, this.list] = [html("table", { class: "mt-sum" }), html("table", { class: "mt-sets" })];
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.about = html("p", {});
    this.arrange(el);
  }

  arrange(el) {
    const buttons = this.buildButtons();
    const on = () => this.state.off.length && this.change({ off: [] }, null);
    buttons.prepend(html("button", { type: "button", onclick: on }, "All on"));
    const root = div(
      "mt-widget",
      this.about,
      html("label", { class: "mt-pick" }, "Sets that were measured ", this.picker),
      buttons,
      this.problem,
      this.summary,
      div(
        "mt-stage",
        div(
          "mt-picture",
          scroller("Heads of the model", this.grid),
          html(
            "p",
            { class: "mt-legend" },
            "Rows: layers, columns: heads, both counted from 0. The number: what switching off this ",
            "head alone adds to the loss, in hundredths of a nat: blue where the loss rises, green ",
            "where it falls. Struck through: off. Arrow keys move, Space switches; the number of a ",
            "layer switches all its heads.",
          ),
        ),
        div(
          "mt-working",
          scroller("Sum and joint effect", this.numbers),
          this.chart,
          html(
            "p",
            { class: "mt-legend" },
            "Each dot: a measured set. If effects added up, all would lie on the line. Above it the ",
            "heads do more together than one by one, as when each has a stand-in among the others ",
            "that is now gone too. Below it they do less, as when one only passes on what another ",
            "wrote: without that one, it is not missed again.",
          ),
        ),
      ),
      html("details", {}, html("summary", {}, "All measured sets"), scroller("Measured sets", this.list)),
    );
    this.mount(el, root, "Switch heads off");
  }

  pick(k) {
    this.change({ off: k < 0 ? [] : this.state.sets[k][1] }, null);
  }

  toggle(heads) {
    this.change({ off: switched(this.state.off, heads) }, null);
  }

  // --- what depends on the model alone: made once

  buildModel() {
    const { model, effects, sets } = this.state;
    const shown = JSON.stringify([model, effects, sets]);
    if (this.shown === shown) return;
    this.shown = shown;
    this.sums = sets.map(([, heads]) => added(effects, heads));
    this.about.replaceChildren(
      html("b", {}, "Switch heads off. "),
      `${model}: ${effects.length} layers of ${effects[0].length} heads. Switch some off, or pick a ` +
        "set that was measured: is the whole the sum of its parts?",
    );
    const option = (text, value) => html("option", { value }, text);
    this.picker.replaceChildren(
      option("none of them", -1),
      ...sets.map(([name, heads], k) => option(`${name} (${heads.length} heads)`, k)),
    );
    this.buildGrid(effects);
    this.buildChart();
  }

  buildGrid(effects) {
    const largest = Math.max(...effects.flat().map(Math.abs)) || 1;
    const button = (label, text, heads, heat, minus) =>
      html(
        "button",
        {
          type: "button",
          tabindex: "-1",
          "aria-label": label,
          class: minus ? "mt-minus" : null,
          style: `--heat: ${heat.toFixed(4)}`,
          onclick: (event) => {
            this.focusOn(event.currentTarget);
            this.toggle(heads);
          },
        },
        text,
      );
    this.switches = effects.map((row, layer) => [
      button(`layer ${layer}, all heads`, String(layer), row.map((_, head) => [layer, head]), 0),
      ...row.map((x, head) =>
        button(
          `layer ${layer}, head ${head}: ${signed(x)}`,
          hundredths(x),
          [[layer, head]],
          Math.abs(x) / largest,
          x < 0,
        ),
      ),
    ]);
    const numbers = effects[0].map((_, head) => html("th", { scope: "col" }, String(head)));
    const cells = ([first, ...rest]) => [
      html("th", { scope: "row" }, first),
      ...rest.map((node) => html("td", {}, node)),
    ];
    this.grid.replaceChildren(
      html("caption", {}, html("span", {}, "Effect of each head alone")),
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "layer"), ...numbers)),
      html("tbody", {}, ...this.switches.map((row) => html("tr", {}, ...cells(row)))),
    );
    this.focusOn(this.switches[0][1]);
  }

  // One switch at a time is in the order of the Tab key; the arrow keys move to the others.
  focusOn(node) {
    this.inOrder?.setAttribute("tabindex", "-1");
    node.setAttribute("tabindex", "0");
    this.inOrder = node;
  }

  move(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    const layer = this.switches.findIndex((row) => row.includes(event.target));
    if (!step || layer < 0) return;
    event.preventDefault();
    const next = this.switches[layer + step[0]]?.[this.switches[layer].indexOf(event.target) + step[1]];
    if (!next) return;
    this.focusOn(next);
    next.focus();
  }

  // The frame of the chart, the line on which effects add up, and a dot for each measured set.
  buildChart() {
    const { size, left, right, top, bottom } = CHART;
    const all = [0, ...this.sums, ...this.state.sets.map(([, , joint]) => joint)];
    const room = 0.08 * (Math.max(...all) - Math.min(...all)) || 1;
    const [low, high] = [Math.min(...all) - room, Math.max(...all) + room];
    this.x = (value) => left + ((value - low) / (high - low)) * (size - left - right);
    this.y = (value) => size - bottom - ((value - low) / (high - low)) * (size - top - bottom);
    const line = (x1, y1, x2, y2, kind) => svg("line", { x1, y1, x2, y2, class: kind });
    const text = (x, y, content, anchor, turn = null) =>
      svg("text", { x, y, "text-anchor": anchor, transform: turn }, content);
    const [floor, end] = [size - bottom, size - right];
    this.dots = this.state.sets.map(([, , joint], k) =>
      svg("circle", { cx: this.x(this.sums[k]), cy: this.y(joint), r: 4.5, onclick: () => this.pick(k) }),
    );
    this.mark = line(0, top, 0, floor, "mt-drop");
    this.chart.replaceChildren(
      svg("rect", { x: left, y: top, width: end - left, height: floor - top, class: "mt-frame" }),
      line(this.x(0), top, this.x(0), floor, "mt-gridline"),
      line(left, this.y(0), end, this.y(0), "mt-gridline"),
      line(left, floor, end, top, "mt-axis"),
      text(left, floor + 16, fixed(low, 2), "start"),
      text(end, floor + 16, fixed(high, 2), "end"),
      text((left + end) / 2, size - 6, "sum of single effects, nats", "middle"),
      text(0, 0, "together, nats", "middle", `translate(12 ${(top + floor) / 2}) rotate(-90)`),
      text(left - 4, floor, fixed(low, 2), "end"),
      text(left - 4, top + 10, fixed(high, 2), "end"),
      this.mark,
      ...this.dots,
    );
  }

  // --- what depends on the heads that are off

  draw() {
    this.buildModel();
    const { effects, sets, off } = this.state;
    const stored = storedSet(sets, off);
    const total = added(effects, off);
    this.drawButtons();
    this.picker.value = String(stored);
    this.switches.forEach((row, layer) => {
      const heads = row.slice(1).map((_, head) => off.some(([l, h]) => l === layer && h === head));
      [heads.every(Boolean), ...heads].forEach((isOff, k) =>
        setAttributes(row[k], { "aria-pressed": String(isOff) }),
      );
    });
    const at = this.x(total);
    const inside = at >= CHART.left && at <= CHART.size - CHART.right;
    setAttributes(this.mark, { x1: at, x2: at, visibility: off.length && inside ? "visible" : "hidden" });
    this.dots.forEach((dot, k) => setAttributes(dot, { class: k === stored ? "mt-dot mt-chosen" : "mt-dot" }));
    this.drawNumbers(total, stored);
    this.drawList(stored);
    setText(this.summary, this.inWords(total, stored));
  }

  drawNumbers(total, stored) {
    const joint = stored < 0 ? null : this.state.sets[stored][2];
    const row = (name, x) => [
      heading(name, "row", { kind: "wrap" }),
      x === null ? cell("not measured", { kind: "number" }) : number(x, { text: signed(x) }),
    ];
    fillTable(this.numbers, {
      caption: `${this.state.off.length} heads off: change of the loss, in nats`,
      head: titles("", "nats").map(([, second]) => [cell(""), second]),
      rows: [
        row("sum of the single effects", total),
        row("measured together", joint),
        row("together − sum", joint === null ? null : joint - total),
      ],
    });
  }

  drawList(stored) {
    fillTable(this.list, {
      caption: "Change of the loss, in nats",
      head: titles("set", "heads", "sum", "together", "together − sum"),
      rows: this.state.sets.map(([name, heads, joint], k) => [
        heading(name, "row", { kind: "wrap", followed: k === stored }),
        cell(String(heads.length), { value: heads.length, kind: "number" }),
        ...[this.sums[k], joint, joint - this.sums[k]].map((x) => number(x, { text: signed(x) })),
      ]),
    });
  }

  inWords(total, stored) {
    const { off, sets } = this.state;
    if (off.length === 0) return "All heads are on.";
    if (off.length === 1) return `One head is off: ${signed(total)} nats. Switch off another.`;
    const sum = `${off.length} heads are off. One by one they add up to ${signed(total)} nats`;
    if (stored < 0) return `${sum}. What they do together was not measured: the sum is no answer.`;
    const gap = sets[stored][2] - total;
    if (Math.abs(gap) < 0.0005) return `${sum}, together the same.`;
    const side = gap > 0 ? "above" : "below";
    return `${sum}; together they do ${signed(sets[stored][2])}, ${fixed(Math.abs(gap))} ${side} the sum.`;
  }
}

export default {
  render({ model, el }) {
    const widget = new SwitchHeadsOff(model, el);
    return () => widget.remove();
  },
};
