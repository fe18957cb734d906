import assert from "node:assert/strict";
import test from "node:test";
import { fromHubble, toHubble } from "../src/explore/hubble";
import { Labels, type Disc } from "../src/explore/labels";
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

test("styles are kept in Hubble's form, and what else it keeps stays", () => {
  const hubble = '{"icon":"user","color":"#5C73E6","size":"HUGE","display_fields":["name","city"],"join_symbols":["-"]}';
  assert.deepEqual(fromHubble("vertex", hubble), { color: "#5C73E6", size: "large", caption: "name" });
  assert.deepEqual(JSON.parse(toHubble("vertex", { color: "3", size: "small", caption: "name" }, hubble)), {
    icon: "user", color: "#b0659a", size: "SMALL", display_fields: ["name", "city"], join_symbols: ["-"],
  });
  assert.deepEqual(fromHubble("vertex", '{"color":"#b0659a"}'), { color: "3" });
  const edge = toHubble("edge", { color: "#00ff00", size: "large", caption: "~id" }, '{"with_arrow":false,"line_type":"DASHED"}');
  assert.deepEqual(JSON.parse(edge), { with_arrow: false, line_type: "DASHED", color: "#00ff00", thickness: "THICK", display_fields: ["~id"] });
  assert.deepEqual(fromHubble("edge", edge), { color: "#00ff00", size: "large", caption: "~id" });
  for (const none of [undefined, null, 7, "no JSON", "[]", "{}", '{"color":"red","display_fields":"name","size":"NORMAL"}']) {
    assert.equal(fromHubble("vertex", none), null, String(none));
  }
});

test("a name is where it lies on no vertex and no other name", () => {
  const context = { measureText: () => ({ width: 30 }), fillText() {} } as unknown as CanvasRenderingContext2D;
  const settings = { labelSize: 12, labelFont: "sans-serif", labelWeight: "normal" };
  const disc = (key: string, x: number, y: number): Disc => ({ key, x, y, radius: 8 });
  const sidesOf = (discs: Disc[], forced?: string) => {
    const labels = new Labels(() => discs);
    for (const { key, x, y } of discs) {
      labels.draw(context, { key, x, y, size: 8, label: key, color: "", forceLabel: key === forced }, settings);
    }
    return Object.fromEntries(labels.drawn);
  };
  assert.deepEqual(sidesOf([disc("a", 0, 0), disc("b", 100, 0)]), { a: "right", b: "right" });
  assert.deepEqual(sidesOf([disc("a", 0, 0), disc("b", 20, 0)]), { a: "left", b: "right" });
  const crowded = [disc("a", 0, 0), disc("b", 20, 0), disc("c", -20, 0), disc("d", 0, 20), disc("e", 0, -20)];
  assert.ok(!("a" in sidesOf(crowded)));
  assert.equal(sidesOf(crowded, "a").a, "right");
});
