"""Loads the data of data.py into Neo4j or Ladybug, asks Ladybug the questions, and reads points over Bolt.

    peers.py load BOLT FOLDER          CSV into Neo4j, in batches over Bolt, with an index on each label's `id`
    peers.py ladybug DATABASE FOLDER   CSV into Ladybug by COPY, then the questions, as ask.py prints them
    peers.py reads BOLT GRAPH PID      reads of one person by id: the rate, and the processor time a read of process PID

Needs the packages `neo4j` and `ladybug`.
"""

import csv
import datetime
import multiprocessing
import os
import random
import statistics
import sys
import time

from ask import questions, used

NODES = {"Person": "persons", "City": "cities", "State": "states", "Country": "countries", "Interest": "interests"}
RELATIONSHIPS = {"FOLLOWS": ("Person", "Person"), "LIVES_IN": ("Person", "City"), "CITY_IN": ("City", "State"),
                 "STATE_IN": ("State", "Country"), "HAS_INTEREST": ("Person", "Interest")}
KINDS = {"id": "INT64", "age": "INT64", "population": "INT64", "married": "BOOLEAN", "birthday": "DATE"}
OF = {"INT64": int, "BOOLEAN": lambda text: text == "true", "DATE": datetime.date.fromisoformat, "STRING": str}
TIMES = 5


def rows(folder, name):
    with open(os.path.join(folder, f"{name}.csv"), newline="") as file:
        for row in csv.DictReader(file):
            yield {key: OF[KINDS.get(key, "INT64" if key in ("from", "to") else "STRING")](text) for key, text in row.items()}


def batches(given, size=10_000):
    batch = []
    for row in given:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def load(url, folder):
    import neo4j
    with neo4j.GraphDatabase.driver(url) as driver, driver.session() as session:
        for label, name in NODES.items():
            session.run(f"CREATE INDEX FOR (n:{label}) ON (n.id)").consume()
            for batch in batches(rows(folder, name)):
                session.run(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row", rows=batch).consume()
        for key, label in (("city", "City"), ("country", "Country"), ("interest", "Interest")):
            session.run(f"CREATE INDEX FOR (n:{label}) ON (n.{key})").consume()
        session.run("CALL db.awaitIndexes(300)").consume()
        for kind, (start, end) in RELATIONSHIPS.items():
            for batch in batches(rows(folder, kind.lower())):
                session.run(f"UNWIND $rows AS row MATCH (a:{start} {{id: row.from}}) MATCH (b:{end} {{id: row.to}}) CREATE (a)-[:{kind}]->(b)", rows=batch).consume()


def ladybug(database, folder):
    import ladybug as engine
    connection = engine.Connection(engine.Database(database))
    for label, name in NODES.items():
        with open(os.path.join(folder, f"{name}.csv")) as file:
            columns = file.readline().strip().split(",")
        kinds = ", ".join(f"{column} {KINDS.get(column, 'STRING')}" for column in columns)
        connection.execute(f"CREATE NODE TABLE {label}({kinds}, PRIMARY KEY(id))")
        connection.execute(f"COPY {label} FROM '{folder}/{name}.csv' (HEADER=true)")
    for kind, (start, end) in RELATIONSHIPS.items():
        connection.execute(f"CREATE REL TABLE {kind}(FROM {start} TO {end})")
        connection.execute(f"COPY {kind} FROM '{folder}/{kind.lower()}.csv' (HEADER=true)")
    for number, statement in enumerate(questions(), 1):
        times, processor = [], []
        for _ in range(TIMES + 1):
            before, began = time.process_time(), time.monotonic()
            result = connection.execute(statement)
            values = []
            while result.has_next():
                values.append(result.get_next())
            times.append((time.monotonic() - began) * 1000)
            processor.append((time.process_time() - before) * 1000)
        print(f"{number}: {statistics.median(times[1:]):.0f} ms, {statistics.median(processor[1:]):.0f} ms of processor: {values}", flush=True)


def reader(url, graph, seconds, seed, counts):
    import neo4j
    choices, done = random.Random(seed), 0
    with neo4j.GraphDatabase.driver(url) as driver, driver.session(database=graph) as session:
        [[persons]] = session.run("MATCH (p:Person) RETURN count(p)").values()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            number = choices.randint(1, persons)
            [[name]] = session.run("MATCH (p:Person {id: $id}) RETURN p.name", id=number).values()
            assert name == f"Person {number}", name
            done += 1
    counts.put(done)


def reads(url, graph, pid, seconds=4):
    for connections in (1, 8):
        for _ in range(2):  # the first is a warm-up
            counts = multiprocessing.Queue()
            readers = [multiprocessing.Process(target=reader, args=(url, graph, seconds, seed, counts)) for seed in range(connections)]
            before, began = used(pid), time.monotonic()
            for each in readers:
                each.start()
            done = sum(counts.get() for _ in readers)
            for each in readers:
                each.join()
        print(f"{connections} connections: {done / (time.monotonic() - began):.0f} reads/s, {(used(pid) - before) * 1000 / done:.0f} us of processor a read", flush=True)


def main():
    match sys.argv[1:]:
        case ["load", url, folder]:
            load(url, folder)
        case ["ladybug", database, folder]:
            ladybug(database, folder)
        case ["reads", url, graph, pid]:
            reads(url, graph, int(pid))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
