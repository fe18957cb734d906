// What a change does to the states of an element: its period, and the states before and after.

import { formatJson, parseJson } from "../core/json";
import { isVersion, millisOf, parseTime } from "../core/times";

export interface State {
  from: string | null;
  to: string | null;
  properties: Record<string, unknown>;
}

export interface Change {
  kind: "set" | "delete";
  from: string | null;
  to: string | null;
  set: Record<string, unknown>;
  /** New members of lists and sets. The server adds them to those that each state has. */
  add: Record<string, Added>;
  unset: string[];
}

interface Added {
  members: unknown[];
  isSet: boolean;
}

const start = (from: string | null) => (from === null ? -Infinity : millisOf(from));
const end = (to: string | null) => (to === null ? Infinity : millisOf(to));

/**
 * A period as a person types it. A start of null is the instant of the change, an end of null is none.
 * `now` is the instant that the form shows as now.
 */
export function periodOf(from: string, to: string, now: string): { from: string | null; to: string | null } | { wrong: "timeWrong" | "editPeriodEmpty" } {
  const [first, last] = [from, to].map((text) => parseTime(text, millisOf(now)));
  if (!first || !last || "wrong" in first || "wrong" in last) return { wrong: "timeWrong" };
  // A commit version is no instant of valid time.
  if ([first, last].some(({ value }) => value !== null && isVersion(value))) return { wrong: "timeWrong" };
  const until = to.trim() === "" ? null : (last.value ?? now);
  return end(until) <= start(first.value ?? now) ? { wrong: "editPeriodEmpty" } : { from: first.value, to: until };
}

/**
 * Whether a change from now on must say when now is. An update without a period writes the present
 * state for ever (docs/time.md): over its end, and over planned states.
 */
export function needsStart(states: readonly State[], now: string): boolean {
  const [only, ...others] = states.filter((state) => end(state.to) > start(now));
  return !only || others.length > 0 || only.to !== null || start(only.from) > start(now);
}

/** What must be added to a list or set so that it becomes another; null where something would have to go. */
export function missingMembers(stored: readonly unknown[], wanted: readonly unknown[], isSet: boolean): unknown[] | null {
  const [old, all] = [stored, wanted].map((members) => members.map((member) => formatJson(member, 0))) as [string[], string[]];
  if (isSet) return old.every((member) => all.includes(member)) ? wanted.filter((_, at) => !old.includes(all[at]!)) : null;
  return old.every((member, at) => member === all[at]) ? wanted.slice(old.length) : null;
}

function joined(stored: unknown, { members, isSet }: Added): unknown[] {
  const all: unknown[] = [...(Array.isArray(stored) ? (stored as unknown[]) : []), ...members];
  return isSet ? [...new Map(all.map((member) => [formatJson(member, 0), member])).values()] : all;
}

/** The states after a change: it holds in its period, and the states keep the rest of theirs. */
export function changed(states: readonly State[], change: Change): State[] {
  const found: State[] = [];
  for (const state of states) {
    const isOutside = end(state.to) <= start(change.from) || start(state.from) >= end(change.to);
    if (isOutside) {
      found.push(state);
      continue;
    }
    const inside = { from: later(state.from, change.from), to: earlier(state.to, change.to) };
    if (start(state.from) < start(change.from)) found.push({ ...state, to: change.from });
    if (change.kind === "set") {
      const properties = { ...state.properties, ...change.set };
      for (const [name, added] of Object.entries(change.add)) properties[name] = joined(properties[name], added);
      for (const name of change.unset) delete properties[name];
      found.push({ ...inside, properties });
    }
    if (end(state.to) > end(change.to)) found.push({ ...state, from: change.to });
  }
  return found;
}

function later(one: string | null, other: string | null): string | null {
  return start(one) >= start(other) ? one : other;
}

function earlier(one: string | null, other: string | null): string | null {
  return end(one) <= end(other) ? one : other;
}

/** A text as a value of a type of the schema; a failure says what was expected. */
export function valueOf(text: string, type: string, cardinality = "SINGLE"): { value: unknown } | { wrong: string } {
  if (cardinality !== "SINGLE") {
    try {
      const list = parseJson(text);
      return Array.isArray(list) ? { value: list } : { wrong: '["a", "b"]' };
    } catch {
      return { wrong: '["a", "b"]' };
    }
  }
  switch (type) {
    case "BYTE":
    case "INT":
    case "LONG":
      if (!/^-?\d+$/.test(text.trim())) return { wrong: "123" };
      return { value: Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text.trim()) };
    case "FLOAT":
    case "DOUBLE":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? { value: Number(text) } : { wrong: "1.5" };
    case "BOOLEAN":
      return /^(true|false)$/i.test(text.trim()) ? { value: text.trim().toLowerCase() === "true" } : { wrong: "true, false" };
    case "DATE":
      return Number.isNaN(millisOf(text.trim())) ? { wrong: "2024-05-01 12:00:00" } : { value: text.trim() };
    default:
      return { value: text };
  }
}
