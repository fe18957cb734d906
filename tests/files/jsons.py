"""Odd files of JSON Lines and of JSON arrays."""

import gzip
import json

from inputs import Input, plain_mapping


def kept(value):
    """Whether a value is a property: an object is none, and a list of lists neither."""
    return not isinstance(value, (dict, type(None))) and not (
        isinstance(value, list) and any(isinstance(member, (dict, list)) for member in value)
    )


def by_json(rows):
    """The rows as Python's json module reads them, without what no property has."""
    nested = {name for row in rows for name, value in row.items() if value is not None and not kept(value)}
    return [
        {name: value for name, value in row.items() if value is not None and name not in nested}
        for row in rows
    ]


def lines(name, *texts, file="rows.jsonl", pack=str.encode, joined="\n", **more):
    """JSON Lines that Python's json module reads."""
    rows = by_json([json.loads(text) for text in texts if text.strip()])
    return Input(name, {file: pack(joined.join([*texts, ""]))}, "json", rows, **more)


def array(name, text, file="rows.json", pack=str.encode, **more):
    """A JSON array that Python's json module reads."""
    return Input(name, {file: pack(text)}, "json", by_json(json.loads(text)), **more)


def hand(name, text, why, file="rows.jsonl", **more):
    content = text.encode() if isinstance(text, str) else text
    return Input(name, {file: content}, "hand", why=why, **more)


ANN = '{"id": "a1", "name": "Ann"}'
BOB = '{"id": "a2", "name": "Bob"}'


def json_lines():
    yield lines("JSON Lines", ANN, BOB)
    yield lines("JSON Lines in gzip", ANN, BOB, file="rows.jsonl.gz", pack=lambda text: gzip.compress(text.encode()))
    yield lines("JSON Lines in .json", ANN, BOB, file="rows.json")
    yield lines("JSON Lines, blank lines and CRLF", ANN, "", " ", BOB, joined="\r\n")
    yield lines("JSON Lines with a mark", ANN, BOB, pack=lambda text: text.encode("utf-8-sig"))
    yield lines("JSON Lines in UTF-16 with a mark", ANN, BOB, pack=lambda text: text.encode("utf-16"))
    yield lines(
        "JSON, all types",
        '{"id": 1, "t": "x", "w": -3, "r": 1.5, "b": true, "l": ["a", "b"], "n": null}',
        '{"id": 2, "t": "", "w": 0, "r": 2, "b": false, "l": []}',
        '{"id": 3}',
    )
    yield lines(
        "JSON, objects and lists of lists",
        '{"id": "a", "o": {"x": {"y": 1}}, "m": [[1, 2], [3]], "s": "x"}',
        '{"id": "b", "o": {}, "s": "y"}',
        says="ignored: its values are of a type that no property has",
    )
    yield lines("JSON, a key twice", '{"id": "a", "n": 1, "n": 2}', '{"id": "b", "n": 3}')
    yield lines("JSON, limits of 64 bits", '{"id": "a", "n": 9223372036854775807}', '{"id": "b", "n": -9223372036854775808}')
    yield lines("JSON, 53 bits", '{"id": "a", "n": 9007199254740993}', '{"id": "b", "n": 1}')
    great = 2**64 - 1
    text = '{{"id": "a", "n": {}}}\n{{"id": "b", "n": 1}}\n'
    rows = [{"id": "a", "n": str(great)}, {"id": "b", "n": "1"}]
    yield hand("JSON, 64 bits without a sign", text.format(great), "no number has all digits: a text", rows=rows)
    rows = [{"id": "a", "n": str(10**30 + 1)}, {"id": "b", "n": "1"}]
    yield hand("JSON, 30 digits", text.format(10**30 + 1), "no number has all digits: a text", rows=rows)
    yield lines("JSON, NaN in texts", '{"id": "a", "t": "NaN"}', '{"id": "b", "t": "x"}')
    yield hand(
        "JSON, NaN in texts among numbers",
        '{"id": "a", "n": "NaN"}\n{"id": "b", "n": 1.5}\n{"id": "c", "n": "-Infinity"}\n',
        "as exports write it",
        rows=[{"id": "a", "n": float("nan")}, {"id": "b", "n": 1.5}, {"id": "c", "n": float("-inf")}],
    )
    yield lines("JSON, exponents", '{"id": "a", "n": 1e308}', '{"id": "b", "n": -2.5E-5}', '{"id": "c", "n": 1E2}')
    yield lines("JSON, -0.0 and 1.0", '{"id": "a", "n": -0.0}', '{"id": "b", "n": 1.0}')
    yield hand(
        "JSON, 1e400",
        '{"id": "a", "n": 1e400}\n{"id": "b", "n": 1.5}\n',
        "Python reads infinity; no number holds it",
        rows=[{"id": "b", "n": 1.5}],
        bad={1: "number out of range"},
    )
    yield hand(
        "JSON, NaN",
        '{"id": "a", "n": NaN}\n{"id": "b", "n": 1.5}\n',
        "Python reads it, JSON has no such word",
        rows=[{"id": "b", "n": 1.5}],
        bad={1: "not a JSON object"},
    )
    yield lines("JSON, surrogates in pairs", '{"id": "a", "t": "\\ud83d\\ude00 \\u00e9"}', BOB)
    yield hand(
        "JSON, a lone surrogate",
        '{"id": "a", "t": "\\ud83d"}\n{"id": "b", "t": "x"}\n',
        "it is no character",
        rows=[{"id": "b", "t": "x"}],
        bad={1: "not a JSON object: "},
    )
    yield lines("JSON, NUL and controls", '{"id": "a", "t": "x\\u0000y\\u001f\\/"}', '{"id": "b", "t": "\\b\\f\\t"}')
    yield hand(
        "JSON, numbers and texts in a column",
        '{"id": "a", "v": 1}\n{"id": "b", "v": "x"}\n{"id": "c", "v": 2.5}\n',
        "a text holds all, and the draft says so",
        rows=[{"id": "a", "v": "1"}, {"id": "b", "v": "x"}, {"id": "c", "v": "2.5"}],
        says="because line 2 has 'x'",
    )
    yield hand(
        "JSON, true among texts",
        '{"id": "a", "v": true}\n{"id": "b", "v": "x"}\n',
        "a truth value is no text",
        rows=[{"id": "a", "v": "true"}, {"id": "b", "v": "x"}],
    )
    yield hand(
        "JSON, a list in some rows",
        '{"id": "a", "v": ["x", "y"]}\n{"id": "b", "v": "z"}\n',
        "one value is a list of one",
        rows=[{"id": "a", "v": ["x", "y"]}, {"id": "b", "v": ["z"]}],
    )
    yield hand(
        "JSON, null in a list",
        '{"id": "a", "v": ["x", null]}\n{"id": "b", "v": ["z"]}\n',
        "a list has no missing members",
        rows=[{"id": "b", "v": ["z"]}],
        bad={1: ""},
    )
    yield hand(
        "JSON, lines that are no objects",
        f'{ANN}\n[1]\n"x"\n{{"id":\n{BOB}\n',
        "the other lines are read",
        rows=[{"id": "a1", "name": "Ann"}, {"id": "a2", "name": "Bob"}],
        bad={2: "not a JSON object", 3: "not a JSON object", 4: "not a JSON object"},
    )
    yield hand(
        "JSON, two objects a line",
        f"{ANN}{BOB}\n{ANN.replace('a1', 'a3')}\n",
        "a line has one object",
        rows=[{"id": "a3", "name": "Ann"}],
        bad={1: "not a JSON object: trailing characters"},
    )
    yield hand("JSON Lines, empty", "", "no row names a column", refusal="no rows")
    deep = '{"id": "a", "v": ' + "[" * 200 + "]" * 200 + "}\n" + BOB.replace("name", "v") + "\n"
    yield hand("JSON, 200 levels", deep, "at most 127 levels", rows=[{"id": "a2", "v": "Bob"}], bad={1: "recursion limit"})
    yield hand(
        "JSON, dates",
        '{"id": "a", "at": "2021-04-03T12:00:00Z"}\n{"id": "b", "at": "2021-04-25"}\n',
        "texts that are dates, as in CSV",
        rows=by_dates("2021-04-03T12:00:00+00:00", "2021-04-25T00:00:00+00:00"),
    )
    yield lines("JSON, digits in texts", '{"id": "a", "v": "007"}', '{"id": "b", "v": "12"}')
    yield lines("JSON, odd names", '{"id": "a", "a b": 1, "ä": 2, "x.y": 3}', '{"id": "b"}')


def by_dates(*texts):
    from datetime import datetime

    return [{"id": "ab"[at], "at": datetime.fromisoformat(text)} for at, text in enumerate(texts)]


def arrays():
    yield array("JSON array", f"[{ANN}, {BOB}]")
    yield array("JSON array, pretty", json.dumps([json.loads(ANN), json.loads(BOB)], indent=4))
    yield array("JSON array with a mark", f"[{ANN}, {BOB}]", pack=lambda text: text.encode("utf-8-sig"))
    yield array("JSON array of brackets in texts", '[{"id": "a", "t": "]}\\"[{"}, {"id": "b", "t": "\\\\"}]')
    yield hand("JSON array, empty", "[]", "no row names a column", "rows.json", refusal="no rows")
    yield hand("JSON, one text", '"x"', "no array and no object", "rows.json", refusal="expected '[', the start of an array")
    mapping = plain_mapping("rows.json", name="TEXT")
    for name, text, message in (
        ("cut off", f"[{ANN}, {BOB[:-3]}", "expected the rest of the array"),
        ("without a comma", f"[{ANN} {BOB}]", "expected ',' or ']'"),
        ("with text behind it", f"[{ANN}] x", "expected the end of the file"),
    ):
        rows = [{"id": "a1", "name": "Ann"}]
        why = "the rows before the fault are stored"
        yield hand(f"JSON array {name}", text, why, "rows.json", mapping=mapping, rows=rows, refusal=message)
    yield hand(
        "JSON array, members that are none",
        f"[{ANN}, 5, null, [1], {BOB}]",
        "the other members are read",
        "rows.json",
        rows=[{"id": "a1", "name": "Ann"}, {"id": "a2", "name": "Bob"}],
        bad={1: "not a JSON object"},
    )
    yield hand("JSON array, a comma at the end", f"[{ANN}, ]", "JSON has none", "rows.json", mapping=mapping,
               rows=[{"id": "a1", "name": "Ann"}], refusal="expected an object")


def all_inputs():
    for part in (json_lines, arrays):
        yield from part()
