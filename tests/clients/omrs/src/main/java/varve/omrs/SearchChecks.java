package varve.omrs;

import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.SequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.ClassificationCondition;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyComparisonOperator;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyCondition;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchClassifications;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchProperties;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/** The finders: types, conditions, regular expressions, limits, orders, pages. */
final class SearchChecks {

    private static final String TYPE = "RelationalTable";

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;
    private final List<EntityDetail> tables = new ArrayList<>();
    private final List<Relationship> links = new ArrayList<>();
    private EntityDetail column;
    private EntityDetail deleted;

    SearchChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
    }

    void run() {
        this.checks.step("what is searched", this::seed);
        this.checks.step("finding by type and status", this::byType);
        this.checks.step("conditions", this::conditions);
        this.checks.step("nested conditions", this::nestedConditions);
        this.checks.step("conditions on headers", this::headers);
        this.checks.step("conditions on classifications", this::classifications);
        this.checks.step("finding by property", this::byProperty);
        this.checks.step("regular expressions", this::regexes);
        this.checks.step("finding by classification", this::byClassification);
        this.checks.step("finding by value", this::byValue);
        this.checks.step("orders and pages", this::ordersAndPages);
        this.checks.step("finding relationships", this::relationships);
        this.checks.step("refused searches", this::refused);
    }

    private EntityDetail table(int at) {
        return this.tables.get(at);
    }

    /** Six tables: names t0, t1 ... , position 0, 10, 20 ..., nullable every other, sorted by enum, one without a position. */
    private void seed() throws Exception {
        String[] texts = {"Alpha beta", "alpha", "a.b*c", "Zürich", "line\nbreak", "x\\Ey"};
        for (int i = 0; i < 6; i++) {
            World.tick();
            InstanceProperties properties = this.world.props("qualifiedName", "table-" + i, "displayName", texts[i],
                "isNullable", i % 2 == 0, "sortOrder", new World.Enum("DataItemSortOrder", i % 2),
                "aliases", List.of("alias-" + i, "shared alias"), "additionalProperties", Map.of("key", "map-" + i));
            if (i != 3) {
                properties.setProperty("position", World.primitive(i * 10));
            }
            this.tables.add(this.collection.addEntity(World.ADA, this.world.type(TYPE), properties, null, null));
        }
        this.column = this.world.entity("RelationalColumn", "qualifiedName", "column-0", "displayName", "column",
            "position", 10);
        this.deleted = this.world.entity(TYPE, "qualifiedName", "table-deleted", "displayName", "deleted", "position", 10);
        this.collection.deleteEntity(World.ADA, this.world.type(TYPE), TYPE, this.deleted.getGUID());
        this.collection.classifyEntity(World.ADA, table(1).getGUID(), "Confidentiality",
            this.world.props("level", 1, "notes", "one"));
        this.collection.classifyEntity(World.ADA, table(2).getGUID(), "Confidentiality",
            this.world.props("level", 2, "notes", "two"));
        this.collection.classifyEntity(World.ADA, table(2).getGUID(), "Retention", null);
        for (int i = 0; i < 3; i++) {
            World.tick();
            EntityDetail term = this.world.entity("GlossaryTerm", "qualifiedName", "searched term-" + i);
            this.links.add(this.world.link("SemanticAssignment", table(i), term, "description", "link-" + i,
                "confidence", i * 10, "status", new World.Enum("TermAssignmentStatus", i)));
        }
        this.checks.equal("tables", 6, this.tables.size());
    }

    private List<EntityDetail> pick(int... numbers) {
        List<EntityDetail> picked = new ArrayList<>();
        for (int number : numbers) {
            picked.add(table(number));
        }
        return picked;
    }

    private List<EntityDetail> find(SearchProperties properties, SearchClassifications classifications) throws Exception {
        return this.collection.findEntities(World.ADA, this.world.type(TYPE), null, properties, 0, null,
                                            classifications, null, null, null, 0);
    }

    private void byType() throws Exception {
        this.checks.same("of a type", this.tables, find(null, null));
        List<EntityDetail> both = new ArrayList<>(this.tables);
        both.add(this.column);
        String attribute = this.world.type("SchemaAttribute");
        this.checks.same("of a type and its subtypes", both, this.collection.findEntities(World.ADA, attribute, null,
            null, 0, null, null, null, null, null, 0));
        this.checks.same("of a subtype", List.of(this.column), this.collection.findEntities(World.ADA, attribute,
            List.of(this.world.type("RelationalColumn")), null, 0, null, null, null, null, null, 0));
        this.checks.same("of two subtypes", both, this.collection.findEntities(World.ADA, attribute,
            List.of(this.world.type("RelationalColumn"), this.world.type(TYPE)), null, 0, null, null, null, null, null, 0));
        this.checks.same("deleted ones", List.of(this.deleted), this.collection.findEntities(World.ADA,
            this.world.type(TYPE), null, null, 0, List.of(InstanceStatus.DELETED), null, null, null, null, 0));
        List<EntityDetail> all = new ArrayList<>(this.tables);
        all.add(this.deleted);
        this.checks.same("of two statuses", all, this.collection.findEntities(World.ADA, this.world.type(TYPE), null,
            null, 0, List.of(InstanceStatus.DELETED, InstanceStatus.ACTIVE), null, null, null, null, 0));
        this.checks.same("of a status that none has", List.of(), this.collection.findEntities(World.ADA,
            this.world.type(TYPE), null, null, 0, List.of(InstanceStatus.DRAFT), null, null, null, null, 0));
        List<EntityDetail> any = this.collection.findEntities(World.ADA, null, null, World.search(MatchCriteria.ALL,
            World.condition("qualifiedName", PropertyComparisonOperator.EQ, World.primitive("table-3"))),
            0, null, null, null, null, null, 0);
        this.checks.same("of any type", pick(3), any);
        this.checks.equal("as it is read", this.collection.getEntityDetail(World.ADA, table(3).getGUID()), any.get(0));
    }

    private void one(String what, List<EntityDetail> wanted, PropertyCondition condition) throws Exception {
        this.checks.same(what, wanted, find(World.search(MatchCriteria.ALL, condition), null));
    }

    private void conditions() throws Exception {
        String position = "position";
        one("EQ", pick(1), World.condition(position, PropertyComparisonOperator.EQ, World.primitive(10)));
        one("NEQ", pick(0, 2, 3, 4, 5), World.condition(position, PropertyComparisonOperator.NEQ, World.primitive(10)));
        one("LT", pick(0, 1), World.condition(position, PropertyComparisonOperator.LT, World.primitive(20)));
        one("LTE", pick(0, 1, 2), World.condition(position, PropertyComparisonOperator.LTE, World.primitive(20)));
        one("GT", pick(4, 5), World.condition(position, PropertyComparisonOperator.GT, World.primitive(20)));
        one("GTE", pick(2, 4, 5), World.condition(position, PropertyComparisonOperator.GTE, World.primitive(20)));
        one("IS_NULL", pick(3), World.condition(position, PropertyComparisonOperator.IS_NULL, null));
        one("NOT_NULL", pick(0, 1, 2, 4, 5), World.condition(position, PropertyComparisonOperator.NOT_NULL, null));
        one("EQ of a boolean", pick(1, 3, 5), World.condition("isNullable", PropertyComparisonOperator.EQ,
            World.primitive(false)));
        one("EQ of an enum", pick(0, 2, 4), World.condition("sortOrder", PropertyComparisonOperator.EQ,
            table(2).getProperties().getPropertyValue("sortOrder")));
        one("EQ is no regular expression", pick(2), World.condition("displayName", PropertyComparisonOperator.EQ,
            World.primitive("a.b*c")));
        one("EQ of nothing there", List.of(), World.condition("displayName", PropertyComparisonOperator.EQ,
            World.primitive(".*")));
        one("LIKE", pick(0, 1), World.condition("displayName", PropertyComparisonOperator.LIKE,
            World.primitive("(?i)alpha.*")));
        one("EQ of an array", pick(4), World.condition("aliases", PropertyComparisonOperator.EQ,
            table(4).getProperties().getPropertyValue("aliases")));
        ArrayPropertyValue numbers = new ArrayPropertyValue();
        numbers.setTypeName("array<int>");
        numbers.setArrayCount(2);
        numbers.setArrayValue(0, World.primitive(0));
        numbers.setArrayValue(1, World.primitive(50));
        one("IN", pick(0, 5), World.condition(position, PropertyComparisonOperator.IN, numbers));
    }

    private void nestedConditions() throws Exception {
        PropertyCondition nullable = World.condition("isNullable", PropertyComparisonOperator.EQ, World.primitive(true));
        PropertyCondition low = World.condition("position", PropertyComparisonOperator.LT, World.primitive(25));
        PropertyCondition alpha = World.condition("displayName", PropertyComparisonOperator.EQ, World.primitive("alpha"));
        this.checks.same("ALL", pick(0, 2), find(World.search(MatchCriteria.ALL, nullable, low), null));
        this.checks.same("ANY", pick(0, 1, 2, 4), find(World.search(MatchCriteria.ANY, nullable, low), null));
        this.checks.same("NONE", pick(3, 5), find(World.search(MatchCriteria.NONE, nullable, low), null));
        this.checks.same("ALL of one and ANY", pick(0, 1, 2), find(World.search(MatchCriteria.ALL, low,
            World.nested(World.search(MatchCriteria.ANY, nullable, alpha))), null));
        this.checks.same("ANY of one and NONE", pick(1, 3, 5), find(World.search(MatchCriteria.ANY, alpha,
            World.nested(World.search(MatchCriteria.NONE, nullable, alpha))), null));
    }

    private void headers() throws Exception {
        EntityDetail changed = this.collection.updateEntityProperties(World.BOB, table(5).getGUID(),
            table(5).getProperties());
        one("version", pick(5), World.condition("version", PropertyComparisonOperator.EQ, World.primitive(2L)));
        one("updatedBy", pick(5), World.condition("updatedBy", PropertyComparisonOperator.EQ, World.primitive(World.BOB)));
        one("createdBy", this.tables, World.condition("createdBy", PropertyComparisonOperator.LIKE,
            World.primitive("a.a")));
        one("metadataCollectionId", this.tables, World.condition("metadataCollectionId", PropertyComparisonOperator.EQ,
            World.primitive(this.world.home)));
        one("createTime", pick(4, 5), World.condition("createTime", PropertyComparisonOperator.GTE,
            World.primitive(table(4).getCreateTime())));
        one("updateTime", pick(5), World.condition("updateTime", PropertyComparisonOperator.EQ,
            World.primitive(changed.getUpdateTime())));
        this.checks.same("typeName by property", this.tables, this.collection.findEntitiesByProperty(World.ADA,
            this.world.type("SchemaAttribute"), this.world.props("typeName", this.world.helper.getExactMatchRegex(TYPE)),
            MatchCriteria.ALL, 0, null, null, null, null, null, 0));
        this.checks.same("another user", List.of(), this.collection.findEntitiesByProperty(World.ADA,
            this.world.type(TYPE), this.world.props("createdBy", "nobody"), MatchCriteria.ALL, 0, null, null, null, null,
            null, 0));
    }

    private static SearchClassifications carrying(MatchCriteria criteria, ClassificationCondition... conditions) {
        SearchClassifications search = new SearchClassifications();
        search.setMatchCriteria(criteria);
        search.setConditions(new ArrayList<>(List.of(conditions)));
        return search;
    }

    private static ClassificationCondition named(String name, SearchProperties properties) {
        ClassificationCondition condition = new ClassificationCondition();
        condition.setName(name);
        condition.setMatchProperties(properties);
        return condition;
    }

    private void classifications() throws Exception {
        ClassificationCondition confidential = named("Confidentiality", null);
        ClassificationCondition retained = named("Retention", null);
        ClassificationCondition second = named("Confidentiality", World.search(MatchCriteria.ALL,
            World.condition("level", PropertyComparisonOperator.GT, World.primitive(1))));
        this.checks.same("one", pick(1, 2), find(null, carrying(MatchCriteria.ALL, confidential)));
        this.checks.same("ALL", pick(2), find(null, carrying(MatchCriteria.ALL, confidential, retained)));
        this.checks.same("ANY", pick(1, 2), find(null, carrying(MatchCriteria.ANY, confidential, retained)));
        this.checks.same("NONE", pick(0, 3, 4, 5), find(null, carrying(MatchCriteria.NONE, confidential, retained)));
        this.checks.same("with a property", pick(2), find(null, carrying(MatchCriteria.ALL, second)));
        this.checks.same("with a property of the entity too", List.of(), find(World.search(MatchCriteria.ALL,
            World.condition("position", PropertyComparisonOperator.EQ, World.primitive(10))),
            carrying(MatchCriteria.ALL, second)));
    }

    private List<EntityDetail> byProperties(MatchCriteria criteria, Object... pairs) throws Exception {
        return this.collection.findEntitiesByProperty(World.ADA, this.world.type(TYPE), this.world.props(pairs), criteria,
                                                      0, null, null, null, null, null, 0);
    }

    private void byProperty() throws Exception {
        this.checks.same("a number", pick(1), byProperties(MatchCriteria.ALL, "position", 10));
        this.checks.same("a boolean", pick(0, 2, 4), byProperties(MatchCriteria.ALL, "isNullable", true));
        this.checks.same("an enum", pick(1, 3, 5), byProperties(MatchCriteria.ALL, "sortOrder",
            new World.Enum("DataItemSortOrder", 1)));
        this.checks.same("ALL", pick(2), byProperties(MatchCriteria.ALL, "isNullable", true, "position", 20));
        this.checks.same("ANY", pick(0, 1, 2, 4), byProperties(MatchCriteria.ANY, "isNullable", true, "position", 10));
        this.checks.same("NONE", pick(3, 5), byProperties(MatchCriteria.NONE, "isNullable", true, "position", 10));
        this.checks.same("no criteria", this.tables, this.collection.findEntitiesByProperty(World.ADA,
            this.world.type(TYPE), null, null, 0, null, null, null, null, null, 0));
        this.checks.same("limited by a classification", pick(2), this.collection.findEntitiesByProperty(World.ADA,
            this.world.type(TYPE), null, null, 0, null, List.of("Retention"), null, null, null, 0));
        this.checks.same("limited by one of two classifications", pick(1, 2), this.collection.findEntitiesByProperty(
            World.ADA, this.world.type(TYPE), null, null, 0, null, List.of("Confidentiality", "Retention"), null, null,
            null, 0));
        this.checks.same("limited by status", List.of(this.deleted), this.collection.findEntitiesByProperty(World.ADA,
            this.world.type(TYPE), this.world.props("position", 10), MatchCriteria.ALL, 0, List.of(InstanceStatus.DELETED),
            null, null, null, null, 0));
    }

    private void regexes() throws Exception {
        String name = "displayName";
        this.checks.same("exactly", pick(2), byProperties(MatchCriteria.ALL, name,
            this.world.helper.getExactMatchRegex("a.b*c")));
        this.checks.same("exactly, whatever its case", pick(1), byProperties(MatchCriteria.ALL, name,
            this.world.helper.getExactMatchRegex("ALPHA", true)));
        this.checks.same("what starts with", pick(1), byProperties(MatchCriteria.ALL, name,
            this.world.helper.getStartsWithRegex("alp")));
        this.checks.same("what starts with, whatever its case", pick(0, 1), byProperties(MatchCriteria.ALL, name,
            this.world.helper.getStartsWithRegex("ALP", true)));
        this.checks.same("what ends with", pick(2), byProperties(MatchCriteria.ALL, name,
            this.world.helper.getEndsWithRegex("*c")));
        this.checks.same("what contains", pick(0, 1), byProperties(MatchCriteria.ALL, name,
            this.world.helper.getContainsRegex("lph")));
        this.checks.same("what contains, whatever its case", pick(0), byProperties(MatchCriteria.ALL, name,
            this.world.helper.getContainsRegex("A B", true)));
        this.checks.same("a quoted \\E", pick(5), byProperties(MatchCriteria.ALL, name,
            java.util.regex.Pattern.quote("x\\Ey")));
        this.checks.same("outside of ASCII", pick(3), byProperties(MatchCriteria.ALL, name, "Z.ri[a-d]h"));
        this.checks.same("a dot is no end of line", List.of(), byProperties(MatchCriteria.ALL, name, "line.break"));
        this.checks.same("but \\n is", pick(4), byProperties(MatchCriteria.ALL, name, "line\\nbreak"));
        this.checks.same("an alternative", pick(1, 2), byProperties(MatchCriteria.ALL, name, "alpha|a\\.b\\*c"));
        this.checks.same("the whole value", List.of(), byProperties(MatchCriteria.ALL, name, "alph"));
        this.checks.same("NONE", pick(2, 3, 4, 5), byProperties(MatchCriteria.NONE, name, "(?i)alpha.*"));
    }

    private List<EntityDetail> classified(String name, MatchCriteria criteria, Object... pairs) throws Exception {
        return this.collection.findEntitiesByClassification(World.ADA, this.world.type(TYPE), name,
            this.world.props(pairs), criteria, 0, null, null, null, null, 0);
    }

    private void byClassification() throws Exception {
        this.checks.same("one", pick(1, 2), classified("Confidentiality", null));
        this.checks.same("by a property", pick(2), classified("Confidentiality", MatchCriteria.ALL, "level", 2));
        this.checks.same("by two, ANY", pick(1, 2), classified("Confidentiality", MatchCriteria.ANY, "level", 2,
            "notes", "one"));
        this.checks.same("by two, NONE", pick(1), classified("Confidentiality", MatchCriteria.NONE, "level", 2,
            "notes", "two"));
        this.checks.same("of any type", pick(2), this.collection.findEntitiesByClassification(World.ADA, null,
            "Confidentiality", this.world.props("notes", "tw."), MatchCriteria.ALL, 0, null, null, null, null, 0));
        this.checks.same("one that none has", List.of(), classified("Memento", null));
        this.checks.inOrder("ordered and cut", pick(2), this.collection.findEntitiesByClassification(World.ADA,
            this.world.type(TYPE), "Confidentiality", null, null, 0, null, null, "position",
            SequencingOrder.PROPERTY_DESCENDING, 1));
    }

    private List<EntityDetail> valued(String criteria) throws Exception {
        return this.collection.findEntitiesByPropertyValue(World.ADA, this.world.type(TYPE), criteria, 0, null, null,
                                                           null, null, null, 0);
    }

    private void byValue() throws Exception {
        this.checks.same("a value", pick(1), valued("alpha"));
        this.checks.same("exactly", pick(2), valued(this.world.helper.getExactMatchRegex("a.b*c")));
        this.checks.same("what contains", pick(0, 1), valued(this.world.helper.getContainsRegex("lpha")));
        this.checks.same("whatever its case", pick(3), valued(this.world.helper.getContainsRegex("ZüR", true)));
        // As with Java: (?i) alone is about ASCII.
        this.checks.same("letters beyond ASCII keep their case", List.of(),
                         valued(this.world.helper.getContainsRegex("ZÜR", true)));
        this.checks.same("in an array", pick(4), valued("alias-4"));
        this.checks.same("in a map", pick(5), valued("map-5"));
        this.checks.same("in all", this.tables, valued(this.world.helper.getStartsWithRegex("table-")));
        this.checks.same("with a plus, a blank and a slash", List.of(), valued("a+b c/d"));
        this.checks.same("limited by a classification", pick(2), this.collection.findEntitiesByPropertyValue(World.ADA,
            null, "table-.*", 0, null, List.of("Retention"), null, null, null, 0));
        this.checks.same("not in headers", List.of(), valued(World.ADA));
    }

    private List<EntityDetail> ordered(SequencingOrder order, String property, int from, int size) throws Exception {
        return this.collection.findEntities(World.ADA, this.world.type(TYPE), null, null, from, null, null, null,
                                            property, order, size);
    }

    private void ordersAndPages() throws Exception {
        List<EntityDetail> byGuid = new ArrayList<>(this.tables);
        byGuid.sort((one, two) -> one.getGUID().compareTo(two.getGUID()));
        this.checks.inOrder("by GUID", byGuid, ordered(SequencingOrder.GUID, null, 0, 0));
        this.checks.inOrder("the oldest", this.tables, ordered(SequencingOrder.CREATION_DATE_OLDEST, null, 0, 0));
        this.checks.inOrder("the newest", pick(5, 4, 3, 2, 1, 0), ordered(SequencingOrder.CREATION_DATE_RECENT, null, 0, 0));
        this.checks.equal("changed last", table(5).getGUID(),
                          ordered(SequencingOrder.LAST_UPDATE_RECENT, null, 0, 1).get(0).getGUID());
        this.checks.equal("changed last comes last", table(5).getGUID(),
                          ordered(SequencingOrder.LAST_UPDATE_OLDEST, null, 5, 1).get(0).getGUID());
        this.checks.inOrder("by a property, without one first", pick(3, 0, 1, 2, 4, 5),
                            ordered(SequencingOrder.PROPERTY_ASCENDING, "position", 0, 0));
        this.checks.inOrder("the other way round", pick(5, 4, 2, 1, 0, 3),
                            ordered(SequencingOrder.PROPERTY_DESCENDING, "position", 0, 0));
        this.checks.inOrder("a page", pick(1, 2), ordered(SequencingOrder.PROPERTY_ASCENDING, "position", 2, 2));
        this.checks.inOrder("the last page", pick(5), ordered(SequencingOrder.PROPERTY_ASCENDING, "position", 5, 10));
        this.checks.inOrder("beyond the end", List.of(), ordered(SequencingOrder.PROPERTY_ASCENDING, "position", 6, 10));
        List<EntityDetail> pages = new ArrayList<>();
        for (int from = 0; from < 6; from += 2) {
            pages.addAll(ordered(SequencingOrder.ANY, null, from, 2));
        }
        this.checks.same("pages in any order", this.tables, pages);
        this.checks.inOrder("by value, ordered", pick(5, 4), this.collection.findEntitiesByPropertyValue(World.ADA,
            this.world.type(TYPE), "table-.*", 0, null, null, null, "qualifiedName", SequencingOrder.PROPERTY_DESCENDING, 2));
        this.checks.inOrder("by property, ordered", pick(2, 4), this.collection.findEntitiesByProperty(World.ADA,
            this.world.type(TYPE), this.world.props("isNullable", true), MatchCriteria.ALL, 1, null, null, null, null,
            SequencingOrder.CREATION_DATE_OLDEST, 2));
    }

    private List<Relationship> pickLinks(int... numbers) {
        List<Relationship> picked = new ArrayList<>();
        for (int number : numbers) {
            picked.add(this.links.get(number));
        }
        return picked;
    }

    private void relationships() throws Exception {
        String type = this.world.type("SemanticAssignment");
        SearchProperties some = World.search(MatchCriteria.ANY,
            World.condition("confidence", PropertyComparisonOperator.GT, World.primitive(5)),
            World.condition("description", PropertyComparisonOperator.EQ, World.primitive("link-0")));
        this.checks.inOrder("by conditions", pickLinks(0, 1, 2), this.collection.findRelationships(World.ADA, type, null,
            World.search(MatchCriteria.ALL, World.nested(some), World.condition("description",
                PropertyComparisonOperator.LIKE, World.primitive("link-\\d"))), 0, null, null, null,
            SequencingOrder.CREATION_DATE_OLDEST, 0));
        this.checks.inOrder("a page", pickLinks(1), this.collection.findRelationships(World.ADA, type, null,
            World.search(MatchCriteria.ALL, World.condition("description", PropertyComparisonOperator.LIKE,
                World.primitive("link-.*"))), 1, null, null, "confidence", SequencingOrder.PROPERTY_DESCENDING, 1));
        this.checks.same("by property", pickLinks(1), this.collection.findRelationshipsByProperty(World.ADA, type,
            this.world.props("description", "link-.*", "confidence", 10), MatchCriteria.ALL, 0, null, null, null, null, 0));
        this.checks.same("by an enum", pickLinks(2), this.collection.findRelationshipsByProperty(World.ADA, null,
            this.world.props("description", "link-.*", "status", new World.Enum("TermAssignmentStatus", 2)),
            MatchCriteria.ALL, 0, null, null, null, null, 0));
        this.checks.inOrder("by value", pickLinks(2, 1, 0), this.collection.findRelationshipsByPropertyValue(World.ADA,
            type, this.world.helper.getStartsWithRegex("link-"), 0, null, null, "description",
            SequencingOrder.PROPERTY_DESCENDING, 0));
        this.checks.same("by no value", List.of(), this.collection.findRelationshipsByPropertyValue(World.ADA, type,
            "link", 0, null, null, null, null, 0));
        Relationship found = this.collection.findRelationshipsByPropertyValue(World.ADA, null, "link-2", 0, null, null,
            null, null, 0).get(0);
        this.checks.equal("as it is read", this.collection.getRelationship(World.ADA, found.getGUID()), found);
    }

    private void refused() throws Exception {
        String type = this.world.type(TYPE);
        this.checks.refused("an unknown type", TypeErrorException.class, () -> this.collection.findEntities(World.ADA,
            "nope", null, null, 0, null, null, null, null, null, 0));
        this.checks.refused("a subtype that is none", TypeErrorException.class, () -> this.collection.findEntities(
            World.ADA, type, List.of(this.world.type("Glossary")), null, 0, null, null, null, null, null, 0));
        this.checks.refused("a negative page", PagingErrorException.class, () -> this.collection.findEntities(World.ADA,
            type, null, null, 0, null, null, null, null, null, -1));
        this.checks.refused("a negative page of relationships", PagingErrorException.class,
            () -> this.collection.findRelationships(World.ADA, null, null, null, 0, null, null, null, null, -1));
        this.checks.refused("no criteria", InvalidParameterException.class, () -> valued(null));
        this.checks.refused("no criteria for relationships", InvalidParameterException.class,
            () -> this.collection.findRelationshipsByPropertyValue(World.ADA, null, null, 0, null, null, null, null, 0));
        this.checks.refused("an unknown classification", ClassificationErrorException.class,
            () -> classified("Nope", null));
        this.checks.refused("a condition with a value and conditions", InvalidParameterException.class, () -> {
            PropertyCondition both = World.condition("position", PropertyComparisonOperator.EQ, World.primitive(1));
            both.setNestedConditions(World.search(MatchCriteria.ALL, both(1)));
            find(World.search(MatchCriteria.ALL, both), null);
        });
        this.checks.refused("LIKE a number", InvalidParameterException.class,
            () -> find(World.search(MatchCriteria.ALL, World.condition("position", PropertyComparisonOperator.LIKE,
                World.primitive(1))), null));
        this.checks.refused("IN one value", InvalidParameterException.class,
            () -> find(World.search(MatchCriteria.ALL, World.condition("position", PropertyComparisonOperator.IN,
                World.primitive(1))), null));
        this.checks.refused("a classification without a name", InvalidParameterException.class,
            () -> find(null, carrying(MatchCriteria.ALL, named(null, null))));
        this.checks.refused("order by a property without its name", PropertyErrorException.class,
            () -> ordered(SequencingOrder.PROPERTY_ASCENDING, null, 0, 0));
        this.checks.refused("a time to come", InvalidParameterException.class, () -> this.collection.findEntities(
            World.ADA, type, null, null, 0, null, null, new Date(4_000_000_000_000L), null, null, 0));
    }

    private static PropertyCondition both(int value) {
        return World.condition("position", PropertyComparisonOperator.EQ, World.primitive(value));
    }
}
