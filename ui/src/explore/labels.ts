// Names beside vertices. One that would lie on another is left out: it is there after zooming in,
// and under the pointer.

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

/** Pixels between a vertex and its name. */
const GAP = 3;

/** The names of one picture. */
export class Labels {
  private boxes: Box[] = [];
  /** The vertices whose names are drawn. */
  readonly drawn = new Set<string>();

  /** Before the next picture. */
  clear(): void {
    this.boxes = [];
    this.drawn.clear();
  }

  draw(context: CanvasRenderingContext2D, data: Data, settings: LabelSettings): void {
    if (!data.label) return;
    const { labelSize: size, labelFont: font, labelWeight: weight } = settings;
    context.font = `${weight} ${size}px ${font}`;
    const left = data.x + data.size + GAP;
    const box = { left, top: data.y - size / 2, right: left + context.measureText(data.label).width, bottom: data.y + size / 2 };
    const isFree = this.boxes.every(
      (other) => box.left > other.right || box.right < other.left || box.top > other.bottom || box.bottom < other.top,
    );
    if (!isFree && data.forceLabel !== true) return;
    this.boxes.push(box);
    if (data.key !== undefined) this.drawn.add(data.key);
    context.fillStyle = isDark() ? "#e4e8ea" : "#1d2529";
    context.fillText(data.label, left, data.y + size / 3);
  }
}
