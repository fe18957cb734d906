// The explore page: canvas, toolbar, time bar, and the pane beside it.

import { createEffect, createSignal, For, on, onMount, Show } from "solid-js";
import { number, t, type Key } from "../i18n";
import { route } from "../core/route";
import { Icon, type IconName } from "../parts/icon";
import { Dialog } from "../parts/dialog";
import { Canvas, control, layoutName, setLayoutName } from "./canvas";
import { CompareDialog } from "./compare";
import { EditDialog } from "./edit";
import { ElementPane } from "./element";
import { ExportDialog } from "./export";
import { ExpandDialog, expandDialog, setExpandDialog } from "./expand";
import { group, grouping, GROUPINGS } from "./groups";
import { listenToKeys } from "./keys";
import { LabelTable, tableOf } from "./labeltable";
import { LAYOUTS, type LayoutName } from "./layout";
import { ChangesPane, ElementList, Legend } from "./lists";
import { createVertex, mayCreate, Menu } from "./menu";
import { PathHint } from "./path";
import { PickedBar } from "./picked";
import { nameOfRef } from "./look";
import { keepCanvas, restore } from "./remember";
import { ScenesDialog } from "./scenes";
import * as share from "./share";
import { SearchBox } from "./search";
import { Start, startTour, Tour, tourWaits } from "./start";
import {
  announcement, arrange, boxing, busy, canRedo, canUndo, difference, during, follow, more, problem, redo, restart,
  selected, setBoxing, setMore, setProblem, shown, undo, view,
} from "./state";
import { comparePanel, TimeBar, TimeNotice } from "./timebar";

type Tab = "element" | "list" | "changes";

function ToolButton(props: { icon: IconName; name: Key; disabled?: boolean; act: () => void }) {
  return (
    <button class="icon-button" data-tool={props.name} disabled={props.disabled} onClick={() => props.act()} title={t(props.name)} aria-label={t(props.name)}>
      <Icon name={props.icon} />
    </button>
  );
}

function ShareDialog(props: { url: string | null; close: () => void }) {
  const [copied, setCopied] = createSignal(false);
  const copy = async () => {
    await during(() => navigator.clipboard.writeText(props.url ?? ""));
    setCopied(true);
  };
  return (
    <Dialog title={t("share")} close={props.close}>
      <Show when={props.url} fallback={<p class="notice">{t("shareTooLong")}</p>}>
        {(url) => (
          <>
            <p>{t("shareText")}</p>
            <textarea class="mono" readonly rows="4" aria-label={t("share")} value={url()} onFocus={(event) => event.currentTarget.select()} />
            <div class="dialog-actions">
              <button class="button primary" onClick={() => void copy()}>
                {copied() ? t("copied") : t("copy")}
              </button>
            </div>
          </>
        )}
      </Show>
    </Dialog>
  );
}

/** Places all vertices by another layout. */
function layOut(name: LayoutName): void {
  setLayoutName(name);
  arrange();
}

function GroupChoice() {
  return (
    <label class="select-label">
      <select data-grouping={grouping()} aria-label={t("grouping")} title={t("groupingHint")} onChange={(event) => group(GROUPINGS.find((name) => name === event.currentTarget.value) ?? "auto")}>
        <For each={GROUPINGS}>
          {(name) => (
            <option value={name} selected={grouping() === name}>
              {t(`grouping_${name}`)}
            </option>
          )}
        </For>
      </select>
    </label>
  );
}

function Toolbar() {
  const [exporting, setExporting] = createSignal(false);
  const [scenes, setScenes] = createSignal(false);
  const [url, setUrl] = createSignal<string | null | undefined>(undefined);
  return (
    <div class="toolbar" role="toolbar" aria-label={t("canvasTools")}>
      <ToolButton icon="undo" name="undo" disabled={!canUndo()} act={undo} />
      <ToolButton icon="redo" name="redo" disabled={!canRedo()} act={redo} />
      <ToolButton icon="fit" name="fit" act={() => control()?.fit()} />
      <span class="wide-only">
        <ToolButton icon="plus" name="zoomIn" act={() => control()?.zoom(1.5)} />
        <ToolButton icon="minus" name="zoomOut" act={() => control()?.zoom(1 / 1.5)} />
      </span>
      <label class="select-label">
        <Icon name="layout" />
        <select aria-label={t("layout")} title={t("layout")} onChange={(event) => layOut(LAYOUTS.find((name) => name === event.currentTarget.value) ?? "force")}>
          <For each={LAYOUTS}>
            {(name) => (
              <option value={name} selected={layoutName() === name}>
                {t(`layout_${name}`)}
              </option>
            )}
          </For>
        </select>
      </label>
      <GroupChoice />
      <button
        class="icon-button" data-tool="pickBox" aria-pressed={boxing()} disabled={shown().length === 0} onClick={() => setBoxing(!boxing())}
        title={t("pickBox")} aria-label={t("pickBox")}
      >
        <Icon name="box" />
      </button>
      <ToolButton icon="arrange" name="arrange" act={arrange} />
      <Show when={mayCreate()}>
        <ToolButton icon="newVertex" name="newVertex" act={createVertex} />
      </Show>
      <ToolButton icon="trash" name="clearCanvas" disabled={shown().length === 0} act={() => restart([])} />
      <ToolButton icon="share" name="share" disabled={shown().length === 0} act={() => void share.link().then(setUrl)} />
      <ToolButton icon="scenes" name="scenes" act={() => setScenes(true)} />
      <ToolButton icon="download" name="exportGraph" act={() => setExporting(true)} />
      <Show when={exporting()}>
        <ExportDialog close={() => setExporting(false)} />
      </Show>
      <Show when={scenes()}>
        <ScenesDialog close={() => setScenes(false)} />
      </Show>
      <Show when={url() !== undefined}>
        <ShareDialog url={url() ?? null} close={() => setUrl(undefined)} />
      </Show>
    </div>
  );
}

function MoreChip() {
  const rest = () => {
    const found = more();
    if (!found) return 0;
    const there = [...view().edges.values()].filter((edge) => edge.source === found.ref || edge.target === found.ref).length;
    return Math.max(0, found.groups.reduce((sum, group) => sum + group.count, 0) - there);
  };
  return (
    <Show when={rest() > 0 ? more() : null}>
      {(found) => (
        <div class="float-hint" role="status">
          {t("moreOf", { count: number(rest()), name: nameOfRef(found().ref) })}
          <button class="text-button" onClick={() => setExpandDialog(found().ref)}>
            {t("choose")}
          </button>
          <button class="icon-button small" onClick={() => setMore(null)} aria-label={t("close")}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </Show>
  );
}

/** For who listens: what the last step did. */
function Announcement() {
  const text = () => {
    const [kind, first = "0", second = "0"] = announcement().split(":");
    if (kind === "expanded") return t("announceExpanded", { added: first, rest: second });
    if (kind === "paths") return t("announcePaths", { count: first });
    if (kind === "picked") return t("pickedCount", { count: first });
    return "";
  };
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {text()}
    </div>
  );
}

function Pane() {
  const [tab, setTab] = createSignal<Tab>("element");
  createEffect(on(selected, (ref) => ref !== null && (tab() !== "changes" || !difference()) && setTab("element"), { defer: true }));
  createEffect(on(difference, (found) => found && setTab("changes"), { defer: true }));
  const tabs: [Tab, Key][] = [["element", "paneElement"], ["list", "paneList"], ["changes", "paneChanges"]];
  return (
    <aside class="pane" aria-label={t("pane")}>
      <div class="tabs pane-tabs" role="tablist" aria-label={t("pane")}>
        <For each={tabs}>
          {([name, key]) => (
            <button role="tab" id={`tab-${name}`} aria-controls="pane-content" aria-selected={tab() === name} onClick={() => setTab(name)}>
              {t(key)}
            </button>
          )}
        </For>
      </div>
      <div class="pane-content" id="pane-content" role="tabpanel" aria-labelledby={`tab-${tab()}`} tabindex="0">
        <Show when={tab() === "element"}>
          <ElementPane />
        </Show>
        <Show when={tab() === "list"}>
          <ElementList />
        </Show>
        <Show when={tab() === "changes"}>
          <ChangesPane />
        </Show>
      </div>
    </aside>
  );
}

export default function ExplorePage() {
  follow();
  onMount(() => {
    listenToKeys();
    const { parameters } = route();
    if (!share.isLink(parameters) && shown().length === 0) restore();
    keepCanvas();
    void share.openLink(parameters);
  });
  createEffect(
    on(route, (current) => {
      if (current.page === "explore") void share.openLink(current.parameters);
    }, { defer: true }),
  );
  return (
    <div class="explore">
      <TimeBar />
      <TimeNotice />
      <div class="explore-body">
        <div class="stage">
          <Show when={shown().length} fallback={<Start />}>
            <div class="stage-top">
              <SearchBox />
              <Toolbar />
            </div>
            <Canvas />
            <Legend />
            <div class="stage-hints">
              <PickedBar />
              <PathHint />
              <MoreChip />
              <Tour />
              <Show when={tourWaits()}>
                <button class="text-button tour-start" onClick={startTour}>
                  {t("startTour")}
                </button>
              </Show>
            </div>
          </Show>
          <Show when={problem()}>
            {(message) => (
              <div class="problem" role="alert">
                <Icon name="warn" />
                <span>{message()}</span>
                <button class="icon-button small" onClick={() => setProblem(null)} aria-label={t("close")}>
                  <Icon name="close" />
                </button>
              </div>
            )}
          </Show>
          <div class="busy" classList={{ on: busy() > 0 }} aria-hidden="true" />
        </div>
        <Show when={shown().length}>
          <Pane />
        </Show>
      </div>
      <Announcement />
      <Menu />
      <EditDialog />
      <Show when={comparePanel()}>
        <CompareDialog />
      </Show>
      <Show when={tableOf()} keyed>
        {(of) => <LabelTable of={of} />}
      </Show>
      <Show when={expandDialog()} keyed>
        {(ref) => <ExpandDialog of={ref} />}
      </Show>
    </div>
  );
}
