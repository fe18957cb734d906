declare module "graphology-layout-forceatlas2/iterate" {
  export default function iterate(settings: object, nodes: Float32Array, edges: Float32Array): object;
}
declare module "graphology-layout-forceatlas2/defaults" {
  const settings: Record<string, unknown>;
  export default settings;
}
