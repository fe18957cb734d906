"""Values as openCypher's TCK writes them.

Nodes are `("node", labels, properties)`, relationships `("relationship", type, properties)`, and paths
`("path", nodes, steps)`, a step being a relationship and whether it is walked from its start. Temporal values are texts.
"""

import json
import math
import re

NUMBER = re.compile(r"-?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?")
NAME = re.compile(r"\w+|`[^`]*`")
WORDS = {"null": None, "true": True, "false": False, "NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}


class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def skip(self):
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1

    def takes(self, sign):
        self.skip()
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def expect(self, sign):
        if not self.takes(sign):
            raise ValueError(f"{sign!r} expected at {self.at} of {self.text!r}")

    def match(self, pattern):
        self.skip()
        found = pattern.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        return found.group()

    def name(self):
        found = self.match(NAME)
        if found is None:
            raise ValueError(f"a name expected at {self.at} of {self.text!r}")
        return found.strip("`")

    def value(self):
        self.skip()
        for word, value in WORDS.items():
            if self.takes(word):
                return value
        if self.takes("'"):
            return self.quoted()
        if self.takes("["):
            if self.takes(":"):
                return self.relationship()
            return self.items("]", self.value)
        if self.takes("{"):
            return self.properties()
        if self.takes("("):
            return self.node()
        if self.takes("<"):
            return self.path()
        number = self.match(NUMBER)
        if number is None:
            raise ValueError(f"a value expected at {self.at} of {self.text!r}")
        return float(number) if any(sign in number for sign in ".eE") else int(number)

    def quoted(self):
        parts = []
        while True:
            sign = self.text[self.at]
            self.at += 1
            if sign == "'":
                return "".join(parts)
            if sign == "\\":
                sign = self.text[self.at]
                self.at += 1
            parts.append(sign)

    def items(self, end, one):
        found = []
        while not self.takes(end):
            if found:
                self.expect(",")
            found.append(one())
        return found

    def entry(self):
        key = self.name()
        self.expect(":")
        return key, self.value()

    def properties(self):
        return dict(self.items("}", self.entry))

    def node(self):
        labels = []
        while self.takes(":"):
            labels.append(self.name())
        properties = self.properties() if self.takes("{") else {}
        self.expect(")")
        return ("node", sorted(labels), properties)

    def relationship(self):
        kind = self.name()
        properties = self.properties() if self.takes("{") else {}
        self.expect("]")
        return ("relationship", kind, properties)

    def path(self):
        self.expect("(")
        nodes, steps = [self.node()], []
        while not self.takes(">"):
            is_forward = not self.takes("<")
            self.expect("-")
            self.expect("[:")
            relationship = self.relationship()
            self.expect("->" if is_forward else "-")
            self.expect("(")
            nodes.append(self.node())
            steps.append((relationship, is_forward))
        return ("path", nodes, steps)


def read(text):
    reader = Reader(text.strip())
    value = reader.value()
    reader.skip()
    if reader.at != len(reader.text):
        raise ValueError(f"the end expected at {reader.at} of {text!r}")
    return value


def text_of(value, sorts_lists=False):
    """One form of a value: two values are equal, types included, if their texts are."""

    def of(one):
        return text_of(one, sorts_lists)

    if isinstance(value, tuple) and value[0] == "node":
        return f"(:{':'.join(value[1])} {of(value[2])})"
    if isinstance(value, tuple) and value[0] == "relationship":
        return f"[:{value[1]} {of(value[2])}]"
    if isinstance(value, tuple):
        steps = [f"{'-' if is_forward else '<-'}{of(one)}" for one, is_forward in value[2]]
        return f"<{[of(node) for node in value[1]]} {steps}>"
    if isinstance(value, dict):
        entries = sorted(f"{key}: {of(one)}" for key, one in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list):
        items = [of(one) for one in value]
        return "[" + ", ".join(sorted(items) if sorts_lists else items) + "]"
    if isinstance(value, float):
        return "0.0" if value == 0 else repr(value)
    return json.dumps(value)
