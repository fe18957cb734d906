// The last pass of a layout: moves discs apart until none covers another.

/** Part of the radii that stays free between two discs. */
const FREE = 0.25;
const ROUNDS = 60;
const TRIES = 30;

/**
 * Moves discs apart; `xy` is changed. Those that are fixed stay where they are. Where discs are too
 * crowded to find room, what is not fixed is spread and tried again. Whether none covers another.
 */
export function apart(xy: Float64Array, radii: Float64Array, fixed: (at: number) => boolean): boolean {
  const count = radii.length;
  const isFixed = Uint8Array.from({ length: count }, (_, at) => (fixed(at) ? 1 : 0));
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    for (let round = 0; round < ROUNDS; round += 1) if (push(xy, radii, isFixed) === 0) return true;
    for (let at = 0; at < xy.length; at += 1) if (!isFixed[at >> 1]) xy[at]! *= 1.08;
  }
  return push(xy, radii, isFixed) === 0;
}

/** Moves each pair that is too close by half of what it lacks. Gives how many there were. */
function push(xy: Float64Array, radii: Float64Array, isFixed: Uint8Array): number {
  const count = radii.length;
  let largest = 0;
  let sum = 0;
  for (const radius of radii) {
    largest = Math.max(largest, radius);
    sum += radius;
  }
  // Cells of the usual size; a large disc looks into as many as it covers.
  const cell = Math.max(1e-6, (sum / Math.max(1, count)) * 2 * (1 + FREE));
  const cells = new Map<number, number[]>();
  const columnOf = (value: number) => Math.floor(value / cell);
  for (let at = 0; at < count; at += 1) {
    const key = columnOf(xy[2 * at]!) * 1_048_576 + columnOf(xy[2 * at + 1]!);
    const held = cells.get(key);
    if (held) held.push(at);
    else cells.set(key, [at]);
  }
  let found = 0;
  for (let at = 0; at < count; at += 1) {
    // The larger one of a pair looks for the smaller one.
    const reach = Math.ceil((radii[at]! * 2 * (1 + FREE)) / cell);
    const [column, row] = [columnOf(xy[2 * at]!), columnOf(xy[2 * at + 1]!)];
    for (let x = column - reach; x <= column + reach; x += 1) {
      for (let y = row - reach; y <= row + reach; y += 1) {
        for (const other of cells.get(x * 1_048_576 + y) ?? []) {
          const isSmaller = radii[other]! < radii[at]! || (radii[other] === radii[at] && other > at);
          if (isSmaller && separate(xy, at, other, (radii[at]! + radii[other]!) * (1 + FREE), isFixed)) found += 1;
        }
      }
    }
  }
  return found;
}

function separate(xy: Float64Array, one: number, other: number, wanted: number, isFixed: Uint8Array): boolean {
  if (isFixed[one] && isFixed[other]) return false;
  let dx = xy[2 * other]! - xy[2 * one]!;
  let dy = xy[2 * other + 1]! - xy[2 * one + 1]!;
  let distance = Math.hypot(dx, dy);
  if (distance >= wanted - 1e-3) return false;
  if (distance < 1e-6) {
    // In the same place: any direction that differs by vertex.
    dx = Math.cos(other * 2.4);
    dy = Math.sin(other * 2.4);
    distance = 1;
    const lack = wanted;
    xy[2 * other]! += isFixed[other] ? 0 : dx * lack;
    xy[2 * other + 1]! += isFixed[other] ? 0 : dy * lack;
    if (isFixed[other]) {
      xy[2 * one]! -= dx * lack;
      xy[2 * one + 1]! -= dy * lack;
    }
    return true;
  }
  const lack = wanted - distance + 0.01;
  const share = isFixed[one] ? 0 : isFixed[other] ? 1 : 0.5;
  xy[2 * one]! -= (dx / distance) * lack * share;
  xy[2 * one + 1]! -= (dy / distance) * lack * share;
  xy[2 * other]! += (dx / distance) * lack * (1 - share);
  xy[2 * other + 1]! += (dy / distance) * lack * (1 - share);
  return true;
}
