"""Copies the social graph from Varve to Neo4j, and asks both the same questions.

    cypher.py copy VARVE NEO4J                          addresses of Bolt
    cypher.py ask VARVE PID NEO4J PID SECONDS           seconds a question and server

Needs the package `neo4j`.
"""

import statistics
import sys
import time
from pathlib import Path

import neo4j

sys.path.insert(0, str(Path(__file__).parent.parent / "questions"))
from ask import used  # noqa: E402
from peers import batches  # noqa: E402

GRAPHS = {"Varve": "hugegraph", "Neo4j": "neo4j"}
# Of `a` and `b`, two persons. Those of one person first, then those of all.
QUESTIONS = {
    "by name": "MATCH (p:benchp {bname: $a}) RETURN p.bname, p.bage, p.bcity",
    "out": "MATCH (:benchp {bname: $a})-[:benchk]->(q) RETURN q.bname AS name ORDER BY name",
    "two hops": "MATCH (:benchp {bname: $a})-[:benchk]->()-[:benchk]->(q) RETURN count(DISTINCT q)",
    "three hops": "MATCH (:benchp {bname: $a})-[:benchk*1..3]->(q) RETURN count(DISTINCT q)",
    "filtered": "MATCH (:benchp {bname: $a})-[k:benchk]->(q) WHERE k.bsince > 1960 AND q.bcity = 'Paris' RETURN count(*)",
    "neighbours' cities": "MATCH (:benchp {bname: $a})-[:benchk]-()-[:benchk]-(q) RETURN q.bcity AS city, count(*) ORDER BY city",
    "shortest path": "MATCH p = shortestPath((:benchp {bname: $a})-[:benchk*..8]-(:benchp {bname: $b})) RETURN length(p)",
    "top ages": "MATCH (p:benchp) WHERE p.bage > 60 RETURN p.bage AS age ORDER BY age DESC LIMIT 10",
    "cities": "MATCH (p:benchp) RETURN p.bcity AS city, count(*) ORDER BY city",
    "all two hops": "MATCH (:benchp)-[:benchk]->()-[:benchk]->() RETURN count(*)",
}


def copy(source, target):
    with neo4j.GraphDatabase.driver(source) as ours, neo4j.GraphDatabase.driver(target) as theirs:
        with ours.session(database=GRAPHS["Varve"], fetch_size=10_000) as reads, theirs.session() as writes:
            writes.run("CREATE CONSTRAINT FOR (p:benchp) REQUIRE p.bname IS UNIQUE").consume()
            for key in ("bage", "bcity"):
                writes.run(f"CREATE INDEX FOR (p:benchp) ON (p.{key})").consume()
            counts = []
            for statement, put in (
                ("MATCH (p:benchp) RETURN p.bname, p.bage, p.bcity",
                 "UNWIND $rows AS r CREATE (:benchp {bname: r[0], bage: r[1], bcity: r[2]})"),
                ("MATCH (p:benchp)-[k:benchk]->(q) RETURN p.bname, q.bname, k.bsince",
                 "UNWIND $rows AS r MATCH (p:benchp {bname: r[0]}) MATCH (q:benchp {bname: r[1]}) CREATE (p)-[:benchk {bsince: r[2]}]->(q)"),
            ):
                counts.append(0)
                for batch in batches(row.values() for row in reads.run(statement)):
                    writes.run(put, rows=batch).consume()
                    counts[-1] += len(batch)
                writes.run("CALL db.awaitIndexes(300)").consume()
            print(f"copied {counts[0]} persons and {counts[1]} relationships", flush=True)


def measured(session, pid, statement, persons, seconds):
    """The answers of the first persons, and what one costs after as long a warm-up: milliseconds and those of processor."""
    answers = [session.run(statement, a=a, b=b).values() for a, b in zip(persons[:5], persons[1:6])]
    for _ in range(2):
        before, began, times = used(pid), time.monotonic(), []
        while not times or time.monotonic() - began < seconds:
            a, b = (persons[(2 * len(times) + each) % len(persons)] for each in (0, 1))
            asked = time.monotonic()
            session.run(statement, a=a, b=b).consume()
            times.append((time.monotonic() - asked) * 1000)
        processor = (used(pid) - before) / len(times)
    return answers, statistics.median(times), processor


def ask(servers, seconds):
    drivers = {name: neo4j.GraphDatabase.driver(url, notifications_min_severity="OFF") for name, (url, _) in servers.items()}
    sessions = {name: driver.session(database=GRAPHS[name]) for name, driver in drivers.items()}
    # Of one age, since the first ones are known by the most.
    persons = [name for [name] in sessions["Varve"].run("MATCH (p:benchp {bage: 40}) RETURN p.bname LIMIT 5000").values()]
    print("| question | Varve ms | Neo4j ms | Varve CPU ms | Neo4j CPU ms | ratio of CPU |\n|---|--:|--:|--:|--:|--:|")
    for question, statement in QUESTIONS.items():
        found = {name: measured(sessions[name], int(pid), statement, persons, seconds) for name, (_, pid) in servers.items()}
        (ours, ms, cpu), (theirs, their_ms, their_cpu) = found["Varve"], found["Neo4j"]
        assert ours == theirs and any(ours), (question, ours, theirs)
        print(f"| {question} | {ms:.2f} | {their_ms:.2f} | {cpu:.3f} | {their_cpu:.3f} | {cpu / their_cpu:.2f} |", flush=True)
    for driver in drivers.values():
        driver.close()


def main():
    match sys.argv[1:]:
        case ["copy", source, target]:
            copy(source, target)
        case ["ask", varve, pid, other, other_pid, seconds]:
            ask({"Varve": (varve, pid), "Neo4j": (other, other_pid)}, float(seconds))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
