// The text editor. It is in a shadow root: its styles would be inline in the document, which the
// policy forbids.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionSource } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { createEffect, on, onCleanup, onMount } from "solid-js";
import { cypher } from "./cypher";
import { gremlin } from "./gremlin";
import type { QueryKind } from "./past";

export interface EditorControl {
  /** What is selected, or all. */
  chosen: () => string;
  /** Marks the word at a place in what was last chosen: line and column, from 1. */
  mark: (line: number, column: number, message: string) => void;
  clearMarks: () => void;
  focus: () => void;
}

interface Props {
  kind: QueryKind;
  text: string;
  change: (text: string) => void;
  run: () => void;
  complete: CompletionSource;
  label: string;
  hint: string;
  ready: (control: EditorControl) => void;
}

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--raised)", color: "var(--text)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--quiet)", border: "0" },
  ".cm-content": { caretColor: "var(--accent)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-ground) !important" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line-strong)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-placeholder": { color: "var(--quiet)" },
});

const highlight = HighlightStyle.define([
  { tag: tags.string, color: "var(--added)" },
  { tag: tags.number, color: "var(--changed)" },
  { tag: tags.atom, color: "var(--changed)" },
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
]);

/**
 * Typing over a selection. Left to itself, Chromium keeps the style of what was there by an inline
 * style, which the policy forbids and the console tells of.
 */
const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main } = view.state.selection;
    if (event.inputType !== "insertText" || event.data === null || main.empty || view.composing) return false;
    const { data } = event;
    const insert = () => view.state.update({ ...view.state.replaceSelection(data), userEvent: "input.type" });
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, main.from, main.to, data, insert));
    if (!isHandled) view.dispatch(insert());
    event.preventDefault();
    return true;
  },
});

export function Editor(props: Props) {
  let host!: HTMLDivElement;
  onMount(() => {
    const root = host.attachShadow({ mode: "open" });
    const frame = document.createElement("div");
    root.append(frame);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(":host{display:block} div:first-child{height:100%}");
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    const named = new Compartment();
    const attributes = () => EditorView.contentAttributes.of({ "aria-label": props.label, spellcheck: "false" });
    const view = new EditorView({
      parent: frame,
      root,
      state: EditorState.create({
        doc: props.text,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          closeBrackets(),
          props.kind === "cypher" ? StreamLanguage.define(cypher) : StreamLanguage.define(gremlin),
          syntaxHighlighting(highlight),
          autocompletion({ override: [(context) => props.complete(context)] }),
          placeholder(props.hint),
          Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (props.run(), true) }])),
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          EditorView.lineWrapping,
          typeOver,
          look,
          named.of(attributes()),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) props.change(update.state.doc.toString());
          }),
        ],
      }),
    });
    createEffect(
      on(() => props.text, (text) => {
        if (text !== view.state.doc.toString()) {
          view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
        }
      }),
    );
    createEffect(on(() => props.label, () => view.dispatch({ effects: named.reconfigure(attributes()) }), { defer: true }));
    let begun = 0;
    props.ready({
      chosen: () => {
        const { from, to } = view.state.selection.main;
        begun = from === to ? 0 : from;
        return from === to ? view.state.doc.toString() : view.state.sliceDoc(from, to);
      },
      mark: (line, column, message) => {
        const first = view.state.doc.lineAt(Math.min(begun, view.state.doc.length));
        const at = view.state.doc.line(Math.min(first.number + line - 1, view.state.doc.lines));
        const start = line === 1 ? Math.max(at.from, begun) : at.from;
        // The server counts characters; the editor counts some of them twice.
        const before = [...view.state.sliceDoc(start, at.to)].slice(0, Math.max(0, column - 1)).join("");
        const from = Math.min(at.to, start + before.length);
        const word = /^[\p{L}\p{N}_$]+/u.exec(view.state.sliceDoc(from, at.to));
        const to = Math.min(view.state.doc.length, from + (word?.[0].length ?? 1));
        view.dispatch(setDiagnostics(view.state, [{ from: Math.min(from, to), to, severity: "error", message }]));
      },
      clearMarks: () => view.dispatch(setDiagnostics(view.state, [])),
      focus: () => view.focus(),
    });
    onCleanup(() => view.destroy());
  });
  return <div class="editor" ref={host} />;
}
