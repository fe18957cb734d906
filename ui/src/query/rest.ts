// REST for the editor: a line with verb and path, an empty line, a body.

import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { call, type Call } from "../core/http";
import { graph } from "../core/server";
import { removes } from "./cypherapi";
import type { QueryKind } from "./past";

interface Description {
  paths: Record<string, Record<string, { summary?: string }>>;
}

let description: Promise<Description> | null = null;

export function describe(): Promise<Description> {
  description ??= call<Description>("/openapi.json");
  return description;
}

export interface RestRequest {
  method: NonNullable<Call["method"]>;
  path: string;
  body?: string;
}

/** Null if the text is no request. */
export function parseRest(text: string): RestRequest | null {
  const match = /^\s*(GET|POST|PUT|DELETE)\s+(\/\S*)[^\S\n]*\n?([\s\S]*)$/.exec(text);
  if (!match) return null;
  const body = match[3]?.trim();
  return { method: match[1] as RestRequest["method"], path: match[2]!, ...(body ? { body } : {}) };
}

export async function completeRest(context: CompletionContext): Promise<CompletionResult | null> {
  const line = context.state.doc.lineAt(context.pos);
  if (line.number !== 1) return null;
  const before = context.state.sliceDoc(line.from, context.pos);
  const verb = /^\s*(GET|POST|PUT|DELETE)\s+(\S*)$/.exec(before);
  if (!verb) {
    const options = ["GET", "POST", "PUT", "DELETE"].map((label) => ({ label, type: "keyword", apply: `${label} ` }));
    return { from: line.from, options };
  }
  const { paths } = await describe();
  const options = Object.entries(paths)
    .filter(([, verbs]) => verb[1]!.toLowerCase() in verbs)
    .map(([path, verbs]) => ({
      label: path.replace("{graph}", graph()),
      detail: verbs[verb[1]!.toLowerCase()]?.summary ?? "",
      type: "text",
    }));
  return { from: context.pos - verb[2]!.length, options, validFor: /^\S*$/ };
}

/** Whether it drops, clears or deletes something. */
export function isDestructive(kind: QueryKind, text: string): boolean {
  if (kind === "cypher") return removes(text);
  if (kind === "rest") return /^\s*DELETE\b|\/clear\b/.test(text);
  return /\.drop\s*\(|\.clear\s*\(|\.remove\s*\(/.test(text);
}
