// The force layout, away from the page: it gets the matrices of ForceAtlas2 and gives positions.

import iterate from "graphology-layout-forceatlas2/iterate";
import defaults from "graphology-layout-forceatlas2/defaults";
import { apart } from "./apart";
import { NODE_WIDTH, ROOM, type LayoutRequest } from "./matrix";

/** Rounds in which the sizes of the discs are part of the forces. */
const SIZED = 0.3;

/** How far the density is evened out: 1 is a disc that is equally dense everywhere. */
const EVEN = 0.7;

/**
 * Brings vertices to the density that is asked for and to the shape of the window. What lies far out
 * comes nearer and a crowded middle gets room, so that discs are as large as the window allows.
 */
function fitDensity(nodes: Float32Array, aspect: number): void {
  const count = nodes.length / NODE_WIDTH;
  const at = (vertex: number, offset: number) => nodes[vertex * NODE_WIDTH + offset]!;
  let [x, y, area] = [0, 0, 0];
  for (let each = 0; each < count; each += 1) {
    x += at(each, 0) / count;
    y += at(each, 1) / count;
    area += (at(each, 8) * ROOM) ** 2;
  }
  // An ellipse becomes a disc first.
  let [wide, high] = [0, 0];
  for (let each = 0; each < count; each += 1) {
    wide += (at(each, 0) - x) ** 2;
    high += (at(each, 1) - y) ** 2;
  }
  const squeeze = Math.sqrt(Math.min(3, Math.max(1 / 3, Math.sqrt((wide + 1e-9) / (high + 1e-9)))));
  const stretch = Math.sqrt(Math.min(2, Math.max(0.5, aspect)));
  const radii = Float64Array.from({ length: count }, (_, each) => Math.hypot((at(each, 0) - x) / squeeze, (at(each, 1) - y) * squeeze));
  const order = [...radii.keys()].sort((one, other) => radii[one]! - radii[other]!);
  const full = Math.sqrt(area / Math.PI);
  const usual = radii[order[Math.floor(0.9 * (count - 1))]!]! / 0.95 || 1;
  order.forEach((each, rank) => {
    const wanted = full * (EVEN * Math.sqrt((rank + 0.5) / count) + (1 - EVEN) * Math.min(1.3, radii[each]! / usual));
    const factor = wanted / Math.max(1e-9, radii[each]!);
    nodes[each * NODE_WIDTH] = ((at(each, 0) - x) / squeeze) * factor * stretch;
    nodes[each * NODE_WIDTH + 1] = ((at(each, 1) - y) * squeeze * factor) / stretch;
  });
}

self.onmessage = (event: MessageEvent<LayoutRequest>) => {
  const { id, nodes, edges, iterations, settings, aspect } = event.data;
  const count = nodes.length / NODE_WIDTH;
  const fixed = (at: number) => nodes[at * NODE_WIDTH + 9] === 1;
  const isFree = !Array.from({ length: count }, (_, at) => at).some(fixed);
  const all = { ...defaults, ...settings };
  const plain = Math.round(iterations * (isFree ? 1 - SIZED : 0.5));
  for (let round = 0; round < plain; round += 1) iterate(all, nodes, edges);
  if (isFree && count > 2) fitDensity(nodes, aspect);
  const sized = { ...all, adjustSizes: true };
  // Forces and sizes have one scale now, so few rounds settle what lies close to each other.
  if (count <= 3000) for (let round = plain; round < iterations; round += 1) iterate(sized, nodes, edges);
  const xy = new Float64Array(2 * count);
  const radii = new Float64Array(count);
  for (let at = 0; at < count; at += 1) {
    xy[2 * at] = nodes[at * NODE_WIDTH]!;
    xy[2 * at + 1] = nodes[at * NODE_WIDTH + 1]!;
    radii[at] = nodes[at * NODE_WIDTH + 8]!;
  }
  apart(xy, radii, fixed);
  postMessage({ id, xy }, { transfer: [xy.buffer] });
};
