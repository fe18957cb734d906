// What the columns of a file mean, and rows as the server takes them.

import type { EdgeLabel, Schema, VertexLabel } from "../core/schema";
import type { Row } from "./csv";
import { endOf, idOf, propertyOf, RowError, textOf } from "./values";

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

/** What several columns are mapped to, of which only one value would be stored. */
export function doubled(mapping: Mapping): Target[] {
  return [...new Set(mapping.targets.filter((target, at) => target !== IGNORE && mapping.targets.indexOf(target) !== at))];
}

/** Makes bodies of rows, by a mapping. */
export function maker(schema: Schema, mapping: Mapping, columns: string[]): (row: Row) => Body {
  const label = labelOf(schema, mapping);
  if (!label) throw new RowError("no such label");
  const keys = new Map(schema.propertykeys.map((key) => [key.name, key]));
  const end = (name: string) => {
    const found = schema.vertexlabels.find((other) => other.name === name);
    if (!found) throw new RowError("the label of an end is not known");
    return found;
  };
  const put = (body: Body, properties: Body, target: Target, value: unknown) => {
    if (target === "~id") body.id = idOf(value, label as VertexLabel);
    else if (target === "~valid_from" || target === "~valid_to") body[target.slice(1)] = textOf(value);
    else if (target === "~source" && "source_label" in label) {
      body.outV = endOf(value, end(label.source_label), keys);
      body.outVLabel = label.source_label;
    } else if (target === "~target" && "target_label" in label) {
      body.inV = endOf(value, end(label.target_label), keys);
      body.inVLabel = label.target_label;
    } else properties[target] = propertyOf(value, keys.get(target));
  };
  return ({ cells, more, fault }) => {
    if (fault !== undefined) throw new RowError(fault);
    const properties: Body = {};
    const body: Body = { label: label.name, properties };
    const named = (column: string, target: Target, value: unknown) => {
      try {
        put(body, properties, target, value);
      } catch (error) {
        throw new RowError(`column '${column}': ${error instanceof Error ? error.message : String(error)}`);
      }
    };
    mapping.targets.forEach((target, index) => {
      const value = cells[index];
      if (target !== IGNORE && value !== undefined) named(columns[index] ?? "", target, value);
    });
    for (const [column, value] of Object.entries(more ?? {})) {
      if (!label.properties.includes(column) || Object.hasOwn(properties, column)) throw new RowError(`column '${column}' is not in the first rows, and no further property of label '${label.name}'`);
      named(column, column, value);
    }
    return body;
  };
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
