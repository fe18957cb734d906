package varve.omrs;

import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ClassificationOrigin;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceGraph;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/** Copies of what other repositories hold, proxies, and moving the home of an instance. */
final class CopyChecks {

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;

    CopyChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
    }

    void run() {
        this.checks.step("a copy of an entity", this::entityCopy);
        this.checks.step("removing copies of entities", this::removeEntityCopies);
        this.checks.step("a copy of a relationship", this::relationshipCopy);
        this.checks.step("removing copies of relationships", this::removeRelationshipCopies);
        this.checks.step("copies of classifications", this::classificationCopies);
        this.checks.step("many copies at once", this::many);
        this.checks.step("proxies", this::proxies);
        this.checks.step("another home", this::reHome);
        this.checks.step("the update lock", this::locked);
        this.checks.step("refused copies of entities", this::refusedEntities);
        this.checks.step("refused copies of relationships", this::refusedRelationships);
    }

    private void entityCopy() throws Exception {
        EntityDetail copy = this.world.foreign("Glossary", "copy 1", "qualifiedName", "copied", "displayName", "one");
        copy.setVersion(7);
        copy.setUpdatedBy("mallory");
        copy.setUpdateTime(new Date(copy.getCreateTime().getTime() + 1));
        copy.setMaintainedBy(new ArrayList<>(List.of("eve", "mallory")));
        copy.setMappingProperties(Map.of("theirs", "42"));
        copy.setInstanceLicense("CC");
        this.collection.saveEntityReferenceCopy(World.ADA, copy);
        this.checks.equal("verbatim", copy, this.collection.getEntityDetail(World.ADA, "copy 1"));
        this.checks.equal("known", copy, this.collection.isEntityKnown(World.ADA, "copy 1"));
        EntityDetail older = new EntityDetail(copy);
        older.setVersion(6);
        older.setProperties(this.world.props("qualifiedName", "older"));
        this.collection.saveEntityReferenceCopy(World.ADA, older);
        this.checks.equal("an older one does not replace it", copy, this.collection.getEntityDetail(World.ADA, "copy 1"));
        EntityDetail newer = new EntityDetail(copy);
        newer.setVersion(8);
        newer.setProperties(this.world.props("qualifiedName", "newer"));
        this.collection.saveEntityReferenceCopy(World.ADA, newer);
        this.checks.equal("a newer one does", newer, this.collection.getEntityDetail(World.ADA, "copy 1"));
        this.checks.same("found like any other", List.of(newer), this.collection.findEntitiesByPropertyValue(World.ADA,
            this.world.type("Glossary"), "newer", 0, null, null, null, null, null, 0));
        this.collection.refreshEntityReferenceCopy(World.ADA, "copy 1", this.world.type("Glossary"), "Glossary",
                                                   World.ELSEWHERE);
        this.checks.equal("after a refresh", newer, this.collection.getEntityDetail(World.ADA, "copy 1"));
    }

    private void removeEntityCopies() throws Exception {
        String type = this.world.type("Glossary");
        this.collection.purgeEntityReferenceCopy(World.ADA, "copy 1", type, "Glossary", World.ELSEWHERE);
        this.checks.equal("purged by its id", null, this.collection.isEntityKnown(World.ADA, "copy 1"));
        EntityDetail second = this.world.foreign("Glossary", "copy 2", "qualifiedName", "copied");
        this.collection.saveEntityReferenceCopy(World.ADA, second);
        this.collection.purgeEntityReferenceCopy(World.ADA, second);
        this.checks.equal("purged", null, this.collection.isEntityKnown(World.ADA, "copy 2"));
        EntityDetail third = this.world.foreign("Glossary", "copy 3", "qualifiedName", "copied");
        this.collection.saveEntityReferenceCopy(World.ADA, third);
        third.setStatusOnDelete(third.getStatus());
        third.setStatus(InstanceStatus.DELETED);
        third.setVersion(third.getVersion() + 1);
        this.collection.deleteEntityReferenceCopy(World.ADA, third);
        this.checks.refused("deleted", EntityNotKnownException.class,
            () -> this.collection.getEntityDetail(World.ADA, "copy 3"));
    }

    private void relationshipCopy() throws Exception {
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "end of a copy");
        EntityDetail unknown = this.world.foreign("Glossary", "unknown end", "qualifiedName", "elsewhere");
        Relationship copy = this.world.foreignLink("TermAnchor", "link copy", unknown, term);
        copy.setVersion(3);
        copy.setMappingProperties(Map.of("theirs", "43"));
        this.collection.saveRelationshipReferenceCopy(World.ADA, copy);
        Relationship read = this.collection.getRelationship(World.ADA, "link copy");
        this.checks.equal("version", 3L, read.getVersion());
        this.checks.equal("home", World.ELSEWHERE, read.getMetadataCollectionId());
        this.checks.equal("mapping properties", copy.getMappingProperties(), read.getMappingProperties());
        this.checks.equal("createdBy", "eve", read.getCreatedBy());
        this.checks.equal("one end", "unknown end", read.getEntityOneProxy().getGUID());
        this.checks.equal("its unique properties", this.world.props("qualifiedName", "elsewhere"),
                          read.getEntityOneProxy().getUniqueProperties());
        this.checks.equal("the other end", term.getGUID(), read.getEntityTwoProxy().getGUID());
        this.checks.refused("the end is a proxy only", EntityProxyOnlyException.class,
            () -> this.collection.getEntityDetail(World.ADA, "unknown end"));
        this.checks.equal("its summary", "unknown end",
                          this.collection.getEntitySummary(World.ADA, "unknown end").getGUID());
        this.checks.equal("a proxy is no known entity", null, this.collection.isEntityKnown(World.ADA, "unknown end"));
        this.checks.same("relationships of a proxy", List.of(copy), this.collection.getRelationshipsForEntity(World.ADA,
            "unknown end", null, 0, null, null, null, null, 0));
        this.checks.same("relationships of the other end", List.of(copy), this.collection.getRelationshipsForEntity(
            World.ADA, term.getGUID(), null, 0, null, null, null, null, 0));
        this.collection.refreshRelationshipReferenceCopy(World.ADA, "link copy", this.world.type("TermAnchor"),
                                                         "TermAnchor", World.ELSEWHERE);
        this.collection.saveEntityReferenceCopy(World.ADA, unknown);
        this.checks.equal("a copy in the place of a proxy", unknown,
                          this.collection.getEntityDetail(World.ADA, "unknown end"));
    }

    private void removeRelationshipCopies() throws Exception {
        String type = this.world.type("TermAnchor");
        this.collection.purgeRelationshipReferenceCopy(World.ADA, "link copy", type, "TermAnchor", World.ELSEWHERE);
        this.checks.equal("purged by its id", null, this.collection.isRelationshipKnown(World.ADA, "link copy"));
        EntityDetail glossary = this.world.entity("Glossary", "qualifiedName", "end one of copies");
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "end two of copies");
        Relationship second = this.world.foreignLink("TermAnchor", "link copy 2", glossary, term);
        this.collection.saveRelationshipReferenceCopy(World.ADA, second);
        this.collection.purgeRelationshipReferenceCopy(World.ADA, second);
        this.checks.equal("purged", null, this.collection.isRelationshipKnown(World.ADA, "link copy 2"));
        Relationship third = this.world.foreignLink("TermAnchor", "link copy 3", glossary, term);
        this.collection.saveRelationshipReferenceCopy(World.ADA, third);
        third.setStatusOnDelete(third.getStatus());
        third.setStatus(InstanceStatus.DELETED);
        third.setVersion(third.getVersion() + 1);
        this.collection.deleteRelationshipReferenceCopy(World.ADA, third);
        this.checks.refused("deleted", RelationshipNotKnownException.class,
            () -> this.collection.getRelationship(World.ADA, "link copy 3"));
        this.checks.equal("the relationships of an end", null, this.collection.getRelationshipsForEntity(World.ADA,
            term.getGUID(), null, 0, null, null, null, null, 0));
    }

    private void classificationCopies() throws Exception {
        EntityDetail entity = this.world.entity("Glossary", "qualifiedName", "classified elsewhere");
        Classification foreign = this.world.helper.getNewClassification(World.ADA, World.ELSEWHERE, World.ELSEWHERE_NAME,
            InstanceProvenanceType.LOCAL_COHORT, "eve", "Confidentiality", "Glossary", ClassificationOrigin.ASSIGNED, null,
            this.world.props("level", 9));
        this.collection.saveClassificationReferenceCopy(World.ADA, entity, foreign);
        EntityDetail read = this.collection.getEntityDetail(World.ADA, entity.getGUID());
        this.checks.equal("verbatim", List.of(foreign), read.getClassifications());
        this.checks.equal("the entity's version", 1L, read.getVersion());
        this.checks.equal("not at home here", null, this.collection.getHomeClassifications(World.ADA, entity.getGUID()));
        this.collection.purgeClassificationReferenceCopy(World.ADA, entity, foreign);
        this.checks.equal("purged", null,
                          this.collection.getEntityDetail(World.ADA, entity.getGUID()).getClassifications());
        EntityProxy proxy = this.world.helper.getNewEntityProxy(World.ADA, entity);
        this.collection.saveClassificationReferenceCopy(World.ADA, proxy, foreign);
        this.checks.equal("by proxy", List.of(foreign),
                          this.collection.getEntityDetail(World.ADA, entity.getGUID()).getClassifications());
        this.collection.purgeClassificationReferenceCopy(World.ADA, proxy, foreign);
        this.checks.equal("purged by proxy", null,
                          this.collection.getEntityDetail(World.ADA, entity.getGUID()).getClassifications());
    }

    private void many() throws Exception {
        EntityDetail glossary = this.world.foreign("Glossary", "many one", "qualifiedName", "many one");
        EntityDetail term = this.world.foreign("GlossaryTerm", "many two", "qualifiedName", "many two");
        Relationship link = this.world.foreignLink("TermAnchor", "many link", glossary, term);
        InstanceGraph graph = new InstanceGraph();
        graph.setEntities(new ArrayList<>(List.of(glossary, term)));
        graph.setRelationships(new ArrayList<>(List.of(link)));
        this.collection.saveInstanceReferenceCopies(World.ADA, graph);
        this.checks.equal("one", glossary, this.collection.getEntityDetail(World.ADA, "many one"));
        this.checks.equal("two", term, this.collection.getEntityDetail(World.ADA, "many two"));
        this.checks.equal("link", "many two",
                          this.collection.getRelationship(World.ADA, "many link").getEntityTwoProxy().getGUID());
    }

    private void proxies() throws Exception {
        EntityDetail elsewhere = this.world.foreign("Glossary", "proxy 1", "qualifiedName", "a proxy", "displayName", "x");
        EntityProxy proxy = this.world.helper.getNewEntityProxy(World.ADA, elsewhere);
        this.collection.addEntityProxy(World.ADA, proxy);
        this.checks.equal("its summary", World.ELSEWHERE,
                          this.collection.getEntitySummary(World.ADA, "proxy 1").getMetadataCollectionId());
        this.checks.refused("its detail", EntityProxyOnlyException.class,
            () -> this.collection.getEntityDetail(World.ADA, "proxy 1"));
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "of a proxy");
        Relationship link = this.collection.addRelationship(World.ADA, this.world.type("TermAnchor"), null, "proxy 1",
            term.getGUID(), null);
        this.checks.equal("a relationship of it", "proxy 1", link.getEntityOneProxy().getGUID());
        this.checks.equal("read", link, this.collection.getRelationship(World.ADA, link.getGUID()));
        EntityProxy local = this.world.helper.getNewEntityProxy(World.ADA,
            this.world.entity("Glossary", "qualifiedName", "no proxy"));
        this.checks.refused("a proxy of what is homed here", InvalidParameterException.class,
            () -> this.collection.addEntityProxy(World.ADA, local));
    }

    private void reHome() throws Exception {
        EntityDetail copy = this.world.foreign("Glossary", "rehomed", "qualifiedName", "rehomed");
        this.collection.saveEntityReferenceCopy(World.ADA, copy);
        String type = this.world.type("Glossary");
        EntityDetail homed = this.collection.reHomeEntity(World.BOB, "rehomed", type, "Glossary", World.ELSEWHERE,
            this.world.home, Repository.SERVER);
        this.checks.equal("home", this.world.home, homed.getMetadataCollectionId());
        this.checks.equal("home's name", Repository.SERVER, homed.getMetadataCollectionName());
        this.checks.equal("provenance", InstanceProvenanceType.LOCAL_COHORT, homed.getInstanceProvenanceType());
        this.checks.equal("version", copy.getVersion() + 1, homed.getVersion());
        this.checks.equal("read", homed, this.collection.getEntityDetail(World.ADA, "rehomed"));
        this.checks.equal("it can be changed", copy.getVersion() + 2, this.collection.updateEntityProperties(World.ADA,
            "rehomed", this.world.props("qualifiedName", "ours")).getVersion());
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "rehomed term");
        this.collection.saveRelationshipReferenceCopy(World.ADA,
            this.world.foreignLink("TermAnchor", "rehomed link", homed, term));
        Relationship link = this.collection.reHomeRelationship(World.BOB, "rehomed link", this.world.type("TermAnchor"),
            "TermAnchor", World.ELSEWHERE, this.world.home, Repository.SERVER);
        this.checks.equal("home of a relationship", this.world.home, link.getMetadataCollectionId());
        this.checks.equal("read", link, this.collection.getRelationship(World.ADA, "rehomed link"));
        this.checks.refused("an unknown entity", EntityNotKnownException.class, () -> this.collection.reHomeEntity(
            World.BOB, "nope", type, "Glossary", World.ELSEWHERE, this.world.home, Repository.SERVER));
        this.checks.refused("an unknown relationship", RelationshipNotKnownException.class, () -> this.collection
            .reHomeRelationship(World.BOB, "nope", this.world.type("TermAnchor"), "TermAnchor", World.ELSEWHERE,
                                this.world.home, Repository.SERVER));
        // The forms without the new home's name are not sent by the connector: it says so itself.
        this.checks.refused("an entity, without the name", RepositoryErrorException.class, () -> this.collection
            .reHomeEntity(World.BOB, "rehomed", type, "Glossary", World.ELSEWHERE, this.world.home));
        this.checks.refused("a relationship, without the name", RepositoryErrorException.class, () -> this.collection
            .reHomeRelationship(World.BOB, "rehomed link", this.world.type("TermAnchor"), "TermAnchor", World.ELSEWHERE,
                                this.world.home));
    }

    private void locked() throws Exception {
        EntityDetail copy = this.world.foreign("Glossary", "locked", "qualifiedName", "locked");
        this.collection.saveEntityReferenceCopy(World.ADA, copy);
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "locked term");
        this.collection.saveRelationshipReferenceCopy(World.ADA,
            this.world.foreignLink("TermAnchor", "locked link", copy, term));
        TypeDef glossary = this.world.def("Glossary");
        String type = glossary.getGUID();
        Map<String, Checks.Step> calls = Map.of(
            "properties", () -> this.collection.updateEntityProperties(World.ADA, "locked", this.world.props("usage", "x")),
            "status", () -> this.collection.updateEntityStatus(World.ADA, "locked", InstanceStatus.ACTIVE),
            "undo", () -> this.collection.undoEntityUpdate(World.ADA, "locked"),
            "delete", () -> this.collection.deleteEntity(World.ADA, type, "Glossary", "locked"),
            "identity", () -> this.collection.reIdentifyEntity(World.ADA, type, "Glossary", "locked", "free"),
            "type", () -> this.collection.reTypeEntity(World.ADA, "locked", glossary, this.world.def("Referenceable")),
            "a relationship's properties", () -> this.collection.updateRelationshipProperties(World.ADA, "locked link",
                new InstanceProperties()),
            "a relationship's status", () -> this.collection.updateRelationshipStatus(World.ADA, "locked link",
                InstanceStatus.ACTIVE),
            "deleting a relationship", () -> this.collection.deleteRelationship(World.ADA, this.world.type("TermAnchor"),
                "TermAnchor", "locked link"));
        for (Map.Entry<String, Checks.Step> call : calls.entrySet()) {
            this.checks.refused(call.getKey(), InvalidParameterException.class, call.getValue());
        }
        this.checks.equal("untouched", copy, this.collection.getEntityDetail(World.ADA, "locked"));
    }

    private void refusedEntities() throws Exception {
        EntityDetail ours = this.world.entity("Glossary", "qualifiedName", "ours, not to be copied");
        String guid = ours.getGUID();
        String type = this.world.type("Glossary");
        this.checks.refused("a copy of ours", InvalidParameterException.class,
            () -> this.collection.saveEntityReferenceCopy(World.ADA, ours));
        this.checks.refused("deleting a copy of ours", InvalidParameterException.class,
            () -> this.collection.deleteEntityReferenceCopy(World.ADA, ours));
        this.checks.refused("purging a copy of ours", InvalidParameterException.class,
            () -> this.collection.purgeEntityReferenceCopy(World.ADA, ours));
        this.checks.refused("purging ours by its id", HomeEntityException.class, () -> this.collection
            .purgeEntityReferenceCopy(World.ADA, guid, type, "Glossary", this.world.home));
        this.checks.refused("refreshing ours", HomeEntityException.class, () -> this.collection
            .refreshEntityReferenceCopy(World.ADA, guid, type, "Glossary", this.world.home));
        EntityDetail disguised = this.world.foreign("Glossary", guid, "qualifiedName", "ours as if it were theirs");
        this.checks.refused("purging ours as if it were theirs", HomeEntityException.class,
            () -> this.collection.purgeEntityReferenceCopy(World.ADA, disguised));
        this.checks.refused("purging an unknown one", EntityNotKnownException.class, () -> this.collection
            .purgeEntityReferenceCopy(World.ADA, "nope", type, "Glossary", World.ELSEWHERE));
        EntityDetail conflict = this.world.foreign("Glossary", guid, "qualifiedName", "another with our GUID");
        this.checks.refused("another home for ours", EntityConflictException.class,
            () -> this.collection.saveEntityReferenceCopy(World.ADA, conflict));
        EntityDetail homeless = this.world.foreign("Glossary", "homeless", "qualifiedName", "homeless");
        homeless.setMetadataCollectionId(null);
        this.checks.refused("one without a home", InvalidEntityException.class,
            () -> this.collection.saveEntityReferenceCopy(World.ADA, homeless));
        EntityDetail odd = this.world.foreign("Glossary", "odd", "qualifiedName", "odd");
        InstanceType nowhere = odd.getType();
        nowhere.setTypeDefGUID("nope");
        nowhere.setTypeDefName("Nope");
        odd.setType(nowhere);
        this.checks.refused("one of an unknown type", TypeErrorException.class,
            () -> this.collection.saveEntityReferenceCopy(World.ADA, odd));
        this.checks.refused("one with an unknown property", PropertyErrorException.class, () -> this.collection
            .saveEntityReferenceCopy(World.ADA, this.world.foreign("Glossary", "odd", "nope", "x")));
        this.checks.equal("untouched", ours, this.collection.getEntityDetail(World.ADA, guid));
    }

    private void refusedRelationships() throws Exception {
        EntityDetail glossary = this.world.entity("Glossary", "qualifiedName", "end of ours");
        EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "other end of ours");
        Relationship ours = this.world.link("TermAnchor", glossary, term);
        String type = this.world.type("TermAnchor");
        this.checks.refused("a copy of ours", InvalidParameterException.class,
            () -> this.collection.saveRelationshipReferenceCopy(World.ADA, ours));
        this.checks.refused("purging ours by its id", HomeRelationshipException.class, () -> this.collection
            .purgeRelationshipReferenceCopy(World.ADA, ours.getGUID(), type, "TermAnchor", this.world.home));
        this.checks.refused("refreshing ours", HomeRelationshipException.class, () -> this.collection
            .refreshRelationshipReferenceCopy(World.ADA, ours.getGUID(), type, "TermAnchor", this.world.home));
        this.checks.refused("purging an unknown one", RelationshipNotKnownException.class, () -> this.collection
            .purgeRelationshipReferenceCopy(World.ADA, "nope", type, "TermAnchor", World.ELSEWHERE));
        this.checks.refused("another home for ours", RelationshipConflictException.class, () -> this.collection
            .saveRelationshipReferenceCopy(World.ADA, this.world.foreignLink("TermAnchor", ours.getGUID(), glossary, term)));
        Relationship endless = this.world.foreignLink("TermAnchor", "endless", glossary, term);
        endless.setEntityTwoProxy(null);
        this.checks.refused("one without an end", InvalidRelationshipException.class,
            () -> this.collection.saveRelationshipReferenceCopy(World.ADA, endless));
        this.checks.equal("untouched", ours, this.collection.getRelationship(World.ADA, ours.getGUID()));
    }
}
