// One of the two times: a field to type it, and a track with a tick for each change.

import { createSignal, For, Show } from "solid-js";
import { Icon } from "../parts/icon";
import { language, t } from "../i18n";
import { parseTime, shortTime } from "../core/times";
import { stopFrom, type Scale } from "./scale";

interface Props {
  name: string;
  hint: string;
  /** For tests and styles: `valid` or `known`. */
  kind: "valid" | "known";
  value: string | null;
  scale: Scale;
  change: (value: string | null) => void;
}

/** Distance in pixels within which a pointer takes the tick. */
const SNAP = 7;

export function TimeSlider(props: Props) {
  let track!: HTMLDivElement;
  const [wrong, setWrong] = createSignal(false);
  const at = () => props.scale.place(props.value);
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
    const place = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const near = props.scale.stops.reduce((best, stop) =>
      Math.abs(stop.at - place) < Math.abs(best.at - place) ? stop : best,
    );
    const snaps = Math.abs(near.at - place) * box.width <= SNAP || props.kind === "known";
    props.change(snaps ? near.value : props.scale.timeAt(place));
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
  const heaviest = () => Math.max(1, ...props.scale.stops.map((stop) => stop.weight));

  return (
    <div class="slider" data-kind={props.kind}>
      <span class="slider-name" title={props.hint}>
        {props.name}
      </span>
      <input
        class="time-field"
        classList={{ past: props.value !== null }}
        aria-label={props.name}
        aria-invalid={wrong()}
        title={t("timeFieldHint")}
        value={text()}
        onChange={(event) => type(event.currentTarget)}
        onFocus={(event) => event.currentTarget.select()}
        spellcheck={false}
      />
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
        onPointerDown={onDown}
        onPointerMove={onMove}
      >
        <svg class="ticks" preserveAspectRatio="none" viewBox="0 0 1000 24" aria-hidden="true">
          <line class="rail-line" x1="0" x2="1000" y1="18" y2="18" />
          <For each={props.scale.stops}>
            {(stop) => (
              <Show when={stop.value !== null}>
                <line
                  class="tick"
                  x1={stop.at * 1000}
                  x2={stop.at * 1000}
                  y1={14 - 10 * Math.sqrt(stop.weight / heaviest())}
                  y2="18"
                />
              </Show>
            )}
          </For>
          <line class="now-line" x1={props.scale.nowAt * 1000} x2={props.scale.nowAt * 1000} y1="2" y2="22" />
        </svg>
        <span class="thumb" classList={{ past: props.value !== null }} style={{ left: `${at() * 100}%` }} />
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
