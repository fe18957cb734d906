// Styles of labels: colour, size and caption. All users share them; who may not change the schema
// keeps its own in the browser.

import { createMemo, createRoot, createSignal } from "solid-js";
import { call, messageOf } from "../core/http";
import { graph, graphPath } from "../core/server";
import { read, keep } from "../core/prefs";
import { readSchema, schemaOf } from "../core/schema";
import { fromHubble, STYLE_KEY, toHubble } from "./hubble";

export type Size = "small" | "normal" | "large";
export type Kind = "vertex" | "edge";

export interface Style {
  /** A place in the palette, so that each theme has its own shade, or a colour as `#rrggbb`. */
  color?: string;
  /** The property whose values have the colours, instead of one for the label. */
  by?: string;
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
  const { color, by, size, caption } = value as Record<string, unknown>;
  return {
    ...(typeof color === "string" && COLOR.test(color) ? { color } : {}),
    ...(typeof by === "string" ? { by } : {}),
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

/** What this browser keeps for a graph. */
let held: { graph: string; styles: Styles } | null = null;
const [changed, setChanged] = createSignal(0);
/** Why the last style could not be shared; null if it was. */
const [unshared, setUnshared] = createSignal<string | null>(null);
export { unshared };

function localStyles(): Styles {
  changed();
  const name = graph();
  if (held?.graph !== name) held = { graph: name, styles: parseStyles(read(`style.${name}`)) };
  return held.styles;
}

const keyOf = (kind: Kind, label: string) => `${kind}:${label}`;

function sharedStyles(): Styles {
  const found = schemaOf(graph());
  const pairs = (kind: Kind, labels: { name: string; user_data: Record<string, unknown> }[] = []) =>
    labels.flatMap(({ name, user_data }): [string, Style][] => {
      const style = fromHubble(kind, user_data[STYLE_KEY]);
      return style ? [[keyOf(kind, name), style]] : [];
    });
  return Object.fromEntries([...pairs("vertex", found?.vertexlabels), ...pairs("edge", found?.edgelabels)]);
}

/** The styles of the graph that is shown: those that all users share, and over them this browser's own. */
export const styles = createRoot(() => createMemo<Styles>(() => ({ ...sharedStyles(), ...localStyles() })));

export function styleOf(kind: Kind, label: string): Style {
  return styles()[keyOf(kind, label)] ?? {};
}

function keepLocal(kind: Kind, label: string, style: Style | null): void {
  const next = { ...localStyles() };
  delete next[keyOf(kind, label)];
  if (style) next[keyOf(kind, label)] = style;
  const kept = Object.fromEntries(Object.entries(next).slice(-KEPT_MAX));
  held = { graph: graph(), styles: kept };
  setChanged((count) => count + 1);
  keep(`style.${graph()}`, JSON.stringify(kept));
}

/** Writes the style into the label's user data, where all users see it. */
async function share(kind: Kind, label: string, style: Style | null): Promise<void> {
  const path = `${graphPath()}/schema/${kind}labels/${encodeURIComponent(label)}`;
  // Others may have stored what the page does not know.
  const found = await readSchema(true);
  const labels = kind === "vertex" ? found.vertexlabels : found.edgelabels;
  const stored = labels.find(({ name }) => name === label)?.user_data[STYLE_KEY];
  if (style === null && stored === undefined) return;
  const text = toHubble(kind, style ?? {}, stored);
  const isEmpty = text === "{}";
  await call(path, {
    method: "PUT",
    query: { action: isEmpty ? "eliminate" : "append" },
    body: { name: label, user_data: { [STYLE_KEY]: isEmpty ? "" : text } },
  });
  await readSchema(true);
}

// One after the other, so that the last choice is the one that stays.
let sharing: Promise<void> = Promise.resolve();

/** Changes the style of a label; null takes it back. Where it cannot be shared this browser keeps it. */
export function setStyle(kind: Kind, label: string, style: Style | null): void {
  const [name, mine] = [graph(), style ?? {}];
  keepLocal(kind, label, mine);
  sharing = sharing.then(async () => {
    if (graph() !== name) return;
    try {
      await share(kind, label, Object.keys(mine).length ? mine : null);
      setUnshared(null);
      if (graph() === name && localStyles()[keyOf(kind, label)] === mine) keepLocal(kind, label, null);
    } catch (error) {
      setUnshared(messageOf(error));
    }
  });
}
