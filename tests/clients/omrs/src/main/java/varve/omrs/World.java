package varve.omrs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstancePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyComparisonOperator;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyCondition;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryHelper;

/** What all checks share: the repository under test, the count, and short ways to make instances and properties. */
final class World {

    /** Who acts, if nobody else does. */
    static final String ADA = "ada";
    /** Another user. */
    static final String BOB = "bob";
    /** A metadata collection that is not the one under test. */
    static final String ELSEWHERE = "7d1f5b0e-52a8-4a41-8a27-0d6f8f2f7a99";
    static final String ELSEWHERE_NAME = "elsewhere";

    /** An enum's value by its type and ordinal. */
    record Enum(String type, int ordinal) { }

    final Checks checks;
    final Repository repository;
    final OMRSMetadataCollection collection;
    final OMRSRepositoryHelper helper;
    final String home;

    World(Checks checks, Repository repository, OMRSMetadataCollection collection) {
        this.checks = checks;
        this.repository = repository;
        this.collection = collection;
        this.helper = repository.helper();
        this.home = repository.id();
    }

    TypeDef def(String name) {
        return this.helper.getTypeDefByName(ADA, name);
    }

    /** The GUID of a type. */
    String type(String name) {
        return def(name).getGUID();
    }

    EntityDetail entity(String type, Object... properties) throws Exception {
        return this.collection.addEntity(ADA, type(type), props(properties), null, null);
    }

    Relationship link(String type, EntityDetail one, EntityDetail two, Object... properties) throws Exception {
        return this.collection.addRelationship(ADA, type(type), props(properties), one.getGUID(), two.getGUID(), null);
    }

    /** An entity as another repository would send it: its home is elsewhere. */
    EntityDetail foreign(String type, String guid, Object... properties) throws Exception {
        EntityDetail entity = this.helper.getNewEntity(ADA, ELSEWHERE, ELSEWHERE_NAME,
            InstanceProvenanceType.LOCAL_COHORT, "eve", type, props(properties), null);
        entity.setGUID(guid);
        entity.setStatus(def(type).getInitialStatus());
        return entity;
    }

    /** A relationship as another repository would send it. */
    Relationship foreignLink(String type, String guid, EntityDetail one, EntityDetail two) throws Exception {
        Relationship link = this.helper.getNewRelationship(ADA, ELSEWHERE, ELSEWHERE_NAME,
            InstanceProvenanceType.LOCAL_COHORT, "eve", type, null);
        link.setGUID(guid);
        link.setStatus(def(type).getInitialStatus());
        link.setEntityOneProxy(this.helper.getNewEntityProxy(ADA, one));
        link.setEntityTwoProxy(this.helper.getNewEntityProxy(ADA, two));
        return link;
    }

    /** Name, value, name, value ... */
    InstanceProperties props(Object... pairs) throws Exception {
        if (pairs.length == 0) {
            return null;
        }
        InstanceProperties properties = new InstanceProperties();
        for (int i = 0; i < pairs.length; i += 2) {
            properties = add(properties, (String) pairs[i], pairs[i + 1]);
        }
        return properties;
    }

    @SuppressWarnings("unchecked")
    private InstanceProperties add(InstanceProperties properties, String name, Object value) throws Exception {
        if (value instanceof List<?> list) {
            return this.helper.addStringArrayPropertyToInstance(ADA, properties, name, (List<String>) list, "props");
        }
        if (value instanceof Map<?, ?> map) {
            return this.helper.addStringMapPropertyToInstance(ADA, properties, name, (Map<String, String>) map, "props");
        }
        if (value instanceof Enum one) {
            String type = this.helper.getAttributeTypeDefByName(ADA, one.type()).getGUID();
            this.helper.addEnumPropertyToInstance(ADA, properties, name, type, one.type(), one.ordinal(), "props");
            // The helper leaves out what a repository fills in.
            properties.getPropertyValue(name).setTypeGUID(type);
            properties.getPropertyValue(name).setTypeName(one.type());
            return properties;
        }
        properties.setProperty(name, value instanceof InstancePropertyValue ready ? ready : primitive(value));
        return properties;
    }

    /** A value of the primitive type that goes with its Java class. */
    static PrimitivePropertyValue primitive(Object value) {
        PrimitiveDefCategory category = Arrays.stream(PrimitiveDefCategory.values())
            .filter(known -> known.getJavaClassName().equals(
                value instanceof Date ? Long.class.getName() : value.getClass().getName()))
            .filter(known -> (known == PrimitiveDefCategory.OM_PRIMITIVE_TYPE_DATE) == (value instanceof Date))
            .findFirst().orElseThrow(() -> new IllegalArgumentException(value.getClass().getName()));
        PrimitivePropertyValue property = new PrimitivePropertyValue();
        property.setPrimitiveDefCategory(category);
        property.setTypeGUID(category.getGUID());
        property.setTypeName(category.getName());
        property.setPrimitiveValue(value instanceof Date date ? Long.valueOf(date.getTime()) : value);
        return property;
    }

    static PropertyCondition condition(String property, PropertyComparisonOperator operator, InstancePropertyValue value) {
        PropertyCondition condition = new PropertyCondition();
        condition.setProperty(property);
        condition.setOperator(operator);
        condition.setValue(value);
        return condition;
    }

    static PropertyCondition nested(SearchProperties conditions) {
        PropertyCondition condition = new PropertyCondition();
        condition.setNestedConditions(conditions);
        return condition;
    }

    static SearchProperties search(MatchCriteria criteria, PropertyCondition... conditions) {
        SearchProperties search = new SearchProperties();
        search.setMatchCriteria(criteria);
        search.setConditions(new ArrayList<>(List.of(conditions)));
        return search;
    }

    /** Waits until the clock shows another millisecond, so that what follows has a time of its own. */
    static void tick() {
        long now = System.currentTimeMillis();
        while (System.currentTimeMillis() <= now) {
            Thread.onSpinWait();
        }
    }

    /** A date so many milliseconds later. */
    static Date plus(Date date, long milliseconds) {
        return new Date(date.getTime() + milliseconds);
    }
}
