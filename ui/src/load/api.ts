// Uploads files, asks for a drafted mapping, and loads: `…/load` of the server, which reads files as
// `varve load` does.

import { call, send, wrote } from "../core/http";
import { parseJson } from "../core/json";

export interface Column {
  name: string;
  type: string;
  date_formats?: string[];
  empty: number;
  nulls?: Record<string, number>;
  why_text?: string;
}

export interface FileRead {
  file: string;
  found: string[];
  rows_read: number;
  has_more: boolean;
  rows_refused: number;
  columns: Column[];
  rows: { line: number; cells: (string | null)[] }[];
}

export interface Note {
  file: string;
  column?: string;
  text: string;
}

export interface Drafted {
  mapping: string;
  files: FileRead[];
  unsure: Note[];
}

export interface Refused {
  file: string;
  line: number;
  reason: string;
}

export interface Progress {
  /** The file that is being read, and where. */
  file: string | null;
  line: number;
  input: number;
  inputs: number;
  loaded: number;
  refused: number;
}

export interface End {
  dry_run: boolean;
  elements: number;
  states: number;
  replaced: number;
  refused: number;
  inputs: { file: string; kind: string; label: string; loaded: number; refused: number }[];
  /** Why the load ended early. */
  message?: string;
}

const PIECE_BYTES = 4 * 1024 * 1024;

/** Sends a file in pieces; says how many bytes are there after each. */
export async function upload(graphPath: string, file: File, tell: (bytes: number) => void, signal: AbortSignal): Promise<void> {
  const path = `${graphPath}/load/files/${encodeURIComponent(file.name)}`;
  for (let offset = 0; offset === 0 || offset < file.size; offset += PIECE_BYTES) {
    const piece = await file.slice(offset, offset + PIECE_BYTES).arrayBuffer();
    await send(path, { method: "PUT", query: { offset }, body: piece, signal });
    tell(Math.min(offset + PIECE_BYTES, file.size));
  }
}

/** Removes the files that were uploaded before. */
export async function forget(graphPath: string): Promise<void> {
  await send(`${graphPath}/load/files`, { method: "DELETE" });
}

export function infer(graphPath: string, files: string[], signal: AbortSignal): Promise<Drafted> {
  return call<Drafted>(`${graphPath}/load/infer`, { method: "POST", body: { files }, signal });
}

type Line = { progress?: Progress; refused?: Refused; done?: End; failed?: End };

/** Loads the uploaded files by a mapping, or tries it. */
export async function load(
  graphPath: string,
  mapping: string,
  dry: boolean,
  tell: (progress: Progress | null, refused: Refused[]) => void,
  signal: AbortSignal,
): Promise<End> {
  try {
    const query = { dry_run: dry };
    const answer = await send(`${graphPath}/load`, { method: "POST", query, body: { mapping }, accept: "*/*", signal });
    return await endOf(answer, tell);
  } finally {
    // A load that was stopped has stored a part.
    if (!dry) wrote();
  }
}

/** Follows the lines of a load to their end. */
async function endOf(answer: Response, tell: (progress: Progress | null, refused: Refused[]) => void): Promise<End> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
  const refused: Refused[] = [];
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines.filter((line) => line !== "")) {
      const line = parseJson(text) as Line;
      if (line.refused) refused.push(line.refused);
      if (line.progress) tell(line.progress, [...refused]);
      const end = line.done ?? line.failed;
      if (end) {
        tell(null, [...refused]);
        return end;
      }
    }
    if (done) throw new Error("the load was cut off");
  }
}

/** Refused rows as a file. A text that a spreadsheet would take for a formula gets an apostrophe. */
export function refusedCsv(rows: Refused[]): string {
  const cell = (text: string) => {
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\t\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = rows.map((row) => [cell(row.file), row.line, cell(row.reason)].join(","));
  return ["file,line,reason", ...lines].join("\n") + "\n";
}
