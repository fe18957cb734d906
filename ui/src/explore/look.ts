// How elements look: names, colours of labels, colours of differences.

import { createMemo, createRoot } from "solid-js";
import { isDark } from "../core/prefs";
import { schemaOf } from "../core/schema";
import { graph } from "../core/server";
import { emptyText, shorten } from "../core/text";
import { dateText } from "../core/times";
import type { Edge, Element } from "./api";
import { hash, huesOf } from "./hues";
import { PALETTE, PALETTE_DARK } from "./palette";
import { lastSeen, summary } from "./state";
import { styleOf, type Kind } from "./style";

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

/** Labels in the order in which they were made, or by name where the schema may not be read. */
function labelsOf(kind: Kind): string[] {
  const found = schemaOf(graph());
  const known = kind === "vertex" ? found?.vertexlabels : found?.edgelabels;
  if (known?.length) return [...known].sort((a, b) => a.id - b.id).map(({ name }) => name);
  const counted = kind === "vertex" ? summary()?.vertices : summary()?.edges;
  return (counted ?? []).map(({ label }) => label).sort();
}

const hues = createRoot(() => ({
  vertex: createMemo(() => huesOf(graph(), labelsOf("vertex"), PALETTE.length)),
  edge: createMemo(() => huesOf(`${graph()} edges`, labelsOf("edge"), PALETTE.length)),
}));

function hueOf(kind: Kind, label: string): string {
  return shade(String(hues[kind]().get(label) ?? Math.floor(hash(label) * PALETTE.length)));
}

export function colorOf(label: string): string {
  return chosenColor("vertex", label) ?? hueOf("vertex", label);
}

export function edgeColorOf(label: string): string {
  return chosenColor("edge", label) ?? hueOf("edge", label);
}

export interface Colors {
  background: string;
  text: string;
  faint: string;
  accent: string;
  added: string;
  removed: string;
  changed: string;
  same: string;
}

export function colors(): Colors {
  return isDark()
    ? {
        background: "#14181b", text: "#e4e8ea", faint: "#4a545b", accent: "#58c4cc",
        added: "#2fc39a", removed: "#f0874e", changed: "#e8b93c", same: "#59646b",
      }
    : {
        background: "#fbfaf7", text: "#1d2529", faint: "#c3c7c6", accent: "#0f5c63",
        added: "#007a5a", removed: "#c24a00", changed: "#c98a00", same: "#b3b9bb",
      };
}

const NAME_KEYS = ["name", "title", "displayName", "display_name", "qualifiedName"];

/** The id as a person writes it: without quotes and the label's number. */
export function idText(ref: string): string {
  const plain = /^U?"/.test(ref) ? ref.replace(/^U?"|"$/g, "") : ref;
  return plain.replace(/^\d+:/, "");
}

/** The text that a style chose for an element; null if its style leaves that open. */
function captionOf(element: Element): string | null {
  const { caption } = styleOf(element.type, element.label);
  if (caption === undefined) return null;
  if (caption === "~id") return idText(element.ref);
  if (caption === "~label") return element.label;
  const value = propertyText(caption, element.properties[caption]);
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

const dateKeys = createRoot(() =>
  createMemo(() => new Set(schemaOf(graph())?.propertykeys.filter(({ data_type }) => data_type === "DATE").map(({ name }) => name))),
);

/** A property's value with dates as dates: most of them are days, without a time. */
export function propertyValue(key: string, value: unknown): unknown {
  if (!dateKeys().has(key)) return value;
  const short = (each: unknown) => (typeof each === "string" ? dateText(each) : each);
  return Array.isArray(value) ? value.map(short) : short(value);
}

/** A property in a table, where no two values look alike. */
export function shownProperty(key: string, value: unknown): string {
  return shownValue(propertyValue(key, value));
}

export function propertyText(key: string, value: unknown): string {
  return valueText(propertyValue(key, value));
}

/** Whether the ids of a label are keys that people gave, and not numbers of the server. */
function hasKeys({ type, label }: Element): boolean {
  const strategy = type === "vertex" ? schemaOf(graph())?.vertexlabels.find(({ name }) => name === label)?.id_strategy : undefined;
  return strategy === "PRIMARY_KEY" || strategy === "CUSTOMIZE_STRING" || strategy === "CUSTOMIZE_NUMBER";
}

/** What tells an element from others that have the same name: its key, else the first property that differs, else the id. */
export function tellingOf(element: Element, same: readonly Element[]): string {
  const name = nameOf(element);
  const key = idText(element.ref);
  if (hasKeys(element) && key !== name) return shorten(key);
  for (const [key, value] of Object.entries(element.properties)) {
    const text = propertyText(key, value);
    if (text === "" || text === name) continue;
    if (same.every((other) => other.ref === element.ref || propertyText(key, other.properties[key]) !== text)) return shorten(text);
  }
  return idText(element.ref);
}
