package varve.neo4j;

import java.io.IOException;
import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.harness.Neo4j;
import org.neo4j.harness.Neo4jBuilders;

/** Starts Neo4j with Bolt on a free port of loopback, prints the address, and runs until its input ends. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws IOException {
        Neo4j server =
                Neo4jBuilders.newInProcessBuilder(Path.of(arguments[0]))
                        .withDisabledServer()
                        .withConfig(GraphDatabaseSettings.pagecache_memory, 256L << 20)
                        .build();
        try (server) {
            System.out.println("serves on " + server.boltURI());
            while (System.in.read() >= 0) {}
        }
        System.exit(0);
    }
}
