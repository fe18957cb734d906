#!/usr/bin/env python3
"""Fills the graph 'hugegraph' for the drivers of TinkerPop: fill.py http://host:port

TinkerPop's "modern" graph (six vertices, numbers as ids) and 1,000 vertices 'item', by REST.
Whatever the graph holds is removed before. The graph 'made' is made new, empty and open.
"""
import base64
import json
import os
import sys
import urllib.parse
import urllib.request

GRAPHS = sys.argv[1] + "/graphs"
GRAPH = GRAPHS + "/hugegraph"
CONFIRMED = "I'm sure to delete all data"
ITEMS = 1_000
AUTHORIZATION = {}
if "VARVE_USER" in os.environ:
    PAIR = f"{os.environ['VARVE_USER']}:{os.environ['VARVE_PASSWORD']}"
    AUTHORIZATION = {"Authorization": "Basic " + base64.b64encode(PAIR.encode()).decode()}

PERSONS = {1: ("marko", 29), 2: ("vadas", 27), 4: ("josh", 32), 6: ("peter", 35)}
SOFTWARE = {3: "lop", 5: "ripple"}
KNOWS = [(1, 2, 0.5), (1, 4, 1.0)]
CREATED = [(1, 3, 0.4), (4, 5, 1.0), (4, 3, 0.4), (6, 3, 0.2)]


def send(method, path, body=None, base=GRAPH):
    request = urllib.request.Request(
        f"{base}/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **AUTHORIZATION},
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def schema():
    for name, kind in [("name", "TEXT"), ("age", "INT"), ("lang", "TEXT"), ("weight", "DOUBLE")]:
        send("POST", "schema/propertykeys", {"name": name, "data_type": kind})
    for name, keys in [("person", ["name", "age"]), ("software", ["name", "lang"]), ("item", ["name"])]:
        label = {"name": name, "id_strategy": "CUSTOMIZE_NUMBER", "properties": keys}
        send("POST", "schema/vertexlabels", label)
    for name, target in [("knows", "person"), ("created", "software")]:
        label = {"name": name, "source_label": "person", "target_label": target, "properties": ["weight"]}
        send("POST", "schema/edgelabels", label)


def vertices(label, rows):
    for at in range(0, len(rows), 500):
        batch = [{"id": id, "label": label, "properties": of} for id, of in rows[at : at + 500]]
        send("POST", "graph/vertices/batch", batch)


def edges(label, target, rows):
    batch = [
        {
            "label": label,
            "outV": source,
            "inV": other,
            "outVLabel": "person",
            "inVLabel": target,
            "properties": {"weight": weight},
        }
        for source, other, weight in rows
    ]
    send("POST", "graph/edges/batch", batch)


def open_graph(name):
    if name in send("GET", "", base=GRAPHS)["graphs"]:
        dropped = {"confirm_message": "I'm sure to drop the graph"}
        send("DELETE", f"{name}?" + urllib.parse.urlencode(dropped), base=GRAPHS)
    send("POST", name, {"schema": "open"}, base=GRAPHS)


send("DELETE", "clear?" + urllib.parse.urlencode({"confirm_message": CONFIRMED}))
schema()
vertices("person", [(id, {"name": name, "age": age}) for id, (name, age) in PERSONS.items()])
vertices("software", [(id, {"name": name, "lang": "java"}) for id, name in SOFTWARE.items()])
vertices("item", [(1_000 + i, {"name": f"item {i}"}) for i in range(ITEMS)])
edges("knows", "person", KNOWS)
edges("created", "software", CREATED)
open_graph("made")
