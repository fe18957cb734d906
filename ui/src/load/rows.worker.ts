// Reads a file in slices and gives its rows, a block at a time, as they are asked for.

import { formatJson, parseJson } from "../core/json";
import { CsvReader } from "./csv";

export interface Block {
  columns: string[];
  rows: { line: number; values: string[] }[];
  /** Bytes that have been read of the file. */
  read: number;
  done: boolean;
}

const BLOCK_ROWS = 2000;

let pull: (() => Promise<Block>) | null = null;

/** Rows of JSON Lines have the columns of the first 100. */
function jsonReader(): { push: (text: string, last: boolean) => void; rows: Block["rows"]; columns: () => string[] } {
  let rest = "";
  let line = 0;
  let columns: string[] = [];
  const waiting: { line: number; object: Record<string, unknown> }[] = [];
  const rows: Block["rows"] = [];
  const text = (value: unknown) => (value === null || value === undefined ? "" : typeof value === "string" ? value : formatJson(value, 0));
  const settle = () => {
    if (columns.length === 0) columns = [...new Set(waiting.flatMap(({ object }) => Object.keys(object)))];
    for (const { line: at, object } of waiting.splice(0)) rows.push({ line: at, values: columns.map((column) => text(object[column])) });
  };
  return {
    rows,
    columns: () => columns,
    push(part, last) {
      const lines = (rest + part).split("\n");
      rest = last ? "" : (lines.pop() ?? "");
      for (const each of lines) {
        line += 1;
        if (!each.trim()) continue;
        try {
          waiting.push({ line, object: parseJson(each) as Record<string, unknown> });
        } catch {
          waiting.push({ line, object: { "?": each } });
        }
      }
      if (last || columns.length > 0 || waiting.length >= 100) settle();
    },
  };
}

function open(file: File): () => Promise<Block> {
  const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
  const isJson = /\.(jsonl|ndjson|json)$/i.test(file.name);
  const csv = new CsvReader(/\.tsv$/i.test(file.name) ? "\t" : undefined);
  const json = jsonReader();
  const rows = isJson ? json.rows : csv.rows;
  let read = 0;
  let ended = false;
  return async () => {
    while (rows.length < BLOCK_ROWS && !ended) {
      const { value, done } = await reader.read();
      ended = done;
      read += value?.length ?? 0;
      if (isJson) json.push(value ?? "", done);
      else csv.push(value ?? "", done);
    }
    const columns = isJson ? json.columns() : csv.columns;
    return { columns, rows: rows.splice(0, BLOCK_ROWS), read: ended ? file.size : Math.min(read, file.size), done: ended && rows.length === 0 };
  };
}

self.onmessage = async (event: MessageEvent<{ file?: File }>) => {
  if (event.data.file) pull = open(event.data.file);
  if (!pull) return;
  try {
    postMessage({ block: await pull() });
  } catch (error) {
    postMessage({ failure: String(error) });
  }
};
