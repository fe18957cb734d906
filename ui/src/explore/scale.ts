// From the changes of what is shown to the stops of the two sliders.

import { isoOf, millisOf } from "../core/times";
import type { Timeline } from "./api";
import { distinctTimes, ticks } from "./axis";

export interface Stop {
  /** What the time is set to; null is now. */
  value: string | null;
  /** Where it is on the track, 0 to 1. */
  at: number;
  /** How many states begin, end or change there, or were recorded. */
  weight: number;
}

export interface Scale {
  stops: Stop[];
  nowAt: number;
  /** The part of the track that is seen first; the rest has few and far stops. */
  home: Part;
  /** The ticks of a part of the track in so many pixels: stops that would touch are one. */
  marks: (seen: Part, pixels: number) => Stop[];
  /** Where any time is on the track. */
  place: (value: string | null) => number;
  /** The dates below the part of the track between two places, in so many pixels. */
  dates: (from: number, to: number, pixels: number) => { at: number; text: string }[];
  /** The time at a place between the stops, as exact as the seen part of the track tells. */
  timeAt: (place: number, seen: number) => string;
}

/** A part of the track. */
export interface Part {
  from: number;
  to: number;
}

const DAY = 86_400_000;
/** The share of the instants that the first look at the track may leave out. */
const FAR_SHARE = 0.02;
/** Commits that are no further apart are of one change: a load has many. */
const ONE_CHANGE_MS = 1_000;
/** The part of its room that the commits of one change take, beside other changes and alone. */
const [CHANGE_PART, ONLY_PART] = [0.08, 0.65];
/** Pixels between two ticks of one change. */
const TICK_ROOM = 24;
/** Pixels that the time below a commit needs. */
const TIME_ROOM = 108;
/** What times are rounded to, where more of it is seen than this. */
const ROUNDED_MIN = 60;
const ROUNDS = [DAY, 3_600_000, 60_000, 1000];

/** What sorted instants span without the few that lie far from all others. */
function nearSpan(sorted: readonly number[], now: number): [number, number] {
  const spanOf = (left: number, right: number): [number, number] => [
    Math.min(now - 365 * DAY, sorted[left] ?? now),
    Math.max(now, sorted[sorted.length - 1 - right] ?? now),
  ];
  const all = spanOf(0, 0);
  if (sorted.length < 3) return all;
  const most = Math.max(1, Math.floor(sorted.length * FAR_SHARE));
  const lengthOf = ([from, to]: [number, number]) => to - from;
  let best = all;
  for (let left = 0; left <= most; left += 1) {
    for (const right of left === most ? [0] : [0, most - left]) {
      const found = spanOf(left, right);
      if (lengthOf(found) < lengthOf(best)) best = found;
    }
  }
  return lengthOf(best) * 2 <= lengthOf(all) ? best : all;
}

/** Valid time: a straight line from the first change to the last, or to now. */
export function validScale(timeline: Timeline | null, now: number): Scale {
  const changes = (timeline?.valid ?? []).map((entry) => ({
    value: entry.at,
    millis: millisOf(entry.at),
    weight: entry.begins + entry.ends + entry.changes,
  }));
  const known = changes.filter((change) => !Number.isNaN(change.millis)).sort((a, b) => a.millis - b.millis);
  const first = Math.min(now - 365 * DAY, known[0]?.millis ?? now);
  const last = Math.max(now, known[known.length - 1]?.millis ?? now);
  const near = nearSpan(known.map((change) => change.millis), now);
  const margin = (near[1] - near[0]) * 0.03;
  const [from, width] = [first - margin, last - first + 2 * margin];
  const placeOf = (millis: number) => Math.min(1, Math.max(0, (millis - from) / width));
  const nowAt = placeOf(now);
  const place = (value: string | null) => (value === null ? nowAt : placeOf(millisOf(value)));
  const stops: Stop[] = known.map((change) => ({ value: change.value, at: placeOf(change.millis), weight: change.weight }));
  stops.push({ value: null, at: nowAt, weight: 0 });
  stops.sort((a, b) => a.at - b.at);
  const timeAt = (at: number, seen: number) => {
    const unit = ROUNDS.find((each) => width * seen > ROUNDED_MIN * each) ?? 1;
    return isoOf(Math.round((from + at * width) / unit) * unit);
  };
  const dates: Scale["dates"] = (start, end, pixels) =>
    ticks(from + start * width, from + end * width, pixels).map(({ millis, text }) => ({ at: (millis - from) / width, text }));
  const home = { from: placeOf(near[0] - margin), to: placeOf(near[1] + margin) };
  const marks: Scale["marks"] = (seen) => stops.filter((stop) => stop.value !== null && stop.at >= seen.from && stop.at <= seen.to);
  return { stops, nowAt, home, marks, place, timeAt, dates };
}

/** The commits of a timeline by change: those of one load are together. Each has the version after it. */
export function knownChanges(timeline: Timeline | null): { version: string; millis: number; weight: number }[][] {
  const changes: { version: string; millis: number; weight: number }[][] = [];
  let before = -Infinity;
  for (const entry of timeline?.recorded ?? []) {
    const version = entry.last_version;
    const millis = millisOf(version);
    const commit = { version, millis, weight: entry.puts + entry.deletes };
    if (millisOf(entry.version) - before <= ONE_CHANGE_MS) changes[changes.length - 1]!.push(commit);
    else changes.push([commit]);
    before = millis;
  }
  return changes;
}

/**
 * Transaction time: equal room for each change, however close they are to each other. The commits of
 * one change, as of a load, lie close together at its place; now is the last.
 */
export function knownScale(timeline: Timeline | null): Scale {
  const changes = knownChanges(timeline);
  const step = 0.95 / Math.max(1, changes.length);
  const spread = changes.length === 1 ? ONLY_PART : CHANGE_PART;
  const placed = changes.map((commits, index) =>
    commits.map((commit, order) => {
      const part = commits.length === 1 ? 0 : (order - commits.length + 1) / commits.length;
      return { ...commit, at: (index + (1 + spread) / 2 + part * spread) * step };
    }),
  );
  const commits = placed.flat();
  const nowAt = 0.985;
  const stops: Stop[] = commits.map(({ version, at, weight }) => ({ value: version, at, weight }));
  stops.push({ value: null, at: nowAt, weight: 0 });
  const place = (value: string | null) => {
    if (value === null) return nowAt;
    const exact = stops.find((stop) => stop.value === value);
    if (exact) return exact.at;
    // Between the commits before and after it.
    const millis = millisOf(value);
    const after = commits.findIndex((commit) => commit.millis > millis);
    if (after === 0) return 0;
    const [left, right] = [commits[after < 0 ? commits.length - 1 : after - 1], commits[after]];
    return left === undefined ? 0 : (left.at + (right?.at ?? nowAt)) / 2;
  };
  const timeAt = (at: number) => {
    const nearest = commits.reduce<(typeof commits)[number] | undefined>(
      (best, commit) => (best && Math.abs(best.at - at) <= Math.abs(commit.at - at) ? best : commit), undefined,
    );
    return nearest?.version ?? isoOf(Date.now());
  };
  const marks: Scale["marks"] = (seen, pixels) =>
    placed.flatMap((of): Stop[] => {
      const [first, last] = [of[0]!, of[of.length - 1]!];
      const room = ((last.at - first.at) / (seen.to - seen.from)) * pixels;
      const weight = of.reduce((sum, commit) => sum + commit.weight, 0);
      const shown = room < TICK_ROOM * (of.length - 1) ? [{ ...last, weight }] : of;
      return shown.map((commit) => ({ value: commit.version, at: commit.at, weight: commit.weight }));
    }).filter((stop) => stop.at >= seen.from && stop.at <= seen.to);
  const dates: Scale["dates"] = (start, end, pixels) => {
    // The last change has its time, and each one before it that has the room.
    const shown: { at: number; millis: number }[] = [];
    for (const mark of marks({ from: start, to: end }, pixels).reverse()) {
      const right = shown[0];
      if (right && ((right.at - mark.at) / (end - start)) * pixels < TIME_ROOM) continue;
      shown.unshift({ at: mark.at, millis: millisOf(mark.value!) });
    }
    const texts = distinctTimes(shown.map(({ millis }) => millis));
    return shown.map(({ at }, index) => ({ at, text: texts[index]! }));
  };
  return { stops, nowAt, home: { from: 0, to: 1 }, marks, place, timeAt, dates };
}

/** The stop before or after a place, `count` steps away. */
export function stopFrom(scale: Scale, at: number, count: number): Stop | undefined {
  const near = 1e-9;
  if (count < 0) {
    const before = scale.stops.filter((stop) => stop.at < at - near);
    return before[Math.max(0, before.length + count)];
  }
  const after = scale.stops.filter((stop) => stop.at > at + near);
  return after[Math.min(after.length - 1, count - 1)];
}
