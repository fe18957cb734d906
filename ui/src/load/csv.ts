// Comma-separated values (RFC 4180), read in pieces of any size.

export class CsvReader {
  columns: string[] = [];
  readonly rows: { line: number; values: string[] }[] = [];
  private field = "";
  private record: string[] = [];
  private inQuotes = false;
  private afterQuote = false;
  private line = 1;
  private recordLine = 1;
  private started = false;

  constructor(private delimiter?: string) {}

  push(text: string, last: boolean): void {
    if (!this.started && text) {
      this.started = true;
      if (text.startsWith("\ufeff")) text = text.slice(1);
      this.delimiter ??= CsvReader.guess(text);
    }
    for (const char of text) this.take(char);
    if (last && (this.field !== "" || this.record.length > 0)) this.endRecord();
  }

  private static guess(text: string): string {
    const head = text.slice(0, Math.max(0, text.indexOf("\n")) || text.length);
    const counts = [",", ";", "\t", "|"].map((char) => [char, head.split(char).length] as const);
    return counts.sort((a, b) => b[1] - a[1])[0]?.[0] ?? ",";
  }

  private take(char: string): void {
    if (char === "\n") this.line += 1;
    if (this.inQuotes) {
      if (char === '"') {
        this.inQuotes = false;
        this.afterQuote = true;
      } else this.field += char;
      return;
    }
    if (char === '"' && (this.field === "" || this.afterQuote)) {
      if (this.afterQuote) this.field += '"';
      this.inQuotes = true;
      this.afterQuote = false;
      return;
    }
    this.afterQuote = false;
    if (char === this.delimiter) {
      this.record.push(this.field);
      this.field = "";
    } else if (char === "\n") this.endRecord();
    else if (char !== "\r") this.field += char;
  }

  private endRecord(): void {
    this.record.push(this.field);
    this.field = "";
    const values = this.record;
    this.record = [];
    if (values.length > 1 || values[0] !== "") {
      if (this.columns.length === 0) this.columns = values.map((name) => name.trim());
      else this.rows.push({ line: this.recordLine, values });
    }
    this.recordLine = this.line;
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
    return isFormula || /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
