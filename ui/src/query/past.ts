// The last queries, and those that were saved with a name, in this browser.

import type { Point } from "../core/times";

/** What the editor has: a query in one of the languages, or a request. */
export type QueryKind = "gremlin" | "cypher" | "rest";

/** The names of the languages, which are the same everywhere. */
export const NAMES: Record<QueryKind, string> = { gremlin: "Gremlin", cypher: "Cypher", rest: "REST" };
export const KINDS = Object.keys(NAMES) as QueryKind[];

interface Query {
  id?: number;
  kind: QueryKind;
  text: string;
  /** Of Cypher, as JSON; empty for none. */
  parameters?: string;
  at: number;
}

export interface PastQuery extends Query {
  graph?: string;
  ok: boolean;
}

export interface SavedQuery extends Query {
  name: string;
  graph: string;
  /** The point of both times that it was saved with. */
  times?: Point;
  /** Whose it is; empty where nobody logs in. */
  user: string;
}

const KEPT = 200;

// Two databases: a page of an earlier build that is still open would hold up a change of the first.
const DATABASES = { queries: "varve", saved: "varve-saved" } as const;
type Store = keyof typeof DATABASES;

function open(of: Store): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASES[of], 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(of, { keyPath: "id", autoIncrement: true });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("no database"));
  });
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the database failed"));
  });
}

async function store(of: Store, mode: IDBTransactionMode): Promise<IDBObjectStore> {
  return (await open(of)).transaction(of, mode).objectStore(of);
}

/** The last queries, newest first; none where the browser keeps nothing. */
export async function pastQueries(): Promise<PastQuery[]> {
  try {
    return (await done((await store("queries", "readonly")).getAll() as IDBRequest<PastQuery[]>)).reverse();
  } catch {
    return [];
  }
}

/** Paths of logins, users and tokens, and names of fields. */
const SECRET = /\/auth\/|\/ui\/session|password/i;

/** Whether a query may hold a password, and so is not kept. */
export function isSecret({ kind, text }: Pick<Query, "kind" | "text">): boolean {
  return kind === "rest" && SECRET.test(text);
}

export async function keepQuery(query: PastQuery): Promise<void> {
  if (isSecret(query)) return;
  try {
    const queries = await store("queries", "readwrite");
    const keys = await done(queries.getAllKeys());
    for (const key of keys.slice(0, Math.max(0, keys.length - KEPT + 1))) queries.delete(key);
    await done(queries.add(query));
  } catch {
    // Nothing is kept, e.g. in a private window.
  }
}

/** Removes the last queries: the next user must not see them. */
export async function forgetQueries(): Promise<void> {
  try {
    await done((await store("queries", "readwrite")).clear());
  } catch {
    // Nothing is kept, e.g. in a private window.
  }
}

/** The queries that a user saved for a graph, by name. */
export async function savedQueries(graph: string, user: string): Promise<SavedQuery[]> {
  const all = await done((await store("saved", "readonly")).getAll() as IDBRequest<SavedQuery[]>);
  return all.filter((query) => query.graph === graph && query.user === user).sort((a, b) => a.name.localeCompare(b.name));
}

/** Saves a query in place of the one of its name. */
export async function saveQuery(query: SavedQuery): Promise<void> {
  const before = (await savedQueries(query.graph, query.user)).find(({ name }) => name === query.name);
  await done((await store("saved", "readwrite")).put(before?.id === undefined ? query : { ...query, id: before.id }));
}

export async function removeSaved(id: number): Promise<void> {
  await done((await store("saved", "readwrite")).delete(id));
}
