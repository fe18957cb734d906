//! Stored content: every kind of value comes back, and damage is reported, never a panic.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::vertex_parts;
use varve_graph::index::{DerivedEntries, Deriver};
use varve_model::ElementId;
use varve_model::id::VERTEX_ID_BYTES_MAX;

use super::carried;
use super::decode::{Decoder, Parts, classifications, classifications_named};
use super::encode::Encoder;
use super::entries::InstanceDeriver;
use super::made::{CLASSIFICATION_BYTES_MAX, MadeJson};
use super::read::vertex_of;
use super::row::Row;
use super::rules::Rules;
use super::state::Keys;
use crate::instances::*;
use crate::json::{Field, Limits, Millis, RawJson, Writer, decode, encode};
use crate::matching::{Facts, HEADER_FIELDS};
use crate::store::{RenderedEntity, StoredEntity};
use crate::types::{Catalogue, InstanceStatus, PrimitiveDefCategory, TypeIndex};
use crate::validate::completed_properties;

const KEYS: Keys = Keys {
    header: 1,
    properties: 2,
    classifications: 3,
};
const LABEL: u32 = 7;

struct Fixture {
    types: Arc<Catalogue>,
    of: TypeIndex,
    deriver: InstanceDeriver,
}

impl Fixture {
    fn new() -> Self {
        let types = Arc::new(Catalogue::built_in());
        let of = types.by_name("Database").unwrap();
        let labels = [(of, LABEL)].into_iter().collect();
        let rules = Rules::of(&types, &labels, &Rules::default());
        let deriver = InstanceDeriver {
            rules: Arc::new(rules),
            keys: KEYS,
            texts: None,
        };
        Self { types, of, deriver }
    }

    fn encode(&self, entity: &StoredEntity) -> Vec<u8> {
        let encoder = Encoder {
            types: &self.types,
            keys: KEYS,
        };
        let of = self.types.get(self.of);
        encoder.entity(Millis(0), LABEL, of, entity).unwrap()
    }

    fn decode(&self, content: &[u8]) -> Option<StoredEntity> {
        let (_, properties) = vertex_parts(content).ok()?;
        let parts = Parts::of(properties, KEYS).ok()?;
        let decoder = Decoder {
            types: &self.types,
            made: &MadeJson::new(CLASSIFICATION_BYTES_MAX),
        };
        let of = Some(self.types.get(self.of));
        decoder.entity("guid", of, &parts, None).ok()
    }

    /// Whether the JSON of the classifications can be rendered directly from the stored bytes. If
    /// so, checks it against the decoded classifications.
    fn renders_classifications(&self, content: &[u8]) -> Option<bool> {
        let (_, properties) = vertex_parts(content).ok()?;
        let stored = Parts::of(properties, KEYS).ok()?.classifications?;
        let Ok(json) = carried::json(&self.types, stored) else {
            return Some(false);
        };
        let read = classifications(&self.types, stored).expect("what is rendered can be read");
        let mut writer = Writer::new();
        Field::write(&read, &mut writer);
        assert_eq!(json, writer.finish());
        for name in read.iter().map(Classification::name).chain(["other"]) {
            let of_name = read.iter().filter(|one| one.name() == name);
            let named = classifications_named(&self.types, stored, name);
            let named = named.expect("what can be read can be read in part");
            assert_eq!(named, of_name.cloned().collect::<Vec<_>>());
        }
        Some(true)
    }

    /// Whether the JSON of the entity can be rendered directly from the stored bytes. If so, checks
    /// it against the decoded entity.
    fn renders_entity(&self, content: &[u8]) -> Option<bool> {
        let (_, properties) = vertex_parts(content).ok()?;
        let parts = Parts::of(properties, KEYS).ok()?;
        let decoder = Decoder {
            types: &self.types,
            made: &MadeJson::new(CLASSIFICATION_BYTES_MAX),
        };
        let of = Some(self.types.get(self.of));
        let Ok((life_status, json)) = decoder.entity_json("guid", of, &parts) else {
            return Some(false);
        };
        let read = decoder.entity("guid", of, &parts, None);
        let read = RenderedEntity::new(&self.types, read.expect("what is rendered can be read"));
        let rendered = RenderedEntity::of_json("guid", Some(self.of), life_status, json);
        assert_eq!(rendered.life_status(), read.life_status());
        assert_eq!(encode(rendered.proxy()), encode(read.proxy()));
        // Also when rendered separately.
        let proxy = decoder.proxy_json("guid", of, &parts);
        let proxy = proxy.expect("what stands for it can be rendered alone");
        assert_eq!(proxy.joined(), encode(read.proxy()));
        let detail = decoder.detail_json("guid", of, &parts);
        let detail = detail.expect("it can be rendered alone");
        let [rendered, read] = [&rendered, &read].map(|of| of.detail().map(encode));
        assert_eq!(rendered, read);
        assert_eq!(detail.map(|json| json.joined()), read);
        Some(true)
    }

    /// Reads all parts of a row. Returns whether all of them could be decoded.
    fn can_all_be_asked(&self, content: &[u8]) -> Option<bool> {
        let (_, properties) = vertex_parts(content).ok()?;
        let parts = Parts::of(properties, KEYS).ok()?;
        let made = MadeJson::new(CLASSIFICATION_BYTES_MAX);
        let decoder = Decoder {
            types: &self.types,
            made: &made,
        };
        let id = ElementId::Vertex(vertex_of("guid"));
        let row = Row::new(decoder, (&id, content), Some(self.of), parts).ok()?;
        row.any_classification("Confidentiality", &mut |_| false);
        let _ = (row.property("name"), row.field("createdBy"));
        let _ = row.properties();
        row.classifications();
        Some(row.checked().is_ok())
    }

    /// Checks that a row and the decoded object have equal fields.
    fn check_shown(&self, content: &[u8]) {
        let (_, properties) = vertex_parts(content).unwrap();
        let made = MadeJson::new(CLASSIFICATION_BYTES_MAX);
        let decoder = Decoder {
            types: &self.types,
            made: &made,
        };
        let id = ElementId::Vertex(vertex_of("guid"));
        let parts = || Parts::of(properties.clone(), KEYS).unwrap();
        let row = || Row::new(decoder, (&id, content), Some(self.of), parts()).unwrap();
        let read = self.decode(content).unwrap();
        let shown = row();
        assert_eq!(shown.guid(), "guid");
        assert_eq!(shown.life_status().status, read.header().audit.status);
        let is_proxy = matches!(read, StoredEntity::Proxy(_));
        assert_eq!(shown.life_status().is_proxy, is_proxy);
        assert_eq!(shown.create_time(), read.create_time());
        assert_eq!(shown.update_time(), read.update_time());
        for name in HEADER_FIELDS.iter().chain(&["other"]) {
            let [one, other] = [shown.field(name), Facts::field(&read, name)];
            assert_eq!(format!("{one:?}"), format!("{other:?}"), "{name}");
        }
        let all = read.properties().into_iter().flat_map(|of| &of.values);
        let names: Vec<&str> = all.map(|(name, _)| name.as_str()).collect();
        for made_before in [false, true] {
            let shown = row();
            if made_before {
                assert_eq!(shown.properties(), read.properties());
                assert_eq!(shown.header(), Some(read.header()));
                let all = shown.classifications().iter();
                assert_eq!(all.as_slice(), read.classifications());
            }
            for name in names.iter().chain(&["other"]) {
                assert_eq!(shown.property(name), Facts::property(&read, name));
            }
            for name in ["Confidentiality", "", "other"] {
                let (mut one, mut two) = (Vec::new(), Vec::new());
                shown.any_classification(name, &mut |of| {
                    one.push(of.clone());
                    false
                });
                read.any_classification(name, &mut |of| {
                    two.push(of.clone());
                    false
                });
                assert_eq!(one, two);
            }
            assert!(shown.checked().is_ok());
        }
    }

    fn derive(&self, content: &[u8]) -> Option<DerivedEntries> {
        let mut entries = DerivedEntries::default();
        let id = ElementId::Vertex(vertex_of("guid"));
        self.deriver.derive(&id, content, &mut entries).ok()?;
        Some(entries)
    }
}

fn raw(json: &str) -> RawJson {
    decode(json.as_bytes(), Limits::DEFAULT).unwrap()
}

fn primitives() -> Vec<Primitive> {
    vec![
        Primitive::Boolean(true),
        Primitive::Byte(-8),
        Primitive::Char('ß'),
        Primitive::Short(-300),
        Primitive::Int(i32::MIN),
        Primitive::Long(i64::MAX),
        Primitive::Float(1.1),
        Primitive::Double(-0.0),
        Primitive::BigInteger(BigInteger::from_text("123456789012345678901234567890").unwrap()),
        Primitive::BigDecimal(BigDecimal::from_text("-12.3400e-7").unwrap()),
        Primitive::String("one\0two".to_owned()),
        Primitive::Date(Millis(-1)),
        Primitive::Object(raw(r#"{"a":[1,null]}"#)),
    ]
}

/// An entity with every kind of value, in properties that its type does not define.
#[expect(clippy::too_many_lines, reason = "one course of events")]
fn everything(fixture: &Fixture) -> StoredEntity {
    let mut properties = InstanceProperties {
        header_version: None,
        effective_from: Some(Millis(5)),
        ..InstanceProperties::default()
    };
    for (number, value) in primitives().into_iter().enumerate() {
        let mut value = PrimitivePropertyValue::of(value);
        value.header.header_version = (number % 3 == 0).then_some(1);
        value.header.type_name = (number % 2 == 0).then(|| "other".to_owned());
        let value = InstancePropertyValue::Primitive(value);
        properties.values.insert(format!("p{number}"), value);
    }
    let null = PrimitivePropertyValue {
        category: PrimitiveDefCategory::Int,
        ..PrimitivePropertyValue::of(Primitive::Int(1))
    };
    let null = PrimitivePropertyValue {
        value: None,
        ..null
    };
    let nested = InstanceProperties::default().with("0", InstancePropertyValue::Primitive(null));
    let nested = nested.with("1", InstancePropertyValue::string("deep"));
    let values = [
        InstancePropertyValue::Enum(EnumPropertyValue {
            ordinal: 3,
            symbolic_name: Some("Three".to_owned()),
            description: Some("prose".to_owned()),
            ..EnumPropertyValue::default()
        }),
        InstancePropertyValue::Struct(StructPropertyValue {
            attributes: Some(nested.clone()),
            ..StructPropertyValue::default()
        }),
        InstancePropertyValue::Map(MapPropertyValue::default()),
        InstancePropertyValue::Array(ArrayPropertyValue {
            count: 2,
            values: Some(nested),
            ..ArrayPropertyValue::default()
        }),
    ];
    for (number, value) in values.into_iter().enumerate() {
        properties.values.insert(format!("v{number}"), value);
    }
    properties
        .values
        .insert("name".to_owned(), InstancePropertyValue::string("plain"));
    let known = fixture.types.get(fixture.of).instance_type();
    let other = InstanceType {
        description: Some("another".to_owned()),
        ..InstanceType::clone(known)
    };
    let audit = InstanceAuditHeader {
        instance_type: Some(other.into()),
        replicated_by: Some("r".to_owned()),
        maintained_by: vec!["a".to_owned(), "b".to_owned()],
        create_time: Some(Millis(1)),
        update_time: Some(Millis(2)),
        version: 9,
        status: Some(InstanceStatus::Deleted),
        status_on_delete: Some(InstanceStatus::Draft),
        mapping_properties: [("m".to_owned(), raw("1.50"))].into_iter().collect(),
        ..InstanceAuditHeader::default()
    };
    let classification = Classification {
        audit: audit.clone(),
        name: Some("Confidentiality".to_owned()),
        properties: Some(properties.clone()),
        origin: Some(ClassificationOrigin::Propagated),
        origin_guid: Some("from".to_owned()),
    };
    StoredEntity::Detail(EntityDetail {
        header: InstanceHeader {
            audit,
            guid: Some("guid".to_owned()),
            instance_url: Some("url".to_owned()),
            re_identified_from_guid: Some("before".to_owned()),
        },
        classifications: vec![classification, Classification::default()].into(),
        properties: Some(properties),
    })
}

#[test]
fn every_kind_of_value_comes_back() {
    let fixture = Fixture::new();
    let entity = everything(&fixture);
    let content = fixture.encode(&entity);
    assert_eq!(fixture.decode(&content), Some(entity));
    assert!(
        fixture
            .derive(&content)
            .is_some_and(|entries| entries.len() > 10)
    );
}

#[test]
fn classifications_are_rendered_as_they_are_read() {
    let fixture = Fixture::new();
    let StoredEntity::Detail(entity) = everything(&fixture) else {
        panic!("it is an entity");
    };
    let of = fixture.types.by_name("Confidentiality").unwrap();
    let level = InstancePropertyValue::primitive(Primitive::Int(3));
    let properties = InstanceProperties {
        header_version: Some(1),
        ..InstanceProperties::default()
    };
    let properties = properties
        .with("source", InstancePropertyValue::string("\"quoted\""))
        .with("confidence", level)
        .with("notes", InstancePropertyValue::string(""));
    let usual = Classification {
        audit: InstanceAuditHeader {
            header_version: Some(1),
            instance_type: Some(fixture.types.get(of).instance_type().clone()),
            provenance: Some(InstanceProvenanceType::LocalCohort),
            status: Some(InstanceStatus::Active),
            created_by: Some("me".to_owned()),
            ..InstanceAuditHeader::default()
        },
        name: Some("Confidentiality".to_owned()),
        properties: Some(completed_properties(&fixture.types, of, properties).unwrap()),
        origin: Some(ClassificationOrigin::Assigned),
        origin_guid: None,
    };
    let empty = Classification {
        properties: Some(InstanceProperties::default()),
        ..usual.clone()
    };
    for classifications in [
        entity.classifications.to_vec(),
        vec![usual.clone()],
        vec![empty, Classification::default(), usual],
    ] {
        let entity = StoredEntity::Detail(EntityDetail {
            classifications: classifications.into(),
            ..entity.clone()
        });
        let content = fixture.encode(&entity);
        assert_eq!(fixture.renders_classifications(&content), Some(true));
        assert_eq!(fixture.decode(&content), Some(entity));
    }
}

#[test]
fn entities_are_rendered_as_they_are_read() {
    let fixture = Fixture::new();
    let other = everything(&fixture);
    // The type that it states differs from the catalogue's.
    let content = fixture.encode(&other);
    assert_eq!(fixture.renders_entity(&content), Some(false));
    let StoredEntity::Detail(mut entity) = other else {
        panic!("it is an entity");
    };
    let known = fixture.types.get(fixture.of).instance_type();
    entity.header.audit.instance_type = Some(known.clone());
    let name = InstancePropertyValue::string("\"unique\"");
    entity.properties = entity.properties.map(|of| of.with("qualifiedName", name));
    let proxy = EntityProxy {
        header: entity.header.clone(),
        unique_properties: entity.properties.clone(),
        ..EntityProxy::default()
    };
    let bare = EntityDetail {
        header: entity.header.clone(),
        ..EntityDetail::default()
    };
    for entity in [
        StoredEntity::Detail(entity),
        StoredEntity::Detail(bare),
        StoredEntity::Proxy(proxy),
    ] {
        let content = fixture.encode(&entity);
        assert_eq!(fixture.renders_entity(&content), Some(true));
    }
}

#[test]
fn what_is_held_of_an_entity_is_counted_once_for_each_time_it_was_written() {
    const LONG: usize = 100_000;
    let fixture = Fixture::new();
    let known = fixture.types.get(fixture.of).instance_type();
    let held = |name: &str, license: Option<String>| {
        let header = InstanceHeader {
            audit: InstanceAuditHeader {
                instance_type: Some(known.clone()),
                license,
                ..InstanceAuditHeader::default()
            },
            ..InstanceHeader::default()
        };
        let value = InstancePropertyValue::string(&"x".repeat(LONG));
        let content = fixture.encode(&StoredEntity::Detail(EntityDetail {
            header,
            properties: Some(InstanceProperties::default().with(name, value)),
            ..EntityDetail::default()
        }));
        let (_, properties) = vertex_parts(&content).unwrap();
        let parts = Parts::of(properties, KEYS).unwrap();
        let decoder = Decoder {
            types: &fixture.types,
            made: &MadeJson::new(CLASSIFICATION_BYTES_MAX),
        };
        let of = Some(fixture.types.get(fixture.of));
        let (life_status, json) = decoder.entity_json("guid", of, &parts).unwrap();
        let rendered = RenderedEntity::of_json("guid", Some(fixture.of), life_status, json);
        rendered.held_bytes().unwrap()
    };
    // Beside the long texts: the rest of the JSON, and room for objects that are not decoded yet.
    let rest = size_of::<EntityDetail>() + size_of::<EntityProxy>();
    let others = rest..rest + 10_000;
    let long = || Some("x".repeat(LONG));
    assert!(others.contains(&(held("description", None) - LONG)));
    assert!(others.contains(&(held("qualifiedName", None) - 2 * LONG)));
    assert!(others.contains(&(held("description", long()) - 2 * LONG)));
}

#[test]
fn what_a_row_is_asked_is_answered_as_the_object_does() {
    let fixture = Fixture::new();
    let entity = everything(&fixture);
    let StoredEntity::Detail(detail) = entity.clone() else {
        panic!("it is an entity");
    };
    let bare = EntityDetail {
        header: detail.header.clone(),
        ..EntityDetail::default()
    };
    let proxy = EntityProxy {
        header: detail.header,
        unique_properties: detail.properties,
        ..EntityProxy::default()
    };
    for entity in [
        entity,
        StoredEntity::Detail(bare),
        StoredEntity::Proxy(proxy),
    ] {
        let content = fixture.encode(&entity);
        fixture.check_shown(&content);
        assert_eq!(fixture.can_all_be_asked(&content), Some(true));
    }
}

#[test]
fn an_empty_entity_comes_back() {
    let fixture = Fixture::new();
    let header = InstanceHeader {
        guid: Some("guid".to_owned()),
        ..InstanceHeader::default()
    };
    let proxy = StoredEntity::Proxy(EntityProxy {
        header,
        ..EntityProxy::default()
    });
    assert_eq!(fixture.decode(&fixture.encode(&proxy)), Some(proxy));
}

#[test]
fn properties_that_nest_too_deep_are_refused() {
    let fixture = Fixture::new();
    let deep = |levels: usize| {
        let inner = InstanceProperties::default();
        let properties = (0..levels).fold(inner, |inner, _| {
            let value = InstancePropertyValue::Map(MapPropertyValue {
                values: Some(inner),
                ..MapPropertyValue::default()
            });
            InstanceProperties::default().with("k", value)
        });
        StoredEntity::Detail(EntityDetail {
            header: InstanceHeader {
                guid: Some("guid".to_owned()),
                ..InstanceHeader::default()
            },
            properties: Some(properties),
            ..EntityDetail::default()
        })
    };
    let most = deep(30);
    assert_eq!(fixture.decode(&fixture.encode(&most)), Some(most));
    let encoder = Encoder {
        types: &fixture.types,
        keys: KEYS,
    };
    let of = fixture.types.get(fixture.of);
    assert!(encoder.entity(Millis(0), LABEL, of, &deep(31)).is_err());
}

#[test]
fn damaged_content_never_panics() {
    let fixture = Fixture::new();
    let content = fixture.encode(&everything(&fixture));
    let mut state = 2026_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for _ in 0..20_000 {
        let mut bytes = content.clone();
        for _ in 0..=below(3) {
            let at = below(bytes.len());
            match below(4) {
                0 => bytes[at] ^= 1 << below(8),
                1 => bytes[at] = [0, 1, 3, 5, 6, 7, 0xFF][below(7)],
                2 => bytes.truncate(at + 1),
                _ => {
                    bytes.remove(at);
                    bytes.push(0);
                }
            }
        }
        let asked = fixture.can_all_be_asked(&bytes);
        if let Some(read) = fixture.decode(&bytes) {
            // Reads the fields as well, not only the JSON.
            let _ = read.classifications().len();
        } else {
            assert_ne!(asked, Some(true));
        }
        let _ = fixture.renders_classifications(&bytes);
        let _ = fixture.renders_entity(&bytes);
        let _ = fixture.derive(&bytes);
    }
}

#[test]
fn a_guid_that_is_longer_than_ids_names_no_entity() {
    let longest = "x".repeat(VERTEX_ID_BYTES_MAX);
    assert_eq!(vertex_of(&longest).to_string(), longest);
    // Keys hold the lengths of ids in 16 bits.
    for longer in [VERTEX_ID_BYTES_MAX + 1, 1 << 16] {
        let id = vertex_of(&"x".repeat(longer));
        assert_eq!(id, vertex_of(""));
        assert_eq!(key::vertex_id(&id).len(), 1);
    }
}
