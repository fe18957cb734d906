// Why a query failed: in plain words, with what the server said as details.

import { For, Show } from "solid-js";
import { t } from "../i18n";
import type { Failure } from "../core/http";
import { noStepIn, plainMessage, titleOf } from "./plain";

export function FailureBox(props: { failure: Failure }) {
  const step = () => noStepIn(props.failure.message);
  const plain = () => {
    const found = step();
    if (!found) return plainMessage(props.failure.message);
    return found.given ? t("noStepWith", { name: found.name, given: found.given }) : t("noStep", { name: found.name });
  };
  const details = () => {
    const { status, code, kind, message } = props.failure;
    return [status ? `HTTP ${status}` : "", code ?? "", kind && kind !== code ? kind : "", message === plain() ? "" : message].filter(Boolean);
  };
  return (
    <div class="failure" role="alert">
      <strong>{t(titleOf(props.failure))}</strong>
      <p>{plain()}</p>
      <Show when={step()?.possible}>{(possible) => <p>{t("noStepPossible", { possible: possible() })}</p>}</Show>
      <Show when={details().length}>
        <details>
          <summary>{t("details")}</summary>
          <For each={details()}>{(line) => <p class="mono">{line}</p>}</For>
        </details>
      </Show>
    </div>
  );
}
