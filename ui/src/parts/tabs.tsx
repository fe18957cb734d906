// Buttons of which one is chosen.

import { For } from "solid-js";
import { t, type Key } from "../i18n";

export function Tabs<T extends string>(props: {
  label: string;
  class?: string;
  tabs: readonly (readonly [T, Key])[];
  chosen: T;
  choose: (tab: T) => void;
}) {
  return (
    <div class={props.class ?? "tabs"} role="tablist" aria-label={props.label}>
      <For each={props.tabs}>
        {([name, key]) => (
          <button role="tab" data-tab={name} aria-selected={props.chosen === name} onClick={() => props.choose(name)}>
            {t(key)}
          </button>
        )}
      </For>
    </div>
  );
}
