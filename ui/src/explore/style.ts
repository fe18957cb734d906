// Styles of labels: colour, size and caption, kept for each graph in this browser.

import { createSignal } from "solid-js";
import { graph } from "../core/server";
import { read, keep } from "../core/prefs";

export type Size = "small" | "normal" | "large";
export type Kind = "vertex" | "edge";

export interface Style {
  /** A place in the palette, so that each theme has its own shade, or a colour as `#rrggbb`. */
  color?: string;
  size?: Size;
  /** The property whose value is the element's text; `~id` and `~label`: its id or label. */
  caption?: string;
}

export const SIZES: readonly Size[] = ["small", "normal", "large"];
/** Times the usual size. */
export const FACTORS: Record<Size, number> = { small: 0.65, normal: 1, large: 1.6 };

type Styles = Record<string, Style>;

const COLOR = /^(\d|#[0-9a-f]{6})$/i;
/** More labels than a person styles, and little enough for the browser's storage. */
const KEPT_MAX = 200;

function valid(value: unknown): Style | null {
  if (typeof value !== "object" || value === null) return null;
  const { color, size, caption } = value as Record<string, unknown>;
  return {
    ...(typeof color === "string" && COLOR.test(color) ? { color } : {}),
    ...(SIZES.includes(size as Size) ? { size: size as Size } : {}),
    ...(typeof caption === "string" ? { caption } : {}),
  };
}

/** The styles in a text; what is none is left out. */
export function parseStyles(text: string | null): Styles {
  try {
    const found = JSON.parse(text ?? "{}") as unknown;
    if (typeof found !== "object" || found === null) return {};
    const pairs = Object.entries(found).map(([key, value]) => [key, valid(value)] as const);
    return Object.fromEntries(pairs.filter((pair): pair is [string, Style] => pair[1] !== null).slice(0, KEPT_MAX));
  } catch {
    return {};
  }
}

let held: { graph: string; styles: Styles } | null = null;
const [changed, setChanged] = createSignal(0);

/** The styles of the graph that is shown. */
export function styles(): Styles {
  changed();
  const name = graph();
  if (held?.graph !== name) held = { graph: name, styles: parseStyles(read(`style.${name}`)) };
  return held.styles;
}

export function styleOf(kind: Kind, label: string): Style {
  return styles()[`${kind}:${label}`] ?? {};
}

/** Changes the style of a label; null takes it back. */
export function setStyle(kind: Kind, label: string, style: Style | null): void {
  const next = { ...styles() };
  delete next[`${kind}:${label}`];
  if (style && Object.keys(style).length > 0) next[`${kind}:${label}`] = style;
  const kept = Object.fromEntries(Object.entries(next).slice(-KEPT_MAX));
  held = { graph: graph(), styles: kept };
  setChanged((count) => count + 1);
  keep(`style.${graph()}`, JSON.stringify(kept));
}
