// The graph as a file, at the point that is shown. The server streams it.

import { createSignal, For, Show } from "solid-js";
import { t } from "../i18n";
import { authorization, messageOf, pathOf, send } from "../core/http";
import { graph, graphPath } from "../core/server";
import { point, timesOf } from "../core/times";
import { Dialog } from "../parts/dialog";
import { pointText } from "./timebar";

interface Format {
  name: string;
  query: Record<string, string>;
  file: string;
}

const FORMATS: Format[] = [
  { name: "CSV (vertices)", query: { format: "csv", elements: "vertices" }, file: "vertices.csv" },
  { name: "CSV (edges)", query: { format: "csv", elements: "edges" }, file: "edges.csv" },
  { name: "JSON Lines", query: { format: "jsonl" }, file: "graph.jsonl" },
  { name: "GraphML", query: { format: "graphml" }, file: "graph.graphml" },
  { name: "GEXF", query: { format: "gexf" }, file: "graph.gexf" },
];

async function save(format: Format): Promise<void> {
  const path = `${graphPath()}/explore/export`;
  const query = { ...format.query, ...timesOf(point()) };
  const link = document.createElement("a");
  link.download = `${graph()}-${format.file}`;
  if (authorization() === null) {
    link.href = pathOf(path, query);
    link.click();
    return;
  }
  // A link cannot carry the token: the answer goes through the page's memory.
  const answer = await send(path, { query, accept: "*/*" });
  link.href = URL.createObjectURL(await answer.blob());
  link.click();
  URL.revokeObjectURL(link.href);
}

export function ExportDialog(props: { close: () => void }) {
  const [failure, setFailure] = createSignal("");
  const start = (format: Format) => {
    save(format).then(props.close, (error: unknown) => setFailure(messageOf(error)));
  };
  return (
    <Dialog title={t("exportTitle", { graph: graph() })} close={props.close}>
      <p class="quiet">{pointText(point())}</p>
      <div class="presets export-formats">
        <For each={FORMATS}>
          {(format) => (
            <button class="preset" onClick={() => start(format)}>
              <strong>{format.name}</strong>
            </button>
          )}
        </For>
      </div>
      <Show when={failure()}>
        <p class="failure" role="alert">{failure()}</p>
      </Show>
    </Dialog>
  );
}
