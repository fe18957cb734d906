// The query page: Gremlin and REST at any point of both times.

import { createResource, createSignal, For, lazy, onMount, Show, Suspense } from "solid-js";
import { number, t, type Key } from "../i18n";
import { formatJson } from "../core/json";
import { call, Failure, isAbort, messageOf } from "../core/http";
import { go } from "../core/route";
import { graph } from "../core/server";
import { point, setPoint, timesOf } from "../core/times";
import { readSchema } from "../core/schema";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { Table } from "../parts/table";
import { Tabs } from "../parts/tabs";
import { TimeFields, timeText } from "../parts/timefields";
import type { EditorControl } from "./editor";
import { completeGremlin } from "./gremlin";
import { isOnlyExplained, planOf, withPlan, type Plan } from "./plan";
import { PlanView } from "./planview";
import { keepQuery, pastQueries, type PastQuery } from "./past";
import { completeRest, isDestructive, parseRest } from "./rest";
import { tableOf, verticesOf, type Result } from "./result";

const Editor = lazy(() => import("./editor").then((module) => ({ default: module.Editor })));

type Kind = "gremlin" | "rest";
type Tab = "plan" | "table" | "json";

// The texts outlive the page.
const [kind, setKind] = createSignal<Kind>("gremlin");
const [texts, setTexts] = createSignal<Record<Kind, string>>({ gremlin: "g.V().limit(25)", rest: "" });
const [result, setResult] = createSignal<Result | null>(null);
const [failure, setFailure] = createSignal<Failure | null>(null);
const [running, setRunning] = createSignal<{ tag: string; abort: AbortController; since: number } | null>(null);

/** How many results are shown; all are in an export. */
const SHOWN_MAX = 100_000;

interface GremlinAnswer {
  result: { data: unknown };
  status: { message?: string; code: number };
}

function request(of: Kind, text: string, tag: string, signal: AbortSignal): Promise<unknown> {
  if (of === "rest") {
    const parsed = parseRest(text);
    if (!parsed) return Promise.reject(new Failure(400, t("restForm")));
    return call(parsed.path, { method: parsed.method, body: parsed.body, tag, signal });
  }
  const body = {
    gremlin: text,
    language: "gremlin-groovy",
    bindings: {},
    aliases: { graph: graph(), g: `__g_${graph()}` },
  };
  return call<GremlinAnswer>("/gremlin", { method: "POST", query: timesOf(point()), body, tag, signal }).then(
    (answer) => answer.result.data,
  );
}

async function runQuery(of: Kind, text: string, control: EditorControl | undefined): Promise<void> {
  const tag = `ui-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const abort = new AbortController();
  setRunning({ tag, abort, since: Date.now() });
  setFailure(null);
  control?.clearMarks();
  const started = performance.now();
  const { trueAt, knownAt } = of === "gremlin" ? point() : { trueAt: null, knownAt: null };
  try {
    const data = await request(of, text, tag, abort.signal);
    setResult({ kind: of, text, data, millis: performance.now() - started, trueAt, knownAt });
    await keepQuery({ kind: of, text, at: Date.now(), ok: true });
  } catch (error) {
    const told = isAbort(error) ? new Failure(0, t("cancelled")) : error instanceof Failure ? error : new Failure(0, messageOf(error));
    setFailure(told);
    const place = /line (\d+), character position at (\d+)/.exec(told.message);
    if (place) control?.mark(Number(place[1]), Number(place[2]) + 1, 1, told.message);
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
  const plan = planOf(props.result.data);
  const [tab, setTab] = createSignal<Tab>(plan ? "plan" : "table");
  const table = () => tableOf(props.result.data);
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
    if (plan) return t("planFacts", { before: plan.before.length, after: plan.after.length });
    return t("resultFacts", { count: number(table().rows.length), millis });
  };
  return (
    <section class="result" aria-label={t("result")}>
      <div class="result-head">
        <Tabs label={t("result")} tabs={tabs} chosen={tab()} choose={setTab} />
        <span class="quiet result-facts">
          {facts()}
          <Show when={props.result.kind === "gremlin"}>
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
    const isSafe = sure || isOnlyExplained(text) || !isDestructive(kind(), text);
    setAsking(isSafe ? null : text);
    if (isSafe) void runQuery(kind(), text, control);
  };
  const plan = (of: Plan["kind"]) => run(withPlan(chosen(), of));
  const kinds: [Kind, string][] = [["gremlin", "Gremlin"], ["rest", "REST"]];
  return (
    <div class="page query">
      <div class="query-head">
        <div class="segmented" role="tablist" aria-label={t("page_query")}>
          <For each={kinds}>
            {([name, text]) => (
              <button role="tab" aria-selected={kind() === name} onClick={() => setKind(name)}>
                {text}
              </button>
            )}
          </For>
        </div>
        <Show when={kind() === "gremlin"}>
          <TimeFields />
        </Show>
        <span class="spacer" />
        <button class="text-button" onClick={() => setPast(true)}>
          <Icon name="clock" />
          {t("pastQueries")}
        </button>
        <Show when={kind() === "gremlin"}>
          <button class="text-button" data-action="explain" disabled={running() !== null} onClick={() => plan("explain")} title={t("planHint")}>
            {t("plan")}
          </button>
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
              text={texts()[of]}
              change={(text) => setTexts({ ...texts(), [of]: text })}
              run={() => run(chosen())}
              complete={of === "gremlin" ? completeGremlin : completeRest}
              label={t(of === "gremlin" ? "gremlinText" : "restText")}
              hint={of === "gremlin" ? "g.V().hasLabel('person').out()" : "GET /graphs"}
              ready={(made) => {
                control = made;
              }}
            />
          )}
        </Show>
      </Suspense>
      <p class="quiet query-hint">{t(kind() === "gremlin" ? "gremlinHint" : "restHint")}</p>
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
            setKind(query.kind);
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

/** Puts a REST request into the editor. */
export function setRestText(text: string): void {
  setKind("rest");
  setTexts({ ...texts(), rest: text });
}
