// What is shown as text: the legend, the list of elements with their neighbours, the differences.

import { createMemo, createSignal, For, Show } from "solid-js";
import { t, number } from "../i18n";
import type { Changed, Edge, Element, LabelCount, Vertex } from "./api";
import { Icon } from "../parts/icon";
import { pointText } from "../parts/timefields";
import { Swatch } from "./element";
import { clearEmphasis, emphasis, neutralColor, rampAt } from "./emphasis";
import { idText, nameOf, nameOfRef, shownProperty } from "./look";
import { shorten } from "../core/text";
import { setTableOf } from "./labeltable";
import { ScaleKey } from "./scalekey";
import { scaleOf } from "./scales";
import {
  difference, FIRST_LIMIT, ghosts, hiddenLabels, hide, picked, sampleMax, select, selected, setGhosts, setLit, showSample, shown,
  toggleLabel, togglePicked, totals, view, unpick,
} from "./state";
import { isSame } from "./timebar";
import { StyleDialog, type Styled } from "./styledialog";

function countBy(elements: Iterable<Element>): [string, number][] {
  const counts = new Map<string, number>();
  for (const element of elements) counts.set(element.label, (counts.get(element.label) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}

function LegendRow(props: { label: string; count: number; edge?: boolean; style: (of: Styled) => void }) {
  const isOn = () => !hiddenLabels().has(props.label);
  const all = () => totals()?.get(`${props.edge ? "edge" : "vertex"} ${props.label}`);
  /** How many there are in all, if some are not shown. */
  const left = () => {
    const known = all();
    return known && (known.count > props.count || known.at_least) ? known : undefined;
  };
  const addMore = (known: LabelCount) => {
    const wanted = props.count + FIRST_LIMIT;
    if (wanted > sampleMax()) setTableOf({ label: props.label, count: known.count, atLeast: known.at_least });
    else void showSample(props.label, wanted);
  };
  return (
    <li class="legend-item">
      <button class="legend-row" aria-pressed={isOn()} onClick={() => toggleLabel(props.label)} title={t("legendHint")}>
        <Swatch label={props.label} edge={props.edge} />
        <span>{props.label}</span>
        <span class="count">
          <Show when={left()} fallback={number(props.count)}>
            {(known) => t("countOf", { count: number(props.count), all: `${number(known().count)}${known().at_least ? "+" : ""}` })}
          </Show>
        </span>
      </button>
      <Show when={!props.edge && left()}>
        {(known) => (
          <button class="link more" onClick={() => addMore(known())} title={t("showMoreHint", { label: props.label })} aria-label={t("showMoreHint", { label: props.label })}>
            {t("showMore")}
          </button>
        )}
      </Show>
      <button
        class="icon-button small"
        data-style={props.label}
        onClick={() => props.style({ kind: props.edge ? "edge" : "vertex", label: props.label })}
        title={t("styleOf", { label: props.label })}
        aria-label={t("styleOf", { label: props.label })}
      >
        <Icon name="style" />
      </button>
      <Show when={scaleOf(props.edge ? "edge" : "vertex", props.label)}>{(scale) => <ScaleKey scale={scale()} />}</Show>
    </li>
  );
}

const short = (value: number) => String(Number(value.toPrecision(3)));

const MARKS = ["added", "removed", "changed"] as const;

/** How the canvas marks what differs: with rings and dashes beside the colours. */
function MarkSwatch(props: { mark: (typeof MARKS)[number] }) {
  return (
    <svg class="mark-swatch" viewBox="0 0 34 16" aria-hidden="true">
      <circle cx="8" cy="8" r="5" class="disc" classList={{ [props.mark]: true }} />
      <Show when={props.mark === "changed"}><circle cx="8" cy="8" r="7.4" class="ring" /></Show>
      <line x1="18" x2="34" y1="8" y2="8" classList={{ [props.mark]: true }} />
    </svg>
  );
}

/** Below this width the legend would cover the canvas: it begins folded. */
const NARROW = 640;

export function Legend() {
  const [styled, setStyled] = createSignal<Styled | null>(null);
  return (
    <>
      <details class="legend" open={innerWidth > NARROW}>
        <summary>{t("legend")}</summary>
        <Show when={emphasis()}>
          {(of) => (
            <div class="emphasis" title={pointText(of().at)}>
              <strong>{of().title}</strong>
              <Show when={of().kinds.length === 0}>
                <span class="ramp" hidden={of().least === of().greatest} aria-hidden="true">
                  <For each={[0, 0.2, 0.4, 0.6, 0.8, 1]}>{(part) => <svg viewBox="0 0 10 10"><rect width="10" height="10" fill={of().as.has("color") ? rampAt(part) : "var(--line-strong)"} /></svg>}</For>
                </span>
                <span class="quiet">{of().least === of().greatest ? short(of().least) : `${short(of().least)} – ${short(of().greatest)}`}</span>
              </Show>
              <Show when={of().as.has("color")}>
                <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true"><circle cx="6" cy="6" r="5" fill={neutralColor()} /></svg>
                <span class="quiet">{t("noValue")}</span>
              </Show>
              <button class="icon-button small" data-action="end-emphasis" onClick={clearEmphasis} aria-label={t("endEmphasis")} title={t("endEmphasis")}>
                <Icon name="close" />
              </button>
            </div>
          )}
        </Show>
        <Show when={difference()}>
          <ul class="marks">
            <For each={MARKS}>{(mark) => <li class={mark}><MarkSwatch mark={mark} />{t(mark)}</li>}</For>
          </ul>
        </Show>
        <ul>
          <For each={countBy(view().vertices.values())}>{([label, count]) => <LegendRow label={label} count={count} style={setStyled} />}</For>
        </ul>
        <ul>
          <For each={countBy(view().edges.values())}>{([label, count]) => <LegendRow edge label={label} count={count} style={setStyled} />}</For>
        </ul>
        <Show when={view().missing.size}>
          <label class="check">
            <input type="checkbox" checked={ghosts()} onChange={(event) => setGhosts(event.currentTarget.checked)} />
            {t("ghosts", { count: view().missing.size })}
          </label>
        </Show>
      </details>
      <Show when={styled()}>{(of) => <StyleDialog of={of()} close={() => setStyled(null)} />}</Show>
    </>
  );
}

interface Row {
  key: string;
  ref: string;
  level: 1 | 2;
  text: string;
  label: string;
  edge?: Edge;
  hasNeighbours?: boolean;
}

/** The canvas for who does not see it: elements, and the neighbours of each. */
export function ElementList() {
  const [open, setOpen] = createSignal<ReadonlySet<string>>(new Set<string>());
  const [active, setActive] = createSignal(0);
  let grid!: HTMLDivElement;
  const edgesOf = createMemo(() => {
    const found = new Map<string, Edge[]>();
    for (const edge of view().edges.values()) {
      for (const end of new Set([edge.source, edge.target])) found.set(end, [...(found.get(end) ?? []), edge]);
    }
    return found;
  });
  const sorted = createMemo(() =>
    [...view().vertices.values()]
      .filter((vertex) => !hiddenLabels().has(vertex.label))
      .sort((a: Vertex, b: Vertex) => a.label.localeCompare(b.label) || nameOf(a).localeCompare(nameOf(b)) || a.ref.localeCompare(b.ref)),
  );
  // Vertices that share name and label are told apart by their ids.
  const named = createMemo(() => {
    const counts = new Map<string, number>();
    for (const vertex of view().vertices.values()) {
      const key = `${vertex.label}\n${nameOf(vertex)}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  });
  const textOfVertex = (ref: string): string => {
    const vertex = view().vertices.get(ref);
    if (!vertex) return nameOfRef(ref);
    const [name, id] = [nameOf(vertex), shorten(idText(ref))];
    return name !== id && (named().get(`${vertex.label}\n${name}`) ?? 0) > 1 ? `${name} · ${id}` : name;
  };
  // A row that is the same stays the same object, so that its element keeps the focus.
  const known = new Map<string, Row>();
  const same = (row: Row): Row => {
    const key = [row.key, row.text, row.label, row.hasNeighbours].join("\n");
    const found = known.get(key) ?? row;
    known.set(key, found);
    return found;
  };
  const rows = createMemo<Row[]>(() =>
    sorted().flatMap((vertex) => {
      const edges = edgesOf().get(vertex.ref) ?? [];
      const row: Row = { key: vertex.ref, ref: vertex.ref, level: 1, text: textOfVertex(vertex.ref), label: vertex.label, hasNeighbours: edges.length > 0 };
      if (!open().has(vertex.ref)) return [same(row)];
      const children = edges.map((edge): Row => {
        const isOut = edge.source === vertex.ref;
        const other = isOut ? edge.target : edge.source;
        const text = isOut ? `${edge.label} → ${textOfVertex(other)}` : `${edge.label} ← ${textOfVertex(other)}`;
        return same({ key: `${vertex.ref} ${edge.ref}`, ref: other, level: 2, text, label: edge.label, edge });
      });
      return [same(row), ...children];
    }),
  );
  const focusRow = (index: number) => {
    const next = Math.max(0, Math.min(rows().length - 1, index));
    setActive(next);
    grid.querySelectorAll<HTMLElement>("[role=row]")[next]?.focus();
  };
  const toggle = (ref: string, on: boolean) => {
    const next = new Set(open());
    if (on) next.add(ref);
    else next.delete(ref);
    setOpen(next);
  };
  /** Selects what a row stands for; with Ctrl it joins what is picked. Whether it was selected. */
  const choose = (row: Row, event: MouseEvent | KeyboardEvent, ref = row.edge?.ref ?? row.ref): boolean => {
    if ((event.ctrlKey || event.metaKey) && row.level === 1) {
      togglePicked(row.ref);
      return false;
    }
    unpick();
    select(ref);
    return true;
  };
  const onKey = (event: KeyboardEvent) => {
    const row = rows()[active()];
    if (!row) return;
    const keys: Record<string, () => void> = {
      ArrowDown: () => focusRow(active() + 1),
      ArrowUp: () => focusRow(active() - 1),
      Home: () => focusRow(0),
      End: () => focusRow(rows().length - 1),
      ArrowRight: () => row.level === 1 && toggle(row.ref, true),
      ArrowLeft: () => {
        if (row.level === 1) return toggle(row.ref, false);
        let parent = active();
        while (parent > 0 && rows()[parent]?.level !== 1) parent -= 1;
        focusRow(parent);
        return undefined;
      },
      Enter: () => choose(row, event),
      " ": () => choose(row, event, row.ref),
      Delete: () => (picked().size ? hide(picked()) : row.level === 1 && hide([row.ref])),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  return (
    <Show when={rows().length} fallback={<p class="quiet pane-hint">{t("listEmpty")}</p>}>
      <div class="tree" role="treegrid" aria-multiselectable="true" aria-label={t("listLabel", { count: shown().length })} ref={grid} onKeyDown={onKey}>
        <For each={rows()}>
          {(row, index) => (
            <div
              role="row"
              class="tree-row"
              classList={{ child: row.level === 2 }}
              aria-level={row.level}
              aria-expanded={row.hasNeighbours ? open().has(row.ref) : undefined}
              aria-selected={selected() === (row.edge ? row.edge.ref : row.ref) || (row.level === 1 && picked().has(row.ref))}
              tabindex={active() === index() ? 0 : -1}
              onFocus={() => setActive(index())}
              onClick={(event) => {
                if (choose(row, event) && row.hasNeighbours) toggle(row.ref, !open().has(row.ref));
              }}
            >
              <span role="gridcell">
                <Swatch label={row.label} edge={row.level === 2} /> {row.text}
              </span>
              <Show when={row.level === 1}>
                <span role="gridcell" class="quiet">
                  {row.label}
                </span>
              </Show>
            </div>
          )}
        </For>
      </div>
    </Show>
  );
}

/** Selects an element of the difference and shows where it is; the list stays. */
function show(element: Element): void {
  select(element.ref);
  const refs = element.type === "vertex" ? [element.ref] : [element.source, element.target];
  setLit(refs);
}

function ChangeRow(props: { change: Changed }) {
  const keys = () => props.change.properties;
  return (
    <li class="change changed">
      <button class="row-button" onClick={() => show(props.change.after)}>
        <span class="sign" aria-label={t("changed")}>~</span>
        <span>{nameOf(props.change.after)}</span>
        <span class="quiet">{props.change.label}</span>
      </button>
      <table>
        <tbody>
          <For each={keys()}>
            {(key) => (
              <tr>
                <th scope="row">{key}</th>
                <td class="before">{changedText(key, props.change.before.properties[key])}</td>
                <td class="after">{changedText(key, props.change.after.properties[key])}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </li>
  );
}

/** A property of a state, or that the state lacks it. */
function changedText(key: string, value: unknown): string {
  return value === undefined ? "–" : shownProperty(key, value);
}

function textOf(element: Element): string {
  if (element.type === "vertex") return nameOf(element);
  return `${nameOfRef(element.source)} → ${nameOfRef(element.target)}`;
}

function Side(props: { elements: Element[]; sign: string; kind: "added" | "removed" }) {
  return (
    <For each={props.elements}>
      {(element) => (
        <li class={`change ${props.kind}`}>
          <button class="row-button" onClick={() => show(element)}>
            <span class="sign" aria-label={t(props.kind)}>{props.sign}</span>
            <span>{textOf(element)}</span>
            <span class="quiet">{element.label}</span>
          </button>
        </li>
      )}
    </For>
  );
}

export function ChangesPane() {
  return (
    <Show when={difference()} fallback={<p class="quiet pane-hint">{t("changesHint")}</p>}>
      {(found) => (
        <div class="changes">
          <p class="change-counts">
            <span class="added">+ {found().added.length}</span>
            <span class="removed">− {found().removed.length}</span>
            <span class="changed">~ {found().changed.length}</span>
            <span class="quiet">{t("same", { count: found().same })}</span>
          </p>
          <Show when={found().truncated}>
            <p class="notice">{t("truncated")}</p>
          </Show>
          <Show when={isSame(found())}>
            <p class="pane-hint">{t("samePicture")}</p>
          </Show>
          <ul>
            <Side elements={found().added} sign="+" kind="added" />
            <Side elements={found().removed} sign="−" kind="removed" />
            <For each={found().changed}>{(change) => <ChangeRow change={change} />}</For>
          </ul>
        </div>
      )}
    </Show>
  );
}
