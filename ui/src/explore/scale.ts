// From the changes of what is shown to the stops of the two sliders.

import { isoOf, millisOf } from "../core/times";
import type { Timeline } from "./api";
import { ticks } from "./axis";

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
  /** Where any time is on the track. */
  place: (value: string | null) => number;
  /** The dates below the part of the track between two places, in so many pixels. */
  dates: (from: number, to: number, pixels: number) => { at: number; text: string }[];
  /** The time at a place between the stops, as exact as the seen part of the track tells. */
  timeAt: (place: number, seen: number) => string;
}

const DAY = 86_400_000;
/** What times are rounded to, where more of it is seen than this. */
const ROUNDED_MIN = 60;
const ROUNDS = [DAY, 3_600_000, 60_000, 1000];

/** Valid time: a straight line from the first change to the last, or to now. */
export function validScale(timeline: Timeline | null, now: number): Scale {
  const changes = (timeline?.valid ?? []).map((entry) => ({
    value: entry.at,
    millis: millisOf(entry.at),
    weight: entry.begins + entry.ends + entry.changes,
  }));
  const known = changes.filter((change) => !Number.isNaN(change.millis));
  const first = Math.min(now - 365 * DAY, ...known.map((change) => change.millis));
  const last = Math.max(now, ...known.map((change) => change.millis));
  const margin = (last - first) * 0.03;
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
  return { stops, nowAt, place, timeAt, dates };
}

/** Transaction time: a step a commit, however close they are to each other; now is the last. */
export function knownScale(timeline: Timeline | null): Scale {
  const commits = timeline?.recorded ?? [];
  const step = 0.95 / Math.max(1, commits.length);
  const stops: Stop[] = commits.map((commit, index) => ({
    value: commit.version,
    at: (index + 0.5) * step,
    weight: commit.puts + commit.deletes,
  }));
  const times = commits.map((commit) => millisOf(commit.version));
  const nowAt = 0.985;
  stops.push({ value: null, at: nowAt, weight: 0 });
  const place = (value: string | null) => {
    if (value === null) return nowAt;
    const exact = stops.find((stop) => stop.value === value);
    if (exact) return exact.at;
    const millis = millisOf(value);
    const after = times.filter((time) => time <= millis).length;
    return after === 0 ? 0 : after * step;
  };
  const timeAt = (at: number) => {
    const index = Math.min(commits.length - 1, Math.max(0, Math.floor(at / step)));
    return commits[index]?.version ?? isoOf(Date.now());
  };
  const dates: Scale["dates"] = (start, end, pixels) => {
    // Commits lie at equal distances: those that have room get their time.
    const shown = commits.map((_, index) => index).filter((index) => (index + 0.5) * step >= start && (index + 0.5) * step <= end);
    const every = Math.max(1, Math.ceil(shown.length / Math.max(1, Math.floor(pixels / 96))));
    let before = "";
    return shown.filter((_, order) => order % every === 0).map((index) => {
      const text = new Date(times[index]!).toISOString();
      const isSameDay = text.slice(0, 10) === before;
      before = text.slice(0, 10);
      return { at: (index + 0.5) * step, text: isSameDay ? text.slice(11, 19) : before };
    });
  };
  return { stops, nowAt, place, timeAt, dates };
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
