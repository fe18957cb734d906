package varve.omrs;

import java.util.Date;
import java.util.List;
import java.util.stream.Collectors;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.HistorySequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.SequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceGraph;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyComparisonOperator;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/** The past: instances and answers as they were, and the list of an instance's versions. */
final class HistoryChecks {

    private static final Date LONG_AGO = new Date(1_000_000_000_000L);
    private static final Date TO_COME = new Date(4_000_000_000_000L);

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;
    private EntityDetail first;
    private EntityDetail second;
    private EntityDetail classified;
    private Date classifiedAt;
    private EntityDetail third;
    private EntityDetail gone;
    private Date goneAt;
    private Relationship link;
    private Relationship changedLink;
    private EntityDetail term;

    HistoryChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
    }

    void run() {
        this.checks.step("what has a history", this::seed);
        this.checks.step("an entity as it was", this::entity);
        this.checks.step("the versions of an entity", this::entityHistory);
        this.checks.step("a relationship as it was", this::relationship);
        this.checks.step("searches in the past", this::searches);
        this.checks.step("more searches in the past", this::moreSearches);
        this.checks.step("graph queries in the past", this::graph);
        this.checks.step("refused times", this::refused);
        this.checks.step("the history of what is purged", this::purged);
    }

    /** Two versions, a classification, a third version, a relationship in two versions; both deleted. */
    private void seed() throws Exception {
        this.term = this.world.entity("GlossaryTerm", "qualifiedName", "historic term");
        World.tick();
        this.first = this.world.entity("DataFolder", "qualifiedName", "historic", "name", "one");
        String guid = this.first.getGUID();
        World.tick();
        this.link = this.world.link("SemanticAssignment", this.first, this.term, "description", "historic one");
        World.tick();
        this.second = this.collection.updateEntityProperties(World.BOB, guid,
            this.world.props("qualifiedName", "historic", "name", "two"));
        World.tick();
        this.classified = this.collection.classifyEntity(World.ADA, guid, "Retention",
            this.world.props("notes", "historic note"));
        this.classifiedAt = this.classified.getClassifications().get(0).getCreateTime();
        World.tick();
        this.changedLink = this.collection.updateRelationshipProperties(World.BOB, this.link.getGUID(),
            this.world.props("description", "historic two"));
        World.tick();
        this.third = this.collection.updateEntityProperties(World.ADA, guid,
            this.world.props("qualifiedName", "historic", "name", "three"));
        World.tick();
        this.gone = this.collection.deleteEntity(World.ADA, this.world.type("DataFolder"), "DataFolder", guid);
        this.goneAt = this.gone.getUpdateTime();
        World.tick();
        this.checks.equal("version at last", 4L, this.gone.getVersion());
    }

    private EntityDetail at(Date time) throws Exception {
        return this.collection.getEntityDetail(World.ADA, this.first.getGUID(), time);
    }

    private void entity() throws Exception {
        Date made = this.first.getCreateTime();
        this.checks.refused("before it was made", EntityNotKnownException.class, () -> at(World.plus(made, -1)));
        this.checks.equal("when it was made", this.first, at(made));
        this.checks.equal("just before the second version", this.first, at(World.plus(this.second.getUpdateTime(), -1)));
        this.checks.equal("at the second version", this.second, at(this.second.getUpdateTime()));
        this.checks.equal("just before its classification", this.second, at(World.plus(this.classifiedAt, -1)));
        this.checks.equal("at its classification", this.classified, at(this.classifiedAt));
        this.checks.equal("at the third version", this.third, at(this.third.getUpdateTime()));
        this.checks.equal("just before it was deleted", this.third, at(World.plus(this.goneAt, -1)));
        this.checks.refused("when it was deleted", EntityNotKnownException.class, () -> at(this.goneAt));
        this.checks.refused("now", EntityNotKnownException.class, () -> at(new Date()));
        this.checks.refused("an unknown one", EntityNotKnownException.class,
            () -> this.collection.getEntityDetail(World.ADA, "nope", made));
        this.checks.equal("its classifications, before", null,
            this.collection.getHomeClassifications(World.ADA, this.first.getGUID(), made));
        this.checks.equal("its classifications, after", this.classified.getClassifications(),
            this.collection.getHomeClassifications(World.ADA, this.first.getGUID(), this.classifiedAt));
    }

    private static List<String> versions(List<? extends InstanceHeader> states) {
        return states == null ? null : states.stream().map(state -> Long.toString(state.getVersion()))
            .collect(Collectors.toList());
    }

    private List<EntityDetail> history(Date from, Date to, int start, int size, HistorySequencingOrder order)
            throws Exception {
        return this.collection.getEntityDetailHistory(World.ADA, this.first.getGUID(), from, to, start, size, order);
    }

    private void entityHistory() throws Exception {
        List<EntityDetail> all = history(null, null, 0, 0, HistorySequencingOrder.FORWARDS);
        this.checks.equal("all states", List.of(this.first, this.second, this.classified, this.third, this.gone), all);
        this.checks.equal("the newest first", List.of("4", "3", "2", "2", "1"),
                          versions(history(null, null, 0, 0, HistorySequencingOrder.BACKWARDS)));
        this.checks.equal("a page", List.of("2", "2"), versions(history(null, null, 1, 2, HistorySequencingOrder.FORWARDS)));
        this.checks.equal("the last page", List.of("1"),
                          versions(history(null, null, 4, 2, HistorySequencingOrder.BACKWARDS)));
        this.checks.equal("beyond the end", null,
                          versions(history(null, null, 5, 2, HistorySequencingOrder.FORWARDS)));
        this.checks.equal("from the second version", List.of("2", "2", "3", "4"),
            versions(history(this.second.getUpdateTime(), null, 0, 0, HistorySequencingOrder.FORWARDS)));
        this.checks.equal("from just before it", List.of("1", "2", "2", "3", "4"), versions(history(
            World.plus(this.second.getUpdateTime(), -1), null, 0, 0, HistorySequencingOrder.FORWARDS)));
        this.checks.equal("to the third version, without it", List.of("1", "2", "2"),
            versions(history(null, this.third.getUpdateTime(), 0, 0, HistorySequencingOrder.FORWARDS)));
        this.checks.equal("a window", List.of("2", "3"), versions(history(this.classifiedAt, this.goneAt, 0, 0,
            HistorySequencingOrder.FORWARDS)));
        this.checks.equal("before it was made", null,
            versions(history(LONG_AGO, this.first.getCreateTime(), 0, 0, HistorySequencingOrder.FORWARDS)));
        this.checks.refused("an unknown one", EntityNotKnownException.class, () -> this.collection
            .getEntityDetailHistory(World.ADA, "nope", null, null, 0, 0, HistorySequencingOrder.FORWARDS));
    }

    private void relationship() throws Exception {
        String guid = this.link.getGUID();
        Date made = this.link.getCreateTime();
        this.checks.refused("before it was made", RelationshipNotKnownException.class,
            () -> this.collection.getRelationship(World.ADA, guid, World.plus(made, -1)));
        Relationship then = this.collection.getRelationship(World.ADA, guid, made);
        this.checks.equal("when it was made", this.link.getProperties(), then.getProperties());
        this.checks.equal("its version", 1L, then.getVersion());
        Relationship changed = this.collection.getRelationship(World.ADA, guid, this.changedLink.getUpdateTime());
        this.checks.equal("when it was changed", this.changedLink.getProperties(), changed.getProperties());
        this.checks.equal("an end, then", this.first.getGUID(), changed.getEntityOneProxy().getGUID());
        this.checks.refused("when its end was deleted", RelationshipNotKnownException.class,
            () -> this.collection.getRelationship(World.ADA, guid, this.goneAt));
        this.checks.equal("all versions", List.of("1", "2", "3"), versions(this.collection.getRelationshipHistory(
            World.ADA, guid, null, null, 0, 0, HistorySequencingOrder.FORWARDS)));
        this.checks.equal("the newest first, a page", List.of("2", "1"), versions(this.collection.getRelationshipHistory(
            World.ADA, guid, null, null, 1, 5, HistorySequencingOrder.BACKWARDS)));
        this.checks.equal("a window", List.of("1"), versions(this.collection.getRelationshipHistory(
            World.ADA, guid, made, this.changedLink.getUpdateTime(), 0, 0, HistorySequencingOrder.FORWARDS)));
        this.checks.refused("an unknown one", RelationshipNotKnownException.class, () -> this.collection
            .getRelationshipHistory(World.ADA, "nope", null, null, 0, 0, HistorySequencingOrder.FORWARDS));
    }

    private List<EntityDetail> named(String name, Date time) throws Exception {
        return this.collection.findEntitiesByProperty(World.ADA, this.world.type("FileFolder"), this.world.props("name",
            name), MatchCriteria.ALL, 0, null, null, time, null, SequencingOrder.GUID, 10);
    }

    private void searches() throws Exception {
        Date made = this.first.getCreateTime();
        this.checks.equal("by property, then", List.of(this.first), named("one", made));
        this.checks.equal("by a later property", null, named("two", made));
        this.checks.equal("by property, later", List.of(this.second), named("two", this.second.getUpdateTime()));
        this.checks.equal("by property, deleted", null, named("three", this.goneAt));
        this.checks.equal("by property, now", null, named("three", null));
        this.checks.equal("by type", List.of(this.third), this.collection.findEntities(World.ADA,
            this.world.type("FileFolder"), null, null, 0, null, null, this.third.getUpdateTime(), null, null, 0));
        this.checks.equal("by type, before", null, this.collection.findEntities(World.ADA,
            this.world.type("FileFolder"), null, null, 0, null, null, LONG_AGO, null, null, 0));
        this.checks.equal("by a condition", List.of(this.first), this.collection.findEntities(World.ADA, null, null,
            World.search(MatchCriteria.ALL,
                World.condition("qualifiedName", PropertyComparisonOperator.EQ, World.primitive("historic")),
                World.condition("version", PropertyComparisonOperator.EQ, World.primitive(1L))),
            0, null, null, made, null, null, 0));
        this.checks.equal("deleted ones", List.of(this.gone), this.collection.findEntities(World.ADA,
            this.world.type("FileFolder"), null, null, 0, List.of(InstanceStatus.DELETED), null, this.goneAt, null, null, 0));
        this.checks.equal("by classification", List.of(this.classified), this.collection.findEntitiesByClassification(
            World.ADA, this.world.type("FileFolder"), "Retention", this.world.props("notes", "historic.*"),
            MatchCriteria.ALL, 0, null, this.classifiedAt, null, null, 0));
        this.checks.equal("by classification, before", null, this.collection.findEntitiesByClassification(
            World.ADA, this.world.type("FileFolder"), "Retention", null, null, 0, null, made, null, null, 0));
    }

    private void moreSearches() throws Exception {
        Date made = this.link.getCreateTime();
        Date changed = this.changedLink.getUpdateTime();
        String type = this.world.type("SemanticAssignment");
        this.checks.equal("by value", List.of(this.first), this.collection.findEntitiesByPropertyValue(World.ADA,
            this.world.type("FileFolder"), "one", 0, null, null, this.first.getCreateTime(), null, null, 0));
        this.checks.same("relationships of an entity", List.of(this.link), this.collection.getRelationshipsForEntity(
            World.ADA, this.term.getGUID(), type, 0, null, made, null, null, 0));
        this.checks.equal("relationships of an entity, before", null, this.collection.getRelationshipsForEntity(
            World.ADA, this.term.getGUID(), null, 0, null, World.plus(made, -1), null, null, 0));
        this.checks.equal("relationships of an entity, now", null, this.collection.getRelationshipsForEntity(
            World.ADA, this.term.getGUID(), null, 0, null, null, null, null, 0));
        this.checks.equal("by conditions", List.of("1"), versions(this.collection.findRelationships(World.ADA, type,
            null, World.search(MatchCriteria.ALL, World.condition("description", PropertyComparisonOperator.EQ,
                World.primitive("historic one"))), 0, null, made, null, null, 0)));
        this.checks.equal("by conditions, later", null, this.collection.findRelationships(World.ADA, type,
            null, World.search(MatchCriteria.ALL, World.condition("description", PropertyComparisonOperator.EQ,
                World.primitive("historic one"))), 0, null, changed, null, null, 0));
        this.checks.equal("by property", List.of("2"), versions(this.collection.findRelationshipsByProperty(World.ADA,
            type, this.world.props("description", "historic .*"), MatchCriteria.ALL, 0, null, changed, null, null, 0)));
        this.checks.equal("by value", List.of("2"), versions(this.collection.findRelationshipsByPropertyValue(World.ADA,
            type, "historic two", 0, null, changed, null, null, 0)));
        this.checks.equal("by value, now", null, this.collection.findRelationshipsByPropertyValue(World.ADA,
            type, "historic two", 0, null, null, null, null, 0));
    }

    private void graph() throws Exception {
        Date then = this.changedLink.getUpdateTime();
        String start = this.term.getGUID();
        InstanceGraph around = this.collection.getEntityNeighborhood(World.ADA, start, null, null, null, null, then, 1);
        this.checks.same("neighbours", List.of(this.first, this.term), around.getEntities());
        this.checks.same("the relationships to them", List.of(this.link), around.getRelationships());
        InstanceGraph now = this.collection.getEntityNeighborhood(World.ADA, start, null, null, null, null, null, 1);
        this.checks.same("neighbours, now", List.of(this.term), now.getEntities());
        InstanceGraph between = this.collection.getLinkingEntities(World.ADA, start, this.first.getGUID(), null, then);
        this.checks.same("between", List.of(this.first, this.term), between.getEntities());
        this.checks.same("related", List.of(this.first, this.term), this.collection.getRelatedEntities(World.ADA, start,
            null, 0, null, null, then, null, null, 0));
        this.checks.same("related, now", List.of(this.term), this.collection.getRelatedEntities(World.ADA, start,
            null, 0, null, null, null, null, null, 0));
    }

    private void refused() throws Exception {
        String guid = this.term.getGUID();
        this.checks.refused("an entity in times to come", InvalidParameterException.class,
            () -> this.collection.getEntityDetail(World.ADA, guid, TO_COME));
        this.checks.refused("a relationship in times to come", InvalidParameterException.class,
            () -> this.collection.getRelationship(World.ADA, this.link.getGUID(), TO_COME));
        this.checks.refused("no time", InvalidParameterException.class,
            () -> this.collection.getEntityDetail(World.ADA, guid, null));
        this.checks.refused("a window that ends before it starts", InvalidParameterException.class,
            () -> history(this.goneAt, LONG_AGO, 0, 0, HistorySequencingOrder.FORWARDS));
        this.checks.refused("an empty window", InvalidParameterException.class,
            () -> history(this.goneAt, this.goneAt, 0, 0, HistorySequencingOrder.FORWARDS));
        this.checks.refused("neighbours in times to come", InvalidParameterException.class, () -> this.collection
            .getEntityNeighborhood(World.ADA, guid, null, null, null, null, TO_COME, 1));
        this.checks.refused("related in times to come", InvalidParameterException.class, () -> this.collection
            .getRelatedEntities(World.ADA, guid, null, 0, null, null, TO_COME, null, null, 0));
    }

    private void purged() throws Exception {
        this.collection.purgeEntity(World.ADA, this.world.type("DataFolder"), "DataFolder", this.first.getGUID());
        this.checks.refused("as it was", EntityNotKnownException.class, () -> at(this.second.getUpdateTime()));
        this.checks.refused("its versions", EntityNotKnownException.class,
            () -> history(null, null, 0, 0, HistorySequencingOrder.FORWARDS));
        this.checks.equal("found as it was", null, named("one", this.first.getCreateTime()));
    }
}
