// Which graph an answer speaks of, and at which point of both times it was read.

import { isVersion, millisOf, type Point } from "../core/times";
import type { QueryKind } from "./past";
import { parseRest } from "./rest";

export interface Source extends Point {
  graph: string;
}

/** Words of a query with which it sets times of its own. */
const OWN_TIMES = { gremlin: /as_of|varve\.history/, cypher: /\b(VALID|SYSTEM)_TIME\b|varve\.(as_of|history)/i };
/** REST below a graph that answers with elements of one point of both times. */
const ELEMENTS = /^\/graphs\/([^/?]+)\/(?:graph|traversers|explore)\/(?![^?]*\b(?:history|timeline|diff)\b)[^?]*(?:\?(.*))?$/;

/** Null where a query sets its times itself, and where a request is about something else. */
export function sourceOf(kind: QueryKind, text: string, page: Source): Source | null {
  if (kind !== "rest") return OWN_TIMES[kind].test(text) ? null : page;
  const [, name, query] = ELEMENTS.exec(parseRest(text)?.path ?? "") ?? [];
  if (name === undefined) return null;
  try {
    const given = new URLSearchParams(query);
    const [trueAt, knownAt] = ["as_of", "as_of_tx"].map((each) => timeOf(given.get(each)));
    return trueAt === undefined || knownAt === undefined ? null : { graph: decodeURIComponent(name), trueAt, knownAt };
  } catch {
    return null;
  }
}

/** Null for now, undefined for what is no time. */
function timeOf(text: string | null): string | null | undefined {
  if (text === null || text === "now") return null;
  return isVersion(text) || !Number.isNaN(millisOf(text)) ? text : undefined;
}
