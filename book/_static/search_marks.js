// "Hide Search Matches" on a page found by the search: Sphinx writes its script into the link, which
// the site's policy does not run.
document.addEventListener("click", (event) => {
  if (!event.target.closest(".highlight-link a")) return;
  event.preventDefault();
  SphinxHighlight.hideSearchWords();
});
