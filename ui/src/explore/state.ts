// What the explore page shows: which vertices, at which point of both times, and how they got
// there.

import { batch, createEffect, createMemo, createRoot, createSignal, on, onCleanup } from "solid-js";
import { isAbort, messageOf, written } from "../core/http";
import { readSchema } from "../core/schema";
import { graph } from "../core/server";
import { NOW, point, setPoint, type Point } from "../core/times";
import * as api from "./api";
import { clearEmphasis } from "./emphasis";
import { around } from "./layout";
import type { Diff, Edge, Element, Group, Summary, Timeline, Times, Vertex } from "./api";

/** After the last move of a slider, before the server is asked. */
const SETTLE_MS = 150;
/** After a picture, before the labels are counted. */
const TOTALS_MS = 300;
const UNDO_STEPS = 100;
/** What one draw adds at most; the rest is told as a number. */
export const FIRST_LIMIT = 300;
export const EXPAND_LIMIT = 100;
export const SHOWN_MAX = 10_000;
/** Elements whose changes the sliders show. */
const TIMELINE_MAX = 20_000;

export interface View {
  vertices: Map<string, Vertex>;
  edges: Map<string, Edge>;
  /** Shown vertices that do not exist at this point. */
  missing: Set<string>;
  times: Times | null;
}

const EMPTY: View = { vertices: new Map(), edges: new Map(), missing: new Set(), times: null };

const [shown, setShownSignal] = createSignal<readonly string[]>([]);
const [view, setView] = createSignal<View>(EMPTY);
const [selected, setSelected] = createSignal<string | null>(null);
/** Vertices that were picked together; some may have been hidden since. */
const [chosen, setPicked] = createSignal<ReadonlySet<string>>(new Set());
/** Whether a drag on the canvas draws a box. */
const [boxing, setBoxing] = createSignal(false);
const [hiddenLabels, setHiddenLabels] = createSignal<ReadonlySet<string>>(new Set());
const [ghosts, setGhosts] = createSignal(true);
const [busy, setBusy] = createSignal(0);
const [problem, setProblem] = createSignal<string | null>(null);
const [announcement, announce] = createSignal("");
const [timeline, setTimeline] = createSignal<Timeline | null>(null);
const [summary, setSummary] = createSignal<Summary | null>(null);
/** How many elements each label has at the point of the picture, by `vertex` or `edge` and label. */
const [totals, setTotals] = createSignal<ReadonlyMap<string, api.LabelCount> | null>(null);
const [more, setMore] = createSignal<{ ref: string; groups: Group[] } | null>(null);
const [comparing, setComparing] = createSignal<{ a: Point; b: Point } | null>(null);
const [difference, setDifference] = createSignal<Diff | null>(null);
/** What is lit up for a moment, because it is new or was looked for. */
const [lit, setLit] = createSignal<readonly string[]>([], { equals: false });
/** Counts up when positions are to be computed anew for all. */
const [arranged, setArranged] = createSignal(0);

/** Counts up when the graph has commits that are not shown yet. */
const [commits, setCommits] = createSignal(0);

export {
  commits, shown, view, selected, setSelected, setPicked, boxing, setBoxing, hiddenLabels, ghosts, setGhosts, busy, problem, setProblem, announcement,
  announce, timeline, summary, totals, more, setMore, comparing, difference, arranged, lit, setLit,
};

/** The last content that was seen of an element, for ghosts and names. */
export const lastSeen = new Map<string, Element>();
const seenEdges = new Map<string, Edge>();
export const positions = new Map<string, { x: number; y: number }>();
export const pinned = new Set<string>();

export function remember(found: Iterable<Element>): void {
  for (const element of found) {
    lastSeen.set(element.ref, element);
    if (element.type === "edge") seenEdges.set(element.ref, element);
  }
}

/** Runs a request and tells of its failure. An answer about a graph that is no longer shown is dropped. */
export async function during<T>(work: () => Promise<T>): Promise<T | undefined> {
  const asked = graph();
  setBusy((count) => count + 1);
  try {
    const result = await work();
    if (graph() !== asked) return undefined;
    setProblem(null);
    return result;
  } catch (error) {
    if (!isAbort(error) && graph() === asked) setProblem(messageOf(error));
    return undefined;
  } finally {
    setBusy((count) => count - 1);
  }
}

// Undo

let past: (readonly string[])[] = [];
let future: (readonly string[])[] = [];
const [canUndo, setCanUndo] = createSignal(false);
const [canRedo, setCanRedo] = createSignal(false);
export { canUndo, canRedo };

function noteSteps(): void {
  setCanUndo(past.length > 0);
  setCanRedo(future.length > 0);
}

/** Shows these vertices; a step that can be undone. */
export function show(refs: Iterable<string>): void {
  const next = [...new Set(refs)].slice(0, SHOWN_MAX);
  past.push(shown());
  past = past.slice(-UNDO_STEPS);
  future = [];
  setShownSignal(next);
  noteSteps();
}

export function undo(): void {
  const before = past.pop();
  if (!before) return;
  future.push(shown());
  setShownSignal(before);
  noteSteps();
}

export function redo(): void {
  const next = future.pop();
  if (!next) return;
  past.push(shown());
  setShownSignal(next);
  noteSteps();
}

/** Shows these vertices as the start of a new canvas. */
export function restart(refs: readonly string[]): void {
  past = [];
  future = [];
  clearEmphasis();
  pinned.clear();
  unpick();
  setShownSignal([...refs]);
  noteSteps();
}

export function hide(refs: Iterable<string>): void {
  const gone = new Set(refs);
  show(shown().filter((ref) => !gone.has(ref)));
  if (gone.has(selected() ?? "")) setSelected(null);
}

export function toggleLabel(label: string): void {
  const next = new Set(hiddenLabels());
  if (!next.delete(label)) next.add(label);
  setHiddenLabels(next);
}

export function arrange(): void {
  if (pinned.size === 0) positions.clear();
  else for (const ref of [...positions.keys()]) if (!pinned.has(ref)) positions.delete(ref);
  setArranged((count) => count + 1);
}

/** Moves to a point of both times. */
export function travel(next: Partial<Point>): void {
  setPoint((at) => ({ ...at, ...next }));
}

/** A point with the instants of the picture in place of now. */
export function pinPoint(at: Point): Point {
  const times = view().times;
  return { trueAt: at.trueAt ?? times?.as_of ?? null, knownAt: at.knownAt ?? times?.as_of_tx ?? null };
}

/** What is read next: the same now, whatever was compared. */
export function compare(pair: { a: Point; b: Point } | null): void {
  batch(() => {
    setComparing(pair);
    if (!pair) setDifference(null);
  });
}

export function select(ref: string | null): void {
  setSelected(ref);
  setMore((current) => (current && current.ref === ref ? current : null));
}

/** How the selected element is there: on the canvas, only in the graph, not at this point, or not known yet. */
export type Standing = "drawn" | "away" | "absent" | "unknown";

/** Whether all of an element is among the vertices of the canvas. */
function isOnCanvas(ref: string): boolean {
  const edge = seenEdges.get(ref);
  const ends = edge ? [edge.source, edge.target] : [ref];
  return ends.every((end) => shown().includes(end));
}

/** The element that is selected, as it is at this point or, if it does not exist then, as it was last seen. */
export const selectedElement = createRoot(() => {
  const drawn = (ref: string): Element | undefined => view().vertices.get(ref) ?? view().edges.get(ref);
  // The picture says nothing of what is not on it: the graph is asked.
  const asked = () => {
    const ref = selected();
    if (ref === null || drawn(ref) || isOnCanvas(ref) || !lastSeen.has(ref)) return null;
    return { ref, isEdge: seenEdges.has(ref), at: point(), commits: commits() };
  };
  const [away, setAway] = createSignal<{ ref: string; element: Element | null } | null>(null);
  let request: AbortController | undefined;
  createEffect(on(asked, async (of) => {
    request?.abort();
    if (!of) return;
    const { ref, isEdge, at } = of;
    const { signal } = (request = new AbortController());
    try {
      const found = await (isEdge ? api.elements(at, [], [ref], signal) : api.elements(at, [ref], [], signal));
      if (signal.aborted) return;
      const all = [...found.vertices, ...found.edges];
      remember(all);
      setAway({ ref, element: all.find((each) => each.ref === ref) ?? null });
    } catch {
      setAway(null);
    }
  }));
  return createMemo<{ element: Element; standing: Standing } | null>(() => {
    const ref = selected();
    if (ref === null) return null;
    const found = drawn(ref);
    if (found) return { element: found, standing: "drawn" };
    const before = lastSeen.get(ref);
    if (!before) return null;
    // What was added just now is read with the next picture.
    if (isOnCanvas(ref)) return { element: before, standing: before.type === "edge" || view().missing.has(ref) ? "absent" : "unknown" };
    const answer = away();
    if (answer?.ref !== ref) return { element: before, standing: "unknown" };
    return answer.element ? { element: answer.element, standing: "away" } : { element: before, standing: "absent" };
  });
});

// Several vertices at once

/** The vertices that are picked together. */
export const picked = createRoot(() =>
  createMemo<ReadonlySet<string>>(() => {
    const there = new Set(shown());
    return new Set([...chosen()].filter((ref) => there.has(ref)));
  }, new Set<string>(), { equals: (a, b) => a.size === b.size && [...a].every((ref) => b.has(ref)) }),
);

/** Adds a vertex to those that are picked, or takes it out. The first joins the one that is selected. */
export function togglePicked(ref: string): void {
  const alone = selected();
  const next = new Set(picked().size === 0 && alone !== null && shown().includes(alone) ? [alone] : picked());
  if (!next.delete(ref)) next.add(ref);
  setPicked(next);
}

export function unpick(): void {
  setPicked(new Set<string>());
}

/** Vertices and their neighbours. */
export function pickNeighboursOf(refs: Iterable<string>): Set<string> {
  const inside = new Set(refs);
  const next = new Set(inside);
  for (const { source, target } of view().edges.values()) {
    if (inside.has(source)) next.add(target);
    if (inside.has(target)) next.add(source);
  }
  return next;
}

/** Picks the neighbours of those that are picked, too. */
export function pickNeighbours(): void {
  setPicked(pickNeighboursOf(picked()));
}

export function invertPicked(): void {
  setPicked(new Set([...view().vertices.keys()].filter((ref) => !picked().has(ref))));
}

export function hideOthers(): void {
  show(shown().filter((ref) => picked().has(ref)));
}

/** Pins vertices where they are; if all are pinned already, unpins them. */
export function togglePinned(refs: readonly string[]): void {
  const unpin = refs.every((ref) => pinned.has(ref));
  for (const ref of refs) {
    if (unpin) pinned.delete(ref);
    else pinned.add(ref);
  }
}

/** Lights up vertices once they are drawn. */
export function light(refs: readonly string[]): void {
  litNext = refs;
  if (refs.every((ref) => view().vertices.has(ref))) lightNow();
}

let litNext: readonly string[] = [];

function lightNow(): void {
  if (litNext.length === 0) return;
  setLit(litNext);
  litNext = [];
}

/** Adds the neighbours of vertices. */
export async function expand(refs: string[], request: Omit<api.ExpandRequest, "ids"> = {}): Promise<void> {
  const found = await during(() =>
    api.expand(point(), { ids: refs.slice(0, 100), limit: EXPAND_LIMIT, counts: true, ...request }),
  );
  if (!found) return;
  remember(found.vertices);
  remember(found.edges);
  placeBeside(refs[0], found.vertices.map((vertex) => vertex.ref));
  const before = new Set(shown());
  show([...shown(), ...found.vertices.map((vertex) => vertex.ref)]);
  const added = shown().length - before.size;
  light([...refs, ...shown().filter((other) => !before.has(other))]);
  const all = (found.counts ?? []).flatMap((count) => count.groups).reduce((sum, group) => sum + group.count, 0);
  const rest = found.truncated ? Math.max(0, all - found.edges.length) : 0;
  const first = found.counts?.[0];
  setMore(found.truncated && first ? { ref: first.ref, groups: first.groups } : null);
  announce(`expanded:${added}:${rest}`);
}

/** Places around a vertex, where nothing lies yet. */
function placeBeside(ref: string | undefined, others: string[]): void {
  const center = ref === undefined ? undefined : positions.get(ref);
  if (!center) return;
  const fresh = others.filter((other) => !positions.has(other));
  const there = shown().flatMap((other) => positions.get(other) ?? []);
  const places = around(center, fresh.length, there);
  fresh.forEach((other, index) => {
    const place = places[index];
    if (place) positions.set(other, place);
  });
}

/** Shows vertices of a label, or of all labels. */
export async function showSample(label: string | undefined, limit: number): Promise<void> {
  const found = await during(() => api.sample(point(), label, limit));
  if (!found) return;
  remember(found.vertices);
  remember(found.edges);
  show([...shown(), ...found.vertices.map((vertex) => vertex.ref)]);
}

// What is shown follows the vertices and the times.

/** Lets the browser handle input: reading a large answer and drawing it are separate tasks. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

let viewRequest: AbortController | null = null;
/** The point that the picture is of. */
let viewPoint: Point = NOW;
let timer: ReturnType<typeof setTimeout> | undefined;

async function refresh(): Promise<void> {
  viewRequest?.abort();
  const request = new AbortController();
  viewRequest = request;
  const refs = [...shown()];
  if (refs.length === 0) {
    setView({ ...EMPTY });
    return;
  }
  const at = point();
  const found = await during(async () => {
    const elements = await api.elements(at, refs, [], request.signal);
    remember(elements.vertices);
    remember(elements.edges);
    await nextTask();
    return elements;
  });
  if (viewRequest !== request) return;
  if (!found) {
    // The picture stays as it was, and so do the times that it is of.
    if (!request.signal.aborted && view().times) setPoint(viewPoint);
    return;
  }
  viewPoint = at;
  setView({
    vertices: new Map(found.vertices.map((vertex) => [vertex.ref, vertex])),
    edges: new Map(found.edges.map((edge) => [edge.ref, edge])),
    missing: new Set(found.missing.vertices),
    times: found.times,
  });
  lightNow();
  refreshTotals();
}

/** What a sample may have at most. */
export const sampleMax = (): number => summary()?.limits.sample_max ?? FIRST_LIMIT;

let totalsRequest: AbortController | null = null;
let totalsTimer: ReturnType<typeof setTimeout> | undefined;

/** Counts the labels at the point of the picture, once the sliders rest. */
function refreshTotals(): void {
  totalsRequest?.abort();
  clearTimeout(totalsTimer);
  setTotals(null);
  if (shown().length === 0) return;
  const request = new AbortController();
  totalsRequest = request;
  totalsTimer = setTimeout(() => void countLabels(request.signal), TOTALS_MS);
}

async function countLabels(signal: AbortSignal): Promise<void> {
  try {
    const { vertices, edges } = await api.summary(viewPoint, signal);
    const counts = [...vertices.map((of) => [`vertex ${of.label}`, of] as const), ...edges.map((of) => [`edge ${of.label}`, of] as const)];
    if (!signal.aborted) setTotals(new Map(counts));
  } catch {
    // The picture is whole without them.
  }
}

let timelineRequest: AbortController | null = null;
/** What the timeline was last read for. */
let edgesKnown = -1;

async function refreshTimeline(): Promise<void> {
  timelineRequest?.abort();
  const request = new AbortController();
  timelineRequest = request;
  const refs = [...shown()];
  const inside = new Set(refs);
  const edges = [...seenEdges.values()].filter((edge) => inside.has(edge.source) && inside.has(edge.target));
  if (refs.length === 0) {
    setTimeline(null);
    return;
  }
  try {
    const room = Math.max(0, TIMELINE_MAX - refs.length);
    const found = await api.timeline(null, refs, edges.slice(0, room).map((edge) => edge.ref), request.signal);
    if (timelineRequest === request) setTimeline(found);
  } catch (error) {
    if (!isAbort(error)) setTimeline(null);
  }
}

let diffRequest: AbortController | null = null;

async function refreshDiff(): Promise<void> {
  diffRequest?.abort();
  const pair = comparing();
  const refs = [...shown()];
  if (!pair || refs.length === 0) return;
  const request = new AbortController();
  diffRequest = request;
  const scope = { vertices: refs, between: true };
  const found = await during(() => api.diff(pair.a, pair.b, scope, request.signal));
  if (!found || diffRequest !== request) return;
  remember([...found.removed, ...found.added, ...found.changed.map((change) => change.after)]);
  setDifference(found);
}

/** The last commit of the graph when it was last asked. */
let lastCommit: string | null = null;

/**
 * Reads what the graph has in all. Where it has commits that were not there before, all that is shown
 * is read anew: the page asks after each of its requests that may write, and whenever it is opened.
 */
export async function catchUp(): Promise<void> {
  const found = await during(() => api.summary(NOW));
  if (!found) return;
  const before = lastCommit;
  lastCommit = found.times.as_of_tx;
  setSummary(found);
  if (before !== null && before !== lastCommit) setCommits((count) => count + 1);
}

/** Empties the canvas: another graph is shown. */
export function forget(): void {
  restart([]);
  positions.clear();
  lastSeen.clear();
  seenEdges.clear();
  edgesKnown = -1;
  lastCommit = null;
  compare(null);
  select(null);
  setTimeline(null);
  setSummary(null);
  refreshTotals();
  setView({ ...EMPTY });
}

let started = false;
let isOpen = false;

/** Begins to follow, whenever the page is opened. */
export function follow(): void {
  isOpen = true;
  onCleanup(() => (isOpen = false));
  if (started) {
    // Another page may have changed something.
    void catchUp();
    return;
  }
  started = true;
  createRoot(() => {
    // Another page may have said what to show before this one was there.
    createEffect(on([shown, commits], () => void refresh()));
    createEffect(
      on(point, () => {
        clearTimeout(timer);
        if (point() === viewPoint) return;
        timer = setTimeout(() => void refresh(), SETTLE_MS);
      }, { defer: true }),
    );
    createEffect(
      on([shown, view], () => {
        // Edges that existed at another time are known once that time was looked at.
        const now = seenEdges.size + shown().length * 1e6;
        if (now === edgesKnown) return;
        edgesKnown = now;
        void refreshTimeline();
      }),
    );
    createEffect(on(commits, () => void refreshTimeline(), { defer: true }));
    createEffect(on([shown, comparing, commits], () => void refreshDiff()));
    createEffect(
      on(graph, (name) => {
        if (!name) return;
        void catchUp();
        // Styles are in it. Who may not read it has those of this browser.
        void readSchema().catch(() => undefined);
      }),
    );
    // Labels and styles may be new, too.
    createEffect(on(commits, () => void readSchema(true).catch(() => undefined), { defer: true }));
    createEffect(on(written, () => void (isOpen && catchUp()), { defer: true }));
  });
}
