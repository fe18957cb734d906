// The schema of the graph that is shown.

import { createSignal, untrack } from "solid-js";
import { call, written } from "./http";
import { graph, graphPath } from "./server";

export interface PropertyKey {
  id: number;
  name: string;
  data_type: string;
  cardinality: string;
  aggregate_type?: string;
  write_type?: string;
  properties: string[];
  status: string;
  user_data: Record<string, unknown>;
}

/** What labels of vertices and of edges have. */
interface Label {
  id: number;
  name: string;
  nullable_keys: string[];
  index_labels: string[];
  properties: string[];
  status: string;
  ttl: number;
  enable_label_index: boolean;
  user_data: Record<string, unknown>;
}

export interface VertexLabel extends Label {
  id_strategy: string;
  primary_keys: string[];
}

export interface EdgeLabel extends Label {
  source_label: string;
  target_label: string;
  frequency: string;
  sort_keys: string[];
}

export interface IndexLabel {
  id: number;
  name: string;
  base_type: string;
  base_value: string;
  index_type: string;
  fields: string[];
  status: string;
  user_data: Record<string, unknown>;
}

export interface Schema {
  propertykeys: PropertyKey[];
  vertexlabels: VertexLabel[];
  edgelabels: EdgeLabel[];
  indexlabels: IndexLabel[];
}

const [schema, setSchema] = createSignal<Schema | null>(null);
export { schema };

let of = "";
/** What had been written when it was read. */
let readAfter = 0;

/** The schema of a graph, if it is the one that is there. */
export function schemaOf(name: string): Schema | null {
  const held = schema();
  return of === name ? held : null;
}

/** Reads the schema, unless it is there and nothing was written since. */
export async function readSchema(anew = false): Promise<Schema> {
  const [held, name, now] = untrack(() => [schema(), graph(), written()]);
  if (held && of === name && readAfter === now && !anew) return held;
  const found = await call<Schema>(`${graphPath()}/schema`);
  of = name;
  readAfter = now;
  setSchema(found);
  return found;
}

/** A display name for a period of time in seconds or milliseconds, as `ttl` has it. */
export function ttlText(millis: number): string {
  if (millis <= 0) return "–";
  const units: [number, string][] = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]];
  const unit = units.find(([size]) => millis % size === 0);
  return unit ? `${millis / unit[0]} ${unit[1]}` : `${millis} ms`;
}
