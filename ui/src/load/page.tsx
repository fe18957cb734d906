// Loads files: what they hold, what their rows mean, a dry run, then the load.

import { createEffect, createMemo, createSignal, For, on, Show } from "solid-js";
import { number, t, type Key } from "../i18n";
import { hrefOf } from "../core/route";
import { save } from "../core/save";
import { readSchema } from "../core/schema";
import { graph } from "../core/server";
import { Dialog } from "../parts/dialog";
import { dropped } from "../parts/drop";
import { Icon } from "../parts/icon";
import { refusedCsv, type Drafted } from "./api";
import { notesLeft, RoleTables } from "./roletable";
import { abort, drafted, end, files, loading, mapping, problem, progress, refused, sent, setMapping, start, take, target } from "./state";

const REFUSED_SHOWN = 50;

const sizeOf = (picked: File[]) => picked.reduce((sum, file) => sum + file.size, 0);

function Picker(props: { over: boolean }) {
  const names = () => files().map((file) => file.name).join(", ");
  return (
    <label class="picker" classList={{ over: props.over }}>
      <Icon name="load" />
      <span>{files().length ? t("picked", { name: names(), size: number(sizeOf(files())) }) : t("pickFile")}</span>
      <span class="button">{t("choose")}</span>
      <input
        class="visually-hidden"
        type="file"
        multiple
        disabled={loading()}
        onChange={(event) => {
          void take([...(event.currentTarget.files ?? [])]);
          // The same file may be chosen again, once it was repaired.
          event.currentTarget.value = "";
        }}
      />
    </label>
  );
}

/** A failure where the person looks who caused it. */
function Problem(props: { of: "read" | "load" }) {
  const found = () => (problem()?.of === props.of ? problem() : null);
  let place: HTMLParagraphElement | undefined;
  createEffect(on(found, (now) => now && place?.scrollIntoView({ block: "nearest" })));
  return (
    <Show when={found()}>
      {(now) => <p class="failure" role="alert" ref={place}>{now().text}</p>}
    </Show>
  );
}

/** What became of the rows, in the words of `varve load`. */
function Counts() {
  const lines = (): string[] => {
    const ended = end();
    if (!ended) return [t("loadRuns", { good: number(progress()?.loaded ?? 0), bad: number(progress()?.refused ?? 0) })];
    const counts = { good: number(ended.elements), bad: number(ended.refused) };
    return [
      t(ended.dry_run ? "dryResult" : "loadResult", counts),
      ...(ended.states ? [t("rowsFurther", { count: number(ended.states) })] : []),
      ...(ended.replaced ? [t("rowsReplaced", { count: number(ended.replaced) })] : []),
    ];
  };
  return (
    <div role="status">
      <For each={lines()}>{(line, index) => <p classList={{ quiet: index() > 0 }}>{line}</p>}</For>
    </div>
  );
}

function Outcome() {
  return (
    <div class="outcome">
      <Counts />
      <Show when={progress()}>
        {(now) => (
          <p class="quiet">
            <progress max={now().inputs} value={now().input} aria-label={t("progress")} /> {now().file} {t("line", { line: number(now().line) })}
          </p>
        )}
      </Show>
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
        <Show when={refused().length > REFUSED_SHOWN}>
          <p class="refused-more">{t("refusedMore", { count: number(refused().length - REFUSED_SHOWN) })}</p>
        </Show>
        <button class="button small" data-action="save-refused" onClick={() => save("refused.csv", "text/csv", refusedCsv(refused()))}>
          <Icon name="download" />
          {t("saveRefused", { count: number(refused().length) })}
        </button>
      </Show>
    </div>
  );
}

/** The keys of a mapping, with what each means. */
const FORM: [string, Key][] = [
  ["[[vertex]], [[edge]]", "form_part"], ["file, label", "form_file"], ["id", "form_id"], ["source, target", "form_ends"],
  ["valid_from, valid_to", "form_valid"], ["valid_to_inclusive", "form_inclusive"], ["valid_to_ends_edge", "form_ends_edge"],
  ["rename", "form_rename"], ["ignore", "form_ignore"], ["date_format, date_formats", "form_dates"],
  ["decimal", "form_decimal"], ["null, nulls", "form_null"], ["list_separator", "form_list"], ["format, charset, delimiter, header", "form_reading"],
  ["skip_empty", "form_skip"], ["skip_unchanged", "form_unchanged"], ["[schema]", "form_schema"],
];

function FormOfMappings(props: { close: () => void }) {
  return (
    <Dialog title={t("mappingForm")} close={props.close} wide>
      <table class="keys mapping-form">
        <tbody>
          <For each={FORM}>{([keys, text]) => <tr><th scope="row"><code>{keys}</code></th><td>{t(text)}</td></tr>}</For>
        </tbody>
      </table>
      <p class="quiet">{t("mappingFormMore")}</p>
    </Dialog>
  );
}

function Steps(props: { drafted: Drafted }) {
  const [form, setForm] = createSignal(false);
  const notes = createMemo(() => notesLeft(props.drafted));
  return (
    <>
      <Show when={notes().length}>
        <section class="unsure">
          <h2>{t("unsure")}</h2>
          <ul>
            <For each={notes()}>
              {(note) => (
                <li>
                  <strong>{note.column ? `${note.file}, ${note.column}:` : `${note.file}:`}</strong> {note.text}
                </li>
              )}
            </For>
          </ul>
        </section>
      </Show>
      <RoleTables />
      <details class="load-mapping">
        <summary>{t("mappingText")}</summary>
        <p>
          <span class="quiet">{t("mapping")}</span> <button class="link" data-action="mapping-form" onClick={() => setForm(true)}>{t("mappingForm")}</button>
        </p>
        <textarea spellcheck={false} rows={16} aria-label={t("mappingText")} value={mapping()} onInput={(event) => setMapping(event.currentTarget.value)} />
      </details>
      <div class="load-actions">
        <button class="button" data-action="dry" disabled={abort() !== null} onClick={() => void start(true)}>{t("dryRun")}</button>
        <button class="button primary" data-action="load" disabled={abort() !== null} onClick={() => void start(false)}>{t("loadNow")}</button>
        <button class="button" onClick={() => save("mapping.toml", "text/plain", mapping())}>
          <Icon name="download" />
          {t("saveMapping")}
        </button>
        <Show when={mapping() !== props.drafted.mapping}>
          <button class="button" data-action="draft" onClick={() => setMapping(props.drafted.mapping)}>{t("backToDraft")}</button>
        </Show>
        <Show when={abort()}>
          <button class="button danger" onClick={() => abort()?.abort()}>{t("stop")}</button>
        </Show>
      </div>
      <Problem of="load" />
      <Show when={progress() || end()}>
        <Outcome />
      </Show>
      <Show when={end() && !end()!.dry_run && !end()!.message}>
        <p class="load-done" role="status">
          {t("done")} <a href={hrefOf("explore")}>{t("page_explore")}</a>
        </p>
      </Show>
      <Show when={form()}>
        <FormOfMappings close={() => setForm(false)} />
      </Show>
    </>
  );
}

export default function LoadPage() {
  const over = dropped((found) => void take(found));
  // The table says which labels the graph has. Who may not read the schema goes without.
  createEffect(on(graph, () => void readSchema(true).catch(() => undefined)));
  return (
    <div class="page load">
      <div class="page-head">
        <h1>{t("page_load")}</h1>
        <span class="quiet">{t("loadHint")}</span>
      </div>
      <Picker over={over()} />
      <Show when={loading() && target() !== graph()}>
        <p class="notice" role="status">
          {t("loadsElsewhere", { graph: target() })} <button class="button small" onClick={() => abort()?.abort()}>{t("stop")}</button>
        </p>
      </Show>
      <Show when={sent() !== null}>
        <progress max={sizeOf(files())} value={sent() ?? 0} aria-label={t("progress")} />
      </Show>
      <Problem of="read" />
      <Show when={drafted()}>{(found) => <Steps drafted={found()} />}</Show>
    </div>
  );
}
