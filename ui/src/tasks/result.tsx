// The result of a task: as a table, as a file, and as size and colour on the canvas.

import { createResource, createSignal, For, onCleanup, Show } from "solid-js";
import { number, t, tIfKnown } from "../i18n";
import { formatJson, parseJson } from "../core/json";
import { call, messageOf } from "../core/http";
import { ready } from "../core/resource";
import { go } from "../core/route";
import { csvOf, save } from "../core/save";
import { graph, graphPath } from "../core/server";
import { withoutClass } from "../core/text";
import { point, type Point } from "../core/times";
import { Dialog } from "../parts/dialog";
import { Table, type Row } from "../parts/table";
import { pointText } from "../parts/timefields";
import { setEmphasis } from "../explore/emphasis";
import { refsOf, refsOfAll } from "../explore/refs";
import { show, shown } from "../explore/state";
import { groupsOf, partsOf } from "./algorithms";

interface Task {
  task_name: string;
  task_status: string;
  task_result?: string;
  task_input?: string;
  task_create: number;
}

/** What an algorithm was started with. */
interface Input {
  parameters?: { source_label?: string };
  as_of?: string;
  as_of_tx?: string;
}

const EVERY_MS = 500;
const ENDED = ["success", "cancelled", "failed", "deleted"];
/** Vertices that are added to the canvas, the greatest scores first. */
const SHOWN_MAX = 300;

export function ResultDialog(props: { id: number; close: () => void }) {
  const [task, { refetch }] = createResource(() => call<Task>(`${graphPath()}/tasks/${props.id}`));
  const timer = setInterval(() => {
    if (!ENDED.includes(ready(task)?.task_status ?? "")) void refetch();
  }, EVERY_MS);
  onCleanup(() => clearInterval(timer));
  const [as, setAs] = createSignal<ReadonlySet<"size" | "color">>(new Set(["size", "color"] as const));
  const name = () => (ready(task)?.task_name ?? "").replace("algorithm:", "");
  const input = (): Input => {
    try {
      return JSON.parse(ready(task)?.task_input ?? "{}") as Input;
    } catch {
      return {};
    }
  };
  /** The point that it was computed at: what was not given was now when it began. */
  const at = (): Point => {
    const began = new Date(ready(task)?.task_create ?? 0).toISOString();
    return { trueAt: input().as_of ?? began, knownAt: input().as_of_tx ?? began };
  };
  const result = () => {
    const text = ready(task)?.task_result;
    if (text === undefined || ready(task)?.task_status !== "success") return null;
    try {
      return partsOf(name(), parseJson(text));
    } catch {
      return { facts: [["", text] as [string, string]], rows: [], areScores: false };
    }
  };
  const values = () => {
    const found = result();
    if (!found) return new Map<unknown, number | string>();
    return found.areScores ? new Map<unknown, number | string>(found.rows.map(([id, value]) => [id, Number(value)])) : groupsOf(found.rows);
  };
  const rows = (): Row[] => (result()?.rows ?? []).map(([id, value]) => ({ cells: { id, value: typeof value === "number" ? value : formatJson(value, 0) } }));
  const toggle = (what: "size" | "color") => {
    const next = new Set(as());
    if (!next.delete(what)) next.add(what);
    setAs(next);
  };
  const [problem, setProblem] = createSignal("");
  const toCanvas = async () => {
    try {
      // The names of scores are texts, whatever the ids are; lists have ids as they are.
      const allTexts = result()?.areScores ?? false;
      const label = input().parameters?.source_label;
      const refs = await refsOfAll([...values().keys()].slice(0, SHOWN_MAX), point(), { allTexts, label });
      const byRef = [...values()].flatMap(([id, value]) => refsOf(id, allTexts, label).map((ref) => [ref, value] as const));
      setEmphasis(name(), new Map(byRef), as(), at());
      show([...shown(), ...refs]);
      props.close();
      go("explore");
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const saveResult = () => save(`${graph()}-${name()}.csv`, "text/csv", csvOf(["id", "value"], result()?.rows ?? []));
  return (
    <Dialog title={t("resultOf", { name: name(), id: props.id })} close={props.close} wide>
      <Show when={!task.error} fallback={<p class="failure">{messageOf(task.error)}</p>}>
        <Show when={ENDED.includes(ready(task)?.task_status ?? "")} fallback={<p class="quiet" role="status">{t("taskRuns")}</p>}>
          <Show when={result()} fallback={<pre class="json" tabindex="0">{withoutClass(ready(task)?.task_result ?? ready(task)?.task_status ?? "")}</pre>}>
            {(found) => (
              <>
                <Show when={ready(task)?.task_input?.includes('"algorithm"')}>
                  <p class="quiet">{tIfKnown(`algorithm_${name()}`)} <span data-at>{pointText(at())}</span></p>
                </Show>
                <Show when={found().facts.length}>
                  <dl class="facts">
                    <For each={found().facts}>{([key, value]) => <><dt>{key}</dt><dd>{value} <span class="quiet">{tIfKnown(`fact_${key}`)}</span></dd></>}</For>
                  </dl>
                </Show>
                <Show when={found().rows.length}>
                  <div class="label-table">
                    <Table columns={["id", "value"]} rows={rows()} label={name()} />
                  </div>
                  <p class="quiet">{t("resultRows", { count: number(found().rows.length) })}</p>
                </Show>
                <Show when={values().size}>
                  <div class="result-as">
                    <label class="check"><input type="checkbox" checked={as().has("size")} disabled={!found().areScores} onChange={() => toggle("size")} />{t("asSize")}</label>
                    <label class="check"><input type="checkbox" checked={as().has("color")} onChange={() => toggle("color")} />{t("asColor")}</label>
                  </div>
                </Show>
              </>
            )}
          </Show>
        </Show>
      </Show>
      <Show when={problem()}>
        <p class="failure" role="alert">{problem()}</p>
      </Show>
      <div class="dialog-actions">
        <button class="button" onClick={() => props.close()}>{t("close")}</button>
        <Show when={result()?.rows.length}>
          <button class="button" data-action="save-result" onClick={saveResult}>{t("saveCsv")}</button>
        </Show>
        <Show when={values().size}>
          <button class="button primary" data-action="to-canvas" onClick={() => void toCanvas()}>{t("resultToCanvas")}</button>
        </Show>
      </div>
    </Dialog>
  );
}
