package varve.omrs;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.stream.Collectors;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyComparisonOperator;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.*;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.*;

/** Types: asked for in every way, added, verified, patched, renamed, removed, refused. */
final class TypeChecks {

    private static final String THING = "VarveTestThing";
    private static final String COLOUR = "VarveTestColour";
    private static final String THING_GUID = "f0000000-aaaa-4bbb-8ccc-000000000001";
    private static final String COLOUR_GUID = "f0000000-aaaa-4bbb-8ccc-000000000002";

    private final World world;
    private final Checks checks;
    private final OMRSMetadataCollection collection;

    TypeChecks(World world) {
        this.world = world;
        this.checks = world.checks;
        this.collection = world.collection;
    }

    void run() {
        this.checks.step("the gallery of types", this::gallery);
        this.checks.step("finding types", this::find);
        this.checks.step("adding types", this::add);
        this.checks.step("all kinds of values", this::values);
        this.checks.step("patching a type", this::patch);
        this.checks.step("refused types", this::refused);
        this.checks.step("a type of another name, and none", this::renameAndRemove);
    }

    private void gallery() throws Exception {
        TypeDefGallery gallery = this.collection.getAllTypes(World.ADA);
        this.checks.holds("at least the 600 types of the standard", gallery.getTypeDefs().size() >= 600);
        this.checks.holds("and its 62 attribute types", gallery.getAttributeTypeDefs().size() >= 62);
        for (TypeDef def : gallery.getTypeDefs().subList(0, 40)) {
            this.checks.equal("by GUID", def, this.collection.getTypeDefByGUID(World.ADA, def.getGUID()));
            this.checks.equal("by name", def, this.collection.getTypeDefByName(World.ADA, def.getName()));
            this.checks.holds("verified", this.collection.verifyTypeDef(World.ADA, def));
        }
        for (AttributeTypeDef def : gallery.getAttributeTypeDefs()) {
            this.checks.equal("by GUID", def, this.collection.getAttributeTypeDefByGUID(World.ADA, def.getGUID()));
            this.checks.equal("by name", def, this.collection.getAttributeTypeDefByName(World.ADA, def.getName()));
            this.checks.holds("verified", this.collection.verifyAttributeTypeDef(World.ADA, def));
        }
        long entities = gallery.getTypeDefs().stream().filter(EntityDef.class::isInstance).count();
        for (TypeDefCategory category : List.of(TypeDefCategory.ENTITY_DEF, TypeDefCategory.RELATIONSHIP_DEF,
                                                TypeDefCategory.CLASSIFICATION_DEF)) {
            List<TypeDef> wanted = gallery.getTypeDefs().stream().filter(def -> def.getCategory() == category)
                .collect(Collectors.toList());
            this.checks.equal("those of " + category, names(wanted),
                              names(this.collection.findTypeDefsByCategory(World.ADA, category)));
        }
        this.checks.holds("entity types", entities >= 274);
        for (AttributeTypeDefCategory category : List.of(AttributeTypeDefCategory.PRIMITIVE,
                AttributeTypeDefCategory.COLLECTION, AttributeTypeDefCategory.ENUM_DEF)) {
            long wanted = gallery.getAttributeTypeDefs().stream().filter(def -> def.getCategory() == category).count();
            this.checks.equal("those of " + category, wanted,
                (long) this.collection.findAttributeTypeDefsByCategory(World.ADA, category).size());
        }
    }

    private static List<String> names(List<TypeDef> defs) {
        return defs == null ? null : defs.stream().map(TypeDef::getName).sorted().collect(Collectors.toList());
    }

    private void find() throws Exception {
        TypeDefGallery byName = this.collection.findTypesByName(World.ADA, "Database");
        this.checks.equal("by its name", List.of("Database"), names(byName.getTypeDefs()));
        List<String> starts = names(this.collection.findTypesByName(World.ADA, "Database.*").getTypeDefs());
        this.checks.holds("by a pattern: " + starts,
            starts.containsAll(List.of("Database", "DatabaseManager")) && !starts.contains("RelationalDatabase"));
        List<String> found = names(this.collection.searchForTypeDefs(World.ADA, ".*GlossaryTerm"));
        this.checks.holds("by a search: " + found, found != null && found.contains("ControlledGlossaryTerm"));
        this.collection.findTypesByExternalID(World.ADA, "none such", null, null);
        this.checks.refused("an external id without any part", InvalidParameterException.class,
            () -> this.collection.findTypesByExternalID(World.ADA, null, null, null));
        TypeDefProperties properties = new TypeDefProperties();
        properties.setTypeDefProperties(new java.util.HashMap<>(java.util.Map.of("databaseVersion", "x")));
        // The connector can't send them: they never reach the server.
        this.checks.refused("properties that can't be sent", InvalidParameterException.class,
            () -> this.collection.findTypeDefsByProperty(World.ADA, properties));
        this.checks.refused("an unknown GUID", TypeDefNotKnownException.class,
            () -> this.collection.getTypeDefByGUID(World.ADA, "nope"));
        this.checks.refused("an unknown name", TypeDefNotKnownException.class,
            () -> this.collection.getTypeDefByName(World.ADA, "Nope"));
        this.checks.refused("an unknown attribute type", TypeDefNotKnownException.class,
            () -> this.collection.getAttributeTypeDefByGUID(World.ADA, "nope"));
        this.checks.refused("an unknown attribute type", TypeDefNotKnownException.class,
            () -> this.collection.getAttributeTypeDefByName(World.ADA, "nope"));
    }

    private void add() throws Exception {
        EnumDef colour = colour();
        this.checks.holds("not there yet", !this.collection.verifyAttributeTypeDef(World.ADA, colour));
        this.collection.addAttributeTypeDef(World.ADA, colour);
        this.checks.holds("there now", this.collection.verifyAttributeTypeDef(World.ADA, colour));
        this.checks.equal("as it was sent", colour, this.collection.getAttributeTypeDefByName(World.ADA, COLOUR));
        EntityDef thing = thing();
        this.checks.holds("not there yet", !this.collection.verifyTypeDef(World.ADA, thing));
        this.collection.addTypeDef(World.ADA, thing);
        this.checks.holds("there now", this.collection.verifyTypeDef(World.ADA, thing));
        this.checks.equal("as it was sent", thing, this.collection.getTypeDefByGUID(World.ADA, THING_GUID));
        this.world.repository.learn(thing);
        TypeDefGallery more = new TypeDefGallery();
        more.setAttributeTypeDefs(new ArrayList<>(List.of(enumDef("VarveTestShape", "f0000000-aaaa-4bbb-8ccc-000000000003"))));
        more.setTypeDefs(new ArrayList<>(List.of(entityDef("VarveTestBox", "f0000000-aaaa-4bbb-8ccc-000000000004", THING))));
        this.collection.addTypeDefGallery(World.ADA, more);
        TypeDef box = this.collection.getTypeDefByName(World.ADA, "VarveTestBox");
        this.checks.equal("its supertype", THING, box.getSuperType().getName());
        this.checks.equal("an attribute type of a gallery", more.getAttributeTypeDefs().get(0),
                          this.collection.getAttributeTypeDefByName(World.ADA, "VarveTestShape"));
        this.world.repository.learn(box);
    }

    private static EnumDef enumDef(String name, String guid) {
        EnumDef def = new EnumDef();
        def.setName(name);
        def.setGUID(guid);
        def.setVersion(1);
        def.setVersionName("1.0");
        def.setDescription("made by a test");
        List<EnumElementDef> elements = new ArrayList<>();
        for (String value : List.of("Red", "Green")) {
            EnumElementDef element = new EnumElementDef();
            element.setOrdinal(elements.size());
            element.setValue(value);
            elements.add(element);
        }
        def.setElementDefs(elements);
        return def;
    }

    private static EnumDef colour() {
        return enumDef(COLOUR, COLOUR_GUID);
    }

    private EntityDef entityDef(String name, String guid, String superType) {
        EntityDef def = new EntityDef();
        def.setGUID(guid);
        def.setName(name);
        def.setVersion(1);
        def.setVersionName("1.0");
        def.setDescription("made by a test");
        def.setCreatedBy(World.ADA);
        def.setCreateTime(new Date(1_600_000_000_000L));
        def.setSuperType(new TypeDefLink(this.world.def(superType)));
        def.setStatus(TypeDefStatus.ACTIVE_TYPEDEF);
        def.setValidInstanceStatusList(new ArrayList<>(List.of(InstanceStatus.ACTIVE, InstanceStatus.DELETED)));
        def.setInitialStatus(InstanceStatus.ACTIVE);
        return def;
    }

    private EntityDef thing() {
        EntityDef def = entityDef(THING, THING_GUID, "Referenceable");
        List<TypeDefAttribute> attributes = new ArrayList<>();
        for (String kind : List.of("boolean", "byte", "char", "short", "int", "long", "float", "double", "biginteger",
                                   "bigdecimal", "string", "date", "array<string>", "map<string,string>")) {
            attributes.add(attribute("a " + kind, this.world.helper.getAttributeTypeDefByName(World.ADA, kind)));
        }
        attributes.add(attribute("colour", colour()));
        def.setPropertiesDefinition(attributes);
        return def;
    }

    private static TypeDefAttribute attribute(String name, AttributeTypeDef type) {
        TypeDefAttribute attribute = new TypeDefAttribute();
        attribute.setAttributeName(name);
        attribute.setAttributeType(type);
        attribute.setAttributeStatus(TypeDefAttributeStatus.ACTIVE_ATTRIBUTE);
        attribute.setAttributeDescription("made by a test");
        attribute.setAttributeCardinality(AttributeCardinality.AT_MOST_ONE);
        attribute.setValuesMaxCount(1);
        attribute.setIndexable(true);
        return attribute;
    }

    private void values() throws Exception {
        // The bean reads big integers that are no int, and big decimals that are one; others it refuses from any server.
        Object[] values = {true, (byte) -7, 'ä', (short) 30000, -5, 1L << 60, 5L, 0.5f, 2f, 1e300, 3d,
            new BigInteger("12345678901234567890123"), BigInteger.valueOf(1L << 40), BigDecimal.valueOf(42),
            "ü \\ \" \n", new Date(1_600_000_000_123L), new Date(-1)};
        String[] kinds = {"boolean", "byte", "char", "short", "int", "long", "long", "float", "float", "double", "double",
            "biginteger", "biginteger", "bigdecimal", "string", "date", "date"};
        for (int i = 0; i < values.length; i++) {
            EntityDetail made = this.world.entity(THING, "qualifiedName", "value-" + kinds[i], "a " + kinds[i], values[i]);
            EntityDetail read = this.collection.getEntityDetail(World.ADA, made.getGUID());
            PrimitivePropertyValue value =
                (PrimitivePropertyValue) read.getProperties().getPropertyValue("a " + kinds[i]);
            this.checks.equal(kinds[i] + ": its kind", World.primitive(values[i]).getPrimitiveDefCategory(),
                              value.getPrimitiveDefCategory());
            Object wanted = values[i] instanceof Date date ? date.getTime() : values[i];
            // JSON has one kind of numbers: which Java class comes out is the connector's choice.
            this.checks.equal(kinds[i], wanted.toString(), value.getPrimitiveValue().toString());
            this.checks.same("found by its " + kinds[i], List.of(made), this.collection.findEntities(World.ADA,
                THING_GUID, null, World.search(MatchCriteria.ALL, World.condition("a " + kinds[i],
                    PropertyComparisonOperator.EQ, World.primitive(values[i]))), 0, null, null, null, null, null, 0));
        }
    }

    private void patch() throws Exception {
        TypeDefPatch patch = new TypeDefPatch();
        patch.setTypeDefGUID(THING_GUID);
        patch.setTypeDefName(THING);
        patch.setApplyToVersion(1);
        patch.setUpdateToVersion(2);
        patch.setNewVersionName("1.1");
        patch.setUpdatedBy(World.BOB);
        patch.setUpdateTime(new Date(1_700_000_000_000L));
        patch.setDescription("patched");
        AttributeTypeDef string = this.world.helper.getAttributeTypeDefByName(World.ADA, "string");
        patch.setPropertyDefinitions(new ArrayList<>(List.of(attribute("added", string))));
        TypeDef patched = this.collection.updateTypeDef(World.ADA, patch);
        this.checks.equal("version", 2L, patched.getVersion());
        this.checks.equal("description", "patched", patched.getDescription());
        this.checks.equal("read again", patched, this.collection.getTypeDefByGUID(World.ADA, THING_GUID));
        EntityDetail entity = this.world.entity(THING, "qualifiedName", "patched", "added", "yes");
        this.checks.equal("the type's version in an instance", 2L, entity.getType().getTypeDefVersion());
        patch.setUpdateToVersion(1);
        patch.setApplyToVersion(2);
        this.checks.refused("a patch to an earlier version", PatchErrorException.class,
            () -> this.collection.updateTypeDef(World.ADA, patch));
        patch.setTypeDefGUID("nope");
        patch.setTypeDefName("Nope");
        this.checks.refused("a patch of an unknown type", TypeDefNotKnownException.class,
            () -> this.collection.updateTypeDef(World.ADA, patch));
    }

    private void refused() throws Exception {
        TypeDef database = this.world.def("Database");
        // A server that comes back adds what it has added before.
        this.collection.addTypeDef(World.ADA, database);
        this.checks.equal("after adding it again", database, this.collection.getTypeDefByName(World.ADA, "Database"));
        EntityDef altered = thing();
        altered.setVersion(2);
        altered.setVersionName("1.1");
        altered.setInitialStatus(InstanceStatus.DELETED);
        this.checks.refused("a type that is there and says something else", TypeDefKnownException.class,
            () -> this.collection.addTypeDef(World.ADA, altered));
        EnumDef shades = colour();
        shades.setElementDefs(new ArrayList<>(shades.getElementDefs().subList(0, 1)));
        this.checks.refused("an attribute type that is there and says something else", TypeDefKnownException.class,
            () -> this.collection.addAttributeTypeDef(World.ADA, shades));
        EntityDef conflict = entityDef("Database", "f0000000-aaaa-4bbb-8ccc-000000000005", "Referenceable");
        this.checks.refused("another type by that name", TypeDefConflictException.class,
            () -> this.collection.verifyTypeDef(World.ADA, conflict));
        this.checks.refused("another attribute type by that name", TypeDefConflictException.class,
            () -> this.collection.verifyAttributeTypeDef(World.ADA,
                enumDef(COLOUR, "f0000000-aaaa-4bbb-8ccc-000000000006")));
        EntityDef nameless = entityDef("VarveTestNameless", "f0000000-aaaa-4bbb-8ccc-000000000007", "Referenceable");
        nameless.setName(null);
        this.checks.refused("a type without a name", InvalidTypeDefException.class,
            () -> this.collection.addTypeDef(World.ADA, nameless));
        EntityDef orphan = entityDef("VarveTestOrphan", "f0000000-aaaa-4bbb-8ccc-000000000008", "Referenceable");
        orphan.setSuperType(new TypeDefLink(orphan));
        orphan.getSuperType().setName("Nope");
        orphan.getSuperType().setGUID("nope");
        this.checks.refused("a type of an unknown supertype", InvalidTypeDefException.class,
            () -> this.collection.addTypeDef(World.ADA, orphan));
        List<TypeDef> links = new ArrayList<>();
        TypeDef last = this.world.def("Referenceable");
        for (int i = 0; i < 101; i++) {
            EntityDef next = entityDef("VarveTestLink" + i, "f0000000-aaaa-4bbb-8ccc-000000001" + (100 + i), "Referenceable");
            next.setSuperType(new TypeDefLink(last));
            links.add(next);
            last = next;
        }
        TypeDefGallery chain = new TypeDefGallery();
        chain.setTypeDefs(links);
        this.checks.refused("a type with too many supertypes", TypeDefNotSupportedException.class,
            () -> this.collection.addTypeDefGallery(World.ADA, chain));
        this.checks.refused("no type", InvalidParameterException.class,
            () -> this.collection.addTypeDef(World.ADA, null));
    }

    private void renameAndRemove() throws Exception {
        this.checks.refused("a type with instances", TypeDefInUseException.class,
            () -> this.collection.deleteTypeDef(World.ADA, THING_GUID, THING));
        this.checks.refused("an attribute type that a type uses", TypeDefInUseException.class,
            () -> this.collection.deleteAttributeTypeDef(World.ADA, COLOUR_GUID, COLOUR));
        String boxGuid = "f0000000-aaaa-4bbb-8ccc-000000000004";
        TypeDef crate = this.collection.reIdentifyTypeDef(World.ADA, boxGuid, "VarveTestBox",
            "f0000000-aaaa-4bbb-8ccc-000000000014", "VarveTestCrate");
        this.checks.equal("the new name", "VarveTestCrate", crate.getName());
        this.checks.equal("read again", crate, this.collection.getTypeDefByName(World.ADA, "VarveTestCrate"));
        this.checks.refused("the old name", TypeDefNotKnownException.class,
            () -> this.collection.getTypeDefByName(World.ADA, "VarveTestBox"));
        AttributeTypeDef form = this.collection.reIdentifyAttributeTypeDef(World.ADA,
            "f0000000-aaaa-4bbb-8ccc-000000000003", "VarveTestShape",
            "f0000000-aaaa-4bbb-8ccc-000000000013", "VarveTestForm");
        this.checks.equal("the new name", "VarveTestForm", form.getName());
        this.collection.deleteTypeDef(World.ADA, crate.getGUID(), crate.getName());
        this.checks.refused("a removed type", TypeDefNotKnownException.class,
            () -> this.collection.getTypeDefByGUID(World.ADA, crate.getGUID()));
        this.collection.deleteAttributeTypeDef(World.ADA, form.getGUID(), form.getName());
        this.checks.refused("a removed attribute type", TypeDefNotKnownException.class,
            () -> this.collection.getAttributeTypeDefByGUID(World.ADA, form.getGUID()));
        this.checks.refused("removed twice", TypeDefNotKnownException.class,
            () -> this.collection.deleteTypeDef(World.ADA, crate.getGUID(), crate.getName()));
    }
}
