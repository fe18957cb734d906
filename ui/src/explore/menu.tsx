// The menu of the right mouse button: what can be done with a vertex, an edge, a group or the canvas.

import { createResource, createSignal, For, onCleanup, onMount, Show, type JSX } from "solid-js";
import { number, t } from "../i18n";
import { messageOf } from "../core/http";
import { ready } from "../core/resource";
import { point } from "../core/times";
import { Icon, type IconName } from "../parts/icon";
import * as api from "./api";
import { control, menu, openGroup, setMenu, type MenuPlace } from "./canvas";
import { isInstance } from "../core/entity";
import { mayWrite } from "../core/rights";
import { edit } from "./edit";
import { elementTab, setElementTab } from "./element";
import { groups, isGroup, opened, toggleGroup } from "./groups";
import { idText, nameOf, nameOfRef } from "./look";
import { findPaths, setPathFrom } from "./path";
import {
  arrange, expand, hide, picked, pinned, pickNeighboursOf, select, selected, setPicked, shown, summary, togglePinned, view,
} from "./state";

function Item(props: { icon?: IconName; act: () => void; children: JSX.Element; name: string }) {
  return (
    <li role="none">
      <button
        role="menuitem"
        tabindex="-1"
        data-menu={props.name}
        onClick={() => {
          setMenu(null);
          props.act();
        }}
      >
        <Show when={props.icon} fallback={<span class="icon" />}>{(icon) => <Icon name={icon()} />}</Show>
        <span>{props.children}</span>
      </button>
    </li>
  );
}

/** Neighbours by label and direction, with their counts. */
function Expansions(props: { of: string }) {
  const [groups] = createResource(
    () => props.of,
    async (ref) => (await api.expand(point(), { ids: [ref], limit: 0, counts: true })).counts?.[0]?.groups ?? [],
  );
  return (
    <Show when={!groups.error} fallback={<li class="quiet menu-note">{messageOf(groups.error)}</li>}>
      <For each={ready(groups)} fallback={<li role="none" class="quiet menu-note">{t(groups.loading ? "loading" : "noNeighbours")}</li>}>
        {(group) => (
          <Item name="expand-group" act={() => void expand([props.of], { labels: [group.label], direction: group.direction })}>
            {group.direction === "OUT" ? `${group.label} → ${group.other_label}` : `${group.label} ← ${group.other_label}`}
            <span class="count">{number(group.count)}{group.at_least ? "+" : ""}</span>
          </Item>
        )}
      </For>
    </Show>
  );
}

function VertexItems(props: { of: string }) {
  const ref = () => props.of;
  const from = () => selected();
  const otherName = () => (from() !== null && from() !== ref() && view().vertices.has(from()!) ? nameOfRef(from()!) : null);
  const group = () => groups().find((each) => opened().has(each.key) && each.members.includes(ref()));
  return (
    <>
      <Item name="expand" icon="expand" act={() => void expand([ref()])}>{t("expand")}</Item>
      <Expansions of={ref()} />
      <li role="separator" />
      <Item name="neighbours" icon="neighbours" act={() => setPicked(pickNeighboursOf([ref()]))}>{t("menuPickNeighbours")}</Item>
      <Item name="path-from" icon="path" act={() => setPathFrom(ref())}>{t("menuPathFrom")}</Item>
      <Show when={otherName()}>
        {(name) => <Item name="path-to" icon="path" act={() => void findPaths(from()!, ref())}>{t("menuPathTo", { name: name() })}</Item>}
      </Show>
      <li role="separator" />
      <Item name="pin" icon="pin" act={() => togglePinned([ref()])}>{t(pinned.has(ref()) ? "unpin" : "pin")}</Item>
      <Item name="hide" icon="hide" act={() => hide(picked().has(ref()) ? picked() : [ref()])}>
        {picked().has(ref()) && picked().size > 1 ? t("menuHidePicked", { count: picked().size }) : t("hide")}
      </Item>
      <Show when={group()}>
        {(of) => <Item name="close-group" icon="box" act={() => toggleGroup(of().key)}>{t("closeGroup")}</Item>}
      </Show>
      <li role="separator" />
      <ElementItems of={ref()} />
    </>
  );
}

/** What vertices and edges have. */
function ElementItems(props: { of: string }) {
  const open = (tab: ReturnType<typeof elementTab>) => {
    select(props.of);
    setElementTab(tab);
  };
  const element = () => view().vertices.get(props.of) ?? view().edges.get(props.of);
  /** Instances of the metadata repository change by its own calls only. */
  const changeable = () => {
    const found = element();
    return found && mayWrite() && !isInstance(found.properties) ? found : undefined;
  };
  return (
    <>
      <Show when={changeable()}>
        {(found) => (
          <>
            <Item name="edit" icon="edit" act={() => edit({ kind: "change", element: found() })}>{t("edit")}</Item>
            <Show when={found().type === "vertex"}>
              <Item name="new-edge" icon="plus" act={() => edit({ kind: "edge", source: props.of })}>{t("newEdgeFrom")}</Item>
            </Show>
            <Item name="delete" icon="trash" act={() => edit({ kind: "delete", element: found() })}>{t("deleteElement")}</Item>
          </>
        )}
      </Show>
      <Item name="history" icon="clock" act={() => open("history")}>{t("history")}</Item>
      <Item name="copy-id" icon="copy" act={() => void navigator.clipboard.writeText(idText(props.of)).catch(() => undefined)}>{t("copyId")}</Item>
    </>
  );
}

/** The label that the graph of an open-metadata repository has. */
const OF_REPOSITORY = "OpenMetadataRoot";

/** Whether new vertices are offered. The graph of a repository takes none. */
export const mayCreate = (): boolean => mayWrite() && !summary()?.vertices.some(({ label }) => label === OF_REPOSITORY);
export const createVertex = (): void => void edit({ kind: "vertex" });

function StageItems() {
  return (
    <>
      <Show when={mayCreate()}>
        <Item name="new-vertex" icon="newVertex" act={createVertex}>{t("newVertex")}</Item>
      </Show>
      <Item name="fit" icon="fit" act={() => control()?.fit()}>{t("fit")}</Item>
      <Item name="arrange" icon="arrange" act={arrange}>{t("arrange")}</Item>
      <Item name="pick-all" icon="box" act={() => setPicked(new Set(shown()))}>{t("pickAll")}</Item>
    </>
  );
}

function GroupItems(props: { of: string }) {
  const group = () => groups().find(({ key }) => key === props.of);
  return (
    <Show when={group()}>
      {(found) => (
        <>
          <Item name="open-group" icon="expand" act={() => openGroup(found().key)}>{t("openGroup", { count: number(found().members.length) })}</Item>
          <Item name="pick-group" icon="box" act={() => setPicked(new Set(found().members))}>{t("pickGroup")}</Item>
          <Item name="hide-group" icon="hide" act={() => hide(found().members)}>{t("hide")}</Item>
        </>
      )}
    </Show>
  );
}

/** The menu stays within the window. */
function keepInside(element: HTMLElement, { x, y }: MenuPlace): void {
  const { width, height } = element.getBoundingClientRect();
  element.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
  element.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
}

function Opened(props: { place: MenuPlace }) {
  let list!: HTMLUListElement;
  const [name, setName] = createSignal("");
  const before = document.activeElement;
  onMount(() => {
    const { target } = props.place;
    const element = target.key === null ? undefined : (view().vertices.get(target.key) ?? view().edges.get(target.key));
    setName(element ? nameOf(element) : t("canvasTools"));
    keepInside(list, props.place);
    list.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const sized = new ResizeObserver(() => keepInside(list, props.place));
    sized.observe(list);
    const away = (event: PointerEvent) => {
      if (!list.contains(event.target as Node)) setMenu(null);
    };
    addEventListener("pointerdown", away, true);
    onCleanup(() => {
      sized.disconnect();
      removeEventListener("pointerdown", away, true);
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    });
  });
  const onKey = (event: KeyboardEvent) => {
    const items = [...list.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to: Record<string, number> = { ArrowDown: (at + 1) % items.length, ArrowUp: (at - 1 + items.length) % items.length, Home: 0, End: items.length - 1 };
    const next = to[event.key];
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      setMenu(null);
    } else if (next !== undefined) {
      event.preventDefault();
      items[next]?.focus();
    }
  };
  const kind = () => {
    const { target } = props.place;
    if (target.key === null) return "stage";
    return isGroup(target.key) ? "group" : target.kind;
  };
  const key = () => props.place.target.key ?? "";
  return (
    <ul class="menu" role="menu" aria-label={name()} ref={list} onKeyDown={onKey} onContextMenu={(event) => event.preventDefault()}>
      <Show when={kind() !== "stage"}>
        <li class="menu-title" role="presentation">{kind() === "group" ? t("group") : nameOfRef(key())}</li>
      </Show>
      <Show when={kind() === "vertex"}><VertexItems of={key()} /></Show>
      <Show when={kind() === "edge"}><ElementItems of={key()} /></Show>
      <Show when={kind() === "group"}><GroupItems of={key()} /></Show>
      <Show when={kind() === "stage"}><StageItems /></Show>
    </ul>
  );
}

export function Menu() {
  return (
    <Show when={menu()} keyed>
      {(place) => <Opened place={place} />}
    </Show>
  );
}

