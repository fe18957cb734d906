"""Runs random statements on Neo4j and on Varve, and prints every difference.

    compare.py NEO4J VARVE [--seed N] [--statements N] [--graphs N] [--kinds expressions,queries,writes] [--known FILE]

NEO4J and VARVE are addresses of Bolt. The seed is printed; the same seed runs the same statements.
"""

import argparse
import collections
import random
import re
import sys
import time

import neo4j

from expressions import Expressions
from graphs import DUMP, statements
from known import known
from values import PARAMETERS, normal, ordering
from writes import Writes

COUNTERS = ["nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted", "properties_set", "labels_added", "labels_removed"]

# Neo4j's own faults: there is nothing to compare.
BROKEN = ["Neo.DatabaseError.Statement.ExecutionFailed", "Neo.DatabaseError.General.UnknownError"]
LIMITS = r"TimedOut|VRV-BUSY|VRV-LIMIT|OutOfMemory"


class Server:
    def __init__(self, url, database):
        self.driver = neo4j.GraphDatabase.driver(url, auth=None, notifications_min_severity="OFF")
        self.session = self.driver.session(database=database)

    def run(self, statement, ordered=False):
        """The outcome of a statement: its kind, its form to compare, and a text to show."""
        try:
            result = self.session.run(neo4j.Query(statement, timeout=20), PARAMETERS)
            names, rows = result.keys(), [record.values() for record in result]
            counters = result.consume().counters
        except neo4j.exceptions.Neo4jError as error:
            return "error", error.code, f"{error.code}: {error.message}"
        except (ValueError, OverflowError, neo4j.exceptions.BrokenRecordError) as error:  # the driver has no such value
            return "driver", type(error).__name__, str(error)
        rendered = [normal(row) for row in rows]
        bags = sorted(" | ".join(normal(cell, name.startswith("bag")) for name, cell in zip(names, row)) for row in rows)
        order = [[ordering(cell) for cell in row] for row in rows] if ordered else None
        counts = [getattr(counters, name) for name in COUNTERS]
        return "rows", (names, bags, order, counts), f"{len(rows)} rows {counts}: " + "; ".join(rendered if ordered else sorted(rendered))


def agree(left, right):
    """Whether two outcomes agree: equal rows, or both are errors."""
    return left[0] == right[0] and (left[0] != "rows" or left[1] == right[1])


class Comparison:
    def __init__(self, given):
        self.given = given
        self.choices = random.Random(given.seed)
        self.peer, self.ours = Server(given.neo4j, "neo4j"), Server(given.varve, given.graph)
        self.counts, self.codes, self.differences = collections.Counter(), collections.Counter(), 0

    def compare(self, statement, ordered=False):
        left, right = self.peer.run(statement, ordered), self.ours.run(statement, ordered)
        self.counts[left[0] if left[0] == right[0] else "mixed"] += 1
        if left[0] == right[0] == "error" and left[1] != right[1]:
            self.codes[(left[1], right[1])] += 1
        if agree(left, right) or left[1] in BROKEN:
            return True
        if any(re.search(LIMITS, one[2]) for one in (left, right)):
            self.counts["limits of time or memory"] += 1
            return True
        if reason := known(statement, left, right):
            self.counts[f"known: {reason}"] += 1
            return True
        self.differences += 1
        print(f"\nFAIL {statement}\n  Neo4j: {left[2][:self.given.width]}\n  Varve: {right[2][:self.given.width]}", flush=True)
        return False

    def new_graph(self):
        for statement in ["MATCH (n) DETACH DELETE n", *statements(self.choices)]:
            for server in (self.peer, self.ours):
                kind, _, rendered = server.run(statement)
                assert kind == "rows", (statement, rendered)
        return all([self.compare(statement) for statement in DUMP])

    def round(self, kinds):
        """A new graph, and statements on it."""
        made, expressions = Writes(self.choices), Expressions(self.choices)
        if {"queries", "writes"} & set(kinds):
            self.new_graph()
        for _ in range(self.given.round):
            kind = self.choices.choice(kinds)
            if kind == "expressions":
                self.compare(*expressions.statement())
            elif kind == "queries":
                self.compare(*made.query())
            else:
                self.compare(made.write())
                if not all([self.compare(statement) for statement in DUMP]):
                    self.new_graph()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("neo4j")
    parser.add_argument("varve")
    parser.add_argument("--graph", default="differential")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--statements", type=int, default=3000)
    parser.add_argument("--round", type=int, default=60)
    parser.add_argument("--width", type=int, default=600)
    parser.add_argument("--kinds", default="expressions,queries,queries,writes")
    given = parser.parse_args()
    given.seed = random.SystemRandom().randrange(1 << 32) if given.seed is None else given.seed
    print(f"seed {given.seed}", flush=True)
    comparison, begun = Comparison(given), time.monotonic()
    comparison.ours.run("MATCH (n) RETURN count(n)")
    for _ in range(max(1, given.statements // given.round)):
        comparison.round(given.kinds.split(","))
    for code, count in comparison.codes.most_common():
        print(f"codes {count}: {code[0]} in Neo4j, {code[1]} in Varve")
    print(f"seed {given.seed}: {dict(comparison.counts)}, {comparison.differences} differences, {time.monotonic() - begun:.0f} s")
    sys.exit(1 if comparison.differences or not comparison.counts["rows"] else 0)


if __name__ == "__main__":
    main()
