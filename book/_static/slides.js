// Turn the slides of a deck, which is a long page: each slide fills the window.

// The theme that the reader chose in the book, else the system's.
{
  let mode = null;
  try { mode = localStorage.getItem("mode"); } catch { /* storage is forbidden here */ }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme =
    mode === "light" || mode === "dark" ? mode : dark ? "dark" : "light";
}

const STEPS = {
  ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1,
  ArrowLeft: -1, ArrowUp: -1, PageUp: -1,
  Home: -Infinity, End: Infinity,
};

/** The slide that the window shows most of. */
function current(slides) {
  const middle = innerHeight / 2;
  const found = slides.findIndex((slide) => slide.getBoundingClientRect().bottom > middle);
  return found < 0 ? slides.length - 1 : found;
}

/** Whether there is more of a tall slide to read in the direction of a step. */
function unread(slide, step) {
  const { top, bottom } = slide.getBoundingClientRect();
  return step > 0 ? bottom > innerHeight + 2 : top < -2;
}

addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  const handled = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (!step || handled || event.defaultPrevented) return;
  const slides = [...document.querySelectorAll(".slide")];
  const here = current(slides);
  if (Math.abs(step) === 1 && unread(slides[here], step)) return; // the browser scrolls on
  event.preventDefault();
  const next = Math.min(Math.max(here + step, 0), slides.length - 1);
  slides[next].scrollIntoView();
});
