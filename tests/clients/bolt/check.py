"""Neo4j's Python driver against a server: check.py http://host:port bolt://host:port

With VARVE_USER and VARVE_PASSWORD it logs in. The server's graph 'hugegraph' is cleared. Prints
'N passed, N failed'.
"""

import base64
import json
import os
import sys
import threading
import urllib.request

import neo4j
from neo4j.exceptions import AuthError, ClientError, Neo4jError, ServiceUnavailable

url, bolt = sys.argv[1:]
user = os.environ.get("VARVE_USER")
password = os.environ.get("VARVE_PASSWORD", "")
auth = (user, password) if user else None
passed, failed = 0, 0
BOOKS = 2500
COUNT = "MATCH (n) RETURN count(n)"
NODES = "MATCH (n) RETURN n"


def check(name, got, wanted):
    global passed, failed
    if got == wanted:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name}: {got!r:.200}, not {wanted!r:.200}")


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
        code = refusal(lambda: session.run("CREATE (n)").consume())
        check("no Cypher yet", code, "Neo.ClientError.Statement.SyntaxError")
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
    # By a routing table.
    with neo4j.GraphDatabase.driver(bolt.replace("bolt://", "neo4j://"), auth=auth) as driver:
        with driver.session(database="hugegraph", default_access_mode="READ") as session:
            check("by routing", session.run(COUNT).single()[0], BOOKS + 1)
    clear()
    print(f"neo4j {neo4j.__version__}: {passed} passed, {failed} failed")
    sys.exit(failed > 0)


try:
    main()
except ServiceUnavailable as error:
    sys.exit(f"FAILED {error}; {passed} passed, {failed + 1} failed")
