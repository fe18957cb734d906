// What a change does to the states of an element: the request, and the periods before and after.

import { millisOf } from "../core/times";

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
  unset: string[];
}

const start = (from: string | null) => (from === null ? -Infinity : millisOf(from));
const end = (to: string | null) => (to === null ? Infinity : millisOf(to));

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
      const list = JSON.parse(text) as unknown;
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
      return Number.isNaN(millisOf(text.trim().replace(" ", "T"))) ? { wrong: "2024-05-01 12:00:00" } : { value: text.trim() };
    default:
      return { value: text };
  }
}
