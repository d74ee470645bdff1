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
    const edit = stored(`${place}#${bar.parentElement.id}`);
    if (edit === null) continue;
    bar.parentElement.querySelector(".cell_input pre").textContent = edit;
    status.textContent = "As you left it.";
  }
})();
