import assert from "node:assert/strict";
import test from "node:test";
import { knownChanges, knownScale, validScale } from "../src/explore/scale";
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

const timelineOf = (valid: string[], recorded: [string, number][] = []) => ({
  valid: valid.map((at) => ({ at, last: at, begins: 1, ends: 0, changes: 0 })),
  recorded: recorded.map(([at, puts]) => {
    const version = String(BigInt(Date.parse(at)) * 1000n << 8n);
    return { at, last: at, version, last_version: version, puts, deletes: 0, corrections: 0 };
  }),
}) as unknown as Timeline;

test("the track begins with the instants that are near each other", () => {
  const now = Date.UTC(2026, 0, 1);
  const days = Array.from({ length: 100 }, (_, at) => `20${String(10 + (at % 15))}-0${1 + (at % 9)}-01`);
  const scale = validScale(timelineOf(["1900-01-01", ...days]), now);
  const first = scale.dates(scale.home.from, scale.home.to, 600).map(({ text }) => Number(text.slice(0, 4)));
  assert.ok(first[0]! >= 2009 && first.length >= 4, first.join());
  // All of it reaches the rest.
  assert.equal(scale.marks({ from: 0, to: 1 }, 600).some(({ value }) => value === "1900-01-01"), true);
  assert.equal(scale.marks(scale.home, 600).some(({ value }) => value === "1900-01-01"), false);
  // Where nothing lies apart, all is seen.
  assert.deepEqual(validScale(timelineOf(days), now).home, { from: 0, to: 1 });
  assert.deepEqual(validScale(null, now).home, { from: 0, to: 1 });
});

test("the commits of a load are one tick, and the times below differ", () => {
  const load = Array.from({ length: 25 }, (_, at): [string, number] => [`2026-11-30T14:24:55.${String(100 + at * 9)}Z`, 10]);
  const timeline = timelineOf([], [...load, ["2026-11-30T14:29:03.5Z", 1]]);
  assert.deepEqual(knownChanges(timeline).map((change) => change.length), [25, 1]);
  const scale = knownScale(timeline);
  const marks = scale.marks({ from: 0, to: 1 }, 600);
  assert.deepEqual(marks.map(({ weight }) => weight), [250, 1]);
  assert.equal(marks[0]!.value, timeline.recorded[24]!.version, "the tick of a load is its end");
  assert.deepEqual(scale.dates(0, 1, 600).map(({ text }) => text), ["2026-11-30 14:24", "14:29"]);
  // Every commit is a stop, and a closer look has a tick for each.
  assert.equal(scale.stops.length, 27);
  const at = marks[0]!.at;
  assert.equal(scale.marks({ from: at - 0.05, to: at + 0.005 }, 3000).length, 25);
  const texts = scale.dates(at - 0.0005, at + 0.00001, 600).map(({ text }) => text);
  assert.equal(new Set(texts).size, texts.length);
});
