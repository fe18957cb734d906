// The labels as a graph: vertex labels on a circle, edge labels between them.

import { createMemo, For } from "solid-js";
import { t } from "../i18n";
import type { EdgeLabel, Schema } from "../core/schema";
import { colorOf } from "../explore/look";

const WIDTH = 900;
const HEIGHT = 480;

interface Place {
  x: number;
  y: number;
}

interface Arc {
  label: EdgeLabel;
  path: string;
  textX: number;
  textY: number;
}

function arcOf(label: EdgeLabel, from: Place, to: Place, index: number): Arc {
  if (from === to) {
    const size = 34 + index * 16;
    const path = `M${from.x - 14} ${from.y - 20} C ${from.x - size} ${from.y - size * 2}, ${from.x + size} ${from.y - size * 2}, ${from.x + 14} ${from.y - 20}`;
    return { label, path, textX: from.x, textY: from.y - size * 1.55 - 4 };
  }
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const bend = 24 + index * 30;
  const [mx, my] = [(from.x + to.x) / 2 - (dy / length) * bend, (from.y + to.y) / 2 + (dx / length) * bend];
  const cut = 26 / length;
  const [sx, sy, ex, ey] = [from.x + dx * cut, from.y + dy * cut, to.x - dx * cut, to.y - dy * cut];
  return { label, path: `M${sx} ${sy} Q ${mx} ${my} ${ex} ${ey}`, textX: (mx + (from.x + to.x) / 2) / 2, textY: (my + (from.y + to.y) / 2) / 2 };
}

export function SchemaGraph(props: { schema: Schema; counts: Map<string, string> }) {
  const places = createMemo(() => {
    const labels = props.schema.vertexlabels;
    const found = new Map<string, Place>();
    labels.forEach((label, index) => {
      const angle = (2 * Math.PI * index) / labels.length - Math.PI / 2;
      const alone = labels.length === 1;
      found.set(label.name, {
        x: WIDTH / 2 + (alone ? 0 : Math.cos(angle) * 320),
        y: HEIGHT / 2 + 20 + (alone ? 0 : Math.sin(angle) * 165),
      });
    });
    return found;
  });
  const arcs = createMemo(() => {
    const between = new Map<string, number>();
    return props.schema.edgelabels.flatMap((label) => {
      const [from, to] = [places().get(label.source_label), places().get(label.target_label)];
      if (!from || !to) return [];
      const pair = [label.source_label, label.target_label].join(" ");
      const index = between.get(pair) ?? 0;
      between.set(pair, index + 1);
      return [arcOf(label, from, to, index)];
    });
  });
  return (
    <svg class="schema-graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t("schemaGraphLabel", { vertices: places().size, edges: arcs().length })}>
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
          <path d="M0 0 8 4 0 8z" class="arrow" />
        </marker>
      </defs>
      <For each={arcs()}>
        {(arc) => (
          <g>
            <path d={arc.path} class="arc" marker-end="url(#arrow)" />
            <text x={arc.textX} y={arc.textY} text-anchor="middle" class="arc-name">
              {arc.label.name} {props.counts.get(`e ${arc.label.name}`) ?? ""}
            </text>
          </g>
        )}
      </For>
      <For each={[...places()]}>
        {([name, place]) => (
          <g>
            <circle cx={place.x} cy={place.y} r="22" fill={colorOf(name)} />
            <text x={place.x} y={place.y + 38} text-anchor="middle" class="label-name">
              {name}
            </text>
            <text x={place.x} y={place.y + 4} text-anchor="middle" class="label-count">
              {props.counts.get(`v ${name}`) ?? ""}
            </text>
          </g>
        )}
      </For>
    </svg>
  );
}
