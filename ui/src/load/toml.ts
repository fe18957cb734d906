// The TOML of a mapping: sections, keys, values and the comments before them. What a mapping does not
// need (dotted keys, tables below tables, texts of several lines) is refused with its line.

/** A value that is no text: a number, a date, `true`. It stays as it is written. */
export class Plain {
  constructor(readonly text: string) {}
}

export type Value = string | Plain | Value[] | Table;
export type Table = Map<string, Value>;

export interface Entry {
  comments: string[];
  value: Value;
  /** Its text with the comments in and behind it, which is written as long as the value is the same. */
  source?: { text: string; value: string };
}

export interface Section {
  comments: string[];
  /** The name between the brackets; empty before the first of them. */
  name: string;
  /** Whether it is one of several: `[[name]]`. */
  isMember: boolean;
  entries: Map<string, Entry>;
}

export interface Document {
  sections: Section[];
  /** Comments behind the last entry. */
  end: string[];
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  fail(what: string): never {
    const line = this.text.slice(0, this.at).split("\n").length;
    throw new Error(`${line}: ${what}`);
  }

  private take(form: RegExp): string | undefined {
    form.lastIndex = this.at;
    const found = form.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  private get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  document(): Document {
    let section: Section = { comments: [], name: "", isMember: false, entries: new Map() };
    const sections = [section];
    let comments: string[] = [];
    while (!this.isAtEnd) {
      this.take(/[ \t\r]*/y);
      const comment = this.take(/#[^\n]*/y);
      if (comment !== undefined) {
        comments.push(comment.trimEnd());
        this.take(/\n/y);
      } else if (this.take(/\n/y)) {
        comments.push("");
      } else if (this.isAtEnd) {
        break;
      } else if (this.text[this.at] === "[") {
        const header = this.take(/\[\[[ \t]*([\w-]+)[ \t]*\]\]|\[[ \t]*([\w-]+)[ \t]*\]/y) ?? this.fail("this header of a table is not read here");
        section = { comments, name: header.replace(/[[\] \t]/g, ""), isMember: header.startsWith("[["), entries: new Map() };
        sections.push(section);
        comments = this.restOfLine();
        if (comments.length) section.comments.push(...comments);
        comments = [];
      } else {
        const key = this.key();
        const start = this.at;
        const value = this.value();
        if (section.entries.has(key)) this.fail(`the key '${key}' is there twice`);
        this.restOfLine();
        section.entries.set(key, { comments, value, source: { text: this.text.slice(start, this.at).trimEnd(), value: formatValue(value) } });
        comments = [];
      }
    }
    return { sections, end: comments };
  }

  private restOfLine(): string[] {
    this.take(/[ \t\r]*/y);
    const comment = this.take(/#[^\n]*/y)?.trimEnd();
    if (!this.take(/\n/y) && !this.isAtEnd) this.fail("a line with more than one value");
    return comment === undefined ? [] : [comment];
  }

  private key(): string {
    const key = this.take(/[\w-]+/y) ?? this.string() ?? this.fail("a key is missing");
    this.take(/[ \t]*/y);
    if (!this.take(/=/y)) this.fail("only keys of the form `key = value` are read here");
    this.take(/[ \t]*/y);
    return key;
  }

  private string(): string | undefined {
    if (/"""|'''/y.test(this.text.slice(this.at, this.at + 3))) this.fail("texts of several lines are not read here");
    const literal = this.take(/'[^'\n]*'/y);
    if (literal !== undefined) return literal.slice(1, -1);
    const basic = this.take(/"(?:[^"\\\n]|\\.)*"/y);
    return basic === undefined ? undefined : this.unescaped(basic.slice(1, -1));
  }

  private unescaped(text: string): string {
    const short: Record<string, string> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b", '"': '"', "\\": "\\" };
    return text.replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|.)/g, (_, code: string) => {
      if (code.length > 1) return String.fromCodePoint(Math.min(0x10ffff, parseInt(code.slice(1), 16)));
      return short[code] ?? this.fail(`'\\${code}' stands for no letter`);
    });
  }

  /** Spaces, line ends and comments between the members of a list. */
  private space(): void {
    this.take(/(?:[ \t\r\n]|#[^\n]*)*/y);
  }

  private value(): Value {
    const text = this.string();
    if (text !== undefined) return text;
    if (this.take(/\[/y)) return this.list();
    if (this.take(/\{/y)) return this.table();
    const plain = this.take(/\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}[^\s,\]}#]*|[\w+.:-]+/y);
    return new Plain(plain ?? this.fail("a value is missing"));
  }

  private list(): Value[] {
    const found: Value[] = [];
    for (this.space(); !this.take(/\]/y); this.space()) {
      found.push(this.value());
      this.space();
      if (!this.take(/,/y) && this.text[this.at] !== "]") this.fail("a list that does not end");
    }
    return found;
  }

  private table(): Table {
    const found: Table = new Map();
    for (this.space(); !this.take(/\}/y); this.space()) {
      const key = this.key();
      if (found.has(key)) this.fail(`the key '${key}' is there twice`);
      found.set(key, this.value());
      this.space();
      if (!this.take(/,/y) && this.text[this.at] !== "}") this.fail("a table that does not end");
    }
    return found;
  }
}

/** Reads a mapping. The message of its error begins with the line. */
export function parseToml(text: string): Document {
  return new Reader(text).document();
}

const formatKey = (key: string) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

export function formatValue(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value).replace(/\u007f/g, "\\u007f");
  if (value instanceof Plain) return value.text;
  if (value instanceof Map) {
    const members = [...value].map(([key, member]) => `${formatKey(key)} = ${formatValue(member)}`);
    return members.length ? `{ ${members.join(", ")} }` : "{}";
  }
  const members = value.map(formatValue);
  // Tables in a list have a line each.
  if (value.some((member) => member instanceof Map)) return `[\n${members.map((member) => `  ${member},\n`).join("")}]`;
  return `[${members.join(", ")}]`;
}

function formatEntry({ value, source }: Entry): string {
  const text = formatValue(value);
  return source?.value === text ? source.text : text;
}

/** Writes a mapping. What was not changed stays as it was written. */
export function formatToml(document: Document): string {
  const lines: string[] = [];
  for (const { comments, name, isMember, entries } of document.sections) {
    lines.push(...comments);
    if (name) lines.push(isMember ? `[[${name}]]` : `[${name}]`);
    for (const [key, entry] of entries) {
      lines.push(...entry.comments);
      lines.push(`${formatKey(key)} = ${formatEntry(entry)}`);
    }
  }
  return [...lines, ...document.end].join("\n").replace(/\n*$/, "\n");
}
