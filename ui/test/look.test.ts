import assert from "node:assert/strict";
import test from "node:test";
import { escapeXml } from "../src/explore/svg";
import { parseStyles } from "../src/explore/style";
import { isOnlyExplained, planOf, withPlan } from "../src/query/plan";

test("a query gets its plan in place of its results", () => {
  assert.equal(withPlan("g.V()", "explain"), "g.V().explain()");
  assert.equal(withPlan("g.V().toList();\n", "profile"), "g.V().profile()");
  assert.equal(withPlan("g.V().explain()", "profile"), "g.V().profile()");
  assert.equal(withPlan("g.V() // all", "explain"), "g.V() // all\n.explain()");
});

test("a plan runs nothing only if the text is one statement", () => {
  assert.ok(isOnlyExplained("g.V().drop().explain()"));
  assert.ok(!isOnlyExplained("g.V().drop().iterate(); g.V().explain()"));
  assert.ok(!isOnlyExplained("g.V().drop().iterate()\ng.V().explain()"));
  assert.ok(!isOnlyExplained("v = g.addV('a').next(); g.V(v).explain()"));
  assert.ok(!isOnlyExplained("v = g.addV('a').explain()"));
  assert.ok(!isOnlyExplained("if (true) { g.V().drop().iterate() }.explain()"));
  assert.ok(!isOnlyExplained("g.V().drop()"));
});

test("plans are told from other answers", () => {
  assert.equal(planOf([{ name: "ann" }]), null);
  assert.equal(planOf([]), null);
  assert.deepEqual(planOf([{ original: ["a", "b"], intermediate: [], final: ["c"] }]), { kind: "explain", before: ["a", "b"], after: ["c"] });
  const inner = { name: "in", dur: 1, counts: { traverserCount: 2, elementCount: 3 } };
  const found = planOf([{ dur: 4, metrics: [{ name: "out", dur: 3, counts: {}, metrics: [inner] }] }]);
  assert.ok(found?.kind === "profile");
  assert.deepEqual(found.steps.map(({ depth, share, rows, values }) => [depth, share, rows, values]), [[0, 0.75, null, null], [1, 0.25, 2, 3]]);
});

test("styles that are none are left out", () => {
  assert.deepEqual(parseStyles("no JSON"), {});
  assert.deepEqual(parseStyles('{"vertex:a":{"color":"#00ff00","size":"huge","caption":7},"vertex:b":3}'), { "vertex:a": { color: "#00ff00" } });
  assert.deepEqual(parseStyles('{"edge:a":{"color":"3","size":"large","caption":"since"}}'), { "edge:a": { color: "3", size: "large", caption: "since" } });
});

test("texts in a picture are text", () => {
  assert.equal(escapeXml('<a b="c">&\u0000\ud800'), "&lt;a b=&quot;c&quot;&gt;&amp;");
  assert.equal(escapeXml("图 😀"), "图 😀");
});
