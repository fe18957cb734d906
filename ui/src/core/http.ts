// Requests to the server that this page comes from, and what it answers.

import { createSignal } from "solid-js";
import { forgetQueries } from "../query/past";
import { forgetSession, keepSessionUser, sessionUser } from "./prefs";
import { formatJson, parseJson } from "./json";
import { withoutClass } from "./text";

/** What the server said about a request that failed, or that it could not be reached (status 0). */
export class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code?: string,
    readonly kind?: string,
  ) {
    super(message);
  }
}

/** Whose session it is. Its token is in a cookie that no script can read. */
const [user, setUser] = createSignal<string | null>(null);
/** Whether the server has asked for a login. */
const [loginAsked, setLoginAsked] = createSignal(false);
/** Whether the last request reached the server. */
const [reachable, setReachable] = createSignal(true);
/** Counts the requests that may have changed a graph; what is shown follows it. */
const [written, setWritten] = createSignal(0);
export { user, loginAsked, reachable, written };

/** Requests that read, or that are about no graph, though they are no GET. */
const READS = /\/explore\/(?!load_sample)|\/traversers\/|\/load\b|^\/(ui|auth|admin|queries)\//;

/** Whether a request may change a graph. A load does so until the end of its answer, and says that itself. */
export function mayWrite(method: string, path: string): boolean {
  return method !== "GET" && !READS.test(path.replace(/\?.*/, ""));
}

/** Tells that a graph may have been changed. */
export function wrote(): void {
  setWritten((count) => count + 1);
}

export interface Call {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  query?: Record<string, string | number | boolean | null | undefined>;
  body?: unknown;
  signal?: AbortSignal;
  /** The type that is wanted, where it is not JSON. */
  accept?: string;
  /** Names the request for `DELETE /queries/{tag}`. */
  tag?: string;
}

export function pathOf(path: string, query: Call["query"] = {}): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return pairs.length ? `${path}${path.includes("?") ? "&" : "?"}${pairs.join("&")}` : path;
}

/** Does a request and gives the answer's text. */
export async function callText(path: string, call: Call = {}): Promise<string> {
  const response = await send(path, call);
  return response.text();
}

/** Does a request and gives the answer. */
export async function send(path: string, call: Call = {}): Promise<Response> {
  try {
    return await request(path, call);
  } finally {
    // A request that failed may have changed a part.
    if (mayWrite(call.method ?? "GET", path)) wrote();
  }
}

async function request(path: string, call: Call): Promise<Response> {
  // The second keeps the browser from asking for a password in a window of its own.
  const headers: Record<string, string> = { Accept: call.accept ?? "application/json", "X-Requested-With": "XMLHttpRequest" };
  const isBytes = call.body instanceof ArrayBuffer;
  if (call.body !== undefined) headers["Content-Type"] = isBytes ? "application/octet-stream" : "application/json";
  if (call.tag) headers["Varve-Query-Tag"] = call.tag;
  let response: Response;
  try {
    response = await fetch(pathOf(path, call.query), {
      method: call.method ?? "GET",
      headers,
      body: bodyOf(call.body),
      signal: call.signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (call.signal?.aborted) throw error;
    setReachable(false);
    throw new Failure(0, "the server does not answer");
  }
  setReachable(true);
  if (response.ok) return response;
  const failure = await failureOf(response);
  if (response.status === 401) {
    setUser(null);
    setLoginAsked(true);
  }
  throw failure;
}

function bodyOf(body: unknown): string | ArrayBuffer | undefined {
  if (body === undefined || typeof body === "string" || body instanceof ArrayBuffer) return body;
  return formatJson(body, 0);
}

async function failureOf(response: Response): Promise<Failure> {
  const text = await response.text();
  try {
    const body = parseJson(text) as Record<string, unknown>;
    const status = body.status as Record<string, unknown> | undefined;
    const message = body.message ?? status?.message ?? text;
    // The server puts its own codes into the cause.
    const own = /^VRV-[A-Z-]+/.exec(String(body.cause ?? ""))?.[0];
    // The Query API of Cypher has a list of errors.
    const first = Array.isArray(body.errors) ? (body.errors[0] as { code?: string; message?: string } | undefined) : undefined;
    if (first) return new Failure(response.status, first.message ?? text, first.code);
    const code = (own ?? body.code ?? body.exception) as string | undefined;
    return new Failure(response.status, withoutClass(String(message)), code, body.exception as string | undefined);
  } catch {
    return new Failure(response.status, text || response.statusText);
  }
}

/** Does a request and gives the answer's JSON. */
export async function call<T>(path: string, options: Call = {}): Promise<T> {
  const text = await callText(path, options);
  return (text ? parseJson(text) : null) as T;
}

/** Begins a session for a name and password, which are not kept. */
export async function logIn(name: string, password: string): Promise<void> {
  const body = { user_name: name, user_password: password };
  const answer = await call<{ user_name: string }>("/ui/session", { method: "POST", body });
  await begin(answer.user_name);
  setLoginAsked(false);
}

/** Goes on with the session that the browser has from before, if there is one. */
export async function resume(): Promise<void> {
  await begin((await call<{ user_name: string | null }>("/ui/session")).user_name);
}

async function begin(name: string | null): Promise<void> {
  if (name !== null) {
    const before = sessionUser();
    if (before !== null && before !== name) await forgetUser();
    keepSessionUser(name);
  }
  setUser(name);
}

export async function logOut(): Promise<void> {
  await callText("/ui/session", { method: "DELETE" });
  await forgetUser();
}

let isForgotten = false;

/** Whether what is shown may be kept: not where the next user may be another one. */
export function mayKeep(): boolean {
  return !isForgotten && !loginAsked();
}

/** Begins the page anew without what is kept: the next user must see nothing of this one, in memory or stored. */
async function forgetUser(): Promise<never> {
  isForgotten = true;
  await forgetQueries();
  forgetSession();
  location.reload();
  return new Promise<never>(() => undefined);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
