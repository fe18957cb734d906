// Gremlin for the editor: what words are, and what may come next.

import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { StreamParser } from "@codemirror/language";
import { schema } from "../core/schema";

const STEPS = (
  "V E inject addV addE property drop mergeV mergeE out in both outE inE bothE outV inV bothV otherV to from has hasLabel hasId " +
  "hasKey hasValue hasNot is where filter not and or dedup limit range skip tail sample coin order by id label key value values " +
  "properties propertyMap valueMap elementMap constant as select match project path simplePath cyclicPath tree count sum min max " +
  "mean fold unfold group groupCount aggregate store subgraph cap barrier union choose branch coalesce optional local map flatMap " +
  "sideEffect repeat until emit times loops sack math index fail identity call profile explain with withSack withSideEffect next " +
  "toList iterate asString length toUpper toLower trim replace split substring concat format asDate dateAdd dateDiff element option"
).split(" ");
const WORDS = ["g", "P", "T", "__", "Order", "Scope", "within", "without", "gt", "gte", "lt", "lte", "eq", "neq", "between", "inside", "outside", "containing", "startingWith", "endingWith", "regex", "desc", "asc", "local", "global", "true", "false", "null"];

export const gremlin: StreamParser<Record<string, never>> = {
  name: "gremlin",
  startState: () => ({}),
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    const quote = stream.match(/^["']/) as RegExpMatchArray | null;
    if (quote) {
      while (!stream.eol()) {
        const next = stream.next();
        if (next === "\\") stream.next();
        else if (next === quote[0]) break;
      }
      return "string";
    }
    if (stream.match(/^\d[\d_.]*[a-zA-Z]*/)) return "number";
    const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (word) return STEPS.includes(word[0]) || word[0] === "g" ? "keyword" : null;
    stream.next();
    return null;
  },
};

const LABEL_STEPS = /\.(hasLabel|addV)\(\s*(["'][^"']*["']\s*,\s*)*["'][^"']*$/;
const EDGE_STEPS = /\.(outE|inE|bothE|out|in|both|addE)\(\s*(["'][^"']*["']\s*,\s*)*["'][^"']*$/;
const KEY_STEPS = /\.(has|values|valueMap|properties|by|property|hasNot|elementMap|order)\(\s*(["'][^"']*["']\s*,\s*)*["'][^"']*$/;

function names(before: string): { label: string; type: string; detail?: string }[] {
  const found = schema();
  if (!found) return [];
  const vertices = found.vertexlabels.map(({ name }) => ({ label: name, type: "class" }));
  const edges = found.edgelabels.map((label) => ({ label: label.name, type: "interface", detail: `${label.source_label} → ${label.target_label}` }));
  const keys = found.propertykeys.map((key) => ({ label: key.name, type: "property", detail: key.data_type }));
  if (LABEL_STEPS.test(before)) return [...vertices, ...edges];
  if (EDGE_STEPS.test(before)) return edges;
  if (KEY_STEPS.test(before)) return keys;
  return [...keys, ...vertices, ...edges];
}

export function completeGremlin(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = context.state.sliceDoc(line.from, context.pos);
  const inQuotes = /["']([^"']*)$/.exec(before);
  const open = (before.match(/["']/g) ?? []).length % 2 === 1;
  if (inQuotes && open) {
    return { from: context.pos - (inQuotes[1]?.length ?? 0), options: names(before), validFor: /^[^"']*$/ };
  }
  const word = context.matchBefore(/\w*/);
  const isAfterDot = /\.\w*$/.test(before);
  if (!word || (word.from === word.to && !isAfterDot && !context.explicit)) return null;
  const options = isAfterDot
    ? STEPS.map((label) => ({ label, type: "function", apply: `${label}(` }))
    : [...WORDS, ...STEPS].map((label) => ({ label, type: "keyword" }));
  return { from: word.from, options, validFor: /^\w*$/ };
}
