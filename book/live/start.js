// The only script of live code that a page loads by itself: a Run button under each cell that runs
// in the browser. The editor, Python and the rest come with the first click on one of them.
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

  async function begin(bar) {
    const status = bar.querySelector(".live-status");
    status.textContent = "Loading …";
    try {
      await (page ??= load());
    } catch {
      page = undefined;
      status.textContent = "This could not be loaded. Is there a connection? Run tries again.";
      return;
    }
    (await page).run(bar.parentElement.id);
  }

  // Shows the reader's code, and gives the button that brings back the book's: without Python, too.
  function makeReset(bar, key, edit, status) {
    const code = bar.parentElement.querySelector(".cell_input pre");
    const original = [...code.childNodes];
    const reset = document.createElement("button");
    const show = (edited) => {
      code.replaceChildren(...(edited ? [edit] : original));
      reset.textContent = edited ? "Reset" : "Undo reset";
      reset.setAttribute("aria-label", `${reset.textContent}, cell ${bar.dataset.number}`);
    };
    reset.type = "button";
    reset.className = "live-reset";
    reset.onclick = () => {
      const edited = stored(key) === null;
      if (edited) localStorage.setItem(key, edit);
      else localStorage.removeItem(key);
      bar.taken = edited ? undefined : edit; // for page.js, whose button takes this one's place
      show(edited);
      status.textContent = edited ? "Your code again." : "The book's code again.";
    };
    show(true);
    return reset;
  }

  for (const bar of bars) {
    const button = document.createElement("button");
    const size = document.createElement("span");
    const status = document.createElement("span");
    button.type = "button";
    button.className = "live-run";
    button.setAttribute("aria-label", `Run cell ${bar.dataset.number}, downloads ${bar.dataset.size} once`);
    size.className = "live-size";
    size.textContent = `${bar.dataset.size} once`;
    status.className = "live-status";
    status.setAttribute("role", "status");
    button.append("Run", size);
    button.onclick = () => begin(bar);
    bar.append(button, status);
    const key = `${place}#${bar.parentElement.id}`;
    const edit = stored(key);
    if (edit === null) continue;
    button.after(makeReset(bar, key, edit, status));
    status.textContent = "As you left it.";
  }
})();
