package varve.clients;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.apache.hugegraph.driver.GremlinManager;
import org.apache.hugegraph.driver.HugeClient;
import org.apache.hugegraph.structure.Task;
import org.apache.hugegraph.structure.gremlin.Result;
import org.apache.hugegraph.structure.gremlin.ResultSet;

/** Gremlin scripts and jobs, on the persons and programs of the element checks. */
final class GremlinChecks {

    private static final long SECONDS_MAX = 30;

    private final Checks checks;
    private final HugeClient client;
    private final GremlinManager gremlin;

    GremlinChecks(Checks checks, HugeClient client) {
        this.checks = checks;
        this.client = client;
        this.gremlin = client.gremlin();
    }

    void run() {
        this.checks.step("Gremlin results", this::results);
        this.checks.step("Gremlin scripts", this::scripts);
        this.checks.step("Gremlin refusals", this::refusals);
        this.checks.step("Gremlin jobs", this::jobs);
        this.checks.step("a cancelled Gremlin job", this::cancelled);
    }

    private void results() {
        Result vertex = this.first("g.V().has('person', 'name', 'marko')");
        this.checks.equal("a vertex", "person", vertex.getVertex().label());
        this.checks.equal("its name", "marko", vertex.getVertex().property("name"));
        Result edge = this.first("g.V().has('person', 'name', 'marko').outE('created').limit(1)");
        this.checks.equal("an edge", "created", edge.getEdge().label());
        Result path = this.first("g.V().has('person', 'name', 'marko').out('knows').limit(1).path()");
        this.checks.equal("a path", 2, path.getPath().size());
        this.checks.equal("a number", 4L, this.first("g.V().hasLabel('person').count()").getLong());
        this.checks.equal("a text", "marko",
                          this.first("g.V().has('person', 'name', 'marko').values('name')").getString());
        ResultSet bound = this.gremlin.gremlin("g.V().hasLabel('person').has('age', gt(least)).count()")
                                      .binding("least", 30).execute();
        this.checks.equal("a binding", 2L, bound.iterator().next().getLong());
        this.checks.equal("none", 0, this.gremlin.gremlin("g.V('none')").execute().size());
    }

    private void scripts() {
        this.checks.equal("an expression", 3, this.first("1 + 2").getInt());
        this.checks.equal("a loop", 45, this.first(
                "n = 0; for (int i = 0; i < 10; i++) { n += i }; n").getInt());
        this.checks.equal("the size of a list", 4, this.first(
                "graph.traversal().V().hasLabel('person').toList().size()").getInt());
        this.checks.equal("a graph by its name", 4L, this.first(
                "hugegraph.traversal().V().hasLabel('person').count()").getLong());
        this.checks.equal("members of elements", "marko", this.first(
                "g.V().has('person', 'name', 'marko').next().value('name')").getString());
        ResultSet entries = this.gremlin.gremlin(
                "def res = [:]; res.persons = g.V().hasLabel('person').count().next();"
                + " res.note = 'only'; return res;").execute();
        List<Object> found = new ArrayList<>();
        entries.iterator().forEachRemaining(entry -> found.add(entry.getObject()));
        this.checks.equal("a map, entry by entry",
                          List.of(Map.of("persons", 4), Map.of("note", "only")), found);
        this.checks.equal("the schema", "INT", ((Map<?, ?>) this.first(
                "graph.schema().getPropertyKey('age')").getObject()).get("data_type"));
    }

    private void refusals() {
        this.checks.refused("an unknown step", 400, "V2() is applicable for argument types: ()",
                            () -> this.gremlin.gremlin("g.V2()").execute());
        this.checks.refused("the end of the server", 403,
                            "Not allowed to call System.exit() via Gremlin",
                            () -> this.gremlin.gremlin("System.exit(-1)").execute());
    }

    private void jobs() {
        Task count = this.done("g.V().hasLabel('person').count()");
        this.checks.equal("type", "gremlin", count.type());
        this.checks.equal("name", "g.V().hasLabel('person').count()", count.name());
        this.checks.equal("status", "success", count.status());
        this.checks.equal("result", "[4]", count.result());
        Task bound = this.ended(this.gremlin.gremlin("1 + x").binding("x", 2).executeAsTask());
        this.checks.equal("a value", "3", bound.result());
        this.checks.refused("aliases", 400, "There is no need to pass gremlin aliases",
                            () -> this.gremlin.gremlin("g.V()").alias("g", "x").executeAsTask());
    }

    private void cancelled() throws InterruptedException {
        long id = this.gremlin.gremlin(
                "for (int i = 0; i < 50; i++) {"
                + "  try { sleep(2000) } catch (InterruptedException e) { break; } }").executeAsTask();
        this.client.task().cancel(id);
        Task task = this.client.task().get(id);
        for (int i = 0; i < SECONDS_MAX * 10 && !task.cancelled(); i++) {
            Thread.sleep(100);
            task = this.client.task().get(id);
        }
        this.checks.equal("status", "cancelled", task.status());
    }

    private Result first(String script) {
        return this.gremlin.gremlin(script).execute().iterator().next();
    }

    private Task done(String script) {
        return this.ended(this.gremlin.gremlin(script).executeAsTask());
    }

    /** The whole task: what the client waits for is a list, and lists have no results. */
    private Task ended(long id) {
        this.client.task().waitUntilTaskCompleted(id, SECONDS_MAX);
        return this.client.task().get(id);
    }
}
