package varve.omrs;

import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntitySummary;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/** The life of an entity: made, read, changed, taken back, deleted, restored, purged, given another type or identity. */
final class EntityChecks {

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;

    EntityChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
    }

    void run() {
        this.checks.step("a new entity", this::create);
        this.checks.step("a new entity with everything", this::createWithEverything);
        this.checks.step("changes of an entity", this::change);
        this.checks.step("undo of an entity", this::undo);
        this.checks.step("deleting an entity", this::delete);
        this.checks.step("deleting an entity with relationships", this::deleteWithRelationships);
        this.checks.step("another identity of an entity", this::reIdentify);
        this.checks.step("another type of an entity", this::reType);
        this.checks.step("an entity of an external source", this::external);
        this.checks.step("refused entities", this::refused);
        this.checks.step("refused changes of entities", this::refusedChanges);
    }

    private void create() throws Exception {
        Date before = new Date();
        EntityDetail made = this.world.entity("Database", "qualifiedName", "made/ä b+c", "name", "made");
        Date after = new Date();
        this.checks.equal("createdBy", World.ADA, made.getCreatedBy());
        this.checks.holds("createTime", !made.getCreateTime().before(before) && !made.getCreateTime().after(after));
        this.checks.equal("updatedBy", null, made.getUpdatedBy());
        this.checks.equal("updateTime", null, made.getUpdateTime());
        this.checks.equal("maintainedBy", null, made.getMaintainedBy());
        this.checks.equal("version", 1L, made.getVersion());
        this.checks.equal("status", InstanceStatus.ACTIVE, made.getStatus());
        this.checks.equal("statusOnDelete", null, made.getStatusOnDelete());
        this.checks.equal("provenance", InstanceProvenanceType.LOCAL_COHORT, made.getInstanceProvenanceType());
        this.checks.equal("home", this.world.home, made.getMetadataCollectionId());
        this.checks.equal("type", "Database", made.getType().getTypeDefName());
        this.checks.equal("type's GUID", this.world.type("Database"), made.getType().getTypeDefGUID());
        this.checks.equal("type's version", this.world.def("Database").getVersion(), made.getType().getTypeDefVersion());
        this.checks.equal("classifications", null, made.getClassifications());
        this.checks.equal("read", made, this.collection.getEntityDetail(World.BOB, made.getGUID()));
        this.checks.equal("known", made, this.collection.isEntityKnown(World.BOB, made.getGUID()));
        EntitySummary summary = this.collection.getEntitySummary(World.BOB, made.getGUID());
        this.checks.equal("summary", new EntitySummary(made), new EntitySummary(summary));
        this.checks.equal("relationships", null, this.collection.getRelationshipsForEntity(World.ADA, made.getGUID(),
            null, 0, null, null, null, null, 0));
        this.checks.equal("an unknown one", null, this.collection.isEntityKnown(World.ADA, "nope"));
    }

    private void createWithEverything() throws Exception {
        InstanceProperties properties = this.world.props("qualifiedName", "all", "name", "\\Q \"all\" \n ü",
            "zoneMembership", List.of("b", "a", "b"), "additionalProperties", Map.of("k", "v", "", "empty"),
            "ownerType", new World.Enum("AssetOwnerType", 1), "modifiedTime", new Date(1_600_000_000_001L));
        properties.setEffectiveFromTime(new Date(1_500_000_000_000L));
        properties.setEffectiveToTime(new Date(1_900_000_000_000L));
        Classification classification = this.world.helper.getSkeletonClassification(World.ADA, World.ADA,
            "Confidentiality", "Database");
        classification.setProperties(this.world.props("level", 3, "notes", "initial"));
        EntityDetail made = this.collection.addEntity(World.ADA, this.world.type("Database"), properties,
            new ArrayList<>(List.of(classification)), InstanceStatus.ACTIVE);
        EntityDetail read = this.collection.getEntityDetail(World.ADA, made.getGUID());
        this.checks.equal("read", made, read);
        this.checks.equal("properties", properties, read.getProperties());
        this.checks.equal("from", properties.getEffectiveFromTime(), read.getProperties().getEffectiveFromTime());
        this.checks.equal("to", properties.getEffectiveToTime(), read.getProperties().getEffectiveToTime());
        this.checks.equal("classifications", 1, read.getClassifications().size());
        Classification found = read.getClassifications().get(0);
        this.checks.equal("its name", "Confidentiality", found.getName());
        this.checks.equal("its properties", classification.getProperties(), found.getProperties());
        EntityDetail process = this.world.entity("Process", "qualifiedName", "process");
        this.checks.equal("initial status of the type", InstanceStatus.DRAFT, process.getStatus());
        EntityDetail proposed = this.collection.addEntity(World.ADA, this.world.type("Process"),
            this.world.props("qualifiedName", "proposed"), null, InstanceStatus.PROPOSED);
        this.checks.equal("initial status asked for", InstanceStatus.PROPOSED, proposed.getStatus());
        EntityDetail bare = this.collection.addEntity(World.ADA, this.world.type("Database"), null, null, null);
        this.checks.equal("without properties", bare, this.collection.getEntityDetail(World.ADA, bare.getGUID()));
    }

    private void change() throws Exception {
        EntityDetail made = this.world.entity("Process", "qualifiedName", "change", "name", "one", "description", "x");
        String guid = made.getGUID();
        InstanceProperties other = this.world.props("qualifiedName", "change", "name", "two");
        EntityDetail changed = this.collection.updateEntityProperties(World.BOB, guid, other);
        this.checks.equal("all properties are replaced", other, changed.getProperties());
        this.checks.equal("version", 2L, changed.getVersion());
        this.checks.equal("createdBy", World.ADA, changed.getCreatedBy());
        this.checks.equal("createTime", made.getCreateTime(), changed.getCreateTime());
        this.checks.equal("updatedBy", World.BOB, changed.getUpdatedBy());
        this.checks.equal("maintainedBy", List.of(World.BOB), changed.getMaintainedBy());
        this.checks.holds("updateTime", !changed.getUpdateTime().before(made.getCreateTime()));
        this.checks.equal("read", changed, this.collection.getEntityDetail(World.ADA, guid));
        EntityDetail approved = this.collection.updateEntityStatus(World.ADA, guid, InstanceStatus.APPROVED);
        this.checks.equal("status", InstanceStatus.APPROVED, approved.getStatus());
        this.checks.equal("version", 3L, approved.getVersion());
        this.checks.equal("maintainedBy", List.of(World.BOB, World.ADA), approved.getMaintainedBy());
        this.checks.equal("properties", other, approved.getProperties());
        this.checks.equal("read", approved, this.collection.getEntityDetail(World.ADA, guid));
        EntityDetail cleared = this.collection.updateEntityProperties(World.BOB, guid, new InstanceProperties());
        this.checks.holds("no properties", cleared.getProperties() == null
            || cleared.getProperties().getPropertyCount() == 0);
        this.checks.equal("read", cleared, this.collection.getEntityDetail(World.ADA, guid));
    }

    private void undo() throws Exception {
        EntityDetail made = this.world.entity("Process", "qualifiedName", "undo", "name", "one");
        String guid = made.getGUID();
        this.collection.updateEntityProperties(World.ADA, guid, this.world.props("qualifiedName", "undo", "name", "two"));
        EntityDetail back = this.collection.undoEntityUpdate(World.BOB, guid);
        this.checks.equal("properties", made.getProperties(), back.getProperties());
        this.checks.equal("version", 3L, back.getVersion());
        this.checks.equal("updatedBy", World.BOB, back.getUpdatedBy());
        this.checks.equal("read", back, this.collection.getEntityDetail(World.ADA, guid));
    }

    private void delete() throws Exception {
        EntityDetail made = this.world.entity("Process", "qualifiedName", "delete", "name", "one");
        String guid = made.getGUID();
        String type = this.world.type("Process");
        EntityDetail deleted = this.collection.deleteEntity(World.BOB, type, "Process", guid);
        this.checks.equal("status", InstanceStatus.DELETED, deleted.getStatus());
        this.checks.equal("statusOnDelete", InstanceStatus.DRAFT, deleted.getStatusOnDelete());
        this.checks.equal("version", 2L, deleted.getVersion());
        this.checks.refused("reading it", EntityNotKnownException.class,
            () -> this.collection.getEntityDetail(World.ADA, guid));
        this.checks.refused("reading its summary", EntityNotKnownException.class,
            () -> this.collection.getEntitySummary(World.ADA, guid));
        this.checks.equal("still known", deleted, this.collection.isEntityKnown(World.ADA, guid));
        EntityDetail restored = this.collection.restoreEntity(World.ADA, guid);
        this.checks.equal("status", InstanceStatus.DRAFT, restored.getStatus());
        this.checks.equal("statusOnDelete", null, restored.getStatusOnDelete());
        this.checks.equal("version", 3L, restored.getVersion());
        this.checks.equal("properties", made.getProperties(), restored.getProperties());
        this.checks.equal("read", restored, this.collection.getEntityDetail(World.ADA, guid));
        this.checks.refused("restoring what is there", EntityNotDeletedException.class,
            () -> this.collection.restoreEntity(World.ADA, guid));
        this.checks.refused("purging what is there", EntityNotDeletedException.class,
            () -> this.collection.purgeEntity(World.ADA, type, "Process", guid));
        this.collection.deleteEntity(World.ADA, type, "Process", guid);
        this.collection.purgeEntity(World.ADA, type, "Process", guid);
        this.checks.equal("purged", null, this.collection.isEntityKnown(World.ADA, guid));
        this.checks.refused("reading what is purged", EntityNotKnownException.class,
            () -> this.collection.getEntityDetail(World.ADA, guid));
        this.checks.refused("restoring what is purged", EntityNotKnownException.class,
            () -> this.collection.restoreEntity(World.ADA, guid));
    }

    private void deleteWithRelationships() throws Exception {
        EntityDetail glossary = this.world.entity("Glossary", "qualifiedName", "deleted glossary");
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "deleted term");
        Relationship anchor = this.world.link("TermAnchor", glossary, term);
        this.collection.deleteEntity(World.ADA, this.world.type("GlossaryTerm"), "GlossaryTerm", term.getGUID());
        this.checks.refused("its relationship", RelationshipNotKnownException.class,
            () -> this.collection.getRelationship(World.ADA, anchor.getGUID()));
        this.checks.equal("the relationships of the other end", null, this.collection.getRelationshipsForEntity(
            World.ADA, glossary.getGUID(), null, 0, null, null, null, null, 0));
        this.checks.equal("its relationship is deleted", InstanceStatus.DELETED,
                          this.collection.isRelationshipKnown(World.ADA, anchor.getGUID()).getStatus());
        this.collection.purgeEntity(World.ADA, this.world.type("GlossaryTerm"), "GlossaryTerm", term.getGUID());
        this.checks.equal("its relationship is purged", null,
                          this.collection.isRelationshipKnown(World.ADA, anchor.getGUID()));
    }

    private void reIdentify() throws Exception {
        EntityDetail made = this.world.entity("Glossary", "qualifiedName", "identity");
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "identity term");
        Relationship anchor = this.world.link("TermAnchor", made, term);
        String wanted = "Any-Text.is a GUID/é";
        EntityDetail renamed = this.collection.reIdentifyEntity(World.BOB, this.world.type("Glossary"), "Glossary",
            made.getGUID(), wanted);
        this.checks.equal("GUID", wanted, renamed.getGUID());
        this.checks.equal("the former GUID", made.getGUID(), renamed.getReIdentifiedFromGUID());
        this.checks.equal("version", 2L, renamed.getVersion());
        this.checks.equal("properties", made.getProperties(), renamed.getProperties());
        this.checks.equal("read", renamed, this.collection.getEntityDetail(World.ADA, wanted));
        this.checks.refused("the former GUID", EntityNotKnownException.class,
            () -> this.collection.getEntityDetail(World.ADA, made.getGUID()));
        Relationship moved = this.collection.getRelationship(World.ADA, anchor.getGUID());
        this.checks.equal("its relationship follows", wanted, moved.getEntityOneProxy().getGUID());
        this.checks.same("its relationships", List.of(anchor), this.collection.getRelationshipsForEntity(World.ADA,
            wanted, null, 0, null, null, null, null, 0));
        this.checks.refused("an unknown one", EntityNotKnownException.class, () -> this.collection.reIdentifyEntity(
            World.ADA, this.world.type("Glossary"), "Glossary", "nope", "other"));
    }

    private void reType() throws Exception {
        EntityDetail made = this.world.entity("DataFile", "qualifiedName", "type", "fileType", "x");
        EntityDetail other = this.collection.reTypeEntity(World.BOB, made.getGUID(), this.world.def("DataFile"),
            this.world.def("CSVFile"));
        this.checks.equal("type", "CSVFile", other.getType().getTypeDefName());
        this.checks.equal("version", 2L, other.getVersion());
        this.checks.equal("properties", made.getProperties(), other.getProperties());
        this.checks.equal("read", other, this.collection.getEntityDetail(World.ADA, made.getGUID()));
        this.checks.refused("a type without its properties", PropertyErrorException.class,
            () -> this.collection.reTypeEntity(World.BOB, made.getGUID(), this.world.def("CSVFile"),
                                               this.world.def("Database")));
        this.checks.refused("an unknown one", EntityNotKnownException.class, () -> this.collection.reTypeEntity(
            World.BOB, "nope", this.world.def("DataFile"), this.world.def("CSVFile")));
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "type of a term");
        this.collection.classifyEntity(World.ADA, term.getGUID(), "SpineObject", null);
        this.checks.refused("a type without its classification", ClassificationErrorException.class,
            () -> this.collection.reTypeEntity(World.ADA, term.getGUID(), this.world.def("GlossaryTerm"),
                                               this.world.def("Referenceable")));
    }

    private void external() throws Exception {
        EntityDetail made = this.collection.addExternalEntity(World.ADA, this.world.type("Database"), "source-guid",
            "source", this.world.props("qualifiedName", "external"), null, null);
        this.checks.equal("provenance", InstanceProvenanceType.EXTERNAL_SOURCE, made.getInstanceProvenanceType());
        this.checks.equal("home", "source-guid", made.getMetadataCollectionId());
        this.checks.equal("home's name", "source", made.getMetadataCollectionName());
        this.checks.equal("replicatedBy", this.world.home, made.getReplicatedBy());
        this.checks.equal("read", made, this.collection.getEntityDetail(World.ADA, made.getGUID()));
        EntityDetail changed = this.collection.updateEntityProperties(World.ADA, made.getGUID(),
            this.world.props("qualifiedName", "external, changed"));
        this.checks.equal("it can be changed here", 2L, changed.getVersion());
    }

    private void refused() throws Exception {
        String database = this.world.type("Database");
        this.checks.refused("an unknown type", TypeErrorException.class,
            () -> this.collection.addEntity(World.ADA, "nope", null, null, null));
        this.checks.refused("a type of relationships", TypeErrorException.class,
            () -> this.collection.addEntity(World.ADA, this.world.type("TermAnchor"), null, null, null));
        this.checks.refused("an unknown property", PropertyErrorException.class,
            () -> this.world.entity("Database", "nope", "x"));
        this.checks.refused("a property of another kind", PropertyErrorException.class,
            () -> this.world.entity("Database", "name", 5));
        this.checks.refused("a status that its type has not", StatusNotSupportedException.class,
            () -> this.collection.addEntity(World.ADA, database, null, null, InstanceStatus.DRAFT));
        Classification spine = this.world.helper.getSkeletonClassification(World.ADA, World.ADA, "SpineObject",
            "GlossaryTerm");
        this.checks.refused("a classification for other types", ClassificationErrorException.class,
            () -> this.collection.addEntity(World.ADA, database, null, new ArrayList<>(List.of(spine)), null));
        this.checks.refused("no GUID", InvalidParameterException.class,
            () -> this.collection.addEntity(World.ADA, null, null, null, null));
        this.checks.refused("an unknown one", EntityNotKnownException.class,
            () -> this.collection.getEntityDetail(World.ADA, "nope"));
        this.checks.refused("the summary of an unknown one", EntityNotKnownException.class,
            () -> this.collection.getEntitySummary(World.ADA, "nope"));
        this.checks.refused("an external one without a source", InvalidParameterException.class,
            () -> this.collection.addExternalEntity(World.ADA, database, null, null, null, null, null));
    }

    private void refusedChanges() throws Exception {
        EntityDetail made = this.world.entity("Database", "qualifiedName", "refused");
        String guid = made.getGUID();
        String type = this.world.type("Database");
        this.checks.refused("an unknown one", EntityNotKnownException.class,
            () -> this.collection.updateEntityProperties(World.ADA, "nope", this.world.props("name", "x")));
        this.checks.refused("an unknown property", PropertyErrorException.class,
            () -> this.collection.updateEntityProperties(World.ADA, guid, this.world.props("nope", "x")));
        this.checks.refused("a status that its type has not", StatusNotSupportedException.class,
            () -> this.collection.updateEntityStatus(World.ADA, guid, InstanceStatus.DRAFT));
        this.checks.refused("the status DELETED", StatusNotSupportedException.class,
            () -> this.collection.updateEntityStatus(World.ADA, guid, InstanceStatus.DELETED));
        this.checks.refused("the status of an unknown one", EntityNotKnownException.class,
            () -> this.collection.updateEntityStatus(World.ADA, "nope", InstanceStatus.ACTIVE));
        this.checks.refused("undo of an unknown one", EntityNotKnownException.class,
            () -> this.collection.undoEntityUpdate(World.ADA, "nope"));
        this.checks.refused("deleting an unknown one", EntityNotKnownException.class,
            () -> this.collection.deleteEntity(World.ADA, type, "Database", "nope"));
        this.checks.refused("deleting it as another type", InvalidParameterException.class,
            () -> this.collection.deleteEntity(World.ADA, this.world.type("Glossary"), "Glossary", guid));
        this.checks.equal("untouched", made, this.collection.getEntityDetail(World.ADA, guid));
        this.collection.deleteEntity(World.ADA, type, "Database", guid);
        this.checks.refused("changing what is deleted", EntityNotKnownException.class,
            () -> this.collection.updateEntityProperties(World.ADA, guid, this.world.props("name", "x")));
        this.checks.refused("another home for what is homed here", InvalidParameterException.class,
            () -> this.collection.reHomeEntity(World.ADA, this.world.entity("Database", "qualifiedName", "homed")
                .getGUID(), type, "Database", this.world.home, World.ELSEWHERE, World.ELSEWHERE_NAME));
    }
}
