// What the columns of a file mean, as a table to change. Each change is written into the mapping's text.

import { createMemo, For, Index, Show } from "solid-js";
import { number, t, tIfKnown, type Key } from "../i18n";
import { schemaOf } from "../core/schema";
import { graph } from "../core/server";
import { Icon } from "../parts/icon";
import type { Drafted, FileRead, Note } from "./api";
import {
  DATE_FORMATS, datesOf, isInstant, isOfGraph, openNotes, parseMapping, partsOf, removePart, rolesFor, setEnd, setFlag, setFormat, setInstant, setKind, setLabel, setRole,
  setType, TYPES, vertexLabels, type ColumnRole, type Mapping, type Part,
} from "./roles";
import { drafted, mapping, setMapping } from "./state";
import { formatToml } from "./toml";

const PREVIEW_ROWS = 3;

type Read = { mapping: Mapping; failure: null } | { mapping: null; failure: string };

function readMapping(): Read {
  try {
    return { mapping: parseMapping(mapping(), schemaOf(graph())), failure: null };
  } catch (error) {
    return { mapping: null, failure: error instanceof Error ? error.message : String(error) };
  }
}

/** The notes of the draft that the mapping has not answered. */
export function notesLeft(of: Drafted): Note[] {
  const now = readMapping().mapping;
  return now ? openNotes(of.unsure, parseMapping(of.mapping, schemaOf(graph())), now, of.files) : of.unsure;
}

const filesRead = (): readonly FileRead[] => drafted()?.files ?? [];

/** Changes the text by way of what it says. */
function change(edit: (mapping: Mapping, files: readonly FileRead[]) => void): void {
  const now = readMapping().mapping;
  if (!now) return;
  edit(now, filesRead());
  setMapping(formatToml(now));
}

function Choice(props: { label: string; value: string; values: readonly string[]; text?: (value: string) => string; disabled?: boolean; title?: string; choose: (value: string) => void }) {
  const all = () => (props.values.includes(props.value) || !props.value ? props.values : [...props.values, props.value]);
  // A choice that changed nothing is not shown as made.
  const choose = (event: { currentTarget: HTMLSelectElement }) => {
    const select = event.currentTarget;
    props.choose(select.value);
    select.value = props.value;
  };
  return (
    <select aria-label={props.label} disabled={props.disabled} title={props.title ?? props.text?.(props.value) ?? props.value} onChange={choose}>
      <Show when={!props.value}>
        <option value="" selected disabled />
      </Show>
      <For each={all()}>{(value) => <option value={value} selected={value === props.value}>{props.text?.(value) ?? value}</option>}</For>
    </select>
  );
}

function valuesOf(file: FileRead | undefined, column: string): string {
  const at = file?.columns.findIndex(({ name }) => name === column) ?? -1;
  return file?.rows.slice(0, PREVIEW_ROWS).map(({ cells }) => cells[at] ?? "∅").join(" · ") ?? "";
}

/** Formats of dates in words. */
const formatText = (format: string) => format.split(", ").map((each) => tIfKnown(`format_${each}`) ?? each).join("; ");

function ColumnRow(props: { part: Part; row: ColumnRole; mapping: Mapping; file: FileRead }) {
  const at = () => props.part.section;
  const roles = () => rolesFor(props.part);
  const roleText = (role: string) => t(`role_${role}` as Key, { label: props.part.ends?.[role as "source" | "target"] ?? "" });
  const note = () => {
    const { property, column } = props.row;
    return property !== null && property !== column ? `→ ${property}` : "";
  };
  const formats = () => [...new Set([...DATE_FORMATS, datesOf(props.file, props.row.column).formats.join(", ")])];
  const isFixed = () => props.row.property !== null && isOfGraph(props.mapping, "propertykeys", props.row.property);
  return (
    <tr data-column={props.row.column}>
      <th scope="row">{props.row.column} <span class="quiet">{note()}</span></th>
      <td>
        <Choice
          label={`${props.row.column}: ${t("columnRole")}`} value={props.row.role} values={roles()} text={roleText}
          choose={(role) => change((now, files) => setRole(now, at(), props.row.column, roles().find((each) => each === role) ?? "property", files))}
        />
      </td>
      <td>
        <Show when={props.row.property !== null}>
          <Choice
            label={`${props.row.column}: ${t("columnType")}`} value={props.row.type ?? ""} values={TYPES} disabled={isFixed()}
            title={isFixed() ? t("typeOfGraph") : undefined}
            choose={(type) => change((now, files) => setType(now, at(), props.row.column, type, files))}
          />
        </Show>
        <Show when={props.row.format !== null}>
          <Choice
            label={`${props.row.column}: ${t("dateFormat")}`} value={props.row.format ?? "auto"} values={formats()}
            text={formatText}
            choose={(format) => change((now) => setFormat(now, at(), props.row.column, format))}
          />
          <Show when={props.part.nulls.length}><span class="quiet">{t("nullTexts", { texts: props.part.nulls.join(", ") })}</span></Show>
        </Show>
      </td>
      <td class="quiet">{valuesOf(props.file, props.row.column)}</td>
    </tr>
  );
}

function PartHead(props: { part: Part; mapping: Mapping }) {
  const at = () => props.part.section;
  const hasColumn = (role: "from" | "to") => props.part.columns.some((column) => column.role === role);
  const instant = (which: "from" | "to") => (
    <Show when={!hasColumn(which)}>
      <label class="field">
        <span>{t(which === "from" ? "allFrom" : "allTo")}</span>
        <input
          value={props.part[which]} placeholder={t(which === "from" ? "fromLoad" : "open")} spellcheck={false}
          onChange={(event) => {
            const text = event.currentTarget.value.trim();
            if (text === "" || isInstant(text)) change((now) => setInstant(now, at(), which, text));
            else event.currentTarget.value = props.part[which];
          }}
        />
      </label>
    </Show>
  );
  const end = (which: "source" | "target") => (
    <label class="field">
      <span>{t(which === "source" ? "sourceLabel" : "targetLabel")}</span>
      <Choice
        label={t(which === "source" ? "sourceLabel" : "targetLabel")} value={props.part.ends?.[which] ?? ""} values={vertexLabels(props.mapping)} disabled={props.part.isOfGraph}
        choose={(label) => change((now) => setEnd(now, at(), which, label))}
      />
    </label>
  );
  return (
    <div class="part-head">
      <label class="field">
        <span>{t("rowsAre")}</span>
        <Choice
          label={t("rowsAre")} value={props.part.kind} values={["vertex", "edge"]} text={(kind) => t(kind === "vertex" ? "rowsVertices" : "rowsEdges")}
          choose={(kind) => change((now, files) => setKind(now, at(), kind === "edge" ? "edge" : "vertex", files))}
        />
      </label>
      <label class="field">
        <span>{t("editLabel")}</span>
        <input
          value={props.part.label} spellcheck={false}
          onChange={(event) => {
            const name = event.currentTarget.value.trim();
            if (name) change((now, files) => setLabel(now, at(), name, files));
          }}
        />
      </label>
      <Show when={props.part.ends}>
        {end("source")}
        {end("target")}
      </Show>
      {instant("from")}
      {instant("to")}
      <Index each={props.part.flags}>
        {(each) => (
          <label class="check">
            <input
              type="checkbox" checked={each().isSet} data-flag={each().flag}
              onChange={(event) => change((now) => setFlag(now, at(), each().flag, event.currentTarget.checked))}
            />
            {t(each().flag)}
          </label>
        )}
      </Index>
      <button class="button small" data-action="remove-part" onClick={() => change((now, files) => removePart(now, at(), files))}>{t("leaveOut")}</button>
    </div>
  );
}

function PartTable(props: { part: Part; mapping: Mapping; file: FileRead }) {
  const isInGraph = () => {
    const graph = props.mapping.graph;
    const labels = props.part.kind === "vertex" ? graph?.vertexlabels : graph?.edgelabels;
    return labels?.some(({ name }) => name === props.part.label) ?? false;
  };
  return (
    <div class="part" data-kind={props.part.kind} data-label={props.part.label}>
      <PartHead part={props.part} mapping={props.mapping} />
      <Show when={isInGraph()}>
        <p class="quiet">{t("labelOfGraph", { label: props.part.label })}</p>
      </Show>
      <div class="table-scroll flat" tabindex="0" role="region" aria-label={`${t("columnsOf")}: ${props.file.file}, ${props.part.label}`}>
        <table class="columns">
          <thead>
            <tr>
              <th scope="col">{t("column")}</th>
              <th scope="col">{t("columnRole")}</th>
              <th scope="col">{t("columnType")}</th>
              <th scope="col">{t("firstValues")}</th>
            </tr>
          </thead>
          <tbody>
            <Index each={props.part.columns}>{(row) => <ColumnRow part={props.part} row={row()} mapping={props.mapping} file={props.file} />}</Index>
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** A file whose columns no part of the mapping reads. */
function PlainColumns(props: { file: FileRead }) {
  return (
    <ul class="plain-columns quiet">
      <For each={props.file.columns}>{(column) => <li><strong>{column.name}</strong> {column.type}: {valuesOf(props.file, column.name)}</li>}</For>
    </ul>
  );
}

/** The files, with what the mapping makes of each. */
export function RoleTables() {
  const now = createMemo(readMapping);
  const parts = createMemo(() => {
    const found = now().mapping;
    return found ? partsOf(found, filesRead()) : [];
  });
  const partsOfFile = (file: string) => parts().filter((part) => part.file === file);
  return (
    <>
      <Show when={now().failure}>{(why) => <p class="notice" role="status">{t("mappingUnread", { why: why() })}</p>}</Show>
      <For each={filesRead()}>
        {(file) => (
          <section class="read-file">
            <h2>{file.file}</h2>
            <p class="quiet">
              {file.found.join(", ")}; {t(file.has_more ? "firstRowsRead" : "rowsRead", { rows: number(file.rows_read) })}
            </p>
            <Show when={now().mapping}>
              {(found) => <Index each={partsOfFile(file.file)}>{(part) => <PartTable part={part()} mapping={found()} file={file} />}</Index>}
            </Show>
            <Show when={partsOfFile(file.file).length === 0}>
              <p class="quiet"><Icon name="warn" /> {t(now().mapping ? "fileLeftOut" : "columnsOf")}</p>
              <PlainColumns file={file} />
            </Show>
          </section>
        )}
      </For>
    </>
  );
}
