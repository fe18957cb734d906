// Where the content of an entity comes from and where it goes, as a picture: a column for each step.

import { createEffect, createMemo, createSignal, For, on, Show } from "solid-js";
import { t } from "../i18n";
import { messageOf } from "../core/http";
import type { Point } from "../core/times";
import type { Edge, Vertex } from "../explore/api";
import { Icon } from "../parts/icon";
import * as api from "./api";

/** The relationships that lineage follows; each runs from its first end to its second. */
const FLOWS = new Set(["LineageMapping", "DataFlow", "ControlFlow", "ProcessCall"]);
/** Entities of a step whose own relationships are read for the next one. */
const FOLLOWED_MAX = 20;

const BOX = { width: 176, height: 44 };
const GAP = { x: 96, y: 14 };
const MARGIN = 8;
/** Letters that fit in a box. */
const LETTERS = 25;

type Side = "from" | "to";

interface Placed {
  vertex: Vertex;
  column: number;
  x: number;
  y: number;
}

function cut(text: string): string {
  const letters = [...text];
  return letters.length <= LETTERS ? text : `${letters.slice(0, LETTERS - 1).join("")}…`;
}

/** The entities one step away on a side that are not known yet. */
function nextOf(refs: ReadonlySet<string>, found: api.Related, side: Side, known: ReadonlySet<string>): Vertex[] {
  const next = new Map<string, Vertex>();
  for (const { label, source, target } of found.edges) {
    const [near, far] = side === "to" ? [source, target] : [target, source];
    const vertex = found.vertices.get(far);
    if (FLOWS.has(label) && refs.has(near) && !known.has(far) && vertex) next.set(far, vertex);
  }
  return [...next.values()];
}

export function Lineage(props: { of: Vertex; found: api.Related; at: Point; step: (ref: string) => void }) {
  const [steps, setSteps] = createSignal<Record<Side, Vertex[][]>>({ from: [], to: [] });
  const [flows, setFlows] = createSignal<Map<string, Edge>>(new Map());
  const [problem, setProblem] = createSignal("");
  const [isCut, setCut] = createSignal(false);
  const note = (edges: readonly Edge[]) => setFlows(new Map([...flows(), ...edges.filter(({ label }) => FLOWS.has(label)).map((edge) => [edge.ref, edge] as const)]));
  createEffect(
    on(() => [props.of.ref, props.found] as const, ([ref, found]) => {
      const first = (side: Side) => {
        const next = nextOf(new Set([ref]), found, side, new Set([ref]));
        return next.length ? [next] : [];
      };
      setFlows(new Map());
      note(found.edges);
      setSteps({ from: first("from"), to: first("to") });
      setCut(found.truncated);
      setProblem("");
    }),
  );
  const known = () => new Set([props.of.ref, ...Object.values(steps()).flat(2).map(({ ref }) => ref)]);
  const further = async (side: Side) => {
    const last = steps()[side].at(-1) ?? [];
    const [of, at] = [props.of.ref, props.at];
    try {
      const followed = last.slice(0, FOLLOWED_MAX).map(({ ref }) => ref);
      const found = await api.related(followed, at);
      if (of !== props.of.ref || at !== props.at || steps()[side].at(-1) !== last) return;
      note(found.edges);
      setCut(isCut() || found.truncated || last.length > followed.length);
      // An empty step says that this is the end.
      setSteps({ ...steps(), [side]: [...steps()[side], nextOf(new Set(followed), found, side, known())] });
      setProblem("");
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const columns = createMemo(() => [...[...steps().from].reverse(), [props.of], ...steps().to]);
  const tallest = () => Math.max(...columns().map((column) => column.length), 1);
  const width = () => columns().length * (BOX.width + GAP.x) - GAP.x + 2 * MARGIN;
  const height = () => tallest() * (BOX.height + GAP.y) - GAP.y + 2 * MARGIN;
  const columnX = (column: number) => MARGIN + column * (BOX.width + GAP.x);
  const placed = createMemo<Placed[]>(() =>
    columns().flatMap((column, at) => {
      const top = (height() - column.length * (BOX.height + GAP.y) + GAP.y) / 2;
      return column.map((vertex, row) => ({ vertex, column: at, x: columnX(at), y: top + row * (BOX.height + GAP.y) }));
    }),
  );
  const lines = () => {
    const places = new Map(placed().map((each) => [each.vertex.ref, each]));
    return [...flows().values()].flatMap((edge) => {
      const [from, to] = [places.get(edge.source), places.get(edge.target)];
      return from && to && from.column < to.column ? [{ edge, from, to }] : [];
    });
  };
  const Further = (of: { side: Side; name: string; icon: "left" | "right" }) => (
    <Show when={steps()[of.side].at(-1)?.length}>
      <button class="icon-button" data-lineage={of.side} onClick={() => void further(of.side)} title={of.name} aria-label={of.name}>
        <Icon name={of.icon} />
      </button>
    </Show>
  );
  return (
    <Show when={steps().from.length || steps().to.length}>
      <h3>{t("lineage")}</h3>
      <div class="lineage">
        <Further side="from" name={t("lineageBefore")} icon="left" />
        <div class="drawing" role="region" tabindex="0" aria-label={t("lineage")}>
          <svg class="lineage-picture" width={width()} height={height()} viewBox={`0 0 ${width()} ${height()}`}>
            <defs>
              <marker id="lineage-arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">
                <path d="M0 0 10 5 0 10z" class="arrow" />
              </marker>
            </defs>
            <For each={lines()}>
              {({ edge, from, to }) => {
                const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x - 1, to.y + BOX.height / 2];
                const bend = Math.max(30, (x2 - x1) / 2);
                return (
                  <g class="lineage-flow">
                    <path class="arc" d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} marker-end="url(#lineage-arrow)" />
                    <text class="arc-name radial-name" x={(x1 + x2) / 2} y={(y1 + y2) / 2 - 6} text-anchor="middle">{edge.label}</text>
                  </g>
                );
              }}
            </For>
            <For each={placed()}>
              {({ vertex, column, x, y }) => {
                const isHere = vertex.ref === props.of.ref;
                const open = () => (isHere ? undefined : props.step(vertex.ref));
                return (
                  <g
                    class="lineage-node" classList={{ here: isHere }} data-column={column} role={isHere ? "img" : "button"} tabindex={isHere ? undefined : 0}
                    onClick={open}
                    onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), open())}
                  >
                    <title>{`${api.titleOf(vertex)}\n${vertex.label}`}</title>
                    <rect x={x} y={y} width={BOX.width} height={BOX.height} rx="8" />
                    <text class="lineage-name" x={x + 10} y={y + 19}>{cut(api.titleOf(vertex))}</text>
                    <text class="lineage-type" x={x + 10} y={y + 35}>{cut(vertex.label)}</text>
                  </g>
                );
              }}
            </For>
            <For each={columns()}>
              {(column, at) => (
                <Show when={column.length === 0}>
                  <text class="lineage-type lineage-end" x={columnX(at())} y={height() / 2 + 4}>{t("lineageEnd")}</text>
                </Show>
              )}
            </For>
          </svg>
        </div>
        <Further side="to" name={t("lineageAfter")} icon="right" />
      </div>
      <Show when={isCut()}>
        <p class="notice">{t("truncated")}</p>
      </Show>
      <Show when={problem()}>
        <p class="failure" role="alert">{problem()}</p>
      </Show>
    </Show>
  );
}
