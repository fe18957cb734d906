// The label of the vertex under the pointer, in the colours of the theme.

import type { Settings } from "sigma/settings";
import type { NodeDisplayData, PartialButFor } from "sigma/types";
import { isDark } from "../core/prefs";

type Data = PartialButFor<NodeDisplayData, "x" | "y" | "size" | "label" | "color">;

export function drawHover(context: CanvasRenderingContext2D, data: Data, settings: Pick<Settings, "labelSize" | "labelFont">): void {
  const { labelSize: size, labelFont: font } = settings;
  const name = data.label ?? "";
  context.font = `600 ${size}px ${font}`;
  const width = context.measureText(name).width + 12;
  const left = data.x + data.size + 4;
  const top = data.y - size / 2 - 5;
  context.fillStyle = isDark() ? "#2a3238" : "#ffffff";
  context.strokeStyle = isDark() ? "#58c4cc" : "#0f5c63";
  context.lineWidth = 1.5;
  context.beginPath();
  context.arc(data.x, data.y, data.size + 3, 0, Math.PI * 2);
  context.stroke();
  if (!name) return;
  context.beginPath();
  context.roundRect(left, top, width, size + 10, 4);
  context.fill();
  context.stroke();
  context.fillStyle = isDark() ? "#e4e8ea" : "#1d2529";
  context.fillText(name, left + 6, data.y + size / 3);
}
