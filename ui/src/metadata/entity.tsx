// One entity: its properties, classifications, provenance, relationships and versions.

import { createResource, createSignal, For, Show } from "solid-js";
import { language, number, t, tIfKnown } from "../i18n";
import { partsOf } from "../core/entity";
import { messageOf } from "../core/http";
import { ready } from "../core/resource";
import { go } from "../core/route";
import { graph, setGraph } from "../core/server";
import { instantIn, setPoint, shortTime, type Point } from "../core/times";
import type { Version, Vertex } from "../explore/api";
import { periodText } from "../explore/element";
import { shownValue } from "../explore/look";
import { refOf } from "../explore/refs";
import { TwoTimeChart } from "../explore/twotime";
import * as api from "./api";
import { Lineage } from "./lineage";

function Rows(props: { rows: [string, unknown][] }) {
  return (
    <table class="properties">
      <tbody>
        <For each={props.rows} fallback={<tr><td class="quiet">{t("noProperties")}</td></tr>}>
          {([key, value]) => (
            <tr>
              <th scope="row">{key}</th>
              <td>{shownValue(value)}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

function provenance(header: Record<string, unknown>): [string, unknown][] {
  const by = (who: string, when: string) => header[who] && [header[who], header[when]].filter(Boolean).join(" · ");
  const rows: [string, unknown][] = [
    ["GUID", header._guid],
    [t("taskStatus"), header._status],
    [t("versionNumber"), header._version],
    [t("createdBy"), by("_createdBy", "_createTime")],
    [t("updatedBy"), by("_updatedBy", "_updateTime")],
    [t("collection"), header._metadataCollectionName],
    [t("provenance"), header._instanceProvenanceType],
  ];
  return rows.filter(([, value]) => value !== undefined && value !== "");
}

function Related(props: { of: Vertex; found: api.Related; step: (ref: string) => void }) {
  const groups = () => {
    const found = new Map<string, { other: Vertex; isOut: boolean }[]>();
    for (const { label, source, target } of props.found.edges) {
      const isOut = source === props.of.ref;
      const other = props.found.vertices.get(isOut ? target : source) ?? (source === target ? props.of : undefined);
      if (other) found.set(label, [...(found.get(label) ?? []), { other, isOut }]);
    }
    return [...found].sort(([a], [b]) => a.localeCompare(b));
  };
  return (
    <>
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
                    <button class="row-button" onClick={() => props.step(other.ref)}>
                      <span>{`${isOut ? "→" : "←"} ${api.titleOf(other)}`}</span>
                      <span class="count">{other.label}</span>
                    </button>
                  </li>
                )}
              </For>
            </ul>
          </>
        )}
      </For>
      <Show when={props.found.truncated}>
        <p class="notice">{t("truncated")}</p>
      </Show>
    </>
  );
}

function VersionRow(props: { version: Version }) {
  const { version } = props;
  const own = () => partsOf(Object.fromEntries(version.properties_changed.map((key) => [key, version.element?.properties[key]])));
  const changes = () => {
    const { own: properties, classifications, header } = own();
    const named = [...properties, ...classifications.flatMap((each) => each.properties.map(([key, value]): [string, unknown] => [`${each.name}.${key}`, value]))];
    return [...named, ...(header._classifications === undefined ? [] : [[t("classifications"), header._classifications] as [string, unknown]])];
  };
  const goTo = () => setPoint({ trueAt: instantIn(version.valid_from, version.valid_to), knownAt: version.version });
  return (
    <li>
      <button class="history-row" onClick={goTo} title={t("goToVersion")}>
        <span class="history-when">
          {[shortTime(version.recorded_at, language()), version.element?.properties._updatedBy ?? version.element?.properties._createdBy].filter(Boolean).join(" · ")}
        </span>
        <span class="history-period">{periodText(version.valid_from, version.valid_to)}</span>
        <span class="badges">
          <For each={version.kind === "delete" ? version.badges : []}>{(name) => <span class={`badge ${name}`}>{tIfKnown(`badge_${name}`) ?? name}</span>}</For>
        </span>
        <span class="history-change">{changes().map(([key, value]) => `${key}: ${shownValue(value)}`).join(" · ")}</span>
      </button>
    </li>
  );
}

function Versions(props: { of: string }) {
  const [versions] = createResource(() => props.of, api.versionsOf);
  return (
    <Show when={!versions.error} fallback={<p class="failure">{messageOf(versions.error)}</p>}>
      <Show when={ready(versions)} fallback={<p class="quiet">{t("loading")}</p>}>
        {(found) => (
          <>
            <div class="versions-chart">
              <TwoTimeChart versions={found().versions} />
            </div>
            <ol class="history">
              <For each={found().versions}>{(version) => <VersionRow version={version} />}</For>
            </ol>
            <Show when={found().truncated}>
              <p class="notice">{t("truncated")}</p>
            </Show>
          </>
        )}
      </Show>
    </Show>
  );
}

/** Shows an entity on the canvas of the repository's graph. */
async function explore(ref: string): Promise<void> {
  const name = await api.repositoryGraph();
  const { restart, select } = await import("../explore/state");
  if (graph() !== name) setGraph(name);
  restart([ref]);
  select(ref);
  go("explore");
}

export function EntityView(props: { guid: string; at: Point; step: (ref: string) => void }) {
  const source = () => ({ guid: props.guid, at: props.at });
  const [entity] = createResource(source, ({ guid, at }) => api.entity(guid, at));
  const [found] = createResource(source, ({ guid, at }) => api.related([refOf(guid, "text")], at));
  const [isOpen, setOpen] = createSignal(false);
  return (
    <Show when={!entity.error} fallback={<p class="failure">{messageOf(entity.error)}</p>}>
      <Show when={ready(entity)} fallback={<p class="quiet">{t("loading")}</p>}>
        {(vertex) => {
          const parts = () => partsOf(vertex().properties);
          return (
            <section class="entity-view">
              <header>
                <div>
                  <h2>{api.titleOf(vertex())}</h2>
                  <p class="quiet">{vertex().label}</p>
                </div>
                <button class="button small" onClick={() => void explore(vertex().ref)}>{t("seeInGraph")}</button>
              </header>
              <p class="badges">
                <For each={parts().classifications}>
                  {(each) => (
                    <span class="badge" title={each.properties.map(([key, value]) => `${key}: ${shownValue(value)}`).join("\n")}>
                      {each.name}
                    </span>
                  )}
                </For>
              </p>
              <Rows rows={parts().own} />
              <h3>{t("provenance")}</h3>
              <Rows rows={[[t("editPeriod"), periodText(vertex().valid_from, vertex().valid_to)], ...provenance(parts().header)]} />
              <Show when={!found.error} fallback={<p class="failure">{messageOf(found.error)}</p>}>
                <Show when={ready(found)}>
                  {(related) => (
                    <>
                      <Lineage of={vertex()} found={related()} at={props.at} step={props.step} />
                      <Related of={vertex()} found={related()} step={props.step} />
                    </>
                  )}
                </Show>
              </Show>
              <h3>{t("history")}</h3>
              <Show
                when={isOpen()}
                fallback={<button class="button small" data-action="versions" onClick={() => setOpen(true)}>{t("showHistory")}</button>}
              >
                <Versions of={vertex().ref} />
              </Show>
            </section>
          );
        }}
      </Show>
    </Show>
  );
}
