"""The differences from Neo4j that are meant, each with a line in docs/coming-from-neo4j.md."""

import re

LITERAL = r"^(?!WITH \[)"
# Why, then patterns of the statement and of what each server says: all of them must be found.
RULES = [
    # Types that are wrong whatever the values: each server finds some before it runs that the other finds when it evaluates them, or never.
    ("static types", "", r"SyntaxError: (Type mismatch|Coercion|Property \w+ does not|.*conflicting type)", "rows"),
    ("static types", LITERAL, r"\[", r"does not take"),
    ("arguments of wrong types", r"point\.|duration\.|datetime\.|truncate", r"\[", r"does not take|expected POINT|expected a date or time"),
    ("a value instead of a list", "", r"\[", r"is never a list|expected LIST|(tail|head|last|reverse|isEmpty)\(\) does not take"),
    ("a value instead of a boolean", "", r"\[", r"expected BOOLEAN|is never a truth value"),
    ("+ of what is no number", r"\+", r"\[", r"expected INTEGER or FLOAT|is never a number"),
    ("a position that is no integer", r"\.\.|range|round|substring|left|right", r"\[", r"expected INTEGER|range\(\) of FLOAT"),
    ("- of a duration", r"- *\(?duration|-\$|- *v\[", "Cannot subtract `Duration` from `Long`", "Duration"),
    ("an offset that a zone never has", r"\+03:00\[Europe/Stockholm\]", "do not match", "DateTime"),
    ("a duration of NaN", r"\$nan", "Duration", "out of range"),
    ("null gives null", "null|toInteger|OrNull|v\\[", r"NO_VALUE|NoValue|NULL|Error", r"\[None\]"),
    ("=~ of what is no string", "=~", r"TextValue", r"\[None\]"),
    ("midnight of a date", "", r"Cannot get the (time|offset) of|Cannot select datetime from|with a time based unit", r"\["),
    ("durations of what they are", r"duration", r"DurationFunction: Provided input was \[-?P|Unsupported unit", r"\["),
    ("fractions of durations", r"duration.*[*/]|avg|[*/].*duration", "Duration|overflow", "Duration|out of range"),
    ("sums that overflow", r"sum\(", r"\[", r"the sum does not fit"),
    ("toInteger of what does not fit", "toInteger", r"\[|is too large", r"None"),
    ("round of large numbers", "round", r"f9\.22337203685e\+18", "e+"),
    ("order of maps", r"\{[^{}]*\} *[<>]=?|[<>]=? *\{", "rows", "rows.*None, None"),
    ("a time that a clock shows twice", r"2021-10-31T02:30.*timezone", "DateTime", "DateTime"),
    ("out of the driver's range", "", "broken data", ""),
    ("out of the driver's range", "", "", "broken data"),
    ("out of the driver's range", "92233720368547758", "DateTime", "out of range"),
]


def untyped(text):
    """Without the marks of floats."""
    return re.sub(r"\bf(?=[-\d])", "", text)


def known(statement, neo4j, varve):
    """Why the two outcomes may differ, or None."""
    texts = statement, neo4j[2], varve[2]
    if "percentileCont" in statement and untyped(texts[1]) == untyped(texts[2]):
        return "percentileCont gives a float"
    for reason, *patterns in RULES:
        if all(re.search(pattern, text, re.DOTALL) for pattern, text in zip(patterns, texts)):
            return reason
    return None
