// Names beside vertices, where they lie on no other name and, in small graphs, on no vertex. A name
// without such a place is left out: it is there after zooming in, and under the pointer.

import type { Settings } from "sigma/settings";
import type { NodeDisplayData, PartialButFor } from "sigma/types";
import { isDark } from "../core/prefs";

type Data = PartialButFor<NodeDisplayData, "x" | "y" | "size" | "label" | "color"> & { key?: string };
type LabelSettings = Pick<Settings, "labelSize" | "labelFont" | "labelWeight">;

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export type Side = "right" | "left" | "below" | "above";
export interface Disc {
  key: string;
  x: number;
  y: number;
  radius: number;
}

const SIDES: readonly Side[] = ["right", "left", "below", "above"];
/** Pixels between a vertex and its name. */
const GAP = 3;

/** Where the middle of a name's line begins, ends or has its centre, by the side that it is on. */
export function placeOf(side: Side, at: { x: number; y: number; radius: number }, size: number): { x: number; y: number; anchor: "start" | "end" | "middle" } {
  if (side === "right") return { x: at.x + at.radius + GAP, y: at.y, anchor: "start" };
  if (side === "left") return { x: at.x - at.radius - GAP, y: at.y, anchor: "end" };
  const distance = at.radius + GAP + size / 2;
  return { x: at.x, y: side === "below" ? at.y + distance : at.y - distance, anchor: "middle" };
}

function touches(box: Box, { x, y, radius }: Disc): boolean {
  const outsideX = Math.max(box.left - x, 0, x - box.right);
  const outsideY = Math.max(box.top - y, 0, y - box.bottom);
  return outsideX * outsideX + outsideY * outsideY < radius * radius;
}

/** The names of one picture. */
export class Labels {
  private boxes: Box[] = [];
  private discs: Disc[] | null = null;
  /** The vertices whose names are drawn, and where. */
  readonly drawn = new Map<string, Side>();

  /** `discsOf` says where vertices lie that names keep off. */
  constructor(private readonly discsOf: () => Disc[]) {}

  /** Before the next picture. */
  clear(): void {
    this.boxes = [];
    this.discs = null;
    this.drawn.clear();
  }

  draw(context: CanvasRenderingContext2D, data: Data, settings: LabelSettings): void {
    if (!data.label) return;
    const { labelSize: size, labelFont: font, labelWeight: weight } = settings;
    context.font = `${weight} ${size}px ${font}`;
    const width = context.measureText(data.label).width;
    const at = { x: data.x, y: data.y, radius: data.size };
    this.discs ??= this.discsOf();
    const free = SIDES.map((side) => ({ side, box: boxOf(placeOf(side, at, size), width, size) })).find(({ box }) => this.isFree(box, data.key));
    if (!free && data.forceLabel !== true) return;
    const side = free?.side ?? "right";
    const place = placeOf(side, at, size);
    const box = boxOf(place, width, size);
    this.boxes.push(box);
    if (data.key !== undefined) this.drawn.set(data.key, side);
    context.fillStyle = isDark() ? "#e4e8ea" : "#1d2529";
    context.fillText(data.label, box.left, place.y + size / 3);
  }

  private isFree(box: Box, own: string | undefined): boolean {
    const isClear = this.boxes.every(
      (other) => box.left > other.right || box.right < other.left || box.top > other.bottom || box.bottom < other.top,
    );
    return isClear && (this.discs ?? []).every((disc) => disc.key === own || !touches(box, disc));
  }
}

function boxOf({ x, y, anchor }: ReturnType<typeof placeOf>, width: number, size: number): Box {
  const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
  return { left, right: left + width, top: y - size / 2, bottom: y + size / 2 };
}
