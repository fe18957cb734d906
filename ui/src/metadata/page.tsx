// The open-metadata repository: its types, its entities at any time, and the way from one to the
// next.

import { createResource, createSignal, For, Show } from "solid-js";
import { t } from "../i18n";
import { messageOf } from "../core/http";
import { millisOf, parseTime, point, setPoint } from "../core/times";
import { timeText } from "../parts/timefields";
import * as api from "./api";
import type { Entity } from "./api";
import { EntityView } from "./entity";
import { TypeDetails, TypeTree } from "./types";

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const [type, setType] = createSignal<string | null>("OpenMetadataRoot");
const [guid, setGuid] = createSignal<string | null>(null);
const [trail, setTrail] = createSignal<string[]>([]);
const [found, setFound] = createSignal<Entity[] | null>(null);
const [problem, setProblem] = createSignal("");

function asOfTime(): number | null {
  const at = point().trueAt;
  return at === null ? null : Math.round(millisOf(at));
}

function step(next: string): void {
  const current = guid();
  if (current !== null) setTrail([...trail(), current]);
  setGuid(next);
}

function back(): void {
  const last = trail()[trail().length - 1];
  setTrail(trail().slice(0, -1));
  setGuid(last ?? null);
}

async function find(text: string, typeGuid: string | undefined): Promise<void> {
  setProblem("");
  setTrail([]);
  if (GUID.test(text)) {
    setGuid(text);
    return;
  }
  try {
    setGuid(null);
    setFound(await api.findEntities(text, typeGuid, asOfTime()));
  } catch (error) {
    setProblem(messageOf(error));
  }
}

function Results(props: { list: Entity[] }) {
  return (
    <section>
      <h2>{t("foundEntities", { count: props.list.length })}</h2>
      <ul class="entity-list">
        <For each={props.list} fallback={<li class="quiet">{t("nothingFound")}</li>}>
          {(entity) => (
            <li>
              <button class="row-button" onClick={() => step(entity.guid)}>
                <span>{api.titleOf(entity)}</span>
                <span class="count">{entity.type.typeDefName}</span>
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
  const typeGuid = (name: string | null) => (types() ?? []).find((each) => each.name === name)?.guid;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void find(text().trim(), undefined);
  };
  const readTime = (input: HTMLInputElement) => {
    const parsed = parseTime(input.value);
    if ("value" in parsed) setPoint({ ...point(), trueAt: parsed.value });
    input.value = timeText(point().trueAt);
  };
  return (
    <div class="page metadata">
      <form class="page-head" onSubmit={submit}>
        <h1>{t("page_metadata")}</h1>
        <input type="search" class="metadata-search" placeholder={t("findEntity")} aria-label={t("findEntity")} value={text()} onInput={(event) => setText(event.currentTarget.value)} />
        <label class="time-pair">
          <span class="quiet">{t("asOf")}</span>
          <input class="time-field" classList={{ past: point().trueAt !== null }} value={timeText(point().trueAt)} onChange={(event) => readTime(event.currentTarget)} />
        </label>
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
                chosen={type()}
                choose={(name) => {
                  setType(name);
                  setGuid(null);
                  setFound(null);
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
                      {(name) => <TypeDetails types={types() ?? []} name={name()} choose={setType} find={() => void find("", typeGuid(type()))} />}
                    </Show>
                  }
                >
                  {(list) => <Results list={list()} />}
                </Show>
              }
              keyed
            >
              {(id) => <EntityView guid={id} asOfTime={asOfTime()} step={step} />}
            </Show>
          </div>
        </div>
      </Show>
    </div>
  );
}
