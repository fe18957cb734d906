package varve.clients;

import java.util.List;
import java.util.Map;

import org.apache.hugegraph.driver.HugeClient;
import org.apache.hugegraph.driver.HugeClientBuilder;
import org.apache.hugegraph.driver.VariablesManager;
import org.apache.hugegraph.structure.Task;
import org.apache.hugegraph.structure.constant.GraphMode;
import org.apache.hugegraph.structure.constant.GraphReadMode;
import org.apache.hugegraph.structure.schema.IndexLabel;

/** The main job of a HugeGraph user, done with the published client; every answer is checked. */
public final class Main {

    private static final String GRAPH = "hugegraph";
    private static final String CLEAR_MESSAGE = "I'm sure to delete all data";

    static String url;

    private final Checks checks = new Checks();
    private final HugeClient client;
    /** Who the client is, where the server asks. */
    private final String user = System.getenv("VARVE_USER");
    private final String password = System.getenv("VARVE_PASSWORD");

    private Main() {
        HugeClientBuilder builder = HugeClient.builder(url, GRAPH).configTimeout(60);
        if (this.user != null) {
            builder.configUser(this.user, this.password);
        }
        this.client = builder.build();
    }

    /** Runs against the URL given; ends with 1 when anything failed. */
    public static void main(String[] args) {
        url = args[0];
        Main main = new Main();
        boolean ok;
        try {
            ok = main.run();
        } finally {
            main.client.close();
        }
        System.exit(ok ? 0 : 1);
    }

    private boolean run() {
        this.checks.step("graphs", this::graphs);
        new SchemaChecks(this.checks, this.client).run();
        new ElementChecks(this.checks, this.client).run();
        new QueryChecks(this.checks, this.client).run();
        new GremlinChecks(this.checks, this.client).run();
        new TraverserChecks(this.checks, this.client).run();
        this.checks.step("variables", this::variables);
        this.checks.step("tasks", this::tasks);
        this.checks.step("modes", this::modes);
        new StrictChecks(this.checks, this.client).run();
        this.checks.step("removal of schema", this::removeSchema);
        this.checks.step("clear", this::clear);
        if (this.user != null) {
            new AuthChecks(this.checks, this.client, this.user, this.password).run();
        }
        return this.checks.report();
    }

    private void graphs() {
        this.client.graphs().clearGraph(GRAPH, CLEAR_MESSAGE);
        this.checks.holds("the graph is listed", this.client.graphs().listGraph().contains(GRAPH));
        Map<String, String> graph = this.client.graphs().getGraph(GRAPH);
        this.checks.equal("name", GRAPH, graph.get("name"));
        this.checks.holds("a backend is named", graph.get("backend") != null);
        this.checks.refused("an unknown graph", 404, "Graph 'nope' does not exist",
                            () -> this.client.graphs().getGraph("nope"));
        this.checks.refused("a clear without the message", 400, "Please take the message",
                            () -> this.client.graphs().clearGraph(GRAPH, "yes"));
    }

    private void variables() {
        VariablesManager variables = this.client.variables();
        this.checks.equal("set text", Map.of("name", "tom"), variables.set("name", "tom"));
        variables.set("number", 5);
        variables.set("list", List.of("a", "b"));
        this.checks.equal("get", Map.of("name", "tom"), variables.get("name"));
        this.checks.equal("all", Map.of("name", "tom", "number", 5, "list", List.of("a", "b")),
                          variables.all());
        variables.remove("name");
        variables.remove("number");
        variables.remove("list");
        this.checks.equal("none is left", Map.of(), variables.all());
        this.checks.refused("an unknown one", 404, "Variable 'name' does not exist",
                            () -> variables.get("name"));
    }

    private void tasks() {
        IndexLabel index = this.client.schema().getIndexLabel("personByAge");
        long id = this.client.job().rebuildAsync(index);
        Task task = this.client.task().waitUntilTaskCompleted(id, 30);
        this.checks.equal("status", "success", task.status());
        this.checks.equal("type", "rebuild_index", task.type());
        this.checks.equal("name", "INDEX_LABEL:" + index.id() + ":personByAge", task.name());
        this.checks.holds("success", this.client.task().get(id).success());
        this.checks.holds("a list by ids",
                          this.client.task().list(List.of(id)).get(0).id() == id);
        this.checks.holds("a list by status", this.client.task().list("success", 100).stream()
                                                         .anyMatch(t -> t.id() == id));
        this.client.task().delete(id);
        this.checks.refused("a deleted task", 404, "Can't find task with id '" + id + "'",
                            () -> this.client.task().get(id));
        this.client.job().rebuild(this.client.schema().getVertexLabel("person"));
        this.client.job().rebuild(this.client.schema().getEdgeLabel("knows"));
        this.checks.equal("the rebuilt index answers", 2, this.client.graph().listVertices(
                          "person", Map.of("age", "P.gt(30)"), 10).size());
    }

    private void modes() {
        this.client.graphs().mode(GRAPH, GraphMode.LOADING);
        this.checks.equal("loading", GraphMode.LOADING, this.client.graphs().mode(GRAPH));
        this.client.graphs().mode(GRAPH, GraphMode.NONE);
        this.checks.equal("none", GraphMode.NONE, this.client.graphs().mode(GRAPH));
        this.client.graphs().readMode(GRAPH, GraphReadMode.ALL);
        this.checks.equal("all", GraphReadMode.ALL, this.client.graphs().readMode(GRAPH));
        this.client.graphs().readMode(GRAPH, GraphReadMode.OLTP_ONLY);
        this.checks.equal("read mode", GraphReadMode.OLTP_ONLY,
                          this.client.graphs().readMode(GRAPH));
    }

    private void removeSchema() {
        this.client.schema().removeIndexLabel("createdByWeight");
        this.checks.refused("a removed index label", 404, "does not exist",
                            () -> this.client.schema().getIndexLabel("createdByWeight"));
        this.checks.refused("a property key in use", 400, "is still using it",
                            () -> this.client.schema().removePropertyKey("name"));
        this.client.schema().removeEdgeLabel("created");
        this.checks.refused("a removed edge label", 404, "does not exist",
                            () -> this.client.schema().getEdgeLabel("created"));
        this.checks.equal("its edges are gone", List.of(), this.client.graph().listEdges().stream()
                          .filter(edge -> edge.label().equals("created"))
                          .collect(java.util.stream.Collectors.toList()));
        this.client.schema().removeVertexLabel("software");
        this.checks.refused("a removed vertex label", 404, "does not exist",
                            () -> this.client.schema().getVertexLabel("software"));
        this.client.schema().removePropertyKey("lonely");
        this.checks.refused("a removed property key", 404, "does not exist",
                            () -> this.client.schema().getPropertyKey("lonely"));
    }

    private void clear() {
        this.client.graphs().clearGraph(GRAPH, CLEAR_MESSAGE);
        this.checks.equal("no schema", 0, this.client.schema().getPropertyKeys().size());
        this.checks.equal("no vertices", 0, this.client.graph().listVertices().size());
        this.checks.equal("no edges", 0, this.client.graph().listEdges().size());
        this.checks.equal("no tasks", 0, this.client.task().list().size());
    }
}
