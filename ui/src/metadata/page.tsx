// The open-metadata repository: its types, its entities at any time, and the way from one to the
// next.

import { createEffect, createResource, createSignal, For, on, Show } from "solid-js";
import { number, t } from "../i18n";
import { messageOf } from "../core/http";
import { ready } from "../core/resource";
import { point } from "../core/times";
import { plainId } from "../explore/refs";
import { TimeFields } from "../parts/timefields";
import * as api from "./api";
import { EntityView } from "./entity";
import { TypeDetails, TypeTree } from "./types";

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const ROOT = "OpenMetadataRoot";

const [type, setType] = createSignal<string | null>(ROOT);
const [guid, setGuid] = createSignal<string | null>(null);
const [trail, setTrail] = createSignal<string[]>([]);
const [found, setFound] = createSignal<api.Entities | null>(null);
const [problem, setProblem] = createSignal("");

/** What was looked for last: it is looked for again at another time. */
const [wanted, setWanted] = createSignal<{ text: string } | { type: string } | null>(null);

function step(ref: string): void {
  const current = guid();
  if (current !== null) setTrail([...trail(), current]);
  setGuid(plainId(ref));
}

function back(): void {
  const last = trail()[trail().length - 1];
  setTrail(trail().slice(0, -1));
  setGuid(last ?? null);
}

async function find(what: { text: string } | { type: string }): Promise<void> {
  setProblem("");
  setTrail([]);
  if ("text" in what && GUID.test(what.text)) return void setGuid(what.text);
  setGuid(null);
  setWanted(what);
  await findAgain();
}

async function findAgain(): Promise<void> {
  const what = wanted();
  if (!what) return;
  const at = point();
  const isWanted = () => what === wanted() && at === point();
  try {
    const all = "type" in what ? await api.entitiesOf(what.type, at) : what.text === "" ? await api.entitiesOf(ROOT, at) : await api.search(what.text, at);
    if (!isWanted()) return;
    setFound(all);
    setProblem("");
  } catch (error) {
    if (isWanted()) setProblem(messageOf(error));
  }
}

function Results(props: { found: api.Entities }) {
  return (
    <section>
      <h2>{t("foundEntities", { count: `${number(props.found.list.length)}${props.found.hasMore ? "+" : ""}` })}</h2>
      <ul class="entity-list">
        <For each={props.found.list} fallback={<li class="quiet">{t("nothingFound")}</li>}>
          {(entity) => (
            <li>
              <button class="row-button" onClick={() => step(entity.ref)}>
                <span>{api.titleOf(entity)}</span>
                <span class="count">{entity.label}</span>
              </button>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

export default function MetadataPage() {
  const [types] = createResource(api.allTypes);
  const [text, setText] = createSignal("");
  const [counts] = createResource(point, api.counts);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void find({ text: text().trim() });
  };
  createEffect(on(point, () => void findAgain(), { defer: true }));
  return (
    <div class="page metadata">
      <form class="page-head" onSubmit={submit}>
        <h1>{t("page_metadata")}</h1>
        <input type="search" class="metadata-search" placeholder={t("findEntity")} aria-label={t("findEntity")} value={text()} onInput={(event) => setText(event.currentTarget.value)} />
        <TimeFields />
        <button class="button primary">{t("search")}</button>
      </form>
      <Show when={problem()}>
        <p class="failure" role="alert">{problem()}</p>
      </Show>
      <Show when={!types.error} fallback={<p class="failure">{messageOf(types.error)}</p>}>
        <div class="metadata-body">
          <Show when={types()} fallback={<p class="quiet">{t("loading")}</p>}>
            {(all) => (
              <TypeTree
                types={all()}
                counts={ready(counts)}
                chosen={type()}
                choose={(name) => {
                  setType(name);
                  setGuid(null);
                  setFound(null);
                  setWanted(null);
                }}
              />
            )}
          </Show>
          <div class="metadata-main" tabindex="0" role="region" aria-label={t("details")}>
            <Show when={trail().length || (guid() && found())}>
              <button class="text-button" onClick={back}>← {t("back")}</button>
            </Show>
            <Show
              when={guid()}
              fallback={
                <Show
                  when={found()}
                  fallback={
                    <Show when={types() && type()}>
                      {(name) => <TypeDetails types={types() ?? []} name={name()} choose={setType} find={() => void find({ type: name() })} />}
                    </Show>
                  }
                >
                  {(all) => <Results found={all()} />}
                </Show>
              }
              keyed
            >
              {(id) => <EntityView guid={id} at={point()} step={step} />}
            </Show>
          </div>
        </div>
      </Show>
    </div>
  );
}
