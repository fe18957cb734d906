package varve.clients;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

import org.apache.hugegraph.driver.GraphManager;
import org.apache.hugegraph.driver.HugeClient;
import org.apache.hugegraph.driver.SchemaManager;
import org.apache.hugegraph.structure.constant.GraphReadMode;
import org.apache.hugegraph.structure.constant.T;
import org.apache.hugegraph.structure.constant.WriteType;
import org.apache.hugegraph.structure.graph.BatchEdgeRequest;
import org.apache.hugegraph.structure.graph.BatchVertexRequest;
import org.apache.hugegraph.structure.graph.Edge;
import org.apache.hugegraph.structure.graph.UpdateStrategy;
import org.apache.hugegraph.structure.graph.Vertex;
import org.apache.hugegraph.structure.schema.PropertyKey;

/** Vertices and edges: one at a time, in batches, updated, removed. */
final class ElementChecks {

    /** A batch that every server takes. */
    private static final int BATCH = 500;
    /** One that none takes: the limit is 500 or, from newer versions on, 2500. */
    private static final int BATCH_TOO_MANY = 2501;

    private final Checks checks;
    private final HugeClient client;
    private final GraphManager graph;

    ElementChecks(Checks checks, HugeClient client) {
        this.checks = checks;
        this.client = client;
        this.graph = client.graph();
    }

    void run() {
        this.checks.step("vertices of every id strategy", this::strategies);
        this.checks.step("values of every type", this::values);
        this.checks.step("vertex properties", this::vertexProperties);
        this.checks.step("vertex refusals", this::vertexRefusals);
        this.checks.step("edges", this::edges);
        this.checks.step("edge properties", this::edgeProperties);
        this.checks.step("edge refusals", this::edgeRefusals);
        this.checks.step("batches", this::batches);
        this.checks.step("batch update of vertices", this::updateVertices);
        this.checks.step("batch update of edges", this::updateEdges);
        this.checks.step("properties of offline analyses", this::offlineAnalyses);
        this.checks.step("removal", this::removal);
    }

    private void strategies() {
        Vertex marko = this.graph.addVertex(T.LABEL, "person", "name", "marko", "age", 29,
                                            "city", "Beijing");
        this.checks.holds("a primary-key id: " + marko.id(),
                          marko.id().toString().endsWith(":marko"));
        this.checks.equal("read back", marko.properties(),
                          this.graph.getVertex(marko.id()).properties());
        Vertex book = this.graph.addVertex(T.LABEL, "book", T.ID, "b>1", "name", "b1");
        this.checks.equal("a string id", "b>1", book.id());
        this.checks.equal("read back", "b1", this.graph.getVertex("b>1").property("name"));
        Vertex number = this.graph.addVertex(T.LABEL, "number", T.ID, 9007199254740993L);
        this.checks.equal("a number id", 9007199254740993L, number.id());
        this.checks.equal("read back", number.id(), this.graph.getVertex(number.id()).id());
        UUID uuid = UUID.fromString("835e1153-9281-4957-8691-cf79258e90eb");
        Vertex unique = this.graph.addVertex(T.LABEL, "unique", T.ID, uuid);
        this.checks.equal("a uuid", uuid.toString(), unique.id().toString());
        this.checks.equal("read back", "unique", this.graph.getVertex(uuid).label());
        Vertex automatic = this.graph.addVertex(T.LABEL, "automatic", "name", "x");
        // An Integer while it fits, as Jackson reads numbers; the real server's ids never do.
        this.checks.holds("an automatic id: " + automatic.id(), automatic.id() instanceof Number);
        this.checks.equal("read back", "x",
                          this.graph.getVertex(automatic.id()).property("name"));
        this.graph.addVertex(T.LABEL, "person", "name", "vadas", "age", 27, "city", "Hongkong");
        this.graph.addVertex(T.LABEL, "person", "name", "josh", "age", 32, "city", "Beijing");
        this.graph.addVertex(T.LABEL, "person", "name", "peter", "age", 35, "city", "Shanghai");
        this.graph.addVertex(T.LABEL, "software", "name", "lop", "lang", "java", "price", 328);
        this.graph.addVertex(T.LABEL, "software", "name", "ripple", "lang", "java",
                             "price", 199);
        Vertex overwritten = this.graph.addVertex(T.LABEL, "software", "name", "ripple",
                                                  "lang", "java");
        this.checks.equal("overwritten as a whole", null,
                          this.graph.getVertex(overwritten.id()).property("price"));
        this.graph.addVertex(T.LABEL, "software", "name", "ripple", "lang", "java", "price", 199);
    }

    private void values() {
        Vertex all = new Vertex("all");
        all.id("a1");
        all.property("name", "中文 空格").property("age", -5).property("date", "2020-01-02 03:04:05")
           .property("weight", 1.5).property("long", 1234567890123L).property("float", 0.5f)
           .property("byte", 7).property("flag", true).property("blob", "aGVsbG8=")
           .property("uuid", "835e1153-9281-4957-8691-cf79258e90ec")
           .property("hobby", Set.of("x")).property("tags", List.of("t", "t"));
        this.graph.addVertex(all);
        Map<String, Object> found = this.graph.getVertex("a1").properties();
        this.checks.equal("text", "中文 空格", found.get("name"));
        this.checks.equal("int", -5, found.get("age"));
        this.checks.equal("date", "2020-01-02 03:04:05.000", found.get("date"));
        this.checks.equal("double", 1.5, found.get("weight"));
        this.checks.equal("long", 1234567890123L, found.get("long"));
        this.checks.equal("float", 0.5, found.get("float"));
        this.checks.equal("byte", 7, found.get("byte"));
        this.checks.equal("boolean", true, found.get("flag"));
        this.checks.equal("blob", "aGVsbG8=", found.get("blob"));
        this.checks.equal("uuid", "835e1153-9281-4957-8691-cf79258e90ec", found.get("uuid"));
        this.checks.equal("set", List.of("x"), found.get("hobby"));
        this.checks.equal("list", List.of("t", "t"), found.get("tags"));
    }

    private void vertexProperties() {
        Vertex marko = this.vertex("person", "marko");
        marko = marko.property("age", 30);
        this.checks.equal("appended", 30, this.graph.getVertex(marko.id()).property("age"));
        marko.property("age", 29);
        marko = this.graph.getVertex(marko.id()).removeProperty("city");
        this.checks.equal("eliminated", null, this.graph.getVertex(marko.id()).property("city"));
        marko.property("city", "Beijing");
        this.checks.equal("and back", "Beijing",
                          this.graph.getVertex(marko.id()).property("city"));
        Vertex all = new Vertex("all");
        all.id("a1");
        all.property("hobby", Set.of("y")).property("tags", List.of("q"));
        Vertex appended = this.graph.appendVertexProperty(all);
        this.checks.equal("added to a set", List.of("x", "y"), appended.property("hobby"));
        this.checks.equal("added to a list", List.of("t", "t", "q"), appended.property("tags"));
    }

    private void vertexRefusals() {
        this.checks.refused("a missing property", 400, "missed keys [age]",
                () -> this.graph.addVertex(T.LABEL, "person", "name", "x"));
        this.checks.refused("a missing primary key", 400, "The primary keys: [name]",
                () -> this.graph.addVertex(T.LABEL, "person", "age", 1));
        this.checks.refused("a wrong type", 400, "expect a value of type Integer",
                () -> this.graph.addVertex(T.LABEL, "person", "name", "x", "age", "old"));
        this.checks.refused("a foreign property", 400, "Invalid property 'price'",
                () -> this.graph.addVertex(T.LABEL, "person", "name", "x", "age", 1, "price", 1));
        this.checks.refused("an unknown label", 400, "Undefined vertex label: 'nope'",
                () -> this.graph.addVertex(T.LABEL, "nope", "name", "x"));
        this.checks.refused("a unique value again", 400, "Unique constraint bookByName",
                () -> this.graph.addVertex(T.LABEL, "book", T.ID, "b2", "name", "b1"));
        this.checks.refused("an unknown id", 404, "Vertex 'nobody' does not exist",
                () -> this.graph.getVertex("nobody"));
        Vertex nobody = new Vertex("book");
        nobody.id("nobody");
        nobody.property("price", 1);
        this.checks.refused("an update of nothing", 404, "does not exist",
                () -> this.graph.appendVertexProperty(nobody));
        this.checks.refused("a primary key", 400, "Can't update primary key: 'name'", () -> {
            Vertex marko = this.vertex("person", "marko");
            Vertex renamed = new Vertex("person");
            renamed.id(marko.id());
            this.graph.appendVertexProperty(renamed.property("name", "other"));
        });
    }

    private void edges() {
        Vertex marko = this.vertex("person", "marko");
        Vertex josh = this.vertex("person", "josh");
        Vertex lop = this.vertex("software", "lop");
        Edge created = marko.addEdge("created", lop, "date", "2017-12-10", "weight", 0.4);
        this.checks.equal("source", marko.id(), created.sourceId());
        this.checks.equal("target label", "software", created.targetLabel());
        Edge found = this.graph.getEdge(created.id());
        this.checks.equal("date", "2017-12-10 00:00:00.000", found.property("date"));
        this.checks.equal("weight", 0.4, found.property("weight"));
        Edge first = marko.addEdge("knows", josh, "date", "2013-02-20", "weight", 1.0);
        Edge second = marko.addEdge("knows", josh, "date", "2014-02-20");
        this.checks.holds("two by their sort keys", !first.id().equals(second.id()));
        this.graph.addEdge(this.vertex("person", "josh"), "created", lop, "date", "2016-01-10",
                           "weight", 0.4);
        this.graph.addEdge(this.vertex("person", "peter"), "created", lop, "date", "2017-03-24",
                           "weight", 0.2);
        Edge again = marko.addEdge("created", lop, "date", "2018-01-01", "weight", 0.5);
        this.checks.equal("one edge of a SINGLE label", created.id(), again.id());
        this.checks.equal("overwritten", 0.5, this.graph.getEdge(created.id()).property("weight"));
    }

    private void edgeProperties() {
        Edge edge = this.graph.getEdges(this.vertex("person", "josh").id(),
                org.apache.hugegraph.structure.constant.Direction.OUT, "created").get(0);
        edge.property("city", "X");
        this.checks.equal("appended", "X", this.graph.getEdge(edge.id()).property("city"));
        this.graph.getEdge(edge.id()).removeProperty("city");
        this.checks.equal("eliminated", null, this.graph.getEdge(edge.id()).property("city"));
        this.checks.refused("a property that must stay", 400, "Can't remove non-null edge property",
                () -> this.graph.getEdge(edge.id()).removeProperty("date"));
    }

    private void edgeRefusals() {
        Object marko = this.vertex("person", "marko").id();
        Object lop = this.vertex("software", "lop").id();
        this.checks.refused("a missing vertex", 400, "Invalid vertex id",
                () -> this.graph.addEdge("1:nobody", "created", lop, "date", "2017-12-10"));
        this.checks.refused("a wrong link", 400, "Undefined link of edge label 'knows'",
                () -> this.graph.addEdge(marko, "knows", lop, "date", "2017-12-10"));
        this.checks.refused("no sort key", 400, "The sort key(s) must be set",
                () -> this.graph.addEdge(marko, "knows", marko, "city", "x"));
        this.checks.refused("an unknown label", 400, "Undefined edge label: 'nope'",
                () -> this.graph.addEdge(marko, "nope", lop, "date", "2017-12-10"));
        this.checks.refused("an unknown id", 404, "does not exist",
                () -> this.graph.getEdge("S1:nobody>2>2>>S2:lop"));
    }

    private void batches() {
        List<Vertex> vertices = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            Vertex vertex = new Vertex("number");
            vertex.id(1000 + i);
            vertices.add(vertex.property("name", "n" + i));
        }
        List<Vertex> added = this.graph.addVertices(vertices);
        this.checks.equal("vertices", BATCH, added.size());
        this.checks.equal("in order", 1007, ((Number) added.get(7).id()).intValue());
        this.checks.equal("stored", "n499", this.graph.getVertex(1499).property("name"));
        while (vertices.size() < BATCH_TOO_MANY) {
            vertices.add(vertices.get(0));
        }
        this.checks.refused("too many", 400, "Too many vertices",
                () -> this.graph.addVertices(vertices));
        List<Vertex> bad = new ArrayList<>();
        bad.add(new Vertex("person").property("name", "p1").property("age", 1));
        bad.add(new Vertex("person").property("name", "p2"));
        this.checks.refused("one bad of two", 400, "missed keys [age]",
                () -> this.graph.addVertices(bad));
        this.checks.equal("none of them is stored", 4,
                          this.graph.listVertices("person", -1).size());
        Vertex marko = this.vertex("person", "marko");
        List<Edge> edges = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Edge edge = new Edge("knows").source(marko).target(this.vertex("person", "peter"));
            edges.add(edge.property("date", 86400000L * i).property("city", "c" + i % 10));
            if (i == 0) {
                this.checks.equal("the client gives labels", "person", edge.sourceLabel());
            }
        }
        this.checks.equal("edges", 100, this.graph.addEdges(edges).size());
        Edge dangling = new Edge("created");
        dangling.sourceId("1:ghost");
        dangling.sourceLabel("person");
        dangling.targetId(this.vertex("software", "lop").id());
        dangling.targetLabel("software");
        dangling.property("date", "2020-01-01");
        this.checks.refused("a dangling edge", 400, "Invalid vertex id '1:ghost'",
                () -> this.graph.addEdges(List.of(dangling)));
        List<Edge> stored = this.graph.addEdges(List.of(dangling), false);
        this.checks.equal("unchecked", 1, stored.size());
        this.graph.removeEdge(stored.get(0).id());
    }

    /** As the client's own tests do it: vertices with an id, no label and one property. */
    private void offlineAnalyses() {
        SchemaManager schema = this.client.schema();
        PropertyKey rank = schema.propertyKey("olap_rank").asDouble()
                                 .writeType(WriteType.OLAP_RANGE).build();
        PropertyKey group = schema.propertyKey("olap_group").asText()
                                  .writeType(WriteType.OLAP_SECONDARY).build();
        for (PropertyKey key : List.of(rank, group)) {
            schema.addPropertyKey(key);
        }
        Vertex marko = this.graph.getVertex(this.graph.listVertices("person",
                           Map.of("name", "marko")).get(0).id());
        List<Vertex> values = new ArrayList<>();
        for (Map.Entry<String, Object> value : Map.of("olap_rank", (Object) 0.5,
                                                      "olap_group", "g").entrySet()) {
            Vertex one = new Vertex(null);
            one.id(marko.id());
            one.property(value.getKey(), value.getValue());
            values.add(one);
        }
        this.graph.addVertices(values);
        this.checks.equal("hidden", marko.properties(),
                          this.graph.getVertex(marko.id()).properties());
        String name = this.graph.graph();
        this.client.graphs().readMode(name, GraphReadMode.ALL);
        Map<String, Object> shown = this.graph.getVertex(marko.id()).properties();
        this.checks.equal("rank", 0.5, shown.get("olap_rank"));
        this.checks.equal("group", "g", shown.get("olap_group"));
        this.checks.equal("found", 1, this.client.gremlin()
                .gremlin("g.V().has('olap_rank', P.gte(0.5))").execute().size());
        for (PropertyKey key : List.of(rank, group)) {
            schema.clearPropertyKey(key);
        }
        this.checks.equal("cleared", marko.properties(),
                          this.graph.getVertex(marko.id()).properties());
        for (PropertyKey key : List.of(rank, group)) {
            schema.removePropertyKey(key.name());
        }
        this.client.graphs().readMode(name, GraphReadMode.OLTP_ONLY);
    }

    private void updateVertices() {
        Vertex marko = new Vertex("person").property("name", "marko").property("age", 1)
                                           .property("city", "Beijing");
        BatchVertexRequest request = BatchVertexRequest.createBuilder()
                .vertices(List.of(marko)).updatingStrategies(Map.of("age", UpdateStrategy.SUM,
                                           "city", UpdateStrategy.OVERRIDE))
                .createIfNotExist(true).build();
        this.checks.equal("sum", 30, this.graph.updateVertices(request).get(0).property("age"));
        Vertex one = new Vertex("all");
        one.id("a1");
        one.property("age", 3).property("weight", 9.5).property("hobby", Set.of("y", "z"))
           .property("tags", List.of("t"));
        Vertex two = new Vertex("all");
        two.id("a2");
        two.property("age", 8);
        request = BatchVertexRequest.createBuilder().vertices(List.of(one, two))
                .updatingStrategies(Map.of("age", UpdateStrategy.BIGGER,
                                           "weight", UpdateStrategy.SMALLER,
                                           "hobby", UpdateStrategy.UNION,
                                           "tags", UpdateStrategy.ELIMINATE))
                .createIfNotExist(true).build();
        Map<Object, Vertex> byId = this.graph.updateVertices(request).stream()
                .collect(Collectors.toMap(Vertex::id, vertex -> vertex));
        this.checks.equal("bigger", 3, byId.get("a1").property("age"));
        this.checks.equal("smaller", 1.5, byId.get("a1").property("weight"));
        this.checks.equal("union", Set.of("x", "y", "z"),
                          new HashSet<>((List<?>) byId.get("a1").property("hobby")));
        this.checks.equal("eliminate", List.of("q"), byId.get("a1").property("tags"));
        this.checks.equal("made", 8, byId.get("a2").property("age"));
        marko.property("age", 29);
        this.graph.updateVertices(BatchVertexRequest.createBuilder().vertices(List.of(marko))
                .updatingStrategies(Map.of("age", UpdateStrategy.OVERRIDE)).createIfNotExist(true).build());
    }

    private void updateEdges() {
        Vertex peter = this.vertex("person", "peter");
        Vertex lop = this.vertex("software", "lop");
        Edge edge = new Edge("created").source(peter).target(lop).property("date", "2017-03-24")
                                       .property("weight", 0.3);
        BatchEdgeRequest request = BatchEdgeRequest.createBuilder().edges(List.of(edge))
                .updatingStrategies(Map.of("weight", UpdateStrategy.SUM,
                                           "date", UpdateStrategy.OVERRIDE))
                .checkVertex(true).createIfNotExist(true).build();
        this.checks.equal("sum", 0.5, this.graph.updateEdges(request).get(0).property("weight"));
        // Not the indexed weight: the original then answers a range query with the stale entry too.
        edge.property("weight", 0.5).property("city", "Y");
        request = BatchEdgeRequest.createBuilder().edges(List.of(edge))
                .updatingStrategies(Map.of("city", UpdateStrategy.OVERRIDE))
                .checkVertex(false).createIfNotExist(true).build();
        this.checks.equal("override", "Y",
                          this.graph.updateEdges(request).get(0).property("city"));
    }

    private void removal() {
        Vertex gone = this.graph.addVertex(T.LABEL, "person", "name", "gone", "age", 1);
        Vertex lop = this.vertex("software", "lop");
        Edge edge = gone.addEdge("created", lop, "date", "2020-01-01");
        this.graph.removeEdge(edge.id());
        this.checks.refused("a removed edge", 404, "does not exist",
                () -> this.graph.getEdge(edge.id()));
        this.checks.refused("a removed edge again", 400, "No such edge with id",
                () -> this.graph.removeEdge(edge.id()));
        Edge other = gone.addEdge("created", lop, "date", "2020-01-01");
        this.graph.removeVertex(gone.id());
        this.checks.refused("a removed vertex", 404, "does not exist",
                () -> this.graph.getVertex(gone.id()));
        this.checks.refused("a removed vertex again", 400, "No such vertex with id",
                () -> this.graph.removeVertex(gone.id()));
        this.checks.refused("its edges", 404, "does not exist",
                () -> this.graph.getEdge(other.id()));
    }

    private Vertex vertex(String label, String name) {
        return this.graph.listVertices(label, Map.of("name", name), 1).get(0);
    }
}
