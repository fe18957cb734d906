// The server's resources, from its own description, each with a way to try it.

import { createResource, createSignal, For, Show } from "solid-js";
import { t } from "../i18n";
import { call, messageOf } from "../core/http";
import { go } from "../core/route";
import { graph } from "../core/server";

interface Operation {
  summary?: string;
  tags?: string[];
  parameters?: { name?: string; in?: string }[];
}

interface Description {
  paths: Record<string, Record<string, Operation>>;
}

interface Entry {
  verb: string;
  path: string;
  operation: Operation;
}

function groupsOf(description: Description, wanted: string): [string, Entry[]][] {
  const groups = new Map<string, Entry[]>();
  for (const [path, verbs] of Object.entries(description.paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const text = `${verb} ${path} ${operation.summary ?? ""}`.toLowerCase();
      if (!text.includes(wanted.toLowerCase())) continue;
      const tag = operation.tags?.[0] ?? "";
      groups.set(tag, [...(groups.get(tag) ?? []), { verb: verb.toUpperCase(), path, operation }]);
    }
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

export default function ApiPage() {
  const [description] = createResource(() => call<Description>("/openapi.json"));
  const [wanted, setWanted] = createSignal("");
  const attempt = async (entry: Entry) => {
    const { setRestText } = await import("../query/page");
    const path = entry.path.replace("{graph}", graph());
    setRestText(`${entry.verb} ${path}${entry.verb === "POST" || entry.verb === "PUT" ? "\n\n{\n}" : ""}`);
    go("query");
  };
  return (
    <div class="page api">
      <div class="page-head">
        <h1>{t("page_api")}</h1>
        <input type="search" placeholder={t("filterRows")} aria-label={t("filterRows")} value={wanted()} onInput={(event) => setWanted(event.currentTarget.value)} />
        <a href="/openapi.json" target="_blank" rel="noreferrer">openapi.json</a>
      </div>
      <Show when={!description.error} fallback={<p class="failure">{messageOf(description.error)}</p>}>
        <Show when={description()} fallback={<p class="quiet">{t("loading")}</p>}>
          {(found) => (
            <For each={groupsOf(found(), wanted())}>
              {([tag, entries]) => (
                <section class="schema-section">
                  <h2>{tag}</h2>
                  <ul class="api-list">
                    <For each={entries}>
                      {(entry) => (
                        <li>
                          <span class={`verb verb-${entry.verb}`}>{entry.verb}</span>
                          <span class="mono">{entry.path}</span>
                          <span class="quiet">{entry.operation.summary}</span>
                          <button class="text-button" onClick={() => void attempt(entry)} aria-label={`${t("attempt")} ${entry.verb} ${entry.path}`}>
                            {t("attempt")}
                          </button>
                        </li>
                      )}
                    </For>
                  </ul>
                </section>
              )}
            </For>
          )}
        </Show>
      </Show>
    </div>
  );
}
