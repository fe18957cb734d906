// What the editor has and how it runs. It outlives the page.

import { createSignal } from "solid-js";
import { t } from "../i18n";
import { call, Failure, isAbort, mayKeep, messageOf } from "../core/http";
import { graph } from "../core/server";
import { keep, read } from "../core/prefs";
import { point, timesOf } from "../core/times";
import { readSchema } from "../core/schema";
import { askCypher, parameterNames, placeIn, withoutLines, type CypherAnswer } from "./cypherapi";
import type { EditorControl } from "./editor";
import { isSecret, KINDS, keepQuery, type QueryKind } from "./past";
import { placeOfNamed } from "./plain";
import { planOf } from "./plan";
import { parseRest } from "./rest";
import type { Result } from "./result";
import { sourceOf } from "./source";

const [kind, setKindSignal] = createSignal<QueryKind>(KINDS.find((name) => name === read("query")) ?? "gremlin");
type Texts = Record<QueryKind | "parameters", string>;
const FIRST: Texts = { gremlin: "g.V().limit(25)", cypher: "MATCH (n) RETURN n LIMIT 25", rest: "", parameters: "" };
const WRITTEN = "varve.query.texts";

/** What this window's editor had before the page was loaded again. */
function written(): Texts {
  try {
    return { ...FIRST, ...(JSON.parse(sessionStorage.getItem(WRITTEN) ?? "{}") as Partial<Texts>) };
  } catch {
    return FIRST;
  }
}

const [texts, setTexts] = createSignal<Texts>(written());
/** A JSON object with the parameters of Cypher, or nothing. */
const parameters = () => texts().parameters;
const setParameters = (text: string) => setText("parameters", text);
const [result, setResult] = createSignal<Result | null>(null);
const [failure, setFailure] = createSignal<Failure | null>(null);
const [running, setRunning] = createSignal<{ tag: string; abort: AbortController; since: number } | null>(null);
export { kind, texts, parameters, setParameters, result, failure, running };

export function setKind(name: QueryKind): void {
  setKindSignal(name);
  keep("query", name);
}

/** Puts a text into the editor. */
export function setText(of: keyof Texts, text: string): void {
  const next = { ...texts(), [of]: text };
  setTexts(next);
  if (!mayKeep()) return;
  try {
    const rest = isSecret({ kind: "rest", text: next.rest }) ? "" : next.rest;
    sessionStorage.setItem(WRITTEN, JSON.stringify({ ...next, rest }));
  } catch {
    // Nothing is kept, e.g. in a private window.
  }
}

interface GremlinAnswer {
  result: { data: unknown };
  status: { message?: string; code: number };
}

type Answer = Pick<Result, "data" | "plan" | "columns" | "counters">;

async function request(of: QueryKind, text: string, tag: string, signal: AbortSignal): Promise<Answer> {
  if (of === "rest") {
    const parsed = parseRest(text);
    if (!parsed) throw new Failure(400, t("restForm"));
    return { data: await call(parsed.path, { method: parsed.method, body: parsed.body, tag, signal }), plan: null };
  }
  if (of === "cypher") {
    try {
      parameterNames(parameters());
    } catch (error) {
      throw new Failure(400, t("parametersForm", { why: messageOf(error) }));
    }
    const answer = await askCypher(graph(), text, { parameters: parameters(), times: timesOf(point()), tag, signal });
    return cypherAnswer(answer);
  }
  const body = {
    gremlin: text,
    language: "gremlin-groovy",
    bindings: {},
    aliases: { graph: graph(), g: `__g_${graph()}` },
  };
  const { result } = await call<GremlinAnswer>("/gremlin", { method: "POST", query: timesOf(point()), body, tag, signal });
  return { data: result.data, plan: planOf(result.data) };
}

function cypherAnswer({ columns, rows, counters, plan }: CypherAnswer): Answer {
  return { data: plan ?? rows, plan: plan && { kind: "tree", root: plan }, columns, counters };
}

/** Marks the place that an error names, or the only place of what it names. */
function markPlace(of: QueryKind, text: string, message: string, control: EditorControl | undefined): void {
  const gremlin = /line (\d+), character position at (\d+)/.exec(message);
  const named = gremlin ? { line: Number(gremlin[1]), column: Number(gremlin[2]) + 1 } : placeIn(message);
  const place = named ?? (of === "rest" ? null : placeOfNamed(text, message));
  if (place) control?.mark(place.line, place.column, message);
}

/** Runs a text; `added` is how many lines before it nobody wrote. */
export async function runQuery(of: QueryKind, text: string, control: EditorControl | undefined, added = 0): Promise<void> {
  const tag = `ui-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const abort = new AbortController();
  setRunning({ tag, abort, since: Date.now() });
  setFailure(null);
  setResult(null);
  control?.clearMarks();
  const started = performance.now();
  const source = sourceOf(of, text, { graph: graph(), ...point() });
  const written = added ? text.split("\n").slice(added).join("\n") : text;
  const past = { kind: of, text: written, graph: graph(), parameters: of === "cypher" ? parameters() : "", at: Date.now() };
  try {
    const answer = await request(of, text, tag, abort.signal);
    setResult({ kind: of, source, text, ...answer, millis: performance.now() - started });
    await keepQuery({ ...past, ok: true });
  } catch (error) {
    const told = isAbort(error) ? new Failure(0, t("cancelled"), "CANCELLED") : error instanceof Failure ? error : new Failure(0, messageOf(error));
    const message = withoutLines(told.message, added);
    setFailure(new Failure(told.status, message, told.code, told.kind));
    markPlace(of, written, message, control);
    await keepQuery({ ...past, ok: false });
  } finally {
    setRunning(null);
    // A write may have made labels, types and keys.
    void readSchema().catch(() => undefined);
  }
}

/** Ends the query on the server, then here. */
export async function stop(): Promise<void> {
  const current = running();
  if (!current) return;
  try {
    await call(`/queries/${encodeURIComponent(current.tag)}`, { method: "DELETE" });
  } catch {
    // It has just ended, or this server does not list queries: closing the request ends a read.
    current.abort.abort();
    return;
  }
  setTimeout(() => current.abort.abort(), 2000);
}
