package varve.omrs;

import java.util.Set;
import java.util.TreeSet;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.FunctionNotSupportedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.UserNotAuthorizedException;

/** Every method of a metadata collection, called through Egeria's own connector; every answer is checked. */
public final class Main {

    /** The exceptions of the contract: each must have come once. */
    private static final Set<String> EXCEPTIONS = new TreeSet<>(Set.of("InvalidParameter", "RepositoryError", "TypeError",
        "PropertyError", "PagingError", "ClassificationError", "StatusNotSupported", "EntityNotKnown",
        "RelationshipNotKnown", "EntityProxyOnly", "EntityNotDeleted", "RelationshipNotDeleted", "HomeEntity",
        "HomeRelationship", "EntityConflict", "RelationshipConflict", "InvalidEntity", "InvalidRelationship",
        "FunctionNotSupported", "TypeDefNotKnown", "TypeDefNotSupported", "TypeDefKnown", "TypeDefConflict",
        "InvalidTypeDef", "TypeDefInUse", "PatchError", "UserNotAuthorized"));

    /** What the connector offers and does not send, or sends without its parameters. */
    private static final Set<String> UNSENT = new TreeSet<>(Set.of("findTypeDefsByProperty(String,TypeDefProperties)",
        "reHomeEntity(String,String,String,String,String,String)",
        "reHomeRelationship(String,String,String,String,String,String)"));

    private final Checks checks = new Checks();
    private final String url;
    private final Repository repository;
    private final Recorder recorder;
    private final World world;

    private Main(String url, Repository repository) throws Exception {
        this.url = url;
        this.repository = repository;
        this.recorder = new Recorder(repository.collection());
        this.world = new World(this.checks, repository, this.recorder.collection());
    }

    /** Arguments: the server's URL, or "in-memory"; the file of the standard's types. Ends with 1 when anything failed. */
    public static void main(String[] arguments) throws Exception {
        boolean remote = !arguments[0].equals("in-memory");
        Repository repository = remote ? Repository.remote(arguments[0]) : Repository.inMemory(arguments[1]);
        Main main = new Main(arguments[0], repository);
        if (remote) {
            repository.learn(main.world.collection.getAllTypes(World.ADA));
            new TypeChecks(main.world).run();
        }
        new EntityChecks(main.world).run();
        new RelationshipChecks(main.world).run();
        new ClassificationChecks(main.world).run();
        new SearchChecks(main.world).run();
        new HistoryChecks(main.world).run();
        new GraphChecks(main.world).run();
        new CopyChecks(main.world).run();
        if (remote) {
            new StateChecks(main.world).run();
            main.checks.step("the repository itself", main::identity);
            main.checks.step("what is not offered", main::notOffered);
            main.checks.step("coverage", main::coverage);
        }
        System.exit(main.checks.report() ? 0 : 1);
    }

    private void identity() throws Exception {
        OMRSMetadataCollection collection = this.world.collection;
        this.checks.equal("id", this.world.home, collection.getMetadataCollectionId(World.ADA));
        collection.validateRepositoryConnector("a test");
        collection.setAuditLog(null);
        this.checks.equal("component", null, collection.getConnectorComponentDescription());
        this.checks.equal("id, as it was asked for once", this.world.home, collection.getMetadataCollectionId());
        OMRSMetadataCollection strange = new Recorder(
            Repository.remote(this.url, Repository.SERVER, World.ELSEWHERE).collection()).collection();
        this.checks.refused("an id that is not the registered one", RepositoryErrorException.class,
            () -> strange.getMetadataCollectionId(World.ADA));
        OMRSMetadataCollection nobody = Repository.remote(this.url, "nobody", this.world.home).collection();
        // The connector takes an invalid serverName for a platform without that server.
        this.checks.refused("an unknown server", RepositoryErrorException.class,
            () -> nobody.getEntityDetail(World.ADA, "some GUID"));
        this.checks.refused("no user", UserNotAuthorizedException.class,
            () -> collection.getEntityDetail(" ", "some GUID"));
    }

    private void notOffered() throws Exception {
        EntityDetail entity = this.world.entity("Glossary", "qualifiedName", "look around");
        this.checks.refused("a regular expression that looks around", FunctionNotSupportedException.class,
            () -> this.world.collection.findEntitiesByProperty(World.ADA, entity.getType().getTypeDefGUID(),
                this.world.props("qualifiedName", "(?=look).*"), MatchCriteria.ALL, 0, null, null, null, null, null, 0));
    }

    private void coverage() {
        this.checks.equal("methods never called", Set.of(), this.recorder.neverCalled());
        this.checks.equal("methods that never answered", UNSENT, this.recorder.neverAnswered());
        this.checks.equal("exceptions that were not declared", Set.of(), this.recorder.undeclared());
        Set<String> missing = new TreeSet<>(EXCEPTIONS);
        missing.removeIf(name -> this.recorder.thrown().contains(name + "Exception"));
        this.checks.equal("exceptions that never came", Set.of(), missing);
    }
}
