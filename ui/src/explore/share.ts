// The state of the page as a fragment, deflated: it is never sent to the server, and shows the same
// for ever. What is too long for a fragment is kept with the graph.

import { call } from "../core/http";
import { pack, unpack } from "../core/link";
import { graph, graphPath, graphs } from "../core/server";
import { hrefOf } from "../core/route";
import { point, setPoint, type Point } from "../core/times";
import { layoutName, lookAt, setLayoutName, type Look } from "./canvas";
import { group, grouping, GROUPINGS } from "./groups";
import { LAYOUTS } from "./layout";
import { compare, comparing, during, hiddenLabels, pinPoint, positions, restart, select, selected, shown, toggleLabel } from "./state";

const LENGTH_MAX = 8192;
/** Before the name of a view, among the graph's variables. */
const VIEW = "~view:";

export interface Shared {
  g: string;
  t: string | null;
  k: string | null;
  /** The vertices with their places, rounded. */
  v: [string, number, number][];
  s?: string;
  h?: string[];
  l?: string;
  /** How vertices are grouped. */
  u?: string;
  d?: { a: Point; b: Point };
}

/** What is shown of a graph, with both times pinned. */
export function shownState(name = graph()): Shared {
  const at = pinPoint(point());
  const pair = comparing();
  return {
    g: name,
    t: at.trueAt,
    k: at.knownAt,
    v: shown().map((ref) => {
      const place = positions.get(ref) ?? { x: 0, y: 0 };
      return [ref, Math.round(place.x * 10) / 10, Math.round(place.y * 10) / 10];
    }),
    ...(selected() === null ? {} : { s: selected()! }),
    ...(hiddenLabels().size ? { h: [...hiddenLabels()] } : {}),
    ...(layoutName() === "force" ? {} : { l: layoutName() }),
    ...(grouping() === "auto" ? {} : { u: grouping() }),
    ...(pair ? { d: { a: pinPoint(pair.a), b: pinPoint(pair.b) } } : {}),
  };
}

/** A link to what is shown, with both times pinned; null if it is too long for one and may not be kept. */
export async function link(): Promise<string | null> {
  const state = shownState();
  const text = await pack(state);
  const url = urlOf({ s: text });
  return url.length <= LENGTH_MAX ? url : keep(text);
}

function urlOf(parameters: Record<string, string>): string {
  return new URL(hrefOf("explore", parameters), location.href).href;
}

function viewPath(name: string): string {
  return `${graphPath()}/variables/${encodeURIComponent(VIEW + name)}`;
}

/** The longest view that is kept with the graph. */
const KEPT_BYTES_MAX = 256 * 1024;

/** A hash of a text (two of cyrb53's kind, 106 bits), so that the same view is kept once. */
function nameOf(text: string): string {
  const hash = (seed: number) => {
    let [a, b] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed];
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      a = Math.imul(a ^ unit, 2654435761);
      b = Math.imul(b ^ unit, 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return (4294967296 * (2097151 & b) + (a >>> 0)).toString(16).padStart(14, "0");
  };
  return hash(0) + hash(1);
}

/** Keeps a view with the graph: a link to it, or null if it is too long or this user may not write. */
async function keep(text: string): Promise<string | null> {
  if (text.length > KEPT_BYTES_MAX) return null;
  const name = nameOf(text);
  try {
    await call(viewPath(name), { method: "PUT", body: { data: text } });
    return urlOf({ g: graph(), view: name });
  } catch {
    return null;
  }
}

export function isLink(parameters: URLSearchParams): boolean {
  return Boolean(parameters.get("s") || parameters.get("view"));
}

/** Shows what the parameters of a link say. */
export async function openLink(parameters: URLSearchParams): Promise<void> {
  const text = parameters.get("s");
  if (text) return open(text);
  const name = parameters.get("view");
  if (!name) return;
  const wanted = parameters.get("g");
  if (wanted && wanted !== graph() && graphs().includes(wanted)) return location.reload();
  const found = await during(() => call<Record<string, string>>(viewPath(name)));
  const kept = found?.[VIEW + name];
  const state = kept ? await read(kept) : null;
  // It is of the graph that keeps it, whatever the graph was called then.
  if (state) apply(state);
}

async function read(text: string): Promise<Shared | null> {
  const state = (await unpack(text)) as Shared | null;
  return state && Array.isArray(state.v) && typeof state.g === "string" ? state : null;
}

/** Shows what the text of a link says. */
async function open(text: string): Promise<void> {
  const state = await read(text);
  if (!state) return;
  if (state.g !== graph() && graphs().includes(state.g)) {
    // The page begins with the graph of its link.
    location.reload();
    return;
  }
  apply(state);
}

/** Shows a state, with the camera where it was or, without one, with all of it in the window. */
export function apply(state: Shared, camera: Look | null = null): void {
  lookAt(camera);
  positions.clear();
  for (const [ref, x, y] of state.v) if (x !== 0 || y !== 0) positions.set(ref, { x, y });
  setPoint({ trueAt: state.t, knownAt: state.k });
  const hidden = new Set(state.h ?? []);
  for (const label of [...hiddenLabels()]) if (!hidden.has(label)) toggleLabel(label);
  for (const label of hidden) if (!hiddenLabels().has(label)) toggleLabel(label);
  setLayoutName(LAYOUTS.find((known) => known === state.l) ?? "force");
  group(GROUPINGS.find((known) => known === state.u) ?? "auto");
  restart(state.v.map(([ref]) => ref));
  compare(state.d ?? null);
  select(state.s ?? null);
}
