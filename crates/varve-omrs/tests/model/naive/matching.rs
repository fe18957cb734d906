//! Whether an instance has what a search asks for.

use regex::Regex;
use varve_omrs::Exception;
use varve_omrs::instances::{
    Classification, InstanceAuditHeader, InstanceProperties, InstancePropertyValue, Primitive,
    PrimitivePropertyValue,
};
use varve_omrs::requests::{
    ClassificationCondition, MatchCriteria, PropertyComparisonOperator, PropertyCondition,
    SearchClassifications, SearchProperties,
};

/// What is searched: properties and header of an entity, a relationship or a classification.
#[derive(Clone, Copy)]
pub(super) struct Searched<'a> {
    pub(super) audit: &'a InstanceAuditHeader,
    pub(super) properties: Option<&'a InstanceProperties>,
}

/// Whether enough of the outcomes are true.
fn enough(criteria: Option<MatchCriteria>, outcomes: &[bool]) -> bool {
    let matches = outcomes.iter().filter(|outcome| **outcome).count();
    match criteria.unwrap_or(MatchCriteria::All) {
        MatchCriteria::All => matches == outcomes.len(),
        MatchCriteria::Any => matches > 0,
        MatchCriteria::None => matches == 0,
    }
}

/// A Java regular expression that must match the whole text.
pub(super) fn pattern(java: &str) -> Result<Regex, Exception> {
    let mut rust = String::from(r"\A(?:");
    let mut rest = java;
    while let Some(at) = rest.find(r"\Q") {
        rust.push_str(&rest[..at]);
        let quoted = &rest[at + 2..];
        let (quoted, after) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
        rust.push_str(&regex::escape(quoted));
        rest = after;
    }
    rust.push_str(rest);
    rust.push_str(r")\z");
    Regex::new(&rust).map_err(|_| Exception::FunctionNotSupported)
}

/// The value of a header field that searches may name.
fn header_field(searched: Searched<'_>, name: &str) -> Option<InstancePropertyValue> {
    let audit = searched.audit;
    let instance_type = audit.instance_type.as_deref();
    let string = |text: &Option<String>| text.clone().map(Primitive::String);
    let value = match name {
        "metadataCollectionId" => string(&audit.metadata_collection_id),
        "metadataCollectionName" => string(&audit.metadata_collection_name),
        "typeName" => instance_type.map(|of| Primitive::String(of.name().to_owned())),
        "typeGUID" => instance_type.map(|of| Primitive::String(of.guid().to_owned())),
        "createdBy" => string(&audit.created_by),
        "updatedBy" => string(&audit.updated_by),
        "createTime" => audit.create_time.map(Primitive::Date),
        "updateTime" => audit.update_time.map(Primitive::Date),
        "effectiveFrom" => searched
            .properties
            .and_then(|of| of.effective_from)
            .map(Primitive::Date),
        "effectiveTo" => searched
            .properties
            .and_then(|of| of.effective_to)
            .map(Primitive::Date),
        "version" => Some(Primitive::Long(audit.version)),
        "status" => audit
            .status
            .map(|of| Primitive::String(of.name().to_owned())),
        _ => None,
    };
    value.map(InstancePropertyValue::primitive)
}

/// Every value that a name stands for: the property, and the header field of that name.
fn values(searched: Searched<'_>, name: &str) -> Vec<InstancePropertyValue> {
    let property = searched.properties.and_then(|of| of.get(name)).cloned();
    let field = header_field(searched, name);
    property.into_iter().chain(field).collect()
}

/// Equal, whatever the two say of their types.
fn equal(one: &InstancePropertyValue, other: &InstancePropertyValue) -> bool {
    use InstancePropertyValue as Value;
    match (one, other) {
        (Value::Primitive(one), Value::Primitive(other)) => match (&one.value, &other.value) {
            (Some(one), Some(other)) => match (number(one), number(other)) {
                (Some(one), Some(other)) => one == other,
                _ => one == other,
            },
            (one, other) => one == other,
        },
        // By name where both have one: the numbers of two enums mean different things.
        (Value::Enum(one), Value::Enum(other)) => {
            match (&one.symbolic_name, &other.symbolic_name) {
                (Some(one), Some(other)) => one == other,
                _ => one.ordinal == other.ordinal,
            }
        }
        (Value::Struct(one), Value::Struct(other)) => {
            equal_all(one.attributes.as_ref(), other.attributes.as_ref())
        }
        (Value::Map(one), Value::Map(other)) => {
            equal_all(one.values.as_ref(), other.values.as_ref())
        }
        (Value::Array(one), Value::Array(other)) => {
            equal_all(one.values.as_ref(), other.values.as_ref())
        }
        _ => false,
    }
}

fn equal_all(one: Option<&InstanceProperties>, other: Option<&InstanceProperties>) -> bool {
    let list = |of: Option<&InstanceProperties>| {
        of.map(|of| of.values.clone().into_iter().collect::<Vec<_>>())
            .unwrap_or_default()
    };
    let (one, other) = (list(one), list(other));
    let pairs = one.iter().zip(&other);
    one.len() == other.len()
        && pairs
            .into_iter()
            .all(|(one, other)| one.0 == other.0 && equal(&one.1, &other.1))
}

/// Whole numbers and dates, which this test is content with.
fn number(value: &Primitive) -> Option<i64> {
    match value {
        Primitive::Byte(value) => Some(i64::from(*value)),
        Primitive::Short(value) => Some(i64::from(*value)),
        Primitive::Int(value) => Some(i64::from(*value)),
        Primitive::Long(value) => Some(*value),
        Primitive::Date(value) => Some(value.0),
        _ => None,
    }
}

fn text(value: &InstancePropertyValue) -> Option<&str> {
    match value {
        InstancePropertyValue::Primitive(PrimitivePropertyValue {
            value: Some(Primitive::String(text)),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// A search by property: strings are regular expressions, everything else is compared.
pub(super) fn by_property(
    searched: Searched<'_>,
    wanted: Option<&InstanceProperties>,
    criteria: Option<MatchCriteria>,
) -> Result<bool, Exception> {
    let wanted = wanted.map(|of| &of.values).filter(|of| !of.is_empty());
    let Some(wanted) = wanted else {
        return Ok(true);
    };
    let mut outcomes = Vec::new();
    for (name, wanted) in wanted {
        let found = values(searched, name);
        outcomes.push(match text(wanted) {
            Some(regex) => {
                let regex = pattern(regex)?;
                found
                    .iter()
                    .filter_map(text)
                    .any(|text| regex.is_match(text))
            }
            None => found.iter().any(|found| equal(wanted, found)),
        });
    }
    Ok(enough(criteria, &outcomes))
}

/// A search by the conditions of a tree. An empty group is no condition.
pub(super) fn by_conditions(
    searched: Searched<'_>,
    wanted: Option<&SearchProperties>,
) -> Result<bool, Exception> {
    let Some(wanted) = wanted.filter(|wanted| !wanted.conditions.is_empty()) else {
        return Ok(true);
    };
    let mut outcomes = Vec::new();
    for condition in &wanted.conditions {
        outcomes.push(match &condition.nested {
            Some(nested) => by_conditions(searched, Some(nested))?,
            None => condition_holds(searched, condition)?,
        });
    }
    Ok(enough(wanted.match_criteria, &outcomes))
}

fn condition_holds(
    searched: Searched<'_>,
    condition: &PropertyCondition,
) -> Result<bool, Exception> {
    use PropertyComparisonOperator as Operator;
    let invalid = Exception::InvalidParameter;
    let name = condition.property.as_deref().ok_or(invalid)?;
    let operator = condition.operator.ok_or(invalid)?;
    let found = values(searched, name);
    match operator {
        Operator::IsNull => return Ok(found.is_empty()),
        Operator::NotNull => return Ok(!found.is_empty()),
        _ => {}
    }
    let wanted = condition.value.as_ref().ok_or(invalid)?;
    Ok(match operator {
        Operator::Eq => found.iter().any(|found| equal(wanted, found)),
        Operator::Neq => !found.iter().any(|found| equal(wanted, found)),
        Operator::Like => {
            let regex = pattern(text(wanted).ok_or(invalid)?)?;
            found
                .iter()
                .filter_map(text)
                .any(|text| regex.is_match(text))
        }
        Operator::In => {
            let InstancePropertyValue::Array(array) = wanted else {
                return Err(invalid);
            };
            let mut elements = array.elements();
            elements.any(|wanted| found.iter().any(|found| equal(wanted, found)))
        }
        _ => found.iter().any(|found| in_order(operator, found, wanted)),
    })
}

fn in_order(
    operator: PropertyComparisonOperator,
    found: &InstancePropertyValue,
    wanted: &InstancePropertyValue,
) -> bool {
    use PropertyComparisonOperator as Operator;
    let of = |value: &InstancePropertyValue| match value {
        InstancePropertyValue::Primitive(value) => value.value.as_ref().and_then(number),
        _ => None,
    };
    let (Some(found), Some(wanted)) = (of(found), of(wanted)) else {
        return false;
    };
    match operator {
        Operator::Lt => found < wanted,
        Operator::Lte => found <= wanted,
        Operator::Gt => found > wanted,
        Operator::Gte => found >= wanted,
        _ => false,
    }
}

/// A search by classifications: one that is named must be there with such properties.
pub(super) fn by_classifications(
    carried: &[Classification],
    wanted: Option<&SearchClassifications>,
) -> Result<bool, Exception> {
    let Some(wanted) = wanted.filter(|wanted| !wanted.conditions.is_empty()) else {
        return Ok(true);
    };
    let mut outcomes = Vec::new();
    for condition in &wanted.conditions {
        let ClassificationCondition {
            name,
            match_properties,
        } = condition;
        let named = carried.iter().find(|one| one.name == *name);
        outcomes.push(match named {
            Some(one) => {
                let searched = Searched {
                    audit: &one.audit,
                    properties: one.properties.as_ref(),
                };
                by_conditions(searched, match_properties.as_ref())?
            }
            None => false,
        });
    }
    Ok(enough(wanted.match_criteria, &outcomes))
}

/// A search by value: any string at any depth, and the names of enum values.
pub(super) fn by_value(properties: Option<&InstanceProperties>, regex: &Regex) -> bool {
    let Some(properties) = properties else {
        return false;
    };
    properties.values.values().any(|value| match value {
        InstancePropertyValue::Primitive(_) => text(value).is_some_and(|text| regex.is_match(text)),
        InstancePropertyValue::Enum(value) => value
            .symbolic_name
            .as_deref()
            .is_some_and(|name| regex.is_match(name)),
        InstancePropertyValue::Struct(value) => by_value(value.attributes.as_ref(), regex),
        InstancePropertyValue::Map(value) => by_value(value.values.as_ref(), regex),
        InstancePropertyValue::Array(value) => by_value(value.values.as_ref(), regex),
    })
}
