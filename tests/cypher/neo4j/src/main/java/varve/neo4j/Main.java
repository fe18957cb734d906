package varve.neo4j;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Starts Neo4j with Bolt on a free port of loopback, prints the address, and runs until its input ends. */
public final class Main {
    private Main() {}

    /** @param arguments the folder of its data, which stays, and the MiB of its page cache */
    public static void main(String[] arguments) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        DatabaseManagementService server =
                new DatabaseManagementServiceBuilder(Path.of(arguments[0]).toAbsolutePath())
                        .setConfig(BoltConnector.enabled, true)
                        .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", port))
                        .setConfig(GraphDatabaseSettings.auth_enabled, false)
                        .setConfig(GraphDatabaseSettings.pagecache_memory, Long.parseLong(arguments[1]) << 20)
                        .build();
        System.out.println("serves on bolt://127.0.0.1:" + port);
        while (System.in.read() >= 0) {}
        server.shutdown();
        System.exit(0);
    }
}
