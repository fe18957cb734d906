"""The main job of a HugeGraph user, done with the published Python client; every answer is checked."""

import json
import logging
import os
import sys
import time
import uuid
from urllib.parse import quote

from pyhugegraph.api.rebuild import RebuildManager
from pyhugegraph.client import PyHugeClient
from pyhugegraph.structure.vertex_data import VertexData
from pyhugegraph.utils.exceptions import NotFoundError, ServerError
from pyhugegraph.utils.huge_requests import HGraphSession

GRAPH = "hugegraph"
# The client always sends a name and a password.
USER = os.environ.get("VARVE_USER", "admin")
PASSWORD = os.environ.get("VARVE_PASSWORD", "pa")
TASK_SECONDS_MAX = 60
BATCH = 500  # every server takes it
BATCH_TOO_MANY = 2501  # none does: the limit is 500 or, from newer versions on, 2500


class Checks:
    """Counts what holds; a step that throws is one failure and ends that step only."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.name = ""

    def step(self, body):
        self.name = body.__name__.replace("_", " ")
        try:
            body()
        except Exception as error:  # the step's failure is what is counted
            self.fail(f"{type(error).__name__}: {error}")

    def fail(self, line):
        self.failed += 1
        print(f"FAILED {self.name}: {line}")

    def equal(self, what, wanted, found):
        if wanted == found and type(wanted) is type(found):
            self.passed += 1
        else:
            self.fail(f"{what} is {found!r} instead of {wanted!r}")

    def refused(self, what, error, fragment, call, *args, **kwargs):
        try:
            call(*args, **kwargs)
        except error as found:
            self.equal(f"{what}: {found}", True, fragment in str(found))
        else:
            self.fail(f"{what} was not refused")


class Scenario:
    """One client, one graph, and the steps in order."""

    def __init__(self, url):
        self.checks = Checks()
        # It asks for the version once, for half a second, and goes on without.
        for _ in range(20):
            self.client = PyHugeClient(url=url, graph=GRAPH, user=USER, pwd=PASSWORD, timeout=(60.0, 60.0))
            if self.client.cfg.version:
                break
        self.schema = self.client.schema()
        self.graph = self.client.graph()

    def run(self):
        for body in (
            self.start,
            self.property_keys,
            self.vertex_labels,
            self.edge_labels,
            self.index_labels,
            self.user_data,
            self.schema_refusals,
            self.vertices,
            self.vertex_properties,
            self.vertex_refusals,
            self.edges,
            self.edge_properties,
            self.edge_refusals,
            self.batches,
            self.conditions,
            self.pages,
            self.edge_conditions,
            self.variables,
            self.tasks,
            self.gremlin,
            self.metrics,
            self.removal,
            self.removal_of_schema,
            self.clear,
        ):
            self.checks.step(body)
        print(f"{self.checks.passed} passed, {self.checks.failed} failed")
        return self.checks.failed == 0

    # Start and graphs

    def start(self):
        versions = self.client.version().version()["versions"]
        core = [int(part) for part in versions["core"].split(".")]
        self.checks.equal("the client read the version", core, self.client.cfg.version)
        self.checks.equal("graph-space paths from 1.7 on", core >= [1, 7, 0], self.client.cfg.gs_supported)
        self.checks.equal("the graph is listed", True, GRAPH in self.client.graphs().get_all_graphs())
        self.checks.equal("the graph is described", True, GRAPH in self.client.graphs().get_graph_info())
        self.checks.equal("a configuration", True, len(self.client.graphs().get_graph_config()) > 0)
        self.client.graphs().clear_graph_all_data()
        self.checks.equal("an empty schema", 0, len(self.schema.getSchema()["propertykeys"]))

    # Schema

    def property_keys(self):
        key = self.schema.propertyKey
        key("name").asText().ifNotExist().create()
        key("age").asInt().ifNotExist().create()
        key("city").asText().ifNotExist().create()
        key("lang").asText().ifNotExist().create()
        key("date").asDate().ifNotExist().create()
        key("price").asInt().ifNotExist().create()
        key("weight").asDouble().ifNotExist().create()
        key("lonely").asText().ifNotExist().create()
        key("hobby").asText().valueSet().ifNotExist().create()
        key("tags").asText().valueList().ifNotExist().create()
        again = key("name").asText().ifNotExist().create()
        self.checks.equal("repeated with ifNotExist", True, "already exists" in again)
        age = self.schema.getPropertyKey("age")
        self.checks.equal("name", "age", age.name)
        self.checks.equal("data type", "INT", age.dataType)
        self.checks.equal("cardinality", "SET", self.schema.getPropertyKey("hobby").cardinality)
        self.checks.equal("all", 10, len(self.schema.getPropertyKeys()))

    def vertex_labels(self):
        label = self.schema.vertexLabel
        label("person").properties("name", "age", "city").primaryKeys("name").nullableKeys(
            "city"
        ).ifNotExist().create()
        label("software").usePrimaryKeyId().properties("name", "lang", "price").primaryKeys(
            "name"
        ).nullableKeys("price").ifNotExist().create()
        label("book").useCustomizeStringId().properties("name", "price", "hobby", "tags").nullableKeys(
            "name", "price", "hobby", "tags"
        ).ifNotExist().create()
        label("number").useCustomizeNumberId().properties("name").nullableKeys("name").create()
        label("automatic").useAutomaticId().properties("name").nullableKeys("name").create()
        person = self.schema.getVertexLabel("person")
        self.checks.equal("primary keys", ["name"], person.primaryKeys)
        self.checks.equal("strategy", "PRIMARY_KEY", person.idStrategy)
        self.checks.equal("properties", ["name", "age", "city"], person.properties)
        label("person").properties("weight").nullableKeys("weight").append()
        self.checks.equal(
            "appended", ["name", "age", "city", "weight"], self.schema.getVertexLabel("person").properties
        )
        self.checks.equal("all", 5, len(self.schema.getVertexLabels()))

    def edge_labels(self):
        label = self.schema.edgeLabel
        label("knows").sourceLabel("person").targetLabel("person").multiTimes().properties(
            "date", "city", "weight"
        ).sortKeys("date").nullableKeys("city", "weight").ifNotExist().create()
        label("created").link("person", "software").singleTime().properties("date", "weight").nullableKeys(
            "weight"
        ).ifNotExist().create()
        knows = self.schema.getEdgeLabel("knows")
        self.checks.equal("frequency", "MULTIPLE", knows.frequency)
        self.checks.equal("source", "person", knows.sourceLabel)
        self.checks.equal("sort keys", ["date"], knows.sortKeys)
        label("created").properties("city").nullableKeys("city").append()
        self.checks.equal(
            "appended", ["city", "date", "weight"], sorted(self.schema.getEdgeLabel("created").properties)
        )
        self.checks.equal(
            "relations",
            ["person--created-->software", "person--knows-->person"],
            sorted(self.schema.getRelations()),
        )

    def index_labels(self):
        index = self.schema.indexLabel
        index("personByAge").onV("person").by("age").range().ifNotExist().create()
        index("personByCity").onV("person").by("city").secondary().ifNotExist().create()
        index("softwareByLang").onV("software").by("lang").search().ifNotExist().create()
        index("bookByName").onV("book").by("name").unique().ifNotExist().create()
        index("createdByWeight").onE("created").by("weight").range().ifNotExist().create()
        index("knowsByCity").onE("knows").by("city").secondary().ifNotExist().create()
        self.await_tasks()
        by_age = self.schema.getIndexLabel("personByAge")
        self.checks.equal("fields", ["age"], by_age.fields)
        self.checks.equal("type", "RANGE", by_age.indexType)
        self.checks.equal("base", "person", by_age.baseValue)
        self.checks.equal("all", 6, len(self.schema.getIndexLabels()))

    def user_data(self):
        self.schema.propertyKey("age").userdata("min", 0, "max", 150).append()
        self.schema.propertyKey("age").userdata("max", "").eliminate()
        found = self.schema.getPropertyKey("age").userdata
        self.checks.equal("kept", 0, found.get("min"))
        self.checks.equal("eliminated", None, found.get("max"))
        self.schema.vertexLabel("person").userdata("icon", "p").append()
        self.checks.equal("of a label", "p", self.schema.getVertexLabel("person").userdata["icon"])
        self.schema.vertexLabel("person").userdata("icon", "p").eliminate()
        self.checks.equal("gone", None, self.schema.getVertexLabel("person").userdata.get("icon"))

    def schema_refusals(self):
        refused = self.checks.refused
        refused("an existing key", ServerError, "has existed", self.schema.propertyKey("name").asText().create)
        refused("an unknown key", NotFoundError, "does not exist", self.schema.getPropertyKey, "none")
        refused(
            "an undefined property",
            ServerError,
            "Undefined property key: 'none'",
            self.schema.vertexLabel("bad").properties("none").create,
        )
        refused(
            "a text range index",
            ServerError,
            "Range index can only build on numeric",
            self.schema.indexLabel("bad").onV("person").by("city").range().create,
        )

    # Vertices

    def vertices(self):
        add = self.graph.addVertex
        marko = add("person", {"name": "marko", "age": 29, "city": "Beijing"})
        self.checks.equal("a primary-key id", True, marko.id.endswith(":marko"))
        found = self.graph.getVertexById(marko.id)
        self.checks.equal("properties", {"name": "marko", "age": 29, "city": "Beijing"}, found.properties)
        self.checks.equal("label", "person", found.label)
        add("person", {"name": "vadas", "age": 27, "city": "Hongkong"})
        add("person", {"name": "josh", "age": 32, "city": "Beijing"})
        add("person", {"name": "peter", "age": 35, "city": "Shanghai"})
        add("software", {"name": "lop", "lang": "java", "price": 328})
        add("software", {"name": "ripple", "lang": "java", "price": 199})
        self.checks.equal("a string id", "b>1", add("book", {"name": "b1"}, id="b>1").id)
        self.checks.equal("read back", "b1", self.graph.getVertexById("b>1").properties["name"])
        self.checks.equal("a number id", 9007199254740993, add("number", {}, id=9007199254740993).id)
        self.checks.equal("read back", "number", self.graph.getVertexById(9007199254740993).label)
        add("book", {"name": "b123"}, id="123")
        add("number", {"name": "n123"}, id=123)
        self.checks.equal("text", "b123", self.graph.getVertexById("123").properties["name"])
        self.checks.equal("number", "n123", self.graph.getVertexById(123).properties["name"])
        automatic = add("automatic", {"name": "x"})
        self.checks.equal("an automatic id", int, type(automatic.id))
        self.checks.equal("read back", "x", self.graph.getVertexById(automatic.id).properties["name"])
        self.checks.refused(
            "a uuid of nothing", NotFoundError, "does not exist", self.graph.getVertexById, uuid.uuid4()
        )

    def vertex_properties(self):
        marko = self.person("marko").id
        changed = self.graph.appendVertex(marko, {"age": 30})
        self.checks.equal("appended", 30, changed.properties["age"])
        self.checks.equal("stored", 30, self.person("marko").properties["age"])
        self.graph.appendVertex(marko, {"age": 29})
        changed = self.graph.eliminateVertex(marko, {"city": "Beijing"})
        self.checks.equal("eliminated", {"name": "marko", "age": 29}, changed.properties)
        self.graph.appendVertex(marko, {"city": "Beijing"})
        self.graph.addVertex("book", {"hobby": ["x", "y"], "tags": ["t"]}, id="sets")
        changed = self.graph.appendVertex("sets", {"hobby": ["z", "x"], "tags": ["t"]})
        self.checks.equal("a set", ["x", "y", "z"], changed.properties["hobby"])
        self.checks.equal("a list", ["t", "t"], changed.properties["tags"])

    def vertex_refusals(self):
        add, refused = self.graph.addVertex, self.checks.refused
        refused("a missing property", ServerError, "missed keys [age]", add, "person", {"name": "x"})
        refused("a missing key", ServerError, "The primary keys: [name]", add, "person", {"age": 1})
        refused("a wrong type", ServerError, "type Integer", add, "person", {"name": "x", "age": "y"})
        refused("an unknown label", ServerError, "Undefined vertex label", add, "nope", {"name": "x"})
        refused("a unique value", ServerError, "Unique constraint", add, "book", {"name": "b1"}, id="b2")
        refused("an unknown id", NotFoundError, "does not exist", self.graph.getVertexById, "nobody")

    # Edges

    def edges(self):
        marko, josh, peter = (self.person(name).id for name in ("marko", "josh", "peter"))
        lop = self.software("lop").id
        created = self.graph.addEdge("created", marko, lop, {"date": "2017-12-10", "weight": 0.4})
        self.checks.equal("source", marko, created.outV)
        self.checks.equal("target label", "software", created.inVLabel)
        found = self.graph.getEdgeById(created.id)
        self.checks.equal(
            "properties", {"date": "2017-12-10 00:00:00.000", "weight": 0.4}, found.properties
        )
        first = self.graph.addEdge("knows", marko, josh, {"date": "2013-02-20", "weight": 1.0})
        second = self.graph.addEdge("knows", marko, josh, {"date": "2014-02-20"})
        self.checks.equal("two by their sort keys", True, first.id != second.id)
        self.graph.addEdge("created", josh, lop, {"date": "2016-01-10", "weight": 0.4})
        self.graph.addEdge("created", peter, lop, {"date": "2017-03-24", "weight": 0.2})
        again = self.graph.addEdge("created", marko, lop, {"date": "2018-01-01", "weight": 0.5})
        self.checks.equal("one edge of a SINGLE label", created.id, again.id)

    def edge_properties(self):
        edges, _ = self.graph.getEdgeByPage("created", self.person("josh").id, "OUT", limit=10)
        changed = self.graph.appendEdge(edges[0].id, {"city": "X"})
        self.checks.equal("appended", "X", changed.properties["city"])
        changed = self.graph.eliminateEdge(edges[0].id, {"city": "X"})
        self.checks.equal("eliminated", False, "city" in changed.properties)

    def edge_refusals(self):
        marko, lop = self.person("marko").id, self.software("lop").id
        add, refused = self.graph.addEdge, self.checks.refused
        date = {"date": "2017-12-10"}
        refused("a missing vertex", ServerError, "Invalid vertex id", add, "created", "1:no", lop, date)
        refused("a wrong link", ServerError, "Undefined link", add, "knows", marko, lop, date)
        refused("no sort key", ServerError, "sort key(s) must be set", add, "knows", marko, marko, {})
        refused("an unknown id", NotFoundError, "does not exist", self.graph.getEdgeById, "S1:a>2>2>>S2:b")

    def batches(self):
        people = [("person", {"name": f"p{i}", "age": 100 + i}) for i in range(BATCH)]
        added = self.graph.addVertices(people)
        self.checks.equal("vertices", BATCH, len(added))
        self.checks.equal("in order", True, added[7].id.endswith(":p7"))
        self.checks.equal("stored", 599, self.person("p499").properties["age"])
        self.checks.refused(
            "too many", ServerError, "Too many vertices", self.graph.addVertices, [people[0]] * BATCH_TOO_MANY
        )
        bad = [("person", {"name": "bad1", "age": 1}), ("person", {"name": "bad2"})]
        self.checks.refused("one bad of two", ServerError, "missed keys", self.graph.addVertices, bad)
        self.checks.equal("none of them is stored", 0, len(self.people(name="bad1")))
        edges = [
            ("knows", added[i].id, added[i + 1].id, "person", "person", {"date": 86400000 * i, "city": f"c{i % 10}"})
            for i in range(100)
        ]
        self.checks.equal("edges", 100, len(self.graph.addEdges(edges)))
        ghost = [("created", "1:ghost", added[0].id, "person", "software", {"date": "2020-01-01"})]
        self.checks.refused("a dangling edge", ServerError, "Invalid vertex id", self.graph.addEdges, ghost)

    # Queries

    def conditions(self):
        names = lambda found: sorted(vertex.properties["name"] for vertex in found)  # noqa: E731
        self.checks.equal("by key", ["marko"], names(self.people(name="marko")))
        self.checks.equal("equal", ["josh", "marko"], names(self.people(city="Beijing")))
        self.checks.equal("gt", ["josh", "marko", "peter"], names(self.people(age="P.inside(28,100)")))
        self.checks.equal("between", ["marko", "vadas"], names(self.people(age="P.between(27,32)")))
        self.checks.equal("within", ["peter", "vadas"], names(self.people(age="P.within(27,35)")))
        self.checks.equal("two indexes", ["josh"], names(self.people(city="Beijing", age="P.gt(29)")))
        found = self.graph.getVertexByCondition(
            "software", limit=10, properties={"lang": 'P.textcontains("java")'}
        )
        self.checks.equal("textcontains", ["lop", "ripple"], names(found))
        self.checks.refused(
            "no index", ServerError, "Don't accept query based on properties [weight]", self.people, weight=1.0
        )
        self.checks.refused(
            "an unknown predicate", ServerError, "Not support predicate 'foo'", self.people, age="P.foo(1)"
        )

    def pages(self):
        ids, page, count = set(), None, 0
        while True:
            found, page = self.graph.getVertexByPage("person", 70, page)
            ids.update(vertex.id for vertex in found)
            count += len(found)
            if not page:
                break
        self.checks.equal("all, once each", (BATCH + 4, BATCH + 4), (len(ids), count))
        found, page = self.graph.getVertexByPage("person", 1, properties={"city": "Beijing"})
        self.checks.equal("a page by property", 1, len(found))
        self.checks.equal("another follows", str, type(page))
        found, page = self.graph.getVertexByPage("person", 10, page, {"city": "Beijing"})
        self.checks.equal("the rest", (1, None), (len(found), page))

    def edge_conditions(self):
        edges, page = self.graph.getEdgeByPage("knows", limit=60)
        rest, last = self.graph.getEdgeByPage("knows", limit=60, page=page)
        self.checks.equal("two pages", (60, 42, None), (len(edges), len(rest), last))
        josh = self.person("josh").id
        found, _ = self.graph.getEdgeByPage(None, josh, "BOTH", limit=10)
        self.checks.equal("of a vertex", 3, len(found))
        found, _ = self.graph.getEdgeByPage("knows", limit=100, properties={"city": "c3"})
        self.checks.equal("by an index", 10, len(found))
        found, _ = self.graph.getEdgeByPage("created", limit=10, properties={"weight": "P.gt(0.3)"})
        self.checks.equal("by a range", [0.4, 0.5], sorted(edge.properties["weight"] for edge in found))

    # Variables, tasks, metrics

    def variables(self):
        variables = self.client.variable()
        self.checks.equal("set", {"name": "tom"}, variables.set("name", "tom"))
        variables.set("number", 5)
        self.checks.equal("get", {"name": "tom"}, variables.get("name"))
        self.checks.equal("all", {"name": "tom", "number": 5}, variables.all())
        variables.remove("name")
        variables.remove("number")
        self.checks.equal("none is left", {}, variables.all())
        self.checks.refused("an unknown one", NotFoundError, "does not exist", variables.get, "name")

    def tasks(self):
        rebuild = RebuildManager(HGraphSession(self.client.cfg))
        task_id = rebuild.rebuild_indexlabels("personByAge")["task_id"]
        task = self.await_task(task_id)
        self.checks.equal("status", "success", task["task_status"])
        self.checks.equal("type", "rebuild_index", task["task_type"])
        self.await_task(rebuild.rebuild_vertexlabels("person")["task_id"])
        self.await_task(rebuild.rebuild_edgelabels("knows")["task_id"])
        listed = self.client.task().list_tasks(status="success", limit=100)["tasks"]
        self.checks.equal("listed", True, task_id in [task["id"] for task in listed])
        self.client.task().delete_task(task_id)
        self.checks.refused("a deleted task", NotFoundError, "find task with id", self.client.task().get_task, task_id)
        self.checks.equal("the rebuilt index answers", 1, len(self.people(age=32)))

    def gremlin(self):
        def run(script):
            return self.client.gremlin().exec(script)["data"]

        persons = run("g.V().hasLabel('person').count()")[0]
        self.checks.equal("a vertex", "person", run("g.V().hasLabel('person').limit(1)")[0]["label"])
        self.checks.equal("an expression", [3], run("1 + 2"))
        self.checks.equal("a script", [persons], run("n = 0; for (v in g.V().hasLabel('person').toList()) { n++ }; n"))
        script = (
            "def res = [:];\nres.vertex_num = g.V().hasLabel('person').count().next();\n"
            "res.vertices = g.V().hasLabel('person').id().limit(2).toList();\n"
            'res.note = "only";\nreturn res;'
        )
        found = run(script)
        self.checks.equal("a map by its places", persons, found[0]["vertex_num"])
        self.checks.equal("its lists", 2, len(found[1]["vertices"]))
        self.checks.equal("its last entry", {"note": "only"}, found[2])
        body = json.dumps({"gremlin": "g.V().hasLabel('person').count()", "bindings": {}, "aliases": {}})
        job = self.graph.session.request("jobs/gremlin", "POST", data=body)
        task = self.await_task(job["task_id"])
        self.checks.equal("a job", ("gremlin", f"[{persons}]"), (task["task_type"], task["task_result"]))

    def metrics(self):
        metrics = self.client.metrics()
        basic = metrics.get_all_basic_metrics()
        self.checks.equal("groups", True, {"gauges", "counters", "timers"} <= set(basic))
        self.checks.equal("system", True, "basic" in metrics.get_system_metrics())
        self.checks.equal("backend", True, GRAPH in metrics.get_backend_metrics())
        self.checks.equal("statistics", dict, type(metrics.get_statistics_metrics()))
        self.checks.equal("counters", dict, type(metrics.get_counters_metrics()))

    # Removal

    def removal(self):
        gone = self.graph.addVertex("person", {"name": "gone", "age": 1}).id
        lop = self.software("lop").id
        edge = self.graph.addEdge("created", gone, lop, {"date": "2020-01-01"}).id
        self.graph.removeEdgeById(edge)
        self.checks.refused("a removed edge", NotFoundError, "does not exist", self.graph.getEdgeById, edge)
        edge = self.graph.addEdge("created", gone, lop, {"date": "2020-01-01"}).id
        self.graph.removeVertexById(gone)
        self.checks.refused("a removed vertex", NotFoundError, "does not exist", self.graph.getVertexById, gone)
        self.checks.refused("its edge", NotFoundError, "does not exist", self.graph.getEdgeById, edge)
        self.checks.refused("again", ServerError, "No such vertex", self.graph.removeVertexById, gone)

    def removal_of_schema(self):
        self.schema.indexLabel("createdByWeight").remove()
        self.await_tasks()
        self.checks.refused(
            "an index label", NotFoundError, "does not exist", self.schema.getIndexLabel, "createdByWeight"
        )
        self.checks.refused(
            "a key in use", ServerError, "is still using it", self.schema.propertyKey("name").remove
        )
        self.schema.propertyKey("lonely").remove()
        self.schema.edgeLabel("created").remove()
        self.await_tasks()
        self.schema.vertexLabel("software").remove()
        self.await_tasks()
        self.checks.refused("an edge label", NotFoundError, "does not exist", self.schema.getEdgeLabel, "created")
        self.checks.refused(
            "a vertex label", NotFoundError, "does not exist", self.schema.getVertexLabel, "software"
        )
        self.checks.refused("a key", NotFoundError, "does not exist", self.schema.getPropertyKey, "lonely")

    def clear(self):
        self.client.graphs().clear_graph_all_data()
        self.checks.equal("no schema", 0, len(self.schema.getSchema()["vertexlabels"]))
        self.checks.equal("no vertices", 0, len(self.graph.getVertexByCondition()))
        self.checks.equal("no tasks", [], self.client.task().list_tasks()["tasks"])

    # What the steps share

    def person(self, name):
        return self.people(name=name)[0]

    def people(self, **properties):
        # Not by page: a query that intersects two indexes cannot be paged.
        session, path = self.graph.session, "graph/vertices?label=person&properties="
        answer = session.request(path + quote(json.dumps(properties)))
        return [VertexData(vertex) for vertex in answer["vertices"]]

    def software(self, name):
        return self.graph.getVertexByPage("software", 1, properties={"name": name})[0][0]

    def await_task(self, task_id):
        deadline = time.monotonic() + TASK_SECONDS_MAX
        while True:
            task = self.client.task().get_task(task_id)
            if task["task_status"] in ("success", "failed", "cancelled"):
                return task
            if time.monotonic() > deadline:
                raise TimeoutError(f"task {task_id} is still {task['task_status']}")
            time.sleep(0.05)

    def await_tasks(self):
        for task in self.client.task().list_tasks(limit=1000)["tasks"]:
            self.await_task(task["id"])


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # refusals are expected; the client logs each
    sys.exit(0 if Scenario(sys.argv[1]).run() else 1)
