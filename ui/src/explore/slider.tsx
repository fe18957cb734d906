// One of the two times: a field to type it, and a track with a tick for each change.

import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show } from "solid-js";
import { Icon } from "../parts/icon";
import { language, t } from "../i18n";
import { millisOf, parseTime, shortTime } from "../core/times";
import { stopFrom, type Part, type Scale, type Stop } from "./scale";

interface Props {
  name: string;
  hint: string;
  /** For tests and styles: `valid` or `known`. */
  kind: "valid" | "known";
  value: string | null;
  scale: Scale;
  change: (value: string | null) => void;
  /** The other point of a comparison; undefined if there is none. */
  other?: string | null;
}

/** The browser's own calendar. */
function Calendar(props: { name: string; value: string | null; change: (value: string | null) => void }) {
  let input!: HTMLInputElement;
  const day = () => {
    const millis = props.value === null ? Date.now() : millisOf(props.value);
    return Number.isNaN(millis) ? "" : new Date(millis).toISOString().slice(0, 10);
  };
  return (
    <span class="calendar">
      <input
        ref={input}
        type="date"
        tabindex="-1"
        aria-label={`${props.name}: ${t("calendar")}`}
        value={day()}
        onChange={(event) => event.currentTarget.value && props.change(event.currentTarget.value)}
      />
      <button class="icon-button small" title={t("calendar")} aria-label={`${props.name}: ${t("calendar")}`} onClick={() => input.showPicker()}>
        <Icon name="calendar" />
      </button>
    </span>
  );
}

/** Distance in pixels within which a pointer takes the tick. */
const SNAP = 7;

export function TimeSlider(props: Props) {
  let track!: HTMLDivElement;
  const [wrong, setWrong] = createSignal(false);
  const at = () => props.scale.place(props.value);
  /** The part of the track that is seen: the wheel makes it smaller and larger. */
  const [seen, setSeen] = createSignal(props.scale.home);
  const [width, setWidth] = createSignal(600);
  const placeOf = (whole: number) => (whole - seen().from) / (seen().to - seen().from);
  const wholeOf = (place: number) => seen().from + place * (seen().to - seen().from);
  const inside = (whole: number) => placeOf(whole) >= 0 && placeOf(whole) <= 1;
  const look = (from: number, length: number) => {
    const { home } = props.scale;
    const size = Math.min(1, Math.max(1e-4 * (home.to - home.from), length));
    const start = Math.min(1 - size, Math.max(0, from));
    setSeen({ from: start, to: start + size });
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const box = track.getBoundingClientRect();
    const place = (event.clientX - box.left) / box.width;
    const length = seen().to - seen().from;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      return look(seen().from + ((event.deltaX || event.deltaY) / box.width) * length, length);
    }
    const next = Math.min(1, length * Math.exp(event.deltaY * 0.002));
    return look(wholeOf(place) - place * next, next);
  };
  onMount(() => {
    track.addEventListener("wheel", onWheel, { passive: false });
    const sized = new ResizeObserver(() => setWidth(track.clientWidth || 600));
    sized.observe(track);
    onCleanup(() => sized.disconnect());
  });
  const isSeen = (part: Part) => seen().from === part.from && seen().to === part.to;
  // Another scale begins at its home, unless a part was chosen.
  createEffect(on(() => props.scale, (scale, before) => {
    if (before === undefined || isSeen(before.home)) setSeen(scale.home);
  }));
  // What is chosen is always seen.
  createEffect(on(at, (whole) => {
    const { from, to } = seen();
    if (whole < from || whole > to) look(whole - (to - from) / 2, to - from);
  }, { defer: true }));
  const marks = createMemo(() => props.scale.marks(seen(), width()));
  const text = () => (props.value === null ? t("now") : shortTime(props.value, language()));
  const stopIndex = () => props.scale.stops.filter((stop) => stop.at <= at() + 1e-9).length;
  const valueText = () => t("sliderValue", { time: text(), index: stopIndex(), count: props.scale.stops.length });

  const step = (count: number) => {
    const stop = stopFrom(props.scale, at(), count);
    if (stop) props.change(stop.value);
  };
  const onKey = (event: KeyboardEvent) => {
    const { stops } = props.scale;
    const count = event.shiftKey ? 10 : 1;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => step(-count),
      ArrowDown: () => step(-count),
      ArrowRight: () => step(count),
      ArrowUp: () => step(count),
      PageUp: () => step(10),
      PageDown: () => step(-10),
      Home: () => props.change(stops[0]?.value ?? null),
      End: () => props.change(stops[stops.length - 1]?.value ?? null),
      n: () => props.change(null),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    move();
  };
  const follow = (event: PointerEvent) => {
    const box = track.getBoundingClientRect();
    const place = Math.min(1, Math.max(0, wholeOf((event.clientX - box.left) / box.width)));
    const now: Stop = { value: null, at: props.scale.nowAt, weight: 0 };
    const near = marks().reduce((best, stop) => (Math.abs(stop.at - place) < Math.abs(best.at - place) ? stop : best), now);
    const snaps = (Math.abs(near.at - place) / (seen().to - seen().from)) * box.width <= SNAP || props.kind === "known";
    props.change(snaps ? near.value : props.scale.timeAt(place, seen().to - seen().from));
  };
  const onDown = (event: PointerEvent) => {
    track.setPointerCapture(event.pointerId);
    track.focus();
    follow(event);
  };
  const onMove = (event: PointerEvent) => {
    if (track.hasPointerCapture(event.pointerId)) follow(event);
  };
  const type = (input: HTMLInputElement) => {
    if (input.value === text()) return setWrong(false);
    const parsed = parseTime(input.value);
    setWrong("wrong" in parsed);
    if ("value" in parsed) {
      props.change(parsed.value);
      input.value = text();
    }
    return undefined;
  };
  const heaviest = () => Math.max(1, ...marks().map((stop) => stop.weight));

  return (
    <div class="slider" data-kind={props.kind}>
      <span class="slider-name" title={props.hint}>
        {props.name}
      </span>
      <span class="time-frame">
      <input
        class="time-field"
        classList={{ past: props.value !== null }}
        aria-label={props.name}
        aria-invalid={wrong()}
        title={props.value === null ? t("timeFieldHint") : `${text()}\n${t("timeFieldHint")}`}
        value={text()}
        onChange={(event) => type(event.currentTarget)}
        onFocus={(event) => event.currentTarget.select()}
        spellcheck={false}
      />
      <Calendar name={props.name} value={props.value} change={props.change} />
      </span>
      <button class="icon-button small step" onClick={() => step(-1)} title={t("earlierChange")} aria-label={`${props.name}: ${t("earlierChange")}`}>
        <Icon name="left" />
      </button>
      <div
        class="track"
        ref={track}
        role="slider"
        tabindex="0"
        aria-label={props.name}
        aria-valuemin="1"
        aria-valuemax={props.scale.stops.length}
        aria-valuenow={Math.max(1, stopIndex())}
        aria-valuetext={valueText()}
        data-value={props.value ?? "now"}
        onKeyDown={onKey}
        onDblClick={() => setSeen(isSeen(props.scale.home) ? { from: 0, to: 1 } : props.scale.home)}
        onPointerDown={onDown}
        onPointerMove={onMove}
      >
        <svg class="ticks" preserveAspectRatio="none" viewBox="0 0 1000 24" aria-hidden="true">
          <line class="rail-line" x1="0" x2="1000" y1="18" y2="18" />
          <For each={marks()}>
            {(stop) => (
              <line
                class="tick"
                x1={placeOf(stop.at) * 1000}
                x2={placeOf(stop.at) * 1000}
                y1={14 - 10 * Math.sqrt(stop.weight / heaviest())}
                y2="18"
              />
            )}
          </For>
          <Show when={inside(props.scale.nowAt)}>
            <line class="now-line" x1={placeOf(props.scale.nowAt) * 1000} x2={placeOf(props.scale.nowAt) * 1000} y1="2" y2="22" />
          </Show>
        </svg>
        <span class="dates" aria-hidden="true">
          <For each={props.scale.dates(seen().from, seen().to, width())}>
            {(date) => (
              <Show when={placeOf(date.at) > 0.02 && placeOf(date.at) < 0.97}>
                <span style={{ left: `${placeOf(date.at) * 100}%` }}>{date.text}</span>
              </Show>
            )}
          </For>
        </span>
        <Show when={props.other !== undefined && inside(props.scale.place(props.other))}>
          <span class="thumb other" title={`A: ${props.other === null ? t("now") : shortTime(props.other!, language())}`} style={{ left: `${placeOf(props.scale.place(props.other ?? null)) * 100}%` }}>A</span>
        </Show>
        <Show when={inside(at())}>
          <span class="thumb" classList={{ past: props.value !== null }} style={{ left: `${placeOf(at()) * 100}%` }}>{props.other === undefined ? "" : "B"}</span>
        </Show>
      </div>
      <button class="icon-button small step" onClick={() => step(1)} title={t("laterChange")} aria-label={`${props.name}: ${t("laterChange")}`}>
        <Icon name="right" />
      </button>
      <button class="text-button now" disabled={props.value === null} onClick={() => props.change(null)} aria-label={`${props.name}: ${t("now")}`}>
        {t("now")}
      </button>
      <Show when={wrong()}>
        <span class="field-error" role="alert">
          {t("timeWrong")}
        </span>
      </Show>
    </div>
  );
}
