// Styles of labels as Hubble keeps them: a text in the label's user data. Both show the other's.

import { PALETTE } from "./palette";
import type { Kind, Size, Style } from "./style";

/** The member of a label's user data. */
export const STYLE_KEY = "~style";

/** What Hubble calls the sizes of vertices and the widths of edges. */
const SIZE_OF: Record<string, Size> = {
  HUGE: "large", BIG: "large", NORMAL: "normal", SMALL: "small", TINY: "small", THICK: "large", FINE: "small",
};
const NAME_OF: Record<Kind, Record<Size, string>> = {
  vertex: { small: "SMALL", normal: "NORMAL", large: "BIG" },
  edge: { small: "FINE", normal: "NORMAL", large: "THICK" },
};

type Members = Record<string, unknown>;

function membersOf(stored: unknown): Members {
  try {
    const found = (typeof stored === "string" ? JSON.parse(stored) : stored) as unknown;
    return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as Members) : {};
  } catch {
    return {};
  }
}

/** The style in a label's user data; null if there is none. */
export function fromHubble(kind: Kind, stored: unknown): Style | null {
  const { color, color_by: by, size, thickness, display_fields: fields } = membersOf(stored);
  const style: Style = {};
  if (typeof color === "string" && /^#[0-9a-f]{6}$/i.test(color)) {
    // A colour of the palette has a shade in each theme.
    const place = PALETTE.indexOf(color.toLowerCase());
    style.color = place < 0 ? color : String(place);
  }
  // Hubble has no such member, and leaves it.
  if (typeof by === "string") style.by = by;
  const named = SIZE_OF[String(kind === "vertex" ? size : thickness)];
  if (named !== undefined && named !== "normal") style.size = named;
  const caption = Array.isArray(fields) ? (fields[0] as unknown) : undefined;
  if (typeof caption === "string") style.caption = caption;
  return Object.keys(style).length ? style : null;
}

/** The text to keep for a style. What else Hubble keeps in it, like an icon, stays. */
export function toHubble(kind: Kind, style: Style, stored: unknown): string {
  const kept = membersOf(stored);
  const sizeMember = kind === "vertex" ? "size" : "thickness";
  const [before] = Array.isArray(kept.display_fields) ? (kept.display_fields as unknown[]) : [];
  delete kept.color;
  delete kept.color_by;
  delete kept[sizeMember];
  if (style.color !== undefined) kept.color = style.color.startsWith("#") ? style.color : PALETTE[Number(style.color)];
  if (style.by !== undefined) kept.color_by = style.by;
  if (style.size !== undefined) kept[sizeMember] = NAME_OF[kind][style.size];
  // Hubble may join several properties: the first one is the caption here.
  if (style.caption === undefined) delete kept.display_fields;
  else if (style.caption !== before) kept.display_fields = [style.caption];
  return JSON.stringify(kept);
}
