// The query page: Gremlin and Cypher at any point of both times, and REST.

import type { CompletionSource } from "@codemirror/autocomplete";
import { createMemo, createResource, createSignal, For, lazy, onMount, Show, Suspense } from "solid-js";
import { number, t, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { call, Failure, isAbort, messageOf } from "../core/http";
import { go } from "../core/route";
import { keep, read } from "../core/prefs";
import { graph } from "../core/server";
import { point, setPoint, timesOf } from "../core/times";
import { readSchema } from "../core/schema";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Table } from "../parts/table";
import { Tabs } from "../parts/tabs";
import { TimeFields, timeText } from "../parts/timefields";
import { completeCypher } from "./cypher";
import { askCypher, explained, isExplained, parameterNames, placeIn, withoutLines, type CypherAnswer } from "./cypherapi";
import type { EditorControl } from "./editor";
import { completeGremlin } from "./gremlin";
import { isOnlyExplained, operators, planOf, withPlan } from "./plan";
import { PlanView } from "./planview";
import { keepQuery, pastQueries, type PastQuery, type QueryKind } from "./past";
import { completeRest, isDestructive, parseRest } from "./rest";
import { cypherTable, tableOf, verticesOf, type Result } from "./result";

const Editor = lazy(() => import("./editor").then((module) => ({ default: module.Editor })));

type Tab = "plan" | "table" | "json";

/** The names of the languages, which are the same everywhere. */
const KINDS: [QueryKind, string][] = [["gremlin", "Gremlin"], ["cypher", "Cypher"], ["rest", "REST"]];
const LABELS: Record<QueryKind, Key> = { gremlin: "gremlinText", cypher: "cypherText", rest: "restText" };
const EXAMPLES: Record<QueryKind, string> = {
  gremlin: "g.V().hasLabel('person').out()",
  cypher: "MATCH (a:person)-[r]->(b) RETURN a, r, b",
  rest: "GET /graphs",
};

// The texts outlive the page.
const [kind, setKind] = createSignal<QueryKind>(KINDS.find(([name]) => name === read("query"))?.[0] ?? "gremlin");
const [texts, setTexts] = createSignal<Record<QueryKind, string>>({
  gremlin: "g.V().limit(25)",
  cypher: "MATCH (n) RETURN n LIMIT 25",
  rest: "",
});
/** A JSON object with the parameters of Cypher, or nothing. */
const [parameters, setParameters] = createSignal("");
const [result, setResult] = createSignal<Result | null>(null);
const [failure, setFailure] = createSignal<Failure | null>(null);
const [running, setRunning] = createSignal<{ tag: string; abort: AbortController; since: number } | null>(null);

/** How many results are shown; all are in an export. */
const SHOWN_MAX = 100_000;

interface GremlinAnswer {
  result: { data: unknown };
  status: { message?: string; code: number };
}

type Answer = Pick<Result, "data" | "plan" | "columns" | "counters">;

async function request(of: QueryKind, text: string, tag: string, signal: AbortSignal): Promise<Answer> {
  if (of === "rest") {
    const parsed = parseRest(text);
    if (!parsed) throw new Failure(400, t("restForm"));
    return { data: await call(parsed.path, { method: parsed.method, body: parsed.body, tag, signal }), plan: null };
  }
  if (of === "cypher") {
    try {
      parameterNames(parameters());
    } catch (error) {
      throw new Failure(400, t("parametersForm", { why: messageOf(error) }));
    }
    const answer = await askCypher(graph(), text, { parameters: parameters(), times: timesOf(point()), tag, signal });
    return cypherAnswer(answer);
  }
  const body = {
    gremlin: text,
    language: "gremlin-groovy",
    bindings: {},
    aliases: { graph: graph(), g: `__g_${graph()}` },
  };
  const { result } = await call<GremlinAnswer>("/gremlin", { method: "POST", query: timesOf(point()), body, tag, signal });
  return { data: result.data, plan: planOf(result.data) };
}

function cypherAnswer({ columns, rows, counters, plan }: CypherAnswer): Answer {
  // A write may have made labels, types and keys.
  if (Object.keys(counters).length) void readSchema(true).catch(() => undefined);
  return { data: plan ?? rows, plan: plan && { kind: "tree", root: plan }, columns, counters };
}

/** Marks the place that an error names. */
function markPlace(of: QueryKind, message: string, control: EditorControl | undefined): void {
  const gremlin = /line (\d+), character position at (\d+)/.exec(message);
  const place = of === "cypher" ? placeIn(message) : gremlin && { line: Number(gremlin[1]), column: Number(gremlin[2]) + 1 };
  if (place) control?.mark(place.line, place.column, message);
}

/** Runs a text; `added` is how many lines before it nobody wrote. */
async function runQuery(of: QueryKind, text: string, control: EditorControl | undefined, added = 0): Promise<void> {
  const tag = `ui-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const abort = new AbortController();
  setRunning({ tag, abort, since: Date.now() });
  setFailure(null);
  setResult(null);
  control?.clearMarks();
  const started = performance.now();
  const { trueAt, knownAt } = of === "rest" ? { trueAt: null, knownAt: null } : point();
  try {
    const answer = await request(of, text, tag, abort.signal);
    setResult({ kind: of, text, ...answer, millis: performance.now() - started, trueAt, knownAt });
    await keepQuery({ kind: of, text, at: Date.now(), ok: true });
  } catch (error) {
    const told = isAbort(error) ? new Failure(0, t("cancelled")) : error instanceof Failure ? error : new Failure(0, messageOf(error));
    const message = withoutLines(told.message, added);
    setFailure(new Failure(told.status, message, told.code, told.kind));
    markPlace(of, message, control);
    await keepQuery({ kind: of, text, at: Date.now(), ok: false });
  } finally {
    setRunning(null);
  }
}

/** Ends the query on the server, then here. */
async function stop(): Promise<void> {
  const current = running();
  if (!current) return;
  try {
    await call(`/queries/${encodeURIComponent(current.tag)}`, { method: "DELETE" });
  } catch {
    // It has just ended, or this server does not list queries: closing the request ends a read.
    current.abort.abort();
    return;
  }
  setTimeout(() => current.abort.abort(), 2000);
}

function FailureBox() {
  return (
    <Show when={failure()}>
      {(told) => (
        <div class="failure" role="alert">
          <strong>
            {told().status || ""} {told().code ?? ""}
          </strong>
          <p>{told().message}</p>
        </div>
      )}
    </Show>
  );
}

function ResultView(props: { result: Result }) {
  const { plan } = props.result;
  const [tab, setTab] = createSignal<Tab>(plan ? "plan" : "table");
  const table = createMemo(() => {
    const { columns, data } = props.result;
    if (plan) return { columns: [], rows: [] };
    return columns ? cypherTable(columns, data as Record<string, unknown>[]) : tableOf(data);
  });
  const vertices = () => verticesOf(props.result.data);
  const json = () => {
    const text = formatJson(props.result.data);
    return text.length > 400_000 ? `${text.slice(0, 400_000)}\n…` : text;
  };
  const explore = async () => {
    const { show, shown } = await import("../explore/state");
    setPoint({ trueAt: props.result.trueAt, knownAt: props.result.knownAt });
    show([...shown(), ...vertices()]);
    go("explore");
  };
  const download = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([formatJson(props.result.data)], { type: "application/json" }));
    link.download = "result.json";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const tabs: [Tab, Key][] = [plan ? ["plan", "plan"] : ["table", "asTable"], ["json", "asJson"]];
  const facts = () => {
    const millis = Math.round(props.result.millis);
    if (plan?.kind === "profile") return t("profileFacts", { steps: plan.steps.length, millis: plan.millis.toFixed(2) });
    if (plan?.kind === "tree") return t("operatorFacts", { count: operators(plan.root) });
    if (plan) return t("planFacts", { before: plan.before.length, after: plan.after.length });
    const rows = t("resultFacts", { count: number(table().rows.length), millis });
    const changes = Object.entries(props.result.counters ?? {}).map(([name, count]) => t(counterKey(name), { count: number(count) }));
    return [rows, ...changes].join(" · ");
  };
  return (
    <section class="result" aria-label={t("result")}>
      <div class="result-head">
        <Tabs label={t("result")} tabs={tabs} chosen={tab()} choose={setTab} />
        <span class="quiet result-facts">
          {facts()}
          <Show when={props.result.kind !== "rest"}>
            {" · "}
            {t("pointText", { valid: timeText(props.result.trueAt), known: timeText(props.result.knownAt) })}
          </Show>
        </span>
        <Show when={!plan}>
          <button class="text-button" disabled={vertices().size === 0} onClick={() => void explore()}>
            <Icon name="explore" />
            {t("showInGraph", { count: vertices().size })}
          </button>
        </Show>
        <button class="icon-button" onClick={download} title={t("downloadJson")} aria-label={t("downloadJson")}>
          <Icon name="download" />
        </button>
      </div>
      <Show when={tab() === "table"}>
        <Table columns={table().columns} rows={table().rows.slice(0, SHOWN_MAX)} label={t("result")} />
      </Show>
      <Show when={tab() === "json"}>
        <pre class="json result-json" tabindex="0">{json()}</pre>
      </Show>
      <Show when={tab() === "plan" && plan}>{(found) => <PlanView plan={found()} />}</Show>
    </section>
  );
}

const COUNTERS: Record<string, Key> = {
  nodesCreated: "nodesCreated",
  nodesDeleted: "nodesDeleted",
  relationshipsCreated: "relationshipsCreated",
  relationshipsDeleted: "relationshipsDeleted",
  propertiesSet: "propertiesSet",
  labelsAdded: "labelsAdded",
  labelsRemoved: "labelsRemoved",
};

function counterKey(name: string): Key {
  return COUNTERS[name] ?? "schemaChanged";
}

function PastQueries(props: { take: (query: PastQuery) => void; close: () => void }) {
  const [past] = createResource(pastQueries);
  return (
    <Dialog title={t("pastQueries")} close={props.close} wide>
      <ul class="past">
        <For each={past() ?? []} fallback={<li class="quiet">{t("noPastQueries")}</li>}>
          {(query) => (
            <li>
              <button class="row-button" onClick={() => props.take(query)}>
                <span class="mono">{query.text}</span>
                <span class="quiet">{new Date(query.at).toLocaleString()}</span>
              </button>
            </li>
          )}
        </For>
      </ul>
    </Dialog>
  );
}

export default function QueryPage() {
  let control: EditorControl | undefined;
  const [past, setPast] = createSignal(false);
  /** The text that waits for a yes. */
  const [asking, setAsking] = createSignal<string | null>(null);
  onMount(() => {
    void readSchema().catch(() => undefined);
    if (!texts().rest) setTexts({ ...texts(), rest: `GET /graphs/${graph()}/schema/vertexlabels` });
  });
  const chosen = () => control?.chosen() ?? texts()[kind()];
  const run = (text: string, sure = false) => {
    if (running()) return;
    const runsNothing = kind() === "cypher" ? isExplained(text) : isOnlyExplained(text);
    const isSafe = sure || runsNothing || !isDestructive(kind(), text);
    setAsking(isSafe ? null : text);
    if (isSafe) void runQuery(kind(), text, control);
  };
  const plan = (of: "explain" | "profile") => {
    if (kind() === "gremlin") return run(withPlan(chosen(), of));
    const text = chosen();
    if (!running()) void runQuery("cypher", explained(text), control, isExplained(text) ? 0 : 1);
  };
  const choose = (name: QueryKind) => {
    setKind(name);
    keep("query", name);
  };
  const completions: Record<QueryKind, CompletionSource> = {
    gremlin: completeGremlin,
    cypher: (context) => completeCypher(context, namesOf(parameters())),
    rest: completeRest,
  };
  return (
    <div class="page query">
      <div class="query-head">
        <div class="segmented" role="tablist" aria-label={t("page_query")}>
          <For each={KINDS}>
            {([name, text]) => (
              <button role="tab" data-kind={name} aria-selected={kind() === name} onClick={() => choose(name)}>
                {text}
              </button>
            )}
          </For>
        </div>
        <Show when={kind() !== "rest"}>
          <TimeFields />
        </Show>
        <span class="spacer" />
        <button class="text-button" onClick={() => setPast(true)}>
          <Icon name="clock" />
          {t("pastQueries")}
        </button>
        <Show when={kind() !== "rest"}>
          <button class="text-button" data-action="explain" disabled={running() !== null} onClick={() => plan("explain")} title={t("planHint")}>
            {t("plan")}
          </button>
        </Show>
        <Show when={kind() === "gremlin"}>
          <button class="text-button" data-action="profile" disabled={running() !== null} onClick={() => plan("profile")} title={t("profileHint")}>
            {t("profile")}
          </button>
        </Show>
        <Show
          when={running()}
          fallback={
            <button class="button primary" data-action="run" onClick={() => run(chosen())} title="Ctrl+Enter">
              <Icon name="play" />
              {t("run")}
            </button>
          }
        >
          <button class="button danger" data-action="stop" onClick={() => void stop()}>
            <Icon name="stop" />
            {t("stop")}
          </button>
        </Show>
      </div>
      <Suspense fallback={<p class="quiet loading">{t("loading")}</p>}>
        <Show when={kind()} keyed>
          {(of) => (
            <Editor
              kind={of}
              text={texts()[of]}
              change={(text) => setTexts({ ...texts(), [of]: text })}
              run={() => run(chosen())}
              complete={completions[of]}
              label={t(LABELS[of])}
              hint={EXAMPLES[of]}
              ready={(made) => {
                control = made;
              }}
            />
          )}
        </Show>
      </Suspense>
      <Show when={kind() === "cypher"}>
        <label class="parameters">
          <span>{t("parameters")}</span>
          <textarea rows="1" spellcheck={false} placeholder='{"name": "Ann"}' value={parameters()} onInput={(event) => setParameters(event.currentTarget.value)} />
        </label>
      </Show>
      <p class="quiet query-hint">{t(kind() === "rest" ? "restHint" : "gremlinHint")}</p>
      <FailureBox />
      <Show when={running()}>
        <p class="quiet" role="status">{t("running")}</p>
      </Show>
      <Show when={result()} keyed>
        {(found) => <ResultView result={found} />}
      </Show>
      <Show when={past()}>
        <PastQueries
          close={() => setPast(false)}
          take={(query) => {
            choose(query.kind);
            setTexts({ ...texts(), [query.kind]: query.text });
            setPast(false);
          }}
        />
      </Show>
      <Show when={asking()}>
        {(text) => (
          <Dialog title={t("sure")} close={() => setAsking(null)}>
            <p>{t("sureText")}</p>
            <pre class="json">{text()}</pre>
            <div class="dialog-actions">
              <button class="button" onClick={() => setAsking(null)}>{t("cancel")}</button>
              <button class="button danger" onClick={() => run(text(), true)}>{t("run")}</button>
            </div>
          </Dialog>
        )}
      </Show>
    </div>
  );
}

/** The names of the parameters, as far as their text is JSON. */
function namesOf(text: string): string[] {
  try {
    return parameterNames(text);
  } catch {
    return [];
  }
}

/** Puts a REST request into the editor. */
export function setRestText(text: string): void {
  setKind("rest");
  setTexts({ ...texts(), rest: text });
}
