import assert from "node:assert/strict";
import test from "node:test";
import { formatJson, mayHoldLong } from "../src/core/json";
import { changesElements } from "../src/core/rights";
import { emptyText, secondsOf, shorten, withoutClass } from "../src/core/text";
import { dateText, instantIn, millisOf, parseTime } from "../src/core/times";
import { knownScale, stopFrom, validScale } from "../src/explore/scale";
import { parseMetrics, quantile } from "../src/monitor/samples";
import { parseRest } from "../src/query/rest";
import { tableOf } from "../src/query/result";
import type { Timeline } from "../src/explore/api";

test("whole numbers keep their digits", () => {
  assert.equal(formatJson({ id: 459609792938234112n }, 0), '{"id":459609792938234112}');
  assert.equal(formatJson([-0, 1.5], 0), "[-0.0,1.5]");
  assert.equal(formatJson(["1"], 0), '["1"]');
});

test("answers with numbers that a double cannot hold are told from others", () => {
  for (const text of ['{"a":459609792938234113}', "[1, -9007199254740993]", "9007199254740993", '{"a": 9007199254740993}', "[1,\n9007199254740993]"]) {
    assert.ok(mayHoldLong(text), text);
  }
  for (const text of ['{"a":123456789012345}', '{"version":"459609792938234113"}', '{"at":"2026-01-01"}', "[0.12345678901234567]"]) {
    assert.ok(!mayHoldLong(text), text);
  }
});

test("times as a person types them", () => {
  const now = Date.UTC(2026, 0, 10);
  const value = (text: string) => parseTime(text, now);
  assert.deepEqual(value("now"), { value: null });
  assert.deepEqual(value(" 2024-05-01 "), { value: "2024-05-01" });
  assert.deepEqual(value("2024"), { value: "2024-01-01" });
  assert.deepEqual(value("-7d"), { value: "2026-01-03" });
  assert.deepEqual(value("459609792938234112"), { value: "459609792938234112" });
  assert.deepEqual(value("2024-13-01"), { wrong: true });
  assert.deepEqual(value("yesterday"), { wrong: true });
  assert.equal(millisOf(String(BigInt(now) * 1000n * 256n)), now);
});

test("a time without an offset is in UTC, in every time zone", () => {
  const zone = process.env.TZ;
  for (const TZ of ["America/New_York", "Asia/Kolkata", "UTC"]) {
    process.env.TZ = TZ;
    for (const text of ["2024-05-01T12:00", "2024-05-01 12:00:00", "2024-05-01T12:00:00.000999Z", "2024-05-01T14:00+02:00", "2024-05-01T14:00+0200"]) {
      assert.equal(millisOf(text), Date.UTC(2024, 4, 1, 12), `${text} in ${TZ}`);
      assert.deepEqual(parseTime(text), { value: text });
    }
    assert.equal(millisOf("2024-05-01"), Date.UTC(2024, 4, 1));
  }
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  for (const text of ["2024-05-01T12", "2024-05-01T12:00 later", "2024-05-01T12:001", "May 1, 2024", "12"]) {
    assert.ok(Number.isNaN(millisOf(text)), text);
    assert.deepEqual(parseTime(text), { wrong: true });
  }
});

test("a date with points is a day, month and year", () => {
  assert.deepEqual(parseTime("15.6.2021"), { value: "2021-06-15" });
  assert.deepEqual(parseTime("5.12.2021"), { value: "2021-12-05" });
  for (const text of ["31.06.2021", "1.13.2021", "0.1.2021", "15.6.21"]) assert.deepEqual(parseTime(text), { wrong: true }, text);
});

test("a DATE at midnight is a date, and no other instant is", () => {
  assert.equal(dateText("1975-11-25 00:00:00.000"), "1975-11-25");
  assert.equal(dateText("1975-11-25T00:00:00Z"), "1975-11-25");
  for (const text of ["1975-11-25 00:00:00.001", "1975-11-25 12:00:00.000", "1975-11-25", "1975-11-25T00:00:00+02:00"]) assert.equal(dateText(text), text);
});

const TIMELINE = {
  valid: ["2020-01-01T00:00:00Z", "2022-01-01T00:00:00Z", "2030-01-01T00:00:00Z"].map((at) => ({ at, last: at, begins: 1, ends: 0, changes: 0 })),
  recorded: ["459609792938234112", "459609792938234368"].map((version) => ({ at: "", last: "", version, last_version: version, puts: 1, deletes: 0, corrections: 0 })),
} as unknown as Timeline;

test("now is a stop between the past and what is planned", () => {
  const scale = validScale(TIMELINE, Date.UTC(2026, 0, 1));
  assert.deepEqual(scale.stops.map((stop) => stop.value), ["2020-01-01T00:00:00Z", "2022-01-01T00:00:00Z", null, "2030-01-01T00:00:00Z"]);
  assert.equal(stopFrom(scale, scale.nowAt, -1)?.value, "2022-01-01T00:00:00Z");
  assert.equal(stopFrom(scale, scale.nowAt, 1)?.value, "2030-01-01T00:00:00Z");
  assert.equal(stopFrom(scale, scale.nowAt, -10)?.value, "2020-01-01T00:00:00Z");
});

test("commits of one millisecond are steps of their own", () => {
  const scale = knownScale(TIMELINE);
  const places = TIMELINE.recorded.map((commit) => scale.place(commit.version));
  assert.ok(places[1]! - places[0]! > 0.3);
  assert.equal(stopFrom(scale, scale.nowAt, -1)?.value, "459609792938234368");
});

test("metrics and their quantiles", () => {
  const text = [
    "varve_uptime_seconds 3.5",
    'varve_requests_total{method="GET",route="/ui",code="200"} 4',
    'varve_requests_total{method="GET",route="/ui",code="503"} 1',
    'varve_request_seconds_bucket{method="GET",route="/ui",le="0.001"} 3',
    'varve_request_seconds_bucket{method="GET",route="/ui",le="0.004"} 5',
    'varve_request_seconds_bucket{method="GET",route="/ui",le="+Inf"} 5',
  ].join("\n");
  const sample = parseMetrics(text, 0);
  assert.equal(sample.gauges.get("varve_uptime_seconds"), 3.5);
  const route = sample.routes.get("GET /ui");
  assert.equal(route?.count, 5);
  assert.equal(route?.failed, 1);
  assert.equal(quantile(sample.routes.values(), undefined, 0.5), 1);
  assert.equal(quantile(sample.routes.values(), undefined, 0.99), 4);
});

test("a REST request is a line and a body", () => {
  assert.deepEqual(parseRest("GET /graphs"), { method: "GET", path: "/graphs" });
  assert.deepEqual(parseRest('POST /x?a=1\n\n{"b": 2}\n'), { method: "POST", path: "/x?a=1", body: '{"b": 2}' });
  assert.equal(parseRest("PATCH /x"), null);
});

test("null, an empty text, an empty list and an empty map do not look alike", () => {
  const { columns, rows } = tableOf([null, "", [], {}]);
  assert.deepEqual(columns, ["value"]);
  assert.deepEqual(rows.map(({ cells }) => emptyText(cells.value) ?? JSON.stringify(cells.value)), ["null", "''", "[]", "{}"]);
  assert.equal(emptyText(undefined), undefined);
});

test("a number of days is empty or above 0", () => {
  assert.deepEqual(["90", " 1 ", "0.5", "", " "].map(secondsOf), [7_776_000, 86_400, 43_200, undefined, undefined]);
  for (const text of ["90d", "abc", "-5", "0", "1e3", "0x10", "Infinity", "0.000001"]) assert.equal(secondsOf(text), null, text);
});

test("who may change elements of a graph is told by the rights", () => {
  const roles = { read: { READ: { ALL: [] }, EXECUTE: { ALL: [] } }, variables: { WRITE: { VAR: [] } }, all: { WRITE: { ALL: [] } }, some: { DELETE: { "EDGE#knows": [] } } };
  assert.deepEqual(["read", "variables", "all", "some", "none"].map((graph) => changesElements(roles, graph)), [false, false, true, true, false]);
});

test("a name is no longer than a line", () => {
  assert.equal(shorten("a\nb"), "a b");
  assert.equal([...shorten("😀".repeat(5000))].length, 60);
  assert.equal(shorten("x".repeat(60)), "x".repeat(60));
  assert.ok(shorten(" ".repeat(5000) + "x").length <= 60);
});

test("a message has no class of Java", () => {
  assert.equal(withoutClass("org.apache.hugegraph.HugeException: no such key"), "no such key");
  assert.equal(withoutClass("java.lang.IllegalArgumentException: a: b"), "a: b");
  for (const text of ["column 'a': not in the header", "HugeException: x", "2024-05-01: y"]) assert.equal(withoutClass(text), text);
});

test("a day that the calendar lacks is no time", () => {
  for (const text of ["2021-02-30", "2021-02-30T12:00Z", "30.2.2021", "2023-02-29"]) assert.deepEqual(parseTime(text), { wrong: true }, text);
  assert.deepEqual(parseTime("2024-02-29T12:00Z"), { value: "2024-02-29T12:00Z" });
});

test("an instant of a period is in it", () => {
  assert.equal(instantIn("2020-01-01", "2021-01-01"), "2020-01-01");
  assert.equal(instantIn("2020-01-01", null), "2020-01-01");
  assert.equal(instantIn(null, "2021-01-01"), "2020-12-31T23:59:59.999Z");
  assert.equal(instantIn(null, "2021-01-01T12:00:00.000001Z"), "2021-01-01T11:59:59.999Z");
  assert.equal(instantIn(null, null), null);
});
