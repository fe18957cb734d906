// Files that the browser saves.

import { formatJson } from "./json";
import { Told } from "./text";

/** Saves a text under a name. */
export function save(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.click();
  URL.revokeObjectURL(link.href);
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = value instanceof Told ? value.text : typeof value === "object" ? formatJson(value, 0) : String(value);
  // Spreadsheets run what begins like a formula.
  const plain = /^[=+\-@\t]/.test(text) && typeof value === "string" ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Rows as CSV with a header. */
export function csvOf(columns: readonly string[], rows: Iterable<readonly unknown[]>): string {
  return `${[columns, ...rows].map((row) => row.map(cellOf).join(",")).join("\n")}\n`;
}
