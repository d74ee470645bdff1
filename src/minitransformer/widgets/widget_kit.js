// What every widget needs on a page: elements, numbers as text, tables that change in place,
// number fields and undo. Text reaches the page as text nodes only, so no token can become markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === null || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
  return node;
}

function html(tag, attributes = {}, ...children) {
  const node = setAttributes(document.createElement(tag), attributes);
  node.append(...children);
  return node;
}

const div = (name, ...children) => html("div", { class: name }, ...children);

function svg(tag, attributes = {}, ...children) {
  const node = setAttributes(document.createElementNS(SVG_NAMESPACE, tag), attributes);
  node.append(...children);
  return node;
}

// Puts a widget on the page. The keys pressed in it are its own: JupyterLab would take arrows and
// letters for commands, and leaves alone an element that has the focus and this mark.
function putInto(el, root) {
  root.addEventListener("focusin", ({ target }) => {
    setAttributes(target, { "data-lm-suppress-shortcuts": "true" });
  });
  el.append(root);
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// 3 decimals, with a real minus sign and no "−0.000"; very large numbers as powers of ten.
function fixed(x, digits = 3) {
  if (x === Infinity) return "∞"; // e to a large score
  const text = Math.abs(x) >= 1e5 ? x.toExponential(2) : x.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

// The same number as short as it goes, for lines of working: 1, 0.5, −0.707.
function short(x) {
  return Math.abs(x) >= 1e5 ? fixed(x) : String(Number(x.toFixed(3)) || 0).replace("-", "−");
}

const vector = (row) => `[${row.map((x) => fixed(x)).join(", ")}]`;

function listing(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

// A cell of a table: text, or a number with its full precision in data-value. `heat` is 0 to 1;
// `followed` on the first cell of a row marks the row.
const cell = (text, more = {}) => ({ tag: "td", text, ...more });
const heading = (text, scope, more = {}) => ({ tag: "th", text, scope, ...more });
const number = (value, more = {}) => cell(fixed(value), { value, kind: "number", ...more });

function showCell(node, { text, value = null, heat = null, kind = "", scope = null }) {
  setText(node, text);
  if (scope !== null) setAttributes(node, { scope, title: text.length > 12 ? text : null });
  if (node.className !== kind) node.className = kind;
  if (value !== null) node.dataset.value = String(value);
  else delete node.dataset.value; // of what stood here before
  if (heat !== null) node.style.setProperty("--heat", heat.toFixed(4));
}

// Fill a table; cells that stay are changed in place, so a drag does not rebuild the page.
function fillTable(table, { caption, head, rows, foot = [] }) {
  const all = [...head, ...rows, ...foot];
  const shape = [head.length, foot.length, ...all.map((row) => row.map((c) => c.tag).join())].join(
    ";",
  );
  if (table.dataset.shape !== shape) {
    const build = (part, list) =>
      html(part, {}, ...list.map((row) => html("tr", {}, ...row.map((c) => html(c.tag)))));
    table.replaceChildren(
      html("caption", {}, html("span")),
      build("thead", head),
      build("tbody", rows),
      ...(foot.length ? [build("tfoot", foot)] : []),
    );
    table.dataset.shape = shape;
  }
  setText(table.caption.firstChild, caption);
  [...table.rows].forEach((row, i) => {
    row.classList.toggle("followed", Boolean(all[i][0].followed));
    [...row.cells].forEach((node, j) => showCell(node, all[i][j]));
  });
}

// A table in a box of its own, which scrolls where the page is too narrow for it.
const scroller = (label, table) =>
  html("div", { class: "mt-scroll", tabindex: "0", role: "group", "aria-label": label }, table);

// Where numbers stand between the smallest (0) and the largest (1) of a matrix.
function heatScale(matrix) {
  const all = matrix.flat();
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return (x) => (high > low ? (x - low) / (high - low) : 0.5);
}

// What is wrong with a typed number, or null.
function numberProblem(field, limit) {
  if (field.validity.badInput) return "that is not a number";
  if (field.value.trim() === "") return "the field is empty";
  if (!Number.isFinite(Number(field.value))) return `“${field.value}” is not a number`;
  if (Math.abs(Number(field.value)) > limit) return `${field.value} is beyond ±${limit}`;
  return null;
}

// A field that answers while one types. A dead input leaves the last good number in use, says so
// through onProblem, and is put right when the reader leaves the field.
function numberField({ label, limit, get, onNumber, onProblem, onLeave }) {
  const field = html("input", { type: "number", step: "0.1", "aria-label": label });
  const show = () => {
    if (document.activeElement !== field || field.dataset.problem === undefined) {
      if (Number(field.value) !== get() || field.value === "") field.value = String(get());
    }
  };
  field.addEventListener("input", () => {
    const problem = numberProblem(field, limit);
    field.toggleAttribute("data-problem", problem !== null);
    field.setAttribute("aria-invalid", String(problem !== null));
    if (problem === null) onNumber(Number(field.value));
    onProblem(
      problem && `${label}: ${problem}. The last good number, ${short(get())}, stays in use.`,
    );
  });
  field.addEventListener("blur", () => {
    field.removeAttribute("data-problem");
    field.setAttribute("aria-invalid", "false");
    field.value = String(get());
    onLeave();
  });
  return { field, show };
}

// Snapshots to go back to. Changes that carry one tag (the keys of one field, one drag) are one
// step.
class History {
  constructor() {
    this.clear();
  }
  clear() {
    this.steps = [];
    this.tag = null;
  }
  remember(snapshot, tag) {
    if (tag !== null && tag === this.tag) return;
    this.steps = [...this.steps.slice(-99), snapshot];
    this.tag = tag;
  }
  seal() {
    this.tag = null;
  }
  back() {
    this.tag = null;
    return this.steps.pop();
  }
}
