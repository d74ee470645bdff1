// The button back to the top shows itself on the way up. It is the theme's, but its script comes with
// all of Bootstrap.
{
  const button = document.querySelector("#pst-back-to-top"); // the search page runs this without one
  let before = scrollY;
  const show = () => {
    if (scrollY === before) return; // an event without a move
    button.style.display = 0 < scrollY && scrollY < before ? "block" : "none";
    before = scrollY;
  };
  if (button) {
    addEventListener("scroll", show, { passive: true });
    button.addEventListener("click", () => scrollTo(0, 0));
  }
}
