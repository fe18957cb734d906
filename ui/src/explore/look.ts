// How elements look: names, colours of labels, colours of differences.

import { isDark } from "../core/prefs";
import { emptyText, shorten } from "../core/text";
import type { Edge, Element } from "./api";
import { PALETTE, PALETTE_DARK } from "./palette";
import { lastSeen } from "./state";
import { styleOf, type Kind } from "./style";

const places = new Map<string, number>();

/** A colour of a style in this theme. */
export function shade(color: string): string {
  const palette = isDark() ? PALETTE_DARK : PALETTE;
  return color.startsWith("#") ? color : (palette[Number(color) % palette.length] ?? "#7a7f87");
}

/** The colour that a person chose for a label. */
export function chosenColor(kind: Kind, label: string): string | null {
  const { color } = styleOf(kind, label);
  return color === undefined ? null : shade(color);
}

export function colorOf(label: string): string {
  const chosen = chosenColor("vertex", label);
  let place = places.get(label);
  if (place === undefined) {
    place = places.size;
    places.set(label, place);
  }
  return chosen ?? shade(String(place % PALETTE.length));
}

/** Labels get their colours in this order, so that the same graph looks the same each time. */
export function orderLabels(labels: Iterable<string>): void {
  for (const label of labels) colorOf(label);
}

export interface Colors {
  background: string;
  text: string;
  faint: string;
  edge: string;
  accent: string;
  added: string;
  removed: string;
  changed: string;
  same: string;
}

export function colors(): Colors {
  return isDark()
    ? {
        background: "#14181b", text: "#e4e8ea", faint: "#4a545b", edge: "#5d6a72", accent: "#58c4cc",
        added: "#2fc39a", removed: "#f0874e", changed: "#e8b93c", same: "#59646b",
      }
    : {
        background: "#fbfaf7", text: "#1d2529", faint: "#c3c7c6", edge: "#9aa3a6", accent: "#0f5c63",
        added: "#007a5a", removed: "#c24a00", changed: "#c98a00", same: "#b3b9bb",
      };
}

const NAME_KEYS = ["name", "title", "displayName", "display_name", "qualifiedName"];

/** The id as a person writes it: without quotes and the label's number. */
export function idText(ref: string): string {
  const plain = ref.startsWith('"') ? ref.slice(1, -1) : ref;
  return plain.replace(/^\d+:/, "");
}

/** The text that a style chose for an element; null if its style leaves that open. */
function captionOf(element: Element): string | null {
  const { caption } = styleOf(element.type, element.label);
  if (caption === undefined) return null;
  if (caption === "~id") return idText(element.ref);
  if (caption === "~label") return element.label;
  const value = valueText(element.properties[caption]);
  return value === "" ? idText(element.ref) : value;
}

/** What an edge is called beside its line. */
export function edgeName(edge: Edge): string {
  return shorten(captionOf(edge) ?? edge.label);
}

/** What an element is called: at most a line. */
export function nameOf(element: Element): string {
  return shorten(fullNameOf(element));
}

function fullNameOf(element: Element): string {
  const chosen = captionOf(element);
  if (chosen !== null) return chosen;
  for (const key of NAME_KEYS) {
    const value = element.properties[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return element.type === "edge" ? element.label : idText(element.ref);
}

export function nameOfRef(ref: string): string {
  const element = lastSeen.get(ref);
  return element ? nameOf(element) : shorten(idText(ref));
}

/** A value in a table, where no two values look alike. */
export function shownValue(value: unknown): string {
  return emptyText(value) ?? (Array.isArray(value) ? value.map(shownValue).join(", ") : valueText(value));
}

export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  if (typeof value === "object") return JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
  return String(value);
}
