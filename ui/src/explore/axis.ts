// The dates below a track: as many as fit, at round instants.

const DAY = 86_400_000;
const MINUTE = 60_000;

interface Step {
  /** About how long it is, in milliseconds. */
  length: number;
  /** The instant of the step at or before, and the one after. */
  floor: (millis: number) => number;
  next: (millis: number) => number;
  text: (millis: number) => string;
}

const iso = (millis: number) => new Date(millis).toISOString();

function fixed(length: number, text: Step["text"]): Step {
  return { length, floor: (at) => Math.floor(at / length) * length, next: (at) => at + length, text };
}

function months(count: number): Step {
  const floor = (at: number) => {
    const date = new Date(at);
    return Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / count) * count);
  };
  const next = (at: number) => {
    const date = new Date(at);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + count);
  };
  return { length: count * 30.4 * DAY, floor, next, text: (at) => iso(at).slice(0, 7) };
}

function years(count: number): Step {
  const of = (year: number) => {
    const date = new Date(0);
    date.setUTCFullYear(year, 0, 1);
    return date.getTime();
  };
  const yearOf = (at: number) => new Date(at).getUTCFullYear();
  return {
    length: count * 365.25 * DAY,
    floor: (at) => of(Math.floor(yearOf(at) / count) * count),
    next: (at) => of(yearOf(at) + count),
    text: (at) => String(yearOf(at)),
  };
}

const time = (at: number) => iso(at).slice(11, 16);
const day = (at: number) => iso(at).slice(0, 10);
const STEPS: Step[] = [
  ...[1, 5, 15, 60, 180, 720].map((minutes) => fixed(minutes * MINUTE, (at) => (at % DAY === 0 ? day(at) : time(at)))),
  ...[1, 2, 7, 14].map((days) => fixed(days * DAY, day)),
  ...[1, 3, 6].map(months),
  ...[1, 2, 5, 10, 20, 50, 100, 500, 1000].map(years),
];
/** Pixels that a date needs. */
const ROOM = 84;

export interface Tick {
  millis: number;
  text: string;
}

/** The dates of a track that shows the time between two instants in this many pixels. */
export function ticks(from: number, to: number, pixels: number): Tick[] {
  const most = Math.max(1, Math.floor(pixels / ROOM));
  const step = STEPS.find(({ length }) => (to - from) / length <= most) ?? STEPS[STEPS.length - 1]!;
  const found: Tick[] = [];
  for (let at = step.floor(from); at <= to && found.length < 200; at = step.next(at)) {
    if (at >= from) found.push({ millis: at, text: step.text(at) });
  }
  return found;
}

/** Up to which letter an instant is told: the day, minutes, seconds, milliseconds. */
const EXACT = [10, 16, 19, 23];

/** Sorted instants as texts, as exact as makes them differ. The day is told once. */
export function distinctTimes(millis: readonly number[]): string[] {
  const all = millis.map((at) => iso(at).replace("T", " "));
  const length = EXACT.find((letters) => new Set(all.map((text) => text.slice(0, letters))).size === new Set(all).size) ?? 23;
  return all.map((text, index) => {
    const isSameDay = index > 0 && text.slice(0, 10) === all[index - 1]!.slice(0, 10);
    return length > 10 && isSameDay ? text.slice(11, length) : text.slice(0, length);
  });
}
