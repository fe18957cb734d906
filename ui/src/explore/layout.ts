// Where vertices are drawn. The force layout runs in a worker; the others are computed at once.

import type { Edge, Vertex } from "./api";
import { apart } from "./apart";
import { hash } from "./hues";
import { NODE_WIDTH, type LayoutRequest } from "./matrix";
import { UNIT } from "./scene";

export type Positions = Map<string, { x: number; y: number }>;
export type LayoutName = "force" | "circle" | "grid" | "layers" | "time";
export const LAYOUTS: LayoutName[] = ["force", "circle", "grid", "layers", "time"];

let worker: Worker | null = null;
let last = 0;

export function startPosition(ref: string, spread: number): { x: number; y: number } {
  const angle = hash(ref) * 2 * Math.PI;
  const distance = Math.sqrt(hash(`${ref}*`)) * spread;
  return { x: Math.cos(angle) * distance, y: Math.sin(angle) * distance };
}

/** What is laid out: vertices or groups, with how many times the usual size each is. */
export interface Plan {
  refs: readonly string[];
  edges: Iterable<{ source: string; target: string }>;
  sizeOf: (ref: string) => number;
  known: ReadonlyMap<string, { x: number; y: number }>;
  fixed: (ref: string) => boolean;
  aspect: number;
}

/** Computes positions of all that are not fixed. */
export function force({ refs, edges, sizeOf, known, fixed, aspect }: Plan): Promise<Positions> {
  const place = new Map(refs.map((ref, index) => [ref, index * NODE_WIDTH]));
  const spread = Math.sqrt(refs.length) * UNIT * 3;
  const nodes = new Float32Array(refs.length * NODE_WIDTH);
  refs.forEach((ref, index) => {
    const at = known.get(ref) ?? startPosition(ref, spread);
    nodes.set([at.x, at.y, 0, 0, 0, 0, 1, 1, UNIT * sizeOf(ref), fixed(ref) ? 1 : 0], index * NODE_WIDTH);
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
    iterations: refs.length > 4000 ? 120 : refs.length > 1000 ? 200 : 400,
    aspect,
    settings: {
      barnesHutOptimize: refs.length > 500,
      gravity: 1,
      scalingRatio: 12,
      slowDown: 2 + Math.log(refs.length + 1),
      strongGravityMode: false,
      linLogMode: false,
    },
  };
  const running = worker;
  return new Promise((resolve, reject) => {
    const end = () => {
      running.removeEventListener("message", listen);
      running.removeEventListener("error", fail);
    };
    const fail = (event: ErrorEvent) => {
      end();
      worker = null;
      running.terminate();
      reject(new Error(event.message || "the layout failed"));
    };
    const listen = (event: MessageEvent<{ id: number; xy: Float64Array }>) => {
      if (event.data.id !== id) return;
      end();
      const { xy } = event.data;
      resolve(new Map(refs.map((ref, index) => [ref, { x: xy[index * 2] ?? 0, y: xy[index * 2 + 1] ?? 0 }])));
    };
    running.addEventListener("message", listen);
    running.addEventListener("error", fail);
    running.postMessage(request, [nodes.buffer]);
  });
}

/** Places from a rule, moved apart where sizes ask for it. */
export function settled(found: Positions, sizeOf: (ref: string) => number): Positions {
  const refs = [...found.keys()];
  const xy = new Float64Array(refs.flatMap((ref) => [found.get(ref)!.x, found.get(ref)!.y]));
  apart(xy, new Float64Array(refs.map((ref) => UNIT * sizeOf(ref))), () => false);
  return new Map(refs.map((ref, at) => [ref, { x: xy[2 * at]!, y: xy[2 * at + 1]! }]));
}

/** Free places around a place, the nearest first: on a spiral, with room for a vertex each. */
export function around(center: { x: number; y: number }, count: number, taken: Iterable<{ x: number; y: number }>, first = UNIT * 5): { x: number; y: number }[] {
  const cell = UNIT * 2.6;
  const cells = new Map<string, { x: number; y: number }[]>();
  const note = (at: { x: number; y: number }) => {
    const key = `${Math.floor(at.x / cell)} ${Math.floor(at.y / cell)}`;
    cells.set(key, [...(cells.get(key) ?? []), at]);
  };
  const isFree = (at: { x: number; y: number }) => {
    const [column, row] = [Math.floor(at.x / cell), Math.floor(at.y / cell)];
    for (let x = column - 1; x <= column + 1; x += 1) {
      for (let y = row - 1; y <= row + 1; y += 1) {
        for (const other of cells.get(`${x} ${y}`) ?? []) if (Math.hypot(other.x - at.x, other.y - at.y) < cell) return false;
      }
    }
    return true;
  };
  for (const at of taken) note(at);
  const found: { x: number; y: number }[] = [];
  for (let ring = 0; found.length < count && ring < 400; ring += 1) {
    const radius = first + ring * UNIT * 2.7;
    const seats = Math.floor((2 * Math.PI * radius) / (UNIT * 2.7));
    for (let seat = 0; seat < seats && found.length < count; seat += 1) {
      const angle = (seat / seats) * 2 * Math.PI + ring * 0.4;
      const at = { x: center.x + Math.cos(angle) * radius, y: center.y + Math.sin(angle) * radius };
      if (!isFree(at)) continue;
      note(at);
      found.push(at);
    }
  }
  return found;
}

export function circle(refs: readonly string[]): Positions {
  const radius = Math.max(20, refs.length * 2.1);
  return new Map(
    refs.map((ref, index) => {
      const angle = (2 * Math.PI * index) / refs.length;
      return [ref, { x: Math.cos(angle) * radius, y: -Math.sin(angle) * radius }];
    }),
  );
}

export function grid(refs: readonly string[]): Positions {
  const columns = Math.ceil(Math.sqrt(refs.length * 1.6));
  return new Map(refs.map((ref, index) => [ref, { x: (index % columns) * 16, y: -Math.floor(index / columns) * 16 }]));
}

/** A column a step: what no edge leads to is left, everything else right of what leads to it. */
export function layers(refs: readonly string[], edges: Iterable<Pick<Edge, "source" | "target">>): Positions {
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
  const width = Math.max(40, (tallest * 14) / Math.max(1, filled.size));
  const result: Positions = new Map();
  for (const [column, members] of filled) {
    members.forEach((ref, index) => {
      result.set(ref, { x: column * width, y: ((members.length - 1) / 2 - index) * 14 });
    });
  }
  return result;
}
