"""gremlinpython against a server that fill.py has filled: check.py ws://host:port/gremlin"""
import asyncio
import concurrent.futures
import datetime
import os
import sys
import traceback

from gremlin_python.driver import client, serializer
from gremlin_python.driver.driver_remote_connection import DriverRemoteConnection
from gremlin_python.driver.protocol import GremlinServerError
from gremlin_python.process.anonymous_traversal import traversal
from gremlin_python.process.graph_traversal import __
from gremlin_python.process.traversal import Barrier, Order, P, T, TextP
from gremlin_python.structure.graph import Edge, Path, Vertex, VertexProperty

URL = sys.argv[1]
SOURCE = "__g_hugegraph"
# Who the client is, where the server asks: by SASL PLAIN.
LOGIN = {"username": os.environ.get("VARVE_USER", ""), "password": os.environ.get("VARVE_PASSWORD", "")}
counts = {"passed": 0, "failed": 0}


def source(connection):
    begun = traversal()
    return begun.with_(connection) if hasattr(begun, "with_") else begun.with_remote(connection)


def check(name, run):
    try:
        run()
        counts["passed"] += 1
    except Exception:  # whatever a driver throws is a failed check
        counts["failed"] += 1
        print(f"FAILED {name}")
        traceback.print_exc(file=sys.stdout)


def same(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def refused(run, code, text):
    try:
        got = run()
    except GremlinServerError as error:
        same(error.status_code, code)
        assert text in str(error), str(error)
        return
    raise AssertionError(f"not refused: {got!r}")


def traversals(g):
    people = g.V().has_label("person")
    check("toList", lambda: same(sorted(v.id for v in people.to_list()), [1, 2, 4, 6]))
    check("count", lambda: same(g.V().has_label("item").count().next(), 1_000))
    check("vertex", lambda: vertex(g.V(1).next()))
    check("edge", lambda: edge(g.V(1).out_e("knows").has("weight", 1.0).next()))
    check("property", lambda: vertex_property(g.V(1).properties("age").next()))
    wanted = {"name": ["marko"], "age": [29]}
    check("valueMap", lambda: same(g.V(1).value_map().next(), wanted))
    tokens = {T.id: 1, T.label: "person", "name": "marko", "age": 29}
    check("elementMap", lambda: same(g.V(1).element_map().next(), tokens))
    check("path", lambda: path(g.V(1).as_("a").out("knows").has("name", "josh").values("name").path().next()))
    check("group", lambda: same(g.V().has_label("person", "software").group_count().by(T.label).next(), {"person": 4, "software": 2}))
    check("predicate", lambda: same(g.V().has("person", "age", P.gt(30)).values("name").order().to_list(), ["josh", "peter"]))
    check("text", lambda: same(g.V().has("person", "name", TextP.starting_with("ma")).values("name").to_list(), ["marko"]))
    check("nested", lambda: same(sorted(g.V().has_label("person").where(__.out("created")).values("name").to_list()), ["josh", "marko", "peter"]))
    check("order", lambda: same(g.V().has_label("person").order().by("age", Order.desc).values("age").to_list(), [35, 32, 29, 27]))
    check("repeat", lambda: same(g.V(1).repeat(__.out()).times(2).values("name").order().to_list(), ["lop", "ripple"]))
    check("project", lambda: same(g.V(1).project("a", "b").by("name").by(__.out().count()).next(), {"a": "marko", "b": 3}))
    check("bulk", lambda: same(sorted(g.V().has_label("person").label().barrier().to_list()), ["person"] * 4))
    check("vertex as argument", lambda: same(g.V(g.V(1).next()).out().count().next(), 3))
    check("numbers", lambda: same(g.inject(1, 2.5, True, None, "x").to_list(), [1, 2.5, True, None, "x"]))
    check("dates", lambda: dates(g))
    check("iterate", lambda: g.V().iterate())
    check("nothing", lambda: same(g.V(99).to_list(), []))
    check("batches", lambda: same(len(g.V().has_label("item").to_list()), 1_000))
    check("batchSize", lambda: same(len(g.with_("batchSize", 7).V().has_label("item").to_list()), 1_000))
    check("tokens", lambda: same(g.with_("materializeProperties", "tokens").V(1).next().properties or [], []))
    check("timeout", lambda: refused(lambda: g.with_("evaluationTimeout", 50).V().repeat(__.both()).count().next(), 598, "evaluationTimeout"))
    check("error", lambda: refused(lambda: g.inject("a").math("_+1").next(), 500, ""))


def made(g):
    """Vertices with ids of the server, sent back as they came: as starts, ends of edges and arguments."""
    count = 20
    before = g.V().has_label("maker").count().next()
    vertices = [g.add_v("maker").property("number", i).next() for i in range(count)]
    same(g.V().has_label("maker").count().next(), before + count)
    same(len({v.id for v in vertices}), count)
    for i, v in enumerate(vertices):
        same((g.V(v).values("number").next(), g.V(v.id).values("number").next()), (i, i))
    for v, w in zip(vertices, vertices[1:]):
        edge = g.add_e("next").from_(v).to(w).property("weight", v.id).next()
        same((edge.outV.id, edge.inV.id), (v.id, w.id))
        same(g.E(edge).values("weight").next(), v.id)
    same(g.V(vertices[0]).repeat(__.out("next")).times(count - 1).next(), vertices[-1])
    same(g.V(vertices[0]).add_e("back").to(__.V(vertices[1])).in_v().next(), vertices[1])
    same(g.V(vertices[0]).out("next").is_(vertices[1]).count().next(), 1)
    same(g.V(vertices).count().next(), count)


def dates(g):
    """Generation 3.7 reads dates without an offset, 3.8 those with one; a date that is sent comes back."""
    utc = datetime.timezone.utc
    noon = datetime.datetime(2023, 8, 2, 12, 0, 0, 500_000)
    aware = lambda date: date.replace(tzinfo=utc) if date.tzinfo is None else date
    same(aware(g.inject(noon.replace(tzinfo=utc)).next()), noon.replace(tzinfo=utc))
    same(aware(g.inject("2023-08-02T12:00:00.500Z").as_date().next()), noon.replace(tzinfo=utc))


def vertex(v):
    assert isinstance(v, Vertex), v
    same((v.id, v.label), (1, "person"))
    same(sorted((p.label, p.value) for p in v.properties), [("age", 29), ("name", "marko")])


def edge(e):
    assert isinstance(e, Edge), e
    same((e.label, e.outV.id, e.inV.id, e.outV.label, e.inV.label), ("knows", 1, 4, "person", "person"))
    same([(p.key, p.value) for p in e.properties], [("weight", 1.0)])


def vertex_property(p):
    assert isinstance(p, VertexProperty), p
    same((p.label, p.value), ("age", 29))


def path(p):
    assert isinstance(p, Path), p
    same([set(labels) for labels in p.labels], [{"a"}, set(), set()])
    same((p.objects[0].id, p.objects[1].id, p.objects[2]), (1, 4, "josh"))


def scripts(c):
    def all_of(script, bindings=None, **options):
        return c.submit(script, bindings, **options).all().result()

    check("script", lambda: same(all_of("g.V(1).values('name')"), ["marko"]))
    check("bindings", lambda: same(all_of("g.V(x).out(y).count()", {"x": 1, "y": "knows"}), [2]))
    check("list binding", lambda: same(all_of("g.V(x).count()", {"x": [1, 2, 4]}), [3]))
    check("script vertex", lambda: vertex(all_of("g.V(1)")[0]))
    check("script path", lambda: path(all_of("g.V(1).as('a').out('knows').has('name','josh').values('name').path()")[0]))
    options = {"batchSize": 10}
    check("script batches", lambda: same(len(all_of("g.V().hasLabel('item')", request_options=options)), 1_000))
    late = {"evaluationTimeout": 50}
    endless = "g.V().repeat(both()).count()"
    check("script timeout", lambda: refused(lambda: all_of(endless, request_options=late), 598, "evaluationTimeout"))
    check("script error", lambda: refused(lambda: all_of("g.V().nonsense()"), 597, "nonsense"))
    check("script syntax", lambda: refused(lambda: all_of("g.V("), 597, "line 1"))
    check("unknown alias", lambda: refused(lambda: client.Client(URL, "nowhere", **LOGIN).submit("g.V()").all().result(), 499, "Could not alias [g] to [nowhere]"))

    def pipelined():
        asked = [c.submit_async("g.V(x).values('name')", {"x": 1}) for _ in range(100)]
        same([future.result().all().result() for future in asked], [["marko"]] * 100)

    check("pipelined", pipelined)


for wire in (serializer.GraphBinarySerializersV1(), serializer.GraphSONSerializersV3d0()):
    connection = DriverRemoteConnection(URL, SOURCE, message_serializer=wire, **LOGIN)
    traversals(source(connection))
    connection.close()
    connection = DriverRemoteConnection(URL, "__g_made", message_serializer=wire, **LOGIN)
    check("vertices of the server", lambda: made(source(connection)))
    connection.close()
    texts = client.Client(URL, SOURCE, message_serializer=wire, **LOGIN)
    scripts(texts)
    texts.close()
# As the driver comes, with its own serializer.
stock = DriverRemoteConnection(URL, "__g_made", **LOGIN)
check("vertices of the server", lambda: made(source(stock)))
stock.close()
if LOGIN["username"]:
    for wrong in ({**LOGIN, "password": "wrong"}, {"username": "nobody", "password": "x"}):
        stranger = client.Client(URL, SOURCE, **wrong)
        check("wrong login", lambda: refused(lambda: stranger.submit("g.V()").all().result(), 401, "Authentication failed"))
        stranger.close()
print(f"{counts['passed']} passed, {counts['failed']} failed")
sys.exit(counts["failed"] > 0)
