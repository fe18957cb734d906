package varve.clients;

import static org.neo4j.driver.Values.parameters;

import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.neo4j.driver.AccessMode;
import org.neo4j.driver.AuthToken;
import org.neo4j.driver.AuthTokens;
import org.neo4j.driver.Bookmark;
import org.neo4j.driver.Config;
import org.neo4j.driver.Driver;
import org.neo4j.driver.GraphDatabase;
import org.neo4j.driver.Logging;
import org.neo4j.driver.QueryConfig;
import org.neo4j.driver.Record;
import org.neo4j.driver.Session;
import org.neo4j.driver.SessionConfig;
import org.neo4j.driver.async.AsyncSession;
import org.neo4j.driver.exceptions.ClientException;
import org.neo4j.driver.exceptions.Neo4jException;
import org.neo4j.driver.types.Node;
import org.neo4j.driver.types.Path;

/**
 * Neo4j's Java driver against a server: Main bolt://host:port GRAPH. With VARVE_USER and
 * VARVE_PASSWORD it logs in. Writes to GRAPH, an open graph. Prints 'N passed, N failed'.
 */
public final class Main {
    private static int passed;
    private static int failed;

    private Main() {}

    private static void check(String name, Object got, Object wanted) {
        if (Objects.equals(got, wanted)) {
            passed++;
        } else {
            failed++;
            System.out.println("FAILED " + name + ": " + got + ", not " + wanted);
        }
    }

    private static String refusal(Runnable work) {
        try {
            work.run();
            return "no refusal";
        } catch (Neo4jException error) {
            return error.code();
        }
    }

    public static void main(String[] arguments) {
        String graph = arguments[1];
        String user = System.getenv("VARVE_USER");
        AuthToken token = user == null
            ? AuthTokens.none()
            : AuthTokens.basic(user, System.getenv("VARVE_PASSWORD"));
        Config config = Config.builder().withLogging(Logging.none()).build();
        // By a routing table, then without one.
        for (String uri : List.of(arguments[0].replace("bolt:", "neo4j:"), arguments[0])) {
            try (Driver driver = GraphDatabase.driver(uri, token, config)) {
                driver.verifyConnectivity();
                try (Session session = driver.session(SessionConfig.forDatabase(graph))) {
                    session.run("MATCH (n) DETACH DELETE n").consume();
                    types(session);
                    elements(session);
                    refusals(session);
                }
                transactions(driver, graph);
                bookmarks(driver, graph);
                parallel(driver, graph);
            } catch (RuntimeException error) {
                check(uri, error, null);
            }
        }
        System.out.println("neo4j-java-driver: " + passed + " passed, " + failed + " failed");
        System.exit(failed > 0 ? 1 : 0);
    }

    private static void types(Session session) {
        ZonedDateTime at = ZonedDateTime.of(2024, 2, 29, 12, 0, 0, 5, ZoneId.of("Europe/Paris"));
        Map<String, Object> sent = new HashMap<>();
        sent.put("null", null);
        sent.put("list", List.of(1L, 2.5, "x", true));
        sent.put("map", Map.of("inner", Map.of("deep", List.of())));
        sent.put("date", LocalDate.of(2024, 2, 29));
        sent.put("at", at);
        sent.put("most", Long.MAX_VALUE);
        Map<String, Object> got =
            session.run("RETURN $p AS p", Map.of("p", sent)).single().get("p").asMap();
        check("parameters", got, sent);
        Record record = session
            .run("RETURN duration('P1M2DT3.5S') AS d, point({x: 1, y: 2}) AS p, $b AS b",
                Map.of("b", new byte[] {1, 2}))
            .single();
        check("a duration", record.get("d").asIsoDuration().months(), 1L);
        check("a point", record.get("p").asPoint().y(), 2.0);
        check("bytes", record.get("b").asByteArray().length, 2);
    }

    private static void elements(Session session) {
        var result = session.run(
            "CREATE p = (a:Person:Author {name: 'Ann'})-[k:KNOWS {since: 2020}]->(b:Person) "
                + "RETURN p, a, k");
        Record record = result.single();
        var counters = result.consume().counters();
        check("nodes made", counters.nodesCreated(), 2);
        check("labels added", counters.labelsAdded(), 3);
        Path path = record.get("p").asPath();
        Node ann = record.get("a").asNode();
        check("the length of a path", path.length(), 1);
        check("its start", path.start(), ann);
        check("labels", new ArrayList<>((java.util.Collection<String>) ann.labels()),
            List.of("Author", "Person"));
        check("a relationship's type", record.get("k").asRelationship().type(), "KNOWS");
        check("a node by its id",
            session.run("MATCH (n) WHERE elementId(n) = $id RETURN n.name AS name",
                parameters("id", ann.elementId())).single().get("name").asString(), "Ann");
        session.run("UNWIND range(1, 2500) AS i CREATE (:Many {i: i})").consume();
        long sum = session.run("MATCH (n:Many) RETURN n.i AS i").stream()
            .mapToLong(row -> row.get("i").asLong()).sum();
        check("records in pages", sum, 3126250L);
        var plan = session.run("EXPLAIN MATCH (n) RETURN n").consume().plan();
        check("a plan", plan.operatorType().isEmpty(), false);
    }

    private static void refusals(Session session) {
        check("no such variable", refusal(() -> session.run("RETURN x").consume()),
            "Neo.ClientError.Statement.SyntaxError");
        check("no such procedure", refusal(() -> session.run("CALL no.such()").consume()),
            "Neo.ClientError.Procedure.ProcedureNotFound");
        check("the session goes on", session.run("RETURN 1 AS x").single().get("x").asInt(), 1);
    }

    private static void transactions(Driver driver, String graph) {
        try (Session session = driver.session(SessionConfig.forDatabase(graph))) {
            session.run("CREATE (:Counter {n: 0})").consume();
            try (var own = session.beginTransaction()) {
                own.run("CREATE (:Gone)").consume();
                check("its own change",
                    own.run("MATCH (n:Gone) RETURN count(n) AS n").single().get("n").asInt(), 1);
                own.rollback();
            }
            check("nothing is left", session.executeRead(own ->
                own.run("MATCH (n:Gone) RETURN count(n) AS n").single().get("n").asInt()), 0);
            check("a function's own error", refusal(() -> session.executeWrite(own -> {
                own.run("CREATE (:Gone)").consume();
                throw new ClientException("own", "own");
            })), "own");
        }
        // Each conflict is tried again.
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(() -> {
                try (Session session = driver.session(SessionConfig.forDatabase(graph))) {
                    for (int j = 0; j < 5; j++) {
                        session.executeWriteWithoutResult(own ->
                            own.run("MATCH (c:Counter) SET c.n = c.n + 1").consume());
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }
        var counted = driver.executableQuery("MATCH (c:Counter) RETURN c.n AS n")
            .withConfig(QueryConfig.builder().withDatabase(graph).build()).execute();
        check("no change is lost", counted.records().get(0).get("n").asInt(), 10);
        check("the summary's database", counted.summary().database().name(), graph);
    }

    private static void bookmarks(Driver driver, String graph) {
        Iterable<Bookmark> seen;
        try (Session session = driver.session(SessionConfig.forDatabase(graph))) {
            session.executeWriteWithoutResult(own -> own.run("CREATE (:Marked)").consume());
            seen = session.lastBookmarks();
        }
        check("a bookmark", seen.iterator().hasNext(), true);
        SessionConfig later = SessionConfig.builder().withDatabase(graph).withBookmarks(seen)
            .withDefaultAccessMode(AccessMode.READ).build();
        try (Session session = driver.session(later)) {
            check("what it names", session.run("MATCH (n:Marked) RETURN count(n) AS n").single()
                .get("n").asInt(), 1);
        }
    }

    private static void parallel(Driver driver, String graph) {
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            AsyncSession session =
                driver.session(AsyncSession.class, SessionConfig.forDatabase(graph));
            all.add(session.runAsync("MATCH (n:Many) RETURN count(n) AS n")
                .thenCompose(cursor -> cursor.singleAsync())
                .thenCompose(row -> session.closeAsync().thenApply(done -> row.get("n").asInt()))
                .toCompletableFuture());
        }
        check("asynchronous sessions",
            all.stream().map(CompletableFuture::join).toList().stream().distinct().toList(),
            List.of(2500));
    }
}
