// JSON Lines, read in pieces of any size: one object a line, as `varve load` reads them
// (crates/varve/src/load/rows.rs).

import { mayHoldLong, parseJson, readsLong } from "../core/json";
import { BOM, decoded, shown, startsWith } from "./bytes";
import { RECORD_BYTES_MAX, type Row } from "./csv";

/** The rows that name the columns. Others may have further values. */
const ROWS_OF_COLUMNS = 2000;

/** Whether it has a number that is too large for a double. */
function hasInfinite(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasInfinite);
}

/** The object of a line, or why it cannot be read. */
function objectOf(line: string): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (error) {
    return `not a JSON object: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "not a JSON object";
  if (hasInfinite(value)) return "a number is out of range";
  if (mayHoldLong(line) && !readsLong()) return "this browser rounds numbers of so many digits; load the file with varve load";
  return value as Record<string, unknown>;
}

export class JsonReader {
  columns: string[] = [];
  readonly rows: Row[] = [];
  private readonly waiting: { line: number; object?: Record<string, unknown>; text: string; fault?: string }[] = [];
  private rest = new Uint8Array();
  private line = 1;
  private afterReturn = false;

  /** `head` is the first part of the file, or all of it. */
  constructor(head: Uint8Array, isWhole: boolean) {
    this.push(startsWith(head, BOM) ? head.subarray(BOM.length) : head);
    if (isWhole) this.end();
  }

  push(bytes: Uint8Array): void {
    let start = 0;
    bytes.forEach((byte, at) => {
      if (byte === 0x0a && this.afterReturn) start = at + 1;
      else if (byte === 0x0a || byte === 0x0d) {
        this.take(bytes.subarray(start, at));
        this.line += 1;
        start = at + 1;
      }
      this.afterReturn = byte === 0x0d;
    });
    this.keep(bytes.subarray(start));
    if (this.waiting.length >= ROWS_OF_COLUMNS || this.columns.length > 0) this.settle();
  }

  end(): void {
    this.take(new Uint8Array());
    this.settle();
  }

  private keep(bytes: Uint8Array): void {
    const both = new Uint8Array(this.rest.length + bytes.length);
    both.set(this.rest);
    both.set(bytes, this.rest.length);
    this.rest = both;
  }

  private take(end: Uint8Array): void {
    if (this.rest.length) this.keep(end);
    const bytes = this.rest.length ? this.rest : end;
    this.rest = new Uint8Array();
    const line = this.line;
    const text = decoded(bytes);
    if (bytes.length > RECORD_BYTES_MAX) this.waiting.push({ line, text: "", fault: `a line of more than ${RECORD_BYTES_MAX} bytes` });
    else if (text === undefined) this.waiting.push({ line, text: shown(bytes), fault: "not a JSON object: not UTF-8" });
    else if (text.trim()) {
      const object = objectOf(text);
      this.waiting.push(typeof object === "string" ? { line, text, fault: object } : { line, text, object });
    }
  }

  private settle(): void {
    if (this.columns.length === 0) this.columns = [...new Set(this.waiting.flatMap(({ object }) => Object.keys(object ?? {})))];
    for (const { line, object, text, fault } of this.waiting.splice(0)) {
      if (!object) {
        this.rows.push({ line, cells: [text], fault });
        continue;
      }
      const more = Object.entries(object).filter(([name, value]) => value !== null && !this.columns.includes(name));
      const cells = this.columns.map((column) => (Object.hasOwn(object, column) ? (object[column] ?? undefined) : undefined));
      this.rows.push({ line, cells, ...(more.length ? { more: Object.fromEntries(more) } : {}) });
    }
  }
}
