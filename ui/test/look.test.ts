import assert from "node:assert/strict";
import test from "node:test";
import { fromHubble, toHubble } from "../src/explore/hubble";
import { ticks } from "../src/explore/axis";
import { changed, missingMembers, needsStart, periodOf, valueOf } from "../src/explore/change";
import { bodyOf, groupsOf, partsOf } from "../src/tasks/algorithms";
import { formatJson, parseJson } from "../src/core/json";
import { setTheme } from "../src/core/prefs";
import { clearEmphasis, colorBy, emphasis, neutralColor, rampAt, setEmphasis, sizeBy } from "../src/explore/emphasis";
import { apart } from "../src/explore/apart";
import { communities } from "../src/explore/groups";
import { colors } from "../src/explore/look";
import { huesOf } from "../src/explore/hues";
import { placeNames, spotsOf } from "../src/explore/names";
import { radiusAt, type Scene } from "../src/explore/scene";
import { escapeXml } from "../src/explore/svg";
import { colorOn, scaleFrom } from "../src/explore/scales";
import { edgesBeside } from "../src/explore/sides";
import { parseStyles } from "../src/explore/style";
import { isOnlyExplained, planOf, withPlan } from "../src/query/plan";

test("values of an algorithm are drawn: without one as usual, equal ones in the middle", () => {
  const [both, at] = [new Set(["size", "color"] as const), { trueAt: null, knownAt: null }];
  const set = (values: [string, number | string][]) => setEmphasis("degree", new Map(values), both, at);
  set([["1", 0], ['"1"', 4]]);
  assert.deepEqual([sizeBy(emphasis(), "1"), sizeBy(emphasis(), '"1"'), sizeBy(emphasis(), "2")], [0.8, 3, null]);
  assert.deepEqual([colorBy(emphasis(), "1"), colorBy(emphasis(), '"1"'), colorBy(emphasis(), "2")], [rampAt(0), rampAt(1), neutralColor()]);
  set([["1", 0], ["2", 0]]);
  assert.deepEqual([sizeBy(emphasis(), "1"), colorBy(emphasis(), "1"), colorBy(emphasis(), "3")], [null, rampAt(0.5), neutralColor()]);
  clearEmphasis();
  assert.deepEqual([sizeBy(emphasis(), "1"), colorBy(emphasis(), "1")], [null, null]);
});

test("the least value is seen on the background", () => {
  const luminance = (color: string) => {
    const [r, g, b] = [1, 3, 5].map((from) => parseInt(color.slice(from, from + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const contrast = (one: string, other: string) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
    return (high + 0.05) / (low + 0.05);
  };
  for (const mode of ["light", "dark"] as const) {
    setTheme(mode);
    assert.ok(contrast(rampAt(0), colors().background) > 2, mode);
  }
  setTheme("auto");
});

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

function sceneOf(discs: [string, number, number][], ends: [number, number][] = [], edgeNames: string[] = []): Scene {
  return {
    keys: discs.map(([key]) => key), names: discs.map(([key]) => key), counts: discs.map(() => ""),
    xy: Float32Array.from(discs.flatMap(([, x, y]) => [x, y])), sizes: Float32Array.from(discs, () => 1),
    looks: new Uint16Array(discs.length), nodeLooks: [], order: Uint32Array.from(discs, (_, at) => at), named: new Uint8Array(discs.length),
    edgeKeys: ends.map((_, at) => `e${at}`), ends: Uint32Array.from(ends.flat()), edgeLooks: [], edgeLook: new Uint16Array(ends.length),
    bends: new Float32Array(ends.length), widths: Float32Array.from(ends, () => 1), edgeNames,
  };
}

const window_ = { x: 0, y: 0, scale: 1, width: 800, height: 600, radius: 8, text: "", background: "" };

function namesOf(scene: Scene) {
  return placeNames(scene, window_, spotsOf(scene, window_), () => 30);
}

test("a name is where it covers no other name and no vertex, the important first", () => {
  const sidesOf = (scene: Scene) => Object.fromEntries([...namesOf(scene).vertices].map(([at, { anchor }]) => [scene.keys[at], anchor]));
  assert.deepEqual(sidesOf(sceneOf([["a", 0, 0], ["b", 100, 0]])), { a: "start", b: "start" });
  assert.deepEqual(sidesOf(sceneOf([["a", 0, 0], ["b", 20, 0]])), { a: "end", b: "start" });
  // Many in one place: the first ones are named, however crowded it is.
  const crowd = sceneOf(Array.from({ length: 400 }, (_, at): [string, number, number] => [`v${at}`, (at % 20) * 18, Math.floor(at / 20) * 18]));
  const drawn = [...namesOf(crowd).vertices.keys()];
  assert.ok(drawn.includes(0) && drawn.length < 200, String(drawn.length));
});

test("an edge is named where its line has room for it", () => {
  const apartBy = (distance: number) => namesOf(sceneOf([["a", -distance / 2, 0], ["b", distance / 2, 0]], [[0, 1]], ["knows"])).edges.size;
  assert.equal(apartBy(200), 1);
  assert.equal(apartBy(55), 0);
});

test("after the last pass no disc covers another", () => {
  const count = 400;
  const xy = Float64Array.from({ length: 2 * count }, (_, at) => Math.sin(at * 12.9898) * 30);
  xy.fill(1, 0, 20);
  const radii = Float64Array.from({ length: count }, (_, at) => 5 + (at % 7 === 0 ? 12 : 0));
  assert.ok(apart(xy, radii, () => false));
  for (let one = 0; one < count; one += 1) {
    for (let other = one + 1; other < count; other += 1) {
      const distance = Math.hypot(xy[2 * one]! - xy[2 * other]!, xy[2 * one + 1]! - xy[2 * other + 1]!);
      assert.ok(distance >= radii[one]! + radii[other]!, `${one} ${other} ${distance}`);
    }
  }
  const held = Float64Array.from([0, 0, 1, 0]);
  assert.ok(apart(held, Float64Array.from([5, 5]), (at) => at === 0));
  assert.deepEqual([held[0], held[1]], [0, 0]);
});

test("circles shrink with density and keep their size while the picture is zoomed into", () => {
  assert.equal(radiusAt(1, 1), radiusAt(8, 1));
  assert.ok(radiusAt(0.2, 0.2) < radiusAt(1, 1));
  assert.ok(radiusAt(0.5, 1) < radiusAt(1, 1));
});

test("communities are what edges join", () => {
  const ends: [number, number][] = [];
  for (const start of [0, 10, 20]) for (let a = 0; a < 10; a += 1) for (let b = a + 1; b < 10; b += 1) ends.push([start + a, start + b]);
  ends.push([0, 10], [10, 20]);
  const found = communities(30, ends);
  assert.equal(new Set(found).size, 3);
  for (const start of [0, 10, 20]) assert.equal(new Set(found.slice(start, start + 10)).size, 1);
  assert.deepEqual(communities(30, ends), found);
});

test("colours of labels depend on their names alone, and a new label changes none", () => {
  const few = huesOf("g", ["person", "city", "company"], 8);
  const more = huesOf("g", ["person", "city", "company", "car"], 8);
  for (const [label, hue] of few) assert.equal(more.get(label), hue);
  assert.equal(new Set(more.values()).size, 4);
});

test("a change with a period leaves the states outside of it", () => {
  const states = [{ from: "2020-01-01", to: null, properties: { city: "Rome", age: 3 } }];
  const change = { kind: "set" as const, from: "2021-01-01", to: "2022-01-01", set: { city: "Oslo" }, add: {}, unset: ["age"] };
  assert.deepEqual(changed(states, change), [
    { from: "2020-01-01", to: "2021-01-01", properties: { city: "Rome", age: 3 } },
    { from: "2021-01-01", to: "2022-01-01", properties: { city: "Oslo" } },
    { from: "2022-01-01", to: null, properties: { city: "Rome", age: 3 } },
  ]);
  assert.deepEqual(changed(states, { ...change, kind: "delete", to: null }), [{ from: "2020-01-01", to: "2021-01-01", properties: { city: "Rome", age: 3 } }]);
  assert.deepEqual(changed(states, { ...change, from: "2010-01-01", to: "2011-01-01" }), states);
  assert.deepEqual(valueOf("12", "INT"), { value: 12 });
  assert.deepEqual(valueOf("9007199254740993", "LONG"), { value: 9007199254740993n });
  assert.ok("wrong" in valueOf("x", "INT") && "wrong" in valueOf("", "DOUBLE"));
});

const NOW = "2026-01-10T12:00:00.000000Z";

test("the period of a change is as it is typed", () => {
  const value = (from: string, to: string) => periodOf(from, to, NOW);
  assert.deepEqual(value("", ""), { from: null, to: null });
  assert.deepEqual(value(" now ", ""), { from: null, to: null });
  assert.deepEqual(value("2021", "now"), { from: "2021-01-01", to: NOW });
  assert.deepEqual(value("-1d", "+1d"), { from: "2026-01-09T12:00:00Z", to: "2026-01-11T12:00:00Z" });
  assert.deepEqual(value("", "2027"), { from: null, to: "2027-01-01" });
  for (const [from, to] of [["", "now"], ["", "2025"], ["2022", "2021"], ["2022", "2022"]] as const) assert.deepEqual(value(from, to), { wrong: "editPeriodEmpty" });
  assert.deepEqual(value("yesterday", ""), { wrong: "timeWrong" });
  assert.deepEqual(value("", "459609792938234112"), { wrong: "timeWrong" });
});

test("a change from now on says when now is, unless one endless state is all there is", () => {
  const state = (from: string | null, to: string | null) => ({ from, to, properties: {} });
  const past = state("2020-01-01", "2021-01-01");
  assert.equal(needsStart([past, state("2021-01-01", null)], NOW), false);
  assert.equal(needsStart([state(null, null)], NOW), false);
  assert.equal(needsStart([state("2021-01-01", "2027-01-01"), state("2027-01-01", null)], NOW), true);
  assert.equal(needsStart([state("2021-01-01", "2027-01-01")], NOW), true);
  assert.equal(needsStart([past, state("2027-01-01", null)], NOW), true);
  assert.equal(needsStart([past], NOW), true);
});

test("members are added to the lists and sets of each state", () => {
  assert.deepEqual(missingMembers(["a", "b"], ["a", "b", "b"], false), ["b"]);
  assert.deepEqual(missingMembers([], ["a"], false), ["a"]);
  assert.equal(missingMembers(["a", "b"], ["b", "a", "c"], false), null);
  assert.equal(missingMembers(["a", "b"], ["a"], false), null);
  assert.deepEqual(missingMembers(["a", "b"], ["c", "b", "a"], true), ["c"]);
  assert.equal(missingMembers(["a", "b"], ["a", "c"], true), null);
  assert.deepEqual(missingMembers([9007199254740993n], [9007199254740993n, 1], false), [1]);
  const states = [
    { from: "2020-01-01", to: "2021-01-01", properties: { all: ["a"], different: ["a"] } },
    { from: "2021-01-01", to: null, properties: {} },
  ];
  const add = { all: { members: ["a", "b"], isSet: false }, different: { members: ["a", "b"], isSet: true } };
  const after = changed(states, { kind: "set", from: "2019-01-01", to: null, set: {}, add, unset: [] });
  assert.deepEqual(after.map(({ properties }) => properties), [{ all: ["a", "a", "b"], different: ["a", "b"] }, { all: ["a", "b"], different: ["a", "b"] }]);
});

test("the dates of an axis fit its length", () => {
  const day = 86_400_000;
  const from = Date.UTC(2020, 0, 1);
  assert.deepEqual(ticks(from, from + 1500 * day, 600).map(({ text }) => text), ["2020", "2021", "2022", "2023", "2024"]);
  assert.deepEqual(ticks(from, from + 3 * day, 400).map(({ text }) => text), ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]);
  assert.ok(ticks(from, from + 3_600_000, 400).every(({ text }) => /^(\d\d:\d\d|2020-01-01)$/.test(text)));
  assert.ok(ticks(from, from + 1500 * day, 50).length <= 2);
});

test("a result of an algorithm is split into facts and rows", () => {
  assert.deepEqual(partsOf("page_rank", { alpha: 0.15, top: { a: 0.5 } }), { facts: [["alpha", "0.15"]], rows: [["a", 0.5]], areScores: true });
  assert.deepEqual(partsOf("degree_centrality", { a: 3 }), { facts: [], rows: [["a", 3]], areScores: true });
  assert.equal(partsOf("count_vertex", { person: 3 }).areScores, false);
  assert.deepEqual([...groupsOf(partsOf("k_core", { kcores: [["a", "b"], ["c"]] }).rows)], [["a", "1"], ["b", "1"], ["c", "2"]]);
  assert.deepEqual(bodyOf("page_rank", { top: "", weight: "w" }), { alpha: 0.15, weight: "w" });
});

test("scores of vertices whose ids are numbers keep their order and their digits", () => {
  const rowsOf = (name: string, text: string) => partsOf(name, parseJson(text)).rows;
  assert.deepEqual(rowsOf("page_rank", '{"alpha":0.15,"top":{"10":0.9,"a":0.5,"9":0.2}}'), [["10", 0.9], ["a", 0.5], ["9", 0.2]]);
  assert.deepEqual(partsOf("stress_centrality", { 3: 2, 7: 9007199254740993n }), { facts: [], rows: [["7", 9007199254740993n], ["3", 2]], areScores: true });
  assert.deepEqual(rowsOf("single_source_shortest_path", '{"source":7,"distances":{"7":0,"3":1}}'), [["7", 0], ["3", 1]]);
  const body = bodyOf("personalized_page_rank", { sources: "459609792938234113, 7, a", alpha: "", top: "", times: "" });
  assert.equal(formatJson(body, 0), '{"sources":[459609792938234113,7,"a"]}');
  assert.deepEqual(bodyOf("single_source_shortest_path", { source: "459609792938234113", top: "" }), { source: 459609792938234113n });
});

test("colours by a property: a scale of numbers or dates, or a colour for each frequent value", () => {
  assert.deepEqual(scaleFrom("born", [1988, 1990n, undefined, 2001]), { key: "born", kind: "numbers", least: 1988, greatest: 2001, isDate: false });
  const dates = scaleFrom("since", ["2020-01-01", "2021-01-01T00:00:00Z"]);
  assert.deepEqual(dates, { key: "since", kind: "numbers", least: Date.UTC(2020, 0, 1), greatest: Date.UTC(2021, 0, 1), isDate: true });
  const zone = process.env.TZ;
  for (const TZ of ["Asia/Shanghai", "America/New_York", "UTC"]) {
    process.env.TZ = TZ;
    const scale = scaleFrom("since", ["2020-01-01 00:00:00.000", "2021-01-01 12:00:00.000"]);
    assert.deepEqual(scale, { key: "since", kind: "numbers", least: Date.UTC(2020, 0, 1), greatest: Date.UTC(2021, 0, 1, 12), isDate: true });
  }
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  const many = scaleFrom("kind", ["b", "a", "b", 3, ...Array.from({ length: 9 }, (_, at) => `z${at}`)]);
  assert.ok(many?.kind === "values");
  assert.deepEqual([...many.places].slice(0, 3), [["b", "0"], ["3", "1"], ["a", "2"]]);
  assert.equal(many.places.size, 7);
  assert.equal(many.others, 5);
  assert.equal(scaleFrom("none", [undefined, null]), null);
  assert.notEqual(colorOn(dates!, "2020-01-01"), colorOn(dates!, "2021-01-01"));
  assert.equal(colorOn(many, "nobody has it"), colorOn(many, undefined));
  const stored = toHubble("vertex", { by: "born" }, '{"icon":"user"}');
  assert.deepEqual(JSON.parse(stored), { icon: "user", color_by: "born" });
  assert.deepEqual(fromHubble("vertex", stored), { by: "born" });
});

test("the edges of a group are asked for with all of its label and direction", () => {
  const group = (direction: "OUT" | "IN", label: string, other_label: string, count: number, at_least = false) => ({ direction, label, other_label, count, at_least });
  const groups = [group("OUT", "likes", "person", 60), group("OUT", "likes", "city", 3), group("IN", "likes", "person", 9), group("OUT", "knows", "person", 4)];
  assert.deepEqual(groups.map((each) => edgesBeside(each, groups, 1000)), [63, 63, 9, 4]);
  assert.equal(edgesBeside(groups[1]!, groups, 50), 50);
  assert.equal(edgesBeside(groups[0]!, [...groups, group("OUT", "likes", "dog", 1, true)], 1000), 1000);
});
