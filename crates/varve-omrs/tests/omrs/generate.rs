//! Random instances, for the tests of this crate.

use varve_omrs::instances::*;
use varve_omrs::json::{Millis, RawJson};
use varve_omrs::types::{
    AttributeTypeKind, Catalogue, CollectionDefCategory, PrimitiveDefCategory, ResolvedType,
    TypeDefCategory, TypeIndex,
};
use varve_testkit::random::Random;

/// A text with quotes, escapes, and characters of every length.
pub(crate) fn text(random: &mut Random) -> String {
    let pieces = [
        "a", "Z9", "\"", "\\", "\u{0}", "\n", "\u{1f}", "é", "漢", "😀", "/", " ", "\\Q",
    ];
    (0..random.below(6))
        .map(|_| *random.pick(&pieces))
        .collect()
}

fn maybe<T>(random: &mut Random, make: impl FnOnce(&mut Random) -> T) -> Option<T> {
    let is_there = !random.one_in(3);
    is_there.then(|| make(random))
}

fn millis(random: &mut Random) -> Millis {
    Millis(random.bits() as i64 >> random.below(40))
}

/// A value of a category; any JSON where the category is unknown.
pub(crate) fn primitive(random: &mut Random, category: PrimitiveDefCategory) -> Primitive {
    let bits = random.bits();
    match category {
        PrimitiveDefCategory::Boolean => Primitive::Boolean(bits & 1 == 0),
        PrimitiveDefCategory::Byte => Primitive::Byte(bits as i8),
        PrimitiveDefCategory::Char => Primitive::Char(*random.pick(&['x', '"', '\\', 'é', '漢'])),
        PrimitiveDefCategory::Short => Primitive::Short(bits as i16),
        PrimitiveDefCategory::Int => Primitive::Int(bits as i32),
        PrimitiveDefCategory::Long => Primitive::Long(bits as i64),
        PrimitiveDefCategory::Float => {
            let value = f32::from_bits(bits as u32);
            Primitive::Float(if value.is_nan() { f32::INFINITY } else { value })
        }
        PrimitiveDefCategory::Double => {
            let value = f64::from_bits(bits);
            Primitive::Double(if value.is_nan() {
                f64::NEG_INFINITY
            } else {
                value
            })
        }
        PrimitiveDefCategory::BigInteger => {
            let text = format!("-{bits}{bits}{bits}");
            Primitive::BigInteger(BigInteger::from_text(&text).expect("digits"))
        }
        PrimitiveDefCategory::BigDecimal => {
            let text = format!("{bits}{bits}.{:03}00", bits % 1000);
            Primitive::BigDecimal(BigDecimal::from_text(&text).expect("a number"))
        }
        PrimitiveDefCategory::String => Primitive::String(text(random)),
        PrimitiveDefCategory::Date => Primitive::Date(millis(random)),
        PrimitiveDefCategory::Unknown => Primitive::Object(RawJson::from_string(&text(random))),
    }
}

fn array_of(elements: Vec<InstancePropertyValue>) -> ArrayPropertyValue {
    let values = elements.into_iter().enumerate();
    let count = values.len() as i32;
    let values = values.map(|(at, value)| (at.to_string(), value)).collect();
    ArrayPropertyValue {
        count,
        values: Some(InstanceProperties {
            values,
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// A value of any kind, nested to a small depth.
pub(crate) fn value(random: &mut Random, depth: usize) -> InstancePropertyValue {
    let kinds = if depth == 0 { 2 } else { 5 };
    let mut value = match random.below(kinds) {
        0 => {
            let category = *random.pick(PrimitiveDefCategory::ALL);
            InstancePropertyValue::primitive(primitive(random, category))
        }
        1 => InstancePropertyValue::Enum(EnumPropertyValue {
            ordinal: random.bits() as i32,
            symbolic_name: maybe(random, text),
            description: maybe(random, text),
            ..Default::default()
        }),
        2 => InstancePropertyValue::Struct(StructPropertyValue {
            attributes: maybe(random, |random| properties(random, depth - 1)),
            ..Default::default()
        }),
        3 => InstancePropertyValue::Map(MapPropertyValue {
            values: maybe(random, |random| properties(random, depth - 1)),
            ..Default::default()
        }),
        _ => {
            let count = random.below(12);
            let elements = (0..count).map(|_| self::value(random, depth - 1)).collect();
            InstancePropertyValue::Array(array_of(elements))
        }
    };
    value.header_mut().type_guid = maybe(random, text);
    value.header_mut().type_name = maybe(random, text);
    value
}

/// Properties that need not fit any type.
pub(crate) fn properties(random: &mut Random, depth: usize) -> InstanceProperties {
    let values = (0..random.below(5)).map(|_| (text(random), value(random, depth)));
    let values = values.collect();
    InstanceProperties {
        header_version: maybe(random, |_| 1),
        effective_from: maybe(random, millis),
        effective_to: maybe(random, millis),
        values,
    }
}

pub(crate) fn audit(
    random: &mut Random,
    types: &Catalogue,
    category: TypeDefCategory,
) -> InstanceAuditHeader {
    let of: Vec<&ResolvedType> = types.of_category(category).map(|(_, of)| of).collect();
    let of = *random.pick(&of);
    let mapping = (0..random.below(3)).map(|_| (text(random), RawJson::from_string(&text(random))));
    let mapping_properties = mapping.collect();
    InstanceAuditHeader {
        header_version: Some(1),
        instance_type: maybe(random, |_| of.instance_type().clone()),
        provenance: maybe(random, |random| *random.pick(InstanceProvenanceType::ALL)),
        metadata_collection_id: maybe(random, text),
        metadata_collection_name: maybe(random, text),
        replicated_by: maybe(random, text),
        license: maybe(random, text),
        created_by: maybe(random, text),
        updated_by: maybe(random, text),
        maintained_by: (0..random.below(3)).map(|_| text(random)).collect(),
        create_time: maybe(random, millis),
        update_time: maybe(random, millis),
        version: random.bits() as i64,
        status: maybe(random, |random| {
            *random.pick(varve_omrs::types::InstanceStatus::ALL)
        }),
        status_on_delete: None,
        mapping_properties,
    }
}

fn header(random: &mut Random, types: &Catalogue, category: TypeDefCategory) -> InstanceHeader {
    InstanceHeader {
        audit: audit(random, types, category),
        guid: maybe(random, text),
        instance_url: maybe(random, text),
        re_identified_from_guid: maybe(random, text),
    }
}

fn classifications(random: &mut Random, types: &Catalogue) -> Vec<Classification> {
    let one = |random: &mut Random| Classification {
        audit: audit(random, types, TypeDefCategory::Classification),
        name: maybe(random, text),
        properties: maybe(random, |random| properties(random, 1)),
        origin: maybe(random, |random| *random.pick(ClassificationOrigin::ALL)),
        origin_guid: maybe(random, text),
    };
    (0..random.below(3)).map(|_| one(random)).collect()
}

pub(crate) fn entity(random: &mut Random, types: &Catalogue) -> EntityDetail {
    EntityDetail {
        header: header(random, types, TypeDefCategory::Entity),
        classifications: classifications(random, types).into(),
        properties: maybe(random, |random| properties(random, 2)),
    }
}

pub(crate) fn relationship(random: &mut Random, types: &Catalogue) -> Relationship {
    let end = |random: &mut Random| EntityProxy {
        header: header(random, types, TypeDefCategory::Entity),
        classifications: classifications(random, types).into(),
        unique_properties: maybe(random, |random| properties(random, 0)),
    };
    Relationship {
        header: header(random, types, TypeDefCategory::Relationship),
        properties: maybe(random, |random| properties(random, 2)),
        entity_one: maybe(random, end).map(Into::into),
        entity_two: maybe(random, end).map(Into::into),
    }
}

/// Properties that fit a type, without what a client may leave out.
pub(crate) fn fitting(
    random: &mut Random,
    types: &Catalogue,
    index: TypeIndex,
) -> InstanceProperties {
    let mut fitting = InstanceProperties::default();
    for property in types.get(index).properties() {
        let def = property.attribute.type_def().expect("whole in a catalogue");
        let value = match &def.kind {
            AttributeTypeKind::Primitive(kind) => {
                let category = kind.category.unwrap_or(PrimitiveDefCategory::Unknown);
                InstancePropertyValue::primitive(primitive(random, category))
            }
            AttributeTypeKind::Enum(kind) => InstancePropertyValue::Enum(EnumPropertyValue {
                ordinal: random.pick(&kind.elements).ordinal,
                ..Default::default()
            }),
            AttributeTypeKind::Collection(kind) => {
                let category = *kind.argument_types.last().expect("an argument");
                let element = |random: &mut Random| {
                    InstancePropertyValue::primitive(primitive(random, category))
                };
                let elements: Vec<_> = (0..random.below(4)).map(|_| element(random)).collect();
                if kind.category == Some(CollectionDefCategory::Map) {
                    let values = elements.into_iter().map(|value| (text(random), value));
                    let values = values.collect();
                    InstancePropertyValue::Map(MapPropertyValue {
                        values: Some(InstanceProperties {
                            values,
                            ..Default::default()
                        }),
                        ..Default::default()
                    })
                } else {
                    InstancePropertyValue::Array(ArrayPropertyValue {
                        count: 0,
                        ..array_of(elements)
                    })
                }
            }
        };
        fitting = fitting.with(property.attribute.name(), value);
    }
    fitting
}
