// What the page reads: types from the open-metadata repository, entities from the graph that the
// repository is stored in, at any point of both times.

import { t } from "../i18n";
import { call, Failure, user } from "../core/http";
import { graphs } from "../core/server";
import { NOW, timesOf, type Point } from "../core/times";
import type { Edge, Element, Expanded, SearchAnswer, Shown, Summary, Version, Vertex } from "../explore/api";
import { refOf } from "../explore/refs";

export interface TypeLink {
  guid: string;
  name: string;
}

export interface Attribute {
  attributeName: string;
  attributeType: { name: string };
  attributeDescription?: string;
  attributeStatus: string;
  unique?: boolean;
}

export interface TypeDef extends TypeLink {
  class: "EntityDef" | "RelationshipDef" | "ClassificationDef";
  description?: string;
  superType?: TypeLink;
  propertiesDefinition?: Attribute[];
  validEntityDefs?: TypeLink[];
  endDef1?: { entityType: TypeLink; attributeName: string; attributeCardinality: string };
  endDef2?: { entityType: TypeLink; attributeName: string; attributeCardinality: string };
}

interface Answer {
  exceptionClassName?: string;
  exceptionErrorMessage?: string;
  exceptionErrorMessageId?: string;
}

const serverName = "varve";

async function repository<T>(path: string, body?: unknown, query?: Record<string, string>): Promise<T> {
  const base = `/servers/${encodeURIComponent(serverName)}/open-metadata/repository-services`;
  const who = encodeURIComponent(user() ?? "explorer");
  const answer = await call<T & Answer>(`${base}/users/${who}/${path}`, {
    method: body === undefined ? "GET" : "POST",
    body,
    query,
  });
  if (answer.exceptionClassName) {
    throw new Failure(200, answer.exceptionErrorMessage ?? answer.exceptionClassName, answer.exceptionErrorMessageId);
  }
  return answer;
}

const PAGE = 50;
const RELATED_MAX = 200;

export async function allTypes(): Promise<TypeDef[]> {
  return (await repository<{ typeDefs: TypeDef[] }>("types/all")).typeDefs;
}

/** The name of the repository's graph, if no option gives it another. */
const USUAL_NAME = "metadata";

let found: Promise<string> | null = null;

/** The graph that the repository is stored in. */
export function repositoryGraph(): Promise<string> {
  found ??= find();
  found.catch(() => (found = null));
  return found;
}

async function find(): Promise<string> {
  if (graphs().includes(USUAL_NAME)) return USUAL_NAME;
  for (const name of graphs()) {
    try {
      await call(`/graphs/${encodeURIComponent(name)}/schema/propertykeys/classifications`);
      await call(`/graphs/${encodeURIComponent(name)}/schema/vertexlabels/Referenceable`);
      return name;
    } catch {
      // It is another graph, or one that may not be read.
    }
  }
  throw new Failure(404, t("noRepositoryGraph"));
}

async function ask<T>(what: string, at: Point, options: { body?: unknown; query?: Record<string, string | number> } = {}): Promise<T> {
  const path = `/graphs/${encodeURIComponent(await repositoryGraph())}/explore/${what}`;
  return call<T>(path, { method: options.body === undefined ? "GET" : "POST", body: options.body, query: { ...timesOf(at), ...options.query } });
}

const isVertex = (element: Element): element is Vertex => element.type === "vertex";

/** Entities that were found, and whether there are more. */
export interface Entities {
  list: Vertex[];
  hasMore: boolean;
}

/** Entities with a text in any property. */
export async function search(text: string, at: Point): Promise<Entities> {
  const { found: all, truncated } = await ask<SearchAnswer>("search", at, { query: { q: text, limit: PAGE } });
  return { list: all.map(({ element }) => element).filter(isVertex), hasMore: truncated };
}

interface Rows {
  data: { values: { _value: string }[][] };
}

/** Entities of a type and of its subtypes. */
export async function entitiesOf(type: string, at: Point): Promise<Entities> {
  const statement = `MATCH (n:\`${type.replaceAll("`", "``")}\`) RETURN n._guid LIMIT ${PAGE + 1}`;
  const path = `/db/${encodeURIComponent(await repositoryGraph())}/query/v2`;
  const { data } = await call<Rows>(path, { method: "POST", query: timesOf(at), accept: "application/vnd.neo4j.query", body: { statement } });
  const refs = data.values.slice(0, PAGE).map(([guid]) => refOf(guid!._value, "text"));
  const list = refs.length ? (await ask<Shown>("elements", at, { body: { vertices: refs, edges: [] } })).vertices : [];
  return { list, hasMore: data.values.length > PAGE };
}

export async function entity(guid: string, at: Point): Promise<Vertex> {
  const answer = await ask<Shown>("elements", at, { body: { vertices: [refOf(guid, "text")], edges: [] } });
  const [first] = answer.vertices;
  if (!first) throw new Failure(404, t("noSuchEntity", { guid }));
  return first;
}

export interface Related {
  edges: Edge[];
  /** By ref. */
  vertices: Map<string, Vertex>;
  truncated: boolean;
}

/** The relationships of entities, and what they lead to. */
export async function related(refs: readonly string[], at: Point): Promise<Related> {
  const { edges, vertices, truncated } = await ask<Expanded>("expand", at, { body: { ids: refs, limit: RELATED_MAX } });
  return { edges, truncated, vertices: new Map(vertices.map((vertex) => [vertex.ref, vertex])) };
}

/** The last versions, in both times. */
export function versionsOf(ref: string): Promise<{ versions: Version[]; truncated: boolean }> {
  return ask("history", NOW, { query: { type: "vertex", ref, limit: RELATED_MAX } });
}

/** How many entities each type has, without its subtypes. */
export async function counts(at: Point): Promise<Map<string, number>> {
  const { vertices } = await ask<Summary>("summary", at);
  return new Map(vertices.filter(({ count }) => count > 0).map(({ label, count }) => [label, count]));
}

export function titleOf({ ref, properties }: Pick<Vertex, "ref" | "properties">): string {
  for (const key of ["displayName", "name", "title", "qualifiedName"]) {
    const text = properties[key];
    if (typeof text === "string" && text !== "") return text;
  }
  return ref.replace(/^"|"$/g, "");
}
