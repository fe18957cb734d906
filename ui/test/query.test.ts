import assert from "node:assert/strict";
import test from "node:test";
import { csvOf } from "../src/core/save";
import { Failure } from "../src/core/http";
import { readSchema } from "../src/core/schema";
import { idOfRef, idTyped, refsOf } from "../src/explore/refs";
import { Chain } from "../src/query/chain";
import { namedIn } from "../src/query/found";
import { noStepIn, placeOfNamed, plainMessage, titleOf } from "../src/query/plain";
import { tableOf } from "../src/query/result";
import { sourceOf } from "../src/query/source";
import { treeOf } from "../src/query/steps";

const UUID = "835e1153-9281-4957-8691-cf79258e90eb";
const vertex = (id: unknown, label: string, properties = {}) => ({ id, label, type: "vertex", properties });

test("ids that look alike have several refs", () => {
  assert.deepEqual(refsOf(5), ["5"]);
  assert.deepEqual(refsOf("5"), ['"5"']);
  assert.deepEqual(refsOf("5", true), ['"5"', "5"]);
  // A number is not written so.
  for (const id of ["00217", "-0", "9223372036854775808"]) assert.deepEqual(refsOf(id, true), [JSON.stringify(id)]);
  assert.deepEqual(refsOf("-9223372036854775808", true), ['"-9223372036854775808"', "-9223372036854775808"]);
  assert.deepEqual(refsOf(9007199254740993n), ["9007199254740993"]);
  assert.deepEqual(refsOf(UUID), [`U"${UUID}"`, `"${UUID}"`]);
});

test("the schema says of which kind the ids of a label are", async () => {
  const label = (name: string, id_strategy: string) => ({ name, id_strategy });
  const held = { vertexlabels: [label("t", "CUSTOMIZE_STRING"), label("p", "PRIMARY_KEY")] };
  const asked = globalThis.fetch;
  const read = async () => {
    globalThis.fetch = async () => new Response(JSON.stringify(held));
    await readSchema(true);
    globalThis.fetch = asked;
  };
  await read();
  assert.deepEqual([refsOf("2001", true), refsOf("2001", true, "t"), refsOf(UUID)], [['"2001"'], ['"2001"'], [`"${UUID}"`]]);
  assert.deepEqual([idTyped("2001"), idTyped("00217"), idTyped('"5"')], ["2001", "00217", "5"]);
  held.vertexlabels.push(label("n", "AUTOMATIC"));
  await read();
  assert.deepEqual([refsOf("2001", true), refsOf("2001", true, "t"), refsOf("2001", true, "n")], [['"2001"', "2001"], ['"2001"'], ["2001"]]);
  assert.deepEqual([idTyped("2001"), idTyped("00217"), idTyped('"5"')], [2001, "00217", "5"]);
  assert.deepEqual(["5", '"5"', `U"${UUID}"`, "9007199254740993", "-7"].map(idOfRef), [5, "5", UUID, 9007199254740993n, -7]);
});

test("the id of an edge says of which types its ends are", () => {
  const edge = (id: string, outV: unknown, inV: unknown) => ({ id, label: "e", type: "edge", outV, inV });
  const refs = (data: unknown) => [...namedIn(data, "cypher").values()].map((each) => each.refs);
  assert.deepEqual(refs(edge(`S5>1>1>>U${UUID}`, "5", UUID)), [['"5"'], [`U"${UUID}"`]]);
  assert.deepEqual(refs(edge("L5>1>1>B18q>S5", 5, "5")), [["5"], ['"5"']]);
  assert.deepEqual([...namedIn([{ id: "a", label: "person", name: "A" }], "gremlin").values()], [{ refs: ['"a"'], label: "person" }]);
});

test("a plan of Gremlin is a tree: the last step on top, plans inside of steps as branches", () => {
  const tree = treeOf([
    "Source { kind: Vertex, ids: None, labels: Some([\"a, \\\"b\"]), conditions: [] }",
    "Repeat(Repeat { body: Plan { ops: [Expand { direction: Some(Out), labels: [], to: Vertices }] }, until: Some(Modulator { first: false, test: Times(2) }), emit: None })",
    "HasProperty { key: \"born\", predicate: Test(Gt, Int(1990)) }",
  ]);
  assert.equal(tree.name, "HasProperty");
  assert.equal(tree.details, '"born" · > 1990');
  const [repeat] = tree.children;
  assert.deepEqual([repeat?.name, repeat?.details], ["Repeat", "until: Times 2"]);
  assert.deepEqual(repeat?.children.map(({ name, of }) => [name, of]), [["Source", undefined], ["Expand", "body"]]);
  assert.equal(repeat?.children[0]?.details, 'kind: Vertex · labels: "a, \\"b"');
  assert.deepEqual(treeOf(["no {step"]), { name: "no {step", details: "", children: [] });
});

test("paths and trees are chains", () => {
  const [ann, ben] = [vertex("1:Ann", "person", { name: "Ann" }), vertex("1:Ben", "person")];
  const knows = { id: "S1:Ann>1>1>>S1:Ben", label: "knows", type: "edge", outV: "1:Ann", inV: "1:Ben" };
  const chain = (data: unknown) => (tableOf(data).rows[0]?.cells.path as Chain).text;
  assert.equal(chain([{ labels: [[], [], []], objects: [ann, knows, ben] }]), "(Ann)-[knows]->(Ben)");
  assert.equal(chain([{ labels: [[], [], []], objects: [ben, knows, ann] }]), "(Ben)<-[knows]-(Ann)");
  assert.equal(chain([{ labels: [[], []], objects: [ann, ben] }]), "(Ann)--(Ben)");
  const tree = [[{ key: ann, value: [{ key: ben, value: [] }, { key: "x", value: [] }] }]];
  assert.deepEqual(tableOf(tree).rows.map(({ cells }) => (cells.path as Chain).text), ["(Ann)--(Ben)", "(Ann)--(x)"]);
});

test("one map with many keys has a row for each, maps with the same keys have columns", () => {
  const many = { a: 1, b: 2, c: 3, d: 4, e: null };
  assert.deepEqual(tableOf([many]).columns, ["key", "value"]);
  assert.equal(tableOf([many]).rows.length, 5);
  assert.deepEqual(tableOf([many, many]).columns, ["a", "b", "c", "d", "e"]);
  assert.deepEqual(tableOf([{ a: 1 }]).columns, ["a"]);
  const other = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, at]));
  assert.deepEqual(tableOf([many, other]).columns, ["#", "key", "value"]);
  assert.equal(tableOf([many, other]).rows.length, 25);
});

test("errors have plain titles, and no class of Java", () => {
  const failed = (code?: string, kind?: string, status = 400) => titleOf(new Failure(status, "", code, kind));
  assert.equal(failed("VRV-QUERY", "org.codehaus.groovy.control.MultipleCompilationErrorsException"), "failedSyntax");
  assert.equal(failed("VRV-QUERY", "groovy.lang.MissingMethodException"), "failedStep");
  assert.equal(failed("Neo.ClientError.Statement.SyntaxError"), "failedSyntax");
  assert.equal(failed("Neo.ClientError.Schema.ConstraintValidationFailed"), "failedConstraint");
  assert.equal(failed("VRV-ARG", "class java.lang.IllegalArgumentException"), "failedValue");
  assert.equal(failed(undefined, undefined, 503), "failedBusy");
  assert.equal(failed("?", "?"), "failedQuery");
  const message = "No signature of method: org.apache.tinkerpop.gremlin.DefaultGraphTraversal.max() is applicable for argument types: (Integer, Integer) values: [1, 2]\nPossible solutions: max(), max(Scope)";
  assert.deepEqual(noStepIn(message), { name: "max", given: "Integer, Integer", possible: "max(), max(Scope)" });
  const before = "Failed to interpret Gremlin query: Query parsing failed at line 1, character position at 6, error message : ";
  assert.deepEqual(noStepIn(before + message), noStepIn(message));
  assert.equal(plainMessage(before + "the text ends where a value is expected"), "the text ends where a value is expected");
  assert.equal(plainMessage("cannot cast java.lang.String to java.lang.Integer"), "cannot cast String to Integer");
  assert.equal(plainMessage("SyntaxError: UnexpectedSyntax: line 1, column 2: x"), "line 1, column 2: x");
});

test("what a message names is marked where the text has it once", () => {
  const text = "g.V()\n  .has('name' 'é x')";
  assert.deepEqual(placeOfNamed(text, "unexpected ''é x'', expected ',' or ')'"), { line: 2, column: 15 });
  assert.deepEqual(placeOfNamed("g.V().nothing()", "No signature of method: a.b.C.nothing() is applicable"), { line: 1, column: 7 });
  assert.deepEqual(placeOfNamed("g.V(1", "the text ends where ',' or ')' is expected"), { line: 1, column: 5 });
  assert.equal(placeOfNamed("g.V().out().out()", "No signature of method: a.b.C.out() is"), null);
});

test("a file for spreadsheets runs nothing", () => {
  assert.equal(csvOf(["a", "b"], [["=1+1", -1], ['say "x", y', null], [new Chain([], "(a)--(b)"), "two\nlines"]]), `a,b\n'=1+1,-1\n"say ""x"", y",\n(a)--(b),"two\nlines"\n`);
});

test("an answer is of the graph and the times that its query says", () => {
  const page = { graph: "a", trueAt: "2020-01-01", knownAt: null };
  const now = { graph: "a", trueAt: null, knownAt: null };
  assert.deepEqual(sourceOf("rest", "GET /graphs/a/graph/vertices", page), now);
  assert.deepEqual(sourceOf("rest", "GET /graphs/b%20c/graph/edges?limit=3", page), { ...now, graph: "b c" });
  assert.deepEqual(
    sourceOf("rest", "GET /graphs/a/graph/vertices?as_of=2021-01-01T00%3A00Z&as_of_tx=426000000000000", page),
    { graph: "a", trueAt: "2021-01-01T00:00Z", knownAt: "426000000000000" },
  );
  assert.deepEqual(sourceOf("rest", "POST /graphs/a/traversers/kout?as_of_tx=now\n\n{}", page), now);
  for (const path of ["/graphs", "/graphs/a/schema/vertexlabels", "/graphs/a/cypher?cypher=x", "/graphs/a/graph/vertices/history", "/graphs/a/graph/vertices/1/timeline?limit=2", "/graphs/a/graph/vertices?as_of=x", "/graphs/%/graph/vertices"]) {
    assert.equal(sourceOf("rest", `GET ${path}`, page), null, path);
  }
  assert.equal(sourceOf("gremlin", "g.V()", page), page);
  assert.equal(sourceOf("cypher", "MATCH (n) RETURN n", page), page);
  assert.equal(sourceOf("gremlin", "g.with('as_of', '2020-01-01').V()", page), null);
  assert.equal(sourceOf("gremlin", 'g.with("as_of_tx", "426000000000000").V()', page), null);
  assert.equal(sourceOf("gremlin", "g.V().call('varve.history')", page), null);
  assert.equal(sourceOf("cypher", "for valid_time as of date('2020-01-01') MATCH (n) RETURN n", page), null);
  assert.equal(sourceOf("cypher", "FOR SYSTEM_TIME AS OF $t MATCH (n) RETURN n", page), null);
});
