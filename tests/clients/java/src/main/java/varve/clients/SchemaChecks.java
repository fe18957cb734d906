package varve.clients;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.apache.hugegraph.driver.HugeClient;
import org.apache.hugegraph.driver.SchemaManager;
import org.apache.hugegraph.structure.constant.Cardinality;
import org.apache.hugegraph.structure.constant.DataType;
import org.apache.hugegraph.structure.constant.EdgeLabelType;
import org.apache.hugegraph.structure.constant.Frequency;
import org.apache.hugegraph.structure.constant.IdStrategy;
import org.apache.hugegraph.structure.constant.IndexType;
import org.apache.hugegraph.structure.schema.EdgeLabel;
import org.apache.hugegraph.structure.schema.IndexLabel;
import org.apache.hugegraph.structure.schema.PropertyKey;
import org.apache.hugegraph.structure.schema.VertexLabel;

/** Every kind of schema element: created, repeated, appended to, eliminated from, refused. */
final class SchemaChecks {

    private final Checks checks;
    private final SchemaManager schema;

    SchemaChecks(Checks checks, HugeClient client) {
        this.checks = checks;
        this.schema = client.schema();
    }

    void run() {
        this.checks.step("property keys", this::propertyKeys);
        this.checks.step("vertex labels", this::vertexLabels);
        this.checks.step("edge labels", this::edgeLabels);
        this.checks.step("index labels", this::indexLabels);
        this.checks.step("schema refusals", this::refusals);
        this.checks.step("user data", this::userData);
        this.checks.step("whole schema", this::wholeSchema);
    }

    private void propertyKeys() {
        PropertyKey name = this.schema.propertyKey("name").asText().create();
        this.checks.equal("name", "name", name.name());
        this.checks.equal("data type", DataType.TEXT, name.dataType());
        this.checks.equal("cardinality", Cardinality.SINGLE, name.cardinality());
        this.schema.propertyKey("age").asInt().create();
        this.schema.propertyKey("city").asText().create();
        this.schema.propertyKey("lang").asText().create();
        this.schema.propertyKey("date").asDate().create();
        this.schema.propertyKey("price").asInt().create();
        this.schema.propertyKey("weight").asDouble().create();
        this.schema.propertyKey("long").asLong().create();
        this.schema.propertyKey("float").asFloat().create();
        this.schema.propertyKey("byte").asByte().create();
        this.schema.propertyKey("flag").asBoolean().create();
        this.schema.propertyKey("blob").asBlob().create();
        this.schema.propertyKey("uuid").asUUID().create();
        this.schema.propertyKey("lonely").asText().create();
        this.schema.propertyKey("date @&$=*?").asDate().create();
        PropertyKey hobby = this.schema.propertyKey("hobby").asText().valueSet().create();
        PropertyKey tags = this.schema.propertyKey("tags").asText().valueList().create();
        this.checks.equal("a set", Cardinality.SET, hobby.cardinality());
        this.checks.equal("a list", Cardinality.LIST, tags.cardinality());
        this.checks.equal("repeated with ifNotExist", name.id(),
                          this.schema.propertyKey("name").asText().ifNotExist().create().id());
        this.checks.refused("repeated without", 400, "The property key 'name' has existed",
                            () -> this.schema.propertyKey("name").asText().create());
        this.checks.equal("an odd name", DataType.DATE,
                          this.schema.getPropertyKey("date @&$=*?").dataType());
        this.checks.equal("by names", List.of("age", "name"),
                          this.schema.getPropertyKeys(List.of("age", "name")).stream()
                                     .map(PropertyKey::name).collect(Collectors.toList()));
        this.checks.equal("all", 17, this.schema.getPropertyKeys().size());
        this.checks.refused("an unknown one", 404, "property key with name 'none' does not exist",
                            () -> this.schema.getPropertyKey("none"));
    }

    private void vertexLabels() {
        VertexLabel person = this.schema.vertexLabel("person")
                .properties("name", "age", "city").primaryKeys("name").nullableKeys("city")
                .create();
        this.checks.equal("strategy", IdStrategy.PRIMARY_KEY, person.idStrategy());
        this.checks.equal("primary keys", List.of("name"), person.primaryKeys());
        this.checks.equal("properties", Set.of("name", "age", "city"), person.properties());
        this.checks.holds("the label index is on", person.enableLabelIndex());
        this.schema.vertexLabel("software").properties("name", "lang", "price")
                   .primaryKeys("name").nullableKeys("price").create();
        this.checks.equal("string ids", IdStrategy.CUSTOMIZE_STRING,
                this.schema.vertexLabel("book").useCustomizeStringId().properties("name", "price")
                           .nullableKeys("price").create().idStrategy());
        this.checks.equal("number ids", IdStrategy.CUSTOMIZE_NUMBER,
                this.schema.vertexLabel("number").useCustomizeNumberId().properties("name")
                           .nullableKeys("name").create().idStrategy());
        this.checks.equal("uuids", IdStrategy.CUSTOMIZE_UUID,
                this.schema.vertexLabel("unique").useCustomizeUuidId().properties("name")
                           .nullableKeys("name").create().idStrategy());
        VertexLabel automatic = this.schema.vertexLabel("automatic").useAutomaticId()
                .properties("name").nullableKeys("name").ttl(86400000L).enableLabelIndex(false)
                .create();
        this.checks.equal("automatic ids", IdStrategy.AUTOMATIC, automatic.idStrategy());
        this.checks.equal("ttl", 86400000L, automatic.ttl());
        this.checks.equal("the label index is off", false, automatic.enableLabelIndex());
        String[] all = {"name", "age", "date", "weight", "long", "float", "byte", "flag", "blob",
                        "uuid", "hobby", "tags"};
        this.schema.vertexLabel("all").useCustomizeStringId().properties(all).nullableKeys(all)
                   .create();
        this.checks.equal("repeated with ifNotExist", person.id(),
                this.schema.vertexLabel("person").properties("name", "age", "city")
                           .primaryKeys("name").nullableKeys("city").ifNotExist().create().id());
        VertexLabel appended = this.schema.vertexLabel("person").properties("weight")
                                          .nullableKeys("weight").append();
        this.checks.equal("appended", Set.of("name", "age", "city", "weight"),
                          appended.properties());
        this.checks.equal("nullable", Set.of("city", "weight"),
                          this.schema.getVertexLabel("person").nullableKeys());
        this.checks.equal("all", 7, this.schema.getVertexLabels().size());
    }

    private void edgeLabels() {
        EdgeLabel knows = this.schema.edgeLabel("knows").link("person", "person").multiTimes()
                .properties("date", "city", "weight").sortKeys("date")
                .nullableKeys("city", "weight").create();
        this.checks.equal("frequency", Frequency.MULTIPLE, knows.frequency());
        this.checks.equal("sort keys", List.of("date"), knows.sortKeys());
        this.checks.equal("source", "person", knows.sourceLabel());
        EdgeLabel created = this.schema.edgeLabel("created").sourceLabel("person")
                .targetLabel("software").singleTime().properties("date", "weight")
                .nullableKeys("weight").create();
        this.checks.equal("frequency", Frequency.SINGLE, created.frequency());
        this.checks.equal("target", "software", created.targetLabel());
        this.checks.equal("type", EdgeLabelType.NORMAL, created.edgeLabelType());
        this.checks.equal("repeated with ifNotExist", created.id(),
                this.schema.edgeLabel("created").link("person", "software").singleTime()
                           .properties("date", "weight").nullableKeys("weight").ifNotExist()
                           .create().id());
        EdgeLabel appended = this.schema.edgeLabel("created").properties("city")
                                        .nullableKeys("city").append();
        this.checks.equal("appended", Set.of("date", "city", "weight"), appended.properties());
        this.checks.equal("all", 2, this.schema.getEdgeLabels().size());
        this.checks.equal("by name", created.id(), this.schema.getEdgeLabel("created").id());
    }

    private void indexLabels() {
        IndexLabel byAge = this.schema.indexLabel("personByAge").onV("person").by("age").range()
                                      .create();
        this.checks.equal("type", IndexType.RANGE, byAge.indexType());
        this.checks.equal("fields", List.of("age"), byAge.indexFields());
        this.checks.equal("base", "person", byAge.baseValue());
        this.schema.indexLabel("personByCity").onV("person").by("city").secondary().create();
        this.schema.indexLabel("softwareByLang").onV("software").by("lang").search().create();
        this.schema.indexLabel("softwareByLangPrice").onV("software").by("lang", "price").shard()
                   .create();
        this.schema.indexLabel("bookByName").onV("book").by("name").unique().create();
        this.schema.indexLabel("createdByWeight").onE("created").by("weight").range().create();
        this.schema.indexLabel("knowsByCity").onE("knows").by("city").secondary().create();
        this.checks.equal("repeated with ifNotExist", byAge.id(),
                this.schema.indexLabel("personByAge").onV("person").by("age").range()
                           .ifNotExist().create().id());
        this.checks.equal("known to its label", Set.of("personByAge", "personByCity"),
                          Set.copyOf(this.schema.getVertexLabel("person").indexLabels()));
        this.checks.equal("all", 7, this.schema.getIndexLabels().size());
        this.checks.equal("created", "CREATED", this.schema.getIndexLabel("personByAge").status());
    }

    private void refusals() {
        this.checks.refused("an undefined property", 400, "Undefined property key: 'none'",
                () -> this.schema.vertexLabel("bad").properties("none").create());
        this.checks.refused("a text range index", 400, "Range index can only build on numeric",
                () -> this.schema.indexLabel("bad").onV("person").by("city").range().create());
        this.checks.refused("an index on nothing", 400, "Undefined vertex label: 'none'",
                () -> this.schema.indexLabel("bad").onV("none").by("city").secondary()
                                 .create());
        this.checks.refused("an edge label from nowhere", 400, "Undefined source vertex label",
                () -> this.schema.edgeLabel("bad").link("none", "person").create());
        this.checks.refused("a bad name", 400, "Illegal schema name",
                () -> this.schema.propertyKey("~bad").create());
        this.checks.refused("a new property that is not nullable", 400, "must be nullable",
                () -> this.schema.vertexLabel("person").properties("price").append());
        this.checks.refused("an unknown label", 404, "does not exist",
                () -> this.schema.getVertexLabel("none"));
    }

    private void userData() {
        this.schema.propertyKey("age").userdata("min", 0).userdata("max", 150).append();
        PropertyKey age = this.schema.getPropertyKey("age");
        this.checks.equal("appended", 150, age.userdata().get("max"));
        this.schema.propertyKey("age").userdata("max", "").eliminate();
        age = this.schema.getPropertyKey("age");
        this.checks.equal("eliminated", null, age.userdata().get("max"));
        this.checks.equal("kept", 0, age.userdata().get("min"));
        this.schema.vertexLabel("person").userdata("icon", "p").append();
        this.checks.equal("of a vertex label", "p",
                          this.schema.getVertexLabel("person").userdata().get("icon"));
        this.schema.vertexLabel("person").userdata("icon", "").eliminate();
        this.checks.equal("gone from a vertex label", null,
                          this.schema.getVertexLabel("person").userdata().get("icon"));
        this.schema.edgeLabel("knows").userdata("icon", "k").append();
        this.checks.equal("of an edge label", "k",
                          this.schema.getEdgeLabel("knows").userdata().get("icon"));
        this.schema.indexLabel("personByAge").userdata("icon", "i").append();
        this.checks.equal("of an index label", "i",
                          this.schema.getIndexLabel("personByAge").userdata().get("icon"));
    }

    private void wholeSchema() {
        // The client declares schema elements here but hands out plain maps.
        Map<String, ? extends List<?>> whole = this.schema.getSchema();
        this.checks.equal("kinds",
                Set.of("propertykeys", "vertexlabels", "edgelabels", "indexlabels"),
                whole.keySet());
        this.checks.equal("property keys", 17, whole.get("propertykeys").size());
        Set<Object> names = new HashSet<>();
        for (Object label : whole.get("edgelabels")) {
            names.add(((Map<?, ?>) label).get("name"));
        }
        this.checks.equal("edge labels", Set.of("knows", "created"), names);
    }
}
