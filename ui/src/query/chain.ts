// Paths and trees of an answer as chains: vertices, what links them, and other values.

import { Told } from "../core/text";
import { CypherPath } from "./cypherapi";
import { isElement } from "./found";

export interface Link {
  kind: "vertex" | "edge" | "value";
  /** The label of a vertex or an edge. */
  label: string;
  name: string;
  /** Of an edge: whether it leads to what follows; null if it leads from or to neither. */
  isForth?: boolean | null;
}

/** A path; its text is in the notation of Cypher. */
export class Chain extends Told {
  constructor(readonly links: Link[], readonly text: string) {
    super();
  }
}

const NAME_KEYS = ["name", "title", "displayName", "display_name", "qualifiedName"];

/** The single value in what Gremlin may write as a list of `{id, value}`. */
export function plainValue(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const values = value.map((part) => (typeof part === "object" && part !== null && "value" in part ? (part as { value: unknown }).value : part));
  return values.length === 1 ? values[0] : values;
}

function nameOf(element: { id: unknown; label: string; properties?: Record<string, unknown> }): string {
  for (const key of NAME_KEYS) {
    const value = plainValue(element.properties?.[key]);
    if (typeof value === "string" && value !== "") return value;
  }
  // Ids of primary keys begin with the label's number.
  return String(element.id).replace(/^\d+:/, "");
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)) ?? "";
}

function linkOf(item: unknown, before: unknown, after: unknown): Link {
  if (!isElement(item)) return { kind: "value", label: "", name: valueText(item) };
  if (item.type === "vertex") return { kind: "vertex", label: item.label, name: nameOf(item) };
  const is = (vertex: unknown, end: unknown) => isElement(vertex) && vertex.type === "vertex" && end !== undefined && String(vertex.id) === String(end);
  const isForth = is(before, item.outV) || is(after, item.inV) ? true : is(before, item.inV) || is(after, item.outV) ? false : null;
  return { kind: "edge", label: item.label, name: item.label, isForth };
}

/** A text like `(Ann)-[knows]->(Ben)`. */
function textOf(links: Link[]): string {
  return links
    .map(({ kind, name, isForth }, at) => {
      if (kind === "edge") return `${isForth === false ? "<" : ""}-[${name}]-${isForth === true ? ">" : ""}`;
      const isAlone = at === 0 || links[at - 1]!.kind === "edge";
      return `${isAlone ? "" : "--"}(${name})`;
    })
    .join("");
}

export function chainOf(items: readonly unknown[], text?: string): Chain {
  const links = items.map((item, at) => linkOf(item, items[at - 1], items[at + 1]));
  return new Chain(links, text ?? textOf(links));
}

/** The steps of a path as Gremlin or Cypher answers it; null if it is none. */
export function pathIn(value: unknown): unknown[] | null {
  if (value instanceof CypherPath) return value.elements;
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 2) return null;
  const { labels, objects } = value as { labels?: unknown; objects?: unknown };
  return Array.isArray(labels) && Array.isArray(objects) && labels.length === objects.length ? objects : null;
}

interface Branch {
  key: unknown;
  value: Branch[];
}

function isTree(value: unknown): value is Branch[] {
  return Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null && Object.keys(each).length === 2 && "key" in each && isTree((each as Branch).value));
}

/** The ways from the root of a tree of Gremlin to its leaves; null if it is no tree. */
export function waysIn(value: unknown): unknown[][] | null {
  if (!isTree(value) || value.length === 0) return null;
  const ways = (branches: Branch[], before: unknown[]): unknown[][] =>
    branches.flatMap(({ key, value: next }) => (next.length ? ways(next, [...before, key]) : [[...before, key]]));
  return ways(value, []);
}
