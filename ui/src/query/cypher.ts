// Cypher for the editor: what words are, and what may come next.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { StreamParser } from "@codemirror/language";
import { graph } from "../core/server";
import { readSchema, schema } from "../core/schema";
import { askCypher } from "./cypherapi";

const CLAUSES = [
  "MATCH", "OPTIONAL MATCH", "WHERE", "RETURN", "RETURN DISTINCT", "WITH", "UNWIND", "ORDER BY", "SKIP", "LIMIT", "UNION", "UNION ALL",
  "CREATE", "MERGE", "ON CREATE SET", "ON MATCH SET", "SET", "REMOVE", "DELETE", "DETACH DELETE", "FOREACH", "CALL", "YIELD", "EXPLAIN",
  "FOR VALID_TIME AS OF", "FOR SYSTEM_TIME AS OF", "FOR VALID_TIME FROM", "CREATE INDEX", "CREATE CONSTRAINT", "DROP INDEX", "DROP CONSTRAINT",
  "SHOW FUNCTIONS", "SHOW PROCEDURES", "SHOW INDEXES", "SHOW CONSTRAINTS", "SHOW DATABASES",
];
const OPERATORS = [
  "AND", "OR", "XOR", "NOT", "IN", "AS", "IS NULL", "IS NOT NULL", "STARTS WITH", "ENDS WITH", "CONTAINS", "CASE", "WHEN", "THEN", "ELSE",
  "END", "EXISTS", "COUNT", "COLLECT", "ASC", "DESC", "DISTINCT", "true", "false", "null", "shortestPath", "allShortestPaths", "ANY", "ALL",
  "NONE", "SINGLE",
];
const OTHER = ["PROFILE", "TO", "IF", "REQUIRE", "UNIQUE", "DETACH", "OPTIONAL", "BY", "ON", "IS", "OF", "FOR", "VALID_TIME", "SYSTEM_TIME", "STARTS", "ENDS", "SHOW", "FINISH"];
const KEYWORDS = new Set([...CLAUSES, ...OPERATORS, ...OTHER].flatMap((words) => words.split(" ")).map((word) => word.toUpperCase()));

export interface CypherState {
  /** What ends the comment or the quoted part that a line began in; null outside of them. */
  inside: "*/" | "'" | '"' | "`" | null;
}

/** Passes over a comment, a text or a quoted name, up to its end or that of the line. */
function pass(stream: Parameters<StreamParser<CypherState>["token"]>[0], state: CypherState): string | null {
  const end = state.inside ?? "";
  while (!stream.eol()) {
    if (stream.match(end)) {
      state.inside = null;
      break;
    }
    if (stream.next() === "\\" && (end === "'" || end === '"')) stream.next();
  }
  return end === "*/" ? "comment" : end === "`" ? null : "string";
}

export const cypher: StreamParser<CypherState> = {
  name: "cypher",
  startState: () => ({ inside: null }),
  token(stream, state) {
    if (state.inside) return pass(stream, state);
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    const open = stream.match(/^(?:\/\*|["'`])/) as RegExpMatchArray | null;
    if (open) {
      state.inside = open[0] === "/*" ? "*/" : (open[0] as CypherState["inside"]);
      return pass(stream, state);
    }
    if (stream.match(/^\d[\w.]*/)) return "number";
    if (stream.match(/^\$\w+/)) return "atom";
    // A name after `.` or `:` is a key, a label or a type, whatever its letters.
    const isName = /[.:|&!]\s*$/.test(stream.string.slice(0, stream.pos));
    const word = stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u) as RegExpMatchArray | null;
    if (word) return !isName && KEYWORDS.has(word[0].toUpperCase()) ? "keyword" : null;
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
};

/** A name as a text of Cypher has it. */
export function quoted(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `\`${name.replace(/`/g, "``")}\``;
}

const named = (name: string, type: string, detail?: string): Completion => ({ label: name, apply: quoted(name), type, detail });

const labels = (): Completion[] => {
  // The label of a vertex in an open graph is all labels of its node.
  const all = (schema()?.vertexlabels ?? []).flatMap(({ name }) => name.split("::"));
  return [...new Set(all)].map((name) => named(name, "class"));
};
const types = (): Completion[] => (schema()?.edgelabels ?? []).map(({ name }) => named(name, "interface"));
const keys = (): Completion[] => (schema()?.propertykeys ?? []).map((key) => named(key.name, "property", key.data_type));

interface Called {
  functions: Completion[];
  procedures: Completion[];
}

const called = new Map<string, Promise<Called>>();

/** The functions and procedures of a graph, which are asked for once. */
function callable(name: string): Promise<Called> {
  const held = called.get(name);
  if (held) return held;
  const list = async (what: string, type: string): Promise<Completion[]> => {
    const { rows } = await askCypher(name, `SHOW ${what} YIELD name RETURN name`);
    return rows.map((row) => ({ label: String(row.name), apply: `${String(row.name)}(`, type }));
  };
  const asked = Promise.all([list("FUNCTIONS", "function"), list("PROCEDURES", "method")]).then(
    ([functions, procedures]) => ({ functions, procedures }),
  );
  called.set(name, asked);
  asked.catch(() => called.delete(name));
  return asked;
}

export type Place = "none" | "label" | "type" | "key" | "procedure" | "parameter" | "any";

/** What may come after a text, and the part of it that is the beginning of that. */
export function placeAfter(before: string): { place: Place; begun: string } {
  let open: string | null = null;
  /** The brackets that are open, and where. */
  const brackets: { sign: string; at: number }[] = [];
  for (let at = 0; at < before.length; at += 1) {
    const sign = before[at]!;
    if (open !== null) {
      if (before.startsWith(open, at)) {
        at += open.length - 1;
        open = null;
      } else if (sign === "\\" && open.length === 1 && open !== "`") at += 1;
      continue;
    }
    if (before.startsWith("//", at)) open = "\n";
    else if (before.startsWith("/*", at)) open = "*/";
    else if ("'\"`".includes(sign)) open = sign;
    else if ("([{".includes(sign)) brackets.push({ sign, at });
    else if (")]}".includes(sign)) brackets.pop();
  }
  if (open !== null) return { place: "none", begun: "" };
  const begun = /[\p{L}\p{N}_]*$/u.exec(before)![0];
  const rest = before.slice(0, before.length - begun.length);
  const inner = brackets.at(-1);
  if (/\$$/.test(rest)) return { place: "parameter", begun };
  if (/\bCALL\s+(?:\w+\.)*$/i.test(rest)) return { place: "procedure", begun: /[\w.]*$/.exec(before)![0] };
  // In a map, what follows a colon is a value.
  if (inner?.sign === "{" && /[{,]\s*$/.test(rest)) return { place: "key", begun };
  if (inner?.sign !== "{" && /[:|&!]\s*$/.test(rest)) return { place: inner?.sign === "[" ? "type" : "label", begun };
  if (/[\p{L}\p{N}_\])`]\.$/u.test(rest) && !/\b(?:apoc|date|datetime|time|localtime|localdatetime|duration|point|db|dbms|vector)\.$/.test(rest)) return { place: "key", begun };
  return { place: "any", begun: /[\w.]*$/.exec(before)![0] || begun };
}

/** The variables that a text names in its patterns, and after AS and UNWIND. */
export function variablesIn(text: string): string[] {
  const found = [...text.matchAll(/[([]\s*([\p{L}_][\p{L}\p{N}_]*)\s*(?=[:){\]*]|WHERE)|\bAS\s+([\p{L}_][\p{L}\p{N}_]*)/giu)];
  return [...new Set(found.map((match) => match[1] ?? match[2]!))];
}

/** Completes Cypher; `parameters` has the names of those that are given. */
export async function completeCypher(context: CompletionContext, parameters: string[]): Promise<CompletionResult | null> {
  const text = context.state.doc.toString();
  const { place, begun } = placeAfter(text.slice(0, context.pos));
  if (place === "none" || (place === "any" && begun === "" && !context.explicit)) return null;
  await readSchema().catch(() => undefined);
  const from = context.pos - begun.length;
  const validFor = /^[\p{L}\p{N}_.]*$/u;
  if (place === "label") return { from, options: labels(), validFor };
  if (place === "type") return { from, options: types(), validFor };
  if (place === "key") return { from, options: keys(), validFor };
  if (place === "parameter") return { from, options: parameters.map((label) => ({ label, type: "variable" })), validFor };
  const { functions, procedures } = await callable(graph()).catch((): Called => ({ functions: [], procedures: [] }));
  if (place === "procedure") return { from, options: procedures, validFor };
  const words = [...CLAUSES, ...OPERATORS].map((label) => ({ label, type: "keyword" }));
  const variables = variablesIn(text).map((label) => ({ label, type: "variable", boost: 1 }));
  return { from, options: [...variables, ...words, ...functions], validFor };
}
