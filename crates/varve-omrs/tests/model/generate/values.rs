//! Properties of instances.

use varve_omrs::instances::{
    ArrayPropertyValue, EnumPropertyValue, InstanceProperties, InstancePropertyValue,
    MapPropertyValue, Primitive,
};
use varve_omrs::json::Millis;
use varve_omrs::types::{
    AttributeTypeDef, AttributeTypeKind, CollectionDefCategory, PrimitiveDefCategory, TypeIndex,
};

use super::Generator;

/// Texts that begin alike, differ in case only, look like expressions, or are hard to quote.
/// The last ones have more in common than indexes keep of a text, and one has no more than that.
pub(super) const TEXTS: [&str; 14] = [
    "alpha",
    "Alpha",
    "alphabet",
    "beta",
    "a.b",
    "axb",
    "al\\Epha",
    "",
    "été",
    "gam\nma",
    "sixty-four bytes 8901234567890123456789012345678901234567890123.",
    "sixty-four bytes 8901234567890123456789012345678901234567890123.b",
    "sixty-four bytes 8901234567890123456789012345678901234567890123.alpha",
    "sixty-four bytes 8901234567890123456789012345678901234567890123.alphabet",
];

/// The most properties of an instance.
const PROPERTIES_MAX: usize = 5;

impl Generator<'_> {
    pub(super) fn text(&mut self) -> String {
        self.pick(&TEXTS).to_owned()
    }

    /// A value of an attribute's type, as clients send it.
    pub(super) fn value(&mut self, def: &AttributeTypeDef) -> InstancePropertyValue {
        match &def.kind {
            AttributeTypeKind::Primitive(kind) => self.primitive(kind.category),
            AttributeTypeKind::Enum(kind) => {
                let element = self.random.pick(&kind.elements).clone();
                InstancePropertyValue::Enum(EnumPropertyValue {
                    ordinal: element.ordinal,
                    symbolic_name: element.value.filter(|_| self.random.one_in(2)),
                    ..Default::default()
                })
            }
            AttributeTypeKind::Collection(kind) => {
                let of = kind.argument_types.last().copied();
                if kind.category == Some(CollectionDefCategory::Map) {
                    self.map(of)
                } else {
                    self.array(of)
                }
            }
        }
    }

    fn map(&mut self, of: Option<PrimitiveDefCategory>) -> InstancePropertyValue {
        let mut values = InstanceProperties::default();
        for key in ["k1", "k2"] {
            if self.one_in(2) {
                let value = self.primitive(of);
                values = values.with(key, value);
            }
        }
        InstancePropertyValue::Map(MapPropertyValue {
            values: Some(values),
            ..Default::default()
        })
    }

    pub(super) fn array(&mut self, of: Option<PrimitiveDefCategory>) -> InstancePropertyValue {
        let count = self.random.below(3);
        let values: Vec<_> = (0..count).map(|_| self.primitive(of)).collect();
        array_of(values)
    }

    fn primitive(&mut self, of: Option<PrimitiveDefCategory>) -> InstancePropertyValue {
        let number = self.random.below(5) as i32 - 1;
        let value = match of {
            Some(PrimitiveDefCategory::Boolean) => Primitive::Boolean(number > 0),
            Some(PrimitiveDefCategory::Int) => Primitive::Int(number),
            Some(PrimitiveDefCategory::Long) => Primitive::Long(i64::from(number)),
            Some(PrimitiveDefCategory::Date) => Primitive::Date(Millis(i64::from(number) * 1000)),
            _ => Primitive::String(self.text()),
        };
        InstancePropertyValue::primitive(value)
    }

    /// Some of the properties of a type; seldom one that does not fit.
    pub(super) fn properties(&mut self, of: TypeIndex) -> InstanceProperties {
        let defined = self.attributes(of);
        let mut properties = InstanceProperties::default();
        for _ in 0..self.random.below(PROPERTIES_MAX) {
            if defined.is_empty() {
                break;
            }
            let attribute = self.random.pick(&defined).clone();
            let def = attribute.type_def().expect("whole in a catalogue").clone();
            let value = self.value(&def);
            properties = properties.with(attribute.name(), value);
        }
        if self.one_in(8) {
            properties.effective_from = Some(Millis(self.random.below(3) as i64 * 100));
            properties.effective_to = Some(Millis(500));
        }
        if self.one_in(40) {
            let wrong = InstancePropertyValue::primitive(Primitive::Double(1.5));
            let name = self.pick(&["qualifiedName", "description", "no such property"]);
            properties = properties.with(name, wrong);
        }
        properties
    }

    pub(super) fn some_properties(&mut self, of: TypeIndex) -> Option<InstanceProperties> {
        (!self.one_in(5)).then(|| self.properties(of))
    }
}

pub(super) fn array_of(values: Vec<InstancePropertyValue>) -> InstancePropertyValue {
    let count = values.len() as i32;
    let values = values.into_iter().enumerate();
    let values = InstanceProperties {
        values: values.map(|(at, value)| (at.to_string(), value)).collect(),
        ..Default::default()
    };
    InstancePropertyValue::Array(ArrayPropertyValue {
        count,
        values: Some(values),
        ..Default::default()
    })
}
