// From ids as answers write them to refs as paths take them, and back. `refOf` is the only place that
// writes a ref. The kind of an id comes from the answer or from the schema of its label, never from
// its look: `"00217"` and `"2001"` may be texts.

import { schemaOf } from "../core/schema";
import { graph } from "../core/server";
import type { Point } from "../core/times";
import { elements, type Edge, type Vertex } from "./api";

export type IdKind = "number" | "text" | "uuid";

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
/** A whole number as an id of this kind is written: no other text is one. */
const WHOLE = /^(0|-?[1-9]\d{0,18})$/;
const LONG_MAX = 2n ** 63n;

const STRATEGIES: Record<string, IdKind> = {
  AUTOMATIC: "number", CUSTOMIZE_NUMBER: "number", CUSTOMIZE_UUID: "uuid", CUSTOMIZE_STRING: "text", PRIMARY_KEY: "text",
};

/** The ref of an id of a kind. */
export function refOf(id: unknown, kind: IdKind): string {
  if (kind === "number") return String(id);
  return kind === "text" ? JSON.stringify(String(id)) : `U"${String(id).toLowerCase()}"`;
}

/** Of which kinds the ids of a label are, or of all labels; null where the schema is not known. */
export function kindsOf(label?: string): ReadonlySet<IdKind> | null {
  const labels = schemaOf(graph())?.vertexlabels;
  if (!labels) return null;
  const own = labels.filter(({ name }) => name === label);
  return new Set((own.length ? own : labels).flatMap(({ id_strategy }) => STRATEGIES[id_strategy] ?? []));
}

function isOfKind(text: string, kind: IdKind): boolean {
  if (kind === "text") return true;
  if (kind === "uuid") return UUID.test(text);
  return WHOLE.test(text) && BigInt(text) < LONG_MAX && BigInt(text) >= -LONG_MAX;
}

/**
 * What an id may be called, the likeliest first. JSON tells numbers from texts, and a UUID is a text in
 * it. `allTexts`: numbers are written as texts, too.
 */
export function refsOf(id: unknown, allTexts = false, label?: string): string[] {
  if (typeof id !== "string") return [refOf(id, "number")];
  const kinds = kindsOf(label);
  const possible: IdKind[] = allTexts ? ["uuid", "text", "number"] : ["uuid", "text"];
  const fitting = possible.filter((kind) => isOfKind(id, kind) && (kinds === null || kinds.has(kind)));
  return fitting.length ? fitting.map((kind) => refOf(id, kind)) : [refOf(id, "text")];
}

/** An id that was written as a text, as JSON has it: a number where the ids of its label are numbers. */
export function idOf(text: string, kind: IdKind | undefined): string | number | bigint {
  if (kind !== "number" || !isOfKind(text, "number")) return text;
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
}

/** The kind of the ids of a label; undefined where it is not known. */
export function kindOf(label: string): IdKind | undefined {
  const found = schemaOf(graph())?.vertexlabels.find(({ name }) => name === label);
  return found && STRATEGIES[found.id_strategy];
}

/** An id as a person writes it: in quotation marks it is a text, otherwise what the ids of the graph can be. */
export function idTyped(text: string): string | number | bigint {
  if (/^".*"$/.test(text)) return text.slice(1, -1);
  return idOf(text, kindsOf()?.has("number") === false ? "text" : "number");
}

/** The id of a ref as a text. */
export function plainId(ref: string): string {
  return /^U?"/.test(ref) ? (JSON.parse(ref.replace(/^U/, "")) as string) : ref;
}

/** The id of a ref, as JSON has it. */
export function idOfRef(ref: string): string | number | bigint {
  return idOf(plainId(ref), /^U?"/.test(ref) ? "text" : "number");
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
  const named = new Map(ids.map((id) => [String(id), { refs: refsOf(id, allTexts, label), label }]));
  const unclear = new Map([...named].filter(([, { refs }]) => refs.length > 1));
  const found = unclear.size ? (await findAll(unclear, at)).refs : new Map<string, string[]>();
  return [...named].flatMap(([key, { refs }]) => found.get(key) ?? refs);
}
