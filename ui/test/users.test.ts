import assert from "node:assert/strict";
import test from "node:test";
import { isSecret } from "../src/query/past";
import { changeUser } from "../src/users/asks";
import type { User } from "../src/users/api";
import { draftOf, isRepeated, resourceOf, withType } from "../src/users/words";

test("a resource is sent as it is shown", () => {
  for (const resource of [
    { type: "ALL" },
    { type: "VERTEX", label: "person", properties: { born: "P.gte(1990)", name: "Ann" } },
    { type: "SCHEMA", properties: { born: "P.gte(1990)" } },
    { type: "EDGE", properties: { "*": "nobody" } },
  ]) {
    assert.deepEqual(resourceOf(draftOf(resource)), resource);
  }
  assert.deepEqual(resourceOf(draftOf({ type: "EDGE", label: "*", properties: { "*": "*" } })), { type: "EDGE" });
  assert.deepEqual(resourceOf(draftOf({ type: "EDGE", properties: { since: 3 } })), { type: "EDGE", properties: { since: "P.eq(3)" } });
});

test("conditions on one property, and conditions of what has no properties", () => {
  const conditions = [
    { key: "born", operator: "gte", value: "1990" },
    { key: "name", operator: "is", value: "Ann" },
    { key: "born", operator: "lt", value: "2000" },
  ];
  const draft = { type: "VERTEX", label: "person", conditions };
  assert.deepEqual(conditions.map((_, at) => isRepeated(conditions, at)), [false, false, true]);
  assert.deepEqual(withType(draft, "EDGE").conditions, conditions);
  assert.deepEqual(resourceOf(withType(draft, "SCHEMA")), { type: "SCHEMA", label: "person" });
});

test("what a user has is kept, changed or cleared, as the form says", () => {
  const bob: User = { id: "-30:bob", user_name: "bob", user_email: "bob@example.org", user_description: "counts", user_create: "" };
  const { fields, request } = changeUser(bob);
  assert.deepEqual(fields.map(({ name, isOptional }) => [name, isOptional]), [["user_password", true], ["user_email", false], ["user_phone", true], ["user_description", true]]);
  const values = { user_password: "", user_email: "bob@example.org", user_phone: "", user_description: "" };
  assert.deepEqual(request(values, []).body, { user_email: "bob@example.org", user_description: "" });
});

test("requests with passwords are not kept", () => {
  const isKept = (text: string) => !isSecret({ kind: "rest", text });
  assert.ok(!isKept("GET /auth/users/-30%3Abob"));
  assert.ok(!isKept('POST /ui/session\n\n{"user_name": "a", "user_password": "b"}'));
  assert.ok(!isKept('POST /graphs/auth\n\n{"user_Password": "b"}'));
  assert.ok(isKept("GET /graphs/hugegraph/graph/vertices"));
  assert.ok(isKept("POST /graphs/hugegraph/graph/vertices\n\n{}"));
});
