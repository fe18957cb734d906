// The keys of the explore page.

import { onCleanup } from "solid-js";
import { NOW, setPoint } from "../core/times";
import { singleKeys } from "../core/prefs";
import { setExpandDialog } from "./expand";
import { control } from "./canvas";
import { boxWhileShift } from "./box";
import {
  compare, comparing, expand, hide, picked, redo, select, selected, setBoxing, shown, togglePinned, undo, unpick, view,
} from "./state";
import { setComparePanel, stepValid } from "./timebar";

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (event.isComposing) return true;
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && (target.isContentEditable || target.shadowRoot !== null))
  );
}

function withSelected(act: (ref: string) => void): void {
  const ref = selected();
  if (ref !== null && shown().includes(ref)) act(ref);
}

/** All that are picked together, else the one that is selected. */
function withPicked(act: (refs: string[]) => void): void {
  if (picked().size) act([...picked()]);
  else withSelected((ref) => act([ref]));
}

const KEYS: Record<string, () => void> = {
  e: () => withPicked((refs) => void expand(refs)),
  E: () => withSelected(setExpandDialog),
  h: () => withPicked(hide),
  p: () => withPicked(togglePinned),
  m: () => control()?.menuOf(selected() !== null && (shown().includes(selected()!) || view().edges.has(selected()!)) ? selected() : null),
  f: () => control()?.fit(),
  d: () => (comparing() ? compare(null) : setComparePanel(true)),
  n: () => setPoint(NOW),
  "[": () => void stepValid(-1),
  "]": () => void stepValid(1),
  "/": () => document.getElementById("search")?.focus(),
  Escape: () => {
    setBoxing(false);
    unpick();
    select(null);
  },
};

export function listenToKeys(): void {
  boxWhileShift();
  const onKey = (event: KeyboardEvent) => {
    if (isTyping(event) || document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) redo();
      else undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !singleKeys()) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  addEventListener("keydown", onKey);
  onCleanup(() => removeEventListener("keydown", onKey));
}
