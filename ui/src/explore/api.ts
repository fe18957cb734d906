// The server's resources below `…/explore/`.

import { call } from "../core/http";
import { graphPath } from "../core/server";
import { timesOf, type Point } from "../core/times";

/** Which point of both times an answer is of. Sent back, it gives the same answer for ever. */
export interface Times {
  as_of: string;
  as_of_tx: string;
  recorded_at: string;
  now: boolean;
}

interface ElementBase {
  /** The id as a path takes it. */
  ref: string;
  label: string;
  properties: Record<string, unknown>;
  valid_from: string | null;
  valid_to: string | null;
  version: string;
  recorded_at: string;
}

export interface Vertex extends ElementBase {
  type: "vertex";
}

export interface Edge extends ElementBase {
  type: "edge";
  source: string;
  target: string;
  source_label: string;
  target_label: string;
}

export type Element = Vertex | Edge;

export interface Found {
  times: Times;
  vertices: Vertex[];
  edges: Edge[];
  truncated: boolean;
}

export interface Group {
  direction: "OUT" | "IN";
  label: string;
  other_label: string;
  count: number;
  at_least: boolean;
}

export interface Expanded extends Found {
  missing: string[];
  counts?: { ref: string; groups: Group[] }[];
}

export interface Shown extends Found {
  missing: { vertices: string[]; edges: string[] };
}

export interface LabelCount {
  label: string;
  count: number;
  at_least: boolean;
  sampled: number;
  fill: Record<string, number>;
  source_label?: string;
  target_label?: string;
}

export interface Summary {
  times: Times;
  vertices: LabelCount[];
  edges: LabelCount[];
  recorded: { first: Commit | null; last: Commit | null } | null;
  valid: { earliest: string | null; latest: string | null } | null;
  truncated: boolean;
  limits: Record<string, number>;
}

export interface Commit {
  version: string;
  recorded_at: string;
}

export interface Timeline {
  times: Times;
  valid: { at: string; last: string; begins: number; ends: number; changes: number }[];
  recorded: { at: string; last: string; version: string; last_version: string; puts: number; deletes: number; corrections: number }[];
  exact: boolean;
  truncated: boolean;
}

export interface Diff {
  a: Times;
  b: Times;
  added: Element[];
  removed: Element[];
  changed: Changed[];
  same: number;
  truncated: boolean;
}

export interface Changed {
  ref: string;
  type: "vertex" | "edge";
  label: string;
  properties: string[];
  before: Element;
  after: Element;
}

export interface Version {
  version: string;
  recorded_at: string;
  superseded_by: string | null;
  kind: "put" | "delete";
  valid_from: string | null;
  valid_to: string | null;
  badges: string[];
  properties_changed: string[];
  element: Element | null;
}

export interface Sample {
  loaded: boolean;
  vertices?: number;
  edges?: number;
  /** All vertices of the sample. */
  show?: string[];
  tour?: TourStep[];
}

export interface TourStep {
  key: string;
  title: string;
  as_of: string | null;
  as_of_tx: string | null;
  /** What the step's own point is compared with. */
  diff_with: { as_of?: string | null; as_of_tx?: string | null } | null;
  select: string | null;
}

export interface SearchAnswer {
  times: Times;
  found: { matched: string[]; element: Element }[];
  searched: { label: string; property: string; by: string }[];
  not_searched: { label: string; property: string; why: string }[];
  truncated: boolean;
}

export interface Listed {
  id: unknown;
  properties: Record<string, unknown>;
}

export interface ExpandRequest {
  ids: string[];
  direction?: "OUT" | "IN" | "BOTH";
  labels?: string[];
  limit?: number;
  per_label?: number;
  counts?: boolean;
}

function explore<T>(what: string, at: Point, body: unknown, signal?: AbortSignal): Promise<T> {
  return call<T>(`${graphPath()}/explore/${what}`, { method: "POST", query: timesOf(at), body, signal });
}

function get<T>(what: string, query: Record<string, string | number | boolean | undefined>, signal?: AbortSignal): Promise<T> {
  return call<T>(`${graphPath()}/explore/${what}`, { query, signal });
}

export const expand = (at: Point, request: ExpandRequest, signal?: AbortSignal) =>
  explore<Expanded>("expand", at, request, signal);

export const elements = (at: Point, vertices: string[], edges: string[], signal?: AbortSignal) =>
  explore<Shown>("elements", at, { vertices, edges, between: true }, signal);

export const sample = (at: Point, label: string | undefined, limit: number) =>
  get<Found>("sample", { ...timesOf(at), label, limit, between: true });

/** A page of a label's vertices; the first one has an empty token. */
export const listing = (at: Point, label: string, limit: number, token: string, signal?: AbortSignal) =>
  call<{ vertices: Listed[]; page: string | null }>(`${graphPath()}/graph/vertices?page=${encodeURIComponent(token)}`, {
    query: { ...timesOf(at), label, limit },
    signal,
  });

export const summary = (at: Point, signal?: AbortSignal) => get<Summary>("summary", timesOf(at), signal);

export const search = (at: Point, q: string, signal?: AbortSignal) =>
  get<SearchAnswer>("search", { ...timesOf(at), q, limit: 50 }, signal);

export const diff = (a: Point, b: Point, scope: unknown, signal?: AbortSignal) =>
  explore<Diff>("diff", { trueAt: null, knownAt: null }, { a: timesOf(a), b: timesOf(b), scope }, signal);

/** When the vertices and the edges among them begin, end and were recorded. */
export const timeline = (knownAt: string | null, vertices: string[], edges: string[], signal?: AbortSignal) =>
  explore<Timeline>("timeline", { trueAt: null, knownAt }, { vertices, edges, between: true, buckets: 400 }, signal);

export const history = (element: Pick<Element, "type" | "ref">, signal?: AbortSignal) =>
  get<{ versions: Version[]; truncated: boolean }>(
    "history",
    { type: element.type, ref: element.ref, limit: 200 },
    signal,
  );

export const loadedSample = () => get<Sample>("load_sample", {});

export const loadSample = () => call<Sample>(`${graphPath()}/explore/load_sample`, { method: "POST", body: {} });
