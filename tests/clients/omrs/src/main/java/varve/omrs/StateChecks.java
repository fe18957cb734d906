package varve.omrs;

import java.util.ArrayList;
import java.util.List;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ClassificationOrigin;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDefCategory;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/** What each operation answers in each state of its instance: one case for each operation and state. */
final class StateChecks {

    /** A call about the instance with this GUID. */
    private interface Call {
        void on(String guid) throws Exception;
    }

    /** The states of an instance, in the order of a row's answers. */
    private static final List<String> STATES = List.of("copy", "proxy", "own, deleted", "own, live", "unknown");

    private static final Class<?> OK = null;
    private static final Class<?> IP = InvalidParameterException.class;
    private static final Class<?> EN = EntityNotKnownException.class;
    private static final Class<?> RN = RelationshipNotKnownException.class;
    private static final Class<?> PX = EntityProxyOnlyException.class;
    private static final Class<?> ED = EntityNotDeletedException.class;
    private static final Class<?> RD = RelationshipNotDeletedException.class;
    private static final Class<?> HE = HomeEntityException.class;
    private static final Class<?> HR = HomeRelationshipException.class;
    private static final Class<?> EC = EntityConflictException.class;
    private static final Class<?> RC = RelationshipConflictException.class;
    private static final Class<?> ST = StatusNotSupportedException.class;
    private static final Class<?> PE = PropertyErrorException.class;
    private static final Class<?> CE = ClassificationErrorException.class;
    private static final Class<?> TE = TypeErrorException.class;

    private static final String ENTITY = "Glossary";
    private static final String LINK = "TermAnchor";
    private static final String SECRET = "Confidentiality";
    private static final String USER = World.BOB;

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;
    private final String entityType;
    private final String linkType;
    private final String home;
    private int number;

    StateChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
        this.entityType = world.type(ENTITY);
        this.linkType = world.type(LINK);
        this.home = world.home;
    }

    void run() {
        this.checks.step("entities by state", this::reads);
        this.checks.step("changes of entities by state", this::changes);
        this.checks.step("classifications by state", this::classifications);
        this.checks.step("copies of entities by state", this::copies);
        this.checks.step("relationships by state", this::relationships);
        this.checks.step("copies of relationships by state", this::relationshipCopies);
        this.checks.step("order of types", this::typesByName);
    }

    private void reads() throws Exception {
        entity("isEntityKnown", guid -> this.collection.isEntityKnown(USER, guid), OK, OK, OK, OK, OK);
        entity("getEntitySummary", guid -> this.collection.getEntitySummary(USER, guid), OK, OK, EN, OK, EN);
        entity("getEntityDetail", guid -> this.collection.getEntityDetail(USER, guid), OK, PX, EN, OK, EN);
        entity("getEntityDetailHistory", guid -> this.collection.getEntityDetailHistory(USER, guid, null, null, 0, 0, null),
               OK, PX, OK, OK, EN);
        entity("getRelationshipsForEntity", guid -> this.collection.getRelationshipsForEntity(USER, guid, null, 0, null,
               null, null, null, 0), OK, OK, EN, OK, EN);
    }

    private void changes() throws Exception {
        TypeDef type = this.world.def(ENTITY);
        for (InstanceStatus status : List.of(InstanceStatus.ACTIVE, InstanceStatus.DRAFT, InstanceStatus.DELETED)) {
            entity("updateEntityStatus " + status, guid -> this.collection.updateEntityStatus(USER, guid, status),
                   IP, IP, EN, status == InstanceStatus.ACTIVE ? OK : ST, EN);
        }
        entity("updateEntityProperties", guid -> this.collection.updateEntityProperties(USER, guid,
               new InstanceProperties()), IP, IP, EN, OK, EN);
        entity("updateEntityProperties, unknown ones", guid -> this.collection.updateEntityProperties(USER, guid,
               this.world.props("nope", "x")), IP, IP, EN, PE, EN);
        entity("reTypeEntity", guid -> this.collection.reTypeEntity(USER, guid, type, type), IP, IP, EN, OK, EN);
        entity("reIdentifyEntity", guid -> this.collection.reIdentifyEntity(USER, this.entityType, ENTITY, guid,
               "new " + guid), IP, IP, EN, OK, EN);
        entity("undoEntityUpdate", guid -> this.collection.undoEntityUpdate(USER, guid), IP, IP, EN, OK, EN);
        entity("deleteEntity", guid -> this.collection.deleteEntity(USER, this.entityType, ENTITY, guid),
               IP, IP, EN, OK, EN);
        entity("deleteEntity of another type", guid -> this.collection.deleteEntity(USER, this.world.type("Asset"),
               "Asset", guid), IP, IP, EN, IP, EN);
        entity("purgeEntity", guid -> this.collection.purgeEntity(USER, this.entityType, ENTITY, guid),
               IP, EN, OK, ED, EN);
        entity("restoreEntity", guid -> this.collection.restoreEntity(USER, guid), ED, EN, OK, ED, EN);
        entity("reHomeEntity", guid -> this.collection.reHomeEntity(USER, guid, this.entityType, ENTITY, World.ELSEWHERE,
               this.home, Repository.SERVER), OK, IP, EN, IP, EN);
        entity("reHomeEntity, a made-up home named", guid -> this.collection.reHomeEntity(USER, guid, this.entityType,
               ENTITY, "made up", this.home, Repository.SERVER), OK, IP, EN, IP, EN);
        entity("reHomeEntity to another repository", guid -> this.collection.reHomeEntity(USER, guid, this.entityType,
               ENTITY, World.ELSEWHERE, "there", "there"), IP, IP, IP, IP, IP);
    }

    private void classifications() throws Exception {
        entity("classifyEntity", guid -> this.collection.classifyEntity(USER, guid, SECRET, null), OK, IP, EN, OK, EN);
        entity("classifyEntity, no such classification", guid -> this.collection.classifyEntity(USER, guid, "Nope", null),
               IP, IP, IP, IP, IP);
        entity("classifyEntity, not valid for the type", guid -> this.collection.classifyEntity(USER, guid, "SpineObject",
               null), CE, IP, EN, CE, EN);
        entity("updateEntityClassification, absent", guid -> this.collection.updateEntityClassification(USER, guid,
               SECRET, null), CE, IP, EN, CE, EN);
        entity("declassifyEntity, absent", guid -> this.collection.declassifyEntity(USER, guid, SECRET),
               CE, IP, EN, CE, EN);
        entity("saveClassificationReferenceCopy", guid -> this.collection.saveClassificationReferenceCopy(USER, sent(guid),
               foreign(SECRET, ENTITY)), OK, OK, OK, OK, OK);
        entity("saveClassificationReferenceCopy, not valid for the type", guid -> this.collection
               .saveClassificationReferenceCopy(USER, sent(guid), foreign("SpineObject", "GlossaryTerm")),
               TE, TE, TE, TE, TE);
        entity("addRelationship", guid -> this.collection.addRelationship(USER, this.linkType, null, guid,
               this.world.entity("GlossaryTerm").getGUID(), null), OK, OK, EN, OK, EN);
    }

    private void copies() throws Exception {
        entity("addEntityProxy", guid -> this.collection.addEntityProxy(USER, this.world.helper.getNewEntityProxy(USER,
               sent(guid))), OK, OK, OK, OK, OK);
        entity("saveEntityReferenceCopy", guid -> this.collection.saveEntityReferenceCopy(USER, sent(guid)),
               OK, OK, EC, EC, OK);
        entity("deleteEntityReferenceCopy", guid -> this.collection.deleteEntityReferenceCopy(USER, sent(guid)),
               OK, OK, HE, HE, OK);
        entity("purgeEntityReferenceCopy", guid -> this.collection.purgeEntityReferenceCopy(USER, sent(guid)),
               OK, OK, HE, HE, OK);
        entity("purgeEntityReferenceCopy by id", guid -> this.collection.purgeEntityReferenceCopy(USER, guid,
               this.entityType, ENTITY, this.home), OK, EN, OK, HE, EN);
        entity("refreshEntityReferenceCopy", guid -> this.collection.refreshEntityReferenceCopy(USER, guid,
               this.entityType, ENTITY, World.ELSEWHERE), OK, OK, HE, HE, OK);
    }

    private void relationships() throws Exception {
        TypeDef type = this.world.def(LINK);
        link("isRelationshipKnown", guid -> this.collection.isRelationshipKnown(USER, guid), OK, OK, OK, OK);
        link("getRelationship", guid -> this.collection.getRelationship(USER, guid), OK, RN, OK, RN);
        link("getRelationshipHistory", guid -> this.collection.getRelationshipHistory(USER, guid, null, null, 0, 0, null),
             OK, OK, OK, RN);
        for (InstanceStatus status : List.of(InstanceStatus.ACTIVE, InstanceStatus.DRAFT, InstanceStatus.DELETED)) {
            link("updateRelationshipStatus " + status, guid -> this.collection.updateRelationshipStatus(USER, guid, status),
                 IP, RN, status == InstanceStatus.ACTIVE ? OK : ST, RN);
        }
        link("updateRelationshipProperties", guid -> this.collection.updateRelationshipProperties(USER, guid,
             new InstanceProperties()), IP, RN, OK, RN);
        link("reTypeRelationship", guid -> this.collection.reTypeRelationship(USER, guid, type, type), IP, RN, OK, RN);
        link("reIdentifyRelationship", guid -> this.collection.reIdentifyRelationship(USER, this.linkType, LINK, guid,
             "new " + guid), IP, RN, OK, RN);
        link("undoRelationshipUpdate", guid -> this.collection.undoRelationshipUpdate(USER, guid), IP, RN, OK, RN);
        link("deleteRelationship", guid -> this.collection.deleteRelationship(USER, this.linkType, LINK, guid),
             IP, RN, OK, RN);
        link("purgeRelationship", guid -> this.collection.purgeRelationship(USER, this.linkType, LINK, guid),
             IP, OK, RD, RN);
        link("restoreRelationship", guid -> this.collection.restoreRelationship(USER, guid), RD, OK, RD, RN);
        link("reHomeRelationship, a made-up home named", guid -> this.collection.reHomeRelationship(USER, guid,
             this.linkType, LINK, "made up", this.home, Repository.SERVER), OK, RN, IP, RN);
    }

    private void relationshipCopies() throws Exception {
        link("saveRelationshipReferenceCopy", guid -> this.collection.saveRelationshipReferenceCopy(USER, sentLink(guid)),
             OK, RC, RC, OK);
        link("deleteRelationshipReferenceCopy", guid -> this.collection.deleteRelationshipReferenceCopy(USER,
             sentLink(guid)), OK, HR, HR, OK);
        link("purgeRelationshipReferenceCopy", guid -> this.collection.purgeRelationshipReferenceCopy(USER,
             sentLink(guid)), OK, HR, HR, OK);
        link("purgeRelationshipReferenceCopy by id", guid -> this.collection.purgeRelationshipReferenceCopy(USER, guid,
             this.linkType, LINK, this.home), OK, OK, HR, RN);
        link("refreshRelationshipReferenceCopy", guid -> this.collection.refreshRelationshipReferenceCopy(USER, guid,
             this.linkType, LINK, World.ELSEWHERE), OK, HR, HR, OK);
    }

    private void typesByName() throws Exception {
        List<String> names = new ArrayList<>();
        this.collection.findTypeDefsByCategory(USER, TypeDefCategory.RELATIONSHIP_DEF)
            .forEach(def -> names.add(def.getName()));
        this.checks.equal("by name", names.stream().sorted().toList(), names);
    }

    /** One row: the call in each of the states, on entities of its own. */
    private void entity(String operation, Call call, Class<?>... answers) throws Exception {
        this.number++;
        EntityDetail copy = sent("state copy " + this.number);
        this.collection.saveEntityReferenceCopy(USER, copy);
        EntityDetail proxy = sent("state proxy " + this.number);
        this.collection.addEntityProxy(USER, this.world.helper.getNewEntityProxy(USER, proxy));
        EntityDetail deleted = this.world.entity(ENTITY, "qualifiedName", "state deleted");
        this.collection.deleteEntity(USER, this.entityType, ENTITY, deleted.getGUID());
        EntityDetail live = this.world.entity(ENTITY, "qualifiedName", "state live");
        row(operation, call, List.of(copy.getGUID(), proxy.getGUID(), deleted.getGUID(), live.getGUID(),
            "state unknown " + this.number), STATES, answers);
    }

    /** The same of relationships, which have no proxies. */
    private void link(String operation, Call call, Class<?>... answers) throws Exception {
        this.number++;
        Relationship copy = sentLink("state copy " + this.number);
        this.collection.saveRelationshipReferenceCopy(USER, copy);
        Relationship deleted = ownLink();
        this.collection.deleteRelationship(USER, this.linkType, LINK, deleted.getGUID());
        row(operation, call, List.of(copy.getGUID(), deleted.getGUID(), ownLink().getGUID(),
            "state unknown " + this.number), List.of("copy", "own, deleted", "own, live", "unknown"), answers);
    }

    private void row(String operation, Call call, List<String> guids, List<String> states, Class<?>... answers) {
        for (int at = 0; at < states.size(); at++) {
            Class<?> found = OK;
            try {
                call.on(guids.get(at));
            } catch (Exception e) {
                found = e.getClass();
            }
            this.checks.equal(operation + ", " + states.get(at), answers[at], found);
        }
    }

    private EntityDetail sent(String guid) throws Exception {
        return this.world.foreign(ENTITY, guid, "qualifiedName", guid);
    }

    private Relationship ownLink() throws Exception {
        return this.world.link(LINK, this.world.entity(ENTITY), this.world.entity("GlossaryTerm"));
    }

    private Relationship sentLink(String guid) throws Exception {
        return this.world.foreignLink(LINK, guid, this.world.foreign(ENTITY, "state end 1"),
            this.world.foreign("GlossaryTerm", "state end 2"));
    }

    private Classification foreign(String name, String type) throws Exception {
        return this.world.helper.getNewClassification(USER, World.ELSEWHERE, World.ELSEWHERE_NAME,
            InstanceProvenanceType.LOCAL_COHORT, "eve", name, type, ClassificationOrigin.ASSIGNED, null, null);
    }
}
