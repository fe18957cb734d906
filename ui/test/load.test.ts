import assert from "node:assert/strict";
import test from "node:test";
import { setGraph } from "../src/core/server";
import * as state from "../src/load/state";

Object.assign(globalThis, { localStorage: { getItem: () => null, setItem() {}, removeItem() {} } });

/** Answers a request once the test says with what. */
type Asked = { path: string; answer: (text: string, status?: number) => void };
const asked: Asked[] = [];
globalThis.fetch = ((path: string, { signal }: RequestInit) =>
  new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    asked.push({ path: String(path), answer: (text, status = 200) => resolve(new Response(text, { status })) });
  })) as typeof fetch;

async function request(): Promise<Asked> {
  while (asked.length === 0) await new Promise((done) => setImmediate(done));
  return asked.shift()!;
}

const FILE = { name: "a.csv", size: 1, slice: () => new Blob(["a"]) } as unknown as File;

test("a load goes on while files are dropped and another graph is shown", async () => {
  setGraph("one");
  const read = state.take([FILE]);
  (await request()).answer("{}");
  // Another graph is chosen while the files are sent.
  setGraph("two");
  assert.deepEqual(state.files(), []);
  const sent = await request();
  assert.match(sent.path, /\/graphs\/one\/load\/files\/a\.csv/);
  sent.answer("{}");
  const draft = await request();
  assert.match(draft.path, /\/graphs\/one\/load\/infer/);
  draft.answer('{"mapping": "x = 1", "files": [], "unsure": []}');
  await read;
  assert.equal(state.drafted(), null);
  await state.start(false);
  assert.equal(state.loading(), false, "a load into another graph");
  setGraph("one");
  assert.equal(state.drafted()?.mapping, "x = 1");
  const loaded = state.start(false);
  assert.equal(state.loading(), true);
  await state.take([FILE]);
  const load = await request();
  assert.match(load.path, /\/graphs\/one\/load\?/);
  load.answer('{"done": {"dry_run": false, "elements": 3, "states": 0, "replaced": 0, "refused": 0, "inputs": []}}\n');
  // Who may not read the schema has loaded all the same.
  (await request()).answer('{"message": "no"}', 403);
  await loaded;
  assert.deepEqual([state.end()?.elements, state.problem(), state.loading()], [3, null, false]);
  assert.equal(asked.length, 0);
});
