// The calls of the open-metadata repository that the page uses.

import { call, Failure, user } from "../core/http";

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

export interface Header {
  guid: string;
  type: { typeDefName: string; typeDefGUID: string };
  status: string;
  version: number;
  createdBy?: string;
  createTime?: number | string;
  updatedBy?: string;
  updateTime?: number | string;
  metadataCollectionName?: string;
  instanceProvenanceType?: string;
}

export interface Values {
  instanceProperties?: Record<string, unknown>;
}

export interface Classification {
  name: string;
  properties?: Values;
}

export interface Entity extends Header {
  properties?: Values;
  classifications?: Classification[];
  uniqueProperties?: Values;
}

export interface Relationship extends Header {
  properties?: Values;
  entityOneProxy: Entity;
  entityTwoProxy: Entity;
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

export async function allTypes(): Promise<TypeDef[]> {
  return (await repository<{ typeDefs: TypeDef[] }>("types/all")).typeDefs;
}

/** Entities with a text in any property; all of the type without one. Instants are milliseconds since 1970. */
export async function findEntities(text: string, type: string | undefined, asOfTime: number | null): Promise<Entity[]> {
  const past = asOfTime === null ? "" : "/history";
  const body = { ...(type ? { typeGUID: type } : {}), pageSize: PAGE, offset: 0, ...(asOfTime === null ? {} : { asOfTime }) };
  if (text === "") {
    return (await repository<{ entities?: Entity[] }>(`instances/entities/by-property${past}`, body)).entities ?? [];
  }
  const searchCriteria = `.*${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}.*`;
  const path = `instances/entities/by-property-value${past}`;
  return (await repository<{ entities?: Entity[] }>(path, body, { searchCriteria })).entities ?? [];
}

export async function entity(guid: string, asOfTime: number | null): Promise<Entity> {
  const path = `instances/entity/${encodeURIComponent(guid)}`;
  const answer =
    asOfTime === null
      ? await repository<{ entity: Entity }>(path)
      : await repository<{ entity: Entity }>(`${path}/history`, { asOfTime });
  return answer.entity;
}

export async function relationships(guid: string, asOfTime: number | null): Promise<Relationship[]> {
  const past = asOfTime === null ? "" : "/history";
  const body = { pageSize: 200, offset: 0, ...(asOfTime === null ? {} : { asOfTime }) };
  const path = `instances/entity/${encodeURIComponent(guid)}/relationships${past}`;
  return (await repository<{ relationships?: Relationship[] }>(path, body)).relationships ?? [];
}

export async function historyOf(guid: string): Promise<Entity[]> {
  const body = { pageSize: PAGE, offset: 0 };
  const path = `instances/entity/${encodeURIComponent(guid)}/history/all`;
  return (await repository<{ entities?: Entity[] }>(path, body)).entities ?? [];
}

/** A property's value as text. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  const held = value as Record<string, unknown>;
  if ("primitiveValue" in held) return textOf(held.primitiveValue);
  if ("symbolicName" in held) return textOf(held.symbolicName);
  const inner = (held.arrayValues ?? held.mapValues) as Values | undefined;
  const values = inner?.instanceProperties ?? {};
  return Object.entries(values).map(([key, each]) => (held.mapValues ? `${key}: ${textOf(each)}` : textOf(each))).join(", ");
}

export function propertiesOf(values: Values | undefined): [string, string][] {
  return Object.entries(values?.instanceProperties ?? {}).map(([key, value]) => [key, textOf(value)]);
}

export function titleOf(entity: Entity): string {
  const values = { ...entity.uniqueProperties?.instanceProperties, ...entity.properties?.instanceProperties };
  for (const key of ["displayName", "name", "qualifiedName"]) {
    const text = textOf(values[key]);
    if (text) return text;
  }
  return entity.guid;
}
