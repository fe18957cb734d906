// From what a query answered to rows, vertices and a text.

import type { Row } from "../parts/table";

export interface Result {
  kind: "gremlin" | "rest";
  text: string;
  data: unknown;
  millis: number;
  trueAt: string | null;
  knownAt: string | null;
}

type Properties = Record<string, unknown>;

interface WireElement {
  id: unknown;
  label: string;
  type: "vertex" | "edge";
  properties?: Properties;
  outV?: unknown;
  inV?: unknown;
}

function isElement(value: unknown): value is WireElement {
  const candidate = value as WireElement | null;
  return typeof candidate === "object" && candidate !== null && (candidate.type === "vertex" || candidate.type === "edge") && "id" in candidate;
}

/** The list that a REST answer has most of, or the answer itself. */
export function itemsOf(data: unknown): unknown[] {
  if (Array.isArray(data)) return data;
  if (typeof data === "object" && data !== null && !isElement(data)) {
    const lists = Object.values(data).filter((value): value is unknown[] => Array.isArray(value));
    const longest = lists.sort((a, b) => b.length - a.length)[0];
    if (longest) return longest;
  }
  return data === null || data === undefined ? [] : [data];
}

function cellsOf(item: unknown): Record<string, unknown> {
  if (isElement(item)) {
    const ends = item.type === "edge" ? { from: item.outV, to: item.inV } : {};
    return { id: item.id, label: item.label, ...ends, ...plain(item.properties ?? {}) };
  }
  if (typeof item === "object" && item !== null && !Array.isArray(item) && Object.keys(item).length > 0) return { ...(item as Properties) };
  return { value: item };
}

/** Properties of a Gremlin answer may be lists of `{id, value}`. */
function plain(properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => {
      const values = Array.isArray(value)
        ? value.map((part) => (typeof part === "object" && part !== null && "value" in part ? (part as { value: unknown }).value : part))
        : value;
      return [key, Array.isArray(values) && values.length === 1 ? values[0] : values];
    }),
  );
}

export function tableOf(data: unknown): { columns: string[]; rows: Row[] } {
  const rows = itemsOf(data).map((item) => ({ cells: cellsOf(item) }));
  const columns: string[] = [];
  for (const row of rows.slice(0, 1000)) {
    for (const column of Object.keys(row.cells)) if (!columns.includes(column)) columns.push(column);
  }
  return { columns, rows };
}

export function refOf(id: unknown): string {
  return typeof id === "string" ? JSON.stringify(id) : String(id);
}

/** The vertices that an answer speaks of: itself, ends of edges, in paths and maps. */
export function verticesOf(data: unknown, found = new Set<string>(), depth = 0): Set<string> {
  if (depth > 6 || found.size > 2000) return found;
  if (isElement(data)) {
    if (data.type === "vertex") found.add(refOf(data.id));
    else for (const end of [data.outV, data.inV]) if (end !== undefined) found.add(refOf(end));
    return found;
  }
  if (Array.isArray(data)) for (const item of data) verticesOf(item, found, depth + 1);
  else if (typeof data === "object" && data !== null) for (const item of Object.values(data)) verticesOf(item, found, depth + 1);
  return found;
}
