// What the server is and which graphs it has.

import { createSignal } from "solid-js";
import { call } from "./http";
import { keepGraph, storedGraph } from "./prefs";

export interface Versions {
  core: string;
  gremlin: string;
  varve: string;
  commit: string;
}

const [versions, setVersions] = createSignal<Versions | null>(null);
const [graphs, setGraphs] = createSignal<string[]>([]);
const [graph, setGraphSignal] = createSignal<string>("");
/** Whether the server is an open-metadata repository. */
const [hasMetadata, setHasMetadata] = createSignal(false);
export { versions, graphs, graph, hasMetadata };

export function setGraph(name: string): void {
  setGraphSignal(name);
  keepGraph(name);
}

/** The path of the graph that is shown. */
export function graphPath(): string {
  return `/graphs/${encodeURIComponent(graph())}`;
}

/** Asks who the server is. 401 shows the login and comes back here. */
export async function start(wanted?: string): Promise<void> {
  const answer = await call<{ versions: Versions }>("/versions");
  setVersions(answer.versions);
  const { graphs: names } = await call<{ graphs: string[] }>("/graphs");
  setGraphs(names);
  const choice = [wanted, graph(), storedGraph(), "hugegraph"].find((name) => name && names.includes(name));
  setGraphSignal(choice ?? names[0] ?? "");
  void askForMetadata();
}

async function askForMetadata(): Promise<void> {
  const path = "/servers/varve/open-metadata/repository-services/metadata-collection-id";
  try {
    const answer = await call<{ exceptionClassName?: string }>(path);
    setHasMetadata(answer.exceptionClassName === undefined);
  } catch {
    setHasMetadata(false);
  }
}
