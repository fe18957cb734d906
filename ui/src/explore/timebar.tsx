// The two times above the canvas, what they are set to, and the way to compare two moments.

import { createEffect, createMemo, createRoot, createSignal, onCleanup, Show } from "solid-js";
import { t } from "../i18n";
import { Icon } from "../parts/icon";
import { pointText, timeText } from "../parts/timefields";
import { isNow, NOW, point, setPoint } from "../core/times";
import type { Diff } from "./api";
import { knownScale, stopFrom, validScale } from "./scale";
import { TimeSlider } from "./slider";
import { compare, comparing, difference, timeline, travel } from "./state";

const PLAY_MS = 900;

export const [comparePanel, setComparePanel] = createSignal(false);

const pageOpened = Date.now();
export const validStops = createRoot(() => createMemo(() => validScale(timeline(), pageOpened)));
export const knownStops = createRoot(() => createMemo(() => knownScale(timeline())));

/** Moves the valid time to the change before or after. */
export function stepValid(count: number): boolean {
  const scale = validStops();
  const stop = stopFrom(scale, scale.place(point().trueAt), count);
  if (stop) travel({ trueAt: stop.value });
  return stop !== undefined;
}

export function TimeBar() {
  const [playing, setPlaying] = createSignal(false);
  createEffect(() => {
    if (!playing()) return;
    const timer = setInterval(() => {
      if (!stepValid(1)) setPlaying(false);
    }, PLAY_MS);
    onCleanup(() => clearInterval(timer));
  });
  const play = () => {
    const scale = validStops();
    const isAtEnd = !stopFrom(scale, scale.place(point().trueAt), 1);
    const first = scale.stops[0];
    if (!playing() && (isAtEnd || point().trueAt === null) && first) travel({ trueAt: first.value });
    setPlaying(!playing());
  };
  return (
    <section class="timebar" aria-label={t("times")}>
      <div class="sliders">
        <TimeSlider
          kind="valid"
          name={t("trueAt")}
          hint={t("trueAtHint")}
          value={point().trueAt}
          scale={validStops()}
          change={(trueAt) => travel({ trueAt })}
          other={comparing()?.a.trueAt}
        />
        <TimeSlider
          kind="known"
          name={t("knownAt")}
          hint={t("knownAtHint")}
          value={point().knownAt}
          scale={knownStops()}
          change={(knownAt) => travel({ knownAt })}
          other={comparing()?.a.knownAt}
        />
      </div>
      <div class="time-actions">
        <button class="text-button" onClick={play} aria-pressed={playing()}>
          <Icon name={playing() ? "pause" : "play"} />
          {playing() ? t("pause") : t("play")}
        </button>
        <button class="text-button" onClick={() => setComparePanel(!comparePanel())} aria-expanded={comparePanel()}>
          <Icon name="diff" />
          {t("compare")}
        </button>
      </div>
    </section>
  );
}

/** Whether a comparison found nothing that differs. */
export function isSame(found: Diff): boolean {
  return found.added.length + found.removed.length + found.changed.length === 0 && !found.truncated;
}

/**
 * The point that the screen shows, or that it compares. The line is always there, so that a step of a
 * slider does not resize the canvas.
 */
export function TimeNotice() {
  return (
    <Show
      when={comparing()}
      fallback={
        <Show when={!isNow()} fallback={<p class="time-now quiet">{t("showsNow")}</p>}>
          <div class="time-notice" role="status">
            <Icon name="clock" />
            <span>{t("notNow", { valid: timeText(point().trueAt), known: timeText(point().knownAt) })}</span>
            <button class="text-button" onClick={() => setPoint(NOW)}>
              {t("backToNow")}
            </button>
          </div>
        </Show>
      }
    >
      {(pair) => (
        <div class="time-notice comparing" role="status">
          <Icon name="diff" />
          <span>
            {t("comparing", { a: pointText(pair().a), b: pointText(pair().b) })}
            <Show when={difference()}>
              {(found) => (
                <>
                  {" · "}
                  {isSame(found()) ? t("samePicture") : t("diffCounts", {
                    added: found().added.length,
                    removed: found().removed.length,
                    changed: found().changed.length,
                    same: found().same,
                  })}
                </>
              )}
            </Show>
          </span>
          <button class="text-button" onClick={() => compare({ a: pair().b, b: pair().a })}>
            {t("swap")}
          </button>
          <button class="text-button" data-action="end-compare" onClick={() => compare(null)}>
            {t("endCompare")}
          </button>
        </div>
      )}
    </Show>
  );
}
