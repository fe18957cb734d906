// What a file is, by its first bytes: a text in UTF-8, packed with gzip or not, or none. The same
// rule as in crates/varve/src/load/mapping.rs.

/** The bytes that may begin a text in UTF-8. */
export const BOM = [0xef, 0xbb, 0xbf];
const HEAD_BYTES = 1024;

export function startsWith(bytes: Uint8Array, wanted: readonly number[]): boolean {
  return wanted.every((byte, at) => bytes[at] === byte);
}

export const isGzip = (head: Uint8Array) => startsWith(head, [0x1f, 0x8b]);

/** Why a file that begins so is no text in UTF-8. */
export function noText(head: Uint8Array): string | undefined {
  if (startsWith(head, [0xff, 0xfe]) || startsWith(head, [0xfe, 0xff])) return "it is UTF-16; save it as UTF-8";
  if (startsWith(head, [0x50, 0x4b, 3, 4])) return "it is a ZIP archive or a workbook; unpack it, or save the sheet as CSV";
  if (startsWith(head, [0x50, 0x41, 0x52, 0x31])) return "it is a Parquet file; export it as CSV or JSON Lines";
  if (head.subarray(0, HEAD_BYTES).includes(0)) return "it is binary or in UTF-16, not a text in UTF-8";
  return undefined;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text of bytes; undefined if they are not UTF-8. */
export function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text of bytes, with a mark for each that is not UTF-8. */
export const shown = (bytes: Uint8Array) => lossy.decode(bytes);
