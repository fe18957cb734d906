// From what a query answered to the rows of a table.

import { formatJson } from "../core/json";
import { Told } from "../core/text";
import { propertyValue } from "../explore/look";
import type { Row } from "../parts/table";
import { chainOf, pathIn, plainValue, waysIn } from "./chain";
import { isElement, namedIn } from "./found";
import type { QueryKind } from "./past";
import type { Plan } from "./plan";
import type { Source } from "./source";

export interface Result {
  kind: QueryKind;
  /** Where its vertices are; null where that is not known. */
  source: Source | null;
  text: string;
  data: unknown;
  plan: Plan | null;
  /** The columns of Cypher, in order. */
  columns?: string[];
  /** What Cypher changed. */
  counters?: Record<string, number>;
  millis: number;
}

type Properties = Record<string, unknown>;

export interface Rows {
  columns: string[];
  rows: Row[];
}

/** One map with more keys is shown as rows of key and value. */
const KEYS_MAX = 4;
/** Maps with different keys are shown so if they have more keys together. */
const COLUMNS_MAX = 12;

/** The list that a REST answer has most of, or the answer itself. */
export function itemsOf(data: unknown): unknown[] {
  if (Array.isArray(data)) return data;
  if (typeof data === "object" && data !== null && !isElement(data)) {
    const lists = Object.values(data).filter((value): value is unknown[] => Array.isArray(value));
    const longest = lists.sort((a, b) => b.length - a.length)[0];
    // One thing may have lists, too.
    if (longest && lists.length * 2 >= Object.keys(data).length) return longest;
  }
  return data === null || data === undefined ? [] : [data];
}

function isMap(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Told) && !isElement(value) && pathIn(value) === null && Object.keys(value).length > 0;
}

function cellsOf(item: unknown): Properties {
  if (isElement(item)) {
    const ends = item.type === "edge" ? { from: item.outV, to: item.inV } : {};
    return { id: item.id, label: item.label, ...ends, ...plain(item.properties ?? {}) };
  }
  if (isMap(item)) return { ...item };
  const path = pathIn(item);
  return path ? { path: chainOf(path) } : { value: item };
}

/** Properties of a Gremlin answer may be lists of `{id, value}`. A date at midnight is a day. */
function plain(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, propertyValue(key, plainValue(value))]));
}

function columnsOf(rows: readonly Row[]): string[] {
  const columns = new Set<string>();
  for (const row of rows.slice(0, 1000)) for (const column of Object.keys(row.cells)) columns.add(column);
  return [...columns];
}

/** Maps by key and value, where columns would be many or almost empty; null where columns are better. */
function keysAndValues(maps: readonly Properties[], names: { number: string; key: string; value: string }): Rows | null {
  if (maps.length === 1) {
    const entries = Object.entries(maps[0]!);
    if (entries.length <= KEYS_MAX) return null;
    return { columns: [names.key, names.value], rows: entries.map(([key, value]) => ({ cells: { [names.key]: key, [names.value]: value }, of: value })) };
  }
  const keys = new Set(maps.flatMap((map) => Object.keys(map)));
  const isSame = maps.every((map) => Object.keys(map).length === keys.size);
  if (isSame || keys.size <= COLUMNS_MAX) return null;
  const rows = maps.flatMap((map, at) =>
    Object.entries(map).map(([key, value]) => ({ cells: { [names.number]: at + 1, [names.key]: key, [names.value]: value }, of: map })),
  );
  return { columns: [names.number, names.key, names.value], rows };
}

export const MAP_COLUMNS = { number: "#", key: "key", value: "value" };

export function tableOf(data: unknown, names = MAP_COLUMNS): Rows {
  const items = itemsOf(data);
  const ways = items.map(waysIn);
  if (items.length > 0 && ways.every((each) => each !== null)) {
    return { columns: ["path"], rows: ways.flatMap((each) => each!.map((way) => ({ cells: { path: chainOf(way) }, of: way }))) };
  }
  const mapped = items.length > 0 && items.every(isMap) ? keysAndValues(items, names) : null;
  if (mapped) return mapped;
  const rows: Row[] = items.map((item) => ({ cells: cellsOf(item), of: item }));
  return { columns: columnsOf(rows), rows };
}

/** A value of Cypher as the language writes it. */
function cypherText(value: unknown): string {
  const path = pathIn(value);
  if (path) return path.map((element, at) => linkText(path, element, at)).join("");
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
  return String(element.outV) === String(before.id) ? `-${cypherText(element)}->` : `<-${cypherText(element)}-`;
}

function shownCypher(value: unknown): unknown {
  const path = pathIn(value);
  if (path) return chainOf(path, cypherText(value));
  return typeof value === "object" && value !== null ? cypherText(value) : value;
}

/** The rows of Cypher. A column of its own that has elements or maps is shown by their parts. */
export function cypherTable(columns: string[], data: Properties[], names = MAP_COLUMNS): Rows {
  const only = columns.length === 1 ? columns[0]! : null;
  const values = only === null ? [] : data.map((row) => row[only]);
  if (values.length > 0 && (values.every(isElement) || values.every(isMap))) {
    const found = tableOf(values, names);
    return { ...found, rows: found.rows.map((row) => ({ ...row, cells: isElement(values[0]) ? row.cells : shownCells(row.cells) })) };
  }
  return { columns, rows: data.map((row) => ({ cells: Object.fromEntries(columns.map((name) => [name, shownCypher(row[name])])), of: row })) };
}

function shownCells(cells: Properties): Properties {
  return Object.fromEntries(Object.entries(cells).map(([key, value]) => [key, shownCypher(value)]));
}

/** The keys of the vertices that a row speaks of. */
export function keysOf(row: Row, kind: QueryKind): string[] {
  return [...namedIn(row.of, kind).keys()];
}
