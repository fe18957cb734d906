// The query page: Gremlin and Cypher at any point of both times, and REST.

import type { CompletionSource } from "@codemirror/autocomplete";
import { createSignal, For, lazy, onMount, Show, Suspense } from "solid-js";
import { t, type Key } from "../i18n";
import { graph } from "../core/server";
import { readSchema } from "../core/schema";
import { point, setPoint, type Point } from "../core/times";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { TimeFields } from "../parts/timefields";
import { completeCypher } from "./cypher";
import { explained, isExplained, parameterNames } from "./cypherapi";
import type { EditorControl } from "./editor";
import { FailureBox } from "./failurebox";
import { completeGremlin } from "./gremlin";
import { PastQueries, SavedQueries } from "./kept";
import { KINDS, NAMES, type QueryKind } from "./past";
import { isOnlyExplained, withPlan } from "./plan";
import { completeRest, isDestructive } from "./rest";
import { ResultView } from "./resultview";
import { failure, kind, parameters, result, running, runQuery, setKind, setParameters, setText, stop, texts } from "./run";

const Editor = lazy(() => import("./editor").then((module) => ({ default: module.Editor })));

const LABELS: Record<QueryKind, Key> = { gremlin: "gremlinText", cypher: "cypherText", rest: "restText" };
const EXAMPLES: Record<QueryKind, string> = {
  gremlin: "g.V().hasLabel('person').out()",
  cypher: "MATCH (a:person)-[r]->(b) RETURN a, r, b",
  rest: "GET /graphs",
};

export default function QueryPage() {
  let control: EditorControl | undefined;
  const [kept, setKept] = createSignal<"past" | "saved" | null>(null);
  /** The text that waits for a yes. */
  const [asking, setAsking] = createSignal<string | null>(null);
  onMount(() => {
    void readSchema().catch(() => undefined);
    if (!texts().rest) setText("rest", `GET /graphs/${graph()}/schema/vertexlabels`);
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
  const take = (query: { kind: QueryKind; text: string; parameters?: string; times?: Point }) => {
    if (query.times) setPoint(query.times);
    setKind(query.kind);
    setText(query.kind, query.text);
    if (query.kind === "cypher") setParameters(query.parameters ?? "");
    setKept(null);
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
            {(name) => (
              <button role="tab" data-kind={name} aria-selected={kind() === name} onClick={() => setKind(name)}>
                {NAMES[name]}
              </button>
            )}
          </For>
        </div>
        <Show when={kind() !== "rest"}>
          <TimeFields />
        </Show>
        <span class="spacer" />
        <button class="text-button" data-action="saved" onClick={() => setKept("saved")}>
          <Icon name="scenes" />
          {t("savedQueries")}
        </button>
        <button class="text-button" data-action="past" onClick={() => setKept("past")}>
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
              change={(text) => setText(of, text)}
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
      <Show when={failure()}>{(told) => <FailureBox failure={told()} />}</Show>
      <Show when={running()}>
        <p class="quiet" role="status">{t("running")}</p>
      </Show>
      <Show when={result()} keyed>
        {(found) => <ResultView result={found} />}
      </Show>
      <Show when={kept() === "past"}>
        <PastQueries close={() => setKept(null)} take={take} />
      </Show>
      <Show when={kept() === "saved"}>
        <SavedQueries close={() => setKept(null)} take={take} current={{ kind: kind(), text: texts()[kind()], parameters: kind() === "cypher" ? parameters() : "", ...(kind() === "rest" ? {} : { times: point() }) }} />
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
  setText("rest", text);
}
