// What book/live/editor.js uses of CodeMirror; build.mjs makes one file of it.
export { EditorState } from "@codemirror/state";
export { EditorView, drawSelection, keymap } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab, undo } from "@codemirror/commands";
export { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { pythonLanguage } from "@codemirror/lang-python";
export { classHighlighter } from "@lezer/highlight";
