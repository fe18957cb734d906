package varve.tinkergraph;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.tinkerpop.gremlin.driver.Client;
import org.apache.tinkerpop.gremlin.driver.Cluster;
import org.apache.tinkerpop.gremlin.driver.RequestOptions;
import org.apache.tinkerpop.gremlin.driver.Result;
import org.apache.tinkerpop.gremlin.driver.exception.ResponseException;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.util.ser.GraphBinaryMessageSerializerV1;

/** An open graph of the server. */
final class Server implements AutoCloseable {

    private static final RequestOptions OPTIONS = RequestOptions.build().timeout(10_000).create();
    private final Cluster cluster;
    private final Client client;

    Server(URI url, String graph) throws Exception {
        HttpClient http = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(url.resolve("/graphs/" + graph))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"schema\":\"open\"}")).build();
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() / 100 != 2 && !response.body().contains("has existed")) {
            throw new IllegalStateException("no graph: " + response.body());
        }
        cluster = Cluster.build(url.getHost()).port(url.getPort()).serializer(new GraphBinaryMessageSerializerV1())
                .minConnectionPoolSize(1).maxConnectionPoolSize(1).maxInProcessPerConnection(64)
                .maxSimultaneousUsagePerConnection(64).maxContentLength(1 << 26).create();
        client = cluster.connect().alias("__g_" + graph);
        submit(Sample.SCHEMA).join();
    }

    void load(Sample sample) {
        String fill = sample.vertices().isEmpty() ? "" : "\n" + sample.chain().text() + ".iterate()";
        submit("g.V().drop().iterate()" + fill).join();
    }

    private CompletableFuture<List<Object>> submit(String script) {
        return client.submitAsync(script, OPTIONS).thenCompose(results -> results.all()).thenApply(results -> {
            List<Object> values = new ArrayList<>();
            for (Result result : results) {
                values.add(result.getObject());
            }
            return values;
        });
    }

    /** Null if it took too long. */
    private static Answer failed(Throwable error) {
        Throwable cause = error;
        while (cause != null && !(cause instanceof ResponseException)) {
            cause = cause.getCause();
        }
        if (cause == null) {
            throw new IllegalStateException("no answer", error);
        }
        return ((ResponseException) cause).getResponseStatusCode().getValue() == 598 ? null : Answer.failed(cause);
    }

    CompletableFuture<Answer> read(String text) {
        return submit(text).thenApply(Answer::of).exceptionally(Server::failed);
    }

    /** Runs a change and reads the graph, in one transaction that is rolled back. */
    CompletableFuture<Answer> tryOut(String text) {
        return submit("r = " + text + ".toList()\nv = g.V().toList()\ne = g.E().toList()\ng.tx().rollback()\n[r, v, e]")
                .thenApply(Server::parts).exceptionally(Server::failed);
    }

    /** Runs a change, and reads the graph once it is stored. */
    Answer change(String text) {
        Answer answer = read(text).join();
        if (answer == null || answer.isError()) {
            return answer;
        }
        List<Object> graph = submit("v = g.V().toList()\ne = g.E().toList()\n[[], v, e]").join();
        Answer afterwards = parts(graph);
        return new Answer(answer.results(), afterwards.vertices(), afterwards.edges(), null);
    }

    @SuppressWarnings("unchecked")
    private static Answer parts(List<Object> parts) {
        return new Answer((List<Object>) parts.get(0), (List<Vertex>) parts.get(1), (List<Edge>) parts.get(2), null);
    }

    @Override
    public void close() {
        cluster.close();
    }
}
