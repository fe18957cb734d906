package varve.omrs;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.odpi.openmetadata.adapters.repositoryservices.inmemory.repositoryconnector.InMemoryOMRSRepositoryConnectorProvider;
import org.odpi.openmetadata.adapters.repositoryservices.rest.repositoryconnector.OMRSRESTRepositoryConnectorProvider;
import org.odpi.openmetadata.frameworks.connectors.ConnectorBroker;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Connection;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.ConnectorType;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Endpoint;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.AttributeTypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefGallery;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentHelper;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentManager;
import org.odpi.openmetadata.repositoryservices.localrepository.repositorycontentmanager.OMRSRepositoryContentValidator;

/** One of Egeria's repository connectors, set up as an OMAG server sets it up, from a connection. */
final class Repository {

    /** The name that the server goes by in its address. */
    static final String SERVER = "varve";

    private static final String IN_MEMORY_ID = "0c7e1f5d-7f36-4d5e-9f3a-2f3b9d1c6a10";
    private static final ObjectMapper JSON =
        new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

    private final OMRSRepositoryContentManager content = new OMRSRepositoryContentManager("ada", null);
    private final OMRSRepositoryHelper helper = new OMRSRepositoryContentHelper(this.content);
    private final OMRSRepositoryConnector connector;
    private final String id;

    private Repository(String provider, String address, String id) throws Exception {
        this.id = id;
        this.connector = (OMRSRepositoryConnector) new ConnectorBroker().getConnector(connection(provider, address));
        this.connector.setServerName(SERVER);
        this.connector.setRepositoryName(SERVER);
        this.connector.setMaxPageSize(1000);
        this.connector.setServerUserId("ada");
        this.connector.setRepositoryHelper(this.helper);
        this.connector.setRepositoryValidator(new OMRSRepositoryContentValidator(this.content));
        this.connector.setMetadataCollectionName(SERVER);
        this.connector.setMetadataCollectionId(id);
        this.connector.start();
    }

    /** The repository of a server, over HTTP; it is asked for its id as an operator would. */
    static Repository remote(String url) throws Exception {
        return remote(url, SERVER, collectionId(url));
    }

    /** The repository by this name, expected to have this id. */
    static Repository remote(String url, String server, String id) throws Exception {
        return new Repository(OMRSRESTRepositoryConnectorProvider.class.getName(), url + "/servers/" + server, id);
    }

    /** Egeria's in-memory repository with the types of the file. */
    static Repository inMemory(String typesFile) throws Exception {
        Repository repository =
            new Repository(InMemoryOMRSRepositoryConnectorProvider.class.getName(), "nowhere", IN_MEMORY_ID);
        repository.learn(typesOf(Path.of(typesFile)));
        return repository;
    }

    private static Connection connection(String provider, String address) {
        ConnectorType type = new ConnectorType();
        type.setConnectorProviderClassName(provider);
        Endpoint endpoint = new Endpoint();
        endpoint.setAddress(address);
        Connection connection = new Connection();
        connection.setDisplayName(SERVER);
        connection.setConnectorType(type);
        connection.setEndpoint(endpoint);
        return connection;
    }

    /** GET metadata-collection-id without a user: the anonymous form. */
    private static String collectionId(String url) throws IOException {
        URI address = URI.create(
            url + "/servers/" + SERVER + "/open-metadata/repository-services/metadata-collection-id");
        HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
        try (InputStream answer = connection.getInputStream()) {
            return JSON.readTree(answer).path("metadataCollectionId").asText();
        }
    }

    /** The types of the file: there an attribute names its type, on the wire it holds its definition. */
    private static TypeDefGallery typesOf(Path file) throws IOException {
        ObjectNode gallery = (ObjectNode) JSON.readTree(Files.readAllBytes(file));
        gallery.put("class", "TypeDefGallery");
        ObjectNode byName = JSON.createObjectNode();
        gallery.path("attributeTypeDefs").forEach(def -> byName.set(def.path("name").asText(), def));
        for (JsonNode def : gallery.path("typeDefs")) {
            for (JsonNode attribute : def.path("propertiesDefinition")) {
                ((ObjectNode) attribute).set("attributeType", byName.get(attribute.path("attributeType").asText()));
            }
        }
        return JSON.treeToValue(gallery, TypeDefGallery.class);
    }

    /** Has the helper know these types. */
    void learn(TypeDefGallery gallery) {
        for (AttributeTypeDef def : gallery.getAttributeTypeDefs()) {
            this.content.addAttributeTypeDef(SERVER, def);
        }
        gallery.getTypeDefs().forEach(this::learn);
    }

    /** Has the helper know this type. */
    void learn(TypeDef def) {
        this.content.addTypeDef(SERVER, def);
    }

    /** Its metadata collection. */
    OMRSMetadataCollection collection() throws Exception {
        return this.connector.getMetadataCollection();
    }

    /** What builds properties, proxies and regular expressions. */
    OMRSRepositoryHelper helper() {
        return this.helper;
    }

    /** The id of its metadata collection. */
    String id() {
        return this.id;
    }
}
