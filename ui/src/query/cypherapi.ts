// Cypher over the Query API: its typed answers as rows, and where an error is in the text.

import { call } from "../core/http";
import { idOf, kindOf } from "../explore/refs";
import type { PlanNode } from "./plan";

export interface CypherAnswer {
  columns: string[];
  rows: Record<string, unknown>[];
  /** What the statement changed, by the API's names: `nodesCreated`. Those that are 0 are left out. */
  counters: Record<string, number>;
  plan: PlanNode | null;
}

interface Typed {
  $type: string;
  _value: unknown;
}

interface WirePlan {
  operatorType: string;
  arguments?: Record<string, unknown>;
  children?: WirePlan[];
  records?: number;
  dbHits?: number;
  /** In nanoseconds. */
  time?: number;
}

interface WireAnswer {
  data: { fields: string[]; values: Typed[][] };
  counters?: Record<string, number | boolean>;
  queryPlan?: WirePlan;
  profiledQueryPlan?: WirePlan;
}

export interface CypherRequest {
  /** A JSON object, whose numbers are sent with all their digits; empty for none. */
  parameters?: string;
  /** The two times. */
  times?: { as_of?: string; as_of_tx?: string };
  tag?: string;
  signal?: AbortSignal;
}

/** The names of the parameters in a JSON object. Throws if the text is something else. */
export function parameterNames(text: string): string[] {
  if (text.trim() === "") return [];
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new SyntaxError("not a JSON object");
  return Object.keys(parsed);
}

/** Runs one statement. */
export async function askCypher(graph: string, statement: string, request: CypherRequest = {}): Promise<CypherAnswer> {
  const parameters = request.parameters?.trim() || "{}";
  const answer = await call<WireAnswer>(`/db/${encodeURIComponent(graph)}/query/v2`, {
    method: "POST",
    query: request.times,
    accept: "application/vnd.neo4j.query",
    body: `{"statement":${JSON.stringify(statement)},"includeCounters":true,"parameters":${parameters}}`,
    tag: request.tag,
    signal: request.signal,
  });
  return answerOf(answer);
}

export function answerOf({ data, counters = {}, queryPlan, profiledQueryPlan }: WireAnswer): CypherAnswer {
  const plan = queryPlan ?? profiledQueryPlan;
  const rows = data.values.map((row) => Object.fromEntries(row.map((cell, at) => [data.fields[at]!, valueOf(cell)])));
  const counted = Object.entries(counters).filter((entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > 0);
  return { columns: data.fields, rows, counters: Object.fromEntries(counted), plan: plan ? planOf(plan) : null };
}

function planOf(plan: WirePlan): PlanNode {
  const node: PlanNode = {
    name: plan.operatorType,
    details: String(plan.arguments?.Details ?? ""),
    children: (plan.children ?? []).map(planOf),
  };
  if (plan.records !== undefined) node.measured = { rows: plan.records, reads: plan.dbHits ?? 0, millis: (plan.time ?? 0) / 1e6 };
  return node;
}

/** Nodes and relationships in turns. */
export class CypherPath {
  readonly type = "path";
  constructor(readonly elements: unknown[]) {}
}

function valueOf({ $type, _value: value }: Typed): unknown {
  switch ($type) {
    case "Integer": {
      const whole = BigInt(value as string);
      return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
    }
    case "Float":
      return Number.isFinite(Number(value)) ? Number(value) : value;
    case "List":
      return (value as Typed[]).map(valueOf);
    case "Map":
      return mapOf(value as Record<string, Typed>);
    case "Node":
      return nodeOf(value as WireNode);
    case "Relationship":
      return relationshipOf(value as WireRelationship);
    case "Path":
      return new CypherPath((value as Typed[]).map(valueOf));
    default:
      return value;
  }
}

function mapOf(map: Record<string, Typed>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, valueOf(value)]));
}

interface WireNode {
  _element_id: string;
  _labels: string[];
  _properties: Record<string, Typed>;
}

interface WireRelationship {
  _element_id: string;
  _start_node_element_id: string;
  _end_node_element_id: string;
  _type: string;
  _properties: Record<string, Typed>;
}

function nodeOf(node: WireNode): unknown {
  // An element of Gremlin has one label; that of a node without labels is the default one.
  const label = node._labels.join("::") || "vertex";
  return { id: idOf(node._element_id, kindOf(label)), label, type: "vertex", properties: mapOf(node._properties) };
}

function relationshipOf(it: WireRelationship): unknown {
  const [start, end] = [it._start_node_element_id, it._end_node_element_id];
  // The id of a relationship has those of its ends, each with the letter of its kind.
  return {
    id: it._element_id,
    label: it._type,
    type: "edge",
    outV: idOf(start, it._element_id.startsWith("L") ? "number" : "text"),
    inV: idOf(end, it._element_id.endsWith(`>L${end}`) ? "number" : "text"),
    properties: mapOf(it._properties),
  };
}

const PLACE = /line (\d+), column (\d+)/;

/** The statement with EXPLAIN in a line of its own before it, unless it has one. */
export function explained(statement: string): string {
  return isExplained(statement) ? statement : `EXPLAIN\n${statement}`;
}

/** Whether a statement is only explained, so that nothing of it runs. */
export function isExplained(statement: string): boolean {
  return /^\s*EXPLAIN\b/i.test(statement);
}

/** Line and column, from 1, that a message names. */
export function placeIn(message: string): { line: number; column: number } | null {
  const found = PLACE.exec(message);
  return found && { line: Number(found[1]), column: Number(found[2]) };
}

/** A message about a statement that follows so many lines, with the line in what was written. */
export function withoutLines(message: string, lines: number): string {
  return message.replace(PLACE, (_, line, column) => `line ${Number(line) - lines}, column ${column}`);
}

/** The statement without what is in quotation marks and comments. */
function bare(statement: string): string {
  return statement.replace(/\/\/.*|\/\*[^]*?\*\/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`/g, " ");
}

/** Whether it removes something. */
export function removes(statement: string): boolean {
  return /\b(?:DELETE|DROP|REMOVE)\b/i.test(bare(statement));
}
