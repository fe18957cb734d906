// The graph algorithms of the server, with their parameters.

import { idTyped } from "../explore/refs";

export interface Parameter {
  name: string;
  kind: "number" | "choice" | "list" | "text" | "flag" | "vertexlabel" | "edgelabel" | "property";
  options?: readonly string[];
  start?: string;
  required?: boolean;
}

const LABELS: Parameter[] = [{ name: "label", kind: "edgelabel" }, { name: "source_label", kind: "vertexlabel" }];
const DIRECTION: Parameter = { name: "direction", kind: "choice", options: ["BOTH", "OUT", "IN"] };
const TOP: Parameter = { name: "top", kind: "number", start: "100" };
const WEIGHT: Parameter = { name: "weight", kind: "property" };
const WRITE: Parameter = { name: "write_property", kind: "property" };
const DEPTH: Parameter = { name: "depth", kind: "number" };
const TIMES: Parameter = { name: "times", kind: "number" };
const PRECISION: Parameter = { name: "precision", kind: "number" };
const SAMPLE: Parameter[] = [{ name: "source_sample", kind: "number" }, { name: "seed", kind: "number" }];

export const ALGORITHMS: Record<string, Parameter[]> = {
  page_rank: [...LABELS, { name: "alpha", kind: "number", start: "0.15" }, WEIGHT, TIMES, PRECISION, TOP, WRITE],
  degree_centrality: [...LABELS, DIRECTION, TOP, WRITE],
  betweenness_centrality: [...LABELS, DIRECTION, DEPTH, ...SAMPLE, TOP, WRITE],
  closeness_centrality: [...LABELS, DIRECTION, DEPTH, { name: "formula", kind: "choice", options: ["", "classic"] }, TOP, WRITE],
  stress_centrality: [...LABELS, DIRECTION, DEPTH, ...SAMPLE, TOP, WRITE],
  eigenvector_centrality: [...LABELS, DIRECTION, WEIGHT, TIMES, PRECISION, TOP, WRITE],
  personalized_page_rank: [{ name: "sources", kind: "list", required: true }, ...LABELS, { name: "alpha", kind: "number", start: "0.15" }, WEIGHT, TIMES, TOP, WRITE],
  single_source_shortest_path: [{ name: "source", kind: "text", required: true }, ...LABELS, DIRECTION, WEIGHT, TOP, WRITE],
  louvain: [...LABELS, WEIGHT, TIMES, PRECISION, { name: "seed", kind: "number" }, WRITE],
  lpa: [...LABELS, DIRECTION, WEIGHT, TIMES, PRECISION, WRITE],
  weak_connected_component: [...LABELS, WRITE],
  strong_connected_component: [...LABELS, WRITE],
  k_core: [...LABELS, { name: "k", kind: "number", start: "3" }, WRITE],
  triangle_count: [...LABELS, DIRECTION, WRITE],
  cluster_coefficient: [...LABELS, WRITE],
  rings: [...LABELS, { name: "depth", kind: "number", start: "4", required: true }, DIRECTION, { name: "limit", kind: "number", start: "100" }],
  count_vertex: [],
  count_edge: [],
};

/** The body of a start: what is empty is left out. */
export function bodyOf(name: string, values: Readonly<Record<string, string>>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { name: key, kind, start } of ALGORITHMS[name] ?? []) {
    const text = (values[key] ?? start ?? "").trim();
    if (text === "") continue;
    found[key] = kind === "number" ? Number(text) : kind === "flag" ? text === "true" : kind === "list" ? text.split(",").map((each) => idTyped(each.trim())) : key === "source" ? idTyped(text) : text;
  }
  return found;
}

export interface Result {
  /** What the whole graph has, by name. */
  facts: [string, string][];
  /** Rows of vertices with a score, or of numbers by name. */
  rows: [string, unknown][];
  /** Whether the rows are vertices with numbers. */
  areScores: boolean;
}

/** The parts of a result: the first member that is an object holds the rows, or the result itself. */
export function partsOf(algorithm: string, result: unknown): Result {
  if (typeof result !== "object" || result === null) return { facts: [["", String(result)]], rows: [], areScores: false };
  const entries = Object.entries(result as Record<string, unknown>);
  const nested = entries.find(([, value]) => typeof value === "object" && value !== null);
  const isCount = algorithm.startsWith("count_");
  if (nested) {
    const [, value] = nested;
    const rows: [string, unknown][] = Array.isArray(value) ? value.map((each, at) => [String(at + 1), each]) : Object.entries(value as object);
    const facts = entries.filter((entry) => entry !== nested).map(([key, each]): [string, string] => [key, String(each)]);
    const areScores = !Array.isArray(value) && rows.every(isScore);
    return { facts, rows: areScores ? sorted(rows, nested[0] === "distances") : rows, areScores };
  }
  const areScores = !isCount && algorithm.endsWith("_centrality");
  if (areScores) return { facts: [], rows: sorted(entries, false), areScores };
  return isCount ? { facts: [], rows: entries, areScores } : { facts: entries.map(([key, value]) => [key, String(value)]), rows: [], areScores: false };
}

function isScore([, value]: [string, unknown]): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

/** The greatest scores first, or the least. JSON.parse puts ids that are numbers into an order of their own. */
function sorted(rows: readonly [string, unknown][], isAscending: boolean): [string, unknown][] {
  const sign = isAscending ? 1 : -1;
  return [...rows].sort(([, a], [, b]) => sign * ((a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0));
}

/** The groups that lists of a result stand for, by id: cores and rings. */
export function groupsOf(rows: readonly [string, unknown][]): Map<unknown, string> {
  const found = new Map<unknown, string>();
  for (const [name, value] of rows) if (Array.isArray(value)) for (const id of value) if (!found.has(id)) found.set(id, name);
  return found;
}
