//! Random instances and queries for them, such that most queries find some.

use std::time::Duration;

use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::matching::{Condition, Effort, Pattern, Target, Test, text_condition};
use varve_omrs::requests::{FindRequest, Page, PropertyComparisonOperator};
use varve_omrs::search::{Order, Query, TypeLimit};
use varve_omrs::store::{StoredEntity, StoredRelationship, Subject};
use varve_omrs::types::{
    AttributeTypeKind, Catalogue, InstanceStatus, PrimitiveDefCategory, TypeIndex,
};
use varve_testkit::random::Random;

use crate::filled::StoredInstance;

const ENTITY_TYPES: &[&str] = &[
    "OpenMetadataRoot",
    "Referenceable",
    "Asset",
    "Database",
    "DataFile",
    "Person",
    "ToDo",
    "SoftwareServer",
];
const RELATIONSHIP_TYPES: &[&str] = &[
    "SemanticAssignment",
    "AssetSchemaType",
    "ForeignKey",
    "AttachedLike",
];
const TEXTS: &[&str] = &["name", "Name", "names", "no", "a\nb", "", "é", "Other"];
const NAMES: &[&str] = &["Confidentiality", "Retention", "Memento"];
const HOMES: &[&str] = &["here", "there"];
const STATUSES: &[InstanceStatus] = &[
    InstanceStatus::Active,
    InstanceStatus::Draft,
    InstanceStatus::Deleted,
];

fn some(random: &mut Random, items: &[&str]) -> String {
    (*random.pick(items)).to_owned()
}

fn millis(random: &mut Random) -> Option<Millis> {
    (!random.one_in(4)).then(|| Millis(1000 + random.below(20) as i64))
}

fn primitive(random: &mut Random, category: PrimitiveDefCategory) -> Primitive {
    let small = random.below(4);
    match category {
        PrimitiveDefCategory::Boolean => Primitive::Boolean(small.is_multiple_of(2)),
        PrimitiveDefCategory::Int => Primitive::Int(small as i32),
        PrimitiveDefCategory::Long => Primitive::Long(small as i64),
        PrimitiveDefCategory::Float => Primitive::Float(small as f32 / 2.0),
        PrimitiveDefCategory::Double => Primitive::Double(small as f64 / 2.0),
        PrimitiveDefCategory::Date => Primitive::Date(Millis(small as i64)),
        _ => Primitive::String(some(random, TEXTS)),
    }
}

/// Some of the properties of a type, with values of which there are few.
fn properties(random: &mut Random, types: &Catalogue, index: TypeIndex) -> InstanceProperties {
    let mut properties = InstanceProperties::default();
    for property in types.get(index).properties() {
        if random.one_in(3) {
            continue;
        }
        let def = property.attribute.type_def().unwrap();
        let value = match &def.kind {
            AttributeTypeKind::Primitive(kind) => {
                let category = kind.category.unwrap();
                let value = primitive(random, category);
                if value.category() != category {
                    continue;
                }
                InstancePropertyValue::primitive(value)
            }
            AttributeTypeKind::Enum(kind) => {
                let element = random.pick(&kind.elements);
                InstancePropertyValue::Enum(EnumPropertyValue {
                    ordinal: element.ordinal,
                    symbolic_name: element.value.clone(),
                    ..Default::default()
                })
            }
            AttributeTypeKind::Collection(_) => {
                let nested = InstancePropertyValue::string(&some(random, TEXTS));
                InstancePropertyValue::Map(MapPropertyValue {
                    values: Some(InstanceProperties::default().with("key", nested)),
                    ..Default::default()
                })
            }
        };
        properties = properties.with(property.attribute.name(), value);
    }
    properties
}

fn header(
    random: &mut Random,
    types: &Catalogue,
    index: TypeIndex,
    guid: String,
) -> InstanceHeader {
    InstanceHeader {
        audit: InstanceAuditHeader {
            instance_type: Some(types.get(index).instance_type().clone()),
            metadata_collection_id: Some(some(random, HOMES)),
            create_time: millis(random),
            update_time: millis(random),
            version: 1 + random.below(3) as i64,
            status: Some(*random.pick(STATUSES)),
            ..Default::default()
        },
        guid: Some(guid),
        ..Default::default()
    }
}

fn classifications(random: &mut Random) -> Vec<Classification> {
    let mut carried = Vec::new();
    for name in NAMES {
        if random.one_in(3) {
            let level = InstancePropertyValue::primitive(Primitive::Int(random.below(3) as i32));
            carried.push(Classification {
                name: Some((*name).to_owned()),
                properties: Some(InstanceProperties::default().with("level", level)),
                ..Default::default()
            });
        }
    }
    carried
}

/// Entities, proxies and relationships. One entity has the text `only once`.
pub(crate) fn instances(
    random: &mut Random,
    types: &Catalogue,
    count: usize,
) -> Vec<StoredInstance> {
    let mut all = Vec::with_capacity(count);
    for number in 0..count {
        let guid = format!("{:04x}-{number}", random.below(0x1_0000));
        let is_relationship = random.one_in(4) && number != count / 2;
        let names = if is_relationship {
            RELATIONSHIP_TYPES
        } else {
            ENTITY_TYPES
        };
        let name = match number == count / 2 {
            true => "Database".to_owned(),
            false => some(random, names),
        };
        let index = types.by_name(&name).unwrap();
        let header = header(random, types, index, guid);
        let mut properties = properties(random, types, index);
        if number == count / 2 {
            properties = properties.with("name", InstancePropertyValue::string("only once"));
        }
        all.push(if is_relationship {
            StoredInstance::Relationship(StoredRelationship {
                header,
                properties: Some(properties),
                ends: ["one", "two"].map(str::to_owned),
            })
        } else if random.one_in(20) && number != count / 2 {
            StoredInstance::Entity(StoredEntity::Proxy(EntityProxy {
                header,
                unique_properties: Some(properties),
                ..Default::default()
            }))
        } else {
            let mut header = header;
            if number == count / 2 {
                header.audit.status = Some(InstanceStatus::Active);
            }
            StoredInstance::Entity(StoredEntity::Detail(EntityDetail {
                header,
                classifications: classifications(random).into(),
                properties: Some(properties),
            }))
        });
    }
    all
}

fn pattern(random: &mut Random, text: &str) -> Pattern {
    let start = text.chars().next().map_or(String::new(), String::from);
    let text = match random.below(7) {
        0 => format!("\\Q{text}\\E"),
        1 => format!("\\Q{start}\\E.*"),
        2 => format!(".*\\Q{start}\\E.*"),
        3 => format!("(?i)\\Q{text}\\E"),
        4 => format!("(?i).*\\Q{text}\\E"),
        5 => ".*m.*".to_owned(),
        _ => "[nN].{1,3}".to_owned(),
    };
    Pattern::new(&text, "p").unwrap()
}

pub(crate) fn text(pattern: &str) -> Condition {
    text_condition(Some(pattern), &Effort::new(Duration::MAX)).unwrap()
}

/// A test that an instance with the value is likely to pass.
fn test(random: &mut Random, value: &InstancePropertyValue) -> Test {
    match value {
        InstancePropertyValue::Primitive(PrimitivePropertyValue {
            value: Some(Primitive::String(text)),
            ..
        }) if !random.one_in(3) => Test::Matches(pattern(random, text)),
        InstancePropertyValue::Primitive(PrimitivePropertyValue {
            value: Some(Primitive::Int(number)),
            ..
        }) => match random.below(4) {
            // Clients may send another kind of number.
            0 => Test::Is(InstancePropertyValue::primitive(Primitive::Long(
                i64::from(*number),
            ))),
            1 => Test::Compares(PropertyComparisonOperator::Lte, Primitive::Int(*number)),
            2 => Test::IsNot(value.clone()),
            _ => Test::Is(value.clone()),
        },
        _ => match random.below(5) {
            0 => Test::Missing,
            1 => Test::Present,
            2 => Test::OneOf(vec![value.clone(), InstancePropertyValue::string("name")]),
            _ => Test::Is(value.clone()),
        },
    }
}

fn condition(random: &mut Random, all: &[StoredInstance], depth: usize) -> Condition {
    let target = Target::from(random.pick(all));
    let values: Vec<_> = target
        .properties()
        .into_iter()
        .flat_map(|of| &of.values)
        .collect();
    let nested = |random: &mut Random| {
        let count = 1 + random.below(3);
        (0..count)
            .map(|_| condition(random, all, depth - 1))
            .collect()
    };
    match random.below(if depth > 0 { 10 } else { 7 }) {
        0 => {
            let words = *random.pick(TEXTS);
            Condition::Text(pattern(random, words))
        }
        1 => Condition::Classification {
            name: some(random, NAMES),
            condition: random.one_in(2).then(|| {
                Box::new(Condition::Property {
                    name: "level".to_owned(),
                    test: Test::Is(InstancePropertyValue::primitive(Primitive::Int(1))),
                })
            }),
        },
        2 => Condition::Property {
            name: "metadataCollectionId".to_owned(),
            test: Test::Matches(Pattern::exactly(&some(random, HOMES))),
        },
        3..=6 => match values[..] {
            [] => Condition::Text(Pattern::exactly("name")),
            _ => {
                let (name, value) = *random.pick(&values);
                Condition::Property {
                    name: name.clone(),
                    test: test(random, value),
                }
            }
        },
        7 => Condition::All(nested(random)),
        8 => Condition::Any(nested(random)),
        _ => Condition::None(nested(random)),
    }
}

fn order(random: &mut Random) -> Order {
    let reverse = random.one_in(2);
    let properties = [
        "name",
        "qualifiedName",
        "status",
        "version",
        "createTime",
        "priority",
        "additionalProperties",
        "unknown",
        "confidence",
    ];
    match random.below(8) {
        0 | 1 => Order::Any,
        2 => Order::Guid,
        3 => Order::CreateTime { reverse },
        4 => Order::UpdateTime { reverse },
        _ => Order::Property {
            name: some(random, &properties),
            reverse,
        },
    }
}

pub(crate) fn query(random: &mut Random, types: &Catalogue, all: &[StoredInstance]) -> Query {
    let subject = if random.one_in(4) {
        Subject::Relationships
    } else {
        Subject::Entities
    };
    let names = match subject {
        Subject::Entities => ENTITY_TYPES,
        Subject::Relationships => RELATIONSHIP_TYPES,
    };
    let index = |random: &mut Random| types.by_name(&some(random, names)).unwrap();
    let limit = match random.below(4) {
        0 => TypeLimit::default(),
        1 => TypeLimit {
            of: None,
            listed: vec![index(random), index(random)],
        },
        _ => TypeLimit {
            of: Some(index(random)),
            listed: Vec::new(),
        },
    };
    let statuses = match random.below(4) {
        0 => vec![InstanceStatus::Deleted],
        1 => vec![InstanceStatus::Active, InstanceStatus::Deleted],
        _ => Vec::new(),
    };
    let classifications = match subject {
        Subject::Entities if random.one_in(4) => vec![some(random, NAMES), some(random, NAMES)],
        _ => Vec::new(),
    };
    Query {
        subject,
        types: limit,
        find: FindRequest {
            statuses,
            as_of_time: None,
        },
        classifications,
        condition: (!random.one_in(4)).then(|| condition(random, all, 2)),
        order: order(random),
        page: Page {
            offset: 0,
            size: None,
        },
        effort: None,
    }
}
