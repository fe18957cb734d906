// The groups of a vertex's edges.

import type { Group } from "./api";

/** How many edges must be asked for to have those of a group: the server tells them by label and direction alone. */
export function edgesBeside({ label, direction }: Group, groups: readonly Group[], most: number): number {
  const beside = groups.filter((each) => each.label === label && each.direction === direction);
  if (beside.some((each) => each.at_least)) return most;
  return Math.min(most, beside.reduce((sum, { count }) => sum + count, 0));
}
