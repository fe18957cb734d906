// Picks the two moments to compare.

import { createSignal, For } from "solid-js";
import { t, type Key } from "../i18n";
import { millisOf, NOW, parseTime, point, setPoint, type Point } from "../core/times";
import { Dialog } from "../parts/dialog";
import { compare } from "./state";
import { timeText } from "../parts/timefields";
import { knownStops, setComparePanel } from "./timebar";

type Field = "trueAt" | "knownAt";

interface Preset {
  key: Key;
  hint: Key;
  pair: (at: Point, early: Early) => { a: Point; b: Point };
}

/** Where a comparison begins that has no other start: a day, and the first commit of what is shown. */
interface Early {
  day: string;
  commit: string;
}

const PRESETS: Preset[] = [
  {
    key: "presetChanged",
    hint: "presetChangedHint",
    pair: (at, early) => ({ a: { ...at, trueAt: at.trueAt ?? early.day }, b: { ...at, trueAt: null } }),
  },
  {
    key: "presetLearned",
    hint: "presetLearnedHint",
    pair: (at, early) => ({ a: { ...at, knownAt: at.knownAt ?? early.commit }, b: { ...at, knownAt: null } }),
  },
  {
    key: "presetBelieved",
    hint: "presetBelievedHint",
    pair: (at, early) => {
      const then = at.trueAt ?? early.day;
      const knownThen = millisOf(then) < millisOf(early.commit) ? early.commit : then;
      return { a: { trueAt: then, knownAt: at.knownAt ?? knownThen }, b: { trueAt: then, knownAt: null } };
    },
  },
  { key: "presetYesterday", hint: "presetYesterdayHint", pair: () => ({ a: { trueAt: null, knownAt: ago("-1d") }, b: NOW }) },
];

function ago(distance: string): string {
  const parsed = parseTime(distance);
  return "value" in parsed && parsed.value !== null ? parsed.value : "1970-01-01";
}

export function CompareDialog() {
  const early = (): Early => ({
    day: ago("-1y").slice(0, 10),
    commit: knownStops().stops.find((stop) => stop.value !== null)?.value ?? ago("-1d"),
  });
  const start = PRESETS[point().knownAt !== null && point().trueAt === null ? 1 : 0]!.pair(point(), early());
  const [a, setA] = createSignal<Point>(start.a);
  const [b, setB] = createSignal<Point>(start.b);
  const [wrong, setWrong] = createSignal("");
  const apply = () => {
    if (wrong()) return;
    setComparePanel(false);
    setPoint(b());
    compare({ a: a(), b: b() });
  };
  const field = (side: "a" | "b", name: Field) => {
    const [value, set] = side === "a" ? [a, setA] : [b, setB];
    const id = `compare-${side}-${name}`;
    const read = (input: HTMLInputElement) => {
      if (input.value === timeText(value()[name])) return;
      const parsed = parseTime(input.value);
      setWrong("wrong" in parsed ? id : "");
      if ("value" in parsed) set({ ...value(), [name]: parsed.value });
    };
    return (
      <label class="field">
        <span>{t(name === "trueAt" ? "trueAt" : "knownAt")}</span>
        <input
          id={id}
          value={timeText(value()[name])}
          aria-invalid={wrong() === id}
          onChange={(event) => read(event.currentTarget)}
        />
      </label>
    );
  };
  return (
    <Dialog title={t("compareTitle")} close={() => setComparePanel(false)}>
      <div class="presets">
        <For each={PRESETS}>
          {(preset) => (
            <button
              class="preset"
              onClick={() => {
                const pair = preset.pair(point(), early());
                setA(pair.a);
                setB(pair.b);
                setWrong("");
              }}
            >
              <strong>{t(preset.key)}</strong>
              <span>{t(preset.hint)}</span>
            </button>
          )}
        </For>
      </div>
      <div class="two-columns">
        <fieldset>
          <legend>A</legend>
          {field("a", "trueAt")}
          {field("a", "knownAt")}
        </fieldset>
        <fieldset>
          <legend>B</legend>
          {field("b", "trueAt")}
          {field("b", "knownAt")}
        </fieldset>
      </div>
      <p class="quiet">{t("timeFieldHint")}</p>
      <div class="dialog-actions">
        <button class="button" onClick={() => setComparePanel(false)}>
          {t("cancel")}
        </button>
        <button class="button primary" onClick={apply}>
          {t("compare")}
        </button>
      </div>
    </Dialog>
  );
}
