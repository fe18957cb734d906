// What the columns of a file mean, and rows as the server takes them.

import { formatJson, parseJson } from "../core/json";
import type { EdgeLabel, PropertyKey, Schema, VertexLabel } from "../core/schema";

/** A property's name, or what a column is besides. */
export type Target = string;
export const IGNORE = "";
export const SPECIAL = ["~id", "~source", "~target", "~valid_from", "~valid_to"] as const;

export interface Mapping {
  kind: "vertex" | "edge";
  label: string;
  /** By column. */
  targets: Target[];
}

export type Body = Record<string, unknown>;

export class RowError extends Error {}

const FROM = ["from", "source", "src", "outv", "start"];
const TO = ["to", "target", "dst", "inv", "end"];

export function labelOf(schema: Schema, mapping: Mapping): VertexLabel | EdgeLabel | undefined {
  const labels = mapping.kind === "vertex" ? schema.vertexlabels : schema.edgelabels;
  return labels.find((label) => label.name === mapping.label);
}

/** A first mapping: columns by their names. */
export function guess(schema: Schema, kind: Mapping["kind"], label: string, columns: string[]): Mapping {
  const found = labelOf(schema, { kind, label, targets: [] });
  const properties = new Map((found?.properties ?? []).map((name) => [plainName(name), name]));
  const targets = columns.map((column) => {
    const plain = plainName(column);
    const property = properties.get(plain);
    if (property !== undefined) return property;
    if (["validfrom", "since"].includes(plain)) return "~valid_from";
    if (["validto", "until"].includes(plain)) return "~valid_to";
    if (kind === "edge" && FROM.includes(plain)) return "~source";
    if (kind === "edge" && TO.includes(plain)) return "~target";
    if (kind === "vertex" && plain === "id" && found && "id_strategy" in found && found.id_strategy.startsWith("CUSTOMIZE")) return "~id";
    return IGNORE;
  });
  return { kind, label, targets };
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, "");
}

/** What the mapping lacks; empty if rows can be made by it. */
export function lacking(schema: Schema, mapping: Mapping): string[] {
  const label = labelOf(schema, mapping);
  if (!label) return ["label"];
  const has = (target: Target) => mapping.targets.includes(target);
  if ("id_strategy" in label) {
    const needed = label.id_strategy === "PRIMARY_KEY" ? label.primary_keys : label.id_strategy === "AUTOMATIC" ? [] : ["~id"];
    return needed.filter((target) => !has(target));
  }
  return ["~source", "~target", ...label.sort_keys].filter((target) => !has(target));
}

function whole(text: string): number | bigint {
  if (!/^[+-]?\d+$/.test(text)) throw new RowError(`'${text}' is no whole number`);
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

function valueOf(text: string, key: PropertyKey): unknown {
  switch (key.data_type) {
    case "BYTE":
    case "INT":
    case "LONG":
      return whole(text.trim());
    case "FLOAT":
    case "DOUBLE": {
      const value = Number(text);
      if (text.trim() === "" || Number.isNaN(value)) throw new RowError(`'${text}' is no number`);
      return value;
    }
    case "BOOLEAN":
      if (!/^(true|false)$/i.test(text.trim())) throw new RowError(`'${text}' is neither true nor false`);
      return text.trim().toLowerCase() === "true";
    default:
      return text;
  }
}

function idOf(text: string, label: VertexLabel | undefined): unknown {
  if (!label) throw new RowError("the label of an end is not known");
  switch (label.id_strategy) {
    case "PRIMARY_KEY":
      return text.startsWith(`${label.id}:`) ? text : `${label.id}:${text}`;
    case "AUTOMATIC":
    case "CUSTOMIZE_NUMBER":
      return whole(text.trim());
    default:
      return text;
  }
}

/** Makes bodies of rows, by a mapping. */
export function maker(schema: Schema, mapping: Mapping): (values: string[]) => Body {
  const label = labelOf(schema, mapping);
  if (!label) throw new RowError("no such label");
  const keys = new Map(schema.propertykeys.map((key) => [key.name, key]));
  const end = (name: string) => schema.vertexlabels.find((other) => other.name === name);
  return (values) => {
    const properties: Body = {};
    const body: Body = { label: label.name, properties };
    if (values.length !== mapping.targets.length) throw new RowError(`${values.length} columns, expected ${mapping.targets.length}`);
    mapping.targets.forEach((target, index) => {
      const text = values[index] ?? "";
      if (target === IGNORE || text === "") return;
      if (target === "~id") body.id = idOf(text, label as VertexLabel);
      else if (target === "~valid_from" || target === "~valid_to") body[target.slice(1)] = text;
      else if (target === "~source" && "source_label" in label) {
        body.outV = idOf(text, end(label.source_label));
        body.outVLabel = label.source_label;
      } else if (target === "~target" && "target_label" in label) {
        body.inV = idOf(text, end(label.target_label));
        body.inVLabel = label.target_label;
      } else properties[target] = propertyOf(text, keys.get(target));
    });
    return body;
  };
}

function propertyOf(text: string, key: PropertyKey | undefined): unknown {
  if (!key) throw new RowError("no such property");
  if (key.cardinality === "SINGLE") {
    try {
      return valueOf(text, key);
    } catch (error) {
      throw new RowError(`${key.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return partsOf(text).map((part) => valueOf(part, key));
}

/** The values of a list: JSON Lines have arrays, other files a text with semicolons. */
function partsOf(text: string): string[] {
  if (text.startsWith("[")) {
    try {
      const parts = parseJson(text);
      if (Array.isArray(parts)) return parts.map((part) => (typeof part === "string" ? part : formatJson(part, 0)));
    } catch {
      // A text that begins with a bracket.
    }
  }
  return text.split(";");
}

/** The same mapping for `varve load`. */
export function toml(file: string, columns: string[], mapping: Mapping): string {
  const quote = (text: string) => JSON.stringify(text);
  const named = (target: Target) => columns[mapping.targets.indexOf(target)];
  const lines = [`[[${mapping.kind}]]`, `file = ${quote(file)}`, `label = ${quote(mapping.label)}`];
  for (const [target, name] of [["~id", "id"], ["~source", "source"], ["~target", "target"], ["~valid_from", "valid_from"], ["~valid_to", "valid_to"]] as const) {
    const column = named(target);
    if (column !== undefined) lines.push(`${name} = ${quote(column)}`);
  }
  const renamed = columns.flatMap((column, index) => {
    const target = mapping.targets[index] ?? IGNORE;
    return target === IGNORE || target.startsWith("~") || target === column ? [] : [`${quote(column)} = ${quote(target)}`];
  });
  if (renamed.length) lines.push(`rename = { ${renamed.join(", ")} }`);
  const ignored = columns.filter((_, index) => mapping.targets[index] === IGNORE);
  if (ignored.length) lines.push(`ignore = [${ignored.map(quote).join(", ")}]`);
  return `${lines.join("\n")}\n`;
}
