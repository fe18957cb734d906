"""Random graphs: nodes with any number of labels, parallel relationships and loops, properties of all kinds."""

from values import literal

LABELS = ["A", "B", "C", "D"]
TYPES = ["R", "S", "T"]
STRINGS = ["''", "'a'", "'ab'", "'b'", "'Ab'", "'é'", "'日本'", "'z z'", "'10'"]
# The properties whose types statements may rely on; each is absent from some elements. `any` holds a value of any type.
PROPERTIES = {"i": "int", "j": "int", "f": "float", "s": "str", "b": "bool", "l": "ints", "d": "date", "any": "any"}


def value(choices, kind):
    """The text of a small, tame value: no overflow, no NaN."""
    match kind:
        case "int":
            return str(choices.choice([0, 1, 2, 3, 4, 5, -1, -2, 10]))
        case "float":
            return choices.choice(["0.5", "1.0", "2.5", "-1.5", "3.0", "10.25"])
        case "str":
            return choices.choice(STRINGS)
        case "bool":
            return choices.choice(["true", "false"])
        case "ints":
            return f"[{', '.join(value(choices, 'int') for _ in range(choices.randint(0, 3)))}]"
        case "date":
            return choices.choice(["date('2020-02-29')", "date('2021-01-01')", "date('1999-12-31')"])
    return literal(choices, choices.choice(["storable", "int", "str", "float"]))


def properties(choices, number=None, share=0.6):
    """The map of an element's properties; `uid` is its number."""
    chosen = [key for key in PROPERTIES if choices.random() < share]
    parts = ([f"uid: {number}"] if number is not None else []) + [f"{key}: {value(choices, PROPERTIES[key])}" for key in chosen]
    return "{" + ", ".join(parts) + "}"


def statements(choices):
    """The statements that make a graph."""
    count = choices.choice([1, 4, 6, 6, 8, 10])
    made = []
    for number in range(count):
        labels = "".join(f":{label}" for label in LABELS if choices.random() < 0.5)
        made.append(f"CREATE ({labels} {properties(choices, number)})")
    for number in range(choices.choice([0, 1, 2, 3]) * count):
        start, end = choices.randrange(count), choices.randrange(count)
        made.append(f"MATCH (a {{uid: {start}}}), (b {{uid: {end}}}) "
                    f"CREATE (a)-[:{choices.choice(TYPES)} {properties(choices, 100 + number, 0.3)}]->(b)")
    return made


DUMP = ["MATCH (n) RETURN labels(n) AS bag, properties(n) AS p",
        "MATCH (a)-[r]->(b) RETURN properties(a) AS a, type(r) AS t, properties(r) AS r, properties(b) AS b"]
