// Sends rows in batches, several at once. A batch that is refused is halved until the rows that are
// wrong stand alone.

import { Failure, send } from "../core/http";
import { graphPath } from "../core/server";
import { formatJson } from "../core/json";
import type { Schema } from "../core/schema";
import { writeCsv } from "./csv";
import { maker, type Body, type Mapping } from "./mapping";
import type { Block } from "./rows.worker";

const BATCH_ROWS = 2000;
const IN_FLIGHT = 4;
const TRIES = 5;

export interface Refused {
  line: number;
  values: string[];
  why: string;
}

export interface Progress {
  read: number;
  size: number;
  loaded: number;
  refused: Refused[];
}

interface Row {
  line: number;
  values: string[];
  body: Body;
}

/** The blocks of a file. */
export class Source {
  private readonly worker = new Worker(new URL("./rows.worker.ts", import.meta.url), { type: "module" });
  private opened = false;

  constructor(readonly file: File) {}

  next(): Promise<Block> {
    return new Promise((resolve, reject) => {
      this.worker.onmessage = (event: MessageEvent<{ block?: Block; failure?: string }>) => {
        if (event.data.block) resolve(event.data.block);
        else reject(new Error(event.data.failure ?? "the file cannot be read"));
      };
      this.worker.onerror = (event) => reject(new Error(event.message));
      this.worker.postMessage(this.opened ? {} : { file: this.file });
      this.opened = true;
    });
  }

  close(): void {
    this.worker.terminate();
  }
}

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis));

/** Sends rows; 503 is tried again, for nothing has happened then. */
async function post(kind: Mapping["kind"], rows: Row[], signal: AbortSignal): Promise<void> {
  const path = `${graphPath()}/graph/${kind === "vertex" ? "vertices" : "edges"}/batch`;
  const body = formatJson(rows.map((row) => row.body), 0);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await send(path, { method: "POST", body, signal });
      return;
    } catch (error) {
      const isBusy = error instanceof Failure && error.status === 503 && error.code !== "VRV-OUTCOME-UNKNOWN";
      if (!isBusy || attempt === TRIES) throw error;
      await wait(500 * attempt);
    }
  }
}

async function load(kind: Mapping["kind"], rows: Row[], progress: Progress, signal: AbortSignal): Promise<void> {
  if (rows.length === 0) return;
  try {
    await post(kind, rows, signal);
    progress.loaded += rows.length;
  } catch (error) {
    const isRowsFault = error instanceof Failure && [400, 404, 413].includes(error.status);
    if (!isRowsFault) throw error;
    if (rows.length === 1) {
      progress.refused.push({ line: rows[0]!.line, values: rows[0]!.values, why: error.message });
      return;
    }
    const half = rows.length >> 1;
    await load(kind, rows.slice(0, half), progress, signal);
    await load(kind, rows.slice(half), progress, signal);
  }
}

function rowsOf(block: Block, make: (values: string[]) => Body, progress: Progress): Row[] {
  const rows: Row[] = [];
  for (const { line, values } of block.rows) {
    try {
      rows.push({ line, values, body: make(values) });
    } catch (error) {
      progress.refused.push({ line, values, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return rows;
}

/** Checks the first rows against mapping and schema; nothing is sent. */
export async function dryRun(file: File, schema: Schema, mapping: Mapping): Promise<Progress> {
  const source = new Source(file);
  const progress: Progress = { read: 0, size: file.size, loaded: 0, refused: [] };
  try {
    const block = await source.next();
    const rows = rowsOf({ ...block, rows: block.rows.slice(0, 1000) }, maker(schema, mapping), progress);
    return { ...progress, loaded: rows.length };
  } finally {
    source.close();
  }
}

/** Loads the file; tells how far it is after each batch. */
export async function run(file: File, schema: Schema, mapping: Mapping, tell: (progress: Progress) => void, signal: AbortSignal): Promise<Progress> {
  const source = new Source(file);
  const make = maker(schema, mapping);
  const progress: Progress = { read: 0, size: file.size, loaded: 0, refused: [] };
  const working = new Set<Promise<void>>();
  let failure: unknown;
  try {
    for (;;) {
      const block = await source.next();
      const rows = rowsOf(block, make, progress);
      progress.read = block.read;
      for (let start = 0; start < rows.length; start += BATCH_ROWS) {
        while (working.size >= IN_FLIGHT) await Promise.race(working);
        if (failure !== undefined) throw failure;
        signal.throwIfAborted();
        const part = load(mapping.kind, rows.slice(start, start + BATCH_ROWS), progress, signal)
          .catch((error: unknown) => {
            failure ??= error;
          })
          .finally(() => {
            working.delete(part);
            tell({ ...progress });
          });
        working.add(part);
      }
      if (block.done) break;
    }
    await Promise.all(working);
    if (failure !== undefined) throw failure;
    progress.refused.sort((a, b) => a.line - b.line);
    return progress;
  } finally {
    source.close();
  }
}

/** Refused rows as a file to correct and load again. */
export function refusedCsv(columns: string[], refused: Refused[]): string {
  return writeCsv([[...columns, "~why"], ...refused.map((row) => [...row.values, row.why])]);
}
