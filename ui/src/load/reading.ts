// Opens a file: finds out what it is, and gives its rows in blocks.

import { isGzip, noText } from "./bytes";
import { CsvReader, type Row } from "./csv";
import { JsonReader } from "./jsonl";

export interface Block {
  columns: string[];
  rows: Row[];
  /** Bytes that have been read of the file. */
  read: number;
  done: boolean;
}

const BLOCK_ROWS = 2000;
/** The part of a file that tells its delimiter. */
const HEAD_BYTES = 1024 * 1024;

type Bytes = ReadableStreamDefaultReader<Uint8Array>;

/** Reads at least `wanted` bytes, or all there are. */
async function headOf(reader: Bytes, wanted: number): Promise<{ head: Uint8Array; isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  while (length < wanted && !isWhole) {
    const { value, done } = await reader.read();
    isWhole = done;
    if (value) parts.push(value);
    length += value?.length ?? 0;
  }
  const head = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    head.set(part, at);
    at += part.length;
  }
  return { head, isWhole };
}

/** The bytes of a file, unpacked if it is in gzip, and the number that has been read of it. */
async function bytesOf(file: File): Promise<{ reader: Bytes; read: () => number }> {
  let read = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, control) {
      read += part.length;
      control.enqueue(part);
    },
  });
  const packed = isGzip(new Uint8Array(await file.slice(0, 2).arrayBuffer()));
  const plain = file.stream().pipeThrough(counted);
  const unpacking = () => new DecompressionStream("gzip") as unknown as TransformStream<Uint8Array, Uint8Array>;
  const stream = packed ? plain.pipeThrough(unpacking()) : plain;
  return { reader: stream.getReader(), read: () => read };
}

/** The rows of a file, a block with each call. */
export async function open(file: File): Promise<() => Promise<Block>> {
  const { reader, read } = await bytesOf(file);
  const { head, isWhole } = await headOf(reader, HEAD_BYTES);
  const fault = noText(head);
  if (fault) throw new Error(fault);
  const name = file.name.replace(/\.gz$/i, "");
  const isJson = /\.(jsonl|ndjson|json)$/i.test(name);
  const rows = isJson ? new JsonReader(head, isWhole) : new CsvReader(head, isWhole, /\.tsv$/i.test(name) ? "\t" : ",");
  let isEnded = isWhole;
  return async () => {
    while (rows.rows.length < BLOCK_ROWS && !isEnded) {
      const { value, done } = await reader.read();
      if (value) rows.push(value);
      if (done) rows.end();
      isEnded = done;
    }
    const block = rows.rows.splice(0, BLOCK_ROWS);
    return { columns: rows.columns, rows: block, read: isEnded ? file.size : read(), done: isEnded && rows.rows.length === 0 };
  };
}
