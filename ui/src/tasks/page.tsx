// Tasks of the graph, and the queries that run on the server.

import { createResource, createSignal, For, onCleanup, Show } from "solid-js";
import { language, t, tIfKnown } from "../i18n";
import { call, messageOf } from "../core/http";
import { graph, graphPath } from "../core/server";
import { Icon } from "../parts/icon";
import { ResultDialog } from "./result";
import { StartDialog } from "./start";

interface Task {
  id: number;
  task_name: string;
  task_type: string;
  task_status: string;
  task_progress: number;
  task_create: number;
  task_update?: number;
  task_result?: string;
}

interface Running {
  id: string;
  kind: string;
  graph: string;
  user: string | null;
  text: string | null;
  path: string;
  elapsed_ms: number;
  tag: string | null;
}

const EVERY_MS = 2000;
/** Marks what this page itself asks for, which is not listed. */
const OWN_TAG = "ui-tasks";
const ENDED = ["success", "cancelled", "failed", "deleted"];

const [problem, setProblem] = createSignal("");

async function act(path: string, method: "PUT" | "DELETE", done: () => void): Promise<void> {
  try {
    await call(path, { method });
    setProblem("");
  } catch (error) {
    setProblem(messageOf(error));
  }
  done();
}

function time(millis: number): string {
  return new Intl.DateTimeFormat(language(), { dateStyle: "short", timeStyle: "medium" }).format(millis);
}

function TaskRow(props: { task: Task; reload: () => void; open: (id: number) => void }) {
  const [isSure, setSure] = createSignal(false);
  const isRunning = () => !ENDED.includes(props.task.task_status);
  const path = () => `${graphPath()}/tasks/${props.task.id}`;
  return (
    <tr>
      <th scope="row">{props.task.id}</th>
      <td><button class="link" data-task={props.task.id} onClick={() => props.open(props.task.id)} title={t("openResult")}>{props.task.task_name}</button></td>
      <td>{props.task.task_type}</td>
      <td>
        <span class={`badge task-${props.task.task_status}`}>{tIfKnown(`task_${props.task.task_status}`) ?? props.task.task_status}</span>
      </td>
      <td>{props.task.task_progress}</td>
      <td>{time(props.task.task_create)}</td>
      <td>
        <Show
          when={isRunning()}
          fallback={
            <Show
              when={isSure()}
              fallback={
                <button class="icon-button small" onClick={() => setSure(true)} title={t("remove")} aria-label={`${t("remove")} ${props.task.id}`}>
                  <Icon name="trash" />
                </button>
              }
            >
              <button class="button small danger" onClick={() => void act(path(), "DELETE", props.reload)} onBlur={() => setSure(false)} ref={(button) => setTimeout(() => button.focus())}>
                {t("sceneDeleteSure")}
              </button>
            </Show>
          }
        >
          <button class="icon-button small" onClick={() => void act(`${path()}?action=cancel`, "PUT", props.reload)} title={t("stop")} aria-label={`${t("stop")} ${props.task.id}`}>
            <Icon name="stop" />
          </button>
        </Show>
      </td>
    </tr>
  );
}

function RunningQueries() {
  const [queries, { refetch }] = createResource(async () => (await call<{ queries: Running[] }>("/queries")).queries);
  const timer = setInterval(() => void refetch(), EVERY_MS);
  onCleanup(() => clearInterval(timer));
  const rows = () => (queries.error ? [] : (queries.latest ?? []).filter((query) => query.tag !== OWN_TAG));
  return (
    <Show when={!queries.error}>
      <section class="schema-section">
        <h2>{t("runningQueries")}</h2>
        <ul class="past">
          <For each={rows()} fallback={<li class="quiet">{t("noneRuns")}</li>}>
            {(query) => (
              <li class="running-query">
                <span class="mono" title={query.text ?? query.path}>{query.text ?? query.path}</span>
                <span class="quiet">
                  {query.kind} · {query.graph} · {(query.elapsed_ms / 1000).toFixed(1)} s
                </span>
                <button class="button small danger" onClick={() => void act(`/queries/${encodeURIComponent(query.id)}`, "DELETE", () => void refetch())}>
                  {t("stop")}
                </button>
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  );
}

export default function TasksPage() {
  const [tasks, { refetch }] = createResource(graph, async () => (await call<{ tasks: Task[] }>(`${graphPath()}/tasks`, { query: { limit: 200 }, tag: OWN_TAG })).tasks);
  const timer = setInterval(() => void refetch(), EVERY_MS);
  onCleanup(() => clearInterval(timer));
  const [isStarting, setStarting] = createSignal(false);
  const [opened, setOpened] = createSignal<number | null>(null);
  const rows = () => (tasks.error ? [] : [...(tasks.latest ?? [])].sort((a, b) => b.id - a.id));
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t("page_tasks")}</h1>
        <button class="button primary" data-action="new-task" onClick={() => setStarting(true)}>{t("startAlgorithm")}</button>
      </div>
      <Show when={problem() || tasks.error}>
        <p class="failure" role="alert">{problem() || messageOf(tasks.error)}</p>
      </Show>
      <Show when={isStarting()}>
        <StartDialog
          close={() => setStarting(false)}
          started={(id) => {
            setStarting(false);
            setOpened(id);
            void refetch();
          }}
        />
      </Show>
      <Show when={opened()} keyed>
        {(id) => <ResultDialog id={id} close={() => setOpened(null)} />}
      </Show>
      <RunningQueries />
      <section class="schema-section">
        <h2>{t("tasksOf", { graph: graph() })}</h2>
        <Show when={rows().length} fallback={<p class="quiet">{tasks.loading ? t("loading") : t("noTasks")}</p>}>
          <div class="table-scroll flat" tabindex="0" role="region" aria-label={t("page_tasks")}>
            <table>
              <thead>
                <tr>
                  <th scope="col">Id</th>
                  <th scope="col">{t("name")}</th>
                  <th scope="col">{t("indexType")}</th>
                  <th scope="col">{t("taskStatus")}</th>
                  <th scope="col">{t("progress")}</th>
                  <th scope="col">{t("created")}</th>
                  <th scope="col"><span class="visually-hidden">{t("actions")}</span></th>
                </tr>
              </thead>
              <tbody>
                <For each={rows()}>{(task) => <TaskRow task={task} reload={() => void refetch()} open={setOpened} />}</For>
              </tbody>
            </table>
          </div>
        </Show>
      </section>
    </div>
  );
}
