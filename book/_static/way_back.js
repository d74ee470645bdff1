// The button back to the top shows itself on the way up. It is the theme's, but its script comes with
// all of Bootstrap.
{
  const button = document.querySelector("#pst-back-to-top");
  let before = scrollY;
  addEventListener("scroll", () => {
    button.style.display = 0 < scrollY && scrollY < before ? "block" : "none";
    before = scrollY;
  }, { passive: true });
  button.addEventListener("click", () => scrollTo(0, 0));
}
