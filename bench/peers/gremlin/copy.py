"""Copies the persons of the social graph and whom they know from a Varve to a Gremlin server, with their ids.

usage: copy.py URL_OF_VARVE URL_OF_GREMLIN_SERVER
"""

import http.client
import json
import sys
import urllib.parse

PAGE = 2000
VERTICES = 500  # a request
EDGES = 500  # a request

ADD_VERTICES = """rows.each { g.addV('benchp').property(T.id, it[0]).property('bname', it[1])
  .property('bage', it[2] as int).property('bcity', it[3]).iterate() }; rows.size()"""
ADD_EDGES = """rows.each { g.V(it[0]).addE('benchk').to(__.V(it[1])).property('bsince', it[2] as int).iterate() }; rows.size()"""


class Server:
    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=300)

    def ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"copy.py: {method} {path}: {answer.status} {text[:500]!r}")
        return json.loads(text)


def listed(varve, kind, label):
    page = ""
    while page is not None:
        query = urllib.parse.urlencode({"label": label, "limit": PAGE, "page": page})
        answer = varve.ask("GET", f"/graphs/hugegraph/graph/{kind}?{query}")
        yield from answer[kind]
        page = answer.get("page")


def send(gremlin, script, rows):
    gremlin.ask("POST", "/gremlin", {"gremlin": script, "bindings": {"rows": rows}, "language": "gremlin-groovy"})


def copy(gremlin, script, rows, most):
    batch, count = [], 0
    for row in rows:
        batch.append(row)
        if len(batch) == most:
            send(gremlin, script, batch)
            count += len(batch)
            batch = []
    if batch:
        send(gremlin, script, batch)
        count += len(batch)
    return count


def main():
    varve, gremlin = (Server(url) for url in sys.argv[1:3])

    def vertices():
        for vertex in listed(varve, "vertices", "benchp"):
            properties = vertex["properties"]
            yield [vertex["id"], properties["bname"], properties["bage"], properties["bcity"]]

    def edges():
        for edge in listed(varve, "edges", "benchk"):
            yield [edge["outV"], edge["inV"], edge["properties"]["bsince"]]

    persons = copy(gremlin, ADD_VERTICES, vertices(), VERTICES)
    knows = copy(gremlin, ADD_EDGES, edges(), EDGES)
    print(f"copied {persons} persons and {knows} edges")


main()
