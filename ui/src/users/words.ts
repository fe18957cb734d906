// Rights in plain words.

import { t, tIfKnown } from "../i18n";
import type { Roles } from "../core/rights";
import type { Resource } from "./api";

/** A condition on a property, as a form has it. */
export interface Condition {
  key: string;
  /** An operator of `OPERATORS`. */
  operator: string;
  value: string;
}

/** Types of resources of a graph and of the server, the usual ones first. */
export const OF_GRAPH = ["ALL", "VERTEX", "EDGE", "SCHEMA", "PROPERTY_KEY", "VERTEX_LABEL", "EDGE_LABEL", "INDEX_LABEL", "GREMLIN", "TASK", "VAR", "META", "STATUS"];
export const OF_SERVER = ["USER_GROUP", "GRANT", "TARGET", "METRICS"];
const ORDER = [...OF_GRAPH, ...OF_SERVER];

/** The resources in what the server writes by type and label. */
export function resourcesIn(found: unknown): Resource[] {
  const all = Object.values((found ?? {}) as Record<string, Resource[]>).flat();
  return all.sort((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type));
}

export const OPERATORS = ["is", "eq", "neq", "gt", "gte", "lt", "lte", "between", "inside", "outside", "within", "without"];
const SIGNS: Record<string, string> = { is: "=", eq: "=", neq: "≠", gt: ">", gte: "≥", lt: "<", lte: "≤" };

export function conditionOf(key: string, value: unknown): Condition {
  const found = typeof value === "string" ? /^P\.(\w+)\((.*)\)$/s.exec(value) : null;
  if (found && OPERATORS.includes(found[1]!)) return { key, operator: found[1]!, value: found[2]! };
  if (typeof value === "number" || typeof value === "bigint") return { key, operator: "eq", value: String(value) };
  return { key, operator: "is", value: typeof value === "string" ? value : JSON.stringify(value) };
}

export function conditionsOf({ properties }: Resource): Condition[] {
  return Object.entries(properties ?? {}).filter(([key, value]) => key !== "*" || value !== "*").map(([key, value]) => conditionOf(key, value));
}

/** A resource while it is typed: its conditions may lack a key, and two may have the same one. */
export interface Draft {
  type: string;
  label: string;
  conditions: readonly Condition[];
}

export function draftOf(resource: Resource): Draft {
  return { type: resource.type, label: resource.label ?? "*", conditions: conditionsOf(resource) };
}

/** As a target takes it. */
export function resourceOf({ type, label, conditions }: Draft): Resource {
  const properties = Object.fromEntries(conditions.map(({ key, operator, value }) => [key, operator === "is" ? value : `P.${operator}(${value})`]));
  return { type, ...(label === "*" ? {} : { label }), ...(conditions.length ? { properties } : {}) };
}

const WITH_CONDITIONS = new Set(["VERTEX", "EDGE", "ALL"]);

export function takesConditions(type: string): boolean {
  return WITH_CONDITIONS.has(type);
}

/** Of another type; what has no properties keeps no conditions. */
export function withType(draft: Draft, type: string): Draft {
  return { ...draft, type, conditions: takesConditions(type) ? draft.conditions : [] };
}

/** Whether a condition before it is on the same property: a resource has one on each. */
export function isRepeated(conditions: readonly Condition[], at: number): boolean {
  return conditions.slice(0, at).some(({ key }) => key === conditions[at]?.key);
}

export function operatorText(operator: string): string {
  return SIGNS[operator] ?? t(`operator_${operator}` as "operator_within");
}

function conditionText({ key, operator, value }: Condition): string {
  return `${key} ${operatorText(operator)} ${value.replaceAll(",", ", ").replace(/,\s+/g, ", ")}`;
}

/** What a resource is, like "vertices of person where born ≥ 1990". */
export function resourceText(resource: Resource): string {
  const { type, label = "*" } = resource;
  const all = tIfKnown(`resource_${type}`) ?? type;
  // Names joined by | are a list; other expressions are shown as they are.
  const names = /^[\w-]+(\|[\w-]+)*$/u.test(label) ? label.split("|").join(t("orBetween")) : `/${label}/`;
  const named = label === "*" ? all : t("resourceOf", { what: tIfKnown(`some_${type}`) ?? type, names });
  const conditions = conditionsOf(resource).filter(({ key }) => key !== "");
  return conditions.length ? t("resourceWhere", { what: named, conditions: conditions.map(conditionText).join(t("andBetween")) }) : named;
}

export const PERMISSIONS = ["READ", "WRITE", "DELETE", "EXECUTE", "ANY"];

export function permissionText(permission: string): string {
  return tIfKnown(`may_${permission}`) ?? permission;
}

export function graphText(graph: string): string {
  return graph === "" ? t("ofServer") : t("ofGraph", { graph });
}

export interface Sentence {
  permission: string;
  what: string[];
}

/** The rights of a user by graph: what it may do with what. */
export function sentencesOf(roles: Roles): { graph: string; sentences: Sentence[] }[] {
  return Object.entries(roles)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([graph, permissions]) => ({
      graph,
      sentences: Object.entries(permissions)
        .sort(([a], [b]) => PERMISSIONS.indexOf(a) - PERMISSIONS.indexOf(b))
        .map(([permission, resources]) => ({
          permission,
          what: resourcesIn(resources).map(resourceText),
        })),
    }));
}
