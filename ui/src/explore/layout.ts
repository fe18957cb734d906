// Where vertices are drawn. The force layout runs in a worker; the others are computed at once.

import type { Edge, Vertex } from "./api";

export interface LayoutRequest {
  id: number;
  nodes: Float32Array<ArrayBuffer>;
  edges: Float32Array<ArrayBuffer>;
  iterations: number;
  settings: object;
}

export type Positions = Map<string, { x: number; y: number }>;
export type LayoutName = "force" | "circle" | "grid" | "layers" | "time";
export const LAYOUTS: LayoutName[] = ["force", "circle", "grid", "layers", "time"];

// How many numbers a vertex has in the matrix of ForceAtlas2.
const NODE_WIDTH = 10;
/** How far vertices keep from each other, as a radius. */
const ROOM = 7;

let worker: Worker | null = null;
let last = 0;

/** A number from a text, the same each time, so that a link draws the same picture. */
function hash(text: string): number {
  let value = 2166136261;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 16777619);
  }
  return (value >>> 0) / 2 ** 32;
}

export function startPosition(ref: string, spread: number): { x: number; y: number } {
  const angle = hash(ref) * 2 * Math.PI;
  const distance = Math.sqrt(hash(`${ref}*`)) * spread;
  return { x: Math.cos(angle) * distance, y: Math.sin(angle) * distance };
}

/** Computes positions of all that are not fixed. */
export function force(
  refs: readonly string[],
  edges: Iterable<Edge>,
  known: Positions,
  fixed: (ref: string) => boolean,
): Promise<Positions> {
  const place = new Map(refs.map((ref, index) => [ref, index * NODE_WIDTH]));
  const spread = Math.sqrt(refs.length) * 10;
  const nodes = new Float32Array(refs.length * NODE_WIDTH);
  refs.forEach((ref, index) => {
    const at = known.get(ref) ?? startPosition(ref, spread);
    nodes.set([at.x, at.y, 0, 0, 0, 0, 1, 1, ROOM, fixed(ref) ? 1 : 0], index * NODE_WIDTH);
  });
  const rows: number[] = [];
  for (const edge of edges) {
    const [source, target] = [place.get(edge.source), place.get(edge.target)];
    if (source === undefined || target === undefined || source === target) continue;
    rows.push(source, target, 1);
    nodes[source + 6]! += 1;
    nodes[target + 6]! += 1;
  }
  worker ??= new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  const id = ++last;
  const request: LayoutRequest = {
    id,
    nodes,
    edges: new Float32Array(rows),
    iterations: refs.length > 1000 ? 100 : 300,
    settings: {
      barnesHutOptimize: refs.length > 500,
      gravity: 3,
      scalingRatio: 12,
      slowDown: 2 + Math.log(refs.length + 1),
      strongGravityMode: false,
      linLogMode: false,
    },
  };
  const running = worker;
  return new Promise((resolve) => {
    const listen = (event: MessageEvent<{ id: number; nodes: Float32Array }>) => {
      if (event.data.id !== id) return;
      running.removeEventListener("message", listen);
      const result = event.data.nodes;
      resolve(
        new Map(refs.map((ref, index) => [ref, { x: result[index * NODE_WIDTH] ?? 0, y: result[index * NODE_WIDTH + 1] ?? 0 }])),
      );
    };
    running.addEventListener("message", listen);
    running.postMessage(request, [nodes.buffer]);
  });
}

export function circle(refs: readonly string[]): Positions {
  const radius = Math.max(20, refs.length * 2);
  return new Map(
    refs.map((ref, index) => {
      const angle = (2 * Math.PI * index) / refs.length;
      return [ref, { x: Math.cos(angle) * radius, y: -Math.sin(angle) * radius }];
    }),
  );
}

export function grid(refs: readonly string[]): Positions {
  const columns = Math.ceil(Math.sqrt(refs.length * 1.6));
  return new Map(refs.map((ref, index) => [ref, { x: (index % columns) * 12, y: -Math.floor(index / columns) * 12 }]));
}

/** A column a step: what no edge leads to is left, everything else right of what leads to it. */
export function layers(refs: readonly string[], edges: Iterable<Edge>): Positions {
  const inside = new Set(refs);
  const next = new Map<string, string[]>();
  const incoming = new Map(refs.map((ref) => [ref, 0]));
  for (const edge of edges) {
    if (!inside.has(edge.source) || !inside.has(edge.target) || edge.source === edge.target) continue;
    next.set(edge.source, [...(next.get(edge.source) ?? []), edge.target]);
    incoming.set(edge.target, (incoming.get(edge.target) ?? 0) + 1);
  }
  const depth = new Map<string, number>();
  let front = refs.filter((ref) => incoming.get(ref) === 0);
  if (front.length === 0) front = refs.slice(0, 1);
  for (let step = 0; front.length > 0 && step < 60; step += 1) {
    const reached: string[] = [];
    for (const ref of front) {
      if (depth.has(ref)) continue;
      depth.set(ref, step);
      reached.push(...(next.get(ref) ?? []));
    }
    front = reached;
  }
  return columns(refs, (ref) => depth.get(ref) ?? 0);
}

/** Left to right by when the state that is shown began. */
export function byTime(refs: readonly string[], vertices: ReadonlyMap<string, Vertex>): Positions {
  const starts = [...new Set(refs.map((ref) => vertices.get(ref)?.valid_from ?? ""))].sort();
  const place = new Map(starts.map((start, index) => [start, index]));
  return columns(refs, (ref) => place.get(vertices.get(ref)?.valid_from ?? "") ?? 0);
}

function columns(refs: readonly string[], columnOf: (ref: string) => number): Positions {
  const filled = new Map<number, string[]>();
  for (const ref of refs) {
    const column = columnOf(ref);
    filled.set(column, [...(filled.get(column) ?? []), ref]);
  }
  const tallest = Math.max(1, ...[...filled.values()].map((column) => column.length));
  const width = Math.max(20, (tallest * 10) / Math.max(1, filled.size));
  const result: Positions = new Map();
  for (const [column, members] of filled) {
    members.forEach((ref, index) => {
      result.set(ref, { x: column * width, y: ((members.length - 1) / 2 - index) * 10 });
    });
  }
  return result;
}
