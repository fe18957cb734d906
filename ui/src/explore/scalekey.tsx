// What the colours of a property mean.

import { For, Show } from "solid-js";
import { language, number, t } from "../i18n";
import { shortTime } from "../core/times";
import { shorten } from "../core/text";
import { rampAt } from "./emphasis";
import { shade } from "./look";
import { OTHER, type Scale } from "./scales";

const PARTS = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** The ends of a scale of numbers or dates, as texts. */
export function endsOf(scale: Scale & { kind: "numbers" }): [string, string] {
  const text = (value: number) => (scale.isDate ? shortTime(new Date(value).toISOString(), language()) : new Intl.NumberFormat(language(), { maximumSignificantDigits: 4, useGrouping: false }).format(value));
  return [text(scale.least), text(scale.greatest)];
}

/** The colours and names of values, the most frequent first. */
export function entriesOf(scale: Scale & { kind: "values" }): { name: string; color: string }[] {
  const named = [...scale.places].map(([name, place]) => ({ name: shorten(name), color: shade(place) }));
  return scale.others > 0 ? [...named, { name: t("otherValues", { count: number(scale.others) }), color: shade(OTHER) }] : named;
}

export function ScaleKey(props: { scale: Scale }) {
  const numbers = () => (props.scale.kind === "numbers" ? props.scale : null);
  const values = () => (props.scale.kind === "values" ? props.scale : null);
  return (
    <div class="scale-key" data-scale={props.scale.kind}>
      <strong>{props.scale.key}</strong>
      <Show when={numbers()}>
        {(scale) => (
          <>
            <span class="quiet">{endsOf(scale())[0]}</span>
            <span class="ramp" aria-hidden="true">
              <For each={PARTS}>{(part) => <svg viewBox="0 0 10 10"><rect width="10" height="10" fill={rampAt(part)} /></svg>}</For>
            </span>
            <span class="quiet">{endsOf(scale())[1]}</span>
          </>
        )}
      </Show>
      <Show when={values()}>
        {(scale) => (
          <ul>
            <For each={entriesOf(scale())}>
              {({ name, color }) => (
                <li>
                  <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
                    <circle cx="6" cy="6" r="5" fill={color} />
                  </svg>
                  {name}
                </li>
              )}
            </For>
          </ul>
        )}
      </Show>
    </div>
  );
}
