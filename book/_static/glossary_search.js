// Puts a term's definition before all pages that merely mention its words, and shows of a page what
// its author wrote: not its list of contents, nor its buttons.
//
// Sphinx's search gives results in growing order of worth, each as [page, title, anchor,
// description, score, file]. A term counts as asked for when the query has the stems of all its
// words and no others: "Causal masks" asks for the causal mask.
{
  const { page, terms } = JSON.parse(document.getElementById("glossary-terms").textContent);
  const stemmer = new Stemmer();
  const stems = (text) =>
    splitQuery(text.toLowerCase().replaceAll("-", " ")).map((word) => stemmer.stemWord(word));
  const key = (text) => stems(text).sort().join(" ");

  const plain = { __proto__: null, hasOwnProperty: Object.prototype.hasOwnProperty };

  const search = Search._performSearch;
  Search._performSearch = (query, ...rest) => {
    const asked = key(query);
    // The index is a plain object: "constructor" would be found on all of those.
    for (const words of [Search._index.terms, Search._index.titleterms]) Object.setPrototypeOf(words, plain);
    const found = terms
      .filter(([, names]) => names.some((name) => key(name) === asked))
      .map(([anchor, names, definition]) => {
        const text = document.createElement("span");
        text.textContent = definition;
        return [page, names[0], `#${anchor}`, text.innerHTML, 1000, `${page}.md`];
      });
    const others = search(query, ...rest).filter(
      ([where, , anchor]) => !found.some((hit) => hit[0] === where && hit[2] === anchor),
    );
    return [...others, ...found];
  };

  const textOf = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const article = new DOMParser().parseFromString(html, "text/html").querySelector(".bd-article");
    const extras = ".chapter-bar, .chapter-facts, .live-bar, .live-lacks";
    for (const one of article?.querySelectorAll(extras) ?? []) one.remove();
    return textOf(article ? `<main role="main">${article.innerHTML}</main>` : html, anchor);
  };
}
