package varve.clients;

import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.apache.hugegraph.driver.GraphManager;
import org.apache.hugegraph.driver.HugeClient;
import org.apache.hugegraph.driver.SchemaManager;
import org.apache.hugegraph.structure.constant.Direction;
import org.apache.hugegraph.structure.constant.GraphMode;
import org.apache.hugegraph.structure.constant.T;
import org.apache.hugegraph.structure.graph.Edge;
import org.apache.hugegraph.structure.graph.Vertex;
import org.apache.hugegraph.structure.schema.IndexLabel;

/** Forms of dates, types of conditions, what a mode allows, graphs that a client makes. */
final class StrictChecks {

    private static final String COPY = "clients_copy";
    private static final String LABEL = "only_there";
    private static final String DROP_MESSAGE = "I'm sure to drop the graph";

    private final Checks checks;
    private final HugeClient client;
    private final SchemaManager schema;
    private final GraphManager graph;

    StrictChecks(Checks checks, HugeClient client) {
        this.checks = checks;
        this.client = client;
        this.schema = client.schema();
        this.graph = client.graph();
    }

    void run() {
        this.checks.step("schema of events", this::events);
        this.checks.step("dates that are written", this::written);
        this.checks.step("dates in conditions", this::dates);
        this.checks.step("dates in Gremlin", this::datesInGremlin);
        this.checks.step("types of conditions", this::types);
        this.checks.step("names in Gremlin", this::names);
        this.checks.step("loading", this::loading);
        this.checks.step("graphs", this::graphs);
    }

    private void events() {
        this.schema.propertyKey("when").asDate().create();
        this.schema.propertyKey("length").asInt().create();
        this.schema.propertyKey("place").asText().create();
        this.schema.vertexLabel("event").useCustomizeStringId()
                   .properties("when", "length", "place").nullableKeys("length", "place").create();
        this.schema.edgeLabel("follows").link("event", "event").multiTimes().properties("when")
                   .sortKeys("when").create();
        this.schema.indexLabel("eventByWhen").onV("event").by("when").range().create();
        this.schema.indexLabel("eventByLength").onV("event").by("length").range().create();
        this.schema.indexLabel("eventByPlace").onV("event").by("place").secondary().create();
        this.schema.indexLabel("followsByWhen").onE("follows").by("when").range().create();
    }

    /** One digit for a month or a day, and each precision. */
    private void written() {
        this.event("e1", "2014-1-9", "2014-01-09 00:00:00.000");
        this.event("e2", "2014-01-10", "2014-01-10 00:00:00.000");
        this.event("e3", "2014-1-10 08:05:09", "2014-01-10 08:05:09.000");
        this.event("e4", "2014-1-11 08:05:09.123", "2014-01-11 08:05:09.123");
        Vertex e5 = this.graph.addVertex(T.LABEL, "event", T.ID, "e5", "when",
                                         new Date(1_400_000_000_000L), "length", 5);
        this.checks.equal("a Date", "2014-05-13 16:53:20.000", e5.property("when"));
        this.checks.refused("no date", 400, "someday", () -> this.graph.addVertex(
                T.LABEL, "event", T.ID, "e6", "when", "someday"));
        List<Edge> edges = new ArrayList<>();
        for (String when : List.of("2014-1-9", "2014-1-10", "2014-1-11 12:00:00")) {
            edges.add(this.graph.addEdge("e1", "follows", "e2", "when", when));
        }
        this.checks.equal("an edge by its sort key", edges.get(1).id(),
                          this.graph.addEdge("e1", "follows", "e2", "when", "2014-01-10").id());
        this.checks.equal("edges", 3, this.graph.getEdges("e1", Direction.OUT).size());
    }

    private void event(String id, String when, String stored) {
        this.graph.addVertex(T.LABEL, "event", T.ID, id, "when", when, "length",
                             Integer.parseInt(id.substring(1)));
        this.checks.equal(when, stored, this.graph.getVertex(id).property("when"));
    }

    private void dates() {
        this.found("gt", "P.gt(\"2014-1-10\")", "e3", "e4", "e5");
        this.found("gte", "P.gte(\"2014-1-10\")", "e2", "e3", "e4", "e5");
        this.found("lt", "P.lt(\"2014-1-10 08:05:09\")", "e1", "e2");
        this.found("lte", "P.lte(\"2014-1-10 08:05:09.000\")", "e1", "e2", "e3");
        this.found("between", "P.between(\"2014-1-10\", \"2014-1-12\")", "e2", "e3", "e4");
        this.found("equal", "2014-1-10", "e2");
        Iterator<Vertex> pages = this.graph.iterateVertices(
                "event", Map.of("when", "P.gt(\"2014-1-9\")"), 1);
        Set<Object> ids = new TreeSet<>();
        pages.forEachRemaining(vertex -> ids.add(vertex.id()));
        this.checks.equal("page by page", Set.of("e2", "e3", "e4", "e5"), ids);
        Map<String, Object> late = Map.of("when", "P.gte(\"2014-1-10\")");
        this.checks.equal("edges of a vertex", 2, this.graph.getEdges(
                "e1", Direction.OUT, "follows", late, 0, 10).size());
        this.checks.equal("edges", 1, this.graph.listEdges(
                "follows", Map.of("when", "P.lt(\"2014-1-10\")"), 10).size());
        this.checks.refused("no date", 400, "Invalid value 'someday'", () ->
                this.graph.listVertices("event", Map.of("when", "P.gt(\"someday\")"), 10));
    }

    private void found(String what, String when, String... wanted) {
        Set<Object> ids = new TreeSet<>();
        for (Vertex vertex : this.graph.listVertices("event", Map.of("when", when), 10)) {
            ids.add(vertex.id());
        }
        this.checks.equal(what, Set.of(wanted), ids);
    }

    private void datesInGremlin() {
        this.count(2, "g.V().has('event', 'when', P.between('2014-1-10', '2014-1-11'))");
        this.count(1, "g.V().has('event', 'when', '2014-1-10 08:05:09')");
        this.count(2, "g.V('e1').outE('follows').has('when', P.gte('2014-1-10'))");
        this.count(1, "g.E().has('follows', 'when', '2014-1-9')");
    }

    private void count(long wanted, String traversal) {
        this.checks.equal(traversal, wanted, this.client.gremlin().gremlin(traversal + ".count()")
                                                        .execute().iterator().next().getLong());
    }

    private void types() {
        this.checks.equal("P as a value", 0, this.graph.listVertices(
                "event", Map.of("place", "P.gt(1)"), true).size());
        this.checks.refused("P as a number", 400, "expect INT for 'length'", () ->
                this.graph.listVertices("event", Map.of("length", "P.gt(1)"), true));
        this.checks.refused("P as a date", 400, "Expected date format is:", () ->
                this.graph.listVertices("event", Map.of("when", "P.gt(1)"), true));
        this.checks.refused("a text as a number", 400, "expect INT for 'length'", () ->
                this.graph.listVertices("event", Map.of("length", "x"), 10));
    }

    private void names() {
        this.refused("Undefined vertex label: 'nolabel'", "g.V().hasLabel('nolabel')");
        this.refused("Undefined property key: 'zz'", "g.V().has('zz', 1)");
        this.refused("expect INT for 'length'", "g.V().has('event', 'length', P.gt('5'))");
        this.refused("Expected date format is:", "g.V().has('event', 'when', 'someday')");
    }

    private void refused(String fragment, String traversal) {
        this.checks.refused(traversal, 400, fragment, () ->
                this.client.gremlin().gremlin(traversal).execute());
    }

    /** Tasks run while a loader works, as they must for the indexes of its schema. */
    private void loading() {
        String name = this.graph.graph();
        this.checks.refused("without a property", 400, "missed keys [when]", () ->
                this.graph.addVertex(T.LABEL, "event", T.ID, "e7", "length", 7));
        this.client.graphs().mode(name, GraphMode.LOADING);
        IndexLabel made = this.schema.indexLabel("eventByPlaceAndLength").onV("event")
                                     .by("place", "length").secondary().create();
        this.checks.equal("an index is made", "eventByPlaceAndLength", made.name());
        this.client.job().rebuild(this.schema.getIndexLabel("eventByLength"));
        this.graph.addVertex(T.LABEL, "event", T.ID, "e7", "length", 7);
        this.schema.removeIndexLabel(made.name());
        this.client.graphs().mode(name, GraphMode.NONE);
        this.checks.equal("the rebuilt index answers", "e7", this.graph.listVertices(
                "event", Map.of("length", "P.gt(5)"), 10).get(0).id());
        this.graph.removeVertex("e7");
    }

    private void graphs() {
        this.client.graphs().cloneGraph(COPY, this.graph.graph());
        try {
            HugeClient other = new HugeClient(this.client, COPY);
            other.schema().propertyKey("name").asText().ifNotExist().create();
            other.schema().vertexLabel(LABEL).properties("name").primaryKeys("name").create();
            other.graph().addVertex(T.LABEL, LABEL, "name", "x");
            this.checks.equal("in the copy", 1,
                    other.graph().listVertices(LABEL, Map.of("name", "x"), 10).size());
            this.checks.equal("by its Gremlin", 1L, other.gremlin().gremlin("g.V().count()")
                                                         .execute().iterator().next().getLong());
            this.checks.refused("not in the original", 400, "Undefined vertex label",
                                () -> this.graph.listVertices(LABEL));
        } finally {
            this.client.graphs().dropGraph(COPY, DROP_MESSAGE);
        }
        this.checks.holds("dropped", !this.client.graphs().listGraph().contains(COPY));
    }
}
