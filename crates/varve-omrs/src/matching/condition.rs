//! The conditions of a search, as one tree.

use super::field::{FieldValue, is_header_field};
use super::value::{are_equal, compare_primitives, same_value, some_text, string};
use super::{Pattern, Target};
use crate::instances::{InstancePropertyValue, Primitive, PrimitivePropertyValue};
use crate::requests::{MatchCriteria, PropertyComparisonOperator};

/// A condition on an instance.
#[derive(Debug, Clone)]
pub enum Condition {
    /// All of these conditions hold.
    All(Vec<Condition>),
    /// At least one of these conditions holds.
    Any(Vec<Condition>),
    /// None of these conditions holds.
    None(Vec<Condition>),
    /// The property or header field of this name passes the test. If an instance has both, one of
    /// them is enough.
    Property {
        /// The name of the property or field.
        name: String,
        /// The test.
        test: Test,
    },
    /// Some string property, or a string or symbolic name nested in a property, matches.
    Text(Pattern),
    /// The entity carries the classification of this name, which passes the condition.
    Classification {
        /// The classification's name.
        name: String,
        /// The condition on the classification's properties and header.
        condition: Option<Box<Condition>>,
    },
}

/// A test of one value.
#[derive(Debug, Clone)]
pub enum Test {
    /// The value exists and is equal.
    Is(InstancePropertyValue),
    /// The value is different, or does not exist.
    IsNot(InstancePropertyValue),
    /// The value is a string, or the constant of a header field, that matches.
    Matches(Pattern),
    /// The value is a number or a date, and the comparison with the given one holds.
    Compares(PropertyComparisonOperator, Primitive),
    /// The value is one of these.
    OneOf(Vec<InstancePropertyValue>),
    /// The value does not exist.
    Missing,
    /// The value exists.
    Present,
}

impl Condition {
    /// Combines conditions by the criteria: all, any or none of them must hold. `None` if there are
    /// no conditions.
    #[must_use]
    pub fn combined(criteria: MatchCriteria, mut conditions: Vec<Self>) -> Option<Self> {
        match (criteria, conditions.len()) {
            (_, 0) => None,
            (MatchCriteria::All | MatchCriteria::Any, 1) => conditions.pop(),
            (MatchCriteria::All, _) => Some(Self::All(conditions)),
            (MatchCriteria::Any, _) => Some(Self::Any(conditions)),
            (MatchCriteria::None, _) => Some(Self::None(conditions)),
        }
    }

    /// Adds to `found` the parts that depend only on the value of the property `name`. The flag of
    /// a part is true if the part must hold, false if it must not. A part gives the same result for
    /// all instances with the same value.
    pub(crate) fn of_value<'c>(&'c self, name: &str, found: &mut Vec<(&'c Self, bool)>) {
        match self {
            Self::All(conditions) => {
                conditions.iter().for_each(|of| of.of_value(name, found));
            }
            Self::None(conditions) => {
                let alone = conditions.iter().filter(|of| of.is_of_value(name));
                found.extend(alone.map(|of| (of, false)));
            }
            _ if self.is_of_value(name) => found.push((self, true)),
            _ => {}
        }
    }

    fn is_of_value(&self, name: &str) -> bool {
        match self {
            Self::All(conditions) | Self::Any(conditions) | Self::None(conditions) => {
                conditions.iter().all(|of| of.is_of_value(name))
            }
            Self::Property { name: of, .. } => of == name && !is_header_field(of),
            Self::Text(_) | Self::Classification { .. } => false,
        }
    }

    /// Whether the condition holds for an instance.
    #[must_use]
    pub fn holds(&self, target: &Target<'_>) -> bool {
        match self {
            Self::All(conditions) => conditions.iter().all(|of| of.holds(target)),
            Self::Any(conditions) => conditions.iter().any(|of| of.holds(target)),
            Self::None(conditions) => !conditions.iter().any(|of| of.holds(target)),
            Self::Property { name, test } => property_passes(target, name, test),
            Self::Text(pattern) => target.properties().is_some_and(|properties| {
                let mut matches = |text: &str| pattern.matches(text);
                let mut values = properties.values.values();
                values.any(|value| some_text(value, &mut matches))
            }),
            Self::Classification { name, condition } => {
                target.any_classification(name, |classification| {
                    condition
                        .as_ref()
                        .is_none_or(|condition| condition.holds(&Target::from(classification)))
                })
            }
        }
    }
}

fn property_passes(target: &Target<'_>, name: &str, test: &Test) -> bool {
    let value = || target.property(name).filter(|value| !is_null(value));
    let field = if is_header_field(name) {
        target.field(name)
    } else {
        None
    };
    // Fields are tested first, since they cost less.
    match test {
        Test::Missing => field.is_none() && value().is_none(),
        Test::Present => field.is_some() || value().is_some(),
        Test::IsNot(wanted) => {
            !field.is_some_and(|field| field_is(&field, wanted))
                && !value().is_some_and(|value| same_value(wanted, &value))
        }
        _ => {
            field.is_some_and(|field| test.passes_field(&field))
                || value().is_some_and(|value| test.passes(&value))
        }
    }
}

/// Java's null counts as no value.
fn is_null(value: &InstancePropertyValue) -> bool {
    let InstancePropertyValue::Primitive(value) = value else {
        return false;
    };
    value.value.is_none()
}

impl Test {
    fn passes(&self, value: &InstancePropertyValue) -> bool {
        match self {
            Self::Is(wanted) => same_value(wanted, value),
            Self::IsNot(wanted) => !same_value(wanted, value),
            Self::Matches(pattern) => match value {
                InstancePropertyValue::Primitive(value) => {
                    string(value).is_some_and(|text| pattern.matches(text))
                }
                _ => false,
            },
            Self::Compares(operator, limit) => match value {
                InstancePropertyValue::Primitive(PrimitivePropertyValue {
                    value: Some(value),
                    ..
                }) => compares(value, *operator, limit),
                _ => false,
            },
            Self::OneOf(wanted) => wanted.iter().any(|wanted| same_value(wanted, value)),
            Self::Missing => false,
            Self::Present => true,
        }
    }

    fn passes_field(&self, field: &FieldValue<'_>) -> bool {
        match self {
            Self::Is(wanted) => field_is(field, wanted),
            Self::IsNot(wanted) => !field_is(field, wanted),
            Self::Matches(pattern) => match field {
                FieldValue::Text(text) => pattern.matches(text),
                FieldValue::Texts(texts) => texts.iter().any(|text| pattern.matches(text)),
                FieldValue::Number(_) => false,
            },
            Self::Compares(operator, limit) => match field {
                FieldValue::Number(number) => compares(number, *operator, limit),
                FieldValue::Text(_) | FieldValue::Texts(_) => false,
            },
            Self::OneOf(wanted) => wanted.iter().any(|wanted| field_is(field, wanted)),
            Self::Missing => false,
            Self::Present => true,
        }
    }
}

fn field_is(field: &FieldValue<'_>, wanted: &InstancePropertyValue) -> bool {
    let wanted_text = match wanted {
        InstancePropertyValue::Primitive(wanted) => string(wanted),
        InstancePropertyValue::Enum(wanted) => wanted.symbolic_name.as_deref(),
        _ => None,
    };
    match (field, wanted) {
        (FieldValue::Text(text), _) => wanted_text == Some(text),
        (FieldValue::Texts(texts), _) => {
            texts.iter().any(|text| wanted_text == Some(text.as_str()))
        }
        (
            FieldValue::Number(number),
            InstancePropertyValue::Primitive(PrimitivePropertyValue {
                value: Some(wanted),
                ..
            }),
        ) => are_equal(number, wanted),
        (FieldValue::Number(_), _) => false,
    }
}

fn compares(value: &Primitive, operator: PropertyComparisonOperator, limit: &Primitive) -> bool {
    use PropertyComparisonOperator as Operator;
    let Some(order) = compare_primitives(value, limit) else {
        return false;
    };
    match operator {
        Operator::Lt => order.is_lt(),
        Operator::Lte => order.is_le(),
        Operator::Gt => order.is_gt(),
        Operator::Gte => order.is_ge(),
        _ => false,
    }
}
