// The only script of live code that a page loads by itself: Run and Edit under each cell that runs
// in the browser. The editor comes with the first click on one of them, Python with the first run.
(() => {
  const script = document.currentScript;
  const bars = [...document.querySelectorAll(".live-bar")];
  if (location.protocol === "file:") return bars.forEach((bar) => bar.remove()); // no workers there

  const root = new URL(".", script.src);
  const place = root.pathname + script.dataset.cells; // edits belong to it
  let page, tries = 0;

  function stored(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // storage is forbidden: edits last as long as the page
    }
  }

  async function load() {
    // A module that failed to load fails for ever under its address.
    const { open } = await import(new URL(`page.js${tries++ ? `?${tries}` : ""}`, root));
    return open({ root, place, chapter: script.dataset.cells, bars });
  }

  async function begin(bar, does, word) {
    const status = bar.querySelector(".live-status");
    status.textContent = "Loading …";
    try {
      await (page ??= load());
    } catch {
      page = undefined;
      status.textContent = `This could not be loaded. Is there a connection? ${word} tries again.`;
      return;
    }
    (await page)[does](bar.parentElement.id);
  }

  function makeButton(bar, word, does, note = "") {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `live-${does}`;
    button.setAttribute("aria-label", `${word} cell ${bar.dataset.number}${note}`);
    button.append(word);
    button.onclick = () => begin(bar, does, word);
    return button;
  }

  // Shows the reader's code, and gives the button that brings back the book's: without Python, too.
  function makeReset(bar, key, status) {
    const code = bar.parentElement.querySelector(".cell_input pre");
    const original = [...code.childNodes];
    const reset = document.createElement("button");
    const show = () => {
      const edit = stored(key);
      code.replaceChildren(...(edit === null ? original : [edit]));
      reset.textContent = edit === null ? "Undo reset" : "Reset";
      reset.setAttribute("aria-label", `${reset.textContent}, cell ${bar.dataset.number}`);
      reset.hidden = edit === null && bar.taken === undefined;
      return edit;
    };
    reset.type = "button";
    reset.className = "live-reset";
    reset.onclick = () => {
      const edit = stored(key);
      if (edit === null) localStorage.setItem(key, bar.taken);
      else localStorage.removeItem(key);
      bar.taken = edit ?? undefined; // page.js, whose button takes this one's place, goes on with it
      status.textContent = show() === null ? "The book's code again." : "Your code again.";
    };
    addEventListener("storage", (event) => {
      if (page || event.key !== key) return; // then page.js sees to it
      status.textContent = show() === null ? "" : "Changed in another tab.";
    });
    if (show() !== null) status.textContent = "As you left it.";
    return reset;
  }

  for (const bar of bars) {
    const run = makeButton(bar, "Run", "run", `, downloads ${bar.dataset.size} once`);
    const size = document.createElement("span");
    const status = document.createElement("span");
    size.className = "live-size";
    size.textContent = `${bar.dataset.size} once`;
    status.className = "live-status";
    status.setAttribute("role", "status");
    run.append(size);
    bar.append(run, makeButton(bar, "Edit", "edit"), status);
    status.before(makeReset(bar, `${place}#${bar.parentElement.id}`, status));
  }
})();
