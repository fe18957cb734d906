import assert from "node:assert/strict";
import test from "node:test";
import type { FileRead } from "../src/load/api";
import { datesOf, isInstant, openNotes, parseMapping, partsOf, removePart, rolesFor, setEnd, setFlag, setFormat, setInstant, setKind, setLabel, setRole, setType, type Mapping } from "../src/load/roles";
import { formatToml, parseToml } from "../src/load/toml";

const DRAFT = `# Drafted.

# people.csv: 2 rows
[[vertex]]
file = "people.csv"
label = "people"
date_formats = { born = ["day_month_year"] }
valid_from = 1900-01-01 # before the first period

# jobs.csv: 3 rows
[[vertex]]
file = "jobs.csv"
label = "jobs"
delimiter = ";"
valid_from = "from"

[[edge]]
file = "jobs.csv"
label = "jobs_company"
source = ["company_id", "from"]
target = "company_id"
ignore = ["person_id", "title", "to"]

[[vertex]]
file = "companies.csv"
label = "companies"
id = "company_id"

[schema]
propertykeys = [
  { cardinality = "SINGLE", data_type = "DATE", name = "born" },
  { cardinality = "SINGLE", data_type = "TEXT", name = "person_id" },
]
vertexlabels = [
  { id_strategy = "AUTOMATIC", name = "people", nullable_keys = ["person_id", "born"], properties = ["person_id", "born"] },
  { id_strategy = "PRIMARY_KEY", name = "jobs", nullable_keys = [], primary_keys = ["company_id", "from"], properties = ["person_id", "company_id", "title", "to"] },
  { id_strategy = "CUSTOMIZE_STRING", name = "companies", nullable_keys = [], properties = [] },
]
edgelabels = [
  { name = "jobs_company", nullable_keys = [], properties = [], source_label = "jobs", target_label = "companies" },
]
`;

function fileOf(file: string, columns: Record<string, [string, string]>): FileRead {
  const names = Object.entries(columns).map(([name, [type]]) => ({ name, type, empty: 0 }));
  const rows = [{ line: 2, cells: Object.values(columns).map(([, value]) => value) }];
  return { file, found: [], rows_read: 1, has_more: false, rows_refused: 0, columns: names, rows };
}

const FILES = [
  fileOf("people.csv", { person_id: ["TEXT", "P1"], born: ["DATE", "3.4.1980"] }),
  fileOf("jobs.csv", { person_id: ["TEXT", "P1"], company_id: ["TEXT", "C1"], title: ["TEXT", "clerk"], from: ["DATE", "2020-01-01"], to: ["TEXT", "31.12.2021"] }),
  fileOf("companies.csv", { company_id: ["TEXT", "C1"] }),
];

const rolesOf = (mapping: Mapping, label: string) =>
  Object.fromEntries(partsOf(mapping, FILES).find((part) => part.label === label)!.columns.map(({ column, role }) => [column, role]));
const labelIn = (mapping: Mapping, list: string, name: string) => {
  const lists = mapping.sections.find((section) => section.name === "schema")!.entries.get(list)?.value as Map<string, unknown>[] | undefined;
  return lists?.find((table) => table.get("name") === name);
};
const sectionOf = (mapping: Mapping, label: string) => partsOf(mapping, FILES).find((part) => part.label === label)!.section;
/** As the page does it: by way of the text. */
function changed(mapping: Mapping, edit: (mapping: Mapping) => void): Mapping {
  edit(mapping);
  return parseMapping(formatToml(mapping), null);
}

test("a mapping that is read and written is the same", () => {
  assert.equal(formatToml(parseToml(DRAFT)), DRAFT);
});

test("what a mapping may hold is read", () => {
  const text = `skip_unchanged = true # said twice
[[vertex]] # of people
"file" = 'a"b.csv'
null = [ # none
  "",
  "N/A", ]
valid_to = 2030-01-01T12:00:00Z
rename = { "Full name" = "na\\u0041me", 'x y' = "z\\t" }
`;
  const { sections } = parseToml(text);
  const entry = (key: string) => sections[1]!.entries.get(key)!.value;
  assert.equal(entry("file"), 'a"b.csv');
  assert.deepEqual(entry("null"), ["", "N/A"]);
  assert.deepEqual([...(entry("rename") as Map<string, string>)], [["Full name", "naAme"], ["x y", "z\t"]]);
  assert.deepEqual(parseToml(formatToml(parseToml(text))).sections[1]!.entries.get("rename"), sections[1]!.entries.get("rename"));
  assert.match(formatToml(parseToml(text)), /valid_to = 2030-01-01T12:00:00Z\n/);
});

test("what is no mapping is refused with its line", () => {
  for (const [text, line] of [["a = 1\nb", 2], ["a = 1\na = 2", 2], ["\na = { b = 1, b = 2 }", 2], ["\n\na.b = 1", 3], ["a = [1", 1], ["a = 1 b = 2", 1], ['a = """x"""', 1], ["[a.b]", 1]] as const) {
    assert.throws(() => parseToml(text), new RegExp(`^Error: ${line}: `), text);
  }
});

test("columns have the meaning that the text gives them", () => {
  const mapping = parseMapping(DRAFT, null);
  assert.deepEqual(rolesOf(mapping, "people"), { person_id: "property", born: "property" });
  assert.deepEqual(rolesOf(mapping, "jobs"), { person_id: "property", company_id: "key", title: "property", from: "from", to: "property" });
  assert.deepEqual(rolesOf(mapping, "companies"), { company_id: "id" });
  assert.equal(partsOf(mapping, FILES)[0]!.from, "1900-01-01");
});

test("vertices that are edges become edges between the files", () => {
  let mapping = changed(parseMapping(DRAFT, null), (now) => setRole(now, sectionOf(now, "people"), "person_id", "id", FILES));
  assert.equal(labelIn(mapping, "vertexlabels", "people")!.get("id_strategy"), "CUSTOMIZE_STRING");
  assert.deepEqual(labelIn(mapping, "vertexlabels", "people")!.get("properties"), ["born"]);
  mapping = changed(mapping, (now) => setKind(now, sectionOf(now, "jobs"), "edge", FILES));
  assert.deepEqual(rolesOf(mapping, "jobs"), { person_id: "source", company_id: "target", title: "property", from: "from", to: "property" });
  const label = labelIn(mapping, "edgelabels", "jobs")!;
  assert.deepEqual([label.get("source_label"), label.get("target_label"), label.get("properties")], ["people", "companies", ["title", "to"]]);
  assert.equal(labelIn(mapping, "vertexlabels", "jobs"), undefined);
  assert.equal(labelIn(mapping, "edgelabels", "jobs_company"), undefined, "an edge from vertices that are none");
  assert.equal(labelIn(mapping, "propertykeys", "person_id"), undefined, "a key that nothing has");
  mapping = changed(mapping, (now) => setRole(now, sectionOf(now, "jobs"), "to", "to", FILES));
  mapping = changed(mapping, (now) => setRole(now, sectionOf(now, "jobs"), "title", "sort", FILES));
  const jobs = labelIn(mapping, "edgelabels", "jobs")!;
  assert.deepEqual([jobs.get("properties"), jobs.get("sort_keys"), jobs.get("frequency"), jobs.get("nullable_keys")], [["title"], ["title"], "MULTIPLE", []]);
  const text = formatToml(mapping);
  assert.match(text, /\[\[edge\]\]\nfile = "jobs.csv"\nlabel = "jobs"\ndelimiter = ";"\nsource = "person_id"\ntarget = "company_id"\nvalid_from = "from"\nvalid_to = "to"\n/);
  assert.match(text, /date_formats = \{ to = \["day_month_year"\] \}/);
  assert.match(text, /^# Drafted\.$/m, "a comment that was lost");
  mapping = changed(mapping, (now) => setKind(now, sectionOf(now, "jobs"), "vertex", FILES));
  assert.deepEqual(rolesOf(mapping, "jobs"), { person_id: "property", company_id: "property", title: "property", from: "from", to: "to" });
  assert.equal(labelIn(mapping, "vertexlabels", "jobs")!.get("id_strategy"), "AUTOMATIC");
});

test("dates of several forms have all of them, and words beside them are no values", () => {
  const cells = (column: string, values: (string | null)[]): FileRead => ({
    file: "jobs.csv", found: [], rows_read: values.length, has_more: false, rows_refused: 0, columns: [{ name: column, type: "TEXT", empty: 0 }],
    rows: values.map((value, at) => ({ line: at + 2, cells: [value] })),
  });
  assert.deepEqual(datesOf(cells("to", ["2020-01-01", "31.12.2021", "present", "-", null, ""]), "to"), { formats: ["auto", "day_month_year"], nulls: ["present", "-"] });
  assert.deepEqual(datesOf(cells("to", ["04/16/2021", "16.04.2021"]), "to"), { formats: ["month_day_year", "day_month_year"], nulls: [] });
  assert.deepEqual(datesOf(cells("to", ["a", "b"]), "to"), { formats: ["auto"], nulls: [] });
  assert.deepEqual(datesOf(cells("to", ["2020-01-01", "a", "b", "c", "d"]), "to").nulls, []);
  const files = [FILES[0]!, { ...FILES[1]!, rows: ["2020-01-01", "31.12.2021", "present"].map((to, at) => ({ line: at + 2, cells: ["P1", "C1", "clerk", "2020-01-01", to] })) }, FILES[2]!];
  let mapping = parseMapping(DRAFT, null);
  setRole(mapping, sectionOf(mapping, "jobs"), "to", "to", files);
  mapping = parseMapping(formatToml(mapping), null);
  assert.match(formatToml(mapping), /date_formats = \{ to = \["auto", "day_month_year"\] \}/);
  assert.match(formatToml(mapping), /\nnull = \["", "present"\]/);
  assert.deepEqual(partsOf(mapping, files).find(({ label }) => label === "jobs")!.nulls, ["present"]);
});

test("a note goes with its cause", () => {
  const notes = [{ file: "jobs.csv", column: "to", text: "a" }, { file: "jobs.csv", column: "title", text: "b" }, { file: "jobs.csv", text: "c" }, { file: "people.csv", text: "d" }];
  const left = (edit: (mapping: Mapping) => void) => openNotes(notes, parseMapping(DRAFT, null), changed(parseMapping(DRAFT, null), edit), FILES).map(({ text }) => text);
  assert.deepEqual(left(() => undefined), ["a", "b", "c", "d"]);
  assert.deepEqual(left((now) => setType(now, sectionOf(now, "jobs"), "title", "INT", FILES)), ["a", "b", "c", "d"], "a key that the schema does not have");
  assert.deepEqual(left((now) => setRole(now, sectionOf(now, "jobs"), "title", "ignore", FILES)), ["a", "c", "d"]);
  assert.deepEqual(left((now) => setRole(now, sectionOf(now, "jobs"), "to", "to", FILES)), ["b", "d"]);
  assert.deepEqual(left((now) => setLabel(now, sectionOf(now, "people"), "staff", FILES)), ["a", "b", "c"]);
});

test("a column that takes a place alone frees the one before", () => {
  let mapping = changed(parseMapping(DRAFT, null), (now) => setRole(now, sectionOf(now, "jobs"), "title", "from", FILES));
  assert.deepEqual(rolesOf(mapping, "jobs"), { person_id: "property", company_id: "key", title: "from", from: "property", to: "property" });
  mapping = changed(mapping, (now) => setRole(now, sectionOf(now, "jobs"), "person_id", "id", FILES));
  assert.equal(rolesOf(mapping, "jobs").company_id, "property");
  assert.equal(labelIn(mapping, "vertexlabels", "jobs")!.get("primary_keys"), undefined);
  mapping = changed(mapping, (now) => setRole(now, sectionOf(now, "jobs"), "to", "key", FILES));
  assert.deepEqual([rolesOf(mapping, "jobs").person_id, labelIn(mapping, "vertexlabels", "jobs")!.get("id_strategy")], ["property", "PRIMARY_KEY"]);
  mapping = changed(mapping, (now) => setRole(now, sectionOf(now, "jobs"), "title", "ignore", FILES));
  assert.equal(rolesOf(mapping, "jobs").title, "ignore");
  mapping = changed(mapping, (now) => setRole(now, sectionOf(now, "jobs"), "title", "property", FILES));
  assert.equal(rolesOf(mapping, "jobs").title, "property");
});

test("types, forms of dates, labels, ends and periods are changed in the text", () => {
  let mapping = parseMapping(DRAFT, null);
  mapping = changed(mapping, (now) => setType(now, sectionOf(now, "people"), "born", "TEXT", FILES));
  assert.doesNotMatch(formatToml(mapping), /date_formats|DATE/);
  mapping = changed(mapping, (now) => setType(now, sectionOf(now, "people"), "born", "DATE", FILES));
  assert.match(formatToml(mapping), /date_formats = \{ born = \["day_month_year"\] \}/);
  mapping = changed(mapping, (now) => setFormat(now, sectionOf(now, "people"), "born", "month_day_year"));
  assert.match(formatToml(mapping), /born = \["month_day_year"\]/);
  mapping = changed(mapping, (now) => setLabel(now, sectionOf(now, "companies"), "firm", FILES));
  assert.equal(labelIn(mapping, "edgelabels", "jobs_company")!.get("target_label"), "firm");
  mapping = changed(mapping, (now) => setEnd(now, sectionOf(now, "jobs_company"), "source", "people"));
  assert.equal(labelIn(mapping, "edgelabels", "jobs_company")!.get("source_label"), "people");
  mapping = changed(mapping, (now) => setInstant(now, sectionOf(now, "people"), "from", ""));
  mapping = changed(mapping, (now) => setInstant(now, sectionOf(now, "people"), "to", "2030-01-01"));
  assert.deepEqual(partsOf(mapping, FILES).filter(({ label }) => label === "people").map(({ from, to }) => [from, to]), [["", "2030-01-01"]]);
  mapping = changed(mapping, (now) => removePart(now, sectionOf(now, "jobs_company"), FILES));
  assert.equal(labelIn(mapping, "edgelabels", "jobs_company"), undefined);
  assert.deepEqual(partsOf(mapping, FILES).map(({ label }) => label), ["people", "jobs", "firm"]);
});

test("a label that the graph has stays as the graph has it", () => {
  const label = { name: "people", id_strategy: "CUSTOMIZE_STRING", primary_keys: [], properties: ["born"], nullable_keys: [] };
  const graph = { vertexlabels: [label], edgelabels: [], propertykeys: [{ name: "born", data_type: "DATE" }], indexlabels: [] };
  const mapping = parseMapping('[[vertex]]\nfile = "people.csv"\nlabel = "people"\nid = "person_id"\n', graph as never);
  assert.equal(partsOf(mapping, FILES)[0]!.columns[1]!.type, "DATE");
  setRole(mapping, partsOf(mapping, FILES)[0]!.section, "born", "ignore", FILES);
  assert.equal(formatToml(mapping), '[[vertex]]\nfile = "people.csv"\nlabel = "people"\nid = "person_id"\nignore = ["born"]\n');
});

const TWO = `[[vertex]]
file = "people_1.csv"
label = "people"
id = "code"

[[vertex]]
file = "people_2.csv"
label = "people"
id = "code"

[schema]
propertykeys = [
  { data_type = "INT", name = "age" },
  { data_type = "TEXT", name = "name" },
]
vertexlabels = [
  { id_strategy = "CUSTOMIZE_STRING", name = "people", nullable_keys = [], properties = ["age", "name"] },
]
`;
const PERSON: Record<string, [string, string]> = { code: ["TEXT", "p1"], age: ["INT", "4"], name: ["TEXT", "Ann"] };
const TWO_FILES = [fileOf("people_1.csv", PERSON), fileOf("people_2.csv", PERSON)];
const rolesIn = (mapping: Mapping, at: number) => {
  const { label, columns } = partsOf(mapping, TWO_FILES)[at]!;
  return [label, ...columns.map(({ role }) => role)];
};
const peopleOf = (mapping: Mapping, ...keys: string[]) => keys.map((key) => labelIn(mapping, "vertexlabels", "people")?.get(key));
const placeOf = (mapping: Mapping, at: number) => partsOf(mapping, TWO_FILES)[at]!.section;

test("a property stays while one of the files of its label has it", () => {
  const leaveOut = (mapping: Mapping, at: number) => changed(mapping, (now) => setRole(now, placeOf(now, at), "age", "ignore", TWO_FILES));
  let mapping = leaveOut(parseMapping(TWO, null), 0);
  assert.deepEqual([rolesIn(mapping, 0), rolesIn(mapping, 1)], [["people", "id", "ignore", "property"], ["people", "id", "property", "property"]]);
  assert.deepEqual(peopleOf(mapping, "properties", "nullable_keys"), [["age", "name"], ["age"]]);
  assert.ok(labelIn(mapping, "propertykeys", "age"));
  mapping = leaveOut(mapping, 1);
  assert.deepEqual(peopleOf(mapping, "properties", "nullable_keys"), [["name"], []]);
  assert.equal(labelIn(mapping, "propertykeys", "age"), undefined);
});

test("a label stays while one of its files has vertices of it", () => {
  let mapping = changed(parseMapping(TWO, null), (now) => setKind(now, placeOf(now, 0), "edge", TWO_FILES));
  assert.deepEqual(peopleOf(mapping, "properties", "nullable_keys", "id_strategy"), [["age", "name"], [], "CUSTOMIZE_STRING"]);
  assert.deepEqual(rolesIn(mapping, 1), ["people", "id", "property", "property"]);
  assert.ok(labelIn(mapping, "edgelabels", "people"));
  mapping = changed(mapping, (now) => setKind(now, placeOf(now, 1), "edge", TWO_FILES));
  assert.deepEqual(peopleOf(mapping, "name"), [undefined]);
});

test("a property goes with the last of the files that have it", () => {
  const files = [TWO_FILES[0]!, fileOf("people_2.csv", { code: ["TEXT", "p1"], name: ["TEXT", "Ann"] })];
  for (const edit of [
    (now: Mapping) => removePart(now, placeOf(now, 0), files),
    (now: Mapping) => setKind(now, placeOf(now, 0), "edge", files),
  ]) {
    assert.deepEqual(peopleOf(changed(parseMapping(TWO, null), edit), "properties", "nullable_keys"), [["name"], []]);
  }
});

test("the files of a label have ids of one kind", () => {
  const give = (mapping: Mapping, at: number, column: string, role: "id" | "key" | "property") =>
    changed(mapping, (now) => setRole(now, placeOf(now, at), column, role, TWO_FILES));
  let mapping = give(parseMapping(TWO, null), 0, "code", "key");
  for (const at of [0, 1]) assert.deepEqual(rolesIn(mapping, at), ["people", "key", "property", "property"]);
  assert.deepEqual(peopleOf(mapping, "id_strategy", "primary_keys"), ["PRIMARY_KEY", ["code"]]);
  assert.doesNotMatch(formatToml(mapping), /^id =/m);
  mapping = give(mapping, 1, "name", "id");
  for (const at of [0, 1]) assert.deepEqual(rolesIn(mapping, at), ["people", "property", "property", "id"]);
  assert.deepEqual(peopleOf(mapping, "id_strategy", "primary_keys", "properties"), ["CUSTOMIZE_STRING", undefined, ["age", "code"]]);
  mapping = give(mapping, 0, "name", "property");
  for (const at of [0, 1]) assert.deepEqual(rolesIn(mapping, at), ["people", "property", "property", "property"]);
  assert.deepEqual(peopleOf(mapping, "id_strategy"), ["AUTOMATIC"]);
});

const PERSON_OF_GRAPH = {
  id: 1, name: "person", id_strategy: "PRIMARY_KEY", primary_keys: ["name"], properties: ["name", "age"], nullable_keys: ["age"],
  index_labels: ["person_by_age"], status: "CREATED",
};
const GRAPH = { vertexlabels: [PERSON_OF_GRAPH], edgelabels: [], propertykeys: [{ name: "name", data_type: "TEXT" }, { name: "age", data_type: "INT" }], indexlabels: [] };

test("a part that is given the name of another label joins it", () => {
  let mapping = parseMapping(DRAFT, null);
  mapping = changed(mapping, (now) => setLabel(now, sectionOf(now, "people"), "companies", FILES));
  const lists = mapping.sections.at(-1)!.entries.get("vertexlabels")!.value as Map<string, unknown>[];
  assert.deepEqual(lists.map((table) => table.get("name")), ["jobs", "companies"]);
  const label = labelIn(mapping, "vertexlabels", "companies")!;
  assert.deepEqual([label.get("properties"), label.get("nullable_keys")], [["person_id", "born"], ["person_id", "born"]]);
  // Ids as the other label has them.
  mapping = changed(parseMapping(DRAFT, null), (now) => setLabel(now, sectionOf(now, "companies"), "jobs", FILES));
  assert.doesNotMatch(formatToml(mapping), /^id =/m);
  const jobs = labelIn(mapping, "vertexlabels", "jobs")!;
  assert.deepEqual([jobs.get("id_strategy"), jobs.get("primary_keys")], ["PRIMARY_KEY", ["company_id", "from"]]);
  assert.equal(labelIn(mapping, "edgelabels", "jobs_company")!.get("target_label"), "jobs");
});

test("a part that is given the name of a label of the graph is as the graph has it", () => {
  const mapping = parseMapping(TWO, GRAPH as never);
  assert.ok(rolesFor(partsOf(mapping, TWO_FILES)[0]!).includes("key"));
  setLabel(mapping, placeOf(mapping, 0), "person", TWO_FILES);
  for (const at of [0, 1]) assert.deepEqual(rolesIn(mapping, at), ["person", "property", "property", "key"]);
  assert.ok(!rolesFor(partsOf(mapping, TWO_FILES)[0]!).includes("key"), "a key that the graph does not have");
  assert.doesNotMatch(formatToml(mapping), /^id =|id_strategy|propertykeys/m);
});

test("a label of the graph that is renamed is made anew", () => {
  const mapping = parseMapping('[[vertex]]\nfile = "people_1.csv"\nlabel = "person"\n', GRAPH as never);
  setLabel(mapping, placeOf(mapping, 0), "member", TWO_FILES);
  assert.deepEqual([...labelIn(mapping, "vertexlabels", "member")!], [
    ["name", "member"], ["id_strategy", "PRIMARY_KEY"], ["primary_keys", ["name"]], ["properties", ["name", "age"]], ["nullable_keys", ["age"]],
  ]);
  assert.deepEqual(rolesIn(mapping, 0), ["member", "property", "property", "key"]);
  assert.equal(GRAPH.vertexlabels[0]!.name, "person");
});

const COMMENTED = `null = [ # none
  "", # empty
  "N/A",
] # of all files

[[vertex]]
file = 'people_1.csv'
label = "people" # of the village
rename = { 'name' = "name" } # as it is

[schema]
propertykeys = [
  # In years.
  { data_type = "INT", name = "age" }, # whole
  { data_type = "TEXT", name = "name" },
] # behind the list
vertexlabels = [
  { id_strategy = "AUTOMATIC", name = "people", nullable_keys = ["code"], properties = ["age", "name"] },
]
`;

test("a click leaves what it does not change as it was written", () => {
  const mapping = parseMapping(COMMENTED, null);
  assert.equal(formatToml(mapping), COMMENTED);
  setLabel(mapping, placeOf(mapping, 0), "person", TWO_FILES);
  const [before, after] = ['"people" # of the village', '"person"'];
  assert.equal(formatToml(mapping), COMMENTED.replace(before, after).replace('name = "people"', 'name = "person"'));
  // Another way of writing the same value is the same value.
  const again = parseMapping(COMMENTED, null);
  setInstant(again, placeOf(again, 0), "to", "2030-01-01");
  setInstant(again, placeOf(again, 0), "to", "");
  assert.equal(formatToml(again), COMMENTED);
});

test("an instant is a date, or one with a time of day", () => {
  for (const text of ["2020-01-01", "2020-01-01T00:00", "2020-01-01 12:30:15", "2020-01-01T12:30:15.25Z", "2020-01-01T12:30:15+01:00"]) assert.ok(isInstant(text), text);
  for (const text of ["2020", "2020-01-01T00:00#x", "2020-01-01T00:00,", "2020-01-01x", "2020-01-01T00:00 # x"]) assert.ok(!isInstant(text), text);
});

test("what is said of an end goes with it", () => {
  const flags = (mapping: Mapping) => partsOf(mapping, FILES).find(({ label }) => label === "people")!.flags;
  let mapping = parseMapping(DRAFT, null);
  assert.deepEqual(flags(mapping), []);
  const edit = (work: (mapping: Mapping, at: number) => void) => (mapping = changed(mapping, (now) => work(now, sectionOf(now, "people"))));
  edit((now, at) => setInstant(now, at, "to", "2030-01-01"));
  assert.deepEqual(flags(mapping), [{ flag: "valid_to_inclusive", isSet: false }]);
  edit((now, at) => setKind(now, at, "edge", FILES));
  for (const flag of ["valid_to_inclusive", "valid_to_ends_edge"] as const) edit((now, at) => setFlag(now, at, flag, true));
  assert.deepEqual(flags(mapping).map(({ isSet }) => isSet), [true, true]);
  assert.match(formatToml(mapping), /^valid_to_inclusive = true\nvalid_to_ends_edge = true$/m);
  edit((now, at) => setKind(now, at, "vertex", FILES));
  assert.deepEqual(flags(mapping), [{ flag: "valid_to_inclusive", isSet: true }]);
  assert.doesNotMatch(formatToml(mapping), /ends_edge/);
  edit((now, at) => setInstant(now, at, "to", ""));
  assert.doesNotMatch(formatToml(mapping), /valid_to/);
});
