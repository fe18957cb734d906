// The canvas itself: where the camera is, what is painted when, and what the pointer does.

import type { Bundled } from "./draw";
import type { Box } from "./box";
import { spotsOf, type Spots } from "./names";
import { paintCount, paintDisc, paintName } from "./paint";
import type { Painted, PaintRequest } from "./paint.worker";
import { lineOf, radiusAt, toGraph, toScreen, UNIT, type Camera, type Scene, type Viewport } from "./scene";

export interface Looks {
  text: string;
  background: string;
  accent: string;
}

export interface Target {
  kind: "vertex" | "edge" | "stage";
  /** Of a vertex or group; of an edge the first one of its bundle. */
  key: string | null;
}

export interface Handlers {
  click: (target: Target, event: PointerEvent) => void;
  double: (target: Target) => void;
  menu: (target: Target, at: { x: number; y: number }) => void;
  moved: (key: string, place: { x: number; y: number }) => void;
  /** The picture could not be painted. */
  failed: (message: string) => void;
}

/** What is painted beyond each side of the window, as a part of it: seen while the picture moves. */
const MARGIN = 0.2;
const SCALE_MIN = 0.002;
const SCALE_MAX = 40;
const CLICK_PX = 4;
/** How near to an edge a click picks it. */
const EDGE_PX = 5;
const LIT_MS = 2200;
const FIT_PADDING = 34;
/** Names beside the outermost vertices need more. */
const FIT_PADDING_X = 84;

const EMPTY: Scene = {
  keys: [], xy: new Float32Array(), sizes: new Float32Array(), looks: new Uint16Array(), nodeLooks: [], names: [], counts: [],
  order: new Uint32Array(), named: new Uint8Array(), edgeKeys: [], ends: new Uint32Array(), edgeLooks: [], edgeLook: new Uint16Array(),
  bends: new Float32Array(), widths: new Float32Array(), edgeNames: [],
};

export class Stage {
  scene: Scene = EMPTY;
  bundled: Bundled = new Map();
  readonly camera: Camera = { x: 0, y: 0, scale: 1 };
  readonly canvas = document.createElement("canvas");
  // Kept in the processor's memory: without a graphics card that is many times faster, with one a
  // frame is still one copy.
  private readonly context = this.canvas.getContext("2d", { willReadFrequently: true })!;
  private readonly worker = new Worker(new URL("./paint.worker.ts", import.meta.url), { type: "module" });
  /** The scale at which everything fits: sizes are measured at it. */
  private fitted = 1;
  private painted: Painted | null = null;
  private isPainting = false;
  private isStale = true;
  private frame = 0;
  private asked = 0;
  private places = new Map<string, number>();
  private selected: string | null = null;
  private picked: ReadonlySet<string> = new Set();
  private hovered: number | null = null;
  private lit: { keys: ReadonlySet<string>; until: number } | null = null;
  private looks: Looks = { text: "#000", background: "#fff", accent: "#00f" };
  private isKilled = false;
  private flight = 0;

  constructor(private readonly container: HTMLElement, private readonly handlers: Handlers, private readonly covered: () => DOMRect[]) {
    container.append(this.canvas);
    this.worker.onmessage = ({ data }: MessageEvent<Painted>) => {
      this.painted?.bitmap.close();
      this.painted = data;
      this.isPainting = false;
      this.canvas.dataset.painted = String(data.id);
      this.redraw();
    };
    this.worker.onerror = (event) => {
      // The next change is painted again.
      this.isPainting = false;
      this.handlers.failed(event.message || "error");
    };
    this.listen();
    this.resize();
  }

  private get ratio(): number {
    return Math.min(2, devicePixelRatio || 1);
  }

  get width(): number {
    return this.container.clientWidth;
  }

  get height(): number {
    return this.container.clientHeight;
  }

  viewport(margin = 0): Viewport {
    return {
      ...this.camera,
      width: this.width * (1 + 2 * margin),
      height: this.height * (1 + 2 * margin),
      radius: radiusAt(this.camera.scale, this.fitted),
      text: this.looks.text,
      background: this.looks.background,
    };
  }

  setScene(scene: Scene, bundled: Bundled, looks: Looks): void {
    this.scene = scene;
    this.bundled = bundled;
    this.looks = looks;
    this.places = new Map(scene.keys.map((key, at) => [key, at]));
    this.hovered = null;
    this.send({ kind: "scene", scene });
    this.stale();
  }

  /** Where a vertex is drawn, in units of the layout. */
  placeOf(key: string): { x: number; y: number } | null {
    const at = this.places.get(key);
    return at === undefined ? null : { x: this.scene.xy[2 * at]!, y: this.scene.xy[2 * at + 1]! };
  }

  has(key: string): boolean {
    return this.places.has(key);
  }

  move(places: Iterable<[string, { x: number; y: number }]>): void {
    for (const [key, { x, y }] of places) {
      const at = this.places.get(key);
      if (at !== undefined) this.scene.xy.set([x, y], 2 * at);
    }
    this.send({ kind: "places", xy: this.scene.xy });
    this.stale();
  }

  mark(selected: string | null, picked: ReadonlySet<string>): void {
    [this.selected, this.picked] = [selected, picked];
    this.redraw();
  }

  /** Lights vertices up for a moment; all others are dim. */
  light(keys: ReadonlySet<string>): void {
    this.lit = keys.size ? { keys, until: performance.now() + LIT_MS } : null;
    this.redraw();
    setTimeout(() => this.redraw(), LIT_MS + 20);
  }

  private send(request: PaintRequest): void {
    if (!this.isKilled) this.worker.postMessage(request);
  }

  private stale(): void {
    this.isStale = true;
    this.redraw();
  }

  resize(): void {
    const { width, height, ratio } = this;
    if (width === 0 || height === 0) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.stale();
  }

  redraw(): void {
    if (this.frame || this.isKilled) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** A frame: the last painting, moved to where the camera is, and what changes with the pointer. */
  private draw(): void {
    if (this.isStale && !this.isPainting) {
      this.isStale = false;
      this.isPainting = true;
      this.send({ kind: "paint", id: ++this.asked, view: this.viewport(MARGIN), ratio: this.ratio });
    }
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    if (!this.painted) return;
    const { view: of, bitmap } = this.painted;
    const now = this.viewport();
    const zoom = now.scale / of.scale;
    const corner = toScreen(now, of.x - of.width / 2 / of.scale, of.y - of.height / 2 / of.scale);
    context.imageSmoothingQuality = "low";
    const isStill = Math.abs(zoom - 1) < 1e-6;
    // At rest pixel lies on pixel.
    const at = isStill ? { x: Math.round(corner.x * ratio) / ratio, y: Math.round(corner.y * ratio) / ratio } : corner;
    context.drawImage(bitmap, at.x, at.y, of.width * zoom, of.height * zoom);
    this.drawMarks(now);
  }

  private drawMarks(view: Viewport): void {
    const { context } = this;
    const isLit = this.lit && this.lit.until > performance.now();
    if (!isLit) this.lit = null;
    if (this.lit) {
      context.globalAlpha = 0.72;
      context.fillStyle = view.background;
      context.fillRect(0, 0, view.width, view.height);
      context.globalAlpha = 1;
      for (const key of this.lit.keys) this.drawMarked(view, key, view.text, 2, true);
    }
    this.drawSelectedEdges(view);
    for (const key of this.picked) this.drawMarked(view, key, this.looks.accent, 3, false);
    if (this.selected !== null) this.drawMarked(view, this.selected, this.looks.accent, 3.5, true);
    const hovered = this.hovered === null ? undefined : this.scene.keys[this.hovered];
    if (hovered !== undefined) this.drawMarked(view, hovered, this.looks.accent, 1.5, true);
  }

  private drawMarked(view: Viewport, key: string, color: string, width: number, isNamed: boolean): void {
    const at = this.places.get(key);
    if (at === undefined) return;
    const { x, y } = toScreen(view, this.scene.xy[2 * at]!, this.scene.xy[2 * at + 1]!);
    const r = view.radius * this.scene.sizes[at]!;
    if (x < -r || y < -r || x > view.width + r || y > view.height + r) return;
    const look = this.scene.nodeLooks[this.scene.looks[at]!]!;
    paintDisc(this.context, x, y, r, { ...look, sign: "" });
    if (this.scene.counts[at]) paintCount(this.context, x, y, r, this.scene.counts[at]!);
    this.context.beginPath();
    this.context.arc(x, y, r + width / 2 + 1, 0, Math.PI * 2);
    this.context.lineWidth = width;
    this.context.strokeStyle = color;
    this.context.stroke();
    const text = this.scene.names[at];
    if (isNamed && text) paintName(this.context, { x: x + r + 6, y, anchor: "start", text, turn: 0 }, 12, view, 600);
  }

  /** The edge that is selected, or those of the vertex that is. */
  private drawSelectedEdges(view: Viewport): void {
    if (this.selected === null) return;
    const own = this.places.get(this.selected);
    const { ends, edgeKeys, bends, xy, sizes } = this.scene;
    this.context.strokeStyle = this.looks.accent;
    for (let at = 0; at < edgeKeys.length; at += 1) {
      const [from, to] = [ends[2 * at]!, ends[2 * at + 1]!];
      const isEdge = own === undefined && (this.bundled.get(edgeKeys[at]!)?.some(({ ref }) => ref === this.selected) ?? false);
      if (!isEdge && from !== own && to !== own) continue;
      const [one, other] = [toScreen(view, xy[2 * from]!, xy[2 * from + 1]!), toScreen(view, xy[2 * to]!, xy[2 * to + 1]!)];
      const line = lineOf(one.x, one.y, view.radius * sizes[from]!, other.x, other.y, view.radius * sizes[to]!, bends[at]!);
      if (!line) continue;
      this.context.lineWidth = isEdge ? 4 : 2;
      this.context.beginPath();
      this.context.moveTo(line.x1, line.y1);
      this.context.quadraticCurveTo(line.cx, line.cy, line.x2, line.y2);
      this.context.stroke();
    }
  }

  // The camera

  /** The part of the window that nothing covers, as large as possible. */
  private free(): { left: number; top: number; right: number; bottom: number } {
    const own = this.container.getBoundingClientRect();
    let free = { left: 0, top: 0, right: this.width, bottom: this.height };
    for (const rect of this.covered()) {
      if (rect.width === 0 || rect.right <= own.left || rect.top >= own.bottom) continue;
      const [right, top] = [rect.right - own.left, rect.top - own.top];
      const beside = { ...free, left: Math.max(free.left, right) };
      const above = { ...free, bottom: Math.min(free.bottom, top) };
      const area = (each: typeof free) => Math.max(0, each.right - each.left) * Math.max(0, each.bottom - each.top);
      const wider = area(beside) >= area(above) ? beside : above;
      if (area(wider) > 0.3 * this.width * this.height) free = wider;
    }
    return free;
  }

  private fitTo(keys: Iterable<number>): Camera {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const at of keys) {
      const r = UNIT * this.scene.sizes[at]!;
      const [x, y] = [this.scene.xy[2 * at]!, this.scene.xy[2 * at + 1]!];
      [left, top, right, bottom] = [Math.min(left, x - r), Math.min(top, y - r), Math.max(right, x + r), Math.max(bottom, y + r)];
    }
    if (left > right) return { ...this.camera };
    const free = this.free();
    const [wide, high] = [free.right - free.left - 2 * FIT_PADDING_X, free.bottom - free.top - 2 * FIT_PADDING];
    const scale = Math.max(SCALE_MIN, Math.min(4, wide / (right - left), high / (bottom - top)));
    const shiftX = (free.left + free.right - this.width) / 2 / scale;
    const shiftY = (free.top + free.bottom - this.height) / 2 / scale;
    return { x: (left + right) / 2 - shiftX, y: (top + bottom) / 2 - shiftY, scale };
  }

  fit(isAnimated = true): void {
    if (this.width === 0) return;
    const target = this.fitTo(this.scene.keys.keys());
    this.fitted = target.scale;
    this.fly(target, isAnimated ? 150 : 0);
  }

  /** Width by height of the part of the window that is free. */
  get aspect(): number {
    const free = this.free();
    return (free.right - free.left - 2 * FIT_PADDING_X) / Math.max(1, free.bottom - free.top - 2 * FIT_PADDING);
  }

  /** Moves the camera, and measures sizes at `fitted`. */
  look({ fitted, ...camera }: Camera & { fitted: number }): void {
    this.fitted = fitted;
    this.fly(camera, 0);
  }

  get fittedScale(): number {
    return this.fitted;
  }

  /** Moves the camera so that these vertices are in the middle, and not far out. */
  center(keys: Iterable<string>): void {
    const found = [...keys].flatMap((key) => this.places.get(key) ?? []);
    if (found.length === 0) return;
    const close = this.fitTo(found);
    const scale = Math.min(Math.max(this.camera.scale, this.fitted), Math.max(close.scale, SCALE_MIN));
    const free = this.free();
    const middle = { x: close.x, y: close.y };
    // The middle of `fitTo` allows for its own scale.
    middle.x += ((free.left + free.right - this.width) / 2) * (1 / close.scale - 1 / scale);
    middle.y += ((free.top + free.bottom - this.height) / 2) * (1 / close.scale - 1 / scale);
    this.fly({ ...middle, scale }, 250);
  }

  zoom(factor: number): void {
    this.fly({ ...this.camera, scale: bounded(this.camera.scale * factor) }, 120);
  }

  private fly(target: Camera, duration: number): void {
    const flight = ++this.flight;
    const from = { ...this.camera };
    const begun = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = () => {
      if (flight !== this.flight || this.isKilled) return;
      const part = still || duration === 0 ? 1 : Math.min(1, (performance.now() - begun) / duration);
      const eased = part * (2 - part);
      this.camera.scale = from.scale * (target.scale / from.scale) ** eased;
      this.camera.x = from.x + (target.x - from.x) * eased;
      this.camera.y = from.y + (target.y - from.y) * eased;
      this.stale();
      if (part < 1) requestAnimationFrame(step);
    };
    step();
  }

  // What is where

  private spots(): Spots {
    return spotsOf(this.scene, this.viewport());
  }

  private vertexAt(x: number, y: number): number | null {
    const view = this.viewport();
    const at = toGraph(view, x, y);
    const { xy, sizes, order } = this.scene;
    for (const index of order) {
      const dx = (xy[2 * index]! - at.x) * view.scale;
      const dy = (xy[2 * index + 1]! - at.y) * view.scale;
      const reach = Math.max(view.radius * sizes[index]!, 4) + 1;
      if (dx * dx + dy * dy <= reach * reach) return index;
    }
    return null;
  }

  private edgeAt(x: number, y: number): string | null {
    const spots = this.spots();
    const { ends, edgeKeys, bends } = this.scene;
    let [best, nearest] = [EDGE_PX, null as string | null];
    for (let at = 0; at < edgeKeys.length; at += 1) {
      const [from, to] = [ends[2 * at]!, ends[2 * at + 1]!];
      const line = lineOf(spots.x[from]!, spots.y[from]!, spots.r[from]!, spots.x[to]!, spots.y[to]!, spots.r[to]!, bends[at]!);
      if (!line) continue;
      const points: [number, number][] = [[line.x1, line.y1]];
      if (line.bent) {
        for (const t of [0.25, 0.5, 0.75]) {
          const u = 1 - t;
          points.push([u * u * line.x1 + 2 * u * t * line.cx + t * t * line.x2, u * u * line.y1 + 2 * u * t * line.cy + t * t * line.y2]);
        }
      }
      points.push([line.x2, line.y2]);
      for (let part = 1; part < points.length; part += 1) {
        const distance = distanceTo(x, y, points[part - 1]!, points[part]!);
        if (distance < best) [best, nearest] = [distance, edgeKeys[at]!];
      }
    }
    return nearest;
  }

  targetAt(x: number, y: number): Target {
    const vertex = this.vertexAt(x, y);
    if (vertex !== null) return { kind: "vertex", key: this.scene.keys[vertex]! };
    const edge = this.edgeAt(x, y);
    return edge === null ? { kind: "stage", key: null } : { kind: "edge", key: edge };
  }

  /** Where a vertex is in the window. */
  screenOf(key: string): { x: number; y: number } | null {
    const place = this.placeOf(key);
    return place ? toScreen(this.viewport(), place.x, place.y) : null;
  }

  /** The vertices whose discs a box of the window touches. */
  touched(box: Box): string[] {
    const { x, y, r } = this.spots();
    return this.scene.keys.filter((_, at) => {
      const outsideX = Math.max(box.left - x[at]!, 0, x[at]! - box.right);
      const outsideY = Math.max(box.top - y[at]!, 0, y[at]! - box.bottom);
      return Math.hypot(outsideX, outsideY) <= r[at]!;
    });
  }

  // The pointer

  private listen(): void {
    const { canvas } = this;
    const pointers = new Map<number, { x: number; y: number }>();
    let dragged: string | null = null;
    let start = { x: 0, y: 0 };
    let hasMoved = false;
    const at = (event: MouseEvent) => {
      const frame = canvas.getBoundingClientRect();
      return { x: event.clientX - frame.left, y: event.clientY - frame.top };
    };
    canvas.addEventListener("pointerdown", (event) => {
      // Only the left button, a finger or a pen drags.
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      start = at(event);
      pointers.set(event.pointerId, start);
      hasMoved = false;
      this.flight += 1;
      const vertex = pointers.size === 1 ? this.vertexAt(start.x, start.y) : null;
      dragged = vertex === null ? null : this.scene.keys[vertex]!;
    });
    canvas.addEventListener("pointermove", (event) => {
      const now = at(event);
      const before = pointers.get(event.pointerId);
      if (!before) return this.hover(now);
      if (!hasMoved && Math.hypot(now.x - start.x, now.y - start.y) < CLICK_PX) return undefined;
      hasMoved = true;
      if (pointers.size === 2) this.pinch(pointers, event.pointerId, now);
      else if (dragged !== null) {
        const place = toGraph(this.viewport(), now.x, now.y);
        this.move([[dragged, place]]);
        this.handlers.moved(dragged, place);
      } else {
        this.camera.x -= (now.x - before.x) / this.camera.scale;
        this.camera.y -= (now.y - before.y) / this.camera.scale;
        this.stale();
      }
      pointers.set(event.pointerId, now);
      return undefined;
    });
    const end = (event: PointerEvent) => {
      if (!pointers.delete(event.pointerId)) return;
      dragged = null;
      if (!hasMoved && event.type === "pointerup") this.handlers.click(this.targetAt(start.x, start.y), event);
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("dblclick", (event) => {
      const { x, y } = at(event);
      this.handlers.double(this.targetAt(x, y));
    });
    canvas.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      const { x, y } = at(event);
      this.handlers.menu(this.targetAt(x, y), { x: event.clientX, y: event.clientY });
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
      this.zoomAt(at(event), Math.exp(-Math.max(-240, Math.min(240, pixels)) * 0.0022));
    }, { passive: false });
  }

  private zoomAt(point: { x: number; y: number }, factor: number): void {
    this.flight += 1;
    const before = toGraph(this.viewport(), point.x, point.y);
    this.camera.scale = bounded(this.camera.scale * factor);
    const after = toGraph(this.viewport(), point.x, point.y);
    this.camera.x += before.x - after.x;
    this.camera.y += before.y - after.y;
    this.stale();
  }

  private pinch(pointers: Map<number, { x: number; y: number }>, id: number, now: { x: number; y: number }): void {
    const [other] = [...pointers].filter(([key]) => key !== id).map(([, place]) => place);
    const before = pointers.get(id);
    if (!other || !before) return;
    const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    this.zoomAt({ x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }, factor);
  }

  private hover(at: { x: number; y: number } | null): void {
    const found = at ? this.vertexAt(at.x, at.y) : null;
    if (found === this.hovered) return;
    this.hovered = found;
    this.canvas.style.cursor = found === null ? "" : "pointer";
    this.redraw();
  }

  kill(): void {
    this.isKilled = true;
    cancelAnimationFrame(this.frame);
    this.worker.terminate();
    this.painted?.bitmap.close();
    this.canvas.remove();
  }
}

function bounded(scale: number): number {
  return Math.min(SCALE_MAX, Math.max(SCALE_MIN, scale));
}

function distanceTo(x: number, y: number, [x1, y1]: [number, number], [x2, y2]: [number, number]): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const part = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / Math.max(1e-9, dx * dx + dy * dy)));
  return Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
}
