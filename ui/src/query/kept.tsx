// The queries that the browser keeps: the last ones, and those with a name.

import { createResource, createSignal, For, Show } from "solid-js";
import { language, t } from "../i18n";
import { messageOf, user } from "../core/http";
import { ready } from "../core/resource";
import { graph } from "../core/server";
import type { Point } from "../core/times";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { pointText } from "../parts/timefields";
import { isSecret, NAMES, pastQueries, removeSaved, savedQueries, saveQuery, type PastQuery, type QueryKind, type SavedQuery } from "./past";

type Taken = { kind: QueryKind; text: string; parameters?: string; times?: Point };

interface Props {
  take: (query: Taken) => void;
  close: () => void;
}

function timeOf(at: number): string {
  return new Intl.DateTimeFormat(language(), { dateStyle: "short", timeStyle: "short" }).format(at);
}

export function PastQueries(props: Props) {
  const [past] = createResource(pastQueries);
  const [wanted, setWanted] = createSignal("");
  const rows = () => (ready(past) ?? []).filter(({ text }: PastQuery) => text.toLowerCase().includes(wanted().toLowerCase()));
  return (
    <Dialog title={t("pastQueries")} close={props.close} wide>
      <input type="search" placeholder={t("filterRows")} aria-label={t("filterRows")} value={wanted()} onInput={(event) => setWanted(event.currentTarget.value)} />
      <ul class="past">
        <For each={rows()} fallback={<li class="quiet">{t("noPastQueries")}</li>}>
          {(query) => (
            <li>
              <button class="row-button" onClick={() => props.take(query)}>
                <span class="mono" title={query.text}>{query.text}</span>
                <Show when={!query.ok}>
                  <span class="badge deleted">{t("failed")}</span>
                </Show>
                <span class="quiet">{[NAMES[query.kind], query.graph, timeOf(query.at)].filter(Boolean).join(" · ")}</span>
              </button>
            </li>
          )}
        </For>
      </ul>
    </Dialog>
  );
}

/** Saved queries of the graph; `current` is what the editor has. */
export function SavedQueries(props: Props & { current: Taken }) {
  const [saved, { refetch }] = createResource(graph, (name) => savedQueries(name, user() ?? ""));
  const [name, setName] = createSignal("");
  const [replaced, setReplaced] = createSignal("");
  const [sure, setSure] = createSignal<number | null>(null);
  const [problem, setProblem] = createSignal("");
  const during = async (work: () => Promise<unknown>) => {
    try {
      await work();
      setProblem("");
    } catch (error) {
      setProblem(messageOf(error));
    }
    await refetch();
  };
  const save = () => {
    const chosen = name().trim();
    if (chosen === "") return;
    if (isSecret(props.current)) return void setProblem(t("secretQuery"));
    if (replaced() !== chosen && ready(saved)?.some((each) => each.name === chosen)) return void setReplaced(chosen);
    void during(async () => {
      await saveQuery({ ...props.current, name: chosen, graph: graph(), user: user() ?? "", at: Date.now() });
      setName("");
      setReplaced("");
    });
  };
  const remove = (query: SavedQuery) => {
    if (query.id === undefined) return;
    const { id } = query;
    if (sure() !== id) return void setSure(id);
    void during(() => removeSaved(id));
  };
  return (
    <Dialog title={t("savedQueriesOf", { graph: graph() })} close={props.close} wide>
      <p class="quiet">{t("savedQueriesHint")}</p>
      <ul class="scenes">
        <For each={ready(saved)} fallback={<li class="quiet">{t(saved.loading ? "loading" : "noPastQueries")}</li>}>
          {(query) => (
            <li>
              <button class="row-button" data-saved={query.name} onClick={() => props.take(query)}>
                <strong>{query.name}</strong>
                <span class="mono saved-text" title={query.text}>{query.text}</span>
                <Show when={query.times}>{(at) => <span class="quiet">{pointText(at())}</span>}</Show>
                <span class="count">{NAMES[query.kind]}</span>
              </button>
              <button class="text-button" onClick={() => remove(query)} aria-label={`${t("remove")} ${query.name}`} title={`${t("remove")} ${query.name}`}>
                <Show when={sure() === query.id} fallback={<Icon name="trash" />}>{t("sceneDeleteSure")}</Show>
              </button>
            </li>
          )}
        </For>
      </ul>
      <form
        class="scene-new"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <label class="field">
          <span>{t("savedName")}</span>
          <input name="saved" value={name()} maxlength="80" onInput={(event) => { setName(event.currentTarget.value); setReplaced(""); }} />
        </label>
        <button class="button primary" data-action="save-query" disabled={props.current.text.trim() === ""}>
          {replaced() ? t("sceneReplaceSure", { name: replaced() }) : t("saveQuery")}
        </button>
      </form>
      <Show when={problem()}>
        <p class="failure" role="alert">{problem()}</p>
      </Show>
    </Dialog>
  );
}
