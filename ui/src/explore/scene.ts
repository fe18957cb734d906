// What the canvas draws, as arrays that a worker gets at little cost, and where it lies on the screen.

/** How vertices of one kind look. */
export interface NodeLook {
  fill: string;
  ring: string;
  /** In pixels. */
  ringWidth: number;
  dash: boolean;
  /** A second ring, for what has changed. */
  double: boolean;
  alpha: number;
  /** Colours and shares of a group's labels, instead of `fill`. */
  parts?: [string, number][];
  /** Drawn in the middle: a sign of a comparison. */
  sign: string;
}

/** How edges of one kind look. */
export interface EdgeLook {
  color: string;
  width: number;
  dash: boolean;
  alpha: number;
}

export interface Scene {
  keys: string[];
  /** x and y of each vertex, in units of the layout. */
  xy: Float32Array;
  /** Times the usual radius. */
  sizes: Float32Array;
  looks: Uint16Array;
  nodeLooks: NodeLook[];
  names: string[];
  /** Written into the disc: how many vertices a group has. */
  counts: string[];
  /** Vertices, the most important first: they get their names first. */
  order: Uint32Array;
  /** Vertices whose names are drawn even where there is no room. */
  named: Uint8Array;
  edgeKeys: string[];
  /** Indexes of source and target of each edge. */
  ends: Uint32Array;
  edgeLooks: EdgeLook[];
  edgeLook: Uint16Array;
  /** How far an edge bends, as a part of its length. */
  bends: Float32Array;
  /** Times the usual width: bundles are wider. */
  widths: Float32Array;
  edgeNames: string[];
}

/** The radius of a usual vertex in units of the layout. */
export const UNIT = 5;
const RADIUS_MIN = 1.2;
const RADIUS_MAX = 9;

export interface Camera {
  /** The place in the middle of the window. */
  x: number;
  y: number;
  /** Pixels for a unit of the layout. */
  scale: number;
}

/** What of the picture is painted: a window, its colours, and how large a usual vertex is in it. */
export interface Viewport extends Camera {
  width: number;
  height: number;
  radius: number;
  text: string;
  background: string;
}

/**
 * The radius of a usual vertex in pixels. Discs that lie apart at `fitted` lie apart at every larger
 * scale, because zooming in moves them away from each other and leaves their size.
 */
export function radiusAt(scale: number, fitted: number): number {
  const full = Math.min(RADIUS_MAX, Math.max(RADIUS_MIN, UNIT * fitted));
  return Math.max(0.6, full * Math.min(1, scale / fitted));
}

export function toScreen(view: Viewport, x: number, y: number): { x: number; y: number } {
  return { x: (x - view.x) * view.scale + view.width / 2, y: (y - view.y) * view.scale + view.height / 2 };
}

export function toGraph(view: Viewport, x: number, y: number): { x: number; y: number } {
  return { x: (x - view.width / 2) / view.scale + view.x, y: (y - view.height / 2) / view.scale + view.y };
}

/** A part of an edge's line between the rims of its ends; null if the ends touch. */
export interface Line {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  /** The point that a bent line is drawn towards. */
  cx: number;
  cy: number;
  bent: boolean;
  length: number;
}

export function lineOf(
  fromX: number, fromY: number, fromR: number, toX: number, toY: number, toR: number, bend: number,
): Line | null {
  const dx = toX - fromX;
  const dy = toY - fromY;
  const length = Math.hypot(dx, dy);
  if (length <= fromR + toR + 1) return null;
  const cx = (fromX + toX) / 2 - dy * bend;
  const cy = (fromY + toY) / 2 + dx * bend;
  const leave = Math.hypot(cx - fromX, cy - fromY);
  const arrive = Math.hypot(toX - cx, toY - cy);
  return {
    x1: fromX + ((cx - fromX) / leave) * fromR,
    y1: fromY + ((cy - fromY) / leave) * fromR,
    x2: toX - ((toX - cx) / arrive) * toR,
    y2: toY - ((toY - cy) / arrive) * toR,
    cx, cy, bent: bend !== 0, length: length - fromR - toR,
  };
}

/** The middle of an edge, where its name is. */
export function middleOf(line: Line): { x: number; y: number } {
  if (!line.bent) return { x: (line.x1 + line.x2) / 2, y: (line.y1 + line.y2) / 2 };
  return { x: (line.x1 + 2 * line.cx + line.x2) / 4, y: (line.y1 + 2 * line.cy + line.y2) / 4 };
}
