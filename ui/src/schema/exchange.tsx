// The schema as JSON: to take elsewhere, and to bring from there.

import { createSignal, For, Show } from "solid-js";
import { t } from "../i18n";
import { call, messageOf } from "../core/http";
import { graphPath } from "../core/server";
import { parseJson } from "../core/json";
import type { Schema } from "../core/schema";

const ORDER = ["propertykeys", "vertexlabels", "edgelabels", "indexlabels"] as const;
/** What the server gives and does not take. */
const GIVEN_ONLY = ["id", "status", "index_labels"];

async function bring(text: string, tell: (line: string) => void): Promise<void> {
  const wanted = parseJson(text) as Partial<Record<(typeof ORDER)[number], Record<string, unknown>[]>>;
  for (const kind of ORDER) {
    for (const element of wanted[kind] ?? []) {
      const body = Object.fromEntries(Object.entries(element).filter(([key]) => !GIVEN_ONLY.includes(key)));
      if (kind === "propertykeys") delete body.properties;
      try {
        await call(`${graphPath()}/schema/${kind}`, { method: "POST", body: { ...body, check_exist: false } });
      } catch (error) {
        tell(`${kind} ${String(element.name)}: ${messageOf(error)}`);
      }
    }
  }
}

export function SchemaJson(props: { schema: Schema; text: string; done: () => void }) {
  const [text, setText] = createSignal(props.text);
  const [refused, setRefused] = createSignal<string[]>([]);
  const [done, setDone] = createSignal(false);
  const apply = async () => {
    setRefused([]);
    try {
      await bring(text(), (line) => setRefused([...refused(), line]));
      setDone(true);
      props.done();
    } catch (error) {
      setRefused([messageOf(error)]);
    }
  };
  return (
    <div class="schema-json">
      <p class="quiet">{t("schemaJsonHint")}</p>
      <textarea class="mono" rows="22" spellcheck={false} aria-label={t("asJson")} value={text()} onInput={(event) => setText(event.currentTarget.value)} />
      <div class="dialog-actions">
        <Show when={done() && refused().length === 0}>
          <span role="status">{t("done")}</span>
        </Show>
        <button class="button primary" onClick={() => void apply()}>{t("createMissing")}</button>
      </div>
      <ul class="refused">
        <For each={refused()}>{(line) => <li class="failure">{line}</li>}</For>
      </ul>
    </div>
  );
}
