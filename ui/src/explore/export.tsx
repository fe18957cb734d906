// The graph as a file, at the point that is shown, and the canvas as a picture. The server streams
// the graph; the browser draws the picture.

import { createSignal, For, Show } from "solid-js";
import { t } from "../i18n";
import { messageOf, pathOf } from "../core/http";
import { graph, graphPath } from "../core/server";
import { point, timesOf } from "../core/times";
import { Dialog } from "../parts/dialog";
import { control } from "./canvas";
import { rampAt } from "./emphasis";
import { colorOf, colors, edgeColorOf } from "./look";
import { endsOf, entriesOf } from "./scalekey";
import { scaleOf } from "./scales";
import type { Kind } from "./style";
import { comparing, difference, hiddenLabels, pinPoint, view } from "./state";
import { pngOf, type LegendEntry } from "./svg";
import { pointText } from "../parts/timefields";

interface Format {
  name: string;
  query: Record<string, string>;
  file: string;
}

const FORMATS: Format[] = [
  { name: "CSV (vertices)", query: { format: "csv", elements: "vertices" }, file: "vertices.csv" },
  { name: "CSV (edges)", query: { format: "csv", elements: "edges" }, file: "edges.csv" },
  { name: "Parquet (vertices)", query: { format: "parquet", elements: "vertices" }, file: "vertices.parquet" },
  { name: "Parquet (edges)", query: { format: "parquet", elements: "edges" }, file: "edges.parquet" },
  { name: "Arrow (vertices)", query: { format: "arrow", elements: "vertices" }, file: "vertices.arrow" },
  { name: "Arrow (edges)", query: { format: "arrow", elements: "edges" }, file: "edges.arrow" },
  { name: "JSON Lines", query: { format: "jsonl" }, file: "graph.jsonl" },
  { name: "GraphML", query: { format: "graphml" }, file: "graph.graphml" },
  { name: "GEXF", query: { format: "gexf" }, file: "graph.gexf" },
];

function saveBlob(blob: Blob, file: string): void {
  const link = document.createElement("a");
  link.download = file;
  link.href = URL.createObjectURL(blob);
  link.click();
  URL.revokeObjectURL(link.href);
}

function save(format: Format): void {
  const link = document.createElement("a");
  link.download = `${graph()}-${format.file}`;
  link.href = pathOf(`${graphPath()}/explore/export`, { ...format.query, ...timesOf(pinPoint(point())) });
  link.click();
}

/** What the colours of the canvas say. */
function legend(): LegendEntry[] {
  const look = colors();
  if (difference()) return (["added", "removed", "changed"] as const).map((kind) => ({ name: t(kind), color: look[kind] }));
  const { vertices, edges } = view();
  const labelsOf = (elements: Iterable<{ label: string }>) =>
    [...new Set([...elements].map((element) => element.label))].filter((label) => !hiddenLabels().has(label)).sort();
  return [
    ...labelsOf(vertices.values()).flatMap((name) => entriesOfLabel("vertex", name, colorOf(name))),
    ...labelsOf(edges.values()).flatMap((name) => entriesOfLabel("edge", name, edgeColorOf(name))),
  ];
}

/** The colour of a label, or those of the values of its property. */
function entriesOfLabel(kind: Kind, label: string, color: string): LegendEntry[] {
  const scale = scaleOf(kind, label);
  if (!scale) return [{ name: label, color }];
  const named = (name: string) => `${label}: ${scale.key} ${name}`;
  if (scale.kind === "values") return entriesOf(scale).map((entry) => ({ name: named(entry.name), color: entry.color }));
  const [least, greatest] = endsOf(scale);
  return [{ name: named(least), color: rampAt(0) }, { name: named(greatest), color: rampAt(1) }];
}

async function savePicture(kind: "png" | "svg"): Promise<void> {
  const pair = comparing();
  const at = pair ? t("comparing", { a: pointText(pinPoint(pair.a)), b: pointText(pinPoint(pair.b)) }) : pointText(pinPoint(point()));
  const svg = control()?.svg(`${graph()} · ${at}`, legend());
  if (svg === undefined) return;
  const blob = kind === "png" ? await pngOf(svg) : new Blob([svg], { type: "image/svg+xml" });
  saveBlob(blob, `${graph()}-canvas.${kind}`);
}

export function ExportDialog(props: { close: () => void }) {
  const [failure, setFailure] = createSignal("");
  const start = (work: () => Promise<void>) => {
    work().then(props.close, (error: unknown) => setFailure(messageOf(error)));
  };
  return (
    <Dialog title={t("exportTitle", { graph: graph() })} close={props.close}>
      <p class="quiet">{pointText(pinPoint(point()))}</p>
      <h3>{t("wholeGraph")}</h3>
      <div class="presets export-formats">
        <For each={FORMATS}>
          {(format) => (
            <button class="preset" onClick={() => {
                save(format);
                props.close();
              }}>
              <strong>{format.name}</strong>
            </button>
          )}
        </For>
      </div>
      <Show when={control()}>
        <h3>{t("pictureOf")}</h3>
        <div class="presets export-pictures">
          <For each={["png", "svg"] as const}>
            {(kind) => (
              <button class="preset" onClick={() => start(() => savePicture(kind))}>
                <strong>{kind.toUpperCase()}</strong>
              </button>
            )}
          </For>
        </div>
      </Show>
      <Show when={failure()}>
        <p class="failure" role="alert">{failure()}</p>
      </Show>
    </Dialog>
  );
}
