//! Random instances: GUIDs, values and properties of every kind.

use varve_omrs::instances::*;
use varve_omrs::json::{Millis, Shared};
use varve_omrs::store::*;
use varve_omrs::types::{AttributeTypeKind, PrimitiveDefCategory, TypeIndex};

use super::Run;
use crate::world::*;

pub(super) const TYPES: [&str; 8] = [
    "Referenceable",
    "Asset",
    "Database",
    "DataFile",
    "Person",
    "GlossaryTerm",
    "GlossaryCategory",
    "OpenMetadataRoot",
];
pub(super) const LINKS: [&str; 3] = [
    "SemanticAssignment",
    "DataContentForDataSet",
    "TermCategorization",
];
pub(super) const WORDS: [&str; 6] = ["", "one", "two", "once\0more", "tw", "Zürich"];

impl Run {
    pub(super) fn guid(&mut self) -> String {
        self.guids += 1;
        match self.random.below(8) {
            0 => format!("{}-{}", "long".repeat(40), self.guids),
            1 => format!("Ä\0{}", self.guids),
            _ => format!("g{}", self.guids),
        }
    }

    pub(super) fn primitive(&mut self, category: PrimitiveDefCategory) -> Primitive {
        use PrimitiveDefCategory as Of;
        let number = self.random.below(5) as i32 - 2;
        match category {
            Of::Boolean => Primitive::Boolean(number > 0),
            Of::Byte => Primitive::Byte(number as i8),
            Of::Short => Primitive::Short(number as i16),
            Of::Int => Primitive::Int(number),
            Of::Long => Primitive::Long(i64::from(number)),
            Of::Date => Primitive::Date(Millis(i64::from(number))),
            Of::Float => Primitive::Float(number as f32 / 2.0),
            Of::Double => Primitive::Double(f64::from(number) / 2.0),
            Of::Char => Primitive::Char('c'),
            Of::BigInteger => {
                Primitive::BigInteger(BigInteger::from_text(&number.to_string()).unwrap())
            }
            Of::BigDecimal => {
                Primitive::BigDecimal(BigDecimal::from_text(&format!("{number}.50")).unwrap())
            }
            _ => text(self.random.of(&WORDS)),
        }
    }

    pub(super) fn properties(&mut self, of: TypeIndex) -> Option<InstanceProperties> {
        if self.random.below(8) == 0 {
            return None;
        }
        let types = self.world.types.clone();
        let mut made = InstanceProperties {
            header_version: Some(1),
            ..InstanceProperties::default()
        };
        for property in types.get(of).properties() {
            let def = property.attribute.type_def().unwrap();
            let value = match &def.kind {
                _ if self.random.below(2) == 0 => continue,
                AttributeTypeKind::Primitive(kind) => {
                    InstancePropertyValue::primitive(self.primitive(kind.category.unwrap()))
                }
                AttributeTypeKind::Enum(_) => InstancePropertyValue::Enum(EnumPropertyValue {
                    ordinal: 0,
                    ..EnumPropertyValue::default()
                }),
                AttributeTypeKind::Collection(_) if def.name() == "map<string,string>" => {
                    let word = InstancePropertyValue::primitive(text(self.random.of(&WORDS)));
                    let values = InstanceProperties::default().with("k", word);
                    InstancePropertyValue::Map(MapPropertyValue {
                        values: Some(values),
                        ..MapPropertyValue::default()
                    })
                }
                AttributeTypeKind::Collection(_) => continue,
            };
            made.values
                .insert(property.attribute.name().to_owned(), value);
        }
        let made = varve_omrs::validate::completed_properties(&types, of, made);
        Some(made.expect("valid properties"))
    }

    pub(super) fn new_entity(&mut self) -> StoredEntity {
        let name = self.random.of(&TYPES);
        let of = self.world.types.by_name(name).unwrap();
        let guid = self.guid();
        let mut header = self.world.header(name, &guid);
        header.audit.metadata_collection_id = Some(self.random.of(&["home", "away"]).to_owned());
        if self.random.below(10) == 0 {
            // A copy from a repository whose clock is ahead.
            let now = self.world.store.now().0;
            header.audit.create_time = Some(Millis(now + self.random.below(40) as i64 - 20));
        }
        let properties = self.properties(of);
        if self.random.below(6) == 0 {
            return StoredEntity::Proxy(EntityProxy {
                header,
                classifications: Shared::default(),
                unique_properties: properties,
            });
        }
        StoredEntity::Detail(EntityDetail {
            header,
            classifications: Shared::default(),
            properties,
        })
    }
}
