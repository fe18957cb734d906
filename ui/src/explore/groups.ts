// Groups of vertices that are drawn as one: by label, or communities (Louvain's method).

import { createMemo, createRoot, createSignal } from "solid-js";
import type { Edge, Vertex } from "./api";

export type Grouping = "auto" | "none" | "label" | "community";
export const GROUPINGS: Grouping[] = ["auto", "none", "label", "community"];
/** Above this many vertices the picture is grouped unless a person chose otherwise. */
export const GROUPED_MIN = 1000;
/** Communities are joined until there are no more of them than a person can look over. */
const GROUPS_MAX = 60;

export interface Group {
  key: string;
  /** The label that most of its vertices have. */
  label: string;
  members: string[];
  /** The vertex with the most edges, after which a community is named; null for a label's group. */
  head: string | null;
}

const [grouping, setGrouping] = createSignal<Grouping>("auto");
/** Groups that are open: their vertices are drawn. */
const [opened, setOpened] = createSignal<ReadonlySet<string>>(new Set());
export { grouping, opened, setOpened };

export function group(kind: Grouping): void {
  setOpened(new Set<string>());
  setGrouping(kind);
}

export const GROUP_PREFIX = "~group:";

export function isGroup(key: string): boolean {
  return key.startsWith(GROUP_PREFIX);
}

export function toggleGroup(key: string): void {
  const next = new Set(opened());
  if (!next.delete(key)) next.add(key);
  setOpened(next);
}

/** Communities of vertices that edges join, as a number for each. The same input gives the same ones. */
export function communities(count: number, ends: readonly [number, number][], most = GROUPS_MAX): Int32Array {
  let of = Int32Array.from({ length: count }, (_, at) => at);
  let size = count;
  let weights = new Map<number, number>();
  const note = (from: number, to: number, weight: number) => {
    const key = Math.min(from, to) * count + Math.max(from, to);
    weights.set(key, (weights.get(key) ?? 0) + weight);
  };
  for (const [from, to] of ends) note(from, to, 1);
  for (let pass = 0; pass < 12; pass += 1) {
    const found = moved(size, count, weights, ends.length || 1);
    const names = new Map<number, number>();
    for (let at = 0; at < size; at += 1) if (!names.has(found[at]!)) names.set(found[at]!, names.size);
    if (names.size === size) break;
    of = of.map((at) => names.get(found[at]!)!);
    const before = weights;
    weights = new Map();
    for (const [key, weight] of before) {
      note(names.get(found[Math.floor(key / count)]!)!, names.get(found[key % count]!)!, weight);
    }
    size = names.size;
    if (size <= most) break;
  }
  return of;
}

/** One level: each vertex joins the community that gains most, until none moves. */
function moved(size: number, base: number, weights: Map<number, number>, total: number): Int32Array {
  const beside: [number, number][][] = Array.from({ length: size }, () => []);
  const degree = new Float64Array(size);
  for (const [key, weight] of weights) {
    const [from, to] = [Math.floor(key / base), key % base];
    degree[from]! += weight;
    degree[to]! += weight;
    if (from === to) continue;
    beside[from]!.push([to, weight]);
    beside[to]!.push([from, weight]);
  }
  const of = Int32Array.from({ length: size }, (_, at) => at);
  const sum = Float64Array.from(degree);
  for (let round = 0; round < 10; round += 1) {
    let changes = 0;
    for (let at = 0; at < size; at += 1) {
      const own = of[at]!;
      const gains = new Map<number, number>([[own, 0]]);
      for (const [other, weight] of beside[at]!) gains.set(of[other]!, (gains.get(of[other]!) ?? 0) + weight);
      sum[own]! -= degree[at]!;
      let [best, most] = [own, -Infinity];
      for (const [candidate, weight] of gains) {
        const gain = weight - (sum[candidate]! * degree[at]!) / (2 * total);
        if (gain > most + 1e-12) [best, most] = [candidate, gain];
      }
      sum[best]! += degree[at]!;
      if (best !== own) {
        of[at] = best;
        changes += 1;
      }
    }
    if (changes === 0) break;
  }
  return of;
}

function byLabel(vertices: readonly Vertex[]): Group[] {
  const found = new Map<string, Group>();
  for (const { ref, label } of vertices) {
    const held = found.get(label);
    if (held) held.members.push(ref);
    else found.set(label, { key: `${GROUP_PREFIX}label:${label}`, label, members: [ref], head: null });
  }
  return [...found.values()];
}

function byCommunity(vertices: readonly Vertex[], edges: readonly Edge[]): Group[] {
  const place = new Map(vertices.map(({ ref }, at) => [ref, at]));
  const degree = new Int32Array(vertices.length);
  const ends = edges.flatMap(({ source, target }): [number, number][] => {
    const [from, to] = [place.get(source), place.get(target)];
    if (from === undefined || to === undefined || from === to) return [];
    degree[from]! += 1;
    degree[to]! += 1;
    return [[from, to]];
  });
  const of = communities(vertices.length, ends);
  const members = new Map<number, number[]>();
  of.forEach((community, at) => {
    // Vertices without edges are one group a label.
    const key = degree[at] === 0 ? -1 : community;
    const held = members.get(key);
    if (held) held.push(at);
    else members.set(key, [at]);
  });
  const alone = members.get(-1) ?? [];
  members.delete(-1);
  const joined = [...members.values()].map((each): Group => {
    const head = vertices[each.reduce((best, at) => (degree[at]! > degree[best]! ? at : best))]!;
    const counts = new Map<string, number>();
    for (const at of each) counts.set(vertices[at]!.label, (counts.get(vertices[at]!.label) ?? 0) + 1);
    const label = [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
    return { key: `${GROUP_PREFIX}near:${head.ref}`, label, members: each.map((at) => vertices[at]!.ref), head: head.ref };
  });
  return [...joined, ...byLabel(alone.map((at) => vertices[at]!))];
}

/** The groups of what is drawn; empty while nothing is grouped. */
export function groupsOf(kind: Grouping, vertices: readonly Vertex[], edges: readonly Edge[]): Group[] {
  const isAuto = kind === "auto";
  if (kind === "none" || (isAuto && vertices.length <= GROUPED_MIN)) return [];
  const byEdges = kind === "community" || (isAuto && edges.length * 2 >= vertices.length);
  return byEdges ? byCommunity(vertices, edges) : byLabel(vertices);
}

/** A group that holds one vertex is that vertex. */
export function closed(groups: readonly Group[], open: ReadonlySet<string>): Map<string, Group> {
  const found = new Map<string, Group>();
  for (const each of groups) {
    if (each.members.length < 2 || open.has(each.key)) continue;
    for (const ref of each.members) found.set(ref, each);
  }
  return found;
}

/** Which group holds a vertex that is drawn as part of one. */
export const [groups, setGroups] = createSignal<readonly Group[]>([]);
export const closedGroups = createRoot(() => createMemo(() => closed(groups(), opened())));
