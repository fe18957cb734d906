// What is shown, kept per graph while the browser's window is open: over a reload, another page and
// another graph. It ends with the window and with the logout.

import { createEffect, createRoot, on } from "solid-js";
import { mayKeep } from "../core/http";
import { graph } from "../core/server";
import { point, type Point } from "../core/times";
import { cameraNow, layoutName, type Look } from "./canvas";
import { grouping, opened, setOpened } from "./groups";
import { setPathFrom } from "./path";
import { apply, shownState, type Shared } from "./share";
import { arranged, comparing, forget, hiddenLabels, pinned, positions, restart, selected, shown, view } from "./state";

const PREFIX = "varve.canvas.";
const SETTLE_MS = 400;
/** More than that the browser may refuse to keep. */
const BYTES_MAX = 2_000_000;

interface Kept {
  shown: Shared;
  /** As a person set them: now stays now. */
  at: Point;
  compared: { a: Point; b: Point } | null;
  pinned: string[];
  opened: string[];
  groups: [string, number, number][];
  camera: Look | null;
}

function keep(name: string): void {
  if (!mayKeep()) return;
  try {
    if (shown().length === 0) return sessionStorage.removeItem(PREFIX + name);
    const groups = [...positions].filter(([key]) => key.startsWith("~")).map(([key, { x, y }]): [string, number, number] => [key, Math.round(x), Math.round(y)]);
    const kept: Kept = { shown: shownState(name), at: point(), compared: comparing(), pinned: [...pinned], opened: [...opened()], groups, camera: cameraNow() };
    const text = JSON.stringify(kept);
    if (text.length <= BYTES_MAX) sessionStorage.setItem(PREFIX + name, text);
  } catch {
    // Nothing is kept, e.g. in a private window.
  }
}

/** Shows what this window showed of the graph, if something. */
export function restore(): void {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PREFIX + graph()) ?? "null") as Kept | null;
    if (!kept) return;
    apply({ ...kept.shown, t: kept.at.trueAt, k: kept.at.knownAt, d: kept.compared ?? undefined }, kept.camera);
    for (const ref of kept.pinned) pinned.add(ref);
    for (const [key, x, y] of kept.groups) positions.set(key, { x, y });
    setOpened(new Set(kept.opened));
  } catch {
    restart([]);
  }
}

let started = false;

/** Begins to keep; once for the page. */
export function keepCanvas(): void {
  if (started) return;
  started = true;
  createRoot(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    createEffect(on([shown, view, selected, hiddenLabels, point, comparing, layoutName, grouping, opened, arranged], () => {
      const name = graph();
      clearTimeout(timer);
      timer = setTimeout(() => name === graph() && keep(name), SETTLE_MS);
    }, { defer: true }));
    createEffect(on(graph, (_, before) => {
      if (before) keep(before);
      forget();
      setPathFrom(null);
      restore();
    }, { defer: true }));
  });
  // Places and the camera change without a signal.
  addEventListener("pagehide", () => keep(graph()));
}
