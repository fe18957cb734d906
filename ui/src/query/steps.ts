// The steps of a Gremlin plan as a tree. The server writes a step as Rust's debug text:
// `Expand { direction: Some(Out), labels: ["knows"], to: Vertices }`.

import type { PlanNode } from "./plan";

/** A value of a debug text. */
type Value =
  | { kind: "atom"; text: string }
  | { kind: "list"; items: Value[] }
  | { kind: "named"; name: string; fields: [string, Value][] };

const NUMBER_OR_NAME = /[\w.:+-]+/y;
const SPACE = /\s*/y;

class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  /** The value that the whole text is. Throws if it is none. */
  whole(): Value {
    const value = this.value();
    this.space();
    if (this.at < this.text.length) throw new SyntaxError("not a step");
    return value;
  }

  private space(): void {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    this.at = SPACE.lastIndex;
  }

  private take(sign: string): boolean {
    this.space();
    if (!this.text.startsWith(sign, this.at)) return false;
    this.at += sign.length;
    return true;
  }

  private word(): string {
    this.space();
    NUMBER_OR_NAME.lastIndex = this.at;
    const found = NUMBER_OR_NAME.exec(this.text)?.[0];
    if (found === undefined) throw new SyntaxError("not a step");
    this.at += found.length;
    return found;
  }

  private quoted(): Value {
    const start = this.at - 1;
    while (this.at < this.text.length && this.text[this.at] !== '"') this.at += this.text[this.at] === "\\" ? 2 : 1;
    this.at += 1;
    return { kind: "atom", text: this.text.slice(start, this.at) };
  }

  private until(end: string): Value[] {
    const items: Value[] = [];
    while (!this.take(end)) {
      items.push(this.value());
      if (!this.take(",") && !this.take(":")) {
        if (!this.take(end)) throw new SyntaxError("not a step");
        break;
      }
    }
    return items;
  }

  private fields(): [string, Value][] {
    const fields: [string, Value][] = [];
    while (!this.take("}")) {
      const name = this.word().replace(/:$/, "");
      this.take(":");
      fields.push([name, this.value()]);
      this.take(",");
    }
    return fields;
  }

  private value(): Value {
    if (this.take('"')) return this.quoted();
    if (this.take("[")) return { kind: "list", items: this.until("]") };
    if (this.take("(")) return { kind: "list", items: this.until(")") };
    if (this.take("{")) return { kind: "list", items: this.until("}") };
    const name = this.word();
    if (this.take("{")) return { kind: "named", name, fields: this.fields() };
    if (this.take("(")) return { kind: "named", name, fields: this.until(")").map((value): [string, Value] => ["", value]) };
    return { kind: "atom", text: name };
  }
}

/** What only says which kind of value follows. */
const PLAIN = new Set(["Some", "Text", "Int", "Long", "Float", "Double", "Bool", "Key", "Value", "Child", "Test", "List", "Fused", "Modulator", "Condition", "Property"]);
/** Not worth a word: what a step has unless it says something else. */
const USUAL = new Set(["None", "false", "Global", "18446744073709551615", ""]);
const UNNAMED = new Set(["predicate", "test", "key", "value"]);
const SIGNS: Record<string, string> = { Eq: "=", Neq: "≠", Gt: ">", Gte: "≥", Lt: "<", Lte: "≤" };

/** A value as a text for people; empty if there is nothing to say. */
function textOf(value: Value): string {
  if (value.kind === "atom") return USUAL.has(value.text) ? "" : (SIGNS[value.text] ?? value.text);
  if (value.kind === "list") return value.items.map(textOf).filter(Boolean).join(", ");
  if (value.name === "Plan") return "";
  const inner = value.fields
    .map(([name, part]) => {
      const text = textOf(part);
      if (text === "true") return name;
      return text && name && !UNNAMED.has(name) ? `${name} ${text}` : text;
    })
    .filter(Boolean)
    .join(" ");
  if (PLAIN.has(value.name)) return inner;
  const sign = SIGNS[value.name] ?? value.name;
  return inner ? `${sign} ${inner}` : sign;
}

/** The plans inside a value, each with the name of the field that it is in. */
function plansIn(value: Value, field = ""): { field: string; steps: Value[] }[] {
  if (value.kind === "atom") return [];
  if (value.kind === "list") return value.items.flatMap((item) => plansIn(item, field));
  if (value.name === "Plan") {
    const ops = value.fields.find(([name]) => name === "ops")?.[1];
    return [{ field, steps: ops?.kind === "list" ? ops.items : [] }];
  }
  return value.fields.flatMap(([name, part]) => plansIn(part, name || field));
}

/** `Repeat(Repeat { … })` is one step. */
function bare(value: Value): Value {
  const inner = value.kind === "named" && value.fields.length === 1 && value.fields[0]![0] === "" ? value.fields[0]![1] : null;
  return inner?.kind === "named" && inner.name !== "Plan" && value.kind === "named" && (value.name === inner.name || value.name === "Fused" || value.name === "Write") ? inner : value;
}

function nodeOf(step: Value, before: PlanNode[]): PlanNode {
  const value = bare(step);
  if (value.kind !== "named") return { name: textOf(value), details: "", children: before };
  const details = value.fields.map(([name, part]) => {
    const text = textOf(part);
    if (text === "true") return name;
    return text && name && !UNNAMED.has(name) ? `${name}: ${text}` : text;
  });
  const inner = plansIn(value).map(({ field, steps }) => ({ ...chainOf(steps, []), of: field }));
  return { name: value.name, details: details.filter(Boolean).join(" · "), children: [...before, ...inner] };
}

/** The last step, and below it those that it reads. */
function chainOf(steps: readonly Value[], before: PlanNode[]): PlanNode {
  const last = steps.at(-1);
  if (!last) return { name: "Identity", details: "", children: before };
  return nodeOf(last, steps.length > 1 ? [chainOf(steps.slice(0, -1), before)] : before);
}

/** A step that is no debug text stays as it is. */
function read(step: string): Value {
  try {
    return new Reader(step).whole();
  } catch {
    return { kind: "atom", text: step };
  }
}

/** The steps of a plan as a tree, the last one on top. */
export function treeOf(steps: readonly string[]): PlanNode {
  return chainOf(steps.map(read), []);
}

/** A step as its name and what it is told, in one line. */
export function stepText(step: string): { name: string; details: string } {
  const { name, details } = nodeOf(read(step), []);
  return { name, details };
}
