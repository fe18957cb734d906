// Paints a scene. It runs in a worker; nothing in it looks at the page.

import { EDGE_NAME_SIZE, NAME_SIZE, placeNames, spotsOf, type Name, type Spots } from "./names";
import { lineOf, type EdgeLook, type NodeLook, type Scene, type Viewport } from "./scene";

export type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export const FONT = "system-ui, sans-serif";
/** Above this many edges in the window lines are fainter, so that the vertices stand out. */
const CROWDED = 1500;
/** Heads of arrows need vertices of this radius to be seen. */
const HEAD_RADIUS_MIN = 2.2;
/** Segments in one path: longer paths take more than their share of time. */
const CHUNK = 256;

function head(context: Context, x1: number, y1: number, x2: number, y2: number, size: number): void {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  context.moveTo(x2, y2);
  context.lineTo(x2 - dx * size - dy * size * 0.45, y2 - dy * size + dx * size * 0.45);
  context.lineTo(x2 - dx * size + dy * size * 0.45, y2 - dy * size - dx * size * 0.45);
  context.closePath();
}

/** The edges of each look that are in the window. */
function visible(scene: Scene, view: Viewport, { x, y }: Spots): number[][] {
  const found: number[][] = scene.edgeLooks.map(() => []);
  const { width, height } = view;
  for (let at = 0; at < scene.edgeKeys.length; at += 1) {
    const [from, to] = [scene.ends[2 * at]!, scene.ends[2 * at + 1]!];
    const [x1, y1, x2, y2] = [x[from]!, y[from]!, x[to]!, y[to]!];
    if ((x1 < 0 && x2 < 0) || (y1 < 0 && y2 < 0) || (x1 > width && x2 > width) || (y1 > height && y2 > height)) continue;
    found[scene.edgeLook[at]!]!.push(at);
  }
  return found;
}

function paintEdges(context: Context, scene: Scene, view: Viewport, spots: Spots): void {
  const groups = visible(scene, view, spots);
  const isCrowded = groups.reduce((sum, group) => sum + group.length, 0) > CROWDED;
  groups.forEach((group, kind) => {
    const look = scene.edgeLooks[kind]!;
    const widths = new Set(group.map((at) => scene.widths[at]!));
    for (const width of widths) {
      const same = widths.size === 1 ? group : group.filter((at) => scene.widths[at] === width);
      for (let start = 0; start < same.length; start += CHUNK) {
        paintChunk(context, scene, view, spots, same.slice(start, start + CHUNK), look, width, isCrowded);
      }
    }
  });
  context.globalAlpha = 1;
  context.setLineDash([]);
}

function paintChunk(
  context: Context, scene: Scene, view: Viewport, { x, y, r }: Spots, edges: number[], look: EdgeLook, widen: number, isCrowded: boolean,
): void {
  const isSmall = view.radius < HEAD_RADIUS_MIN;
  const width = look.width * widen * Math.min(1, Math.max(0.45, view.radius / 5));
  const size = 5 + width * 1.6;
  const heads: [number, number, number, number][] = [];
  context.globalAlpha = look.alpha * (isCrowded && !look.dash ? 0.55 : 1);
  context.strokeStyle = look.color;
  context.fillStyle = look.color;
  context.lineWidth = width;
  context.setLineDash(look.dash ? [5, 4] : []);
  context.beginPath();
  for (const at of edges) {
    const [from, to] = [scene.ends[2 * at]!, scene.ends[2 * at + 1]!];
    if (from === to) {
      const loop = r[from]! * 1.1 + 3;
      context.moveTo(x[from]! + loop, y[from]! - loop);
      context.arc(x[from]!, y[from]! - loop, loop, 0, Math.PI * 2);
      continue;
    }
    if (isSmall && scene.bends[at] === 0) {
      context.moveTo(x[from]!, y[from]!);
      context.lineTo(x[to]!, y[to]!);
      continue;
    }
    const line = lineOf(x[from]!, y[from]!, r[from]!, x[to]!, y[to]!, r[to]! + 1, scene.bends[at]!);
    if (!line) continue;
    context.moveTo(line.x1, line.y1);
    if (line.bent) context.quadraticCurveTo(line.cx, line.cy, line.x2, line.y2);
    else context.lineTo(line.x2, line.y2);
    if (line.length > size * 1.6) heads.push([line.bent ? line.cx : line.x1, line.bent ? line.cy : line.y1, line.x2, line.y2]);
  }
  context.stroke();
  if (isSmall || heads.length === 0) return;
  context.beginPath();
  for (const [x1, y1, x2, y2] of heads) head(context, x1, y1, x2, y2, size);
  context.globalAlpha = Math.min(1, look.alpha * (isCrowded ? 0.8 : 1));
  context.fill();
}

export function paintDisc(context: Context, x: number, y: number, r: number, look: NodeLook): void {
  context.globalAlpha = look.alpha;
  context.fillStyle = look.fill;
  context.beginPath();
  context.arc(x, y, r, 0, Math.PI * 2);
  context.fill();
  let from = -Math.PI / 2;
  for (const [color, share] of look.parts ?? []) {
    context.fillStyle = color;
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, r, from, (from += share * 2 * Math.PI));
    context.fill();
  }
  context.beginPath();
  context.arc(x, y, r, 0, Math.PI * 2);
  if (look.ringWidth > 0) {
    const width = Math.min(look.ringWidth, Math.max(0.8, r * 0.5));
    context.lineWidth = width;
    context.strokeStyle = look.ring;
    context.setLineDash(look.dash ? [3, 2.5] : []);
    context.stroke();
    if (look.double) {
      context.beginPath();
      context.arc(x, y, r + width * 2, 0, Math.PI * 2);
      context.stroke();
    }
    context.setLineDash([]);
  }
  if (look.sign && r > 4) {
    context.fillStyle = look.ring;
    context.font = `700 ${Math.max(11, r * 1.5)}px ${FONT}`;
    context.textAlign = "center";
    context.fillText(look.sign, x, y - r - 4);
    context.textAlign = "start";
  }
  context.globalAlpha = 1;
}

/** Discs of one look and size are one picture, drawn often: that is faster than as many arcs. */
function stamp(look: NodeLook, r: number, ratio: number): { image: OffscreenCanvas; half: number } {
  const half = Math.ceil(r + 2 + 3 * look.ringWidth + (look.sign ? 14 : 0));
  const image = new OffscreenCanvas(half * 2 * ratio, half * 2 * ratio);
  const context = image.getContext("2d")!;
  context.scale(ratio, ratio);
  paintDisc(context, half, half, r, look);
  return { image, half };
}

function paintDiscs(context: Context, scene: Scene, view: Viewport, { x, y, r }: Spots, ratio: number): void {
  const stamps = new Map<string, ReturnType<typeof stamp>>();
  for (let rank = scene.order.length - 1; rank >= 0; rank -= 1) {
    const at = scene.order[rank]!;
    const radius = r[at]!;
    if (x[at]! < -radius || y[at]! < -radius || x[at]! > view.width + radius || y[at]! > view.height + radius) continue;
    const key = `${scene.looks[at]} ${radius.toFixed(1)}`;
    let found = stamps.get(key);
    if (!found) stamps.set(key, (found = stamp(scene.nodeLooks[scene.looks[at]!]!, radius, ratio)));
    context.drawImage(found.image, x[at]! - found.half, y[at]! - found.half, found.half * 2, found.half * 2);
    if (scene.counts[at] && radius > 8) {
      paintCount(context, x[at]!, y[at]!, radius, scene.counts[at]!);
    }
  }
}

/** How many vertices a group has, in the middle of its disc. */
export function paintCount(context: Context, x: number, y: number, r: number, count: string): void {
  context.font = `700 ${Math.max(10, Math.min(16, r * 0.6))}px ${FONT}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = "rgb(0 0 0 / 45%)";
  context.strokeText(count, x, y);
  context.fillStyle = "#fff";
  context.fillText(count, x, y);
  context.textAlign = "start";
  context.textBaseline = "alphabetic";
}

export function paintName(context: Context, name: Name, size: number, view: Viewport, weight = 400): void {
  context.save();
  context.translate(name.x, name.y);
  if (name.turn) context.rotate(name.turn);
  context.font = `${weight} ${size}px ${FONT}`;
  context.textAlign = name.anchor === "middle" ? "center" : name.anchor;
  context.textBaseline = "middle";
  // A rim in the colour of the ground keeps lines from crossing the text out.
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = view.background;
  context.strokeText(name.text, 0, 0);
  context.fillStyle = view.text;
  context.fillText(name.text, 0, 0);
  context.restore();
}

export function measureWith(context: Context): (text: string, size: number) => number {
  return (text, size) => {
    context.font = `${size}px ${FONT}`;
    return context.measureText(text).width;
  };
}

/** Paints what the window shows; gives the vertices whose names are drawn. */
export function paint(context: Context, scene: Scene, view: Viewport, ratio: number): void {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  const spots = spotsOf(scene, view);
  paintEdges(context, scene, view, spots);
  paintDiscs(context, scene, view, spots, ratio);
  const names = placeNames(scene, view, spots, measureWith(context));
  for (const name of names.edges.values()) paintName(context, name, EDGE_NAME_SIZE, view);
  for (const name of names.vertices.values()) paintName(context, name, NAME_SIZE, view);
}
