package varve.omrs;

import java.util.ArrayList;
import java.util.List;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.SequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceGraph;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/**
 * Queries of the graph: a chain 0 - 1 - 2 - 3 of terms, a second way 0 - 4 - 2, a glossary 5 that holds term 1, and term 6
 * by itself.
 */
final class GraphChecks {

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;
    private final List<EntityDetail> nodes = new ArrayList<>();
    private final List<Relationship> edges = new ArrayList<>();

    GraphChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
    }

    void run() {
        this.checks.step("a graph", this::seed);
        this.checks.step("the neighbourhood", this::neighbourhood);
        this.checks.step("the neighbourhood with limits", this::limits);
        this.checks.step("related entities", this::related);
        this.checks.step("linking entities", this::linking);
        this.checks.step("deleted in the graph", this::deleted);
        this.checks.step("refused graph queries", this::refused);
    }

    private void seed() throws Exception {
        for (int i = 0; i < 7; i++) {
            World.tick();
            this.nodes.add(this.world.entity(i == 5 ? "Glossary" : "GlossaryTerm", "qualifiedName", "node-" + i));
        }
        int[][] pairs = {{0, 1}, {1, 2}, {2, 3}, {0, 4}, {4, 2}};
        for (int[] pair : pairs) {
            this.edges.add(this.world.link(pair[0] == 4 ? "RelatedTerm" : "Synonym", this.nodes.get(pair[0]),
                                           this.nodes.get(pair[1])));
        }
        this.edges.add(this.world.link("TermAnchor", this.nodes.get(5), this.nodes.get(1)));
        this.collection.classifyEntity(World.ADA, this.nodes.get(4).getGUID(), "SpineObject", null);
        this.checks.equal("relationships", 6, this.edges.size());
    }

    private String guid(int node) {
        return this.nodes.get(node).getGUID();
    }

    private List<EntityDetail> entities(int... numbers) {
        List<EntityDetail> picked = new ArrayList<>();
        for (int number : numbers) {
            picked.add(this.nodes.get(number));
        }
        return picked;
    }

    private List<Relationship> links(int... numbers) {
        List<Relationship> picked = new ArrayList<>();
        for (int number : numbers) {
            picked.add(this.edges.get(number));
        }
        return picked;
    }

    private InstanceGraph around(int node, int level) throws Exception {
        return this.collection.getEntityNeighborhood(World.ADA, guid(node), null, null, null, null, null, level);
    }

    private void is(String what, List<EntityDetail> entities, List<Relationship> relationships, InstanceGraph found) {
        this.checks.same(what + ": entities", entities, found == null ? null : found.getEntities());
        this.checks.same(what + ": relationships", relationships, found == null ? null : found.getRelationships());
    }

    private void neighbourhood() throws Exception {
        is("level 0", entities(0), links(), around(0, 0));
        is("level 1", entities(0, 1, 4), links(0, 3), around(0, 1));
        is("level 2", entities(0, 1, 2, 4, 5), links(0, 1, 3, 4, 5), around(0, 2));
        is("level 3", entities(0, 1, 2, 3, 4, 5), links(0, 1, 2, 3, 4, 5), around(0, 3));
        is("all levels", entities(0, 1, 2, 3, 4, 5), links(0, 1, 2, 3, 4, 5), around(0, -1));
        is("from an entity without relationships", entities(6), links(), around(6, -1));
        EntityDetail start = around(0, 0).getEntities().get(0);
        this.checks.equal("as it is read", this.collection.getEntityDetail(World.ADA, guid(0)), start);
        Relationship edge = around(5, 1).getRelationships().get(0);
        this.checks.equal("a relationship as it is read", this.collection.getRelationship(World.ADA, edge.getGUID()), edge);
    }

    private void limits() throws Exception {
        List<String> synonyms = List.of(this.world.type("Synonym"));
        is("types of relationships", entities(0, 1, 2, 3, 4), links(0, 1, 2, 3), this.collection.getEntityNeighborhood(
            World.ADA, guid(0), null, synonyms, null, null, null, -1));
        List<String> terms = List.of(this.world.type("GlossaryTerm"));
        is("types of entities", entities(0, 1, 2, 4), links(0, 1, 3, 4), this.collection.getEntityNeighborhood(World.ADA,
            guid(0), terms, null, null, null, null, 2));
        is("a type and its subtypes", entities(0, 1, 4), links(0, 3), this.collection.getEntityNeighborhood(World.ADA,
            guid(0), List.of(this.world.type("Referenceable")), null, null, null, null, 1));
        is("status", entities(0, 1, 4), links(0, 3), this.collection.getEntityNeighborhood(World.ADA, guid(0), null, null,
            List.of(InstanceStatus.ACTIVE), null, null, 1));
        is("classifications", entities(0, 4), links(3), this.collection.getEntityNeighborhood(World.ADA, guid(0), null,
            null, null, List.of("SpineObject"), null, 1));
    }

    private void related() throws Exception {
        this.checks.same("all", entities(0, 1, 2, 3, 4, 5), this.collection.getRelatedEntities(World.ADA, guid(0), null, 0,
            null, null, null, null, null, 0));
        this.checks.inOrder("ordered", entities(0, 1, 2, 3, 4, 5), this.collection.getRelatedEntities(World.ADA, guid(3),
            null, 0, null, null, null, null, SequencingOrder.CREATION_DATE_OLDEST, 0));
        this.checks.inOrder("a page", entities(3, 2), this.collection.getRelatedEntities(World.ADA, guid(3), null, 2,
            null, null, null, "qualifiedName", SequencingOrder.PROPERTY_DESCENDING, 2));
        this.checks.same("types of entities", entities(0, 1, 2, 3, 4), this.collection.getRelatedEntities(World.ADA,
            guid(0), List.of(this.world.type("GlossaryTerm")), 0, null, null, null, null, null, 0));
        this.checks.same("of one by itself", entities(6), this.collection.getRelatedEntities(World.ADA, guid(6), null, 0,
            null, null, null, null, null, 0));
    }

    private void linking() throws Exception {
        is("two ways", entities(0, 1, 2, 4), links(0, 1, 3, 4),
           this.collection.getLinkingEntities(World.ADA, guid(0), guid(2), null, null));
        is("two ways and on", entities(0, 1, 2, 3, 4), links(0, 1, 2, 3, 4),
           this.collection.getLinkingEntities(World.ADA, guid(0), guid(3), null, null));
        is("one step", entities(1, 5), links(5),
           this.collection.getLinkingEntities(World.ADA, guid(5), guid(1), null, null));
        InstanceGraph none = this.collection.getLinkingEntities(World.ADA, guid(0), guid(6), null, null);
        this.checks.holds("no way", none == null || (none.getEntities() == null && none.getRelationships() == null));
    }

    private void deleted() throws Exception {
        this.collection.deleteRelationship(World.ADA, this.world.type("Synonym"), "Synonym", this.edges.get(0).getGUID());
        is("without a deleted relationship", entities(0, 4), links(3), around(0, 1));
        is("one way is left", entities(0, 2, 4), links(3, 4),
           this.collection.getLinkingEntities(World.ADA, guid(0), guid(2), null, null));
        this.collection.deleteEntity(World.ADA, this.world.type("GlossaryTerm"), "GlossaryTerm", guid(4));
        is("without a deleted entity", entities(0), links(), around(0, -1));
        this.checks.refused("from a deleted entity", EntityNotKnownException.class, () -> around(4, 1));
    }

    private void refused() throws Exception {
        this.checks.refused("neighbours of an unknown one", EntityNotKnownException.class, () -> this.collection
            .getEntityNeighborhood(World.ADA, "nope", null, null, null, null, null, 1));
        this.checks.refused("an unknown type", TypeErrorException.class, () -> this.collection.getEntityNeighborhood(
            World.ADA, guid(0), List.of("nope"), null, null, null, null, 1));
        this.checks.refused("an unknown type of relationships", TypeErrorException.class, () -> this.collection
            .getEntityNeighborhood(World.ADA, guid(0), null, List.of("nope"), null, null, null, 1));
        this.checks.refused("related to an unknown one", EntityNotKnownException.class, () -> this.collection
            .getRelatedEntities(World.ADA, "nope", null, 0, null, null, null, null, null, 0));
        this.checks.refused("a negative page", PagingErrorException.class, () -> this.collection.getRelatedEntities(
            World.ADA, guid(0), null, 0, null, null, null, null, null, -1));
        this.checks.refused("from an unknown one", EntityNotKnownException.class,
            () -> this.collection.getLinkingEntities(World.ADA, "nope", guid(0), null, null));
        this.checks.refused("to an unknown one", EntityNotKnownException.class,
            () -> this.collection.getLinkingEntities(World.ADA, guid(0), "nope", null, null));
    }
}
