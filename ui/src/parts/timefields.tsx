// The two times as fields, where there is no track.

import { createSignal } from "solid-js";
import { language, t } from "../i18n";
import { parseTime, point, setPoint, shortTime, type Point } from "../core/times";

export function timeText(value: string | null): string {
  return value === null ? t("now") : shortTime(value, language());
}

export function pointText(at: Point): string {
  return t("pointText", { valid: timeText(at.trueAt), known: timeText(at.knownAt) });
}

function Field(props: { name: "trueAt" | "knownAt" }) {
  const [wrong, setWrong] = createSignal(false);
  const value = () => point()[props.name];
  const read = (input: HTMLInputElement) => {
    if (input.value === timeText(value())) return;
    const parsed = parseTime(input.value);
    setWrong("wrong" in parsed);
    if ("value" in parsed) {
      setPoint({ ...point(), [props.name]: parsed.value });
      input.value = timeText(value());
    }
  };
  return (
    <label class="time-pair">
      <span class="quiet">{t(props.name)}</span>
      <input
        class="time-field"
        classList={{ past: value() !== null }}
        aria-invalid={wrong()}
        title={`${value() === null ? "" : `${timeText(value())}\n`}${t(wrong() ? "timeWrong" : "timeFieldHint")}`}
        value={timeText(value())}
        onChange={(event) => read(event.currentTarget)}
        onFocus={(event) => event.currentTarget.select()}
      />
    </label>
  );
}

export function TimeFields() {
  return (
    <div class="time-fields">
      <Field name="trueAt" />
      <Field name="knownAt" />
    </div>
  );
}
