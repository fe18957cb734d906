import assert from "node:assert/strict";
import test from "node:test";
import { formatJson } from "../src/core/json";
import type { PropertyKey, Schema, VertexLabel } from "../src/core/schema";
import { CsvReader } from "../src/load/csv";
import { JsonReader } from "../src/load/jsonl";
import { doubled, maker } from "../src/load/mapping";
import { open } from "../src/load/reading";
import { refusedCsv } from "../src/load/run";
import { endOf, propertyOf } from "../src/load/values";
import table from "./reading.json";

interface Case {
  name: string;
  file: string;
  text?: string;
  hex?: string;
  columns?: string[];
  rows?: unknown[][];
  fault?: string;
}

const cases = table.files as Case[];
const bytesOf = (each: Case) => (each.hex === undefined ? Buffer.from(each.text ?? "") : Buffer.from(each.hex, "hex"));
const fileOf = (each: Case) => new File([bytesOf(each)], each.file);

for (const each of cases) {
  test(`a file: ${each.name}`, async () => {
    if (each.rows === undefined) {
      await assert.rejects(async () => (await open(fileOf(each)))(), (error: Error) => error.message.includes(each.fault!));
      return;
    }
    const block = await (await open(fileOf(each)))();
    assert.deepEqual(block.columns, each.columns);
    assert.equal(block.rows.length, each.rows.length);
    block.rows.forEach((row, at) => {
      const [line, first, ...rest] = each.rows![at]!;
      assert.equal(row.line, line);
      const fault = (first as { fault?: string } | null)?.fault;
      if (fault !== undefined) assert.ok(row.fault?.includes(fault), `${row.fault}`);
      else assert.deepEqual([row.cells, row.fault], [[first, ...rest].map((cell) => cell ?? undefined), undefined]);
    });
  });
}

test("pieces of any size give the same rows", () => {
  for (const each of cases.filter((it) => it.rows && !it.hex)) {
    const bytes = new Uint8Array(bytesOf(each));
    const reader = (head: Uint8Array, isWhole: boolean) =>
      each.file.endsWith("l") ? new JsonReader(head, isWhole) : new CsvReader(head, isWhole, each.file.endsWith(".tsv") ? "\t" : ",");
    const whole = reader(bytes, true);
    for (const piece of [1, 2, 3, 7]) {
      const head = bytes.indexOf(10) + 8;
      const parts = reader(bytes.slice(0, head), false);
      for (let at = head; at < bytes.length; at += piece) parts.push(bytes.slice(at, at + piece));
      parts.end();
      assert.deepEqual([parts.columns, parts.rows], [whole.columns, whole.rows], each.name);
    }
  }
});

test("values", () => {
  for (const each of table.values) {
    const key = { name: "k", data_type: each.type, cardinality: "list" in each ? "LIST" : "SINGLE" } as PropertyKey;
    const read = () => formatJson(propertyOf(each.of, key), 0);
    if ("json" in each) assert.equal(read(), each.json, JSON.stringify(each));
    else assert.throws(read, undefined, JSON.stringify(each));
  }
});

test("an end of an edge is the value of a primary key", () => {
  for (const each of table.ends) {
    const keys = new Map([["k", { name: "k", data_type: each.type, cardinality: "SINGLE" } as PropertyKey]]);
    assert.equal(endOf(each.of, { id: 7, id_strategy: "PRIMARY_KEY", primary_keys: ["k"] } as VertexLabel, keys), each.id);
  }
});

const schema = {
  propertykeys: [
    { name: "n", data_type: "TEXT", cardinality: "SINGLE" },
    { name: "m", data_type: "TEXT", cardinality: "SINGLE" },
  ],
  vertexlabels: [{ name: "x", id: 1, id_strategy: "CUSTOMIZE_STRING", properties: ["n", "m"] }],
  edgelabels: [],
} as unknown as Schema;

test("values beyond the first rows are stored or refused, never left out", () => {
  const make = maker(schema, { kind: "vertex", label: "x", targets: ["~id", "n"] }, ["id", "n"]);
  const body = make({ line: 1, cells: ["a", "b"], more: { m: "c" } });
  assert.deepEqual(body, { label: "x", id: "a", properties: { n: "b", m: "c" } });
  assert.throws(() => make({ line: 1, cells: ["a", "b"], more: { o: 1 } }), /column 'o'/);
  assert.throws(() => make({ line: 1, cells: ["a"], fault: "column 2 is not UTF-8" }), /not UTF-8/);
});

test("two columns cannot be one property", () => {
  assert.deepEqual(doubled({ kind: "vertex", label: "x", targets: ["~id", "n", "", "", "n"] }), ["n"]);
});

test("refused rows are no formulas for a spreadsheet", () => {
  const refused = [{ line: 2, values: ["=1+1", "-5", "@x"], why: "-" }];
  assert.equal(refusedCsv(["a", "+b", "c"], refused), `a,"'+b",c,~why\n"'=1+1",-5,"'@x","'-"\n`);
});
