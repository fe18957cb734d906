// From ids as answers write them to refs as paths take them. Some ids look alike: the text of a
// UUID, and, where all ids are texts, the digits of a number. Such an id has several refs; the graph
// says which of them exist.

import type { Point } from "../core/times";
import { elements, type Edge, type Vertex } from "./api";

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const WHOLE = /^-?\d{1,19}$/;

/** What an id may be called, the likeliest first. `allTexts`: numbers are written as texts, too. */
export function refsOf(id: unknown, allTexts = false): string[] {
  const text = String(id);
  const quoted = JSON.stringify(text);
  if (allTexts && WHOLE.test(text)) return typeof id === "string" ? [quoted, text] : [text, quoted];
  if (typeof id !== "string") return [text];
  return UUID.test(text) ? [`U"${text.toLowerCase()}"`, quoted] : [quoted];
}

/** The id of a ref as a text. */
export function plainId(ref: string): string {
  return /^U?"/.test(ref) ? (JSON.parse(ref.replace(/^U/, "")) as string) : ref;
}

/** A vertex that an answer names. */
export interface Named {
  /** What it may be called, the likeliest first. */
  refs: string[];
  label?: string;
}

export interface Found {
  vertices: Vertex[];
  /** Those among the vertices. */
  edges: Edge[];
  /** The refs of what was named, by its key. */
  refs: Map<string, string[]>;
}

/** Asks the graph for vertices, and for the edges among them. What does not exist at this point keeps its likeliest ref. */
export async function findAll(named: ReadonlyMap<string, Named>, at: Point): Promise<Found> {
  const asked = [...new Set([...named.values()].flatMap(({ refs }) => refs))];
  const { vertices, edges } = await elements(at, asked, []);
  const labels = new Map(vertices.map(({ ref, label }) => [ref, label]));
  const refs = new Map<string, string[]>();
  for (const [key, each] of named) {
    const fitting = each.refs.filter((ref) => labels.has(ref) && (each.label === undefined || labels.get(ref) === each.label));
    refs.set(key, fitting.length ? fitting : each.refs.slice(0, 1));
  }
  const kept = new Set([...refs.values()].flat());
  return {
    vertices: vertices.filter(({ ref }) => kept.has(ref)),
    edges: edges.filter(({ source, target }) => kept.has(source) && kept.has(target)),
    refs,
  };
}

/** The refs of ids. Only those that look alike are asked for. */
export async function refsOfAll(ids: readonly unknown[], at: Point, { allTexts = false, label }: { allTexts?: boolean; label?: string } = {}): Promise<string[]> {
  const named = new Map(ids.map((id) => [String(id), { refs: refsOf(id, allTexts), label }]));
  const unclear = new Map([...named].filter(([, { refs }]) => refs.length > 1));
  const found = unclear.size ? (await findAll(unclear, at)).refs : new Map<string, string[]>();
  return [...named].flatMap(([key, { refs }]) => found.get(key) ?? refs);
}
