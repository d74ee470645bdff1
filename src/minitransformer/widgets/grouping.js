// Grouping and cache: which query head reads which KV head, and what the cache weighs.

const INPUTS = ["n_heads", "n_kv_heads", "n_layers", "d_head", "length", "batch", "bytes_per_number"];
const HEADS = [1, 2, 3, 4, 6, 8, 9, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128];
const WIDTHS = [8, 16, 32, 64, 80, 96, 128, 192, 256, 512];
const LENGTHS = Array.from({ length: 21 }, (_, power) => 2 ** power);

// For each query head its KV head; and the cache as multi-head, as set and as multi-query attention.
export function grouping({ n_heads, n_kv_heads, n_layers, d_head, length, batch, bytes_per_number }) {
  const size = n_heads / n_kv_heads;
  const bytes = (n, tokens, texts) =>
    cacheBytes(tokens, n_layers, n, d_head, bytes_per_number, texts);
  const row = ([name, n]) => ({
    name,
    n,
    token: bytes(n, 1, 1),
    bytes: bytes(n, length, batch),
    saved: 1 - n / n_heads,
  });
  const kinds = [
    ["MHA", n_heads],
    ["as set", n_kv_heads],
    ["MQA", 1],
  ];
  return {
    reads: Array.from({ length: n_heads }, (_, head) => Math.floor(head / size)),
    rows: kinds.map(row),
  };
}

// What this way of sharing is called.
function kind({ n_heads, n_kv_heads }) {
  if (n_kv_heads === n_heads) return "Multi-head attention (MHA)";
  return n_kv_heads === 1 ? "Multi-query attention (MQA)" : "Grouped-query attention (GQA)";
}

const plural = (n, word) => `${amount(n)} ${word}${n === 1 ? "" : "s"}`;

const pick = ([, n_layers, n_heads, n_kv_heads, d_head]) => ({
  n_layers,
  n_heads,
  n_kv_heads,
  d_head,
});

class GroupingWidget extends LinkedWidget {
  constructor(model, el) {
    super(model, INPUTS, ["models"]);
    this.build(el);
    this.draw();
  }

  fits({ n_heads, n_kv_heads }) {
    return n_heads % n_kv_heads === 0;
  }

  build(el) {
    const serving = () => divisors(this.state.n_heads);
    // with other query heads, the nearest number of KV heads that divides them
    const keep = (n_heads) => ({ n_kv_heads: nearest(divisors(n_heads), this.state.n_kv_heads) });
    const over = (label, name, values, more = {}) =>
      this.slider(label, name, span(values), { ...listed(() => values), tell: amount, ...more });
    const linear = { min: 1, max: 128, step: 1 };
    this.serving = this.slider("KV heads", "n_kv_heads", span(serving()), listed(serving));
    this.sliders = [
      over("Query heads", "n_heads", HEADS, { more: keep }),
      this.serving,
      this.slider("Layers", "n_layers", linear),
      over("Width of a head", "d_head", WIDTHS),
      over("Tokens", "length", LENGTHS),
      over("Texts at a time", "batch", LENGTHS.slice(0, 11)),
    ];
    this.bytes = this.choice("Bytes a number", "bytes_per_number", BYTES);
    this.models = modelButtons(this, pick);
    this.groups = html("ul", { class: "mt-groups" });
    this.named = html("p", { class: "mt-caption" });
    [this.sizes, this.sources] = [html("table", { class: "mt-cache" }), html("table")];
    this.summary = html("p", { class: "mt-summary", role: "status" });
    this.arrange(el);
  }

  arrange(el) {
    const buttons = this.buildButtons();
    const root = div(
      "mt-widget",
      html(
        "p",
        {},
        html("b", {}, "Grouping and cache. "),
        "Every query head reads one KV head; only KV heads go into the cache. Load a model, then ",
        "slide its KV heads.",
      ),
      this.models.node,
      div("mt-sliders mt-long", ...this.sliders.map(({ node }) => node)),
      this.bytes.node,
      buttons,
      this.problem,
      this.named,
      this.groups,
      scroller("Size of the cache", this.sizes),
      html(
        "p",
        { class: "mt-legend" },
        "Orange: query heads. Blue: the KV head they read. Heads are counted from 0, as in code. ",
        "1 GB = 10⁹ bytes. Counted is a cache that keeps all tokens in all layers; a window, as in ",
        "Mistral 7B, needs less.",
      ),
      this.summary,
      html(
        "details",
        {},
        html("summary", {}, "The models and where their sizes stand"),
        scroller("Models and sources", this.sources),
      ),
    );
    this.mount(el, root, "Grouping and cache");
  }

  draw() {
    const numbers = grouping(this.state);
    setAttributes(this.serving.input, { max: divisors(this.state.n_heads).length - 1 });
    this.sliders.forEach(({ show }) => show());
    this.bytes.show();
    this.models.show();
    this.drawButtons();
    this.drawGroups(numbers);
    this.drawSizes(numbers);
    this.drawSources();
    setText(this.summary, this.inWords(numbers));
  }

  // One box for each KV head, holding the query heads that read it.
  drawGroups({ reads }) {
    const { n_heads, n_kv_heads } = this.state;
    const heads = `${plural(n_heads, "query head")}, ${plural(n_kv_heads, "KV head")}`;
    setText(this.named, `${kind(this.state)}: ${heads}`);
    if (this.groups.dataset.shown === heads) return;
    this.groups.dataset.shown = heads;
    this.groups.classList.toggle("mt-dense", n_kv_heads > 32);
    const members = Array.from({ length: n_kv_heads }, () => []);
    reads.forEach((serving, head) => members[serving].push(head));
    const spoken = (text) => html("span", { class: "mt-hidden" }, text);
    const box = (mine, serving) =>
      html(
        "li",
        {},
        spoken("KV head "),
        html("b", {}, n_kv_heads > 32 ? String(serving) : `KV ${serving}`),
        spoken(" is read by query head "),
        div("mt-heads", ...mine.flatMap((head) => [html("span", {}, String(head)), " "])),
      );
    this.groups.replaceChildren(...members.map(box));
  }

  drawSizes({ rows }) {
    const largest = rows[0].bytes;
    fillTable(this.sizes, {
      caption: "Keys and values in the cache: multi-head (MHA), as set, multi-query (MQA)",
      head: [
        ["kind", "KV heads", "one token", "whole cache", "saved"].map((text) =>
          heading(text, "col", { kind: "wrap" }),
        ),
      ],
      rows: rows.map(({ name, n, token, bytes, saved }, k) => [
        heading(name, "row", { followed: k === 1 }),
        cell(String(n), { value: n, kind: "number" }),
        cell(bytesText(token), { value: token, kind: "number" }),
        cell(bytesText(bytes), { value: bytes, kind: "number bar", heat: bytes / largest }),
        cell(percent(saved), { value: saved, kind: "number" }),
      ]),
    });
  }

  drawSources() {
    const { models } = this.state;
    fillTable(this.sources, {
      caption: "Sizes of the models",
      head: [
        ["model", "layers", "query heads", "KV heads", "width", "saved", "source"].map((text) =>
          heading(text, "col", { kind: "wrap" }),
        ),
      ],
      rows: models.map(([name, layers, heads, serving, width, source]) => [
        heading(name, "row", { kind: "wrap" }),
        ...[layers, heads, serving, width].map((x) => cell(String(x), { value: x, kind: "number" })),
        cell(percent(1 - serving / heads), { value: 1 - serving / heads, kind: "number" }),
        cell(source, { kind: "source" }),
      ]),
    });
  }

  inWords({ rows: [, set] }) {
    const { n_heads, n_kv_heads, n_layers, d_head, length, batch, bytes_per_number } = this.state;
    const saved = set.saved
      ? `${percent(set.saved)} less than with a KV head for each query head.`
      : "Nothing is saved: each query head has a KV head of its own.";
    return (
      `One token: 2 (key and value) · ${plural(n_layers, "layer")} · ` +
      `${plural(n_kv_heads, "KV head")} · width ${d_head} · ` +
      `${plural(bytes_per_number, "byte")} = ${bytesText(set.token)}. ` +
      `${plural(length, "token")}${batch > 1 ? ` in each of ${amount(batch)} texts` : ""}: ` +
      `${bytesText(set.bytes)}. ${saved}`
    );
  }
}

export default {
  render({ model, el }) {
    const widget = new GroupingWidget(model, el);
    return () => widget.remove();
  },
};
