// The editor of a cell, in the place of its code.

import {
  EditorState, EditorView, bracketMatching, classHighlighter, defaultKeymap, drawSelection, history,
  historyKeymap, indentOnInput, indentUnit, indentWithTab, keymap, pythonLanguage, syntaxHighlighting,
} from "./vendor/codemirror/codemirror.js";

const LEAVE = "Once you type, Tab indents; Escape, then Tab leaves the editor.";

// Who only passes through with Tab goes on with Tab: it indents after another key or a click.
function tabWhereUsed() {
  let used = false;
  return [
    EditorView.domEventHandlers({
      keydown: ({ key }) => void (used ||= !["Tab", "Shift", "Escape"].includes(key)),
      pointerdown: () => void (used = true),
      paste: () => void (used = true),
      blur: () => void (used = false),
    }),
    keymap.of([
      {
        key: indentWithTab.key,
        run: (view) => used && indentWithTab.run(view),
        shift: (view) => used && indentWithTab.shift(view),
      },
    ]),
  ];
}

// Sizes are those of the code, so that nothing moves when the editor takes its place.
const SIZES = ["font-size", "line-height", "padding-block", "padding-inline"];
const theme = EditorView.theme({
  "&": { color: "var(--pst-color-text-base)", fontSize: "var(--code-font-size)" },
  "&.cm-focused": { outline: "3px solid var(--book-accent)", outlineOffset: "-1px", borderRadius: "8px" },
  ".cm-scroller": { fontFamily: "var(--pst-font-family-monospace)", lineHeight: "var(--code-line-height)", overflowX: "auto" },
  ".cm-content": { padding: "var(--code-padding-block) 0", caretColor: "var(--pst-color-text-base)" },
  ".cm-line": { padding: "0 var(--code-padding-inline)" },
  ".cm-cursor": { borderLeftColor: "var(--pst-color-text-base)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--book-accent) 30%, transparent) !important",
  },
  "&.cm-focused .cm-matchingBracket": { background: "none", outline: "1px solid var(--book-edge)" },
});

export function makeEditor(text, code, name, { changed, run, runAndGoOn }) {
  const does = (action) => () => (action(), true);
  const view = new EditorView({
    state: EditorState.create({
      doc: code,
      extensions: [
        keymap.of([
          { key: "Mod-Enter", run: does(run) },
          { key: "Ctrl-Enter", run: does(run) },
          { key: "Shift-Enter", run: does(runAndGoOn) },
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        tabWhereUsed(),
        history(),
        drawSelection(),
        bracketMatching(),
        indentOnInput(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        pythonLanguage,
        syntaxHighlighting(classHighlighter),
        theme,
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": name, "aria-description": LEAVE }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
  const frame = document.createElement("div");
  frame.className = "live-editor";
  const shown = getComputedStyle(text.querySelector("pre"));
  for (const size of SIZES) frame.style.setProperty(`--code-${size}`, shown.getPropertyValue(size));
  frame.append(view.dom);
  text.hidden = true;
  text.after(frame);
  return {
    focus: () => view.focus(),
    // One step of the editor's history, so that undoing it there works too.
    replace: (code) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: code } }),
  };
}
