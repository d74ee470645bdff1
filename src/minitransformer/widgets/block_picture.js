// The block as a list of steps along the residual stream; each step shows its vector as bars.

const BARS = { width: 240, height: 40, gap: 3 };

class BlockPicture {
  constructor(onPick) {
    this.rows = Array.from({ length: 7 }, (_, k) => {
      const [node, title] = [html("i", { class: "mt-node", "aria-hidden": "true" }), html("span")];
      const bars = svg("svg", {
        viewBox: `0 0 ${BARS.width} ${BARS.height}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true", // the table of the step has the numbers
      });
      const button = html(
        "button",
        { type: "button", onclick: () => onPick(k) },
        html("b", {}, String(k + 1)),
        title,
        bars,
      );
      return { item: html("li", {}, node, button), node, title, bars, button };
    });
    this.root = html(
      "ol",
      { class: "mt-block", "aria-label": "Steps" },
      ...this.rows.map((r) => r.item),
    );
  }

  // steps: the walk's; whole: the same steps of the block as it was given, or null; i: the token.
  draw(steps, whole, i, current, titles) {
    const all = [...steps, ...(whole ?? [])].flatMap(({ rows }) => rows[i]);
    const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
    const unit = (BARS.height - 4) / Math.max(1e-12, high - low);
    const base = 2 + high * unit; // one line of 0 and one scale for all steps
    steps.forEach(({ part, rows, branch, on }, k) => {
      const { item, node, title, bars, button } = this.rows[k];
      item.className = [
        branch ? "mt-branch" : "mt-stream",
        branch && !steps[k - 1].branch ? "mt-fork" : "",
        branch && !steps[k + 1].branch ? "mt-join" : "",
        k > current ? "mt-later" : "",
        on === false ? "mt-off" : "",
      ].join(" ");
      setText(node, part === "add" ? "+" : part === "norm" ? "n" : "");
      setText(title, on === false ? `${titles[k]} (off)` : titles[k]);
      setAttributes(button, { "aria-current": k === current ? "step" : null });
      bars.replaceChildren(...this.bars(rows[i], whole?.[k].rows[i], unit, base));
    });
  }

  bars(row, whole, unit, base) {
    const { width, gap } = BARS;
    const wide = width / row.length;
    const bar = (x, c, kind) =>
      svg("rect", {
        x: c * wide + gap,
        y: base - Math.max(0, x * unit),
        width: wide - 2 * gap,
        height: Math.abs(x * unit),
        class: kind,
      });
    return [
      ...row.map((x, c) => bar(x, c, x < 0 ? "mt-down" : "mt-up")),
      ...(whole ?? []).map((x, c) => bar(x, c, "mt-ghost")),
      svg("line", { x1: 0, x2: width, y1: base, y2: base, class: "mt-axis" }),
    ];
  }
}
