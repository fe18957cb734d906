// The elements that are drawn.

import type { Edge, Element, Vertex } from "./api";
import { difference, ghosts, lastSeen, view } from "./state";

/** The elements to draw: those of this point, with those of a difference. */
export function drawn(): { vertices: Vertex[]; edges: Edge[] } {
  const now = view();
  const found = difference();
  if (!found) {
    const ghostly = ghosts() ? [...now.missing].flatMap((ref) => lastSeen.get(ref) ?? []) : [];
    return {
      vertices: [...now.vertices.values(), ...ghostly.filter((element): element is Vertex => element.type === "vertex")],
      edges: [...now.edges.values()],
    };
  }
  const everything = new Map<string, Element>([...now.vertices, ...now.edges]);
  for (const element of [...found.removed, ...found.added]) everything.set(element.ref, element);
  for (const change of found.changed) everything.set(change.ref, change.after);
  const all = [...everything.values()];
  return {
    vertices: all.filter((element): element is Vertex => element.type === "vertex"),
    edges: all.filter((element): element is Edge => element.type === "edge"),
  };
}
