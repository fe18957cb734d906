// Records of CSV (RFC 4180), read in pieces of any size. `varve load` has the same reader in
// crates/varve/src/load/records.rs and delimiter.rs; both are tested with test/reading.json.

import { BOM, decoded, shown, startsWith } from "./bytes";

/** A row of a file. A cell is a text of CSV or a value of JSON; undefined if it has none. */
export interface Row {
  line: number;
  cells: unknown[];
  /** Values of JSON besides those of the columns. */
  more?: Record<string, unknown>;
  /** Why the row cannot be read. */
  fault?: string;
}

const QUOTE = 0x22;
const RETURN = 0x0d;
const FEED = 0x0a;
/** The longest record that is read, in bytes. */
export const RECORD_BYTES_MAX = 64 * 1024 * 1024;
const BEHIND = "text follows the closing quotation mark of a cell; double the marks within a cell";
const CANDIDATES = [",", ";", "\t", "|"];
const RECORDS_LOOKED_AT = 20;

enum At {
  Start,
  Plain,
  Quoted,
  Closed,
}

export class CsvRecords {
  readonly rows: Row[] = [];
  private at = At.Start;
  private text = new Uint8Array(256);
  private length = 0;
  private ends: number[] = [];
  private isEmpty = true;
  private fault?: string;
  private line = 1;
  private firstLine = 1;
  private textLine = 1;
  /** Whether the byte before was a carriage return that ended a line. */
  private afterReturn = false;
  private readonly delimiter: number;

  constructor(delimiter: string) {
    this.delimiter = delimiter.charCodeAt(0);
  }

  /** Takes the next bytes of the file, the first ones without a byte order mark. */
  push(bytes: Uint8Array): void {
    for (const byte of bytes) this.take(byte);
  }

  /** Ends the last record, if it has no line end. */
  end(): void {
    if (!this.isEmpty) this.endRecord();
  }

  private take(byte: number): void {
    const isSecond = byte === FEED && this.afterReturn;
    this.afterReturn = byte === RETURN && !isSecond;
    if (this.at !== At.Quoted && (byte === RETURN || byte === FEED)) {
      if (isSecond) return;
      this.line += 1;
      if (this.isEmpty) this.firstLine = this.line;
      else this.endRecord();
      return;
    }
    this.isEmpty = false;
    if (this.at === At.Quoted) {
      if (byte === QUOTE) {
        this.at = At.Closed;
        return;
      }
      if (byte === RETURN || byte === FEED) this.line += isSecond ? 0 : 1;
      else this.textLine = this.line;
      this.keep(byte);
    } else if (byte === QUOTE && (this.at === At.Start || this.at === At.Closed)) {
      if (this.at === At.Closed) this.keep(byte);
      this.at = At.Quoted;
    } else if (byte === this.delimiter) {
      this.ends.push(this.length);
      this.at = At.Start;
    } else {
      if (this.at === At.Closed) this.fault ??= BEHIND;
      this.at = At.Plain;
      this.keep(byte);
    }
  }

  private keep(byte: number): void {
    if (this.length === RECORD_BYTES_MAX) {
      this.fault ??= `a row of more than ${RECORD_BYTES_MAX} bytes`;
      return;
    }
    if (this.length === this.text.length) {
      const longer = new Uint8Array(this.text.length * 2);
      longer.set(this.text);
      this.text = longer;
    }
    this.text[this.length] = byte;
    this.length += 1;
  }

  private endRecord(): void {
    if (this.at === At.Quoted) {
      const more = this.textLine - this.firstLine;
      this.fault = `a quotation mark is not closed: the rest of the file, ${more} more lines, is in one cell`;
    }
    let start = 0;
    const cells = [...this.ends, this.length].map((end, at) => {
      const bytes = this.text.subarray(start, end);
      start = end;
      const cell = decoded(bytes);
      if (cell === undefined) this.fault ??= `column ${at + 1} is not UTF-8`;
      return cell ?? shown(bytes);
    });
    this.rows.push({ line: this.firstLine, cells, fault: this.fault });
    this.at = At.Start;
    this.length = 0;
    this.ends = [];
    this.isEmpty = true;
    this.fault = undefined;
    this.firstLine = this.line;
    this.textLine = this.line;
  }
}

/**
 * The delimiter of a file that begins with `head`. One fits if it gives all first records the same number of cells,
 * at least two. Among several that fit, `usual` goes first. If none fits, the header decides.
 */
export function delimiterOf(head: Uint8Array, isWhole: boolean, usual: string): string {
  const widths = CANDIDATES.map((candidate) => ({ candidate, of: widthsOf(head, isWhole, candidate) }));
  const inHeader = (of: number[]) => (of[0] ?? 0) > 1;
  const fits = (of: number[]) => inHeader(of) && of.every((width) => width === of[0]);
  for (const isLikely of [fits, inHeader]) {
    const found = widths.filter(({ of }) => isLikely(of)).map(({ candidate }) => candidate);
    if (found.length === 1) return found[0]!;
    if (found.includes(usual)) return usual;
    if (found.length > 1) throw new Error(`its columns may be separated by any of ${JSON.stringify(found)}; load it with varve load, and name one as delimiter in the mapping`);
  }
  return usual;
}

/** The number of cells of each of the first records. */
function widthsOf(head: Uint8Array, isWhole: boolean, delimiter: string): number[] {
  const records = new CsvRecords(delimiter);
  const lines = 4096;
  for (let at = 0; at < head.length && records.rows.length <= RECORDS_LOOKED_AT; at += lines) records.push(head.subarray(at, at + lines));
  records.end();
  const widths = records.rows.slice(0, RECORDS_LOOKED_AT + 1).map((row) => (row.fault ? 0 : row.cells.length));
  // The head may end within the last record.
  if (widths.length > RECORDS_LOOKED_AT || (!isWhole && widths.length > 1)) widths.pop();
  return widths;
}

/** The rows of a CSV file, below its header. */
export class CsvReader {
  columns: string[] = [];
  readonly rows: Row[] = [];
  private readonly records: CsvRecords;

  /** `head` is the first part of the file, or all of it. */
  constructor(head: Uint8Array, isWhole: boolean, usual: string) {
    const text = startsWith(head, BOM) ? head.subarray(BOM.length) : head;
    this.records = new CsvRecords(delimiterOf(text, isWhole, usual));
    this.push(text);
    if (isWhole) this.end();
  }

  push(bytes: Uint8Array): void {
    this.records.push(bytes);
    this.move();
  }

  end(): void {
    this.records.end();
    this.move();
    if (this.columns.length === 0) throw new Error("it is empty, without a header");
  }

  private move(): void {
    for (const row of this.records.rows.splice(0)) {
      if (this.columns.length === 0) this.readHeader(row);
      else this.rows.push(this.rowOf(row));
    }
  }

  private readHeader({ cells, fault }: Row): void {
    if (fault) throw new Error(`the header: ${fault}`);
    this.columns = cells.map((name) => String(name).trim());
    const twice = this.columns.find((name, at) => this.columns.indexOf(name) !== at);
    if (twice !== undefined) throw new Error(`column '${twice}': twice in the header`);
  }

  private rowOf({ line, cells, fault }: Row): Row {
    const [found, expected] = [cells.length, this.columns.length];
    const width = found === expected ? undefined : `${found} columns, but the header names ${expected}`;
    return { line, cells: cells.map((cell) => (cell === "" ? undefined : cell)), fault: fault ?? width };
  }
}

/**
 * Rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe; a number does
 * not.
 */
export function writeCsv(rows: string[][]): string {
  const isNumber = (text: string) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
  const cell = (text: string) => {
    const isFormula = /^[=+\-@\t\r]/.test(text) && !isNumber(text);
    const safe = isFormula ? `'${text}` : text;
    return isFormula || /[",;|\t\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
