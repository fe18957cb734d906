// The last queries, in this browser.

/** What the editor has: a query in one of the languages, or a request. */
export type QueryKind = "gremlin" | "cypher" | "rest";

export interface PastQuery {
  id?: number;
  kind: QueryKind;
  text: string;
  at: number;
  ok: boolean;
}

const KEPT = 200;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("varve", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("queries", { keyPath: "id", autoIncrement: true });
      request.result.createObjectStore("loads", { keyPath: "name" });
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

async function store(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  return (await open()).transaction("queries", mode).objectStore("queries");
}

/** The last queries, newest first; none where the browser keeps nothing. */
export async function pastQueries(): Promise<PastQuery[]> {
  try {
    return (await done((await store("readonly")).getAll() as IDBRequest<PastQuery[]>)).reverse();
  } catch {
    return [];
  }
}

/** What may hold a password is not kept. */
const SECRET = /\/auth\//;

export async function keepQuery(query: PastQuery): Promise<void> {
  if (query.kind === "rest" && SECRET.test(query.text)) return;
  try {
    const queries = await store("readwrite");
    const keys = await done(queries.getAllKeys());
    for (const key of keys.slice(0, Math.max(0, keys.length - KEPT + 1))) queries.delete(key);
    await done(queries.add(query));
  } catch {
    // Nothing is kept, e.g. in a private window.
  }
}

/** Removes all: the next user must not see them. */
export async function forgetQueries(): Promise<void> {
  try {
    await done((await store("readwrite")).clear());
  } catch {
    // Nothing is kept, e.g. in a private window.
  }
}
