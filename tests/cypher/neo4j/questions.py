"""Asks Neo4j, Varve and, where its dialect allows, Ladybug the questions of world.cypher, and compares the answers.

    questions.py NEO4J VARVE [--persons 1500] [--seed N]

NEO4J and VARVE are addresses of Bolt. Ladybug runs in this process if its package is there. An empty answer is a failure.
"""

import argparse
import csv
import decimal
import os
import re
import sys
import tempfile
import time

import neo4j

from values import normal
from world import World

# Labels of Neo4j and Varve that nodes have beside the one of their table.
MORE = {"Post": ":Message", "Comment": ":Message", "City": ":Place", "Country": ":Place", "University": ":Organisation", "Company": ":Organisation"}
KINDS = {int: "INT64", str: "STRING", bool: "BOOLEAN", float: "DOUBLE"}


def questions():
    """The name of each question, its statement, and why Ladybug is not asked, if so."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "world.cypher")) as file:
        for part in re.split(r"^// (?!not in)", file.read(), flags=re.MULTILINE)[1:]:
            name, text = part.split("\n", 1)
            statement, _, reason = text.partition("// not in Ladybug: ")
            yield name, statement.strip(), reason.strip()


def bolt(url, database, world):
    """Loads the world over Bolt; returns a function that asks."""
    session = neo4j.GraphDatabase.driver(url, notifications_min_severity="OFF").session(database=database)
    session.run("MATCH (n) DETACH DELETE n").consume()
    for label, rows in world.nodes.items():
        session.run(f"CREATE INDEX IF NOT EXISTS FOR (n:{label}) ON (n.id)").consume()
        for start in range(0, len(rows), 2000):
            session.run(f"UNWIND $rows AS row CREATE (n:{label}{MORE.get(label, '')}) SET n = row", rows=rows[start:start + 2000]).consume()
    for (kind, start_label, end_label), rows in world.relationships.items():
        for start in range(0, len(rows), 2000):
            batch = [{"from": row["from"], "to": row["to"], "more": {key: row[key] for key in row if key not in ("from", "to")}} for row in rows[start:start + 2000]]
            session.run(f"UNWIND $rows AS row MATCH (a:{start_label} {{id: row.from}}) MATCH (b:{end_label} {{id: row.to}}) CREATE (a)-[r:{kind}]->(b) SET r = row.more", rows=batch).consume()

    def ask(statement, parameters):
        result = session.run(statement, parameters)
        return result.keys(), result.values()
    return ask


def ladybug(world, folder):
    """Loads the world into Ladybug; returns a function that asks, or None."""
    try:
        import ladybug as engine
    except ImportError:
        return None
    connection = engine.Connection(engine.Database(os.path.join(folder, "ladybug")))

    def copy(table, rows):
        path = os.path.join(folder, "rows.csv")
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        connection.execute(f"COPY {table} FROM '{path}' (HEADER=true{', ' + pair if (pair := table_pair.get(id(rows))) else ''})")

    table_pair, ends = {}, {}
    for label, rows in world.nodes.items():
        connection.execute(f"CREATE NODE TABLE {label}({', '.join(f'{key} {KINDS[type(cell)]}' for key, cell in rows[0].items())}, PRIMARY KEY(id))")
        copy(label, rows)
    for (kind, start, end), rows in world.relationships.items():
        ends.setdefault(kind, []).append((start, end, rows))
    for kind, tables in ends.items():
        first = [f"{key} {KINDS[type(cell)]}" for key, cell in tables[0][2][0].items() if key not in ("from", "to")]
        connection.execute(f"CREATE REL TABLE {kind}({', '.join([f'FROM {start} TO {end}' for start, end, _ in tables] + first)})")
        for start, end, rows in tables:
            if len(tables) > 1:
                table_pair[id(rows)] = f"from='{start}', to='{end}'"
            copy(kind, rows)

    def ask(statement, parameters):
        statement = re.sub(r":Message\b", ":Post:Comment", statement)
        result = connection.execute(statement, {key: parameters[key] for key in re.findall(r"\$(\w+)", statement)})
        return result.get_column_names(), [[int(cell) if isinstance(cell, decimal.Decimal) else cell for cell in row] for row in result]
    return ask


def rendered(answer):
    names, rows = answer
    return [" | ".join(normal(cell, name.startswith(("bag", "universities"))) for name, cell in zip(names, row)) for row in rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("neo4j")
    parser.add_argument("varve")
    parser.add_argument("--graph", default="questions")
    parser.add_argument("--persons", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    world, failed, asked = World(given.persons, given.seed), 0, 0
    parameters = world.parameters()
    print(f"seed {given.seed}: {sum(map(len, world.nodes.values()))} nodes, {sum(map(len, world.relationships.values()))} relationships", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        peers = {"Neo4j": bolt(given.neo4j, "neo4j", world), "Varve": bolt(given.varve, given.graph, world), "Ladybug": ladybug(world, folder)}
        if not peers["Ladybug"]:
            print("Ladybug is not installed: not asked")
        for name, statement, reason in questions():
            answers, times = {}, []
            for peer, ask in peers.items():
                if ask is None or peer == "Ladybug" and reason:
                    continue
                began = time.monotonic()
                try:
                    answers[peer] = rendered(ask(statement, parameters))
                except Exception as error:  # whatever its driver raises
                    answers[peer] = [f"failed: {error}"]
                times.append(f"{peer} {(time.monotonic() - began) * 1000:.0f} ms")
                asked += 1
            right = all(rows and rows == answers["Neo4j"] and not rows[0].startswith("failed: ") for rows in answers.values())
            failed += not right
            print(f"{'ok' if right else 'FAIL'} {name}: {len(answers['Neo4j'])} rows; {', '.join(times)}", flush=True)
            if not right:
                for peer, rows in answers.items():
                    print(f"  {peer}: {len(rows)} rows: {rows[:4]}"[:1500])
    print(f"seed {given.seed}: {asked} answers compared, {failed} questions failed")
    sys.exit(1 if failed or not asked else 0)


if __name__ == "__main__":
    main()
