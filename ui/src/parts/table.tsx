// Rows in columns: sorted, filtered, copied; only what is in view is in the document.

import { createMemo, createSignal, For, Show, type JSX } from "solid-js";
import { emptyText, Told } from "../core/text";
import { number, t } from "../i18n";
import { Icon } from "./icon";

export interface Row {
  cells: Record<string, unknown>;
  /** What it is made of. */
  of?: unknown;
}

const ROW_PX = 28;
const SPARE = 8;

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Told) return value.text;
  if (typeof value === "object") return JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
  return String(value);
}

/** The text of a cell, where no two values look alike. A cell without a value is empty. */
function shownText(value: unknown): string {
  return emptyText(value) ?? textOf(value);
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return textOf(a).localeCompare(textOf(b), undefined, { numeric: true });
}

interface Props {
  columns: string[];
  rows: Row[];
  label: string;
  /** With it the first cell of each row is a button. */
  pick?: (row: Row) => void;
  /** Rows that stand out. */
  isChosen?: (row: Row) => boolean;
  /** How a value is shown, if not as its text. */
  cell?: (value: unknown) => JSX.Element | undefined;
}

export function Table(props: Props) {
  const [sort, setSort] = createSignal<{ column: string; up: boolean } | null>(null);
  const [filter, setFilter] = createSignal("");
  const [top, setTop] = createSignal(0);
  const [height, setHeight] = createSignal(400);
  const [copied, setCopied] = createSignal(false);
  const rows = createMemo(() => {
    const wanted = filter().toLowerCase();
    const kept = wanted
      ? props.rows.filter((row) => Object.values(row.cells).some((cell) => textOf(cell).toLowerCase().includes(wanted)))
      : [...props.rows];
    const by = sort();
    if (by) kept.sort((a, b) => compareValues(a.cells[by.column], b.cells[by.column]) * (by.up ? 1 : -1));
    return kept;
  });
  const cell = (value: unknown) => props.cell?.(value) ?? shownText(value);
  const first = () => Math.max(0, Math.floor(top() / ROW_PX) - SPARE);
  const inView = () => rows().slice(first(), first() + Math.ceil(height() / ROW_PX) + 2 * SPARE);
  const toggle = (column: string) =>
    setSort((by) => (by?.column !== column ? { column, up: true } : by.up ? { column, up: false } : null));
  const copy = async () => {
    const lines = [props.columns, ...rows().map((row) => props.columns.map((column) => textOf(row.cells[column])))];
    await navigator.clipboard.writeText(lines.map((line) => line.map((cell) => cell.replace(/[\t\n]/g, " ")).join("\t")).join("\n"));
    setCopied(true);
  };
  return (
    <div class="table-frame">
      <div class="table-tools">
        <input type="search" placeholder={t("filterRows")} aria-label={t("filterRows")} value={filter()} onInput={(event) => setFilter(event.currentTarget.value)} />
        <span class="quiet">{t("rowCount", { count: number(rows().length) })}</span>
        <button class="text-button" onClick={() => void copy()}>
          <Icon name="copy" />
          {copied() ? t("copied") : t("copyTable")}
        </button>
      </div>
      <div
        class="table-scroll"
        tabindex="0"
        role="region"
        aria-label={props.label}
        onScroll={(event) => {
          setTop(event.currentTarget.scrollTop);
          setHeight(event.currentTarget.clientHeight);
        }}
      >
        <table aria-rowcount={rows().length}>
          <thead>
            <tr>
              <For each={props.columns}>
                {(column) => (
                  <th scope="col" aria-sort={sort()?.column === column ? (sort()?.up ? "ascending" : "descending") : "none"}>
                    <button onClick={() => toggle(column)}>
                      {column}
                      <Show when={sort()?.column === column}>{sort()?.up ? " ↑" : " ↓"}</Show>
                    </button>
                  </th>
                )}
              </For>
            </tr>
          </thead>
          <tbody>
            <Show when={first() > 0}>
              <tr aria-hidden="true">
                <td colspan={props.columns.length} style={{ height: `${first() * ROW_PX}px` }} />
              </tr>
            </Show>
            <For each={inView()}>
              {(row) => (
                <tr classList={{ chosen: props.isChosen?.(row) ?? false }}>
                  <For each={props.columns}>
                    {(column, index) => (
                      <td title={shownText(row.cells[column])} classList={{ quiet: emptyText(row.cells[column]) !== undefined }}>
                        <Show when={index() === 0 && props.pick} fallback={cell(row.cells[column])}>
                          {(pick) => (
                            <button class="link" onClick={() => pick()(row)}>{cell(row.cells[column])}</button>
                          )}
                        </Show>
                      </td>
                    )}
                  </For>
                </tr>
              )}
            </For>
            <Show when={rows().length - first() - inView().length > 0}>
              <tr aria-hidden="true">
                <td colspan={props.columns.length} style={{ height: `${(rows().length - first() - inView().length) * ROW_PX}px` }} />
              </tr>
            </Show>
          </tbody>
        </table>
      </div>
    </div>
  );
}
