//! The values of instances: some are determined by the number of the instance, others are random.

use varve_omrs::instances::{
    BigDecimal, BigInteger, InstanceProperties, InstancePropertyValue, Primitive,
};
use varve_omrs::json::Millis;
use varve_omrs::types::PrimitiveDefCategory as Category;

use super::plan::Attribute;
use crate::random::Random;

/// Generates values. The same seed gives the same values, except dates, which are the current time.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    random: Random,
    instances: u64,
}

impl Values {
    pub(crate) const fn new(seed: u64, instances: u32) -> Self {
        Self {
            random: Random::new(seed),
            instances: instances as u64,
        }
    }

    /// The properties of the `number`-th instance of a type with these attributes; `None` if there
    /// are none.
    pub(crate) fn properties(
        &mut self,
        attributes: &[Attribute],
        number: u64,
    ) -> Option<InstanceProperties> {
        let mut properties = InstanceProperties::default();
        for attribute in attributes {
            if let Some(value) = self.value(attribute, number) {
                let value = InstancePropertyValue::primitive(value);
                properties.values.insert(attribute.name.clone(), value);
            }
        }
        (!properties.values.is_empty()).then_some(properties)
    }

    /// A value to search for: that of the first instance; for strings a regular expression that
    /// matches exactly this value.
    pub(crate) fn match_value(&mut self, attribute: &Attribute) -> Option<InstancePropertyValue> {
        let value = match self.value(attribute, 0)? {
            Primitive::String(text) => Primitive::String(exactly(&text)),
            value => value,
        };
        Some(InstancePropertyValue::primitive(value))
    }

    /// The value of an attribute. Every second instance has a string or number of its own. The
    /// others share one string, and have random numbers. A unique attribute has a string or number
    /// of its own in every instance.
    fn value(&mut self, attribute: &Attribute, number: u64) -> Option<Primitive> {
        let distinct = attribute.unique || number % 2 == 1;
        let instances = self.instances;
        // Numbers are truncated to the width of their kind, as Java's casts do.
        Some(match attribute.category {
            Category::String if distinct => {
                Primitive::String(format!("{}.{number}", attribute.name))
            }
            Category::String => Primitive::String(attribute.name.clone()),
            Category::Date => Primitive::Date(now()),
            Category::Boolean => Primitive::Boolean(self.random.below(2) == 1),
            Category::Char => {
                let digit = self.random.below((instances % 10).max(1)) as u8;
                Primitive::Char(char::from(b'0' + digit))
            }
            Category::Byte => Primitive::Byte(self.whole(distinct, number, instances) as i8),
            Category::Short => Primitive::Short(self.whole(distinct, number, instances) as i16),
            Category::Int => Primitive::Int(self.whole(distinct, number, instances) as i32),
            Category::Long => Primitive::Long(self.whole(distinct, number, 10 * instances) as i64),
            Category::Float => Primitive::Float(self.real(distinct, number, 1.1) as f32),
            Category::Double => Primitive::Double(self.real(distinct, number, 10.123)),
            Category::BigInteger => {
                let text = self.whole(distinct, number, 1_000_000 * instances);
                Primitive::BigInteger(BigInteger::from_text(&text.to_string())?)
            }
            Category::BigDecimal => {
                let text = self.whole(distinct, number, 1_000_000 * instances);
                Primitive::BigDecimal(BigDecimal::from_text(&text.to_string())?)
            }
            Category::Unknown => return None,
        })
    }

    fn whole(&mut self, distinct: bool, number: u64, scale: u64) -> u64 {
        match distinct {
            true => scale + number,
            false => self.random.below(scale),
        }
    }

    fn real(&mut self, distinct: bool, number: u64, factor: f64) -> f64 {
        let scale = factor * self.instances as f64;
        match distinct {
            true => scale + number as f64,
            false => self.random.unit() * scale,
        }
    }
}

pub(crate) fn now() -> Millis {
    Millis(jiff::Timestamp::now().as_millisecond())
}

/// The regular expression that only `text` matches.
pub(crate) fn exactly(text: &str) -> String {
    format!("\\Q{text}\\E")
}

pub(crate) fn uuid(random: &mut Random) -> String {
    let (high, low) = (random.next(), random.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFF,
        0x8000 | ((low >> 48) & 0x3FFF),
        low & 0xFFFF_FFFF_FFFF,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, category: Category, unique: bool) -> Attribute {
        Attribute {
            name: name.to_owned(),
            category,
            unique,
        }
    }

    fn value(category: Category, unique: bool, number: u64) -> Primitive {
        let mut values = Values::new(1, 5);
        let of = attribute("name", category, unique);
        values.value(&of, number).expect("a kind with values")
    }

    #[test]
    fn every_second_instance_has_strings_of_its_own_and_unique_ones_always() {
        let string = |unique, number| match value(Category::String, unique, number) {
            Primitive::String(text) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(string(false, 0), "name");
        assert_eq!(string(false, 1), "name.1");
        assert_eq!(string(false, 2), "name");
        assert_eq!(string(true, 2), "name.2");
    }

    #[test]
    fn distinct_numbers_lie_over_the_random_ones() {
        assert_eq!(value(Category::Int, false, 3), Primitive::Int(8));
        assert_eq!(value(Category::Long, false, 3), Primitive::Long(53));
        assert_eq!(value(Category::Float, false, 1), Primitive::Float(6.5));
        let double = 10.123 * 5.0 + 1.0;
        assert_eq!(value(Category::Double, false, 1), Primitive::Double(double));
        let Primitive::Int(number) = value(Category::Int, false, 2) else {
            panic!("an int")
        };
        assert!((0..5).contains(&number), "{number}");
        // 200 + 1 does not fit into a byte and is truncated, as in Java.
        let mut values = Values::new(1, 200);
        let byte = attribute("b", Category::Byte, false);
        assert_eq!(values.value(&byte, 1), Some(Primitive::Byte(-55)));
    }

    #[test]
    fn a_seed_gives_the_same_values_again() {
        let of = [
            attribute("a", Category::Int, false),
            attribute("b", Category::Boolean, false),
        ];
        let all = |seed| {
            let mut values = Values::new(seed, 1_000_000);
            (0..20)
                .map(|number| values.properties(&of, number))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(7), all(7));
        assert_ne!(all(7), all(8));
    }

    #[test]
    fn a_type_without_values_has_no_properties() {
        let mut values = Values::new(1, 5);
        assert_eq!(values.properties(&[], 0), None);
        let object = [attribute("o", Category::Unknown, false)];
        assert_eq!(values.properties(&object, 0), None);
    }

    #[test]
    fn what_is_searched_for_is_quoted() {
        let mut values = Values::new(1, 5);
        let name = attribute("name", Category::String, true);
        let wanted = InstancePropertyValue::string("\\Qname.0\\E");
        assert_eq!(values.match_value(&name), Some(wanted));
    }

    #[test]
    fn uuids_are_of_version_4() {
        let mut random = Random::new(3);
        let one = uuid(&mut random);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&one.as_bytes()[19]), "{one}");
        assert_ne!(one, uuid(&mut random));
    }
}
