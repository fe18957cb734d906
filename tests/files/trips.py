"""Writes a graph in all formats, reads the files with other programs, and loads them again.

    trips.py PROGRAM SERVER
"""

import contextlib
import csv
import io
import json
import struct
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import networkx
import pandas
import polars
import pyarrow.ipc
import pyarrow.parquet

from readers import TIMEOUT_S, Graph, must, request

TABLES = ("csv", "jsonl", "parquet", "arrow")
DROPPED = ("version", "recorded_at", "decides", "status")
MARKS = ("=", "+", "-", "@", "\t", "\r")

TYPES = {
    "text": ("TEXT", "SINGLE"),
    "flag": ("BOOLEAN", "SINGLE"),
    "byte": ("BYTE", "SINGLE"),
    "small": ("INT", "SINGLE"),
    "large": ("LONG", "SINGLE"),
    "single": ("FLOAT", "SINGLE"),
    "real": ("DOUBLE", "SINGLE"),
    "day": ("DATE", "SINGLE"),
    "guid": ("UUID", "SINGLE"),
    "bytes": ("BLOB", "SINGLE"),
    "words": ("TEXT", "LIST"),
    "numbers": ("LONG", "SET"),
    "reals": ("DOUBLE", "LIST"),
    "days": ("DATE", "LIST"),
    "sort": ("INT", "SINGLE"),
    "a b, \"c\"": ("TEXT", "SINGLE"),
}
TEXTS = [
    "plain", "a,b;c|d\te", 'say "hi"', "two\nlines", "two\r\nlines\r", " spaces ", "=1+1", "'=1", "-5", "@x",
    "'tis", "é e\u0301 🎉 👩‍👩‍👧", "<a href='x'>&amp;</a>", "]]>", "\\N", "NULL", "null", "NaN", "true", "007", "1e5",
    "2020-01-01", "[1, 2]", '["x"]', "{}", "\u200b\ufeff", "\x01\x7f\x85\u2028", "a\\b", "/..", "%41",
]
ARROW_TYPES = {
    "text": "string",
    "flag": "bool",
    "byte": "int32",
    "small": "int32",
    "large": "int64",
    "single": "float",
    "real": "double",
    "day": "timestamp[ms, tz=UTC]",
    "guid": "string",
    "bytes": "string",
    "words": "list<item: string>",
    "numbers": "list<item: int64>",
    "~valid_from": "timestamp[us, tz=UTC]",
}

failed = passed = 0


def check(what, holds, detail=""):
    global failed, passed
    passed += bool(holds)
    failed += not holds
    if not holds:
        print(f"FAIL {what}: {str(detail)[:900]}")


def vertices():
    """Elements with odd values."""
    others = [
        {"flag": True, "byte": 127, "small": 2**31 - 1, "large": 2**63 - 1, "single": 3.4028235e38, "real": 1.7976931348623157e308},
        {"flag": False, "byte": -128, "small": -(2**31), "large": -(2**63), "single": -1e-45, "real": 5e-324},
        {"real": -0.0, "single": 0.1, "large": 2**53 + 1, "day": "1969-12-31 23:59:59.999"},
        {"real": 0.1, "single": -0.0, "large": 0, "day": "0001-01-01 00:00:00.000"},
        {"real": "NaN", "single": "Infinity", "day": "9999-12-31 23:59:59.999"},
        {"real": "-Infinity", "guid": "00000000-0000-0000-0000-00000000000a", "bytes": "AP8="},
        {"words": ["x;y", "", 'a"b', "c,d"], "numbers": [2**63 - 1, -1], "reals": [0.5, 1e300], "days": ["2020-02-29 00:00:00.000"]},
        {"words": [], "numbers": []},
        {"text": ""},
        {"words": [""], "text": " "},
        {},
    ]
    rows = [{"text": text} for text in TEXTS] + others
    rows[0]['a b, "c"'] = "odd name"
    ids = [f"v{at}" for at in range(len(rows) - 6)] + ['"q"', "a,b", "a/b>c", "=x", "é🎉", "1"]
    return [{"label": "thing", "id": id, "properties": row} for id, row in zip(ids, rows)]


def fill(graph):
    """Several labels, parallel edges, valid times with microseconds, and a history."""
    keys = [{"name": name, "data_type": kind, "cardinality": many} for name, (kind, many) in TYPES.items()]
    names = list(TYPES)
    for key in keys:
        must("POST", f"{graph.url}/schema/propertykeys", key)
    for label, strategy, keys in (
        ("thing", "CUSTOMIZE_STRING", []),
        ("counted", "CUSTOMIZE_NUMBER", []),
        ("pair", "PRIMARY_KEY", ["text", "small"]),
    ):
        nullable = [name for name in names if name not in keys]
        body = {"name": label, "id_strategy": strategy, "properties": names, "nullable_keys": nullable}
        must("POST", f"{graph.url}/schema/vertexlabels", body | ({"primary_keys": keys} if keys else {}))
    for label, ends, more in (
        ("links", ("thing", "thing"), {"frequency": "MULTIPLE", "sort_keys": ["sort"]}),
        ("counts", ("thing", "counted"), {"frequency": "SINGLE"}),
        ("pairs", ("pair", "thing"), {"frequency": "SINGLE"}),
    ):
        nullable = [name for name in names if name not in more.get("sort_keys", [])]
        body = {"name": label, "source_label": ends[0], "target_label": ends[1], "properties": names, "nullable_keys": nullable}
        must("POST", f"{graph.url}/schema/edgelabels", body | more)
    long_ago = {"valid_from": "1900-01-01"}
    all_of = [each | long_ago for each in vertices()]
    all_of += [{"label": "counted", "id": number, "properties": {}} | long_ago for number in (0, -1, 2**63 - 1)]
    all_of += [
        {"label": "pair", "properties": {"text": text, "small": 5}} | long_ago
        for text in ("a!b:c>d", "x`y", "é🎉")
    ]
    ids = must("POST", f"{graph.url}/graph/vertices/batch", all_of)
    pair = ids[-1]
    edge = lambda label, ends, properties, **times: {
        "label": label, "outV": ends[0], "inV": ends[2], "outVLabel": ends[1], "inVLabel": ends[3], "properties": properties,
    } | times
    of_thing = ('"q"', "thing", "a,b", "thing")
    edges = [edge("links", of_thing, {"sort": at, "text": TEXTS[at]}) for at in range(5)]
    edges.append(edge("links", of_thing, {"sort": 9}, valid_from="2000-01-01T00:00:00.123456Z", valid_to="2999-01-01"))
    edges.append(edge("counts", ("é🎉", "thing", 2**63 - 1, "counted"), {"real": 0.5, "words": ["x"]}))
    edges.append(edge("pairs", (pair, "pair", "=x", "thing"), {"large": 2**53 + 1, "flag": True}))
    must("POST", f"{graph.url}/graph/edges/batch", edges)
    # A further state, a state that is over, and a deleted vertex.
    later = {"label": "thing", "id": "v0", "properties": {"text": "later"}, "valid_from": "2020-05-01T12:00:00.000001Z"}
    must("POST", f"{graph.url}/graph/vertices", later)
    over = {"label": "thing", "id": "over", "properties": {}, "valid_from": "1990-01-01", "valid_to": "1995-01-01"}
    must("POST", f"{graph.url}/graph/vertices", over)


def export(graph, form, elements, query=""):
    kind = f"&elements={elements}" if elements else ""
    status, content = request("GET", f"{graph.url}/explore/export?format={form}{kind}{query}")
    assert status == 200, content[:300]
    return content


def canonical(name, value):
    """A value of a property as the REST API has it: exact, and comparable."""
    kind, many = TYPES[name]
    if many != "SINGLE":
        members = [one(kind, member) for member in value]
        return sorted(members, key=str) if many == "SET" else members
    return one(kind, value)


def one(kind, value):
    match kind:
        case "DOUBLE":
            return repr(float(value))
        case "FLOAT":
            return repr(struct.unpack("f", struct.pack("f", float(value)))[0])
        case "DATE" if isinstance(value, datetime):
            at = value.replace(tzinfo=value.tzinfo or timezone.utc).astimezone(timezone.utc)
            return f"{at.year:04}{at:-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"
        case _:
            return value


def stored(graph, kind):
    """The elements by their references, as the REST API answers."""
    found = must("GET", f"{graph.url}/graph/{kind}?limit=-1")[kind]
    return {each_ref(each): properties(each["properties"]) for each in found}


def each_ref(element):
    """An id as exports write it."""
    return json.dumps(element["id"], ensure_ascii=False) if element["type"] == "vertex" else element["id"]


def properties(row):
    return {name: canonical(name, value) for name, value in row.items() if value is not None}


def differing(found, expected):
    """Where two tables by reference differ."""
    wrong = {key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)}
    return [(key, found.get(key), expected.get(key)) for key in sorted(wrong)[:3]]


def without_empty(table):
    return {key: {name: value for name, value in row.items() if value != ""} for key, row in table.items()}


def of_rows(rows):
    """The properties of rows of a table, by reference."""
    return {row["~id"]: properties({name: row[name] for name in row if name in TYPES}) for row in rows}


def plain(cell):
    """A cell of CSV without the apostrophe before a formula."""
    is_marked = cell.startswith("'") and cell.lstrip("'").startswith(MARKS)
    return cell[1:] if is_marked else cell


def of_texts(rows):
    """The same of CSV, whose cells are texts: numbers and lists are as in JSON."""
    found = {}
    for row in rows:
        names = {plain(name): cell for name, cell in row.items() if cell and plain(name) in TYPES}
        values = {}
        for name, cell in names.items():
            kind, many = TYPES[name]
            is_json = many != "SINGLE" or kind in ("BOOLEAN", "BYTE", "INT", "LONG")
            values[name] = json.loads(cell) if is_json else plain(cell) if kind == "TEXT" else cell
        found[plain(row["~id"])] = properties(values)
    return found


def csv_rows(content):
    text = content.decode()
    yield "csv", list(csv.DictReader(io.StringIO(text, newline="")))
    frame = pandas.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)
    yield "pandas", frame.to_dict("records")
    frame = polars.read_csv(io.BytesIO(content), infer_schema=False)
    yield "polars", frame.to_dicts()


def read_table(form, content):
    """The rows of a table as several programs read them."""
    if form == "parquet":
        yield "pyarrow", pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()
        yield "polars", polars.read_parquet(io.BytesIO(content)).to_dicts()
        frame = pandas.read_parquet(io.BytesIO(content), dtype_backend="pyarrow")
    else:
        yield "pyarrow", pyarrow.ipc.open_file(io.BytesIO(content)).read_all().to_pylist()
        yield "polars", polars.read_ipc(io.BytesIO(content)).to_dicts()
        frame = pandas.read_feather(io.BytesIO(content), dtype_backend="pyarrow")
    names = frame.columns
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    yield "pandas", [{name: row[name] for name in names} for row in table.to_pylist()]


def check_tables(graph):
    """Exports in tables have the values and types that the REST API answers."""
    for kind in ("vertices", "edges"):
        expected = stored(graph, kind)
        for program, rows in csv_rows(export(graph, "csv", kind)):
            found = of_texts(rows)
            check(f"csv of {kind} in {program}", found == without_empty(expected), differing(found, without_empty(expected)))
        for form in ("parquet", "arrow"):
            content = export(graph, form, kind)
            for program, rows in read_table(form, content):
                found = of_rows(rows)
                check(f"{form} of {kind} in {program}", found == expected, differing(found, expected))
            is_parquet = form == "parquet"
            table = pyarrow.parquet.read_table(io.BytesIO(content)) if is_parquet else pyarrow.ipc.open_file(io.BytesIO(content)).read_all()
            types = {name: str(table.schema.field(name).type).replace("element:", "item:") for name in ARROW_TYPES}
            check(f"types of {form} of {kind}", types == ARROW_TYPES, types)
        lines = export(graph, "jsonl", kind)
        rows = [json.loads(line) for line in lines.splitlines()]
        check(f"jsonl of {kind} begins with its times", list(rows[0]) == ["times"], rows[0])
        found = {row["ref"]: properties(row["properties"]) for row in rows[1:]}
        check(f"jsonl of {kind} in json", found == expected, differing(found, expected))
        frame = polars.read_ndjson(io.BytesIO(lines), infer_schema_length=None)
        check(f"jsonl of {kind} in polars", frame.height == len(expected) + 1, frame.height)
        frame = pandas.read_json(io.BytesIO(lines), lines=True)
        check(f"jsonl of {kind} in pandas", len(frame) == len(expected) + 1, len(frame))


def in_xml(value):
    """A text with the characters that XML does not allow replaced."""
    marks = {code: "\ufffd" for code in range(32) if code not in (9, 10, 13)}
    return value.translate(marks) if isinstance(value, str) else value


def check_networks(graph):
    """NetworkX opens GraphML and GEXF with the counts, values and types of the graph."""
    nodes, edges = stored(graph, "vertices"), stored(graph, "edges")
    for form, read in (("graphml", networkx.read_graphml), ("gexf", networkx.read_gexf)):
        found = read(io.BytesIO(export(graph, form, "")))
        counts = (found.number_of_nodes(), found.number_of_edges())
        check(f"counts of {form}", counts == (len(nodes), len(edges)), counts)
        for kind, expected, all_of in (
            ("vertices", nodes, found.nodes(data=True)),
            ("edges", edges, [(data.get("id", key), data) for _, _, key, data in found.edges(keys=True, data=True)]),
        ):
            table = {key: properties({name: data[name] for name in data if name in TYPES and not is_many(name)}) for key, data in all_of}
            wanted = {
                key: {name: in_xml(value) for name, value in row.items() if not is_many(name)}
                for key, row in expected.items()
            }
            # NetworkX takes an empty text of GraphML for none.
            table, wanted = without_empty(table), without_empty(wanted)
            check(f"{kind} of {form}", table == wanted, differing(table, wanted))
            lists = {
                key: properties({name: json.loads(data[name]) for name in data if name in TYPES and is_many(name)})
                for key, data in all_of
            }
            wanted = {key: {name: value for name, value in row.items() if is_many(name)} for key, row in expected.items()}
            check(f"lists of {kind} of {form}", lists == wanted, differing(lists, wanted))


def is_many(name):
    return TYPES[name][1] != "SINGLE"


def states(graph):
    """All elements with their valid times, without those of the record."""
    lines = [json.loads(line) for line in export(graph, "jsonl", "").splitlines()[1:]]
    for line in lines:
        for name in DROPPED:
            line.pop(name, None)
    return {(line["type"], line["ref"]): line for line in lines}


@contextlib.contextmanager
def loaded(program, server, name, mapping):
    """A graph with what a mapping or a dump loads."""
    with Graph(server, name) as graph:
        done = subprocess.run(
            [program, "load", str(mapping), "--server", server, "--graph", name, "--skip-vertex-check"],
            capture_output=True, timeout=TIMEOUT_S, cwd=Path(mapping).parent,
        )
        check(f"{name} loads", done.returncode == 0, done.stderr.decode() + done.stdout.decode())
        yield graph


def dump(program, graph, output, *words):
    done = subprocess.run(
        [program, "dump", str(output), "--server", graph.server, "--graph", graph.name, *words],
        capture_output=True, timeout=TIMEOUT_S,
    )
    check(f"dump {words}", done.returncode == 0, done.stderr.decode())


def check_loads(program, graph, folder):
    """What a dump or an export wrote makes the same graph again."""
    whole = states(graph)
    for form in TABLES:
        expected = whole if form != "csv" else {key: no_empty(row) for key, row in whole.items()}
        dump(program, graph, folder / form, "--format", form)
        schema = (folder / form / "mapping.toml").read_text().partition("[schema]")[2]
        of_export = folder / f"export_{form}"
        of_export.mkdir()
        files = {kind: f"{kind}.{form}" for kind in ("vertices", "edges")}
        for kind, file in files.items():
            (of_export / file).write_bytes(export(graph, form, "" if form == "jsonl" else kind))
        mapping = "".join(f'[[{kind}]]\nfile = "{file}"\n' for kind, file in zip(("vertex", "edge"), files.values()))
        (of_export / "mapping.toml").write_text(f"{mapping}[schema]{schema}")
        for name in (form, f"export_{form}"):
            with loaded(program, graph.server, f"trip_{name}", folder / name / "mapping.toml") as again:
                found = states(again)
            check(f"{name} makes the same graph", found == expected, differing(found, expected))
    for name, words in (("dump", ()), ("history", ("--history",))):
        dump(program, graph, folder / f"{name}.jsonl", *words)
        with loaded(program, graph.server, f"trip_{name}", folder / f"{name}.jsonl") as again:
            found, expected = states(again), whole
            dump(program, again, folder / f"{name}_again.jsonl", *words)
        if not words:
            # A dump of the present has no valid times.
            found, expected = ({key: no_times(row) for key, row in each.items()} for each in (found, expected))
        check(f"{name} makes the same graph", found == expected, differing(found, expected))
        one, other = (records(folder / f"{each}.jsonl") for each in (name, f"{name}_again"))
        check(f"{name} is the same again", one == other, [pair for pair in zip(one, other) if pair[0] != pair[1]][:2])


def no_times(row):
    return {name: value for name, value in row.items() if name not in ("valid_from", "valid_to")}


def no_empty(row):
    kept = {name: value for name, value in row["properties"].items() if value != ""}
    return row | {"properties": kept}


def records(path):
    """The lines of a dump without times of the record and of its making."""
    lines = []
    for line in map(json.loads, path.read_bytes().splitlines()):
        lines.append(json.dumps(stripped(line), sort_keys=True))
    return sorted(lines)


def stripped(value):
    dropped = ("~create_time", "recorded_at", "version", "as_of", "as_of_tx", "time", "tx", "graph", "made")
    match value:
        case dict():
            return {name: stripped(of) for name, of in value.items() if name not in dropped}
        case list():
            return [stripped(member) for member in value]
        case _:
            return value


def main():
    program, server = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    with Graph(server, "trips") as graph, tempfile.TemporaryDirectory() as folder:
        fill(graph)
        check_tables(graph)
        check_networks(graph)
        check_loads(program, graph, Path(folder))
    print(f"round trips: {passed} checks hold, {failed} do not")
    sys.exit(1 if failed or not passed else 0)


main()
