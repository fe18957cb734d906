// The schema as lists and as a graph, with counts, and forms that show what they send.

import { createResource, createSignal, For, Match, onMount, Show, Switch } from "solid-js";
import { number, t, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { call, messageOf, written } from "../core/http";
import { ready } from "../core/resource";
import { graph, graphPath } from "../core/server";
import { readSchema, schema, ttlText, type Schema } from "../core/schema";
import { NOW } from "../core/times";
import * as explore from "../explore/api";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Tabs } from "../parts/tabs";
import { SchemaForm, type FormKind } from "./form";
import { SchemaGraph } from "./graph";
import { SchemaJson } from "./exchange";

const [problem, setProblem] = createSignal("");
const [form, setForm] = createSignal<{ kind: FormKind; name?: string } | null>(null);
const [dropping, setDropping] = createSignal<{ kind: FormKind; name: string } | null>(null);

async function act(path: string, method: "PUT" | "DELETE"): Promise<void> {
  try {
    await call(`${graphPath()}/${path}`, { method });
    setProblem("");
    await settle();
  } catch (error) {
    setProblem(messageOf(error));
  }
}

/** Reads the schema until no element of it is being removed or built. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    const found = await readSchema(true);
    const all = [...found.vertexlabels, ...found.edgelabels, ...found.indexlabels, ...found.propertykeys];
    if (all.every((element) => element.status === "CREATED")) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

function Status(props: { status: string }) {
  return (
    <Show when={props.status !== "CREATED"}>
      <span class="badge">{props.status}</span>
    </Show>
  );
}

function RowActions(props: { kind: FormKind; name: string; extend?: boolean; rebuild?: string }) {
  return (
    <span class="row-actions">
      <Show when={props.extend}>
        <button class="icon-button small" onClick={() => setForm({ kind: props.kind, name: props.name })} title={t("addProperties")} aria-label={`${t("addProperties")}: ${props.name}`}>
          <Icon name="edit" />
        </button>
      </Show>
      <Show when={props.rebuild}>
        {(path) => (
          <button class="icon-button small" onClick={() => void act(path(), "PUT")} title={t("rebuildIndex")} aria-label={`${t("rebuildIndex")}: ${props.name}`}>
            <Icon name="arrange" />
          </button>
        )}
      </Show>
      <button class="icon-button small" onClick={() => setDropping({ kind: props.kind, name: props.name })} title={t("remove")} aria-label={`${t("remove")}: ${props.name}`}>
        <Icon name="trash" />
      </button>
    </span>
  );
}

function Section(props: { kind: FormKind; title: Key; columns: Key[]; rows: { name: string; cells: (string | number)[]; status: string; extend?: boolean; rebuild?: string }[] }) {
  return (
    <section class="schema-section">
      <header>
        <h2>
          {t(props.title)} <span class="quiet">{number(props.rows.length)}</span>
        </h2>
        <button class="button small" onClick={() => setForm({ kind: props.kind })} data-new={props.kind}>
          <Icon name="plus" />
          {t("newElement")}
        </button>
      </header>
      <Show when={props.rows.length}>
        <div class="table-scroll flat" tabindex="0" role="region" aria-label={t(props.title)}>
          <table>
            <thead>
              <tr>
                <For each={["name", ...props.columns] as Key[]}>{(column) => <th scope="col">{t(column)}</th>}</For>
                <th scope="col">
                  <span class="visually-hidden">{t("actions")}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={props.rows}>
                {(row) => (
                  <tr data-name={row.name}>
                    <th scope="row">
                      {row.name} <Status status={row.status} />
                    </th>
                    <For each={row.cells}>{(cell) => <td>{cell}</td>}</For>
                    <td>
                      <RowActions kind={props.kind} name={row.name} extend={row.extend} rebuild={row.rebuild} />
                    </td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
    </section>
  );
}

function Lists(props: { schema: Schema; counts: Map<string, string> }) {
  const count = (name: string) => props.counts.get(name) ?? "–";
  const list = (names: string[]) => names.join(", ") || "–";
  return (
    <>
      <Section
        kind="vertexlabels"
        title="vertexLabels"
        columns={["count", "idStrategy", "primaryKeys", "properties", "ttl"]}
        rows={props.schema.vertexlabels.map((label) => ({
          name: label.name,
          status: label.status,
          extend: true,
          cells: [count(`v ${label.name}`), label.id_strategy, list(label.primary_keys), list(label.properties), ttlText(label.ttl)],
        }))}
      />
      <Section
        kind="edgelabels"
        title="edgeLabels"
        columns={["count", "ends", "frequency", "properties", "ttl"]}
        rows={props.schema.edgelabels.map((label) => ({
          name: label.name,
          status: label.status,
          extend: true,
          cells: [count(`e ${label.name}`), `${label.source_label} → ${label.target_label}`, label.frequency, list(label.properties), ttlText(label.ttl)],
        }))}
      />
      <Section
        kind="propertykeys"
        title="propertyKeys"
        columns={["dataType", "cardinality"]}
        rows={props.schema.propertykeys.map((key) => ({ name: key.name, status: key.status, cells: [key.data_type, key.cardinality] }))}
      />
      <Section
        kind="indexlabels"
        title="indexLabels"
        columns={["indexOf", "indexType", "fields"]}
        rows={props.schema.indexlabels.map((index) => ({
          name: index.name,
          status: index.status,
          rebuild: `jobs/rebuild/indexlabels/${encodeURIComponent(index.name)}`,
          cells: [index.base_value, index.index_type, list(index.fields)],
        }))}
      />
    </>
  );
}

function countsOf(summary: explore.Summary | undefined): Map<string, string> {
  const counts = new Map<string, string>();
  const text = (entry: explore.LabelCount) => number(entry.count) + (entry.at_least ? "+" : "");
  for (const entry of summary?.vertices ?? []) counts.set(`v ${entry.label}`, text(entry));
  for (const entry of summary?.edges ?? []) counts.set(`e ${entry.label}`, text(entry));
  return counts;
}

export default function SchemaPage() {
  const [tab, setTab] = createSignal<"list" | "graph" | "json">("list");
  const [summary] = createResource(() => [graph(), written()], () => explore.summary(NOW).catch(() => undefined));
  onMount(() => void readSchema(true).catch((error: unknown) => setProblem(messageOf(error))));
  const tabs: [ReturnType<typeof tab>, Key][] = [["list", "asList"], ["graph", "asGraph"], ["json", "asJson"]];
  const drop = async () => {
    const target = dropping();
    setDropping(null);
    if (target) await act(`schema/${target.kind}/${encodeURIComponent(target.name)}`, "DELETE");
  };
  return (
    <div class="page schema">
      <div class="page-head">
        <h1>{t("page_schema")}</h1>
        <Tabs label={t("page_schema")} class="segmented" tabs={tabs} chosen={tab()} choose={setTab} />
      </div>
      <Show when={problem()}>
        <p class="failure" role="alert">{problem()}</p>
      </Show>
      <Show when={schema()} fallback={<p class="quiet">{t("loading")}</p>}>
        {(found) => (
          <Switch>
            <Match when={tab() === "list"}>
              <Lists schema={found()} counts={countsOf(ready(summary))} />
            </Match>
            <Match when={tab() === "graph"}>
              <div class="drawing" tabindex="0" role="region" aria-label={t("asGraph")}>
                <SchemaGraph schema={found()} counts={countsOf(ready(summary))} />
              </div>
            </Match>
            <Match when={tab() === "json"}>
              <SchemaJson schema={found()} text={formatJson(found())} done={() => void settle()} />
            </Match>
          </Switch>
        )}
      </Show>
      <Show when={form()} keyed>
        {(open) => <SchemaForm kind={open.kind} name={open.name} close={() => setForm(null)} done={() => void settle()} />}
      </Show>
      <Show when={dropping()}>
        {(target) => (
          <Dialog title={t("removeTitle", { name: target().name })} close={() => setDropping(null)}>
            <p>{t("removeText")}</p>
            <pre class="json">{`DELETE ${graphPath()}/schema/${target().kind}/${target().name}`}</pre>
            <div class="dialog-actions">
              <button class="button" onClick={() => setDropping(null)}>{t("cancel")}</button>
              <button class="button danger" onClick={() => void drop()}>{t("remove")}</button>
            </div>
          </Dialog>
        )}
      </Show>
    </div>
  );
}
