// The picture of the graph: sigma on WebGL. What it shows is also in the list, for who cannot see
// it.

import { MultiDirectedGraph } from "graphology";
import { createEffect, createSignal, on, onCleanup, onMount, Show } from "solid-js";
import Sigma from "sigma";
import { createNodeBorderProgram } from "@sigma/node-border";
import { EdgeArrowProgram } from "sigma/rendering";
import { animateNodes } from "sigma/utils";
import { t } from "../i18n";
import { isDark } from "../core/prefs";
import type { Edge, Element } from "./api";
import { chosenColor, colorOf, colors, edgeName, nameOf, type Colors } from "./look";
import * as layout from "./layout";
import {
  arranged, boxing, difference, expand, ghosts, hiddenLabels, lastSeen, nextTask, picked, pinned, positions, select,
  selected, shown, togglePicked, view, unpick,
} from "./state";
import { BoxSelection, type Box } from "./box";
import { drawHover } from "./hover";
import { Labels, type Disc } from "./labels";
import { FACTORS, styleOf, styles } from "./style";
import { svgOf, type LegendEntry } from "./svg";

export type Mark = "added" | "removed" | "changed" | "same";

interface NodeAttributes {
  x: number;
  y: number;
  size: number;
  label: string;
  color: string;
  borderColor: string;
  hidden?: boolean;
  forceLabel?: boolean;
  zIndex: number;
}

interface EdgeAttributes {
  size: number;
  label: string;
  color: string;
  hidden?: boolean;
  zIndex: number;
}

const SIGNS: Record<Mark, string> = { added: "+ ", removed: "− ", changed: "~ ", same: "" };
/** Up to here all names of vertices are drawn. */
const NAMED_MAX = 150;
/** The most edges, or differences, that all have their labels; above it only selected ones have. */
const EDGES_NAMED_MAX = 25;
/** Above this many edges only vertices can be picked, and edges are not drawn while the picture moves. */
const EDGES_PICKED_MAX = 1500;

const [layoutName, setLayoutName] = createSignal<layout.LayoutName>("force");
export { layoutName, setLayoutName };

/** The camera of the page's canvas, for keys and buttons. */
export interface CanvasControl {
  fit: () => void;
  zoom: (factor: number) => void;
  /** The vertices whose discs a box of the window touches. */
  touched: (box: Box) => string[];
  /** What the window shows, as SVG with a line of text and a legend below it. */
  svg: (caption: string, legend: LegendEntry[]) => string;
}
export const [control, setControl] = createSignal<CanvasControl | null>(null);

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

/** The elements to draw: those of this point, with those of a difference. */
function drawn(): { vertices: Element[]; edges: Edge[] } {
  const now = view();
  const found = difference();
  if (!found) {
    const ghostly = ghosts() ? [...now.missing].flatMap((ref) => lastSeen.get(ref) ?? []) : [];
    return { vertices: [...now.vertices.values(), ...ghostly], edges: [...now.edges.values()] };
  }
  const everything = new Map<string, Element>([...now.vertices, ...now.edges]);
  for (const element of [...found.removed, ...found.added]) everything.set(element.ref, element);
  for (const change of found.changed) everything.set(change.ref, change.after);
  const all = [...everything.values()];
  return {
    vertices: all.filter((element) => element.type === "vertex"),
    edges: all.filter((element): element is Edge => element.type === "edge"),
  };
}

/** Whether attributes would change: each change of one is an event that sigma works on. */
function differs(now: object, next: object): boolean {
  const [held, wanted] = [now as Record<string, unknown>, next as Record<string, unknown>];
  for (const key in wanted) if (held[key] !== wanted[key]) return true;
  return false;
}

/** Sigma works through the whole graph for each element that is dropped: edges are hidden, and many vertices begin anew. */
const DROPPED_MAX = 20;

class Picture {
  readonly graph = new MultiDirectedGraph();
  readonly sigma: Sigma;
  readonly labels = new Labels(() => this.discs());
  private run = 0;
  private isKilled = false;
  private adapted = "";
  private stop: (() => void) | null = null;
  private fixedBefore = new Set<string>();

  constructor(container: HTMLElement) {
    const Node = createNodeBorderProgram({
      borders: [
        { size: { value: 3, mode: "pixels" }, color: { attribute: "borderColor" } },
        { size: { fill: true }, color: { attribute: "color" } },
      ],
    });
    this.sigma = new Sigma(this.graph, container, {
      nodeProgramClasses: { circle: Node },
      edgeProgramClasses: { arrow: EdgeArrowProgram },
      defaultEdgeType: "arrow",
      labelFont: "system-ui, sans-serif",
      labelSize: 12,
      edgeLabelSize: 10,
      edgeLabelFont: "system-ui, sans-serif",
      zIndex: true,
      renderEdgeLabels: true,
      enableEdgeEvents: true,
      labelDensity: 2,
      labelGridCellSize: 80,
      labelRenderedSizeThreshold: 4,
      minCameraRatio: 0.02,
      maxCameraRatio: 8,
      stagePadding: 36,
      allowInvalidContainer: true,
      defaultDrawNodeHover: drawHover,
      defaultDrawNodeLabel: (context, data, settings) => this.labels.draw(context, data, settings),
    });
    this.sigma.on("beforeRender", () => this.labels.clear());
  }

  /** Brings the picture to what is to be drawn; positions of what was there stay. */
  sync(): void {
    const { vertices, edges } = drawn();
    const look = colors();
    const marks = marksOf();
    const hidden = hiddenLabels();
    this.adapt(vertices.length, edges.length, look);
    const keep = new Set(vertices.map((vertex) => vertex.ref));
    const gone = this.graph.filterNodes((ref) => !keep.has(ref));
    if (gone.length > DROPPED_MAX) this.graph.clear();
    else for (const ref of gone) this.graph.dropNode(ref);
    const spread = Math.sqrt(vertices.length) * 10;
    for (const vertex of vertices) {
      const place = positions.get(vertex.ref) ?? layout.startPosition(vertex.ref, spread);
      const attributes = this.nodeOf(vertex, look, marks, hidden);
      if (this.graph.hasNode(vertex.ref)) {
        if (differs(this.graph.getNodeAttributes(vertex.ref), attributes)) this.graph.mergeNodeAttributes(vertex.ref, attributes);
      } else this.graph.addNode(vertex.ref, { ...attributes, ...place });
    }
    const keepEdges = new Set(edges.map((edge) => edge.ref));
    this.graph.forEachEdge((ref, attributes) => {
      if (!keepEdges.has(ref) && attributes.hidden !== true) this.graph.setEdgeAttribute(ref, "hidden", true);
    });
    const named = marks ? edges.filter((edge) => marks.has(edge.ref)).length : edges.length;
    for (const edge of edges) {
      if (!this.graph.hasNode(edge.source) || !this.graph.hasNode(edge.target)) continue;
      const attributes = this.edgeOf(edge, look, marks, hidden, named <= EDGES_NAMED_MAX);
      if (this.graph.hasEdge(edge.ref)) {
        if (differs(this.graph.getEdgeAttributes(edge.ref), attributes)) this.graph.mergeEdgeAttributes(edge.ref, attributes);
      } else this.graph.addEdgeWithKey(edge.ref, edge.source, edge.target, attributes);
    }
  }

  /** Settings for this many elements; each change of one draws everything anew. */
  private adapt(vertices: number, edges: number, look: Colors): void {
    const isLarge = edges > EDGES_PICKED_MAX;
    const key = [look.text, isLarge, vertices <= NAMED_MAX].join(" ");
    if (key === this.adapted) return;
    this.adapted = key;
    this.sigma.setSettings({
      labelColor: { color: look.text },
      edgeLabelColor: { color: look.text },
      enableEdgeEvents: !isLarge,
      hideEdgesOnMove: isLarge,
      hideLabelsOnMove: isLarge,
      labelRenderedSizeThreshold: vertices <= NAMED_MAX ? 0 : 4,
    });
  }

  private nodeOf(vertex: Element, look: Colors, marks: Map<string, Mark> | null, hidden: ReadonlySet<string>): Omit<NodeAttributes, "x" | "y"> {
    const mark = marks ? (marks.get(vertex.ref) ?? "same") : null;
    const isGhost = !marks && view().missing.has(vertex.ref);
    const base = mark ? look[mark] : colorOf(vertex.label);
    const isAlone = selected() === vertex.ref;
    const isSelected = isAlone || picked().has(vertex.ref);
    const color = isGhost || mark === "removed" ? look.background : mark === "changed" ? look.same : base;
    const border = isGhost ? look.faint : mark === "same" ? look.same : base;
    const factor = FACTORS[styleOf("vertex", vertex.label).size ?? "normal"];
    return {
      size: (isSelected ? 11 : 8) * factor,
      label: (mark ? SIGNS[mark] : "") + nameOf(vertex),
      color,
      borderColor: isSelected ? look.accent : border,
      hidden: hidden.has(vertex.label),
      forceLabel: isAlone || (mark !== null && mark !== "same"),
      zIndex: isSelected ? 3 : isGhost ? 0 : 1,
    };
  }

  private edgeOf(
    edge: Edge,
    look: Colors,
    marks: Map<string, Mark> | null,
    hidden: ReadonlySet<string>,
    isNamed: boolean,
  ): EdgeAttributes {
    const mark = marks ? (marks.get(edge.ref) ?? "same") : null;
    const isSelected = selected() === edge.ref;
    const isBeside = selected() === edge.source || selected() === edge.target;
    const differs = mark !== null && mark !== "same";
    const plain = (isBeside ? 2.5 : 1.8) * FACTORS[styleOf("edge", edge.label).size ?? "normal"];
    return {
      size: isSelected ? 3.5 : mark === "removed" ? 1.2 : differs ? 3 : plain,
      label: isSelected || isBeside || (isNamed && (differs || !mark)) ? (mark ? SIGNS[mark] : "") + edgeName(edge) : "",
      color: isSelected ? look.accent : mark ? look[mark] : (chosenColor("edge", edge.label) ?? look.edge),
      hidden: hidden.has(edge.label),
      zIndex: isSelected || differs ? 2 : isBeside ? 1 : 0,
    };
  }

  /** Finds places for what has none; all others keep theirs. */
  async arrange(): Promise<void> {
    if (this.isKilled) return;
    const run = ++this.run;
    const refs = this.graph.nodes();
    const fresh = refs.filter((ref) => !this.fixedBefore.has(ref) || !positions.has(ref));
    if (refs.length === 0 || fresh.length === 0) return;
    const isFirst = fresh.length === refs.length;
    const { edges } = drawn();
    const fixed = (ref: string) => pinned.has(ref) || (!isFirst && this.fixedBefore.has(ref) && positions.has(ref));
    const found = await this.place(refs, edges, fixed);
    if (run !== this.run) return;
    const targets: Record<string, { x: number; y: number }> = {};
    for (const [ref, place] of found) {
      if (!this.graph.hasNode(ref)) continue;
      if (!fixed(ref)) positions.set(ref, place);
      const target = positions.get(ref);
      if (target) targets[ref] = target;
    }
    this.fixedBefore = new Set(refs);
    this.stop?.();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still || isFirst || refs.length > 600) {
      for (const [ref, place] of Object.entries(targets)) this.graph.mergeNodeAttributes(ref, place);
      if (isFirst) this.fit();
    } else {
      this.stop = animateNodes(this.graph, targets, { duration: 250 });
    }
  }

  private place(refs: string[], edges: Edge[], fixed: (ref: string) => boolean): Promise<layout.Positions> {
    switch (layoutName()) {
      case "circle":
        return Promise.resolve(layout.circle(refs));
      case "grid":
        return Promise.resolve(layout.grid(refs));
      case "layers":
        return Promise.resolve(layout.layers(refs, edges));
      case "time":
        return Promise.resolve(layout.byTime(refs, view().vertices));
      case "force":
        return layout.force(refs, edges, positions, fixed);
    }
  }

  forgetPlaces(): void {
    this.fixedBefore = new Set();
  }

  fit(): void {
    this.sigma.setCustomBBox(null);
    this.sigma.refresh();
    void this.sigma.getCamera().animatedReset({ duration: 150 });
  }

  /** What names keep off. In larger graphs they may lie on vertices: looking takes too long. */
  private discs(): Disc[] {
    if (this.graph.order > NAMED_MAX) return [];
    const shown = this.graph.filterNodes((_, { hidden }) => hidden !== true);
    return shown.map((key) => {
      const { x, y, size } = this.graph.getNodeAttributes(key);
      return { key, ...this.sigma.graphToViewport({ x, y }), radius: this.sigma.scaleSize(size) };
    });
  }

  touched(box: Box): string[] {
    const found: string[] = [];
    this.graph.forEachNode((ref, { x, y, size, hidden }) => {
      if (hidden === true) return;
      const at = this.sigma.graphToViewport({ x, y });
      const radius = this.sigma.scaleSize(size);
      const outsideX = Math.max(box.left - at.x, 0, at.x - box.right);
      const outsideY = Math.max(box.top - at.y, 0, at.y - box.bottom);
      if (Math.hypot(outsideX, outsideY) <= radius) found.push(ref);
    });
    return found;
  }

  zoom(factor: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.ratio / factor }, { duration: 120 });
  }

  kill(): void {
    this.isKilled = true;
    this.run += 1;
    this.stop?.();
    this.sigma.kill();
  }
}

function listen(picture: Picture): void {
  const { sigma, graph } = picture;
  let dragged: string | null = null;
  let moved = false;
  const alone = (ref: string | null): void => {
    unpick();
    select(ref);
  };
  sigma.on("clickNode", ({ node, event }) => {
    if (moved) return;
    const { ctrlKey, metaKey } = event.original;
    if (ctrlKey || metaKey) togglePicked(node);
    else alone(node);
  });
  sigma.on("clickEdge", ({ edge }) => alone(edge));
  sigma.on("clickStage", () => alone(null));
  sigma.on("doubleClickNode", ({ node, event }) => {
    event.preventSigmaDefault();
    void expand([node]);
  });
  sigma.on("downNode", ({ node }) => {
    dragged = node;
    moved = false;
    if (!sigma.getCustomBBox()) sigma.setCustomBBox(sigma.getBBox());
  });
  sigma.getMouseCaptor().on("mousemovebody", (event) => {
    if (!dragged || !graph.hasNode(dragged)) return;
    moved = true;
    const place = sigma.viewportToGraph(event);
    graph.mergeNodeAttributes(dragged, place);
    positions.set(dragged, { x: place.x, y: place.y });
    event.preventSigmaDefault();
    event.original.preventDefault();
    event.original.stopPropagation();
  });
  sigma.getMouseCaptor().on("mouseup", () => {
    dragged = null;
  });
}

export function Canvas() {
  let container!: HTMLDivElement;
  const [failed, setFailed] = createSignal(false);
  onMount(() => {
    let picture: Picture;
    try {
      picture = new Picture(container);
    } catch {
      setFailed(true);
      return;
    }
    listen(picture);
    setControl({
      fit: () => picture.fit(),
      zoom: (factor) => picture.zoom(factor),
      touched: (box) => picture.touched(box),
      svg: (caption, legend) => svgOf(picture.sigma, picture.labels.drawn, colors(), caption, legend),
    });
    createEffect(
      on([view, difference, hiddenLabels, ghosts, selected, picked, isDark, styles], () => picture.sync()),
    );
    createEffect(on([view, difference], () => void nextTask().then(() => picture.arrange())));
    createEffect(
      on([arranged, layoutName], () => {
        picture.forgetPlaces();
        void picture.arrange();
      }, { defer: true }),
    );
    const sized = new ResizeObserver(() => picture.sigma.refresh());
    sized.observe(container);
    onCleanup(() => {
      sized.disconnect();
      setControl(null);
      picture.kill();
    });
  });
  return (
    <div class="canvas-frame">
      <div class="canvas" ref={container} role="img" aria-label={t("canvasLabel", { count: shown().length })} />
      <Show when={boxing()}>
        <BoxSelection touched={(box) => control()?.touched(box) ?? []} />
      </Show>
      <Show when={failed()}>
        <p class="notice">{t("noWebgl")}</p>
      </Show>
    </div>
  );
}
