import assert from "node:assert/strict";
import test from "node:test";
import { CsvReader, writeCsv } from "../src/load/csv";

function read(text: string, piece: number): CsvReader {
  const reader = new CsvReader();
  for (let at = 0; at < text.length; at += piece) reader.push(text.slice(at, at + piece), at + piece >= text.length);
  return reader;
}

test("quotes, line ends and lines are read the same in pieces of any size", () => {
  const text = '\ufeffname,say\r\nann,"a ""b"", c"\r\nbob,"two\nlines"\n\ncai,last';
  for (const piece of [1, 2, 3, 7, 1000]) {
    const { columns, rows } = read(text, piece);
    assert.deepEqual(columns, ["name", "say"]);
    assert.deepEqual(rows, [
      { line: 2, values: ["ann", 'a "b", c'] },
      { line: 3, values: ["bob", "two\nlines"] },
      { line: 6, values: ["cai", "last"] },
    ]);
  }
});

test("the separator is that of the first line", () => {
  assert.deepEqual(read("a;b\n1;2,5\n", 100).rows[0]?.values, ["1", "2,5"]);
});

test("formulas get an apostrophe, numbers do not", () => {
  const rows = [["=1+2", "+a", "-cmd", "@x", "\t=1"], ["-5", "+1.5e3", ".5", "a,b", 'say "x"']];
  const lines = writeCsv(rows).split("\n");
  assert.equal(lines[0], `"'=1+2","'+a","'-cmd","'@x","'\t=1"`);
  assert.equal(lines[1], `-5,+1.5e3,.5,"a,b","say ""x"""`);
});
