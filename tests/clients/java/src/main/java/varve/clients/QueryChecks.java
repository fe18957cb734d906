package varve.clients;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.apache.hugegraph.driver.GraphManager;
import org.apache.hugegraph.driver.HugeClient;
import org.apache.hugegraph.structure.constant.Direction;
import org.apache.hugegraph.structure.graph.Edge;
import org.apache.hugegraph.structure.graph.Vertex;

/** Lists by label, by properties and predicates, by vertex, in pages. */
final class QueryChecks {

    private final Checks checks;
    private final GraphManager graph;

    QueryChecks(Checks checks, HugeClient client) {
        this.checks = checks;
        this.graph = client.graph();
    }

    void run() {
        this.checks.step("lists of vertices", this::lists);
        this.checks.step("predicates on vertices", this::predicates);
        this.checks.step("refused queries", this::refusals);
        this.checks.step("pages of vertices", this::pages);
        this.checks.step("edges of a vertex", this::edgesOfAVertex);
        this.checks.step("lists of edges", this::edges);
        this.checks.step("pages of edges", this::edgePages);
    }

    private void lists() {
        this.checks.equal("by label", Set.of("josh", "marko", "peter", "vadas"),
                          names(this.graph.listVertices("person")));
        this.checks.equal("with a limit", 2, this.graph.listVertices("person", 2).size());
        this.checks.equal("all of a label", 501, this.graph.listVertices("number").size());
        this.checks.equal("with an offset", 1,
                          this.graph.listVertices("person", Map.of(), 3, 10).size());
        this.checks.equal("of everything", 3, this.graph.listVertices(3).size());
    }

    private void predicates() {
        this.people("by primary key", Map.of("name", "marko"), "marko");
        this.people("by primary key and more", Map.of("name", "marko", "age", 30));
        this.people("equal", Map.of("city", "Beijing"), "josh", "marko");
        this.people("equal number", Map.of("age", 29), "marko");
        this.people("gt", Map.of("age", "P.gt(29)"), "josh", "peter");
        this.people("gte", Map.of("age", "P.gte(29)"), "josh", "marko", "peter");
        this.people("lt", Map.of("age", "P.lt(29)"), "vadas");
        this.people("lte", Map.of("age", "P.lte(29)"), "marko", "vadas");
        this.people("between", Map.of("age", "P.between(27, 32)"), "marko", "vadas");
        this.people("inside", Map.of("age", "P.inside(27, 35)"), "josh", "marko");
        this.people("outside", Map.of("age", "P.outside(28, 33)"), "peter", "vadas");
        this.people("within", Map.of("age", "P.within(27, 35)"), "peter", "vadas");
        this.people("two indexes", Map.of("city", "Beijing", "age", "P.gt(29)"), "josh");
        this.people("none", Map.of("city", "Nowhere"));
        this.checks.equal("textcontains", Set.of("lop", "ripple"),
                names(this.graph.listVertices("software",
                                              Map.of("lang", "P.textcontains(\"java\")"), 10)));
        this.checks.equal("a shard index", Set.of("lop"),
                names(this.graph.listVertices("software",
                                              Map.of("lang", "java", "price", "P.gt(200)"), 10)));
        this.checks.equal("without a label", Set.of("josh", "marko"),
                names(this.graph.listVertices(null, Map.of("city", "Beijing"), 10)));
    }

    private void people(String what, Map<String, Object> properties, String... wanted) {
        this.checks.equal(what, Set.of(wanted),
                          names(this.graph.listVertices("person", properties, 100)));
    }

    private void refusals() {
        this.checks.refused("an unknown label", 400, "Undefined vertex label: 'none'",
                () -> this.graph.listVertices("none"));
        this.checks.refused("an unknown property", 400, "Undefined property key: 'none'",
                () -> this.graph.listVertices("person", Map.of("none", 1), 10));
        this.checks.refused("no index", 400, "Don't accept query based on properties [weight]",
                () -> this.graph.listVertices("person", Map.of("weight", 1.0), 10));
        this.checks.refused("an unknown predicate", 400, "Not support predicate 'foo'",
                () -> this.graph.listVertices("person", Map.of("age", "P.foo(1)"), 10));
        this.checks.refused("a label index that is off", 400, "label index is disabled",
                () -> this.graph.listVertices("automatic"));
    }

    private void pages() {
        List<Object> ids = new ArrayList<>();
        Iterator<Vertex> pages = this.graph.iterateVertices("number", 70);
        pages.forEachRemaining(vertex -> ids.add(vertex.id()));
        this.checks.equal("all, once each", 501L, ids.stream().distinct().count());
        this.checks.equal("none twice", 501, ids.size());
        Iterator<Vertex> people = this.graph.iterateVertices("person",
                                                             Map.of("city", "Beijing"), 1);
        Set<String> names = new TreeSet<>();
        people.forEachRemaining(vertex -> names.add((String) vertex.property("name")));
        this.checks.equal("by property", Set.of("josh", "marko"), names);
        Iterator<Vertex> everything = this.graph.iterateVertices(100);
        int count = 0;
        while (everything.hasNext()) {
            everything.next();
            count++;
        }
        this.checks.equal("everything", this.graph.listVertices(-1).size(), count);
    }

    private void edgesOfAVertex() {
        Object josh = this.graph.listVertices("person", Map.of("name", "josh"), 1).get(0).id();
        this.checks.equal("both", 3, this.graph.getEdges(josh).size());
        this.checks.equal("in", 2, this.graph.getEdges(josh, Direction.IN).size());
        this.checks.equal("out", 1, this.graph.getEdges(josh, Direction.OUT).size());
        this.checks.equal("by label", 2,
                          this.graph.getEdges(josh, Direction.BOTH, "knows").size());
        this.checks.equal("by property", 1,
                this.graph.getEdges(josh, Direction.IN, "knows",
                                    Map.of("weight", "P.gt(0.5)"), 0, 10).size());
        this.checks.equal("by sort key", 1,
                this.graph.getEdges(josh, Direction.IN, "knows",
                                    Map.of("date", "P.gt(\"2014-01-01\")"), 0, 10).size());
        this.checks.equal("of nobody", 0, this.graph.getEdges("1:nobody").size());
    }

    private void edges() {
        this.checks.equal("by label", 3, this.graph.listEdges("created").size());
        this.checks.equal("with a limit", 5, this.graph.listEdges("knows", 5).size());
        this.checks.equal("by range", Set.of(0.4, 0.5),
                this.graph.listEdges("created", Map.of("weight", "P.gt(0.3)"), 10).stream()
                          .map(edge -> edge.property("weight")).collect(Collectors.toSet()));
        this.checks.equal("by an index", 10,
                          this.graph.listEdges("knows", Map.of("city", "c3"), 100).size());
        this.checks.equal("all", 105, this.graph.listEdges(-1).size());
    }

    private void edgePages() {
        Object marko = this.graph.listVertices("person", Map.of("name", "marko"), 1).get(0).id();
        List<String> ids = new ArrayList<>();
        Iterator<Edge> pages = this.graph.iterateEdges(marko, Direction.OUT, "knows", 30);
        pages.forEachRemaining(edge -> ids.add(edge.id()));
        this.checks.equal("of a vertex", 102, ids.size());
        this.checks.equal("once each", 102L, ids.stream().distinct().count());
        ids.clear();
        this.graph.iterateEdges("created", 1).forEachRemaining(edge -> ids.add(edge.id()));
        this.checks.equal("of a label", 3L, ids.stream().distinct().count());
    }

    private static Set<String> names(List<Vertex> vertices) {
        return vertices.stream().map(vertex -> (String) vertex.property("name"))
                       .collect(Collectors.toCollection(TreeSet::new));
    }
}
