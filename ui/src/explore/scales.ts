// Colours by the values of a property, where a label's style wants them: a scale of numbers and
// dates, or a colour for each of the most frequent values.

import { createMemo, createRoot } from "solid-js";
import { millisOf } from "../core/times";
import type { Element } from "./api";
import { NEUTRAL, rampAt } from "./emphasis";
import { shade, shownValue } from "./look";
import { drawn } from "./drawn";
import { styleOf, styles, type Kind } from "./style";

export type Scale =
  | { key: string; kind: "numbers"; least: number; greatest: number; isDate: boolean }
  | { key: string; kind: "values"; places: ReadonlyMap<string, string>; others: number };

/** The colours of the palette for values; the grey one is for all others. */
const PLACES = ["0", "1", "2", "3", "4", "5", "7"];
export const OTHER = String(NEUTRAL);

const DATE = /^-?\d{4,6}-\d{2}-\d{2}([T ].*)?$/;

/** The number or the instant that a value is; null for others. */
export function measureOf(value: unknown): number | null {
  if (typeof value === "number" || typeof value === "bigint") return Number(value);
  if (typeof value !== "string" || !DATE.test(value)) return null;
  const millis = millisOf(value);
  return Number.isNaN(millis) ? null : millis;
}

/** The scale of the values that the elements of a label have; null if none has one. */
export function scaleFrom(key: string, values: readonly unknown[]): Scale | null {
  const there = values.filter((value) => value !== undefined && value !== null);
  if (there.length === 0) return null;
  const measures = there.map(measureOf);
  if (measures.every((each) => each !== null)) {
    let [least, greatest] = [Infinity, -Infinity];
    for (const each of measures) [least, greatest] = [Math.min(least, each!), Math.max(greatest, each!)];
    return { key, kind: "numbers", least, greatest, isDate: there.every((value) => typeof value === "string") };
  }
  const counts = new Map<string, number>();
  for (const value of there) counts.set(shownValue(value), (counts.get(shownValue(value)) ?? 0) + 1);
  const kinds = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([kind]) => kind);
  const places = new Map(kinds.slice(0, PLACES.length).map((kind, at) => [kind, PLACES[at]!]));
  return { key, kind: "values", places, others: Math.max(0, kinds.length - PLACES.length) };
}

/** Where a value is on a scale, as a colour; that of all others without one. */
export function colorOn(scale: Scale, value: unknown): string {
  if (value === undefined || value === null) return shade(OTHER);
  if (scale.kind === "values") return shade(scale.places.get(shownValue(value)) ?? OTHER);
  const measure = measureOf(value);
  if (measure === null) return shade(OTHER);
  return rampAt(scale.greatest > scale.least ? (measure - scale.least) / (scale.greatest - scale.least) : 1);
}

const keyOf = (kind: Kind, label: string) => `${kind}:${label}`;

/** The scales of what is drawn, by label. */
const scales = createRoot(() =>
  createMemo(() => {
    const found = new Map<string, Scale>();
    if (!Object.values(styles()).some(({ by }) => by !== undefined)) return found;
    const values = new Map<string, unknown[]>();
    const { vertices, edges } = drawn();
    for (const element of [...vertices, ...edges]) {
      const { by } = styleOf(element.type, element.label);
      if (by === undefined) continue;
      const key = keyOf(element.type, element.label);
      const held = values.get(key);
      if (held) held.push(element.properties[by]);
      else values.set(key, [element.properties[by]]);
    }
    for (const [key, all] of values) {
      const at = key.indexOf(":");
      const scale = scaleFrom(styleOf(key.slice(0, at) as Kind, key.slice(at + 1)).by!, all);
      if (scale) found.set(key, scale);
    }
    return found;
  }),
);

export function scaleOf(kind: Kind, label: string): Scale | undefined {
  return scales().get(keyOf(kind, label));
}

/** The colour of an element by its property; null where its label has none. */
export function colorByProperty(element: Element): string | null {
  const scale = scaleOf(element.type, element.label);
  return scale ? colorOn(scale, element.properties[scale.key]) : null;
}
