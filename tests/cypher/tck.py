"""Runs the scenarios of openCypher's TCK against a server, through Neo4j's Python driver.

    tck.py FEATURES URL [--least N] [--only PART]

URL is one of Bolt or, with `http://`, of the Query API. Values are compared with their types, errors by class and
detail, side effects by what the graph holds before and after. The phase of an error cannot be seen from here, and
scenarios that need procedures of their own are left out. Prints each failure, and `N passed, N failed`; fails if fewer
than N pass. The open graphs tck0, tck1, … are made and dropped.
"""

import argparse
import collections
import glob
import os
import sys
import threading

import neo4j
from gherkin.parser import Parser
from gherkin.pickles.compiler import Compiler
from neo4j.exceptions import Neo4jError
from neo4j.graph import Node, Path, Relationship
from neo4j.time import Date, DateTime, Duration, Time

from literal import read, text_of

THREADS = 4


class Failed(Exception):
    """A scenario that does not hold."""


class LeftOut(Exception):
    """A scenario that cannot run here."""


def clock(value):
    """Hours to nanoseconds as openCypher prints them: without what is zero at the end."""
    text = f"{value.hour:02}:{value.minute:02}"
    if value.second or value.nanosecond:
        text += f":{value.second:02}"
    if value.nanosecond:
        text += f".{value.nanosecond:09}".rstrip("0")
    return text


def offset(value):
    at = value.utcoffset()
    if at is None:
        return ""
    seconds = int(at.total_seconds())
    if seconds == 0:
        return "Z"
    sign, seconds = ("-", -seconds) if seconds < 0 else ("+", seconds)
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return text + (f":{seconds % 60:02}" if seconds % 60 else "")


def date_text(value):
    return f"{value.year:04}-{value.month:02}-{value.day:02}"


def duration_text(value):
    def part(number, unit):
        return f"{number}{unit}" if number else ""

    def apart(number, by):
        whole = abs(number) // by * (1 if number >= 0 else -1)
        return whole, number - whole * by

    years, months = apart(value.months, 12)
    weeks_and_days = value.days
    nanos = value.seconds * 1_000_000_000 + value.nanoseconds
    hours, nanos = apart(nanos, 3_600_000_000_000)
    minutes, nanos = apart(nanos, 60_000_000_000)
    text = "P" + part(years, "Y") + part(months, "M") + part(weeks_and_days, "D")
    time = part(hours, "H") + part(minutes, "M")
    if nanos:
        sign = "-" if nanos < 0 else ""
        seconds, rest = divmod(abs(nanos), 1_000_000_000)
        fraction = f".{rest:09}".rstrip("0") if rest else ""
        time += f"{sign}{seconds}{fraction}S"
    text += "T" + time if time else ""
    return text if text != "P" else "PT0S"


def temporal(value):
    if isinstance(value, Date):
        return date_text(value)
    if isinstance(value, Time):
        return clock(value) + offset(value)
    if isinstance(value, DateTime):
        zone = getattr(value.tzinfo, "zone", None)
        named = f"[{zone}]" if zone and zone != "UTC" else ""
        return f"{date_text(value)}T{clock(value)}{offset(value)}{named}"
    return duration_text(value)


def plain(value):
    """A value of the driver as `read` gives it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (Date, Time, DateTime, Duration)):
        return temporal(value)
    if isinstance(value, Node):
        return ("node", sorted(value.labels), plain(dict(value.items())))
    if isinstance(value, Relationship):
        return ("relationship", value.type, plain(dict(value.items())))
    if isinstance(value, Path):
        steps = [
            (plain(one), one.start_node.element_id == before.element_id)
            for one, before in zip(value.relationships, value.nodes)
        ]
        return ("path", [plain(node) for node in value.nodes], steps)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    raise Failed(f"a value of {type(value)}")


def binary_tree(name):
    """One of the TCK's two trees: a root with four children, which have two children each and a circle among them."""
    right = {"binary-tree-1": "X", "binary-tree-2": "Y"}[name]
    parts = ["(a:A {name: 'a'})"]
    for branch in range(1, 5):
        kind = "KNOWS" if branch <= 2 else "FOLLOWS"
        parts.append(f"(b{branch}:X {{name: 'b{branch}'}}), (a)-[:{kind}]->(b{branch})")
        for leaf, label in ((1, "X"), (2, right)):
            both = f"c{branch}{leaf}"
            parts.append(f"({both}:{label} {{name: '{both}'}}), (b{branch})-[:FRIEND]->({both})")
    parts += [f"(b{one})-[:FRIEND]->(b{one % 4 + 1})" for one in range(1, 5)]
    return "CREATE " + ", ".join(parts)


class World:
    """The graph of a scenario, and what its last query answered."""

    def __init__(self, session):
        self.session = session
        self.parameters = {}
        self.last = None
        self.effects = None

    def ask(self, text):
        result = self.session.run(text, self.parameters)
        columns = list(result.keys())
        rows = [[plain(value) for value in record.values()] for record in result]
        result.consume()
        return columns, rows

    def content(self):
        content = {name: set() for name in ("nodes", "relationships", "labels", "properties")}
        for name, query in (("nodes", "MATCH (n) RETURN n"), ("relationships", "MATCH ()-[n]->() RETURN n")):
            for record in self.session.run(query):
                one = record[0]
                content[name].add(one.element_id)
                content["labels"].update(getattr(one, "labels", ()))
                content["properties"].update(
                    (name, one.element_id, key, text_of(plain(value))) for key, value in one.items()
                )
        return content

    def execute(self, text, counts):
        before = self.content() if counts else None
        try:
            self.last = self.ask(text)
        except Neo4jError as error:
            self.last = error
        if counts:
            now = self.content()
            found = {}
            for name, own in now.items():
                found["+" + name] = len(own - before[name])
                found["-" + name] = len(before[name] - own)
            self.effects = {name: count for name, count in found.items() if count}

    def answer(self):
        if isinstance(self.last, Neo4jError):
            raise Failed(f"failed: {self.last.message}")
        return self.last

    def compare(self, table, in_order, ignores_lists):
        columns, rows = self.answer()
        header = [cell.strip() for cell in table[0]]
        if sorted(columns) != sorted(header):
            raise Failed(f"columns {columns} instead of {header}")
        places = [columns.index(name) for name in header]
        found = [[text_of(row[place], ignores_lists) for place in places] for row in rows]
        wanted = [[text_of(read(cell), ignores_lists) for cell in row] for row in table[1:]]
        if not in_order:
            found, wanted = sorted(found), sorted(wanted)
        if found != wanted:
            raise Failed(f"rows {found[:8]} instead of {wanted[:8]}")

    def expect_error(self, text):
        kind, _, detail = text.partition(" should be raised at ")
        kind = kind.split()[-1]
        detail = detail.rpartition(": ")[2].strip()
        if not isinstance(self.last, Neo4jError):
            raise Failed(f"no error instead of {kind}: {detail}")
        wanted = f"{kind}: " if detail == "*" else f"{kind}: {detail}"
        if not (self.last.message or "").startswith(wanted):
            raise Failed(f"{self.last.code}: {self.last.message} instead of {wanted}")
        self.last = None

    def step(self, step, counts):
        text = step["text"]
        argument = step.get("argument", {})
        query = argument.get("docString", {}).get("content")
        rows = argument.get("dataTable", {}).get("rows", [])
        table = [[cell["value"] for cell in row["cells"]] for row in rows]
        if text in ("an empty graph", "any graph"):
            return
        if text.startswith("the binary-tree-"):
            self.ask(binary_tree(text.split()[1]))
        elif text == "having executed:":
            self.ask(query)
        elif text == "parameters are:":
            self.parameters = {name.strip(): read(value) for name, value in table}
        elif text == "executing query:":
            self.execute(query, counts)
        elif text == "executing control query:":
            self.execute(query, False)
        elif text == "the result should be empty":
            if self.answer()[1]:
                raise Failed(f"{len(self.last[1])} rows instead of none")
        elif text.startswith("the result should be"):
            self.compare(table, "in order" in text, "ignoring element order" in text)
        elif text in ("no side effects", "the side effects should be:"):
            if isinstance(self.last, Neo4jError):
                raise Failed(f"failed: {self.last.message}")
            wanted = {name.strip(): int(count) for name, count in table if int(count)}
            if wanted != self.effects:
                raise Failed(f"side effects {self.effects} instead of {wanted}")
        elif " should be raised at " in text:
            self.expect_error(text)
        else:
            raise LeftOut(text)

    def run(self, pickle):
        self.session.run("MATCH (n) DETACH DELETE n").consume()
        texts = [step["text"] for step in pickle["steps"]]
        counts = any("side effects" in text for text in texts)
        if any("there exists a procedure" in text for text in texts):
            raise LeftOut("a procedure")
        for step in pickle["steps"]:
            self.step(step, counts)
        if isinstance(self.last, Neo4jError):
            raise Failed(f"failed: {self.last.message}")


def scenarios(features, only):
    for path in sorted(glob.glob(os.path.join(features, "**", "*.feature"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            document = Parser().parse(file.read())
        document["uri"] = path
        name = os.path.basename(path)
        for pickle in Compiler().compile(document):
            title = f"{name}: {pickle['name']}"
            if only in title:
                yield title, pickle


class Run:
    """All scenarios, by several threads."""

    def __init__(self, waiting):
        self.waiting = collections.deque(waiting)
        self.passed, self.left_out = 0, 0
        self.failures = []
        self.lock = threading.Lock()

    def work(self, driver, database):
        with driver.session(database=database) as session:
            while True:
                with self.lock:
                    if not self.waiting:
                        return
                    title, pickle = self.waiting.popleft()
                failure, is_left_out = None, False
                try:
                    World(session).run(pickle)
                except LeftOut:
                    is_left_out = True
                except Exception as error:  # a driver that cannot show a value fails here, too
                    failure = f"{type(error).__name__}: {error}"
                with self.lock:
                    if failure:
                        self.failures.append(f"{title}: {failure}")
                    elif is_left_out:
                        self.left_out += 1
                    else:
                        self.passed += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("features")
    parser.add_argument("url")
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    run = Run(scenarios(given.features, given.only))
    # Over HTTP, the driver wants a login, also where the server has no users.
    with neo4j.GraphDatabase.driver(given.url, auth=("any", "any")) as driver:
        names = [f"tck{number}" for number in range(THREADS)]
        with driver.session(database="hugegraph") as session:
            for name in names:
                session.run(f"DROP DATABASE {name} IF EXISTS").consume()
                session.run(f"CREATE DATABASE {name}").consume()
        threads = [threading.Thread(target=run.work, args=(driver, name)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with driver.session(database="hugegraph") as session:
            for name in names:
                session.run(f"DROP DATABASE {name}").consume()
    for failure in sorted(run.failures):
        print(failure[:600])
    print(f"{run.left_out} left out, since they need procedures of their own")
    print(f"{run.passed} passed, {len(run.failures)} failed")
    sys.exit(run.passed < given.least)


if __name__ == "__main__":
    main()
