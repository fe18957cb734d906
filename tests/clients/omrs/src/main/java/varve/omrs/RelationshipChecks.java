package varve.omrs;

import java.util.Date;
import java.util.List;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.SequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/** The life of a relationship, and those of one entity. */
final class RelationshipChecks {

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;
    private EntityDetail element;
    private EntityDetail term;

    RelationshipChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
    }

    void run() {
        this.checks.step("a new relationship", this::create);
        this.checks.step("changes of a relationship", this::change);
        this.checks.step("deleting a relationship", this::delete);
        this.checks.step("another identity of a relationship", this::reIdentify);
        this.checks.step("a relationship of an external source", this::external);
        this.checks.step("relationships of an entity", this::ofEntity);
        this.checks.step("refused relationships", this::refused);
    }

    private void create() throws Exception {
        this.element = this.world.entity("Database", "qualifiedName", "element", "name", "not unique");
        this.term = this.world.entity("GlossaryTerm", "qualifiedName", "term", "displayName", "t");
        this.collection.classifyEntity(World.ADA, this.term.getGUID(), "SpineObject", null);
        InstanceProperties properties = this.world.props("description", "why", "confidence", 90,
            "status", new World.Enum("TermAssignmentStatus", 1));
        properties.setEffectiveFromTime(new Date(1_500_000_000_000L));
        Relationship made = this.collection.addRelationship(World.ADA, this.world.type("SemanticAssignment"),
            properties, this.element.getGUID(), this.term.getGUID(), InstanceStatus.ACTIVE);
        this.checks.equal("createdBy", World.ADA, made.getCreatedBy());
        this.checks.holds("createTime", made.getCreateTime() != null);
        this.checks.equal("updateTime", null, made.getUpdateTime());
        this.checks.equal("version", 1L, made.getVersion());
        this.checks.equal("status", InstanceStatus.ACTIVE, made.getStatus());
        this.checks.equal("provenance", InstanceProvenanceType.LOCAL_COHORT, made.getInstanceProvenanceType());
        this.checks.equal("home", this.world.home, made.getMetadataCollectionId());
        this.checks.equal("type", "SemanticAssignment", made.getType().getTypeDefName());
        this.checks.equal("properties", properties, made.getProperties());
        EntityProxy one = made.getEntityOneProxy();
        EntityProxy two = made.getEntityTwoProxy();
        this.checks.equal("end one", this.element.getGUID(), one.getGUID());
        this.checks.equal("end two", this.term.getGUID(), two.getGUID());
        this.checks.equal("unique properties", this.world.props("qualifiedName", "element"), one.getUniqueProperties());
        this.checks.equal("classifications of an end", "SpineObject", two.getClassifications().get(0).getName());
        this.checks.equal("type of an end", "GlossaryTerm", two.getType().getTypeDefName());
        this.checks.equal("read", made, this.collection.getRelationship(World.BOB, made.getGUID()));
        this.checks.equal("known", made, this.collection.isRelationshipKnown(World.BOB, made.getGUID()));
        this.checks.equal("an unknown one", null, this.collection.isRelationshipKnown(World.ADA, "nope"));
        Relationship second = this.world.link("SemanticAssignment", this.element, this.term);
        this.checks.holds("two of one type between the same ends", !second.getGUID().equals(made.getGUID()));
        this.checks.equal("without properties", second, this.collection.getRelationship(World.ADA, second.getGUID()));
    }

    private void change() throws Exception {
        Relationship made = this.world.link("SemanticAssignment", this.element, this.term, "description", "one");
        String guid = made.getGUID();
        InstanceProperties other = this.world.props("description", "two", "source", "s");
        Relationship changed = this.collection.updateRelationshipProperties(World.BOB, guid, other);
        this.checks.equal("properties", other, changed.getProperties());
        this.checks.equal("version", 2L, changed.getVersion());
        this.checks.equal("updatedBy", World.BOB, changed.getUpdatedBy());
        this.checks.equal("maintainedBy", List.of(World.BOB), changed.getMaintainedBy());
        this.checks.equal("read", changed, this.collection.getRelationship(World.ADA, guid));
        Relationship active = this.collection.updateRelationshipStatus(World.ADA, guid, InstanceStatus.ACTIVE);
        this.checks.equal("version", 3L, active.getVersion());
        this.checks.equal("read", active, this.collection.getRelationship(World.ADA, guid));
        Relationship again = this.collection.updateRelationshipProperties(World.ADA, guid, this.world.props("source", "t"));
        this.checks.equal("version", 4L, again.getVersion());
        Relationship back = this.collection.undoRelationshipUpdate(World.ADA, guid);
        this.checks.equal("properties after undo", other, back.getProperties());
        this.checks.equal("version after undo", 5L, back.getVersion());
        this.checks.equal("read", back, this.collection.getRelationship(World.ADA, guid));
    }

    private void delete() throws Exception {
        Relationship made = this.world.link("SemanticAssignment", this.element, this.term, "description", "gone");
        String guid = made.getGUID();
        String type = this.world.type("SemanticAssignment");
        Relationship deleted = this.collection.deleteRelationship(World.BOB, type, "SemanticAssignment", guid);
        this.checks.equal("status", InstanceStatus.DELETED, deleted.getStatus());
        this.checks.equal("statusOnDelete", InstanceStatus.ACTIVE, deleted.getStatusOnDelete());
        this.checks.equal("version", 2L, deleted.getVersion());
        this.checks.refused("reading it", RelationshipNotKnownException.class,
            () -> this.collection.getRelationship(World.ADA, guid));
        this.checks.equal("still known", deleted, this.collection.isRelationshipKnown(World.ADA, guid));
        Relationship restored = this.collection.restoreRelationship(World.ADA, guid);
        this.checks.equal("status", InstanceStatus.ACTIVE, restored.getStatus());
        this.checks.equal("version", 3L, restored.getVersion());
        this.checks.equal("read", restored, this.collection.getRelationship(World.ADA, guid));
        this.checks.refused("restoring what is there", RelationshipNotDeletedException.class,
            () -> this.collection.restoreRelationship(World.ADA, guid));
        this.checks.refused("purging what is there", RelationshipNotDeletedException.class,
            () -> this.collection.purgeRelationship(World.ADA, type, "SemanticAssignment", guid));
        this.collection.deleteRelationship(World.ADA, type, "SemanticAssignment", guid);
        this.collection.purgeRelationship(World.ADA, type, "SemanticAssignment", guid);
        this.checks.equal("purged", null, this.collection.isRelationshipKnown(World.ADA, guid));
        this.checks.refused("restoring what is purged", RelationshipNotKnownException.class,
            () -> this.collection.restoreRelationship(World.ADA, guid));
    }

    private void reIdentify() throws Exception {
        Relationship made = this.world.link("SemanticAssignment", this.element, this.term, "description", "id");
        Relationship renamed = this.collection.reIdentifyRelationship(World.BOB, this.world.type("SemanticAssignment"),
            "SemanticAssignment", made.getGUID(), "another/relationship");
        this.checks.equal("GUID", "another/relationship", renamed.getGUID());
        this.checks.equal("the former GUID", made.getGUID(), renamed.getReIdentifiedFromGUID());
        this.checks.equal("version", 2L, renamed.getVersion());
        this.checks.equal("read", renamed, this.collection.getRelationship(World.ADA, "another/relationship"));
        this.checks.refused("the former GUID", RelationshipNotKnownException.class,
            () -> this.collection.getRelationship(World.ADA, made.getGUID()));
        // No relationship type of the standard has a subtype: its own type is the one it can take.
        Relationship typed = this.collection.reTypeRelationship(World.BOB, "another/relationship",
            this.world.def("SemanticAssignment"), this.world.def("SemanticAssignment"));
        this.checks.equal("type", "SemanticAssignment", typed.getType().getTypeDefName());
        this.checks.refused("a type without its properties", PropertyErrorException.class,
            () -> this.collection.reTypeRelationship(World.BOB, "another/relationship",
                this.world.def("SemanticAssignment"), this.world.def("MoreInformation")));
        this.checks.refused("an unknown one", RelationshipNotKnownException.class,
            () -> this.collection.reTypeRelationship(World.BOB, "nope", this.world.def("SemanticAssignment"),
                                                     this.world.def("SemanticAssignment")));
    }

    private void external() throws Exception {
        Relationship made = this.collection.addExternalRelationship(World.ADA, this.world.type("SemanticAssignment"),
            "source-guid", "source", null, this.element.getGUID(), this.term.getGUID(), null);
        this.checks.equal("provenance", InstanceProvenanceType.EXTERNAL_SOURCE, made.getInstanceProvenanceType());
        this.checks.equal("home", "source-guid", made.getMetadataCollectionId());
        this.checks.equal("replicatedBy", this.world.home, made.getReplicatedBy());
        this.checks.equal("read", made, this.collection.getRelationship(World.ADA, made.getGUID()));
    }

    private void ofEntity() throws Exception {
        EntityDetail centre = this.world.entity("GlossaryTerm", "qualifiedName", "centre");
        EntityDetail glossary = this.world.entity("Glossary", "qualifiedName", "glossary of the centre");
        Relationship anchor = this.world.link("TermAnchor", glossary, centre);
        World.tick();
        Relationship first = this.world.link("SemanticAssignment", this.element, centre, "source", "a");
        World.tick();
        Relationship second = this.world.link("SemanticAssignment", this.element, centre, "source", "b");
        String guid = centre.getGUID();
        this.checks.same("all", List.of(anchor, first, second), this.collection.getRelationshipsForEntity(World.ADA,
            guid, null, 0, null, null, null, null, 0));
        this.checks.inOrder("of a type, oldest first", List.of(first, second),
            this.collection.getRelationshipsForEntity(World.ADA, guid, this.world.type("SemanticAssignment"), 0, null,
                null, null, SequencingOrder.CREATION_DATE_OLDEST, 0));
        this.checks.inOrder("by a property", List.of(second, first), this.collection.getRelationshipsForEntity(World.ADA,
            guid, this.world.type("SemanticAssignment"), 0, null, null, "source", SequencingOrder.PROPERTY_DESCENDING, 0));
        this.checks.inOrder("the second page of one", List.of(first), this.collection.getRelationshipsForEntity(World.ADA,
            guid, null, 1, null, null, null, SequencingOrder.CREATION_DATE_OLDEST, 1));
        this.collection.deleteRelationship(World.ADA, this.world.type("SemanticAssignment"), "SemanticAssignment",
                                           second.getGUID());
        this.checks.same("without the deleted one", List.of(anchor, first), this.collection.getRelationshipsForEntity(
            World.ADA, guid, null, 0, null, null, null, null, 0));
        this.checks.same("the deleted one", List.of(second), this.collection.getRelationshipsForEntity(World.ADA,
            guid, null, 0, List.of(InstanceStatus.DELETED), null, null, null, 0));
        this.checks.refused("of an unknown entity", EntityNotKnownException.class,
            () -> this.collection.getRelationshipsForEntity(World.ADA, "nope", null, 0, null, null, null, null, 0));
        this.checks.refused("of an unknown type", TypeErrorException.class,
            () -> this.collection.getRelationshipsForEntity(World.ADA, guid, "nope", 0, null, null, null, null, 0));
        this.checks.refused("a negative page", PagingErrorException.class,
            () -> this.collection.getRelationshipsForEntity(World.ADA, guid, null, 0, null, null, null, null, -1));
    }

    private void refused() throws Exception {
        String type = this.world.type("SemanticAssignment");
        String one = this.element.getGUID();
        String two = this.term.getGUID();
        this.checks.refused("an unknown type", TypeErrorException.class,
            () -> this.collection.addRelationship(World.ADA, "nope", null, one, two, null));
        this.checks.refused("an unknown end", EntityNotKnownException.class,
            () -> this.collection.addRelationship(World.ADA, type, null, one, "nope", null));
        this.checks.refused("ends of other types", InvalidParameterException.class,
            () -> this.collection.addRelationship(World.ADA, type, null, two, one, null));
        this.checks.refused("an unknown property", PropertyErrorException.class,
            () -> this.world.link("SemanticAssignment", this.element, this.term, "nope", "x"));
        this.checks.refused("a status that its type has not", StatusNotSupportedException.class,
            () -> this.collection.addRelationship(World.ADA, type, null, one, two, InstanceStatus.DRAFT));
        this.checks.refused("an unknown one", RelationshipNotKnownException.class,
            () -> this.collection.getRelationship(World.ADA, "nope"));
        this.checks.refused("changing an unknown one", RelationshipNotKnownException.class,
            () -> this.collection.updateRelationshipProperties(World.ADA, "nope", this.world.props("source", "x")));
        this.checks.refused("the status of an unknown one", RelationshipNotKnownException.class,
            () -> this.collection.updateRelationshipStatus(World.ADA, "nope", InstanceStatus.ACTIVE));
        this.checks.refused("undo of an unknown one", RelationshipNotKnownException.class,
            () -> this.collection.undoRelationshipUpdate(World.ADA, "nope"));
        this.checks.refused("deleting an unknown one", RelationshipNotKnownException.class,
            () -> this.collection.deleteRelationship(World.ADA, type, "SemanticAssignment", "nope"));
        Relationship homed = this.world.link("SemanticAssignment", this.element, this.term);
        this.checks.refused("the status DELETED", StatusNotSupportedException.class,
            () -> this.collection.updateRelationshipStatus(World.ADA, homed.getGUID(), InstanceStatus.DELETED));
        this.checks.refused("another home for what is homed here", InvalidParameterException.class,
            () -> this.collection.reHomeRelationship(World.ADA, homed.getGUID(), type, "SemanticAssignment",
                this.world.home, World.ELSEWHERE, World.ELSEWHERE_NAME));
    }
}
