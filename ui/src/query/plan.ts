// What `explain()` and `profile()` answer, as lists of steps.

export interface MeasuredStep {
  depth: number;
  name: string;
  millis: number;
  /** Of the time of all steps, from 0 to 1. */
  share: number;
  rows: number | null;
  values: number | null;
}

/** An operator of Cypher; it reads the rows of its children. */
export interface PlanNode {
  name: string;
  details: string;
  children: PlanNode[];
  /** What it is for the operator above it, if that has several. */
  of?: string;
  /** What it did, if the query said PROFILE. */
  measured?: { rows: number; reads: number; millis: number };
}

export type Plan =
  | { kind: "tree"; root: PlanNode }
  | { kind: "explain"; before: string[]; after: string[] }
  | { kind: "profile"; millis: number; steps: MeasuredStep[] };

interface Metrics {
  name?: unknown;
  dur?: unknown;
  counts?: { traverserCount?: unknown; elementCount?: unknown };
  metrics?: unknown;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
}

function measured(list: unknown, whole: number, depth: number): MeasuredStep[] {
  if (!Array.isArray(list)) return [];
  return (list as Metrics[]).flatMap((step) => {
    const millis = numberOf(step.dur) ?? 0;
    const own: MeasuredStep = {
      depth,
      name: String(step.name ?? ""),
      millis,
      share: whole > 0 ? Math.min(1, millis / whole) : 0,
      rows: numberOf(step.counts?.traverserCount),
      values: numberOf(step.counts?.elementCount),
    };
    return [own, ...measured(step.metrics, whole, depth + 1)];
  });
}

/** The plan that an answer is; null if it is another. */
export function planOf(data: unknown): Plan | null {
  const only: unknown = Array.isArray(data) && data.length === 1 ? data[0] : null;
  if (typeof only !== "object" || only === null) return null;
  const { original, final, metrics, dur } = only as Record<string, unknown>;
  if (Array.isArray(original) && Array.isArray(final)) {
    return { kind: "explain", before: original.map(String), after: final.map(String) };
  }
  const millis = numberOf(dur);
  if (!Array.isArray(metrics) || millis === null) return null;
  return { kind: "profile", millis, steps: measured(metrics, millis, 0) };
}

/** The end of a traversal that returns its results. */
const END = /[\s;]+$|\.\s*(?:toList|toSet|next|iterate|explain|profile)\s*\(\s*\)\s*;?\s*$/;

/** The text of a traversal with `explain()` or `profile()` at its end. */
export function withPlan(text: string, kind: "explain" | "profile"): string {
  let rest = text;
  while (END.test(rest)) rest = rest.replace(END, "");
  // A comment in the last line would hide the step.
  const newLine = /\/\/.*$/.test(rest) ? "\n" : "";
  return `${rest}${newLine}.${kind}()`;
}

/** How many operators a plan has. */
export function operators(node: PlanNode): number {
  return node.children.reduce((all, child) => all + operators(child), 1);
}

/** Whether a text is one statement that ends with `explain()`, so that nothing of it runs. */
export function isOnlyExplained(text: string): boolean {
  return /^\s*\w+\s*\./.test(text) && text.endsWith(".explain()") && !/[;\n{]/.test(text.trim());
}
