package varve.clients;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.apache.tinkerpop.gremlin.driver.Client;
import org.apache.tinkerpop.gremlin.driver.Cluster;
import org.apache.tinkerpop.gremlin.driver.RequestOptions;
import org.apache.tinkerpop.gremlin.driver.Result;
import org.apache.tinkerpop.gremlin.driver.exception.ResponseException;
import org.apache.tinkerpop.gremlin.driver.remote.DriverRemoteConnection;
import org.apache.tinkerpop.gremlin.process.traversal.AnonymousTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.Order;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.Path;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.__;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.util.ser.GraphBinaryMessageSerializerV1;
import org.apache.tinkerpop.gremlin.util.ser.GraphSONMessageSerializerV3;
import org.apache.tinkerpop.gremlin.util.MessageSerializer;

/** gremlin-driver against a server that fill.py has filled: Main ws://host:port/gremlin */
public final class Main {

    private static final String SOURCE = "__g_hugegraph";
    private static int passed;
    private static int failed;

    private interface Step {
        void run() throws Exception;
    }

    private static void check(String name, Step step) {
        try {
            step.run();
            passed++;
        } catch (Throwable e) {
            failed++;
            System.out.println("FAILED " + name + ": " + e);
        }
    }

    private static void same(Object got, Object wanted) {
        if (!Objects.equals(got, wanted)) {
            throw new AssertionError("got " + got + ", wanted " + wanted);
        }
    }

    private static void refused(int code, String text, Step step) throws Exception {
        try {
            step.run();
        } catch (Exception e) {
            Throwable cause = e;
            while (cause != null && !(cause instanceof ResponseException)) {
                cause = cause.getCause();
            }
            if (cause == null) {
                throw e;
            }
            ResponseException refusal = (ResponseException) cause;
            same(refusal.getResponseStatusCode().getValue(), code);
            same(refusal.getMessage().contains(text) ? text : refusal.getMessage(), text);
            return;
        }
        throw new AssertionError("not refused");
    }

    private static void traversals(GraphTraversalSource g) {
        check("toList", () -> same(new HashSet<>(g.V().hasLabel("person").id().toList()),
                                   new HashSet<>(Arrays.asList(1L, 2L, 4L, 6L))));
        check("count", () -> same(g.V().hasLabel("item").count().next(), 1000L));
        check("vertex", () -> {
            Vertex marko = g.V(1).next();
            same(marko.id(), 1L);
            same(marko.label(), "person");
            same(marko.value("name"), "marko");
            same(marko.value("age"), 29);
        });
        check("valueMap", () -> {
            Map<Object, Object> wanted = Map.of("name", List.of("marko"), "age", List.of(29));
            same(g.V(1).valueMap().next(), wanted);
        });
        check("elementMap", () -> {
            Map<Object, Object> wanted = Map.of(T.id, 1L, T.label, "person", "name", "marko", "age", 29);
            same(g.V(1).elementMap().next(), wanted);
        });
        check("path", () -> {
            Path path = g.V(1).as("a").out("knows").has("name", "josh").values("name").path().next();
            same(((Vertex) path.get("a")).id(), 1L);
            same(path.get(2), "josh");
        });
        check("predicate", () -> same(g.V().has("person", "age", P.gt(30)).values("name").order().toList(),
                                      List.of("josh", "peter")));
        check("nested", () -> same(g.V().hasLabel("person").where(__.out("created")).values("name").order().toList(),
                                   List.of("josh", "marko", "peter")));
        check("order", () -> same(g.V().hasLabel("person").order().by("age", Order.desc).values("age").toList(),
                                  List.of(35, 32, 29, 27)));
        check("group", () -> same(g.V().hasLabel("person", "software").groupCount().by(T.label).next(),
                                  Map.of("person", 4L, "software", 2L)));
        check("bulk", () -> same(g.V().hasLabel("person").label().barrier().toList(),
                                 Collections.nCopies(4, "person")));
        check("iterate", () -> g.V().iterate());
        check("batches", () -> same(g.V().hasLabel("item").toList().size(), 1000));
        check("tokens", () -> same(g.with("materializeProperties", "tokens").V(1).next().properties().hasNext(), false));
        check("timeout", () -> refused(598, "evaluationTimeout", () ->
                g.with("evaluationTimeout", 50).V().repeat(__.both()).count().next()));
    }

    private static List<Object> all(Client client, String script, RequestOptions options) throws Exception {
        List<Object> values = new ArrayList<>();
        for (Result result : client.submit(script, options).all().get()) {
            values.add(result.getObject());
        }
        return values;
    }

    private static void scripts(Client client) {
        RequestOptions none = RequestOptions.build().create();
        check("script", () -> same(all(client, "g.V(1).values('name')", none), List.of("marko")));
        check("bindings", () -> {
            RequestOptions options = RequestOptions.build().addParameter("x", 1).addParameter("y", "knows").create();
            same(all(client, "g.V(x).out(y).count()", options), List.of(2L));
        });
        check("script vertex", () -> same(((Vertex) all(client, "g.V(1)", none).get(0)).value("name"), "marko"));
        check("script batches", () -> {
            RequestOptions options = RequestOptions.build().batchSize(10).create();
            same(all(client, "g.V().hasLabel('item')", options).size(), 1000);
        });
        check("script error", () -> refused(597, "nonsense", () -> all(client, "g.V().nonsense()", none)));
        check("script timeout", () -> {
            RequestOptions options = RequestOptions.build().timeout(50).create();
            refused(598, "evaluationTimeout", () -> all(client, "g.V().repeat(both()).count()", options));
        });
        check("pipelined", () -> {
            List<CompletableFuture<List<Result>>> asked = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                asked.add(client.submitAsync("g.V(1).values('name')").thenCompose(set -> set.all()));
            }
            for (CompletableFuture<List<Result>> one : asked) {
                same(one.get().get(0).getString(), "marko");
            }
        });
    }

    /** Says who it is, where the server asks, by SASL PLAIN. */
    private static Cluster cluster(URI url, MessageSerializer<?> format, String password) {
        Cluster.Builder builder = Cluster.build(url.getHost()).port(url.getPort()).serializer(format);
        String user = System.getenv("VARVE_USER");
        return user == null ? builder.create() : builder.credentials(user, password).create();
    }

    public static void main(String[] arguments) throws Exception {
        URI url = URI.create(arguments[0]);
        MessageSerializer<?>[] formats = {new GraphBinaryMessageSerializerV1(), new GraphSONMessageSerializerV3()};
        for (MessageSerializer<?> format : formats) {
            Cluster cluster = cluster(url, format, System.getenv("VARVE_PASSWORD"));
            GraphTraversalSource g = AnonymousTraversalSource.traversal()
                    .with(DriverRemoteConnection.using(cluster, SOURCE));
            traversals(g);
            g.close();
            scripts(cluster.connect().alias(SOURCE));
            cluster.close();
        }
        if (System.getenv("VARVE_USER") != null) {
            check("wrong password", () -> refused(401, "Authentication failed", () -> {
                Cluster cluster = cluster(url, formats[0], "wrong");
                try {
                    cluster.connect().submit("g.V()").all().get();
                } finally {
                    cluster.close();
                }
            }));
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed > 0 ? 1 : 0);
    }
}
