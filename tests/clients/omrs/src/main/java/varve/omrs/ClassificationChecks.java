package varve.omrs;

import java.util.Date;
import java.util.List;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ClassificationOrigin;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/** Classifications: given, changed, taken away, by the entity's GUID and by its proxy. */
final class ClassificationChecks {

    private static final String NAME = "Confidentiality";

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;

    ClassificationChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
    }

    void run() {
        this.checks.step("a classification", this::classify);
        this.checks.step("a classification with home and origin", this::detailed);
        this.checks.step("classifications by proxy", this::byProxy);
        this.checks.step("classifications of a foreign entity", this::ofForeign);
        this.checks.step("refused classifications", this::refused);
    }

    private static Classification find(EntityDetail entity, String name) {
        return entity.getClassifications() == null ? null : entity.getClassifications().stream()
            .filter(one -> one.getName().equals(name)).findFirst().orElse(null);
    }

    private void classify() throws Exception {
        EntityDetail entity = this.world.entity("Glossary", "qualifiedName", "classified");
        String guid = entity.getGUID();
        InstanceProperties properties = this.world.props("level", 2, "notes", "n", "status",
            new World.Enum("GovernanceClassificationStatus", 1));
        Date before = new Date();
        EntityDetail classified = this.collection.classifyEntity(World.BOB, guid, NAME, properties);
        this.checks.equal("the entity's version", 1L, classified.getVersion());
        this.checks.equal("the entity's updateTime", null, classified.getUpdateTime());
        Classification one = find(classified, NAME);
        this.checks.equal("properties", properties, one.getProperties());
        this.checks.equal("version", 1L, one.getVersion());
        this.checks.equal("createdBy", World.BOB, one.getCreatedBy());
        this.checks.holds("createTime", !one.getCreateTime().before(before));
        this.checks.equal("status", InstanceStatus.ACTIVE, one.getStatus());
        this.checks.equal("home", this.world.home, one.getMetadataCollectionId());
        this.checks.equal("provenance", InstanceProvenanceType.LOCAL_COHORT, one.getInstanceProvenanceType());
        this.checks.equal("origin", ClassificationOrigin.ASSIGNED, one.getClassificationOrigin());
        this.checks.equal("type", this.world.type(NAME), one.getType().getTypeDefGUID());
        this.checks.equal("read", classified, this.collection.getEntityDetail(World.ADA, guid));
        EntityDetail second = this.collection.classifyEntity(World.ADA, guid, "Retention", null);
        this.checks.equal("two of them", 2, second.getClassifications().size());
        EntityDetail changed = this.collection.updateEntityClassification(World.ADA, guid, NAME,
            this.world.props("level", 3));
        this.checks.equal("version", 2L, find(changed, NAME).getVersion());
        this.checks.equal("updatedBy", World.ADA, find(changed, NAME).getUpdatedBy());
        this.checks.equal("properties are replaced", this.world.props("level", 3), find(changed, NAME).getProperties());
        this.checks.equal("the entity's version", 1L, changed.getVersion());
        this.checks.equal("read", changed, this.collection.getEntityDetail(World.ADA, guid));
        this.checks.equal("at home here", 2, this.collection.getHomeClassifications(World.ADA, guid).size());
        EntityDetail bare = this.collection.declassifyEntity(World.ADA, guid, NAME);
        this.checks.equal("it is gone", null, find(bare, NAME));
        this.checks.equal("one is left", 1, bare.getClassifications().size());
        this.checks.equal("the entity's version", 1L, bare.getVersion());
        EntityDetail none = this.collection.declassifyEntity(World.ADA, guid, "Retention");
        this.checks.equal("none is left", null, none.getClassifications());
        this.checks.equal("read", none, this.collection.getEntityDetail(World.ADA, guid));
    }

    private void detailed() throws Exception {
        EntityDetail entity = this.world.entity("Glossary", "qualifiedName", "classified by a source");
        EntityDetail classified = this.collection.classifyEntity(World.ADA, entity.getGUID(), NAME, "source-guid",
            "source", ClassificationOrigin.PROPAGATED, "origin-guid", this.world.props("level", 1));
        Classification one = find(classified, NAME);
        this.checks.equal("home", "source-guid", one.getMetadataCollectionId());
        this.checks.equal("home's name", "source", one.getMetadataCollectionName());
        this.checks.equal("provenance", InstanceProvenanceType.EXTERNAL_SOURCE, one.getInstanceProvenanceType());
        this.checks.equal("origin", ClassificationOrigin.PROPAGATED, one.getClassificationOrigin());
        this.checks.equal("origin's GUID", "origin-guid", one.getClassificationOriginGUID());
        this.checks.equal("read", classified, this.collection.getEntityDetail(World.ADA, entity.getGUID()));
    }

    private void byProxy() throws Exception {
        EntityDetail entity = this.world.entity("Glossary", "qualifiedName", "classified by proxy");
        EntityProxy proxy = this.world.helper.getNewEntityProxy(World.ADA, entity);
        InstanceProperties properties = this.world.props("level", 2);
        Classification given = this.collection.classifyEntity(World.ADA, proxy, NAME, properties);
        this.checks.equal("name", NAME, given.getName());
        this.checks.equal("properties", properties, given.getProperties());
        this.checks.equal("version", 1L, given.getVersion());
        this.checks.equal("read with the entity", given,
                          find(this.collection.getEntityDetail(World.ADA, entity.getGUID()), NAME));
        Classification changed = this.collection.updateEntityClassification(World.BOB, proxy, NAME,
            this.world.props("level", 4));
        this.checks.equal("version", 2L, changed.getVersion());
        this.checks.equal("read with the entity", changed,
                          find(this.collection.getEntityDetail(World.ADA, entity.getGUID()), NAME));
        Classification taken = this.collection.declassifyEntity(World.ADA, proxy, NAME);
        this.checks.equal("name of what is taken away", NAME, taken.getName());
        this.checks.equal("it is gone", null,
                          this.collection.getEntityDetail(World.ADA, entity.getGUID()).getClassifications());
        Classification sourced = this.collection.classifyEntity(World.ADA, proxy, NAME, "source-guid", "source",
            ClassificationOrigin.ASSIGNED, null, properties);
        this.checks.equal("home", "source-guid", sourced.getMetadataCollectionId());
        this.checks.equal("read with the entity", sourced,
                          find(this.collection.getEntityDetail(World.ADA, entity.getGUID()), NAME));
    }

    private void ofForeign() throws Exception {
        EntityDetail copy = this.world.foreign("Glossary", "foreign, classified here", "qualifiedName", "foreign");
        this.collection.saveEntityReferenceCopy(World.ADA, copy);
        EntityDetail classified = this.collection.classifyEntity(World.ADA, copy.getGUID(), NAME, null);
        this.checks.equal("home of the classification", this.world.home, find(classified, NAME).getMetadataCollectionId());
        this.checks.equal("home of the entity", World.ELSEWHERE, classified.getMetadataCollectionId());
        List<Classification> home = this.collection.getHomeClassifications(World.ADA, copy.getGUID());
        this.checks.equal("at home here", NAME, home.get(0).getName());
        this.collection.purgeEntityReferenceCopy(World.ADA, copy);
    }

    private void refused() throws Exception {
        EntityDetail entity = this.world.entity("Glossary", "qualifiedName", "not classified");
        String guid = entity.getGUID();
        this.checks.refused("an unknown entity", EntityNotKnownException.class,
            () -> this.collection.classifyEntity(World.ADA, "nope", NAME, null));
        this.checks.refused("an unknown classification", InvalidParameterException.class,
            () -> this.collection.classifyEntity(World.ADA, guid, "Nope", null));
        this.checks.refused("one for other types", ClassificationErrorException.class,
            () -> this.collection.classifyEntity(World.ADA, guid, "SpineObject", null));
        this.checks.refused("an unknown property", PropertyErrorException.class,
            () -> this.collection.classifyEntity(World.ADA, guid, NAME, this.world.props("nope", "x")));
        this.checks.refused("changing one that is not there", ClassificationErrorException.class,
            () -> this.collection.updateEntityClassification(World.ADA, guid, NAME, null));
        this.checks.refused("taking away one that is not there", ClassificationErrorException.class,
            () -> this.collection.declassifyEntity(World.ADA, guid, NAME));
        this.checks.refused("the classifications of an unknown entity", EntityNotKnownException.class,
            () -> this.collection.getHomeClassifications(World.ADA, "nope"));
        this.checks.equal("untouched", entity, this.collection.getEntityDetail(World.ADA, guid));
    }
}
