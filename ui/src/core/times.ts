// The two times that everything on the screen is read at.

import { createMemo, createRoot, createSignal } from "solid-js";

/** A point of both times. null is now. */
export interface Point {
  /** Valid time: an instant. */
  trueAt: string | null;
  /** Transaction time: an instant or a commit version. */
  knownAt: string | null;
}

export const NOW: Point = { trueAt: null, knownAt: null };

const [point, setPoint] = createSignal<Point>(NOW, {
  equals: (a, b) => a.trueAt === b.trueAt && a.knownAt === b.knownAt,
});
export { point, setPoint };

export const isNow = createRoot(() => createMemo(() => point().trueAt === null && point().knownAt === null));

export function timesOf(at: Point): { as_of?: string; as_of_tx?: string } {
  return {
    ...(at.trueAt === null ? {} : { as_of: at.trueAt }),
    ...(at.knownAt === null ? {} : { as_of_tx: at.knownAt }),
  };
}

const UNITS: Record<string, number> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  m: 30 * 86_400_000,
  y: 365 * 86_400_000,
};

const INSTANT = /^([+-]?\d{4,6}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Milliseconds of an instant in the server's form, or of a commit version. NaN if it is neither. */
export function millisOf(text: string): number {
  if (isVersion(text)) return Number(BigInt(text) >> 8n) / 1000;
  const parts = INSTANT.exec(text);
  if (!parts) return NaN;
  const [, day, time = "00:00", zone = "Z"] = parts;
  // `Date` takes a time without an offset for one of the browser's zone, the server for UTC. `Date`
  // knows milliseconds, the server microseconds.
  return Date.parse(`${day}T${time.replace(/(\.\d{3})\d+/, "$1")}${zone.toUpperCase().replace(/(\d{2})(\d{2})$/, "$1:$2")}`);
}

/** An instant of a period: its start, or, where it has always been so, one just before its end, which is not in it. */
export function instantIn(from: string | null, to: string | null): string | null {
  return from ?? (to === null ? null : isoOf(millisOf(to) - 1));
}

export function isVersion(text: string): boolean {
  return /^\d{12,}$/.test(text);
}

export function isoOf(millis: number): string {
  const text = new Date(millis).toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.replace(".000Z", "Z");
}

/** Whether the calendar has a day: `Date` takes February 30 for one of March. */
function isDay(day: string): boolean {
  const millis = millisOf(day);
  return !Number.isNaN(millis) && isoOf(millis) === day;
}

/** What a person may type for a time: a date, RFC 3339, `-7d`, a commit version, or nothing and `now` for now. */
export function parseTime(text: string, now = Date.now()): { value: string | null } | { wrong: true } {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.toLowerCase() === "now" || trimmed === "现在") return { value: null };
  const relative = /^([+-])(\d+)\s*(s|min|h|d|w|m|y)$/.exec(trimmed);
  if (relative) {
    const [, sign, count, unit] = relative;
    const distance = Number(count) * (UNITS[unit ?? "d"] ?? 0);
    return { value: isoOf(now + (sign === "-" ? -distance : distance)) };
  }
  if (isVersion(trimmed)) return { value: trimmed };
  const [, dayOfMonth, month, year] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(trimmed) ?? [];
  if (year !== undefined) {
    const day = `${year}-${month!.padStart(2, "0")}-${dayOfMonth!.padStart(2, "0")}`;
    return isDay(day) ? { value: day } : { wrong: true };
  }
  if (/^\d{4}$/.test(trimmed)) return { value: `${trimmed}-01-01` };
  if (/^\d{4}-\d{2}$/.test(trimmed)) return { value: `${trimmed}-01` };
  return /^\d{4}-/.test(trimmed) && isDay(trimmed.slice(0, 10)) && !Number.isNaN(millisOf(trimmed)) ? { value: trimmed } : { wrong: true };
}

/** An instant or commit version as short as it is exact to the second. */
export function shortTime(text: string, language: string): string {
  const millis = millisOf(text);
  if (Number.isNaN(millis)) return text;
  const date = new Date(millis);
  const iso = date.toISOString();
  if (iso.endsWith("T00:00:00.000Z")) return iso.slice(0, 10);
  const withMillis = isVersion(text) || date.getUTCMilliseconds() !== 0;
  const options: Intl.DateTimeFormatOptions = {
    timeZone: "UTC",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
    ...(withMillis ? { fractionalSecondDigits: 3 } : {}),
  };
  return `${iso.slice(0, 10)} ${new Intl.DateTimeFormat(language, options).format(date)}`;
}

/** A value of a DATE property: without a time if it is midnight. */
export function dateText(text: string): string {
  return text.replace(/^([+-]?\d{4,6}-\d{2}-\d{2})[ T]00:00(:00(\.0+)?)?Z?$/, "$1");
}
