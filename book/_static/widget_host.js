// Mounts the book's widgets on a page without a kernel.
//
// Why by hand: the stock html-manager loads 0.9 MB, RequireJS and a content network to do what a
// page of this book needs only this much of. It reads the state that the notebook stored, imports
// the current module of each widget from _widgets/, and gives it the small part of the anywidget
// model that the modules use. Views of one model share it, so that they move together.

const STATE = "application/vnd.jupyter.widget-state+json";
const VIEW = "application/vnd.jupyter.widget-view+json";
const folder = new URL("../_widgets/", import.meta.url);

function createModel(state) {
  const listeners = new Map();
  const changed = new Set();
  const call = (name) => {
    for (const listener of [...(listeners.get(name) ?? [])]) listener();
  };
  return {
    get: (key) => state[key],
    set(key, value) {
      if (JSON.stringify(state[key]) === JSON.stringify(value)) return;
      state[key] = value;
      changed.add(key);
      call(`change:${key}`);
    },
    save_changes() {
      if (changed.size) call("change");
      changed.clear();
    },
    on(name, listener) {
      listeners.set(name, (listeners.get(name) ?? new Set()).add(listener));
    },
    off(name, listener) {
      if (listener) listeners.get(name)?.delete(listener);
      else if (name) listeners.delete(name);
      else listeners.clear();
    },
    send() {}, // there is no kernel to send to
    // Beyond anywidget's model: the large part of a state, which the site keeps in files.
    async load({ sidecar }) {
      const answer = await fetch(new URL(sidecar, folder));
      if (!answer.ok) throw new Error(`${sidecar}: ${answer.status} ${answer.statusText}`);
      return answer.text();
    },
  };
}

function fail(el, error) {
  console.error(error);
  el.textContent = "";
  const message = document.createElement("p");
  message.className = "widget-error";
  message.setAttribute("role", "alert");
  message.textContent =
    "This widget could not be started. Its numbers stand in the table below; " +
    `the chapter also runs in Colab. (${error.message})`;
  el.append(message);
}

const started = new Map();

// A model is made and initialized once, however many views it has.
function start(id, states) {
  if (!started.has(id)) {
    started.set(
      id,
      (async () => {
        const state = states[id]?.state;
        if (!state?._anywidget_id) throw new Error("its state is not stored in the page");
        const name = state._anywidget_id.split(".").pop();
        const module = await import(new URL(`${name}.js`, folder));
        const model = createModel(structuredClone(state));
        const widget =
          typeof module.default === "function" ? await module.default() : module.default;
        await widget.initialize?.({ model });
        return { widget, model };
      })(),
    );
  }
  return started.get(id);
}

async function mount(script, states) {
  const el = document.createElement("div");
  el.className = "widget-view";
  script.after(el);
  try {
    const { widget, model } = await start(JSON.parse(script.textContent).model_id, states);
    await widget.render({ model, el });
    const table = script.parentElement.nextElementSibling;
    if (table?.matches(".widget-table")) table.open = false;
  } catch (error) {
    fail(el, error);
  }
}

// Settles when the style is there, so that no widget measures itself without it.
function addStyle() {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("widgets.css", folder);
  document.head.append(link);
  return new Promise((done) => (link.onload = link.onerror = done));
}

const views = document.querySelectorAll(`script[type="${VIEW}"]`);
if (views.length) {
  await addStyle();
  const stored = document.querySelector(`script[type="${STATE}"]`);
  const states = stored ? JSON.parse(stored.textContent).state : {};
  for (const view of views) mount(view, states);
}
