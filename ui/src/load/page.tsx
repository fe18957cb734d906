// Loads a file: what it holds, what its columns mean, a dry run, then the rows.

import { createSignal, For, onMount, Show } from "solid-js";
import { number, t } from "../i18n";
import { isAbort, messageOf } from "../core/http";
import { hrefOf } from "../core/route";
import { readSchema, schema } from "../core/schema";
import { Icon } from "../parts/icon";
import { doubled, guess, IGNORE, labelOf, lacking, SPECIAL, toml, type Mapping } from "./mapping";
import { dryRun, refusedCsv, run, Source, type Progress } from "./run";
import type { Block } from "./reading";
import { textOf } from "./values";

const [file, setFile] = createSignal<File | null>(null);
const [block, setBlock] = createSignal<Block | null>(null);
const [mapping, setMapping] = createSignal<Mapping | null>(null);
const [tried, setTried] = createSignal<Progress | null>(null);
const [progress, setProgress] = createSignal<Progress | null>(null);
const [done, setDone] = createSignal(false);
const [abort, setAbort] = createSignal<AbortController | null>(null);
const [problem, setProblem] = createSignal("");

async function take(picked: File): Promise<void> {
  setFile(picked);
  setTried(null);
  setProgress(null);
  setDone(false);
  setProblem("");
  setBlock(null);
  const source = new Source(picked);
  try {
    const first = await source.next();
    setBlock(first);
    const known = await readSchema(true);
    setMapping(bestGuess(picked.name, first.columns, known));
  } catch (error) {
    setProblem(messageOf(error));
  } finally {
    source.close();
  }
}

/** The label that takes most of the columns; the file's name decides between equals. */
function bestGuess(name: string, columns: string[], known: NonNullable<ReturnType<typeof schema>>): Mapping | null {
  const all = [
    ...known.vertexlabels.map((label) => guess(known, "vertex", label.name, columns)),
    ...known.edgelabels.map((label) => guess(known, "edge", label.name, columns)),
  ];
  const worth = (each: Mapping) =>
    each.targets.filter((target) => target !== IGNORE).length * 2 -
    lacking(known, each).length * 3 +
    (name.toLowerCase().includes(each.label.toLowerCase()) ? 1 : 0);
  return all.sort((a, b) => worth(b) - worth(a))[0] ?? null;
}

async function tryIt(): Promise<void> {
  const [known, chosen, picked] = [schema(), mapping(), file()];
  if (!known || !chosen || !picked) return;
  try {
    setTried(await dryRun(picked, known, chosen));
  } catch (error) {
    setProblem(messageOf(error));
  }
}

async function loadIt(): Promise<void> {
  const [known, chosen, picked] = [schema(), mapping(), file()];
  if (!known || !chosen || !picked) return;
  const control = new AbortController();
  setAbort(control);
  setDone(false);
  setProblem("");
  setProgress({ read: 0, size: picked.size, loaded: 0, refused: [] });
  try {
    setProgress(await run(picked, known, chosen, setProgress, control.signal));
    setDone(true);
  } catch (error) {
    setProblem(isAbort(error) ? t("cancelled") : messageOf(error));
  } finally {
    setAbort(null);
  }
}

function save(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function Picker() {
  const [over, setOver] = createSignal(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const dropped = event.dataTransfer?.files[0];
    if (dropped) void take(dropped);
  };
  return (
    <label
      class="picker"
      classList={{ over: over() }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="load" />
      <span>{file() ? t("picked", { name: file()!.name, size: number(file()!.size) }) : t("pickFile")}</span>
      <span class="button">{t("choose")}</span>
      <input
        class="visually-hidden"
        type="file"
        accept=".csv,.tsv,.jsonl,.ndjson,.json,.txt,.gz"
        onChange={(event) => {
          const picked = event.currentTarget.files?.[0];
          if (picked) void take(picked);
        }}
      />
    </label>
  );
}

function targetText(target: string): string {
  switch (target) {
    case IGNORE:
      return t("ignoreColumn");
    case "~id":
      return t("columnId");
    case "~source":
      return t("columnSource");
    case "~target":
      return t("columnTarget");
    case "~valid_from":
      return t("columnValidFrom");
    case "~valid_to":
      return t("columnValidTo");
    default:
      return target;
  }
}

function Columns(props: { mapping: Mapping; block: Block }) {
  const options = () => {
    const known = schema();
    const label = known ? labelOf(known, props.mapping) : undefined;
    const special = SPECIAL.filter((target) =>
      props.mapping.kind === "vertex" ? !["~source", "~target"].includes(target) : target !== "~id",
    );
    return [IGNORE, ...special, ...(label?.properties ?? [])];
  };
  const set = (index: number, target: string) => {
    const targets = props.mapping.targets.map((old, at) => (at === index ? target : old));
    setMapping({ ...props.mapping, targets });
    setTried(null);
  };
  return (
    <div class="table-scroll flat" tabindex="0" role="region" aria-label={t("columnsOf")}>
      <table class="columns">
        <thead>
          <tr>
            <th scope="col">{t("column")}</th>
            <th scope="col">{t("means")}</th>
            <th scope="col">{t("firstValues")}</th>
          </tr>
        </thead>
        <tbody>
          <For each={props.block.columns}>
            {(column, index) => (
              <tr>
                <th scope="row">{column}</th>
                <td>
                  <select aria-label={`${t("means")}: ${column}`} value={props.mapping.targets[index()]} onChange={(event) => set(index(), event.currentTarget.value)}>
                    <For each={options()}>{(target) => <option value={target} selected={target === props.mapping.targets[index()]}>{targetText(target)}</option>}</For>
                  </select>
                </td>
                <td class="quiet">{props.block.rows.slice(0, 3).map((row) => textOf(row.cells[index()])).join(" · ")}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

function LabelChoice(props: { mapping: Mapping; columns: string[] }) {
  const value = () => `${props.mapping.kind} ${props.mapping.label}`;
  const choose = (text: string) => {
    const [kind, ...rest] = text.split(" ");
    const known = schema();
    if (known) setMapping(guess(known, kind === "edge" ? "edge" : "vertex", rest.join(" "), props.columns));
    setTried(null);
  };
  return (
    <label class="field load-label">
      <span>{t("rowsAre")}</span>
      <select value={value()} onChange={(event) => choose(event.currentTarget.value)}>
        <optgroup label={t("vertexLabels")}>
          <For each={schema()?.vertexlabels ?? []}>{(label) => <option value={`vertex ${label.name}`} selected={value() === `vertex ${label.name}`}>{label.name}</option>}</For>
        </optgroup>
        <optgroup label={t("edgeLabels")}>
          <For each={schema()?.edgelabels ?? []}>{(label) => <option value={`edge ${label.name}`} selected={value() === `edge ${label.name}`}>{label.name}</option>}</For>
        </optgroup>
      </select>
    </label>
  );
}

function Outcome(props: { progress: Progress; dry: boolean }) {
  return (
    <div class="outcome">
      <p role="status">
        <Show when={!props.dry} fallback={t("dryResult", { good: number(props.progress.loaded), bad: number(props.progress.refused.length) })}>
          {t("loadResult", { good: number(props.progress.loaded), bad: number(props.progress.refused.length) })}
        </Show>
      </p>
      <Show when={!props.dry}>
        <progress max={props.progress.size} value={props.progress.read} aria-label={t("progress")} />
      </Show>
      <Show when={props.progress.refused.length}>
        <ul class="refused-rows">
          <For each={props.progress.refused.slice(0, 50)}>
            {(row) => (
              <li>
                <strong>{t("line", { line: row.line })}</strong> {row.why}
              </li>
            )}
          </For>
        </ul>
        <button class="button small" onClick={() => save("refused.csv", refusedCsv(block()?.columns ?? [], props.progress.refused))}>
          <Icon name="download" />
          {t("saveRefused")}
        </button>
      </Show>
    </div>
  );
}

function Steps(props: { mapping: Mapping; block: Block }) {
  const missing = () => {
    const known = schema();
    return known ? lacking(known, props.mapping) : [];
  };
  const unready = () => missing().length > 0 || doubled(props.mapping).length > 0;
  return (
    <>
      <LabelChoice mapping={props.mapping} columns={props.block.columns} />
      <Columns mapping={props.mapping} block={props.block} />
      <Show when={missing().length}>
        <p class="notice">{t("lacking", { what: missing().map(targetText).join(", ") })}</p>
      </Show>
      <Show when={doubled(props.mapping).length}>
        <p class="notice">{t("doubled", { what: doubled(props.mapping).map(targetText).join(", ") })}</p>
      </Show>
      <div class="load-actions">
        <button class="button" data-action="dry" disabled={unready() || abort() !== null} onClick={() => void tryIt()}>{t("dryRun")}</button>
        <button class="button primary" data-action="load" disabled={unready() || abort() !== null} onClick={() => void loadIt()}>{t("loadNow")}</button>
        <Show when={abort()}>
          <button class="button danger" onClick={() => abort()?.abort()}>{t("stop")}</button>
        </Show>
      </div>
      <Show when={!progress() ? tried() : null}>{(found) => <Outcome progress={found()} dry />}</Show>
      <Show when={progress()}>{(found) => <Outcome progress={found()} dry={false} />}</Show>
      <Show when={done()}>
        <p class="load-done" role="status">
          {t("done")} <a href={hrefOf("explore")}>{t("page_explore")}</a>
        </p>
      </Show>
      <details>
        <summary>{t("sameForTool")}</summary>
        <pre class="json">{toml(file()?.name ?? "", props.block.columns, props.mapping)}</pre>
      </details>
    </>
  );
}

export default function LoadPage() {
  onMount(() => void readSchema(true).catch((error: unknown) => setProblem(messageOf(error))));
  return (
    <div class="page load">
      <div class="page-head">
        <h1>{t("page_load")}</h1>
        <span class="quiet">{t("loadHint")}</span>
      </div>
      <Picker />
      <Show when={problem()}>
        <p class="failure" role="alert">{problem()}</p>
      </Show>
      <Show when={schema() && schema()!.vertexlabels.length === 0}>
        <p class="notice">
          {t("noLabelsYet")} <a href={hrefOf("schema")}>{t("page_schema")}</a>
        </p>
      </Show>
      <Show when={block()}>
        {(first) => <Show when={mapping()}>{(chosen) => <Steps mapping={chosen()} block={first()} />}</Show>}
      </Show>
    </div>
  );
}
