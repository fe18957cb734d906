// Numbers or groups of vertices as size and colour on the canvas: results of algorithms, properties.

import { createSignal } from "solid-js";
import { isDark } from "../core/prefs";
import type { Point } from "../core/times";
import { PALETTE, PALETTE_DARK } from "./palette";

export interface Emphasis {
  /** What the values are, e.g. `page_rank`. */
  title: string;
  /** By the ref. */
  values: ReadonlyMap<string, number | string>;
  as: ReadonlySet<"size" | "color">;
  /** The point of both times that the values are of. */
  at: Point;
  least: number;
  greatest: number;
  /** Values that are no numbers, the most frequent first. */
  kinds: readonly string[];
}

const [emphasis, setEmphasisSignal] = createSignal<Emphasis | null>(null);
export { emphasis };

export function setEmphasis(title: string, values: ReadonlyMap<string, number | string>, as: ReadonlySet<"size" | "color">, at: Point): void {
  if (as.size === 0) return void setEmphasisSignal(null);
  const numbers = [...values.values()].filter((value): value is number => typeof value === "number");
  const counts = new Map<string, number>();
  for (const value of values.values()) if (typeof value === "string") counts.set(value, (counts.get(value) ?? 0) + 1);
  const kinds = [...counts].sort((a, b) => b[1] - a[1]).map(([kind]) => kind);
  let [least, greatest] = [Infinity, -Infinity];
  for (const value of numbers) [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
  setEmphasisSignal({ title, values, as, at, least, greatest, kinds });
}

export function clearEmphasis(): void {
  setEmphasisSignal(null);
}

/** Where a number is between the least and the greatest, 0 to 1; small differences at the bottom are seen. Null if all are equal. */
function share({ least, greatest }: Emphasis, value: number): number | null {
  return greatest > least ? Math.sqrt((value - least) / (greatest - least)) : null;
}

/** Times the usual size; null where nothing is to be changed: without a value, and where all values are equal. */
export function sizeBy(of: Emphasis | null, ref: string): number | null {
  if (!of?.as.has("size")) return null;
  const value = of.values.get(ref);
  const part = typeof value === "number" ? share(of, value) : null;
  return part === null ? null : 0.8 + 2.2 * part;
}

const LOW = [[0x8f, 0xb3, 0xc4], [0x5f, 0x86, 0x99]] as const;
const HIGH = [[0xb0, 0x1e, 0x5a], [0xff, 0x7a, 0xb0]] as const;

export function rampAt(part: number): string {
  const theme = isDark() ? 1 : 0;
  return `#${LOW[theme].map((low, at) => Math.round(low + (HIGH[theme][at]! - low) * part).toString(16).padStart(2, "0")).join("")}`;
}

/** The grey one: it says nothing of a value. */
export const NEUTRAL = 6;

export function neutralColor(): string {
  return (isDark() ? PALETTE_DARK : PALETTE)[NEUTRAL]!;
}

export function colorBy(of: Emphasis | null, ref: string): string | null {
  if (!of?.as.has("color")) return null;
  const value = of.values.get(ref);
  if (typeof value === "number") return rampAt(share(of, value) ?? 0.5);
  if (value === undefined) return neutralColor();
  const palette = isDark() ? PALETTE_DARK : PALETTE;
  return palette[of.kinds.indexOf(value) % palette.length]!;
}
