// Which colour of the palette a label has: from the names of graph and label, so that it is the same
// in every browser, and whatever was opened before.

/** A number from a text, the same each time. */
export function hash(text: string): number {
  let value = 2166136261;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 16777619);
  value ^= value >>> 15;
  return (Math.imul(value, 0x2c1b3c6d) >>> 0) / 2 ** 32;
}

/**
 * The places of labels in a palette of `size` colours. A label whose colour an earlier one has takes
 * the next free one, so the order is that in which the labels were made: a new label changes no other.
 */
export function huesOf(graph: string, labels: readonly string[], size: number): Map<string, number> {
  const found = new Map<string, number>();
  const taken = new Set<number>();
  for (const label of labels) {
    if (taken.size === size) taken.clear();
    let place = Math.floor(hash(`${graph}\n${label}`) * size);
    while (taken.has(place)) place = (place + 1) % size;
    taken.add(place);
    found.set(label, place);
  }
  return found;
}
