// A page whose cells run: it holds their code, sends it to the worker one cell at a time, and puts
// what comes back under the cell that it is from.

import { makeEditor } from "./editor.js";
import { Output } from "./output.js";

export async function open({ root, place, chapter, bars }) {
  const answer = await fetch(new URL(chapter, root));
  if (!answer.ok) throw new Error(`${chapter}: ${answer.status}`);
  return new Page(root, place, await answer.json(), bars);
}

class Page {
  constructor(root, place, { cells, colab }, bars) {
    Object.assign(this, { root, colab, queue: [], count: 0 });
    const barOf = new Map(bars.map((bar) => [bar.parentElement.id, bar]));
    this.cells = cells.map((cell) => new Cell(cell, barOf.get(cell.id), place, this));
    document.documentElement.classList.add("live");
    // An editor costs some milliseconds: it is made when its cell comes near.
    const near = new IntersectionObserver(
      (seen) => seen.filter((one) => one.isIntersecting).forEach(({ target }) => {
        near.unobserve(target);
        this.cells.find((cell) => cell.bar === target).edit();
      }),
      { rootMargin: "100% 0px" },
    );
    for (const cell of this.cells) if (cell.bar) near.observe(cell.bar);
    // What is written in another tab comes into this one, or the next letter here would undo it.
    addEventListener("storage", ({ key }) => {
      this.cells.find((one) => one.bar && one.key === key)?.writtenElsewhere();
    });
  }

  edit(id) {
    const cell = this.cells.find((one) => one.id === id);
    cell.edit();
    cell.editor.focus();
    if (!this.queue.includes(cell)) cell.rests("");
  }

  run(id) {
    const cell = this.cells.find((one) => one.id === id);
    if (this.queue.includes(cell)) return;
    this.queue.push(cell);
    cell.waits("Waiting");
    this.next();
  }

  // A cell runs after all earlier ones that this Python has not run as they now stand.
  next() {
    const target = this.queue[0];
    if (this.current || !target) return;
    const before = this.cells.slice(0, this.cells.indexOf(target));
    const cell = before.find((one) => one.tried !== one.code) ?? target;
    this.worker ??= this.startWorker();
    this.current = { id: ++this.count, cell, target, started: performance.now() };
    this.stage = this.worker.ready ? "" : "Starting Python";
    this.tell();
    if (this.count === 1) this.dropSizes(target);
    cell.tried = cell.code;
    cell.output?.begin();
    this.worker.postMessage({ id: this.count, number: cell.number, source: cell.code });
  }

  // With the first run the download begins, and the other buttons need not name its size any more.
  dropSizes(target) {
    for (const one of this.cells) if (one.bar && one !== target) one.rests(one.status.textContent);
  }

  startWorker() {
    const worker = new Worker(new URL("worker.js", this.root), { type: "module" });
    worker.onmessage = ({ data }) => this.receive(worker, data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.receive(worker, { kind: "broken", text: event.message ?? "a script did not load" });
    };
    return worker;
  }

  receive(worker, message) {
    if (worker !== this.worker || !this.current) return; // from a Python that was stopped
    if (message.kind === "broken") return this.broken(message.text);
    if (message.kind === "stage") {
      worker.ready ||= !message.text;
      this.stage = message.text;
      return this.tell();
    }
    const { id, cell } = this.current;
    if (message.id !== id) return;
    if (message.kind === "done") this.done(message.ok);
    else cell.output?.add(message, this.colab);
  }

  tell() {
    const { cell, target } = this.current;
    const first = cell === target || !cell.bar || this.stage ? "" : ` cell ${cell.number} first`;
    target.waits(`${this.stage || "Running"}${first} …`);
  }

  done(ok) {
    const { cell, target, started } = this.current;
    this.current = undefined;
    cell.output?.end();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    if (cell === target) {
      const without = target.without?.length ? ` Earlier cells that stopped with an error: ${target.without.join(", ")}.` : "";
      this.leave(target, (ok ? `Done in ${seconds} s.` : "Stopped with an error.") + without);
      target.without = undefined;
    } else if (ok) {
      target.without = target.without?.filter((number) => number !== cell.number);
    } else if (target.without) {
      target.without.push(cell.number);
    } else {
      target.without = [cell.number]; // the next run goes on, past all that stop
      this.leave(target, `Cell ${cell.number} stopped with an error, so this one did not run. Run again goes on without it.`);
    }
    this.next();
  }

  leave(target, text) {
    this.queue.shift();
    target.rests(text);
  }

  broken(reason) {
    if (/call stack/i.test(reason)) reason = "the code is nested too deeply";
    this.end(this.worker.ready
      ? `Python broke down (${reason}). The next run starts it anew, the earlier cells first.`
      : `Python could not be loaded (${reason}). Is there a connection? Run tries again.`);
  }

  isBusy(cell) {
    return this.queue.includes(cell) || this.current?.cell === cell;
  }

  stop(cell) {
    if (cell !== this.queue[0]) {
      this.queue = this.queue.filter((one) => one !== cell);
      return cell.rests("");
    }
    this.end("Stopped. The next run starts Python anew, the earlier cells first.");
  }

  end(text) {
    const { cell, target } = this.current;
    this.worker.terminate();
    this.worker = this.current = undefined;
    cell.output?.end();
    for (const one of this.cells) one.tried = undefined;
    for (const one of this.queue.splice(0)) one.rests(one === target ? text : "");
  }

  after(cell) {
    return this.cells.slice(this.cells.indexOf(cell) + 1).find((one) => one.bar);
  }
}

class Cell {
  constructor({ id, number, source }, bar, place, page) {
    Object.assign(this, { id, number, bar, page, original: source, key: `${place}#${id}` });
    this.code = (bar && stored(this.key)) ?? source;
    if (!bar) return;
    this.before = bar.taken;
    this.output = new Output(bar.parentElement, number);
    this.button = bar.querySelector(".live-run");
    this.first = { name: this.button.getAttribute("aria-label"), size: bar.querySelector(".live-size") };
    this.status = bar.querySelector(".live-status");
    for (const made of bar.querySelectorAll(".live-edit, .live-reset")) made.remove(); // by start.js
    this.reset = document.createElement("button");
    this.reset.type = "button";
    this.reset.className = "live-reset";
    this.reset.onclick = () => this.resetOrUndo();
    this.button.after(this.reset);
    this.showReset();
    this.rests(this.status.textContent);
  }

  edit() {
    if (this.editor) return;
    const text = this.bar.parentElement.querySelector(".cell_input > div");
    this.editor = makeEditor(text, this.code, `Code of cell ${this.number}`, {
      changed: (code) => this.changed(code),
      run: () => this.page.run(this.id),
      runAndGoOn: () => {
        this.page.run(this.id);
        const next = this.page.after(this);
        next?.edit();
        next?.editor.focus();
      },
    });
  }

  changed(code) {
    if (code === this.code) return; // from another tab: stored again, it would undo what came since
    this.code = code;
    store(this.key, code === this.original ? null : code);
    this.showReset();
  }

  writtenElsewhere() {
    const code = stored(this.key) ?? this.original;
    if (code === this.code) return;
    this.edit();
    this.code = code;
    this.editor.replace(code);
    this.showReset();
    this.status.textContent = "Changed in another tab.";
  }

  resetOrUndo() {
    this.edit();
    const edited = this.code !== this.original;
    const text = edited ? this.original : this.before;
    this.before = edited ? this.code : undefined;
    this.editor.replace(text);
    this.showReset();
    if (this.page.isBusy(this)) return; // its run goes on, and Stop with it
    if (edited && this.tried !== this.original) this.output.restore();
    this.rests(edited ? "The book's code again." : "Your code again.");
  }

  showReset() {
    const edited = this.code !== this.original;
    this.reset.textContent = edited ? "Reset" : "Undo reset";
    this.reset.setAttribute("aria-label", `${this.reset.textContent}, cell ${this.number}`);
    this.reset.hidden = !edited && this.before === undefined;
  }

  waits(text) {
    this.show("Stop", text, () => this.page.stop(this));
  }

  rests(text) {
    this.show("Run", text, () => this.page.run(this.id));
  }

  show(action, text, onclick) {
    const first = action === "Run" && !this.page.count && this.first;
    this.button.replaceChildren(action, ...(first ? [first.size] : []));
    this.button.setAttribute("aria-label", first ? first.name : `${action} cell ${this.number}`);
    this.button.onclick = onclick;
    this.bar.classList.toggle("live-busy", action === "Stop");
    this.status.textContent = text;
  }
}

function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key, text) {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // No room, or storage is forbidden: the edit lasts as long as the page.
  }
}
