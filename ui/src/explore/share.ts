// The state of the page as a fragment, deflated: it is never sent to the server, and shows the same
// for ever.

import { pack, unpack } from "../core/link";
import { graph, graphs } from "../core/server";
import { hrefOf } from "../core/route";
import { point, setPoint, type Point } from "../core/times";
import { layoutName, setLayoutName } from "./canvas";
import { LAYOUTS } from "./layout";
import { compare, comparing, hiddenLabels, positions, restart, select, selected, shown, toggleLabel, view } from "./state";

const LENGTH_MAX = 8192;

interface Shared {
  g: string;
  t: string | null;
  k: string | null;
  /** The vertices with their places, rounded. */
  v: [string, number, number][];
  s?: string;
  h?: string[];
  l?: string;
  d?: { a: Point; b: Point };
}

/** A link to what is shown, with both times pinned; null if it is too long for one. */
export async function link(): Promise<string | null> {
  const times = view().times;
  const pin = (at: Point): Point => ({
    trueAt: at.trueAt ?? times?.as_of ?? null,
    knownAt: at.knownAt ?? times?.as_of_tx ?? null,
  });
  const at = pin(point());
  const pair = comparing();
  const state: Shared = {
    g: graph(),
    t: at.trueAt,
    k: at.knownAt,
    v: shown().map((ref) => {
      const place = positions.get(ref) ?? { x: 0, y: 0 };
      return [ref, Math.round(place.x * 10) / 10, Math.round(place.y * 10) / 10];
    }),
    ...(selected() === null ? {} : { s: selected()! }),
    ...(hiddenLabels().size ? { h: [...hiddenLabels()] } : {}),
    ...(layoutName() === "force" ? {} : { l: layoutName() }),
    ...(pair ? { d: { a: pin(pair.a), b: pin(pair.b) } } : {}),
  };
  const url = new URL(hrefOf("explore", { s: await pack(state) }), location.href).href;
  return url.length <= LENGTH_MAX ? url : null;
}

async function read(text: string): Promise<Shared | null> {
  const state = (await unpack(text)) as Shared | null;
  return state && Array.isArray(state.v) && typeof state.g === "string" ? state : null;
}

/** Shows what a link says. False if it is none. */
export async function open(text: string): Promise<boolean> {
  const state = await read(text);
  if (!state) return false;
  if (state.g !== graph() && graphs().includes(state.g)) {
    // The page begins with the graph of its link.
    location.reload();
    return true;
  }
  positions.clear();
  for (const [ref, x, y] of state.v) positions.set(ref, { x, y });
  setPoint({ trueAt: state.t, knownAt: state.k });
  for (const label of state.h ?? []) if (!hiddenLabels().has(label)) toggleLabel(label);
  const name = LAYOUTS.find((known) => known === state.l);
  if (name) setLayoutName(name);
  restart(state.v.map(([ref]) => ref));
  compare(state.d ?? null);
  select(state.s ?? null);
  return true;
}
