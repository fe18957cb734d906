import assert from "node:assert/strict";
import test from "node:test";
import { placeAfter, quoted, variablesIn } from "../src/query/cypher";
import { answerOf, explained, isExplained, parameterNames, placeIn, removes, withoutLines } from "../src/query/cypherapi";
import { namedIn } from "../src/query/found";
import { cypherTable } from "../src/query/result";
import { Told } from "../src/core/text";

const refs = (rows: unknown) => [...namedIn(rows, "cypher").values()].map(({ refs }) => refs);
const shown = (value: unknown) => (value instanceof Told ? value.text : value);

const text = (value: string) => ({ $type: "String", _value: value });
const node = (id: string, name: string) => ({ $type: "Node", _value: { _element_id: id, _labels: ["Person"], _properties: { name: text(name) } } });
const knows = (id: string, start: string, end: string) => ({
  $type: "Relationship",
  _value: { _element_id: id, _start_node_element_id: start, _end_node_element_id: end, _type: "KNOWS", _properties: {} },
});

test("typed values keep their digits, and the order of their columns", () => {
  const whole = { $type: "Integer", _value: "9007199254740993" };
  const answer = answerOf({ data: { fields: ["b", "1", "c"], values: [[whole, { $type: "Float", _value: "1.0" }, { $type: "Null", _value: null }]] } });
  assert.deepEqual(answer.columns, ["b", "1", "c"]);
  assert.deepEqual(answer.rows, [{ b: 9007199254740993n, "1": 1, c: null }]);
  assert.deepEqual(cypherTable(answer.columns, answer.rows).columns, ["b", "1", "c"]);
});

test("nodes and the ends of relationships are vertices to show", () => {
  const { rows } = answerOf({ data: { fields: ["r"], values: [[knows("L1>1>1>>L2", "1", "2")], [knows("S1>1>1>>Sx", "1", "x")]] } });
  assert.deepEqual(refs(rows), [["1"], ["2"], ['"1"'], ['"x"']]);
});

test("a path is written with the directions of its relationships", () => {
  const path = { $type: "Path", _value: [node("1", "Ann"), knows("L1>1>1>>L2", "1", "2"), node("2", "Bob"), knows("L3>1>1>>L2", "3", "2"), node("3", "Cid")] };
  const { columns, rows } = answerOf({ data: { fields: ["p", "n"], values: [[path, node("1", "Ann")]] } });
  const [row] = cypherTable(columns, rows).rows;
  assert.equal(shown(row?.cells.p), '(:Person {name: "Ann"})-[:KNOWS]->(:Person {name: "Bob"})<-[:KNOWS]-(:Person {name: "Cid"})');
  assert.equal(row?.cells.n, '(:Person {name: "Ann"})');
  assert.equal([...namedIn(rows, "cypher").values()].filter(({ label }) => label === "Person").length, 3);
});

test("a single column of nodes shows their properties", () => {
  const { columns, rows } = answerOf({ data: { fields: ["n"], values: [[node("1", "Ann")]] } });
  assert.deepEqual(cypherTable(columns, rows).columns, ["id", "label", "name"]);
});

test("counters of nothing are left out", () => {
  const counters = { containsUpdates: true, nodesCreated: 2, nodesDeleted: 0 };
  assert.deepEqual(answerOf({ data: { fields: [], values: [] }, counters }).counters, { nodesCreated: 2 });
  assert.equal(answerOf({ data: { fields: [], values: [] } }).plan, null);
  const queryPlan = { operatorType: "Filter", children: [{ operatorType: "NodeScan", arguments: { Details: "(:A)" } }] };
  const explained = answerOf({ data: { fields: [], values: [] }, queryPlan }).plan;
  assert.deepEqual(explained, { name: "Filter", details: "", children: [{ name: "NodeScan", details: "(:A)", children: [] }] });
  const profiledQueryPlan = { operatorType: "NodeScan", records: 2, dbHits: 3, time: 1500000 };
  const profiled = answerOf({ data: { fields: [], values: [] }, profiledQueryPlan }).plan;
  assert.deepEqual(profiled?.measured, { rows: 2, reads: 3, millis: 1.5 });
});

test("what may come next depends on the brackets and the signs before it", () => {
  const places: [string, string, string][] = [
    ["MATCH (n:Per", "label", "Per"],
    ["MATCH (n)-[:KN", "type", "KN"],
    ["MATCH (n)-[r:A|", "type", ""],
    ["MATCH (n:Person {na", "key", "na"],
    ["MATCH (n {a: 1, b", "key", "b"],
    ["MATCH (n {a: tr", "any", "tr"],
    ["MATCH (n) RETURN n.na", "key", "na"],
    ["RETURN date.tru", "any", "date.tru"],
    ["CALL db.la", "procedure", "db.la"],
    ["RETURN $na", "parameter", "na"],
    ["MATCH (n:`a b`) RET", "any", "RET"],
    ["RETURN 'it is (n:Per", "none", ""],
    ["RETURN 'it\\'s' + \"a", "none", ""],
    ["// MATCH (n:", "none", ""],
    ["// (\nMATCH (n:", "label", ""],
  ];
  for (const [before, place, begun] of places) assert.deepEqual(placeAfter(before), { place, begun }, before);
});

test("variables are found in patterns and after AS", () => {
  const found = variablesIn("MATCH (ann:Person)-[r:KNOWS]->(b) WITH ann, count(*) AS many UNWIND [1] AS one RETURN ann");
  assert.deepEqual(found, ["ann", "r", "b", "many", "one"]);
});

test("names that are no words are quoted", () => {
  assert.equal(quoted("Person"), "Person");
  assert.equal(quoted("a b`c"), "`a b``c`");
});

test("EXPLAIN is a line of its own, which messages leave out", () => {
  assert.equal(explained("MATCH (n) RETURN n"), "EXPLAIN\nMATCH (n) RETURN n");
  assert.equal(explained("explain RETURN 1"), "explain RETURN 1");
  assert.ok(isExplained(" EXPLAIN MATCH (n) DELETE n") && !isExplained("MATCH (explain) RETURN 1"));
  const message = "SyntaxError: UndefinedVariable: line 3, column 9: the variable 'b' is not defined";
  assert.deepEqual(placeIn(withoutLines(message, 1)), { line: 2, column: 9 });
  assert.equal(placeIn("DivisionByZero"), null);
});

test("statements that remove something are found, but not in texts and comments", () => {
  assert.ok(removes("MATCH (n) detach delete n"));
  assert.ok(removes("MATCH (n) REMOVE n.name"));
  for (const harmless of ["MATCH (n {name: 'delete'}) RETURN n", "RETURN 1 // delete", "RETURN 1 /* drop\n it */", "MATCH (n) RETURN n.`remove`"]) {
    assert.ok(!removes(harmless), harmless);
  }
});

test("parameters are a JSON object", () => {
  assert.deepEqual(parameterNames('{"a": 1, "b": [2]}'), ["a", "b"]);
  assert.deepEqual(parameterNames("  "), []);
  for (const wrong of ["[1]", "1", "{a: 1}"]) assert.throws(() => parameterNames(wrong), wrong);
});
