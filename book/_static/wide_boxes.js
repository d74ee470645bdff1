// Boxes that scroll sideways: they fade where they go on, and the keyboard reaches formulas too (the
// theme sees to code and tables).
{
  const boxes = document.querySelectorAll(
    "article :is(pre, div.math, .pst-scrollable-table-container, .widget-table-box, .health)",
  );
  const mark = (box) => {
    const rest = box.scrollWidth - box.clientWidth;
    box.toggleAttribute("data-more-left", box.scrollLeft > 1);
    box.toggleAttribute("data-more-right", box.scrollLeft < rest - 1);
    if (box.matches(".math")) {
      if (rest > 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)));
  for (const box of boxes) {
    sizes.observe(box);
    box.addEventListener("scroll", () => mark(box), { passive: true });
  }
}
