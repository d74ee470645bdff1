// What every widget with numbers to change needs: its state linked to the host's model, undo and
// reset. A subclass has draw(), which shows this.state, and calls build() and draw() itself.

const SAVE_AFTER = 150; // milliseconds without a change

class LinkedWidget {
  // inputs: the names that undo and reset restore; choices: other names that are saved too
  constructor(model, inputs, choices = []) {
    this.model = model;
    this.inputs = inputs;
    this.names = [...inputs, ...choices];
    this.history = new History();
    this.dragging = false;
    this.read();
    this.onModel = () => this.fromModel();
    for (const name of this.names) model.on(`change:${name}`, this.onModel);
  }

  // --- state: `this.state` is what is shown; the model is told of it

  read() {
    this.state = Object.fromEntries(this.names.map((name) => [name, this.model.get(name)]));
    this.first = this.state;
  }

  // Whether the parts of a state fit: while one change of several names is on its way, they do not.
  fits() {
    return true;
  }

  fromModel() {
    if (this.telling) return;
    const coming = Object.fromEntries(this.names.map((name) => [name, this.model.get(name)]));
    if (JSON.stringify(coming) === JSON.stringify(this.state) || !this.fits(coming)) return;
    this.read();
    this.history.clear();
    this.draw();
  }

  set(changes) {
    this.state = { ...this.state, ...changes };
    this.draw();
    this.telling = true;
    for (const [name, value] of Object.entries(changes)) this.model.set(name, value);
    this.telling = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), SAVE_AFTER);
  }

  save() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.model.save_changes();
  }

  // A change that can be undone; changes with one tag are undone together.
  change(changes, tag) {
    this.history.remember(this.state, tag);
    this.set(changes);
  }

  // A whole row of a matrix.
  changeRow(name, i, row, tag) {
    this.change({ [name]: this.state[name].map((old, j) => (j === i ? row : old)) }, tag);
  }

  // --- undo and reset, with their buttons

  restore(snapshot) {
    this.say(null);
    this.set(Object.fromEntries(this.inputs.map((name) => [name, snapshot[name]])));
  }

  undo() {
    const snapshot = this.history.back();
    if (snapshot) this.restore(snapshot);
  }

  isFirst() {
    return this.inputs.every(
      (name) => JSON.stringify(this.state[name]) === JSON.stringify(this.first[name]),
    );
  }

  reset() {
    if (this.isFirst()) return;
    this.history.remember(this.state, null);
    this.restore(this.first);
  }

  buildButtons() {
    const button = (label, action) => html("button", { type: "button", onclick: action }, label);
    this.undoButton = button("Undo", () => this.undo());
    this.resetButton = button("Reset", () => this.reset());
    this.problem = html("p", { class: "mt-problem", role: "alert" });
    return div("mt-buttons", this.undoButton, this.resetButton);
  }

  drawButtons() {
    setAttributes(this.undoButton, { "aria-disabled": String(this.history.steps.length === 0) });
    setAttributes(this.resetButton, { "aria-disabled": String(this.isFirst()) });
  }

  say(text) {
    setText(this.problem, text ?? "");
  }

  // --- controls: each has a node for the page and show(), which puts it right

  // A slider over an input. place() and value() turn the input into the slider's place and back,
  // tell() into words; more() says what else a new value changes.
  slider(label, name, range, { place = Number, value = Number, tell = short, more } = {}) {
    const output = html("output");
    const set = (x) => this.change({ ...more?.(x), [name]: x }, label);
    const input = html("input", {
      type: "range",
      "aria-label": label, // alone: the number beside it is the slider's value, not its name
      ...range,
      oninput: () => set(value(Number(input.value))),
      onchange: () => this.history.seal(),
    });
    const show = () => {
      input.value = String(place(this.state[name]));
      setText(output, tell(this.state[name]));
      setAttributes(input, { "aria-valuetext": output.textContent });
    };
    return { node: html("label", {}, html("span", {}, label), input, output), input, show };
  }

  // Radio buttons over an input; `options` are pairs of a value and its text, more() as for a slider.
  choice(legend, name, options, more) {
    const group = `mt-${Math.random().toString(36).slice(2)}`;
    const radios = options.map(([value]) =>
      html("input", {
        type: "radio",
        name: group,
        value,
        onchange: () => this.change({ ...more?.(value), [name]: value }, null),
      }),
    );
    const labels = options.map(([, text], k) =>
      html("label", {}, radios[k], html("span", { title: text }, text)),
    );
    const show = () =>
      radios.forEach((radio, k) => {
        radio.checked = options[k][0] === this.state[name];
      });
    const tokens = div("mt-tokens", ...labels);
    return { node: html("fieldset", {}, html("legend", {}, legend), tokens), show };
  }

  // What a plane's points do to the rows of a matrix; `row(i)` says which: [name, row].
  moves(row, onPick) {
    return {
      onGrab: () => {
        this.dragging = true;
        this.history.seal();
        this.history.remember(this.state, "drag");
      },
      onMove: (i, point) => this.changeRow(...row(i), point, "drag"),
      onDrop: () => {
        this.dragging = false;
        this.history.seal();
        this.draw();
      },
      onNudge: (i, point) => this.changeRow(...row(i), point, `nudge ${i}`),
      onPick,
    };
  }

  // A field for the number in row i, column k of a matrix.
  matrixField(name, i, k, label, limit) {
    return numberField({
      label,
      limit,
      get: () => this.state[name][i][k],
      onNumber: (x) =>
        this.changeRow(
          name,
          i,
          this.state[name][i].map((old, c) => (c === k ? x : old)),
          `${name} ${i} ${k}`,
        ),
      onProblem: (text) => this.say(text),
      onLeave: () => this.history.seal(),
    });
  }

  // A table of number fields for a matrix; the fields are added to this.fields.
  fieldTable(name, title, rows, columns, limit) {
    const row = (label, i) =>
      html(
        "tr",
        {},
        html("th", { scope: "row", title: label }, label),
        ...columns.map((column, k) => {
          const spoken = `${title}, ${label}, ${column}`;
          const made = this.matrixField(name, i, k, spoken, limit);
          this.fields.push(made);
          return html("td", {}, made.field);
        }),
      );
    return html(
      "table",
      { class: "mt-fields" },
      html("caption", {}, title),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          ...["", ...columns].map((text) =>
            text ? html("th", { scope: "col" }, text) : html("td"),
          ),
        ),
      ),
      html("tbody", {}, ...rows.map(row)),
    );
  }

  // --- page

  mount(el, root, label) {
    this.root = setAttributes(root, {
      role: "group",
      "aria-label": label,
      onkeydown: (event) => this.key(event),
    });
    putInto(el, root);
  }

  key(event) {
    const typing = event.target.tagName === "INPUT" && event.target.type === "number";
    if (typing || event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.undo();
  }

  remove() {
    if (this.timer !== undefined) this.save();
    for (const name of this.names) this.model.off(`change:${name}`, this.onModel);
    this.root.remove();
  }
}
