// One entity: its properties, classifications, provenance, relationships, and its earlier versions.

import { createResource, createSignal, For, Show } from "solid-js";
import { number, t } from "../i18n";
import { messageOf } from "../core/http";
import { go } from "../core/route";
import { graphs, setGraph } from "../core/server";
import * as api from "./api";
import { Lineage } from "./lineage";
import type { Entity, Relationship } from "./api";

function timeOf(time: number | string | undefined): string {
  return time === undefined ? "–" : new Date(time).toISOString().replace("T", " ").replace(/\.000Z$/, "Z");
}

function Rows(props: { rows: [string, string][] }) {
  return (
    <table class="properties">
      <tbody>
        <For each={props.rows}>
          {([key, value]) => (
            <tr>
              <th scope="row">{key}</th>
              <td>{value}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

function provenance(entity: Entity): [string, string][] {
  const rows: [string, string | undefined][] = [
    ["GUID", entity.guid],
    [t("taskStatus"), entity.status],
    [t("versionNumber"), number(entity.version)],
    [t("createdBy"), `${entity.createdBy ?? "–"} · ${timeOf(entity.createTime)}`],
    [t("updatedBy"), entity.updatedBy && `${entity.updatedBy} · ${timeOf(entity.updateTime)}`],
    [t("collection"), entity.metadataCollectionName],
    [t("provenance"), entity.instanceProvenanceType],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== undefined);
}

function Related(props: { guid: string; list: Relationship[]; step: (guid: string) => void }) {
  const groups = () => {
    const found = new Map<string, { other: Entity; isOut: boolean }[]>();
    for (const each of props.list) {
      const isOut = each.entityOneProxy.guid === props.guid;
      const name = each.type.typeDefName;
      found.set(name, [...(found.get(name) ?? []), { other: isOut ? each.entityTwoProxy : each.entityOneProxy, isOut }]);
    }
    return [...found].sort(([a], [b]) => a.localeCompare(b));
  };
  return (
    <For each={groups()} fallback={<p class="quiet">{t("noNeighbours")}</p>}>
      {([name, ends]) => (
        <>
          <h3>
            {name} {number(ends.length)}
          </h3>
          <ul>
            <For each={ends}>
              {({ other, isOut }) => (
                <li>
                  <button class="row-button" onClick={() => props.step(other.guid)}>
                    <span>{`${isOut ? "→" : "←"} ${api.titleOf(other)}`}</span>
                    <span class="count">{other.type.typeDefName}</span>
                  </button>
                </li>
              )}
            </For>
          </ul>
        </>
      )}
    </For>
  );
}

export function EntityView(props: { guid: string; asOfTime: number | null; step: (guid: string) => void }) {
  const source = () => ({ guid: props.guid, at: props.asOfTime });
  const [entity] = createResource(source, ({ guid, at }) => api.entity(guid, at));
  const [related] = createResource(source, ({ guid, at }) => api.relationships(guid, at));
  const [history, setHistory] = createSignal<Entity[] | null>(null);
  const explore = async () => {
    const { restart, select } = await import("../explore/state");
    const ref = JSON.stringify(props.guid);
    if (graphs().includes("metadata")) setGraph("metadata");
    restart([ref]);
    select(ref);
    go("explore");
  };
  return (
    <Show when={!entity.error} fallback={<p class="failure">{messageOf(entity.error)}</p>}>
      <Show when={entity()} fallback={<p class="quiet">{t("loading")}</p>}>
        {(found) => (
          <section class="entity-view">
            <header>
              <div>
                <h2>{api.titleOf(found())}</h2>
                <p class="quiet">{found().type.typeDefName}</p>
              </div>
              <button class="button small" onClick={() => void explore()}>{t("seeInGraph")}</button>
            </header>
            <p class="badges">
              <For each={found().classifications ?? []}>
                {(each) => (
                  <span class="badge" title={api.propertiesOf(each.properties).map((row) => row.join(": ")).join("\n")}>
                    {each.name}
                  </span>
                )}
              </For>
            </p>
            <Rows rows={api.propertiesOf(found().properties)} />
            <h3>{t("provenance")}</h3>
            <Rows rows={provenance(found())} />
            <Show when={!related.error} fallback={<p class="failure">{messageOf(related.error)}</p>}>
              <Lineage entity={found()} list={related() ?? []} asOfTime={props.asOfTime} step={props.step} />
              <Related guid={props.guid} list={related() ?? []} step={props.step} />
            </Show>
            <h3>{t("history")}</h3>
            <Show
              when={history()}
              fallback={
                <button class="button small" data-action="versions" onClick={() => void api.historyOf(props.guid).then(setHistory).catch(() => setHistory([]))}>
                  {t("showHistory")}
                </button>
              }
            >
              {(versions) => (
                <ol class="history">
                  <For each={versions()}>
                    {(version) => (
                      <li class="history-row">
                        <span class="history-when">{`${timeOf(version.updateTime ?? version.createTime)} · ${version.updatedBy ?? version.createdBy ?? ""}`}</span>
                        <span>{api.propertiesOf(version.properties).map((row) => row.join(": ")).join(" · ")}</span>
                      </li>
                    )}
                  </For>
                </ol>
              )}
            </Show>
          </section>
        )}
      </Show>
    </Show>
  );
}
