// What the page and the worker of the force layout agree on.

export interface LayoutRequest {
  id: number;
  nodes: Float32Array<ArrayBuffer>;
  edges: Float32Array<ArrayBuffer>;
  iterations: number;
  settings: object;
  /** Width of the window by its height. */
  aspect: number;
}

/** How many numbers a vertex has in the matrix of ForceAtlas2. */
export const NODE_WIDTH = 10;
/** The side of the square that a vertex has for itself on average, in its radii. */
export const ROOM = 4;
