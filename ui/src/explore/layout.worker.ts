// The force layout, away from the page: it gets the matrices of ForceAtlas2 and gives positions.

import iterate from "graphology-layout-forceatlas2/iterate";
import defaults from "graphology-layout-forceatlas2/defaults";
import type { LayoutRequest } from "./layout";

self.onmessage = (event: MessageEvent<LayoutRequest>) => {
  const { id, nodes, edges, iterations, settings } = event.data;
  const all = { ...defaults, ...settings };
  // The last rounds push apart what lies on each other.
  const apart = { ...all, adjustSizes: true };
  for (let round = 0; round < iterations; round += 1) iterate(round < iterations * 0.7 ? all : apart, nodes, edges);
  postMessage({ id, nodes }, { transfer: [nodes.buffer] });
};
