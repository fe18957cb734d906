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

export function parseJson(text: string): unknown {
  return JSON.parse(text, exact as Parameters<typeof JSON.parse>[1]);
}

/** As JSON, with the digits of bigint as they are. */
export function formatJson(value: unknown, indent = 2): string {
  if (typeof value === "bigint") return String(value);
  const mark = "\u0001";
  const text = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `${mark}${part}` : part), indent);
  return (text ?? "").replace(/"\\u0001(-?\d+)"/g, "$1");
}
