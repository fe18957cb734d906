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
export { versions, graphs, graph };

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
}
