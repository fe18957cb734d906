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

/** Whether this browser tells the digits of a number, so that none is lost. */
export function readsLong(): boolean {
  return parseJson("9007199254740993") !== 9007199254740992;
}

export function parseJson(text: string): unknown {
  // With a reviver the parser is ten times slower: 100 ms for the answer to a step of a slider.
  return mayHoldLong(text) ? JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]) : JSON.parse(text);
}

/** As JSON, with the digits of bigint as they are, and with the sign of a negative zero. */
export function formatJson(value: unknown, indent = 2): string {
  if (typeof value === "bigint") return String(value);
  if (Object.is(value, -0)) return "-0.0";
  const mark = "\u0001";
  const exactly = (part: unknown) => (typeof part === "bigint" ? `${mark}${part}` : Object.is(part, -0) ? `${mark}-0.0` : part);
  const text = JSON.stringify(value, (_, part) => exactly(part), indent);
  return (text ?? "").replace(/"\\u0001(-?\d+(?:\.0)?)"/g, "$1");
}
