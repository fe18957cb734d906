// From what is shown to what is painted: looks, names, groups, bundles of edges.

import { isDark } from "../core/prefs";
import { number } from "../i18n";
import type { Edge, Vertex } from "./api";
import { drawn } from "./drawn";
import { colorBy, emphasis, sizeBy } from "./emphasis";
import { closedGroups, type Group } from "./groups";
import { colorOf, colors, edgeColorOf, edgeName, nameOf, nameOfRef, tellingOf, type Colors } from "./look";
import { startPosition } from "./layout";
import { colorByProperty } from "./scales";
import { UNIT, type EdgeLook, type NodeLook, type Scene } from "./scene";
import { difference, hiddenLabels, lastSeen, positions, view } from "./state";
import { FACTORS, styleOf } from "./style";

export type Mark = "added" | "removed" | "changed" | "same";
export const SIGNS: Record<Mark, string> = { added: "+", removed: "−", changed: "~", same: "" };

/** The most characters of a name on the canvas. */
const NAME_MAX = 28;
/** Up to as many parallel edges are drawn one by one, each with a bend of its own. */
const FAN_MAX = 5;
const BEND = 0.16;

/** What differs, by ref, while two moments are compared. */
export function marksOf(): Map<string, Mark> | null {
  const found = difference();
  if (!found) return null;
  const marks = new Map<string, Mark>();
  for (const element of found.added) marks.set(element.ref, "added");
  for (const element of found.removed) marks.set(element.ref, "removed");
  for (const change of found.changed) marks.set(change.ref, "changed");
  return marks;
}

/** Looks that are the same are kept once. */
class Looks<T> {
  readonly all: T[] = [];
  private readonly known = new Map<string, number>();

  of(look: T): number {
    const key = JSON.stringify(look);
    let at = this.known.get(key);
    if (at === undefined) {
      at = this.all.push(look) - 1;
      this.known.set(key, at);
    }
    return at;
  }
}

interface Node {
  key: string;
  size: number;
  look: NodeLook;
  name: string;
  count: string;
  isNamed: boolean;
}

function cut(name: string): string {
  const letters = [...name];
  return letters.length <= NAME_MAX ? name : `${letters.slice(0, NAME_MAX - 1).join("")}…`;
}

/** What tells vertices apart that have the same name. */
export function distinct(vertices: readonly Vertex[]): Map<string, string> {
  const named = new Map<string, Vertex[]>();
  for (const vertex of vertices) {
    const key = `${vertex.label}\n${nameOf(vertex)}`;
    const held = named.get(key);
    if (held) held.push(vertex);
    else named.set(key, [vertex]);
  }
  const found = new Map<string, string>();
  for (const same of named.values()) {
    if (same.length === 1) continue;
    for (const vertex of same) found.set(vertex.ref, tellingOf(vertex, same));
  }
  return found;
}

function plainLook(fill: string): NodeLook {
  return { fill, ring: isDark() ? "#14181b" : "#fbfaf7", ringWidth: 1, dash: false, double: false, alpha: 1, sign: "" };
}

function lookOf(vertex: Vertex, look: Colors, mark: Mark | null): NodeLook {
  const base = colorBy(emphasis(), vertex.ref) ?? colorByProperty(vertex) ?? colorOf(vertex.label);
  const plain = plainLook(base);
  if (mark === null) {
    const isGhost = view().missing.has(vertex.ref);
    return isGhost ? { ...plain, fill: look.background, ring: base, ringWidth: 1.5, dash: true, alpha: 0.6 } : plain;
  }
  const sign = SIGNS[mark];
  if (mark === "added") return { ...plain, ring: look.added, ringWidth: 3.5, sign };
  if (mark === "removed") return { ...plain, fill: look.background, ring: look.removed, ringWidth: 2.5, dash: true, sign };
  if (mark === "changed") return { ...plain, ring: look.changed, ringWidth: 2, double: true, sign };
  return { ...plain, alpha: 0.35 };
}

export function sizeOfGroup({ members }: Group): number {
  return 1.6 + Math.sqrt(members.length) * 0.28;
}

export function nameOfGroup({ head, label }: Group): string {
  return head === null ? label : nameOfRef(head);
}

/** The colours of a group's labels, the most frequent first. */
function sharesOf({ members }: Group): [string, number][] {
  const counts = new Map<string, number>();
  for (const ref of members) {
    const label = lastSeen.get(ref)?.label ?? "";
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([label, count]) => [colorOf(label), count / members.length]);
}

/** Vertices and closed groups that are drawn. */
function nodesOf(vertices: readonly Vertex[], look: Colors, marks: Map<string, Mark> | null): Node[] {
  const hidden = hiddenLabels();
  const within = closedGroups();
  const same = distinct(vertices);
  const seen = new Set<Group>();
  const nodes: Node[] = [];
  for (const vertex of vertices) {
    const group = within.get(vertex.ref);
    if (group) {
      seen.add(group);
      continue;
    }
    if (hidden.has(vertex.label)) continue;
    const mark = marks ? (marks.get(vertex.ref) ?? "same") : null;
    const more = same.get(vertex.ref);
    nodes.push({
      key: vertex.ref,
      size: sizeBy(emphasis(), vertex.ref) ?? FACTORS[styleOf("vertex", vertex.label).size ?? "normal"],
      look: lookOf(vertex, look, mark),
      name: cut(nameOf(vertex)) + (more ? ` (${cut(more)})` : ""),
      count: "",
      isNamed: mark !== null && mark !== "same",
    });
  }
  for (const group of seen) {
    if (hidden.has(group.label)) continue;
    const differs = marks ? group.members.filter((ref) => marks.has(ref)).length : 0;
    const fill = colorOf(group.label);
    nodes.push({
      key: group.key,
      size: sizeOfGroup(group),
      look: {
        fill, parts: sharesOf(group), ring: differs ? look.changed : fill, ringWidth: differs ? 4 : 0, dash: false, double: !differs,
        alpha: marks && !differs ? 0.5 : 0.92, sign: "",
      },
      name: cut(nameOfGroup(group)),
      count: number(group.members.length),
      isNamed: false,
    });
  }
  return nodes;
}

interface Bundle {
  from: number;
  to: number;
  /** Null if it joins edges of several labels: those of groups. */
  label: string | null;
  edges: Edge[];
  mark: Mark | null;
}

/** Parallel edges of one label and direction: one bundle if there are many, else each for itself. */
function bundlesOf(edges: readonly Edge[], placeOf: (ref: string) => number | undefined, isGroupAt: (at: number) => boolean, marks: Map<string, Mark> | null, hidden: ReadonlySet<string>): Bundle[] {
  const found = new Map<string, Bundle>();
  const perPair = new Map<string, number>();
  const kept: [Edge, number, number][] = [];
  for (const edge of edges) {
    if (hidden.has(edge.label)) continue;
    const [from, to] = [placeOf(edge.source), placeOf(edge.target)];
    if (from === undefined || to === undefined) continue;
    if (from === to && edge.source !== edge.target) continue;
    const pair = from < to ? `${from} ${to}` : `${to} ${from}`;
    perPair.set(pair, (perPair.get(pair) ?? 0) + 1);
    kept.push([edge, from, to]);
  }
  for (const [edge, from, to] of kept) {
    const mark = marks ? (marks.get(edge.ref) ?? "same") : null;
    const pair = from < to ? `${from} ${to}` : `${to} ${from}`;
    const ofGroup = isGroupAt(from) || isGroupAt(to);
    const isFew = !ofGroup && (perPair.get(pair) ?? 0) <= FAN_MAX;
    const key = isFew ? edge.ref : ofGroup ? `${pair} ${mark}` : `${from} ${to} ${edge.label} ${mark}`;
    const held = found.get(key);
    if (held) {
      held.edges.push(edge);
      if (held.label !== edge.label) held.label = null;
    } else found.set(key, { from, to, label: edge.label, edges: [edge], mark });
  }
  return [...found.values()];
}

function edgeLookOf({ label, mark, edges }: Bundle, look: Colors): EdgeLook {
  const width = 1.5 * (label === null ? 1 : FACTORS[styleOf("edge", label).size ?? "normal"]);
  const color = label === null ? look.same : ((edges.length === 1 ? colorByProperty(edges[0]!) : null) ?? edgeColorOf(label));
  if (mark === null) return { color, width, dash: false, alpha: 0.75 };
  if (mark === "same") return { color: look.same, width, dash: false, alpha: 0.4 };
  return { color: look[mark], width: mark === "removed" ? 1.8 : 3, dash: mark !== "added", alpha: 1 };
}

/** The edges that a key of the scene stands for. */
export type Bundled = Map<string, readonly Edge[]>;

/** What is painted, from nodes and the edges between them. */
function assembled(nodes: readonly Node[], bundles: readonly Bundle[], look: Colors, placeOf: (key: string) => { x: number; y: number } | undefined): Scene {
  const linked = edgeLooksOf(bundles, (at) => nodes[at]!.count !== "", look);
  const nodeLooks = new Looks<NodeLook>();
  const edgeLooks = new Looks<EdgeLook>();
  const degree = new Float64Array(nodes.length);
  const ends = new Uint32Array(bundles.length * 2);
  bundles.forEach(({ from, to, edges: all }, at) => {
    ends.set([from, to], at * 2);
    degree[from]! += all.length;
    degree[to]! += all.length;
  });
  const weight = nodes.map((node, at) => degree[at]! + node.size + (node.count ? 1e6 * node.size : 0) + (node.isNamed ? 1e9 : 0));
  const xy = new Float32Array(nodes.length * 2);
  nodes.forEach(({ key }, at) => {
    const place = placeOf(key) ?? startPosition(key, Math.sqrt(nodes.length) * UNIT * 2);
    xy.set([place.x, place.y], at * 2);
  });
  return {
    keys: nodes.map(({ key }) => key),
    xy,
    sizes: Float32Array.from(nodes, ({ size }) => size),
    looks: Uint16Array.from(nodes, (node) => nodeLooks.of(node.look)),
    nodeLooks: nodeLooks.all,
    names: nodes.map(({ name }) => name),
    counts: nodes.map(({ count }) => count),
    order: Uint32Array.from(nodes.map((_, at) => at).sort((a, b) => weight[b]! - weight[a]!)),
    named: Uint8Array.from(nodes, ({ isNamed }) => (isNamed ? 1 : 0)),
    edgeKeys: bundles.map((bundle) => bundle.edges[0]!.ref),
    ends,
    edgeLooks: edgeLooks.all,
    edgeLook: Uint16Array.from(linked, (each) => edgeLooks.of(each)),
    bends: bendsOf(bundles),
    widths: Float32Array.from(bundles, (bundle) => Math.min(4, 1 + Math.log2(bundle.edges.length) * 0.5)),
    edgeNames: bundles.map((bundle) => (nodes[bundle.from]!.count || nodes[bundle.to]!.count ? "" : edgeNameOf(bundle))),
  };
}

/** The edges that a bundle stands for, by its key in the scene. */
function bundledOf(bundles: readonly Bundle[]): Bundled {
  return new Map(bundles.map((bundle) => [bundle.edges[0]!.ref, bundle.edges]));
}

export function sceneOf(): { scene: Scene; bundled: Bundled; total: { vertices: number; edges: number } } {
  const { vertices, edges } = drawn();
  const look = colors();
  const marks = marksOf();
  const nodes = nodesOf(vertices, look, marks);
  const within = closedGroups();
  const places = new Map(nodes.map(({ key }, at) => [key, at]));
  const bundles = bundlesOf(edges, (ref) => places.get(within.get(ref)?.key ?? ref), (at) => nodes[at]!.count !== "", marks, hiddenLabels());
  const scene = assembled(nodes, bundles, look, (key) => positions.get(key));
  return { scene, bundled: bundledOf(bundles), total: { vertices: vertices.length, edges: edges.length } };
}

/** A picture of its own, beside the canvas: labels have their looks, nothing is grouped, hidden or compared. */
export function sceneOfElements(vertices: readonly Vertex[], edges: readonly Edge[]): { scene: Scene; bundled: Bundled } {
  const look = colors();
  const same = distinct(vertices);
  const nodes = vertices.map((vertex): Node => ({
    key: vertex.ref,
    size: FACTORS[styleOf("vertex", vertex.label).size ?? "normal"],
    look: plainLook(colorOf(vertex.label)),
    name: cut(nameOf(vertex)) + (same.has(vertex.ref) ? ` (${cut(same.get(vertex.ref)!)})` : ""),
    count: "",
    isNamed: false,
  }));
  const places = new Map(nodes.map(({ key }, at) => [key, at]));
  const bundles = bundlesOf(edges, (ref) => places.get(ref), () => false, null, new Set());
  return { scene: assembled(nodes, bundles, look, () => undefined), bundled: bundledOf(bundles) };
}

/** Of the edges between groups, how many a group stand out; the others are faint. */
const STRONG = 2;

/** The look of each bundle. */
function edgeLooksOf(bundles: readonly Bundle[], isGroupAt: (at: number) => boolean, look: Colors): EdgeLook[] {
  const ofGroups = bundles.filter(({ from, to }) => isGroupAt(from) || isGroupAt(to));
  const groupCount = new Set(ofGroups.flatMap(({ from, to }) => [from, to])).size;
  const counts = ofGroups.map(({ edges }) => edges.length).sort((a, b) => b - a);
  const strong = counts[Math.min(counts.length - 1, groupCount * STRONG)] ?? 0;
  return bundles.map((bundle) => {
    if (bundle.mark || !(isGroupAt(bundle.from) || isGroupAt(bundle.to))) return edgeLookOf(bundle, look);
    return { color: look.same, width: 1.3, dash: false, alpha: bundle.edges.length >= Math.max(2, strong) ? 0.9 : 0.2 };
  });
}

function edgeNameOf({ mark, edges, label }: Bundle): string {
  if (mark === "same" || label === null) return "";
  const name = edges.length > 1 ? `${label} ×${number(edges.length)}` : edgeName(edges[0]!);
  return (mark ? `${SIGNS[mark]} ` : "") + cut(name);
}

/** Bundles between the same two vertices spread like a fan. */
function bendsOf(bundles: readonly Bundle[]): Float32Array {
  const pairs = new Map<string, number[]>();
  bundles.forEach(({ from, to }, at) => {
    if (from === to) return;
    const key = from < to ? `${from} ${to}` : `${to} ${from}`;
    const held = pairs.get(key);
    if (held) held.push(at);
    else pairs.set(key, [at]);
  });
  const bends = new Float32Array(bundles.length);
  for (const all of pairs.values()) {
    all.forEach((at, index) => {
      const bend = (index - (all.length - 1) / 2) * BEND;
      bends[at] = bundles[at]!.from < bundles[at]!.to ? bend : -bend;
    });
  }
  return bends;
}
