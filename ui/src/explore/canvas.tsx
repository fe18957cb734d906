// The picture of the graph. What it shows is also in the list, for who cannot see it.

import { createEffect, createSignal, on, onCleanup, onMount, Show } from "solid-js";
import { t } from "../i18n";
import { messageOf } from "../core/http";
import { isDark } from "../core/prefs";
import { schema } from "../core/schema";
import { colors } from "./look";
import { sceneOf, sizeOfGroup } from "./draw";
import { drawn } from "./drawn";
import { emphasis } from "./emphasis";
import { closedGroups, grouping, groups, groupsOf, isGroup, opened, setGroups, toggleGroup } from "./groups";
import * as layout from "./layout";
import { UNIT, type Camera } from "./scene";
import { Stage, type Target } from "./stage";
import {
  arranged, boxing, difference, expand, ghosts, hiddenLabels, lit, nextTask, picked, pinned, positions, select,
  selected, setProblem, shown, togglePicked, view, unpick, type View,
} from "./state";
import { BoxSelection, type Box } from "./box";
import { FACTORS, styleOf, styles } from "./style";
import { svgOf, type LegendEntry } from "./svg";

const [layoutName, setLayoutName] = createSignal<layout.LayoutName>("force");
export { layoutName, setLayoutName };

/** What the menu is open for, and where in the window. */
export interface MenuPlace {
  target: Target;
  x: number;
  y: number;
}
export const [menu, setMenu] = createSignal<MenuPlace | null>(null);

/** The camera of the page's canvas, for keys and buttons. */
export interface CanvasControl {
  fit: () => void;
  zoom: (factor: number) => void;
  center: (refs: Iterable<string>) => void;
  /** The vertices whose discs a box of the window touches. */
  touched: (box: Box) => string[];
  /** Opens the menu of a vertex or an edge where it is, or that of the canvas. */
  menuOf: (ref: string | null) => void;
  /** What the window shows, as SVG with a line of text and a legend below it. */
  svg: (caption: string, legend: LegendEntry[]) => string;
  camera: () => Look;
}

/** Where the camera is, and the scale that sizes are measured at. */
export interface Look extends Camera {
  fitted: number;
}
export const [control, setControl] = createSignal<CanvasControl | null>(null);

/** Where the camera will be, once what was read after `before` is drawn; null fits it. */
let lookNext: { look: Look | null; before: View | null } | null = null;

/** Sets the camera for what is read next; null fits it. */
export function lookAt(look: Look | null): void {
  lookNext = { look, before: view() };
}

/** Where the camera is, or will be; null if it fits what is shown. */
export function cameraNow(): Look | null {
  return lookNext ? lookNext.look : (control()?.camera() ?? null);
}

/** Above this part of new vertices everything is laid out; below it they are placed beside their neighbours. */
const FEW = 0.5;

class Picture {
  readonly stage: Stage;
  private run = 0;
  private isKilled = false;
  /** What the groups were found for, and among which vertices. */
  private grouped: { refs: readonly string[]; kind: string; of: ReadonlySet<string> } | null = null;

  constructor(private readonly container: HTMLElement) {
    this.stage = new Stage(container, handlers(), () => [...document.querySelectorAll(".legend")].map((each) => each.getBoundingClientRect()));
  }

  /** Brings the picture to what is to be drawn; positions of what was there stay. */
  sync(): void {
    const refs = shown();
    const { vertices, edges } = drawn();
    const { grouped } = this;
    // They stay while vertices vanish, so a step in time moves none.
    const isNew = !grouped || grouped.refs !== refs || grouped.kind !== grouping() || groups().length === 0;
    if (isNew || vertices.some(({ ref }) => !grouped.of.has(ref))) {
      this.grouped = { refs, kind: grouping(), of: new Set(vertices.map(({ ref }) => ref)) };
      const found = groupsOf(grouping(), vertices, edges);
      if (found.length || groups().length) setGroups(found);
    }
    const { scene, bundled } = sceneOf();
    this.stage.setScene(scene, bundled, colors());
    this.container.dataset.drawn = String(scene.keys.length);
    this.container.dataset.edges = String(scene.edgeKeys.length);
  }

  /** Finds places for what has none; all others keep theirs. */
  async arrange(): Promise<void> {
    if (this.isKilled) return;
    const run = ++this.run;
    const { keys } = this.stage.scene;
    const fresh = keys.filter((key) => !positions.has(key));
    if (keys.length === 0) return;
    this.container.dataset.arranging = fresh.length ? "yes" : "no";
    if (fresh.length === 0) return this.look(false);
    const isFirst = fresh.length === keys.length;
    if (fresh.length > keys.length * FEW) await this.layOut(keys, run);
    else this.placeFew(fresh);
    if (run !== this.run) return;
    this.stage.move(keys.flatMap((key): [string, { x: number; y: number }][] => {
      const place = positions.get(key);
      return place ? [[key, place]] : [];
    }));
    this.look(isFirst);
    if (!isFirst && fresh.length > keys.length * FEW) this.stage.fit();
    this.container.dataset.arranging = "no";
  }

  /** Moves the camera to where it was set for what is drawn now, or fits all. */
  private look(isFirst: boolean): void {
    const next = lookNext?.before === view() ? null : lookNext;
    if (next) lookNext = null;
    if (isFirst || next?.look === null) this.stage.fit(false);
    else if (next?.look) this.stage.look(next.look);
  }

  private links(): { source: string; target: string }[] {
    const { keys, ends, edgeKeys } = this.stage.scene;
    return edgeKeys.map((_, at) => ({ source: keys[ends[2 * at]!]!, target: keys[ends[2 * at + 1]!]! }));
  }

  private async layOut(keys: readonly string[], run: number): Promise<void> {
    const at = new Map(keys.map((key, index) => [key, index]));
    const { sizes } = this.stage.scene;
    const found = await placesOf({
      refs: keys,
      edges: this.links(),
      sizeOf: (key) => sizes[at.get(key)!] ?? 1,
      known: positions,
      fixed: (key) => pinned.has(key) && positions.has(key),
      aspect: this.stage.aspect,
    });
    if (run !== this.run) return;
    for (const [key, place] of found) if (!pinned.has(key) || !positions.has(key)) positions.set(key, place);
  }

  /** New ones go beside the neighbours that have a place. */
  private placeFew(fresh: readonly string[]): void {
    const wanted = new Set(fresh);
    const beside = new Map<string, string[]>();
    for (const { source, target } of this.links()) {
      if (wanted.has(source) && !wanted.has(target)) beside.set(source, [...(beside.get(source) ?? []), target]);
      if (wanted.has(target) && !wanted.has(source)) beside.set(target, [...(beside.get(target) ?? []), source]);
    }
    const drawnKeys = this.stage.scene.keys;
    for (const key of fresh) {
      const near = (beside.get(key) ?? []).flatMap((other) => positions.get(other) ?? []);
      const all = near.length ? near : drawnKeys.flatMap((other) => positions.get(other) ?? []);
      const center = {
        x: all.reduce((sum, place) => sum + place.x, 0) / Math.max(1, all.length),
        y: all.reduce((sum, place) => sum + place.y, 0) / Math.max(1, all.length),
      };
      const [place] = layout.around(center, 1, drawnKeys.flatMap((other) => positions.get(other) ?? []));
      if (place) positions.set(key, place);
    }
  }

  /** The members of a group that opens get its place; the others make room for them. */
  async open(key: string): Promise<void> {
    const group = groups().find((each) => each.key === key);
    const center = positions.get(key);
    if (!group || !center) return toggleGroup(key);
    const inside = new Set(group.members);
    const found = await forced({
      refs: group.members,
      edges: [...view().edges.values()].filter(({ source, target }) => inside.has(source) && inside.has(target)),
      sizeOf: sizeOfVertex,
      known: new Map(),
      fixed: () => false,
      aspect: 1,
    });
    if (this.isKilled) return undefined;
    const middle = { x: 0, y: 0 };
    for (const { x, y } of found.values()) {
      middle.x += x / found.size;
      middle.y += y / found.size;
    }
    const reach = Math.max(...[...found.values()].map(({ x, y }) => Math.hypot(x - middle.x, y - middle.y))) + UNIT * 3;
    const grow = Math.max(0, reach - UNIT * sizeOfGroup(group));
    for (const other of this.stage.scene.keys) {
      const place = positions.get(other);
      if (other === key || !place) continue;
      const distance = Math.hypot(place.x - center.x, place.y - center.y) || 1;
      positions.set(other, {
        x: place.x + ((place.x - center.x) / distance) * grow, y: place.y + ((place.y - center.y) / distance) * grow,
      });
    }
    for (const [ref, { x, y }] of found) positions.set(ref, { x: x - middle.x + center.x, y: y - middle.y + center.y });
    toggleGroup(key);
    this.stage.center(group.members);
    return undefined;
  }

  kill(): void {
    this.isKilled = true;
    this.run += 1;
    this.stage.kill();
  }
}

function sizeOfVertex(ref: string): number {
  const label = view().vertices.get(ref)?.label;
  return label === undefined ? 1 : FACTORS[styleOf("vertex", label).size ?? "normal"];
}

function placesOf(plan: layout.Plan): Promise<layout.Positions> {
  const { refs, edges, sizeOf } = plan;
  switch (layoutName()) {
    case "circle":
      return Promise.resolve(layout.settled(layout.circle(refs), sizeOf));
    case "grid":
      return Promise.resolve(layout.settled(layout.grid(refs), sizeOf));
    case "layers":
      return Promise.resolve(layout.settled(layout.layers(refs, edges), sizeOf));
    case "time":
      return Promise.resolve(layout.settled(layout.byTime(refs, view().vertices), sizeOf));
    case "force":
      return forced(plan);
  }
}

/** By forces, or on a grid if that fails. */
async function forced(plan: layout.Plan): Promise<layout.Positions> {
  try {
    return await layout.force(plan);
  } catch (error) {
    setProblem(messageOf(error));
    return layout.settled(layout.grid(plan.refs), plan.sizeOf);
  }
}

let current: Picture | null = null;

/** Opens a closed group with room for its members. */
export function openGroup(key: string): void {
  void current?.open(key);
}

function handlers(): ConstructorParameters<typeof Stage>[1] {
  const alone = (ref: string | null): void => {
    unpick();
    select(ref);
  };
  return {
    click: ({ kind, key }, { ctrlKey, metaKey }) => {
      setMenu(null);
      if (kind === "vertex" && key !== null && isGroup(key)) return alone(null);
      if (kind === "vertex" && key !== null && (ctrlKey || metaKey)) return togglePicked(key);
      // A bundle's edges are selected one after the other.
      const all = kind === "edge" ? (current?.stage.bundled.get(key ?? "") ?? []) : [];
      const at = all.findIndex(({ ref }) => ref === selected());
      return alone(all.length ? all[(at + 1) % all.length]!.ref : key);
    },
    double: ({ kind, key }) => {
      if (kind !== "vertex" || key === null) return;
      if (isGroup(key)) openGroup(key);
      else void expand([key]);
    },
    menu: (target, { x, y }) => setMenu({ target, x, y }),
    moved: (key, place) => positions.set(key, place),
    failed: (message) => setProblem(t("pictureFailed", { why: message })),
  };
}

export function Canvas() {
  let container!: HTMLDivElement;
  onMount(() => {
    const picture = new Picture(container);
    const { stage } = picture;
    current = picture;
    setControl({
      fit: () => stage.fit(),
      zoom: (factor) => stage.zoom(factor),
      center: (refs) => stage.center([...refs].map((ref) => closedGroups().get(ref)?.key ?? ref)),
      touched: (box) => stage.touched(box),
      menuOf: (ref) => {
        const edge = view().edges.get(ref ?? "");
        const ends = (edge ? [edge.source, edge.target] : ref === null ? [] : [ref]).flatMap((end) => stage.screenOf(closedGroups().get(end)?.key ?? end) ?? []);
        const frame = container.getBoundingClientRect();
        const middle = ends.length
          ? { x: ends.reduce((sum, { x }) => sum + x / ends.length, 0), y: ends.reduce((sum, { y }) => sum + y / ends.length, 0) }
          : { x: frame.width / 2, y: frame.height / 2 };
        setMenu({ target: { kind: edge ? "edge" : ref === null ? "stage" : "vertex", key: ref }, x: frame.left + middle.x, y: frame.top + middle.y });
      },
      svg: (caption, legend) => svgOf(stage.scene, stage.viewport(), colors(), caption, legend),
      camera: () => ({ ...stage.camera, fitted: stage.fittedScale }),
    });
    createEffect(
      on([view, difference, hiddenLabels, ghosts, isDark, styles, grouping, opened, schema, emphasis], () => {
        picture.sync();
        void nextTask().then(() => picture.arrange());
      }),
    );
    createEffect(on([selected, picked, view], () => {
      const of = (ref: string) => closedGroups().get(ref)?.key ?? ref;
      stage.mark(selected() === null ? null : of(selected()!), new Set([...picked()].map(of)));
    }));
    createEffect(on(lit, (refs) => {
      const keys = new Set(refs.map((ref) => closedGroups().get(ref)?.key ?? ref));
      // After what was just read has its place.
      void nextTask().then(() => picture.arrange()).then(() => {
        stage.light(keys);
        stage.center(keys);
      });
    }, { defer: true }));
    createEffect(on(arranged, () => void picture.arrange(), { defer: true }));
    const sized = new ResizeObserver(() => stage.resize());
    sized.observe(container);
    onCleanup(() => {
      sized.disconnect();
      // The next canvas begins where this one was.
      lookNext ??= { look: control()?.camera() ?? null, before: null };
      setControl(null);
      setMenu(null);
      current = null;
      picture.kill();
    });
  });
  return (
    <div class="canvas-frame">
      <div class="canvas" ref={container} role="img" aria-label={t("canvasLabel", { count: shown().length })} />
      <Show when={boxing()}>
        <BoxSelection touched={(box) => (control()?.touched(box) ?? []).flatMap((key) => groups().find((group) => group.key === key)?.members ?? [key])} />
      </Show>
    </div>
  );
}
