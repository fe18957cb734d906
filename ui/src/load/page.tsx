// Loads files: what they hold, what their rows mean, a dry run, then the load.

import { createSignal, For, onMount, Show } from "solid-js";
import { number, t } from "../i18n";
import { isAbort, messageOf } from "../core/http";
import { hrefOf } from "../core/route";
import { readSchema } from "../core/schema";
import { Icon } from "../parts/icon";
import { forget, infer, load, refusedCsv, upload, type Drafted, type End, type FileRead, type Progress, type Refused } from "./api";

const [files, setFiles] = createSignal<File[]>([]);
const [sent, setSent] = createSignal<number | null>(null);
const [drafted, setDrafted] = createSignal<Drafted | null>(null);
const [mapping, setMapping] = createSignal("");
const [progress, setProgress] = createSignal<Progress | null>(null);
const [refused, setRefused] = createSignal<Refused[]>([]);
const [end, setEnd] = createSignal<End | null>(null);
const [abort, setAbort] = createSignal<AbortController | null>(null);
const [problem, setProblem] = createSignal("");

const PREVIEW_ROWS = 3;
const REFUSED_SHOWN = 50;

/** Does work that the user can stop. */
async function busy(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const control = new AbortController();
  abort()?.abort();
  setAbort(control);
  setProblem("");
  try {
    await work(control.signal);
  } catch (error) {
    setProblem(isAbort(error) ? t("cancelled") : messageOf(error));
  } finally {
    if (abort() === control) setAbort(null);
    setSent(null);
    setProgress(null);
  }
}

function take(picked: File[]): Promise<void> {
  setFiles(picked);
  setDrafted(null);
  setEnd(null);
  setRefused([]);
  return busy(async (signal) => {
    await forget();
    let before = 0;
    for (const file of picked) {
      await upload(file, (bytes) => setSent(before + bytes), signal);
      before += file.size;
    }
    setSent(null);
    const found = await infer(picked.map((file) => file.name), signal);
    setMapping(found.mapping);
    setDrafted(found);
  });
}

function start(dry: boolean): Promise<void> {
  setEnd(null);
  setRefused([]);
  return busy(async (signal) => {
    const tell = (now: Progress | null, rows: Refused[]) => {
      setProgress(now);
      setRefused(rows);
    };
    const ended = await load(mapping(), dry, tell, signal);
    setEnd(ended);
    if (ended.message) setProblem(ended.message);
    if (!dry) await readSchema(true);
  });
}

function save(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

const sizeOf = (picked: File[]) => picked.reduce((sum, file) => sum + file.size, 0);

function Picker() {
  const [over, setOver] = createSignal(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const dropped = [...(event.dataTransfer?.files ?? [])];
    if (dropped.length) void take(dropped);
  };
  const names = () => files().map((file) => file.name).join(", ");
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
      <span>{files().length ? t("picked", { name: names(), size: number(sizeOf(files())) }) : t("pickFile")}</span>
      <span class="button">{t("choose")}</span>
      <input
        class="visually-hidden"
        type="file"
        multiple
        onChange={(event) => {
          const picked = [...(event.currentTarget.files ?? [])];
          if (picked.length) void take(picked);
        }}
      />
    </label>
  );
}

function Columns(props: { read: FileRead }) {
  const values = (index: number) => props.read.rows.slice(0, PREVIEW_ROWS).map((row) => row.cells[index] ?? "∅").join(" · ");
  return (
    <section class="read-file">
      <h2>{props.read.file}</h2>
      <p class="quiet">
        {props.read.found.join(", ")}; {t(props.read.has_more ? "firstRowsRead" : "rowsRead", { rows: number(props.read.rows_read) })}
      </p>
      <div class="table-scroll flat" tabindex="0" role="region" aria-label={`${t("columnsOf")}: ${props.read.file}`}>
        <table class="columns">
          <thead>
            <tr>
              <th scope="col">{t("column")}</th>
              <th scope="col">{t("columnType")}</th>
              <th scope="col">{t("firstValues")}</th>
            </tr>
          </thead>
          <tbody>
            <For each={props.read.columns}>
              {(column, index) => (
                <tr>
                  <th scope="row">{column.name}</th>
                  <td>
                    {column.type}
                    <Show when={column.date_formats}>{(formats) => <span class="quiet"> {formats().join(", ")}</span>}</Show>
                  </td>
                  <td class="quiet">{values(index())}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Outcome() {
  const counts = () => {
    const ended = end();
    const loaded = ended ? ended.inputs.reduce((sum, input) => sum + input.loaded, 0) : (progress()?.loaded ?? 0);
    return { good: number(loaded), bad: number(ended?.refused ?? progress()?.refused ?? 0) };
  };
  return (
    <div class="outcome">
      <p role="status">{t(end()?.dry_run ? "dryResult" : "loadResult", counts())}</p>
      <Show when={progress()}>
        {(now) => (
          <p class="quiet">
            <progress max={now().inputs} value={now().input} aria-label={t("progress")} /> {now().file} {t("line", { line: number(now().line) })}
          </p>
        )}
      </Show>
      <Show when={end()?.replaced}>{(count) => <p class="quiet">{t("rowsReplaced", { count: number(count()) })}</p>}</Show>
      <Show when={refused().length}>
        <ul class="refused-rows">
          <For each={refused().slice(0, REFUSED_SHOWN)}>
            {(row) => (
              <li>
                <strong>{row.file}, {t("line", { line: row.line })}</strong> {row.reason}
              </li>
            )}
          </For>
        </ul>
        <button class="button small" onClick={() => save("refused.csv", refusedCsv(refused()))}>
          <Icon name="download" />
          {t("saveRefused")}
        </button>
      </Show>
    </div>
  );
}

function Steps(props: { drafted: Drafted }) {
  return (
    <>
      <For each={props.drafted.files}>{(read) => <Columns read={read} />}</For>
      <Show when={props.drafted.unsure.length}>
        <section class="unsure">
          <h2>{t("unsure")}</h2>
          <ul>
            <For each={props.drafted.unsure}>
              {(note) => (
                <li>
                  <strong>{note.column ? `${note.file}, ${note.column}:` : `${note.file}:`}</strong> {note.text}
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
      <label class="field load-mapping">
        <span>{t("mapping")}</span>
        <textarea spellcheck={false} rows={16} value={mapping()} onInput={(event) => setMapping(event.currentTarget.value)} />
      </label>
      <div class="load-actions">
        <button class="button" data-action="dry" disabled={abort() !== null} onClick={() => void start(true)}>{t("dryRun")}</button>
        <button class="button primary" data-action="load" disabled={abort() !== null} onClick={() => void start(false)}>{t("loadNow")}</button>
        <button class="button" onClick={() => save("mapping.toml", mapping())}>
          <Icon name="download" />
          {t("saveMapping")}
        </button>
        <Show when={abort()}>
          <button class="button danger" onClick={() => abort()?.abort()}>{t("stop")}</button>
        </Show>
      </div>
      <Show when={progress() || end()}>
        <Outcome />
      </Show>
      <Show when={end() && !end()!.dry_run && !end()!.message}>
        <p class="load-done" role="status">
          {t("done")} <a href={hrefOf("explore")}>{t("page_explore")}</a>
        </p>
      </Show>
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
      <Show when={sent() !== null}>
        <progress max={sizeOf(files())} value={sent() ?? 0} aria-label={t("progress")} />
      </Show>
      <Show when={problem()}>
        <p class="failure" role="alert">{problem()}</p>
      </Show>
      <Show when={drafted()}>{(found) => <Steps drafted={found()} />}</Show>
    </div>
  );
}
