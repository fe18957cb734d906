// The element that is selected: its state, its neighbours, its history, and when all that was
// known.

import { createEffect, createResource, createSignal, For, on, Show } from "solid-js";
import { language, t, tIfKnown, number, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { emptyText } from "../core/text";
import { messageOf } from "../core/http";
import { ready } from "../core/resource";
import { instantIn, point, shortTime } from "../core/times";
import { Icon } from "../parts/icon";
import { Tabs } from "../parts/tabs";
import * as api from "./api";
import type { Element, Group, Version } from "./api";
import { colorOf, edgeColorOf, idText, nameOf, nameOfRef, propertyText, shownProperty } from "./look";
import { expand, hide, pinned, remember, select, selectedElement, show, shown, summary, travel } from "./state";
import { edgesBeside } from "./sides";
import { TwoTimeChart } from "./twotime";
import { isInstance, partsOf } from "../core/entity";
import { mayWrite } from "../core/rights";
import { edit } from "./edit";
import { setExpandDialog } from "./expand";
import { setPathFrom } from "./path";

export function periodText(from: string | null, to: string | null): string {
  const lang = language();
  return t("period", {
    from: from === null ? t("always") : shortTime(from, lang),
    to: to === null ? t("open") : shortTime(to, lang),
  });
}

export function Swatch(props: { label: string; edge?: boolean }) {
  return (
    <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
      <Show when={props.edge} fallback={<circle cx="6" cy="6" r="5" fill={colorOf(props.label)} />}>
        <path d="M1 10 10 2M6 2h4v4" class="swatch-edge" stroke={edgeColorOf(props.label)} />
      </Show>
    </svg>
  );
}

function Rows(props: { rows: [string, unknown][] }) {
  return (
    <Show when={props.rows.length} fallback={<p class="quiet">{t("noProperties")}</p>}>
      <table class="properties">
        <tbody>
          <For each={props.rows}>
            {([key, value]) => (
              <tr>
                <th scope="row">{key}</th>
                <td classList={{ quiet: emptyText(value) !== undefined }}>{shownProperty(key, value)}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </Show>
  );
}

/** What the repository adds to an instance is apart from its own properties. */
function Properties(props: { element: Element }) {
  const parts = () => (isInstance(props.element.properties) ? partsOf(props.element.properties) : null);
  return (
    <Show when={parts()} fallback={<Rows rows={Object.entries(props.element.properties)} />}>
      {(found) => (
        <>
          <Rows rows={found().own} />
          <For each={found().classifications}>
            {({ name, properties }) => (
              <>
                <h3>{name}</h3>
                <Show when={properties.length}><Rows rows={properties} /></Show>
              </>
            )}
          </For>
          <details class="header-rows">
            <summary>{t("provenance")}</summary>
            <Rows rows={Object.entries(found().header).map(([key, value]) => [key.slice(1), value])} />
          </details>
        </>
      )}
    </Show>
  );
}

/** Neighbours of one group that are named at once. */
const NAMED_MAX = 50;

/** Which vertices a group of neighbours has, with the periods of their edges. */
function GroupMembers(props: { of: string; group: Group; groups: readonly Group[] }) {
  const [members] = createResource(
    () => ({ ref: props.of, at: point(), group: props.group, limit: edgesBeside(props.group, props.groups, summary()?.limits.expand_edges_max ?? NAMED_MAX) }),
    async ({ ref, at, group: { label, direction, other_label }, limit }) => {
      const found = await api.expand(at, { ids: [ref], labels: [label], direction, limit });
      remember(found.vertices);
      remember(found.edges);
      const all = found.edges.flatMap((edge) => {
        const isOut = edge.source === ref;
        const label = isOut ? edge.target_label : edge.source_label;
        // A loop is in both directions.
        const isOfGroup = label === other_label && (isOut === (direction === "OUT") || edge.source === edge.target);
        return isOfGroup ? [{ edge, other: isOut ? edge.target : edge.source }] : [];
      });
      return all.slice(0, NAMED_MAX);
    },
  );
  const rest = () => props.group.count - (ready(members)?.length ?? 0);
  const go = (ref: string) => {
    if (!shown().includes(ref)) show([...shown(), ref]);
    select(ref);
  };
  return (
    <Show when={!members.error} fallback={<p class="quiet">{messageOf(members.error)}</p>}>
      <ul class="members">
        <For each={ready(members) ?? []} fallback={<Show when={members.loading || rest() <= 0}><li class="quiet">{members.loading ? t("loading") : t("noNeighbours")}</li></Show>}>
          {({ edge, other }) => (
            <li>
              <button class="link" onClick={() => go(other)}>{nameOfRef(other)}</button>{" "}
              <span class="quiet mono">{idText(other)}</span>{" "}
              <span class="quiet">{periodText(edge.valid_from, edge.valid_to)}</span>
            </li>
          )}
        </For>
        <Show when={ready(members) && rest() > 0}>
          <li class="quiet">{t("moreNeighbours", { count: number(rest()) })}</li>
        </Show>
      </ul>
    </Show>
  );
}

const keyOf = (group: Group) => `${group.direction} ${group.label} ${group.other_label}`;

function Neighbours(props: { element: Element }) {
  const source = () => ({ ref: props.element.ref, at: point() });
  const [counts] = createResource(source, async ({ ref, at }) => {
    const found = await api.expand(at, { ids: [ref], limit: 0, counts: true });
    return found.counts?.[0]?.groups ?? [];
  });
  const title = (group: Group) =>
    group.direction === "OUT" ? `${group.label} → ${group.other_label}` : `${group.label} ← ${group.other_label}`;
  const [open, setOpen] = createSignal<ReadonlySet<string>>(new Set<string>());
  const toggle = (key: string) => {
    const next = new Set(open());
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  return (
    <Show when={!counts.error} fallback={<p class="quiet">{messageOf(counts.error)}</p>}>
      <ul class="groups">
        <For each={ready(counts) ?? []} fallback={<li class="quiet">{counts.loading ? t("loading") : t("noNeighbours")}</li>}>
          {(group) => (
            <li>
              <div class="group-row">
                <button
                  class="icon-button small fold"
                  aria-expanded={open().has(keyOf(group))}
                  onClick={() => toggle(keyOf(group))}
                  title={t("whichNeighbours")}
                  aria-label={`${t("whichNeighbours")}: ${title(group)}`}
                >
                  <Icon name="right" />
                </button>
                <button
                  class="row-button"
                  onClick={() => void expand([props.element.ref], { labels: [group.label], direction: group.direction })}
                  title={t("expandGroup")}
                >
                  <span>{title(group)}</span>
                  <span class="count">
                    {number(group.count)}
                    {group.at_least ? "+" : ""}
                  </span>
                </button>
              </div>
              <Show when={open().has(keyOf(group))}>
                <GroupMembers of={props.element.ref} group={group} groups={ready(counts) ?? []} />
              </Show>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

function HistoryRow(props: { version: Version }) {
  const at = () => travel({ trueAt: instantIn(props.version.valid_from, props.version.valid_to), knownAt: props.version.version });
  const badge = (name: string) => tIfKnown(`badge_${name}`) ?? name;
  const changes = () =>
    props.version.properties_changed.map((key) => `${key}: ${propertyText(key, props.version.element?.properties[key])}`);
  return (
    <li>
      <button class="history-row" onClick={at} title={t("goToVersion")}>
        <span class="history-when">{shortTime(props.version.recorded_at, language())}</span>
        <span class="history-period">{periodText(props.version.valid_from, props.version.valid_to)}</span>
        <span class="badges">
          <For each={props.version.badges}>{(name) => <span class={`badge ${name}`}>{badge(name)}</span>}</For>
        </span>
        <Show when={changes().length}>
          <span class="history-change">{changes().join(" · ")}</span>
        </Show>
      </button>
    </li>
  );
}

function History(props: { element: Element }) {
  const [history] = createResource(
    () => ({ type: props.element.type, ref: props.element.ref }),
    (element) => api.history(element),
  );
  return (
    <Show when={!history.error} fallback={<p class="quiet">{messageOf(history.error)}</p>}>
      <Show when={ready(history)} fallback={<p class="quiet">{t("loading")}</p>}>
        {(found) => (
          <>
            <h3>{t("twoTimes")}</h3>
            <TwoTimeChart versions={found().versions} />
            <h3>{t("history")}</h3>
            <ol class="history">
              <For each={found().versions}>{(version) => <HistoryRow version={version} />}</For>
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

function EditButtons(props: { element: Element }) {
  return (
    <Show when={mayWrite() && !isInstance(props.element.properties)}>
      <button class="icon-button" data-action="edit" onClick={() => edit({ kind: "change", element: props.element })} title={t("edit")} aria-label={t("edit")}>
        <Icon name="edit" />
      </button>
      <button class="icon-button" data-action="delete" onClick={() => edit({ kind: "delete", element: props.element })} title={t("deleteElement")} aria-label={t("deleteElement")}>
        <Icon name="trash" />
      </button>
    </Show>
  );
}

function Actions(props: { element: Element }) {
  const [isPinned, setPinned] = createSignal(false);
  createEffect(on(() => props.element.ref, (ref) => setPinned(pinned.has(ref))));
  const pin = () => {
    const { ref } = props.element;
    if (!pinned.delete(ref)) pinned.add(ref);
    setPinned(pinned.has(ref));
  };
  return (
    <Show when={props.element.type === "vertex"} fallback={<div class="actions"><EditButtons element={props.element} /></div>}>
      <div class="actions">
        <button class="button small" onClick={() => void expand([props.element.ref])} title={t("expandHint")}>
          <Icon name="expand" />
          {t("expand")}
        </button>
        <button class="icon-button" data-action="expand-with" onClick={() => setExpandDialog(props.element.ref)} title={t("expandWith")} aria-label={t("expandWith")}>
          <Icon name="more" />
        </button>
        <button class="icon-button" onClick={() => setPathFrom(props.element.ref)} title={t("pathFrom")} aria-label={t("pathFrom")}>
          <Icon name="path" />
        </button>
        <button class="icon-button" aria-pressed={isPinned()} onClick={pin} title={t("pin")} aria-label={t("pin")}>
          <Icon name="pin" />
        </button>
        <button class="icon-button" onClick={() => hide([props.element.ref])} title={t("hide")} aria-label={t("hide")}>
          <Icon name="hide" />
        </button>
        <EditButtons element={props.element} />
      </div>
    </Show>
  );
}

/** The vertices that show an element: itself, or its ends. */
const endsOf = (element: Element): string[] => (element.type === "edge" ? [element.source, element.target] : [element.ref]);

const [elementTab, setElementTab] = createSignal<"state" | "history" | "json">("state");
export { elementTab, setElementTab };

export function ElementPane() {
  const tabs: [ReturnType<typeof elementTab>, Key][] = [["state", "tabState"], ["history", "tabHistory"], ["json", "tabJson"]];
  return (
    <Show when={selectedElement()} fallback={<p class="quiet pane-hint">{t("selectHint")}</p>} keyed>
      {({ element, standing }) => (
        <div class="element" data-ref={element.ref}>
          <header class="element-head">
            <Swatch label={element.label} edge={element.type === "edge"} />
            <div>
              <h2>{nameOf(element)}</h2>
              <p class="quiet">
                {element.label} · <span class="mono">{idText(element.ref)}</span>
              </p>
            </div>
            <button class="icon-button small" onClick={() => select(null)} aria-label={t("deselect")} title={t("deselect")}>
              <Icon name="close" />
            </button>
          </header>
          <Show when={element.type === "edge" ? element : null}>
            {(edge) => (
              <p class="ends">
                <button class="link" onClick={() => select(edge().source)}>{nameOfRef(edge().source)}</button>
                {" → "}
                <button class="link" onClick={() => select(edge().target)}>{nameOfRef(edge().target)}</button>
              </p>
            )}
          </Show>
          <Show when={standing === "away"}>
            <p class="absent" role="status">
              {t("awayNow")} <button class="text-button" data-action="show-selected" onClick={() => show([...shown(), ...endsOf(element)])}>{t("showIt")}</button>
            </p>
          </Show>
          <Show when={standing !== "absent"} fallback={<p class="absent" role="status">{t("absentNow")}</p>}>
            <p class="validity">
              <strong>{periodText(element.valid_from, element.valid_to)}</strong>
              <span class="quiet">{t("recordedAt", { time: shortTime(element.recorded_at, language()) })}</span>
            </p>
          </Show>
          <Actions element={element} />
          <Tabs label={t("elementParts")} tabs={tabs} chosen={elementTab()} choose={setElementTab} />
          <Show when={elementTab() === "state"}>
            <Show when={standing !== "absent"}>
              <Properties element={element} />
              <Show when={element.type === "vertex"}>
                <h3>{t("neighbours")}</h3>
                <Neighbours element={element} />
              </Show>
            </Show>
          </Show>
          <Show when={elementTab() === "history"}>
            <History element={element} />
          </Show>
          <Show when={elementTab() === "json"}>
            <pre class="json" tabindex="0">{formatJson(element)}</pre>
          </Show>
        </div>
      )}
    </Show>
  );
}
