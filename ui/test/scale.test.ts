import assert from "node:assert/strict";
import test from "node:test";
import { validScale } from "../src/explore/scale";
import type { Timeline } from "../src/explore/api";

test("a time between the stops is as exact as the part of the track that is seen", () => {
  const change = { at: "2020-01-01T00:00:00Z", last: "", begins: 1, ends: 0, changes: 0 };
  const scale = validScale({ valid: [change], recorded: [] } as unknown as Timeline, Date.UTC(2026, 0, 1));
  assert.match(scale.timeAt(0.4321, 1), /^\d{4}-\d\d-\d\d(T00:00:00(\.000)?Z)?$/);
  // Two days are seen: the minute counts.
  const part = 2 / (6 * 365.25 * 1.06);
  const days = new Set(Array.from({ length: 100 }, (_, at) => scale.timeAt(0.4321 + (part * at) / 100, part)));
  assert.equal(days.size, 100);
  assert.ok([...days].every((time) => /:00(\.000)?Z$/.test(time)), [...days].join());
});
