// What each column of a file means, read from the text of a mapping and written back into it: the text
// is all that is kept.

import type { Schema } from "../core/schema";
import type { FileRead, Note } from "./api";
import { parseToml, Plain, type Document, type Section, type Table, type Value } from "./toml";

/** A mapping with the schema of the graph that it is for. */
export interface Mapping extends Document {
  graph: Schema | null;
}

/** Reads a mapping. The message of its error begins with the line. */
export function parseMapping(text: string, graph: Schema | null): Mapping {
  return { ...parseToml(text), graph };
}

export type Role = "id" | "key" | "source" | "target" | "sort" | "property" | "from" | "to" | "ignore";
const VERTEX_ROLES: Role[] = ["id", "key", "property", "from", "to", "ignore"];
const EDGE_ROLES: Role[] = ["source", "target", "sort", "property", "from", "to", "ignore"];
/** What a column of a part may be. Which keys a label of the graph has is not up to the mapping. */
export const rolesFor = ({ kind, isOfGraph }: Pick<Part, "kind" | "isOfGraph">): Role[] =>
  (kind === "vertex" ? VERTEX_ROLES : EDGE_ROLES).filter((role) => !isOfGraph || (role !== "key" && role !== "sort"));
export const TYPES = ["TEXT", "INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "DATE", "UUID"];
export const DATE_FORMATS = ["auto", "day_month_year", "month_day_year", "epoch_seconds", "epoch_millis"];

export interface ColumnRole {
  column: string;
  role: Role;
  /** The property's name, if it is one. */
  property: string | null;
  type: string | null;
  /** How its dates are written, if it has dates. */
  format: string | null;
}

/** What a mapping makes of a file: the vertices of a label, or the edges. */
export interface Part {
  /** The number of its section. */
  section: number;
  kind: "vertex" | "edge";
  file: string;
  label: string;
  /** Whether its label stays as the graph has it. */
  isOfGraph: boolean;
  columns: ColumnRole[];
  ends: { source: string; target: string } | null;
  /** The period of all rows, where it is the same. */
  from: string;
  to: string;
  /** The texts that mean no value, in all its columns. */
  nulls: string[];
  /** What its `valid_to` may be, and is. */
  flags: { flag: Flag; isSet: boolean }[];
}

export type Flag = "valid_to_inclusive" | "valid_to_ends_edge";

function flagsOf(section: Section): Flag[] {
  if (!section.entries.has("valid_to")) return [];
  return FLAGS.filter((flag) => section.name === "edge" || flag !== "valid_to_ends_edge");
}

type End = "source" | "target";
const FLAGS: Flag[] = ["valid_to_inclusive", "valid_to_ends_edge"];
const TIMES = { from: "valid_from", to: "valid_to" } as const;

const valueOf = (section: Section, key: string): Value | undefined => section.entries.get(key)?.value;
const textOf = (value: Value | undefined): string => (typeof value === "string" ? value : "");
const textsOf = (value: Value | undefined): string[] =>
  typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
const tableOf = (value: Value | undefined): Table => (value instanceof Map ? value : new Map<string, Value>());
const tablesOf = (value: Value | undefined): Table[] => (Array.isArray(value) ? value.filter((each) => each instanceof Map) : []);

/** Sets a key, or removes it where nothing is left. */
function put(section: Section, key: string, value: Value | undefined): void {
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0) || (value instanceof Map && value.size === 0);
  const held = section.entries.get(key);
  if (isEmpty) section.entries.delete(key);
  else section.entries.set(key, { ...held, comments: held?.comments ?? [], value });
}

function setTexts(table: Table, key: string, texts: readonly string[], isKept = false): void {
  if (texts.length || isKept) table.set(key, [...new Set(texts)]);
  else table.delete(key);
}

const parts = (mapping: Mapping): Section[] =>
  mapping.sections.filter(({ name, isMember }) => isMember && (name === "vertex" || name === "edge"));

const labelName = (section: Section): string => textOf(valueOf(section, "label"));

/** The other parts that make elements of a part's label. */
const sharers = (mapping: Mapping, section: Section): Section[] =>
  parts(mapping).filter((other) => other !== section && other.name === section.name && labelName(other) === labelName(section));

function columnsOf(section: Section, files: readonly FileRead[]): string[] {
  const read = files.find(({ file }) => file === textOf(valueOf(section, "file")));
  return read?.columns.map(({ name }) => name) ?? textsOf(valueOf(section, "header"));
}

const labelKey = (section: Section): "vertexlabels" | "edgelabels" => (section.name === "vertex" ? "vertexlabels" : "edgelabels");

const schemaOf = (mapping: Mapping): Section | undefined => mapping.sections.find(({ name }) => name === "schema");

type List = "vertexlabels" | "edgelabels" | "propertykeys";

function schemaList(mapping: Mapping, list: List): Table[] {
  const schema = schemaOf(mapping);
  return schema ? tablesOf(valueOf(schema, list)) : [];
}

function setSchemaList(mapping: Mapping, list: List, tables: Table[]): void {
  let schema = schemaOf(mapping);
  if (!schema) {
    if (tables.length === 0) return;
    schema = { comments: [""], name: "schema", isMember: false, entries: new Map() };
    mapping.sections.push(schema);
  }
  put(schema, list, tables);
}

/** An element of the mapping's schema, or as the graph has it: that is a copy, and stays as it is. */
function named(mapping: Mapping, list: List, name: string): Table | undefined {
  const own = schemaList(mapping, list).find((table) => textOf(table.get("name")) === name);
  const held = own ? undefined : mapping.graph?.[list].find((element) => element.name === name);
  if (!held) return own;
  const members = Object.entries(held).filter(([, value]) => typeof value === "string" || Array.isArray(value));
  return new Map(members as [string, Value][]);
}

/** Whether the graph has the element, and the mapping says nothing of it. */
export function isOfGraph(mapping: Mapping, list: List, name: string): boolean {
  return !schemaList(mapping, list).some((table) => textOf(table.get("name")) === name) && named(mapping, list, name) !== undefined;
}

const labelOf = (mapping: Mapping, section: Section): Table | undefined => named(mapping, labelKey(section), labelName(section));

/** The label of a part; made in the mapping's schema where neither that nor the graph has it. */
function ownLabel(mapping: Mapping, section: Section): Table {
  const held = labelOf(mapping, section);
  if (held) return held;
  const made: Table = new Map<string, Value>([["name", labelName(section)], ["properties", []], ["nullable_keys", []]]);
  if (section.name === "vertex") made.set("id_strategy", "AUTOMATIC");
  setSchemaList(mapping, labelKey(section), [...schemaList(mapping, labelKey(section)), made]);
  return made;
}

const propertyOf = (section: Section, column: string): string => textOf(tableOf(valueOf(section, "rename")).get(column)) || column;

function roleOf(mapping: Mapping, section: Section, column: string): Role {
  const is = (key: string) => textsOf(valueOf(section, key)).includes(column);
  if (is("ignore")) return "ignore";
  if (is("valid_from")) return "from";
  if (is("valid_to")) return "to";
  const label = labelOf(mapping, section);
  const isIn = (key: string) => textsOf(label?.get(key)).includes(propertyOf(section, column));
  if (section.name === "vertex") return is("id") ? "id" : isIn("primary_keys") ? "key" : "property";
  return is("source") ? "source" : is("target") ? "target" : isIn("sort_keys") ? "sort" : "property";
}

const isProperty = (role: Role): boolean => role === "property" || role === "key" || role === "sort";

const typeOf = (mapping: Mapping, property: string): string | null =>
  textOf(named(mapping, "propertykeys", property)?.get("data_type")) || null;

function formatOf(section: Section, column: string): string {
  const own = textsOf(tableOf(valueOf(section, "date_formats")).get(column));
  const all = own.length ? own : textsOf(valueOf(section, "date_format"));
  return all.join(", ") || "auto";
}

/** What a mapping makes of the files. */
export function partsOf(mapping: Mapping, files: readonly FileRead[]): Part[] {
  return parts(mapping).map((section) => {
    const file = textOf(valueOf(section, "file"));
    const columns = columnsOf(section, files).map((column): ColumnRole => {
      const role = roleOf(mapping, section, column);
      const property = isProperty(role) ? propertyOf(section, column) : null;
      const type = property === null ? null : typeOf(mapping, property);
      const isDate = type === "DATE" || role === "from" || role === "to";
      return { column, role, property, type, format: isDate ? formatOf(section, column) : null };
    });
    const label = labelOf(mapping, section);
    const instant = (key: string) => {
      const value = valueOf(section, key);
      return value instanceof Plain ? value.text : "";
    };
    return {
      section: mapping.sections.indexOf(section),
      kind: section.name === "vertex" ? "vertex" : "edge",
      file,
      label: labelName(section),
      isOfGraph: isOfGraph(mapping, labelKey(section), labelName(section)),
      columns,
      ends: section.name === "vertex" ? null : { source: textOf(label?.get("source_label")), target: textOf(label?.get("target_label")) },
      from: instant("valid_from"),
      to: instant("valid_to"),
      nulls: textsOf(valueOf(section, "null")).filter((text) => text !== ""),
      flags: flagsOf(section).map((flag) => {
        const value = valueOf(section, flag);
        return { flag, isSet: value instanceof Plain && value.text === "true" };
      }),
    };
  });
}

const DECIDING: Role[] = ["id", "key", "source", "target", "from", "to"];

/**
 * The notes of a draft whose cause is still there: one of a column goes when the column means something
 * else, one of a file when its rows, keys, ends or times do.
 */
export function openNotes(notes: readonly Note[], before: Mapping, now: Mapping, files: readonly FileRead[]): Note[] {
  const [drafted, present] = [before, now].map((mapping) => partsOf(mapping, files)) as [Part[], Part[]];
  const cause = (all: Part[], { file, column }: Note) =>
    JSON.stringify(all.filter((part) => part.file === file).map(({ kind, label, columns, ends, from, to }) => {
      if (column !== undefined) return columns.filter((each) => each.column === column);
      return { kind, label, ends, from, to, keys: columns.filter(({ role }) => DECIDING.includes(role)).map((each) => [each.column, each.role]) };
    }));
  return notes.filter((note) => cause(drafted, note) === cause(present, note));
}

/** The labels of vertices that the mapping knows. */
export function vertexLabels(mapping: Mapping): string[] {
  const made = schemaList(mapping, "vertexlabels").map((table) => textOf(table.get("name")));
  const named = parts(mapping).filter(({ name }) => name === "vertex").map(labelName);
  const held = mapping.graph?.vertexlabels.map(({ name }) => name) ?? [];
  return [...new Set([...named, ...made, ...held])];
}

/** Removes property keys that no label of the mapping has any more, and what is said of no `valid_to`. */
function prune(mapping: Mapping): void {
  for (const section of parts(mapping)) {
    const fitting = flagsOf(section);
    for (const flag of FLAGS) if (!fitting.includes(flag)) section.entries.delete(flag);
  }
  const used = new Set(
    [...schemaList(mapping, "vertexlabels"), ...schemaList(mapping, "edgelabels")].flatMap((label) => textsOf(label.get("properties"))),
  );
  const all = schemaList(mapping, "propertykeys");
  const left = all.filter((key) => used.has(textOf(key.get("name"))));
  if (left.length < all.length) setSchemaList(mapping, "propertykeys", left);
}

/** How dates are written, with a form that tells it from the others. */
const WRITTEN: [string, RegExp][] = [
  ["auto", /^\d{4}-\d{2}-\d{2}\b/], ["day_month_year", /^\d{1,2}\.\d{1,2}\.\d{4}\b/], ["day_month_year", /^(1[3-9]|2\d|3[01])\/\d{1,2}\/\d{4}\b/],
  ["month_day_year", /^\d{1,2}\/(1[3-9]|2\d|3[01])\/\d{4}\b/],
];
/** So many different words beside dates are words for no value; more are something else. */
const WORDS_MAX = 3;

/** How a column's dates are written, and which texts beside them mean none: as the draft found, or by its first values. */
export function datesOf(read: FileRead | undefined, column: string): { formats: string[]; nulls: string[] } {
  const at = read?.columns.findIndex(({ name }) => name === column) ?? -1;
  const known = read?.columns[at];
  if (known?.date_formats?.length) return { formats: known.date_formats, nulls: Object.keys(known.nulls ?? {}) };
  const values = (read?.rows ?? []).flatMap(({ cells }) => cells[at]?.trim() || []);
  const formatOf = (value: string) => WRITTEN.find(([, form]) => form.test(value))?.[0];
  const formats = [...new Set(values.flatMap((value) => formatOf(value) ?? []))];
  const words = [...new Set(values.filter((value) => formatOf(value) === undefined && !/\d/.test(value)))];
  return { formats: formats.length ? formats : ["auto"], nulls: formats.length && words.length <= WORDS_MAX ? words : [] };
}

/** Gives a column the formats that its dates have. Words beside them mean no value, in all columns of the file. */
function setDates(mapping: Mapping, at: number, column: string, read: FileRead | undefined): void {
  const { formats, nulls } = datesOf(read, column);
  setFormat(mapping, at, column, formats.join(", "));
  const section = mapping.sections[at]!;
  const held = valueOf(section, "null") === undefined ? [""] : textsOf(valueOf(section, "null"));
  if (nulls.some((text) => !held.includes(text))) put(section, "null", [...new Set([...held, ...nulls])]);
}

/** Says how a column's dates are written; null for nothing of its own. */
export function setFormat(mapping: Mapping, at: number, column: string, format: string | null): void {
  const section = mapping.sections[at]!;
  const formats = new Map(tableOf(valueOf(section, "date_formats")));
  formats.delete(column);
  if (format !== null && format !== formatOf({ ...section, entries: new Map([...section.entries].filter(([key]) => key !== "date_formats")) }, column)) {
    formats.set(column, format.split(", "));
  }
  put(section, "date_formats", formats);
}

/** Makes a column of a part a property of its label. */
function addProperty(mapping: Mapping, section: Section, column: string, read: FileRead | undefined, isNullable: boolean): void {
  const label = ownLabel(mapping, section);
  const property = propertyOf(section, column);
  setTexts(label, "properties", [...textsOf(label.get("properties")), property], true);
  const nullable = textsOf(label.get("nullable_keys")).filter((name) => name !== property);
  setTexts(label, "nullable_keys", isNullable ? [...nullable, property] : nullable, true);
  if (!named(mapping, "propertykeys", property)) {
    const type = read?.columns.find(({ name }) => name === column)?.type ?? "TEXT";
    const made: Table = new Map<string, Value>([["cardinality", "SINGLE"], ["data_type", type], ["name", property]]);
    setSchemaList(mapping, "propertykeys", [...schemaList(mapping, "propertykeys"), made]);
  }
  if (typeOf(mapping, property) === "DATE") setDates(mapping, mapping.sections.indexOf(section), column, read);
}

/** Takes from a column what it means in its part. */
function clearOwn(mapping: Mapping, section: Section, column: string): void {
  for (const key of ["id", "valid_from", "valid_to"]) if (textOf(valueOf(section, key)) === column) put(section, key, undefined);
  for (const key of ["source", "target", "ignore"]) {
    const left = textsOf(valueOf(section, key)).filter((name) => name !== column);
    if (left.length === textsOf(valueOf(section, key)).length) continue;
    put(section, key, left.length === 1 && key !== "ignore" ? left[0] : left);
  }
  setFormat(mapping, mapping.sections.indexOf(section), column, null);
}

/** Whether another part of the label has a property. */
const isOfOthers = (mapping: Mapping, section: Section, property: string, files: readonly FileRead[]): boolean =>
  sharers(mapping, section).some((other) =>
    columnsOf(other, files).some((column) => propertyOf(other, column) === property && isProperty(roleOf(mapping, other, column))),
  );

/**
 * Takes from a column what it means, also for its label. A property that another part of the label has
 * stays, as one that may be absent.
 */
function clear(mapping: Mapping, section: Section, column: string, files: readonly FileRead[]): void {
  clearOwn(mapping, section, column);
  const label = labelOf(mapping, section);
  if (!label) return;
  const property = propertyOf(section, column);
  const without = (key: string) => textsOf(label.get(key)).filter((name) => name !== property);
  const isShared = isOfOthers(mapping, section, property, files);
  for (const key of ["primary_keys", "sort_keys"]) setTexts(label, key, without(key));
  if (!isShared) setTexts(label, "properties", without("properties"), true);
  setTexts(label, "nullable_keys", isShared ? [...without("nullable_keys"), property] : without("nullable_keys"), true);
}

/** The columns that name an end, of which its label has room for one more. */
function endColumns(mapping: Mapping, section: Section, end: End): { held: string[]; hasRoom: boolean } {
  const held = textsOf(valueOf(section, end));
  const other = named(mapping, "vertexlabels", textOf(labelOf(mapping, section)?.get(`${end}_label`)));
  const wanted = Math.max(1, textsOf(other?.get("primary_keys")).length);
  return { held, hasRoom: held.length < wanted };
}

/** The strategy of ids that fits the keys of a label. */
function settle(mapping: Mapping, section: Section, read: FileRead | undefined): void {
  const label = ownLabel(mapping, section);
  if (section.name === "edge") {
    if (textsOf(label.get("sort_keys")).length) label.set("frequency", "MULTIPLE");
    else label.delete("frequency");
    return;
  }
  const id = [section, ...sharers(mapping, section)].map((part) => textOf(valueOf(part, "id"))).find((name) => name !== "") ?? "";
  const type = read?.columns.find(({ name }) => name === id)?.type ?? "";
  const own = /^(BYTE|INT|LONG)$/.test(type) ? "CUSTOMIZE_NUMBER" : "CUSTOMIZE_STRING";
  const held = textOf(label.get("id_strategy"));
  const isOwn = held.startsWith("CUSTOMIZE");
  label.set("id_strategy", id ? (isOwn ? held : own) : textsOf(label.get("primary_keys")).length ? "PRIMARY_KEY" : "AUTOMATIC");
}

/** Gives a column another meaning in its part. Who had it alone becomes a property. */
function setOwnRole(mapping: Mapping, at: number, column: string, role: Role, files: readonly FileRead[]): void {
  const section = mapping.sections[at]!;
  const read = files.find(({ file }) => file === textOf(valueOf(section, "file")));
  const demote = (others: readonly string[]) => {
    for (const other of others.filter((name) => name !== column)) {
      clear(mapping, section, other, files);
      addProperty(mapping, section, other, read, true);
    }
  };
  clear(mapping, section, column, files);
  if (role === "ignore") put(section, "ignore", [...textsOf(valueOf(section, "ignore")), column]);
  if (isProperty(role)) addProperty(mapping, section, column, read, role === "property");
  if (role === "id") {
    const keys = textsOf(labelOf(mapping, section)?.get("primary_keys"));
    demote([...textsOf(valueOf(section, "id")), ...(read?.columns ?? []).map(({ name }) => name).filter((name) => keys.includes(propertyOf(section, name)))]);
    put(section, "id", column);
  }
  if (role === "key" || role === "sort") {
    if (role === "key") demote(textsOf(valueOf(section, "id")));
    const label = ownLabel(mapping, section);
    const key = role === "key" ? "primary_keys" : "sort_keys";
    setTexts(label, key, [...textsOf(label.get(key)), propertyOf(section, column)]);
  }
  if (role === "from" || role === "to") {
    demote(textsOf(valueOf(section, TIMES[role])));
    put(section, TIMES[role], column);
    setDates(mapping, at, column, read);
  }
  if (role === "source" || role === "target") {
    const { held, hasRoom } = endColumns(mapping, section, role);
    if (!hasRoom) demote(held);
    const left = textsOf(valueOf(section, role));
    put(section, role, left.length ? [...left, column] : column);
  }
  settle(mapping, section, read);
}

/** Gives a column another meaning. The ids of a label are of one kind, whichever part they come from. */
export function setRole(mapping: Mapping, at: number, column: string, role: Role, files: readonly FileRead[]): void {
  const section = mapping.sections[at]!;
  const others = sharers(mapping, section);
  const place = (other: Section) => mapping.sections.indexOf(other);
  if (role === "key" || (role !== "id" && textOf(valueOf(section, "id")) === column)) {
    for (const other of others) for (const id of textsOf(valueOf(other, "id"))) setOwnRole(mapping, place(other), id, "property", files);
  }
  setOwnRole(mapping, at, column, role, files);
  if (role === "id") {
    for (const other of others) if (columnsOf(other, files).includes(column)) setOwnRole(mapping, place(other), column, "id", files);
  }
  prune(mapping);
}

/** Which vertices an end of the edges names. */
export function setEnd(mapping: Mapping, at: number, end: End, label: string): void {
  ownLabel(mapping, mapping.sections[at]!).set(`${end}_label`, label);
}

export function setType(mapping: Mapping, at: number, column: string, type: string, files: readonly FileRead[]): void {
  const section = mapping.sections[at]!;
  named(mapping, "propertykeys", propertyOf(section, column))?.set("data_type", type);
  const read = files.find(({ file }) => file === textOf(valueOf(section, "file")));
  if (type === "DATE") setDates(mapping, at, column, read);
  else setFormat(mapping, at, column, null);
}

/** Whether a text is a date or an instant, as a mapping has them without quotes. */
export const isInstant = (text: string): boolean => /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/i.test(text);

/** The instant from which, or up to which, all rows are true; empty for none. */
export function setInstant(mapping: Mapping, at: number, which: "from" | "to", text: string): void {
  put(mapping.sections[at]!, TIMES[which], text === "" ? undefined : new Plain(text));
  prune(mapping);
}

/** Says what a part's `valid_to` is. */
export function setFlag(mapping: Mapping, at: number, flag: Flag, isSet: boolean): void {
  put(mapping.sections[at]!, flag, isSet ? new Plain("true") : undefined);
}

/** What a label of the graph and one of a mapping both have. */
const LABEL_KEYS = new Set([
  "name", "id_strategy", "primary_keys", "properties", "nullable_keys", "source_label", "target_label", "frequency", "sort_keys",
]);

/** Adds the properties of a label to another. What only one of them has may be absent. */
function merge(into: Table, label: Table): void {
  const [own, added] = [textsOf(into.get("properties")), textsOf(label.get("properties"))];
  const all = [...new Set([...own, ...added])];
  const keys = [...textsOf(into.get("primary_keys")), ...textsOf(into.get("sort_keys"))];
  const nullable = [...textsOf(into.get("nullable_keys")), ...textsOf(label.get("nullable_keys")), ...all.filter((name) => !own.includes(name) || !added.includes(name))];
  setTexts(into, "properties", all, true);
  setTexts(into, "nullable_keys", nullable.filter((name) => !keys.includes(name)), true);
}

/** Gives parts that were given another label ids as that label has them. */
function followIds(mapping: Mapping, moved: readonly Section[], label: Table, files: readonly FileRead[]): void {
  const isOwn = textOf(label.get("id_strategy")).startsWith("CUSTOMIZE");
  const known = moved.flatMap((section) => sharers(mapping, section)).map((other) => textOf(valueOf(other, "id"))).find((id) => id !== "");
  for (const section of moved) {
    const id = textOf(valueOf(section, "id"));
    const place = mapping.sections.indexOf(section);
    if (!isOwn && textsOf(label.get("primary_keys")).includes(propertyOf(section, id))) put(section, "id", undefined);
    else if (!isOwn && id !== "") setOwnRole(mapping, place, id, "property", files);
    if (isOwn && id === "" && known !== undefined && columnsOf(section, files).includes(known)) setOwnRole(mapping, place, known, "id", files);
  }
  settle(mapping, moved[0]!, undefined);
}

/** Renames a label wherever the mapping names it. The name of another label makes one of both. */
export function setLabel(mapping: Mapping, at: number, name: string, files: readonly FileRead[]): void {
  const section = mapping.sections[at]!;
  const [list, before] = [labelKey(section), labelName(section)];
  if (name === before) return;
  const label = labelOf(mapping, section);
  const isOfGraphBefore = isOfGraph(mapping, list, before);
  const target = named(mapping, list, name);
  const moved = [section, ...sharers(mapping, section)];
  for (const part of moved) put(part, "label", name);
  if (section.name === "vertex") {
    for (const edge of schemaList(mapping, "edgelabels")) {
      for (const end of ["source_label", "target_label"]) if (textOf(edge.get(end)) === before) edge.set(end, name);
    }
  }
  if (target) {
    if (label) merge(target, label);
    dropLabel(mapping, list, before);
    if (section.name === "vertex") followIds(mapping, moved, target, files);
  } else if (label && isOfGraphBefore) {
    const copy = new Map([...label].filter(([key]) => LABEL_KEYS.has(key)));
    setSchemaList(mapping, list, [...schemaList(mapping, list), copy.set("name", name)]);
  } else {
    label?.set("name", name);
  }
  prune(mapping);
}

function dropLabel(mapping: Mapping, list: List, name: string): void {
  const all = schemaList(mapping, list);
  const left = all.filter((table) => textOf(table.get("name")) !== name);
  if (left.length < all.length) setSchemaList(mapping, list, left);
}

/** Drops the label of a part from the schema; where another part has it, the properties that no other has. */
function leaveLabel(mapping: Mapping, section: Section, files: readonly FileRead[]): void {
  if (sharers(mapping, section).length === 0) return dropLabel(mapping, labelKey(section), labelName(section));
  const label = labelOf(mapping, section);
  const own = columnsOf(section, files).map((column) => propertyOf(section, column));
  const gone = own.filter((property) => !isOfOthers(mapping, section, property, files));
  for (const key of ["properties", "nullable_keys"]) {
    if (label) setTexts(label, key, textsOf(label.get(key)).filter((name) => !gone.includes(name)), true);
  }
}

/** Takes a part out of the mapping, and of the schema what only it has. */
export function removePart(mapping: Mapping, at: number, files: readonly FileRead[]): void {
  const section = mapping.sections[at]!;
  leaveLabel(mapping, section, files);
  mapping.sections.splice(at, 1);
  prune(mapping);
}

/** The column by which the rows of a part are named, if it is one. */
function keyColumn(mapping: Mapping, section: Section): string | undefined {
  const keys = textsOf(labelOf(mapping, section)?.get("primary_keys"));
  return textOf(valueOf(section, "id")) || (keys.length === 1 ? keys[0] : undefined);
}

/** The columns that are likely the ends of edges, with the labels of their vertices. */
function guessedEnds(mapping: Mapping, section: Section, columns: readonly string[]): { column: string; label: string }[] {
  const others = parts(mapping).filter((other) => other.name === "vertex" && other !== section);
  const named = columns.flatMap((column) => {
    const other = others.find((each) => keyColumn(mapping, each) === column);
    return other ? [{ column, label: labelName(other) }] : [];
  });
  const rest = columns.filter((column) => !named.some((end) => end.column === column));
  const labels = others.map((other) => labelName(other));
  const free = labels.filter((label) => !named.some((end) => end.label === label));
  const found = [...named, ...rest.map((column, index) => ({ column, label: free[index] ?? labels[0] ?? "" }))].slice(0, 2);
  return found.sort((a, b) => columns.indexOf(a.column) - columns.indexOf(b.column));
}

/** Makes vertices of the edges of a file, or edges of the vertices. */
export function setKind(mapping: Mapping, at: number, kind: "vertex" | "edge", files: readonly FileRead[]): void {
  const section = mapping.sections[at]!;
  if (section.name === kind) return;
  const name = labelName(section);
  const file = textOf(valueOf(section, "file"));
  const roles = partsOf(mapping, files).find((part) => part.section === at)?.columns ?? [];
  // Edges from its vertices are of no use without them.
  const links = parts(mapping).filter((other) => {
    const label = labelOf(mapping, other);
    return other.name === "edge" && other !== section && textOf(valueOf(other, "file")) === file &&
      (textOf(label?.get("source_label")) === name || textOf(label?.get("target_label")) === name);
  });
  for (const link of kind === "edge" ? links : []) removePart(mapping, mapping.sections.indexOf(link), files);
  const ends = kind === "edge" ? guessedEnds(mapping, section, roles.filter(({ role }) => role !== "from" && role !== "to").map(({ column }) => column)) : [];
  for (const { column } of roles.filter(({ role }) => role !== "ignore")) clearOwn(mapping, section, column);
  leaveLabel(mapping, section, files);
  section.name = kind;
  const label = ownLabel(mapping, section);
  const place = mapping.sections.indexOf(section);
  for (const { column, role } of roles.filter((each) => each.role !== "ignore")) {
    const end = ends.findIndex((each) => each.column === column);
    if (end >= 0) label.set(end === 0 ? "source_label" : "target_label", ends[end]!.label);
    const next = end === 0 ? "source" : end === 1 ? "target" : role === "from" || role === "to" ? role : "property";
    setOwnRole(mapping, place, column, next, files);
  }
  prune(mapping);
}
