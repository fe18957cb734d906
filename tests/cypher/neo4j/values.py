"""Awkward values of every type, as Cypher text, and the normal form in which two servers' values are compared."""

import math

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

# Parameters of every statement: floats that have no literal.
PARAMETERS = {"nan": math.nan, "inf": math.inf, "ninf": -math.inf}

POOL = {
    "int": ["0", "1", "-1", "2", "3", "7", "-5", "10", "42", "2147483648", "9007199254740992", "9007199254740993",
            "9223372036854775807", "-9223372036854775808", "0x1F", "0o17"],
    "float": ["0.0", "-0.0", "1.0", "1.5", "-2.5", "2.5", "0.5", "0.1", "1e308", "1e-300", "1e15", "1e16", "1e21", "1e7", "1e6", "0.001",
              "0.0001", "123456789.123", "9007199254740992.0", "9.3e18", "$nan", "$inf", "$ninf", "3.0", "100.0"],
    "str": ["''", "'a'", "'abc'", "'ABC'", "' x '", "'12'", "'-3'", "'1.5'", "'1e3'", "'true'", "'TRUE'", "' false '", "'é'", "'日本語'",
            "'😀b'", "'ß'", "'İ'", "'a,b,,c'", "'it\\'s'", "'NaN'", "'Infinity'", "'0x1F'", "'aXbXc'", "'\\t\\n'", "'9223372036854775808'", "'.5'", "'5.'",
            "'b'", "'z'", "'ǅ'"],
    "bool": ["true", "false"],
    "null": ["null"],
    "list": ["[]", "[1]", "[1, 2, 3]", "[1, null]", "[null]", "['a', 'b']", "[1, 'a', true]", "[1.0, 1]", "[[1], [2, null]]", "[$nan]",
             "[3, 1, 2]", "[1, 2]", "[1.5, 2]", "['b', null, 'a']", "[{a: 1}]", "[true, false]", "[-0.0, 0]"],
    "map": ["{}", "{a: 1}", "{a: null, b: 'x'}", "{a: 1.0}", "{b: [1, 2]}", "{a: {b: 1}}"],
    "date": ["date('2020-02-29')", "date('1970-01-01')", "date('1999-12-31')", "date('2021-03-28')", "date('2024-12-30')", "date('0001-01-01')"],
    "localtime": ["localtime('00:00')", "localtime('23:59:59.999999999')", "localtime('12:31:14.645')"],
    "time": ["time('00:00Z')", "time('12:31:14.645876123+01:00')", "time('23:59-11:30')", "time('10:00+02:00')", "time('08:00Z')"],
    "localdatetime": ["localdatetime('2020-02-29T12:00')", "localdatetime('1969-12-31T23:59:59.999')", "localdatetime('2021-03-28T02:30')",
                      "localdatetime('2021-10-31T02:30:00.000000001')"],
    "datetime": ["datetime('2020-02-29T12:00Z')", "datetime('2021-03-28T01:59:59[Europe/Stockholm]')", "datetime('2021-10-31T02:30+01:00[Europe/Stockholm]')",
                 "datetime('1984-10-11T12:31:14.645876123+01:00')", "datetime('2021-03-28T02:30[Europe/Stockholm]')",
                 "datetime('2020-01-01T00:00-08:00[America/Los_Angeles]')", "datetime('1969-12-31T23:59:59.5Z')", "datetime('2020-06-01T00:00[Asia/Kathmandu]')"],
    "duration": ["duration('P1Y2M3DT4H5M6.7S')", "duration('P0D')", "duration('-P1M')", "duration('PT-0.5S')", "duration('P1M-1D')", "duration('PT86400S')",
                 "duration('P1.5M')", "duration('P0.75W')", "duration({days: 1, hours: -25})", "duration('PT1.000000001S')", "duration('P30D')",
                 "duration({months: 5, nanoseconds: -1})", "duration('P2012-02-02T14:37:21.545')"],
    "point": ["point({x: 1, y: 2})", "point({x: -0.0, y: 0.0})", "point({x: 1, y: 2, z: 3})", "point({longitude: 12.5, latitude: 56.7})",
              "point({longitude: 12.5, latitude: 56.7, height: 100})", "point({longitude: -179.9, latitude: 0})"],
}
TEMPORAL = ["date", "localtime", "time", "localdatetime", "datetime"]
GROUPS = {"num": ["int", "float"], "temporal": TEMPORAL, "day": ["date", "localdatetime", "datetime"], "any": list(POOL),
          "scalar": ["int", "float", "str", "bool", "null"], "storable": [kind for kind in POOL if kind not in ("map", "null", "list")]}


def literal(choices, kind):
    """The text of a random value of the type or group of types."""
    return choices.choice(POOL[choices.choice(GROUPS.get(kind, [kind]))])


def number(value):
    """A float to 12 digits, since sums may be taken in another order, and without the sign of zero, which differs."""
    return "NaN" if math.isnan(value) else f"{value + 0.0:.12g}"


def normal(value, bags=False):
    """A text that is equal exactly for equal values. With `bags` the order of lists does not count."""
    match value:
        case None | bool() | str():
            return repr(value)
        case int():
            return f"{value}"
        case float():
            return f"f{number(value)}"
        case bytes() | bytearray():
            return f"bytes {bytes(value)!r}"
        case list():
            parts = [normal(each, bags) for each in value]
            return f"[{', '.join(sorted(parts) if bags else parts)}]"
        case dict():
            return "{" + ", ".join(f"{key}: {normal(value[key], bags)}" for key in sorted(value)) + "}"
        case Node():
            return f"({':'.join(sorted(value.labels))} {normal(dict(value))})"
        case Relationship():
            return f"[:{value.type} {normal(dict(value))}]"
        case Path():
            ends = [(normal(one.start_node), normal(one), normal(one.end_node)) for one in value.relationships]
            return f"path {[normal(node) for node in value.nodes]} {ends}"
        case Point():
            return f"point {value.srid} {[number(part) for part in value]}"
        case DateTime() | Time():
            zone = getattr(value.tzinfo, "zone", None) or getattr(value.tzinfo, "key", None)
            return f"{type(value).__name__} {value.iso_format()} {zone}"
        case Date() | Duration():
            return f"{type(value).__name__} {value.iso_format()}" + (f" {tuple(value)}" if isinstance(value, Duration) else "")
    raise TypeError(f"a value of type {type(value)}")


def ordering(value):
    """As `normal`, but equal for values that have the same place in an order: 1 and 1.0, 0.0 and -0.0."""
    match value:
        case bool():
            return repr(value)
        case int() | float():
            return number(float(value) + 0.0) if not isinstance(value, int) or abs(value) < 1 << 53 else f"{value}"
        case list():
            return f"[{', '.join(map(ordering, value))}]"
    return normal(value)
