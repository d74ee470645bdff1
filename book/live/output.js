// What a cell prints and shows, under it, in the form of the stored output that it replaces.

const ELEMENTS = new Set(
  "P DIV SPAN STRONG EM B I CODE PRE BR HR UL OL LI DL DT DD H3 H4 SUB SUP TABLE CAPTION THEAD TBODY TFOOT TR TH TD DETAILS SUMMARY".split(" "),
);
const ATTRIBUTES = /^(class|role|tabindex|scope|colspan|rowspan|open|aria-[a-z]+)$/;

export class Output {
  constructor(element, number) {
    Object.assign(this, { element, number });
    this.box = element.querySelector(".cell_output");
    if (!this.box) {
      this.box = block("div", "cell_output");
      this.box.hidden = true;
      element.append(this.box);
    }
    this.stored = [...this.box.childNodes];
  }

  // What was there stays until something new comes, or until the end: so nothing jumps.
  begin() {
    this.fresh = true;
    this.printed = undefined;
  }

  add({ kind, text, about }, colab) {
    if (kind === "out" || kind === "error") return this.print(kind, text);
    this.printed = undefined;
    if (kind === "svg") this.put(picture(text, about));
    else if (kind === "html") this.put(block("div", "output text_html", ...harmless(text)));
    else if (kind === "cut") this.put(block("p", "live-note", text));
    else if (kind === "traceback") {
      this.put(block("div", "output live-traceback", block("pre", "", text)));
      if (about) this.put(leadTo(colab));
    }
  }

  print(kind, text) {
    if (this.printed?.kind !== kind) {
      const pre = block("pre", "");
      this.put(block("div", `output ${kind === "out" ? "stream" : "stderr"}`, block("div", "highlight", pre)));
      this.printed = { kind, pre };
    }
    this.printed.pre.append(text);
  }

  put(element) {
    if (this.fresh) this.clear();
    this.box.append(element);
    this.box.hidden = false;
  }

  end() {
    if (this.fresh) this.clear();
    for (const pre of this.box.querySelectorAll("pre")) {
      pre.normalize();
      if (pre.scrollWidth <= pre.clientWidth) continue;
      pre.tabIndex = 0; // or the keyboard could not scroll it
      pre.setAttribute("role", "group");
      pre.setAttribute("aria-label", `Output of cell ${this.number}`);
    }
  }

  clear() {
    this.fresh = false;
    this.box.dataset.live = ""; // not what is stored any more
    this.box.replaceChildren();
    this.box.hidden = true;
  }

  restore() {
    delete this.box.dataset.live;
    this.box.replaceChildren(...this.stored);
    this.box.hidden = !this.stored.length;
  }
}

function block(name, classes, ...content) {
  const element = document.createElement(name);
  if (classes) element.className = classes;
  element.append(...content);
  return element;
}

function picture(svg, alt) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  image.alt = alt;
  return block("a", "image-reference", image); // to be enlarged like the book's own
}

function leadTo(colab) {
  const link = block("a", "", "Run this chapter in Colab");
  link.href = colab;
  return block("p", "live-note", link, ", which has what is missing here.");
}

// HTML from a cell, without what could do anything: scripts, frames, forms, links, pictures.
function harmless(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const element of body.querySelectorAll("*")) {
    if (!ELEMENTS.has(element.tagName)) {
      element.remove();
      continue;
    }
    const style = element.getAttribute("style") ?? "";
    for (const { name } of [...element.attributes]) {
      if (!ATTRIBUTES.test(name)) element.removeAttribute(name);
    }
    if (!/url|expression|@|\\/i.test(style)) element.style.cssText = style;
  }
  return body.childNodes;
}
