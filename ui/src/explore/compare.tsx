// Picks the two moments to compare.

import { createSignal, For, Show } from "solid-js";
import { t, type Key } from "../i18n";
import { isVersion, millisOf, NOW, parseTime, point, setPoint, type Point } from "../core/times";
import { Dialog } from "../parts/dialog";
import { knownChanges } from "./scale";
import { compare, timeline } from "./state";
import { timeText } from "../parts/timefields";
import { setComparePanel } from "./timebar";

type Field = "trueAt" | "knownAt";

interface Preset {
  key: Key;
  hint: Key;
  pair: (at: Point, early: Early) => { a: Point; b: Point };
}

/** Where a comparison begins that has no other start. */
interface Early {
  day: string;
  /** What was known after the first change of what is shown. */
  first: string;
  /** What was known before a change: the one with this commit, or the last one. */
  before: (commit: string | null) => string;
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
    pair: (at, early) => {
      // An instant that was typed is meant; a commit was picked because of what it changed.
      const isInstant = at.knownAt !== null && !isVersion(at.knownAt);
      return { a: { ...at, knownAt: isInstant ? at.knownAt : early.before(at.knownAt) }, b: { ...at, knownAt: null } };
    },
  },
  {
    key: "presetBelieved",
    hint: "presetBelievedHint",
    pair: (at, early) => {
      const then = at.trueAt ?? early.day;
      const knownThen = millisOf(then) < millisOf(early.first) ? early.first : then;
      return { a: { trueAt: then, knownAt: at.knownAt ?? knownThen }, b: { trueAt: then, knownAt: null } };
    },
  },
  { key: "presetYesterday", hint: "presetYesterdayHint", pair: () => ({ a: { trueAt: null, knownAt: ago("-1d") }, b: NOW }) },
];

function ago(distance: string): string {
  const parsed = parseTime(distance);
  return "value" in parsed && parsed.value !== null ? parsed.value : "1970-01-01";
}

/** What was known before the change that has a commit, or before the last change. */
function knownBefore(commit: string | null): string {
  const changes = knownChanges(timeline());
  const found = commit === null ? -1 : changes.findIndex((change) => change.some(({ version }) => version === commit));
  const index = found < 0 ? changes.length - 1 : found;
  const before = changes[index - 1]?.at(-1)?.version;
  const first = changes[index]?.[0]?.version;
  return before ?? (first === undefined ? ago("-1d") : String(BigInt(first) - 1n));
}

export function CompareDialog() {
  const early = (): Early => ({
    day: ago("-1y").slice(0, 10),
    first: knownChanges(timeline())[0]?.at(-1)?.version ?? ago("-1d"),
    before: knownBefore,
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
      <Show when={a().trueAt === b().trueAt && a().knownAt === b().knownAt}>
        <p class="notice" role="status">{t("samePoint")}</p>
      </Show>
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
