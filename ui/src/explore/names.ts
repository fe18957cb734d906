// Which names are drawn, and where: the most important first, each where it covers no other name
// and no vertex.

import { lineOf, middleOf, type Scene, type Viewport } from "./scene";

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export type Anchor = "start" | "end" | "middle";

export interface Name {
  x: number;
  y: number;
  anchor: Anchor;
  text: string;
  /** In radians: names of edges follow their lines. */
  turn: number;
}

export const NAME_SIZE = 12;
export const EDGE_NAME_SIZE = 10;
/** Pixels between a vertex and its name. */
const GAP = 3;
const CELL = 48;
/** More names than a person reads in one look. */
const NAMES_MAX = 160;
const EDGE_NAMES_MAX = 120;
/** Edges have names where vertices are at least as large. */
const EDGE_NAMED_RADIUS = 3.5;
/** As many names of the most important vertices may lie on others: a hub is where it is crowded. */
const HUBS = 14;
/** Discs smaller than this are dust: names may lie on them. */
const DUST = 2.6;

/** What is taken already, in cells, so that a look takes the same time in every graph. */
class Room {
  private readonly cells = new Map<number, Box[]>();

  private *cellsOf(box: Box): Generator<number> {
    for (let x = Math.floor(box.left / CELL); x <= Math.floor(box.right / CELL); x += 1) {
      for (let y = Math.floor(box.top / CELL); y <= Math.floor(box.bottom / CELL); y += 1) yield x * 65_536 + y;
    }
  }

  take(box: Box): void {
    for (const cell of this.cellsOf(box)) {
      const held = this.cells.get(cell);
      if (held) held.push(box);
      else this.cells.set(cell, [box]);
    }
  }

  isFree(box: Box): boolean {
    for (const cell of this.cellsOf(box)) {
      for (const other of this.cells.get(cell) ?? []) {
        if (box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top) return false;
      }
    }
    return true;
  }
}

function boxAt(x: number, y: number, width: number, size: number, anchor: Anchor): Box {
  const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
  return { left, right: left + width, top: y - size / 2, bottom: y + size / 2 };
}

export interface Spots {
  x: Float32Array;
  y: Float32Array;
  r: Float32Array;
}

/** Where the vertices are on the screen. */
export function spotsOf(scene: Scene, view: Viewport): Spots {
  const count = scene.keys.length;
  const [x, y, r] = [new Float32Array(count), new Float32Array(count), new Float32Array(count)];
  for (let at = 0; at < count; at += 1) {
    x[at] = (scene.xy[2 * at]! - view.x) * view.scale + view.width / 2;
    y[at] = (scene.xy[2 * at + 1]! - view.y) * view.scale + view.height / 2;
    r[at] = scene.sizes[at]! * view.radius;
  }
  return { x, y, r };
}

/** The names of vertices and edges that are drawn. `measure` gives the width of a text. */
export function placeNames(
  scene: Scene, view: Viewport, spots: Spots, measure: (text: string, size: number) => number,
): { vertices: Map<number, Name>; edges: Map<number, Name> } {
  const room = new Room();
  const texts = new Room();
  const inside = (at: number) =>
    spots.x[at]! > -40 && spots.y[at]! > -20 && spots.x[at]! < view.width + 40 && spots.y[at]! < view.height + 20;
  for (let at = 0; at < scene.keys.length; at += 1) {
    const r = spots.r[at]!;
    if (r < DUST || !inside(at)) continue;
    room.take({ left: spots.x[at]! - r, right: spots.x[at]! + r, top: spots.y[at]! - r, bottom: spots.y[at]! + r });
  }
  const isWhole = (box: Box) => box.left >= 0 && box.right <= view.width;
  const vertices = new Map<number, Name>();
  // Where vertices are small, names would cover the picture.
  const most = NAMES_MAX * Math.min(1, Math.max(0.25, view.radius / 6));
  let tried = 0;
  for (const at of scene.order) {
    const text = scene.names[at]!;
    if (!text || !inside(at)) continue;
    const isForced = scene.named[at] === 1;
    if (!isForced && (vertices.size >= most || tried > 4 * most)) continue;
    tried += 1;
    const [x, y, r] = [spots.x[at]!, spots.y[at]!, spots.r[at]!];
    const width = measure(text, NAME_SIZE);
    const below = r + GAP + NAME_SIZE / 2;
    const places: [number, number, Anchor][] = [
      [x + r + GAP, y, "start"], [x - r - GAP, y, "end"], [x, y + below, "middle"], [x, y - below, "middle"],
    ];
    const freeOf = (taken: Room) => {
      const free = places.filter(([px, py, anchor]) => taken.isFree(boxAt(px, py, width, NAME_SIZE, anchor)));
      // The edge of the canvas cuts no name that has room elsewhere.
      return free.find(([px, py, anchor]) => isWhole(boxAt(px, py, width, NAME_SIZE, anchor))) ?? free[0];
    };
    const free = freeOf(room) ?? (vertices.size < HUBS && !scene.counts[at] ? freeOf(texts) : undefined);
    if (!free && !isForced) continue;
    const [px, py, anchor] = free ?? places[0]!;
    const box = boxAt(px, py, width, NAME_SIZE, anchor);
    room.take(box);
    texts.take(box);
    vertices.set(at, { x: px, y: py, anchor, text, turn: 0 });
  }
  return { vertices, edges: placeEdgeNames(scene, view, spots, room, measure) };
}

function placeEdgeNames(
  scene: Scene, view: Viewport, spots: Spots, room: Room, measure: (text: string, size: number) => number,
): Map<number, Name> {
  const edges = new Map<number, Name>();
  if (view.radius < EDGE_NAMED_RADIUS) return edges;
  for (let at = 0; at < scene.edgeKeys.length && edges.size < EDGE_NAMES_MAX; at += 1) {
    const text = scene.edgeNames[at]!;
    if (!text) continue;
    const [from, to] = [scene.ends[2 * at]!, scene.ends[2 * at + 1]!];
    const span = Math.hypot(spots.x[to]! - spots.x[from]!, spots.y[to]! - spots.y[from]!);
    if (span < 40) continue;
    const line = lineOf(spots.x[from]!, spots.y[from]!, spots.r[from]!, spots.x[to]!, spots.y[to]!, spots.r[to]!, scene.bends[at]!);
    if (!line) continue;
    const middle = middleOf(line);
    if (middle.x < 0 || middle.y < 0 || middle.x > view.width || middle.y > view.height) continue;
    const width = measure(text, EDGE_NAME_SIZE);
    if (line.length < width + 18) continue;
    let turn = Math.atan2(line.y2 - line.y1, line.x2 - line.x1);
    if (turn > Math.PI / 2) turn -= Math.PI;
    if (turn < -Math.PI / 2) turn += Math.PI;
    // Small boxes along the line stand for the text that follows it.
    const parts = Math.max(1, Math.round(width / 10));
    const boxes = Array.from({ length: parts }, (_, part) => {
      const along = ((part + 0.5) / parts - 0.5) * width;
      return boxAt(middle.x + Math.cos(turn) * along, middle.y + Math.sin(turn) * along, width / parts, EDGE_NAME_SIZE, "middle");
    });
    if (!boxes.every((box) => room.isFree(box))) continue;
    for (const box of boxes) room.take(box);
    edges.set(at, { x: middle.x, y: middle.y, anchor: "middle", text, turn });
  }
  return edges;
}
