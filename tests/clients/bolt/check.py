"""Neo4j's Python driver against a server: check.py http://host:port bolt://host:port

With VARVE_USER and VARVE_PASSWORD it logs in. The server's graph 'hugegraph' is cleared, and its
open graph 'boltchecks' is made and dropped. Prints 'N passed, N failed'.
"""

import base64
import json
import os
import sys
import threading
import urllib.request

import neo4j
from checks import check, fail, finish
from neo4j.exceptions import AuthError, ClientError, Neo4jError, ServiceUnavailable

url, bolt = sys.argv[1:]
user = os.environ.get("VARVE_USER")
password = os.environ.get("VARVE_PASSWORD", "")
auth = (user, password) if user else None
BOOKS = 2500
COUNT = "MATCH (n) RETURN count(n)"
NODES = "MATCH (n) RETURN n"


def send(verb, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data=data, method=verb)
    request.add_header("content-type", "application/json")
    if user:
        login = base64.b64encode(f"{user}:{password}".encode()).decode()
        request.add_header("authorization", f"Basic {login}")
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def clear():
    message = "I'm+sure+to+delete+all+data"
    send("DELETE", f"/graphs/hugegraph/clear?confirm_message={message}")


def fill():
    clear()
    for name, kind in [("name", "TEXT"), ("price", "DOUBLE"), ("tags", "TEXT"), ("bought", "DATE")]:
        cardinality = "SET" if name == "tags" else "SINGLE"
        key = {"name": name, "data_type": kind, "cardinality": cardinality}
        send("POST", "/graphs/hugegraph/schema/propertykeys", key)
    label = {
        "name": "book",
        "id_strategy": "CUSTOMIZE_STRING",
        "properties": ["name", "price", "tags", "bought"],
        "nullable_keys": ["price", "tags", "bought"],
    }
    send("POST", "/graphs/hugegraph/schema/vertexlabels", label)
    books = [
        {
            "label": "book",
            "id": f"b{number}",
            "properties": {
                "name": f"book {number}",
                "price": number / 2,
                "tags": ["red", "new"],
                "bought": "2024-02-29 12:00:00.500",
            },
        }
        for number in range(BOOKS)
    ]
    for first in range(0, BOOKS, 500):
        send("POST", "/graphs/hugegraph/graph/vertices/batch", books[first : first + 500])


def refusal(work):
    try:
        work()
        return None
    except Neo4jError as error:
        return error.code


def check_reads(driver):
    with driver.session(database="hugegraph") as session:
        check("a constant", session.run("RETURN 1").single()[0], 1)
        check("a count", session.run(COUNT).single()[0], BOOKS)
        nodes = [record["n"] for record in session.run(NODES)]
        check("all nodes", len({node["name"] for node in nodes}), BOOKS)
        node = next(node for node in nodes if node["name"] == "book 7")
        check("labels", set(node.labels), {"book"})
        check("a number", node["price"], 3.5)
        check("a set", sorted(node["tags"]), ["new", "red"])
        check("a date", node["bought"].to_native().timestamp() % 1, 0.5)
        if hasattr(node, "element_id"):
            check("an id", node.element_id, "b7")
        result = session.run(NODES)
        check("some records", len([next(iter(result)) for _ in range(5)]), 5)
        result.consume()
        check("a count after it", session.run(COUNT).single()[0], BOOKS)


def check_transactions(driver):
    with driver.session(database="hugegraph", fetch_size=100) as session:
        read = getattr(session, "execute_read", None) or session.read_transaction
        check("a managed read", read(lambda own: own.run(COUNT).single()[0]), BOOKS)
        with session.begin_transaction() as own:
            check("a first count", own.run(COUNT).single()[0], BOOKS)
            book = {"label": "book", "id": "more", "properties": {"name": "more"}}
            send("POST", "/graphs/hugegraph/graph/vertices", book)
            check("the same state", own.run(COUNT).single()[0], BOOKS)
            check("all of it", len(list(own.run(NODES))), BOOKS)
            own.commit()
        check("the new state", session.run(COUNT).single()[0], BOOKS + 1)
        with session.begin_transaction() as own:
            own.run("RETURN 1").consume()
            own.rollback()


def check_refusals(driver):
    with driver.session(database="hugegraph") as session:
        code = refusal(lambda: session.run("RETURN x").consume())
        check("no such variable", code, "Neo.ClientError.Statement.SyntaxError")
        code = refusal(lambda: session.run("RETURN $x").consume())
        check("no such parameter", code, "Neo.ClientError.Statement.ParameterMissing")
        code = refusal(lambda: session.run("CALL no.such()").consume())
        check("no such procedure", code, "Neo.ClientError.Procedure.ProcedureNotFound")
        check("the session goes on", session.run("RETURN 1").single()[0], 1)
    with driver.session(database="nothing") as session:
        code = refusal(lambda: session.run("RETURN 1").consume())
        check("no such graph", code, "Neo.ClientError.Database.DatabaseNotFound")
    if not user:
        return
    with neo4j.GraphDatabase.driver(bolt, auth=(user, "wrong")) as stranger:
        try:
            stranger.verify_connectivity()
            check("a wrong password", "logged in", "refused")
        except (AuthError, ClientError):
            check("a wrong password", "refused", "refused")


# Over HTTP the driver takes no name with an underscore.
OPEN = "boltchecks"


def check_writes(session):
    made = session.run(
        "CREATE (a:P:Q {name: $name, tags: ['x', 'y'], at: date('2024-02-29')})"
        "-[k:KNOWS {w: 1.5}]->(b:P) RETURN a, k",
        name="Ann",
    )
    record = made.single()
    counters = made.consume().counters
    check("labels", set(record["a"].labels), {"P", "Q"})
    check("a list", record["a"]["tags"], ["x", "y"])
    check("a date", record["a"]["at"].to_native().isoformat(), "2024-02-29")
    check("a type", (record["k"].type, record["k"]["w"]), ("KNOWS", 1.5))
    check("counters", (counters.nodes_created, counters.relationships_created), (2, 1))
    path = session.run("MATCH p = (:Q)-[:KNOWS]->() RETURN p").single()["p"]
    check("a path", (len(path), path.start_node["name"]), (1, "Ann"))
    session.run("MATCH (q:Q) REMOVE q:Q SET q:R").consume()
    check("a label", session.run("MATCH (r:R) RETURN labels(r)").single()[0], ["P", "R"])
    rows = session.run("UNWIND range(1, 3000) AS i CREATE (n:Many {i: i}) RETURN n.i AS i")
    check("many records of a write", sum(row["i"] for row in rows), 4501500)
    parameter = {"list": [1, None, 2.5], "map": {"a": "b"}, "bytes": b"\x01"}
    echoed = session.run("RETURN $p AS p", p=parameter).single()["p"]
    check("parameters", (echoed["list"], echoed["map"]), ([1, None, 2.5], {"a": "b"}))
    plan = session.run("EXPLAIN MATCH (n) RETURN n").consume().plan
    check("a plan", plan["operatorType"], "ProduceResults")
    components = session.run("CALL dbms.components()").single()
    check("components", components["name"], "Neo4j Kernel")
    labels = session.run("CALL db.labels() YIELD label RETURN collect(label)").single()[0]
    check("all labels", set(labels) >= {"P", "R", "Many"}, True)


def check_own_writes(session):
    with session.begin_transaction() as own:
        own.run("CREATE (:C {n: 0})").consume()
        check("its own change", own.run("MATCH (c:C) RETURN count(c)").single()[0], 1)
        own.rollback()
    check("nothing is left", session.run("MATCH (c:C) RETURN count(c)").single()[0], 0)
    session.run("CREATE (:C {n: 0})").consume()
    with session.begin_transaction(metadata={"as_of": "2001-01-01"}) as own:
        check("the past", own.run("MATCH (n) RETURN count(n)").single()[0], 0)


def check_cypher(driver):
    send("POST", f"/graphs/{OPEN}", {"schema": "open"})
    try:
        with driver.session(database=OPEN) as session:
            check_writes(session)
            check_own_writes(session)
            check_batches(session)
            check_profile(session, "args")
        with driver.session(database="system") as session:
            check_system(session)

        def count():
            with driver.session(database=OPEN) as session:
                write = getattr(session, "execute_write", None) or session.write_transaction
                for _ in range(5):
                    write(lambda own: own.run("MATCH (c:C) SET c.n = c.n + 1").consume())

        threads = [threading.Thread(target=count) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with driver.session(database=OPEN) as session:
            counted = session.run("MATCH (c:C) RETURN c.n").single()[0]
            check("no change is lost", counted, 15)
        if tuple(int(part) for part in neo4j.__version__.split(".")[:2]) >= (6, 4):
            check_query_api()
    finally:
        message = "I'm+sure+to+drop+the+graph"
        send("DELETE", f"/graphs/{OPEN}?confirm_message={message}")


def check_batches(session):
    make = "UNWIND $rows AS row CALL { WITH row CREATE (:Batch {n: row}) } IN TRANSACTIONS OF 10 ROWS"
    made = session.run(make, rows=list(range(25))).consume()
    check("made in batches", made.counters.nodes_created, 25)

    def within():
        with session.begin_transaction() as own:
            own.run(make, rows=[1]).consume()

    code = refusal(within)
    check("batches in a transaction", code, "Neo.DatabaseError.Transaction.TransactionStartFailed")
    gone = session.run("MATCH (n:Batch) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF $n ROWS", n=7)
    check("deleted in batches", gone.consume().counters.nodes_deleted, 25)


def check_profile(session, arguments):
    result = session.run("PROFILE UNWIND [1, 2, 3] AS x RETURN x")
    check("profiled rows", [record["x"] for record in result], [1, 2, 3])
    profile = result.consume().profile
    check("a profile", (profile["operatorType"], profile["rows"]), ("ProduceResults", 3))
    check("its numbers", [profile[name] for name in ("dbHits", "pageCacheHits", "pageCacheHitRatio")], [0, 0, 0.0])
    check("its arguments", arguments in profile and len(profile["children"]) > 0, True)


def check_system(session):
    check("no graph", session.run("RETURN 1 AS one").single()[0], 1)
    names = [record["name"] for record in session.run("SHOW DATABASES YIELD name")]
    check("databases", OPEN in names, True)
    code = refusal(lambda: session.run("MATCH (n) RETURN n").consume())
    check("no elements", code, "Neo.ClientError.Statement.SemanticError")


def check_query_api():
    """The same driver over HTTP, which has no unknown user."""
    with neo4j.GraphDatabase.driver(url, auth=auth or ("any", "any")) as driver:
        driver.verify_connectivity()
        with driver.session(database="system") as session:
            check_system(session)
        with driver.session(database=OPEN) as session:
            check_batches(session)
            check_profile(session, "args")
        sent = {"list": [1, None, 2.5], "map": {"a": "b"}, "bytes": b"\x01"}
        sent["date"] = neo4j.time.Date(2024, 2, 29)
        echoed = driver.execute_query("RETURN $p AS p", p=sent, database_=OPEN)
        check("values", echoed.records[0]["p"], sent)
        with driver.session(database=OPEN) as session:
            with session.begin_transaction() as own:
                own.run("CREATE (:H {n: 1})-[:T]->(:H {n: 2})").consume()
                check("its own", own.run("MATCH (h:H) RETURN count(h)").single()[0], 2)
                own.rollback()
            path = session.execute_write(
                lambda own: own.run("CREATE p = (:H {n: 1})-[:T]->(:H {n: 2}) RETURN p").single()
            )["p"]
            check("a path", [node["n"] for node in path.nodes], [1, 2])
            read = session.execute_read(lambda own: own.run("MATCH (h:H) RETURN count(h)").single())
            check("after its commit", read[0], 2)
            code = refusal(lambda: session.execute_read(lambda own: own.run("CREATE (:H)").consume()))
            check("no write", code, "Neo.ClientError.Statement.AccessMode")
            code = refusal(lambda: session.run("RETURN x").consume())
            check("no such variable", code, "Neo.ClientError.Statement.SyntaxError")


def check_many(driver):
    """Many sessions at a time share connections."""
    counts, threads = [], []

    def count():
        with driver.session(database="hugegraph") as session:
            for _ in range(20):
                counts.append(session.run(COUNT).single()[0])

    for _ in range(16):
        thread = threading.Thread(target=count)
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join()
    check("many sessions", counts, [BOOKS + 1] * 320)


def main():
    fill()
    with neo4j.GraphDatabase.driver(bolt, auth=auth) as driver:
        driver.verify_connectivity()
        check_reads(driver)
        check_transactions(driver)
        check_refusals(driver)
        check_many(driver)
        check_cypher(driver)
    # By a routing table.
    with neo4j.GraphDatabase.driver(bolt.replace("bolt://", "neo4j://"), auth=auth) as driver:
        with driver.session(database="hugegraph", default_access_mode="READ") as session:
            check("by routing", session.run(COUNT).single()[0], BOOKS + 1)
    clear()
    finish(f"neo4j {neo4j.__version__}")


try:
    main()
except ServiceUnavailable as error:
    fail(error)
    finish(f"neo4j {neo4j.__version__}")
