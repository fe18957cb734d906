// JSON with exact whole numbers: those that a double cannot hold become bigint.

interface ReviverContext {
  source?: string;
}

type Reviver = (this: unknown, key: string, value: unknown, context?: ReviverContext) => unknown;

const exact: Reviver = (_key, value, context) => {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const source = context?.source;
    if (source && /^-?\d+$/.test(source)) return BigInt(source);
  }
  return value;
};

/** Whether a number in it may have more digits than a double holds; few answers have one. */
export function mayHoldLong(text: string): boolean {
  return /(^|[:[,])\s*-?\d{16}/.test(text);
}

export function parseJson(text: string): unknown {
  // With a reviver the parser is ten times slower: 100 ms for the answer to a step of a slider.
  return mayHoldLong(text) ? JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]) : JSON.parse(text);
}

/** As JSON, with the digits of bigint as they are. */
export function formatJson(value: unknown, indent = 2): string {
  if (typeof value === "bigint") return String(value);
  const mark = "\u0001";
  const text = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `${mark}${part}` : part), indent);
  return (text ?? "").replace(/"\\u0001(-?\d+)"/g, "$1");
}
