// What a query answered: a table, and beside it the picture of the vertices that it speaks of.

import { createMemo, createResource, createSignal, For, Show } from "solid-js";
import { number, t, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { ready } from "../core/resource";
import { go } from "../core/route";
import { csvOf, save } from "../core/save";
import { setGraph, graph, graphs } from "../core/server";
import { setPoint } from "../core/times";
import { findAll, type Found } from "../explore/refs";
import { Icon } from "../parts/icon";
import { Table, type Row } from "../parts/table";
import { Tabs } from "../parts/tabs";
import { timeText } from "../parts/timefields";
import { chainCell } from "./chainview";
import { namedIn } from "./found";
import { Picture } from "./picture";
import { operators } from "./plan";
import { PlanView } from "./planview";
import { cypherTable, keysOf, tableOf, type Result } from "./result";
import type { Source } from "./source";

type Tab = "plan" | "table" | "json";

/** How many results are shown; all are in an export. */
const SHOWN_MAX = 100_000;
/** More vertices make no picture that tells something. */
const DRAWN_MAX = 500;
const JSON_MAX = 400_000;

const COUNTERS: Record<string, Key> = {
  nodesCreated: "nodesCreated",
  nodesDeleted: "nodesDeleted",
  relationshipsCreated: "relationshipsCreated",
  relationshipsDeleted: "relationshipsDeleted",
  propertiesSet: "propertiesSet",
  labelsAdded: "labelsAdded",
  labelsRemoved: "labelsRemoved",
};

const [withPicture, setWithPicture] = createSignal(true);

/** Puts vertices on the canvas, marked and in its middle. */
async function explore({ graph: name, trueAt, knownAt }: Source, refs: readonly string[]): Promise<void> {
  const { light, setPicked, show, shown } = await import("../explore/state");
  if (graph() !== name) setGraph(name);
  setPoint({ trueAt, knownAt });
  show([...shown(), ...refs]);
  setPicked(new Set(refs));
  light(refs);
  go("explore");
}

function factsOf({ plan, millis, counters }: Result, rows: number): string {
  if (plan?.kind === "profile") return t("profileFacts", { steps: plan.steps.length, millis: plan.millis.toFixed(2) });
  if (plan?.kind === "tree") return t("operatorFacts", { count: operators(plan.root) });
  if (plan) return t("planFacts", { before: plan.before.length, after: plan.after.length });
  const changes = Object.entries(counters ?? {}).map(([name, count]) => t(COUNTERS[name] ?? "schemaChanged", { count: number(count) }));
  return [t("resultFacts", { count: number(rows), millis: Math.round(millis) }), ...changes].join(" · ");
}

function TableWithPicture(props: { result: Result; columns: string[]; rows: Row[]; found: Found | undefined }) {
  const [marked, setMarked] = createSignal<ReadonlySet<string>>(new Set());
  const isDrawn = () => withPicture() && props.found !== undefined && props.found.vertices.length > 0 && props.found.vertices.length <= DRAWN_MAX;
  const refsOf = (row: Row) => keysOf(row, props.result.kind).flatMap((key) => props.found?.refs.get(key) ?? []);
  /** The row that was picked, or those with the vertex that was. */
  const isChosen = (row: Row) => {
    if (marked().size === 0) return false;
    const own = new Set(refsOf(row));
    return [...marked()].every((ref) => own.has(ref));
  };
  const pick = () => (isDrawn() ? (row: Row) => setMarked(new Set(refsOf(row))) : undefined);
  return (
    <div class="result-body" classList={{ split: isDrawn() }}>
      <Table
        columns={props.columns}
        rows={props.rows.slice(0, SHOWN_MAX)}
        label={t("result")}
        cell={chainCell}
        pick={pick()}
        isChosen={isChosen}
      />
      <Show when={isDrawn() && props.found}>
        {(found) => <Picture found={found()} marked={marked()} pick={(ref) => setMarked(new Set(ref === null ? [] : [ref]))} />}
      </Show>
    </div>
  );
}

export function ResultView(props: { result: Result }) {
  const { plan, source } = props.result;
  const isRead = source !== null && (props.result.kind !== "rest" || source.trueAt !== null || source.knownAt !== null);
  const [tab, setTab] = createSignal<Tab>(plan ? "plan" : "table");
  const table = createMemo(() => {
    const { columns, data } = props.result;
    const names = { number: "#", key: t("mapKey"), value: t("mapValue") };
    if (plan) return { columns: [], rows: [] };
    return columns ? cypherTable(columns, data as Record<string, unknown>[], names) : tableOf(data, names);
  });
  const named = createMemo(() => (plan || !source || !graphs().includes(source.graph) ? new Map() : namedIn(props.result.data, props.result.kind)));
  const [found] = createResource(
    () => named().size > 0 && source?.graph === graph() && source,
    (at) => findAll(named(), at),
  );
  /** What is shown without the graph's word: it may refuse it. */
  const refs = () => {
    const known = ready(found)?.refs;
    return [...new Set(known ? [...known.values()].flat() : [...named().values()].map((each) => each.refs[0]!))];
  };
  const json = () => {
    const text = formatJson(props.result.data);
    return text.length > JSON_MAX ? `${text.slice(0, JSON_MAX)}\n…` : text;
  };
  const downloads: [Key, () => void][] = [
    ["downloadJson", () => save("result.json", "application/json", formatJson(props.result.data))],
    ["saveCsv", () => save("result.csv", "text/csv", csvOf(table().columns, table().rows.map((row) => table().columns.map((name) => row.cells[name]))))],
  ];
  const tabs: [Tab, Key][] = [plan ? ["plan", "plan"] : ["table", "asTable"], ["json", "asJson"]];
  return (
    <section class="result" aria-label={t("result")}>
      <div class="result-head">
        <Tabs label={t("result")} tabs={tabs} chosen={tab()} choose={setTab} />
        <span class="quiet result-facts">
          {factsOf(props.result, table().rows.length)}
          {isRead && ` · ${t("pointText", { valid: timeText(source.trueAt), known: timeText(source.knownAt) })}`}
        </span>
        <Show when={!plan && named().size > 0}>
          <button class="text-button" data-action="picture" aria-pressed={withPicture()} disabled={(ready(found)?.vertices.length ?? 0) > DRAWN_MAX} onClick={() => setWithPicture(!withPicture())}>
            {t("picture")}
          </button>
          <button class="text-button" data-action="to-graph" disabled={refs().length === 0} onClick={() => source && void explore(source, refs())}>
            <Icon name="explore" />
            {t("showInGraph", { count: refs().length })}
          </button>
        </Show>
        <For each={plan ? downloads.slice(0, 1) : downloads}>
          {([name, act]) => (
            <button class="text-button" data-action={name} onClick={act} title={t(name)} aria-label={t(name)}>
              <Icon name="download" />
              {name === "saveCsv" ? "CSV" : "JSON"}
            </button>
          )}
        </For>
      </div>
      <Show when={tab() === "table"}>
        <TableWithPicture result={props.result} columns={table().columns} rows={table().rows} found={ready(found)} />
      </Show>
      <Show when={tab() === "json"}>
        <pre class="json result-json" tabindex="0">{json()}</pre>
      </Show>
      <Show when={tab() === "plan" && plan}>{(shown) => <PlanView plan={shown()} />}</Show>
    </section>
  );
}
