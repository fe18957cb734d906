// From what a query answered to rows, vertices and a text.

import { formatJson } from "../core/json";
import type { Row } from "../parts/table";
import { CypherPath } from "./cypherapi";
import type { QueryKind } from "./past";
import type { Plan } from "./plan";

export interface Result {
  kind: QueryKind;
  text: string;
  data: unknown;
  plan: Plan | null;
  /** The columns of Cypher, in order. */
  columns?: string[];
  /** What Cypher changed. */
  counters?: Record<string, number>;
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

/** A value of Cypher as the language writes it. */
function cypherText(value: unknown): string {
  if (value instanceof CypherPath) return value.elements.map((element, at) => linkText(value.elements, element, at)).join("");
  if (isElement(value)) {
    const properties = Object.keys(value.properties ?? {}).length ? ` ${cypherText(value.properties)}` : "";
    const label = value.label === "vertex" ? "" : `:${String(value.label).replace(/::/g, ":")}`;
    return value.type === "vertex" ? `(${label}${properties})` : `[:${value.label}${properties}]`;
  }
  if (Array.isArray(value)) return `[${value.map(cypherText).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value).map(([key, part]) => `${key}: ${cypherText(part)}`).join(", ")}}`;
  }
  return typeof value === "string" ? JSON.stringify(value) : formatJson(value);
}

/** An element of a path: a relationship with its direction as seen from the node before it. */
function linkText(path: unknown[], element: unknown, at: number): string {
  const before = path[at - 1];
  if (!isElement(element) || element.type === "vertex" || !isElement(before)) return cypherText(element);
  return refOf(element.outV) === refOf(before.id) ? `-${cypherText(element)}->` : `<-${cypherText(element)}-`;
}

/** The rows of Cypher. A column of its own that has elements is shown by their properties. */
export function cypherTable(columns: string[], data: Properties[]): { columns: string[]; rows: Row[] } {
  const only = columns.length === 1 ? columns[0]! : null;
  if (only !== null && data.length > 0 && data.every((row) => isElement(row[only]))) return tableOf(data.map((row) => row[only]));
  const shown = (value: unknown) => (typeof value === "object" && value !== null ? cypherText(value) : value);
  return { columns, rows: data.map((row) => ({ cells: Object.fromEntries(columns.map((name) => [name, shown(row[name])])) })) };
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
