// Which vertices of the graph an answer speaks of.

import { refOf, refsOf, type IdKind, type Named } from "../explore/refs";
import type { QueryKind } from "./past";

/** So many vertices of an answer are looked for. */
export const NAMED_MAX = 2000;
const DEPTH_MAX = 6;

interface WireElement {
  id: unknown;
  label: string;
  type: "vertex" | "edge";
  properties?: Record<string, unknown>;
  outV?: unknown;
  inV?: unknown;
}

export function isElement(value: unknown): value is WireElement {
  const candidate = value as WireElement | null;
  return typeof candidate === "object" && candidate !== null && (candidate.type === "vertex" || candidate.type === "edge") && "id" in candidate;
}

/** A vertex by some of its values, as `elementMap()` gives it. */
function isMapOfVertex(value: Record<string, unknown>): boolean {
  return typeof value.label === "string" && ["string", "number", "bigint"].includes(typeof value.id) && !("IN" in value) && !("OUT" in value);
}

/** The letters of kinds of ids in the id of an edge. */
const KINDS: Record<string, IdKind> = { L: "number", S: "text", U: "uuid" };

/** Of an edge's end: the id of an edge tells the types of the ids of its ends. */
function endRefs(edge: WireElement, end: "outV" | "inV", kind: QueryKind): string[] {
  const text = String(edge[end]);
  const id = String(edge.id);
  const sign = end === "outV" ? id[0] : /(?<!\\)>([SLU])(?:[^>\\]|\\.)*$/.exec(id)?.[1];
  const known = KINDS[sign ?? ""];
  return known ? [refOf(text, known)] : refsOf(edge[end], kind === "cypher");
}

function keyOf({ refs, label }: Named): string {
  return `${label ?? ""}\n${refs.join("\n")}`;
}

/** The vertices that an answer names, by key: itself, ends of edges, in paths, lists and maps. */
export function namedIn(data: unknown, kind: QueryKind, found = new Map<string, Named>(), depth = 0): Map<string, Named> {
  if (depth > DEPTH_MAX || found.size >= NAMED_MAX || typeof data !== "object" || data === null) return found;
  const note = (named: Named) => found.set(keyOf(named), named);
  if (isElement(data)) {
    if (data.type === "vertex") note({ refs: refsOf(data.id, kind === "cypher", data.label), label: data.label });
    else for (const end of ["outV", "inV"] as const) if (data[end] !== undefined) note({ refs: endRefs(data, end, kind) });
    return found;
  }
  if (Array.isArray(data)) {
    for (const item of data) namedIn(item, kind, found, depth + 1);
    return found;
  }
  const map = data as Record<string, unknown>;
  if (kind !== "rest" && isMapOfVertex(map)) note({ refs: refsOf(map.id, kind === "cypher", map.label as string), label: map.label as string });
  else for (const item of Object.values(map)) namedIn(item, kind, found, depth + 1);
  return found;
}
