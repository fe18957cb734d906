//! Builds conditions from the bodies of requests. The cost of their regular expressions counts
//! against the request's [`Effort`].

use std::sync::Arc;

use super::{Condition, Effort, Pattern, Test};
use crate::error::{Message, OmrsError};
use crate::instances::{InstanceProperties, InstancePropertyValue, Primitive};
use crate::requests::{
    MatchCriteria, PropertyComparisonOperator, PropertyCondition, SearchClassifications,
    SearchProperties,
};

/// The greatest nesting depth of conditions.
const DEPTH_MAX: usize = 100;
/// The most values of the operator IN. Each examined instance may be compared with all of them.
const IN_VALUES_MAX: usize = 10_000;

/// The condition of the `…ByProperty` calls: header fields and properties by name, with strings as
/// regular expressions. `None` when there are no properties.
///
/// # Errors
/// `InvalidParameterException` or `FunctionNotSupportedException` for a regular expression, or when
/// there are too many; `RepositoryErrorException` when the request's time is over.
pub fn property_condition(
    properties: Option<&InstanceProperties>,
    criteria: Option<MatchCriteria>,
    parameter: &str,
    effort: &Arc<Effort>,
) -> Result<Option<Condition>, OmrsError> {
    let Some(properties) = properties else {
        return Ok(None);
    };
    let mut conditions = Vec::with_capacity(properties.values.len());
    for (name, value) in &properties.values {
        conditions.push(Condition::Property {
            name: name.clone(),
            test: value_test(value, &format!("{parameter}.{name}"), effort)?,
        });
    }
    let criteria = criteria.unwrap_or(MatchCriteria::All);
    Ok(Condition::combined(criteria, conditions))
}

/// The condition of `findEntitiesByClassification`.
///
/// # Errors
/// As [`property_condition`].
pub fn classification_condition(
    name: &str,
    properties: Option<&InstanceProperties>,
    criteria: Option<MatchCriteria>,
    effort: &Arc<Effort>,
) -> Result<Condition, OmrsError> {
    let parameter = "matchClassificationProperties";
    let condition = property_condition(properties, criteria, parameter, effort)?;
    Ok(Condition::Classification {
        name: name.to_owned(),
        condition: condition.map(Box::new),
    })
}

/// The condition of the `…ByPropertyValue` calls.
///
/// # Errors
/// `InvalidParameterException` when the text is missing or empty; otherwise as
/// [`property_condition`].
pub fn text_condition(
    criteria: Option<&str>,
    effort: &Arc<Effort>,
) -> Result<Condition, OmrsError> {
    let parameter = "searchCriteria";
    match criteria {
        None | Some("") => Err(OmrsError::of_parameter(
            Message::NoSearchCriteria,
            parameter,
            &[parameter],
        )),
        Some(criteria) => Pattern::of_request(criteria, parameter, effort).map(Condition::Text),
    }
}

/// The condition of a tree of conditions on properties. `None` when the tree is empty.
///
/// # Errors
/// `InvalidParameterException` when a condition is malformed or nested too deeply; otherwise as
/// [`property_condition`].
pub fn search_condition(
    search: &SearchProperties,
    path: &str,
    effort: &Arc<Effort>,
) -> Result<Option<Condition>, OmrsError> {
    nested_condition(search, path, 0, effort)
}

/// The condition of a tree of conditions on classifications. `None` when the tree is empty.
///
/// # Errors
/// As [`search_condition`].
pub fn classifications_condition(
    search: &SearchClassifications,
    path: &str,
    effort: &Arc<Effort>,
) -> Result<Option<Condition>, OmrsError> {
    search.check(path)?;
    let mut conditions = Vec::with_capacity(search.conditions.len());
    for (index, condition) in search.conditions.iter().enumerate() {
        let path = format!("{path}.conditions[{index}].matchProperties");
        let properties = condition.match_properties.as_ref();
        let properties = properties.map(|search| search_condition(search, &path, effort));
        conditions.push(Condition::Classification {
            name: condition.name.clone().unwrap_or_default(),
            condition: properties.transpose()?.flatten().map(Box::new),
        });
    }
    let criteria = search.match_criteria.unwrap_or(MatchCriteria::All);
    Ok(Condition::combined(criteria, conditions))
}

fn nested_condition(
    search: &SearchProperties,
    path: &str,
    depth: usize,
    effort: &Arc<Effort>,
) -> Result<Option<Condition>, OmrsError> {
    if depth > DEPTH_MAX {
        return Err(OmrsError::of_parameter(
            Message::NestedTooDeeply,
            path,
            &[path],
        ));
    }
    let mut conditions = Vec::with_capacity(search.conditions.len());
    for (index, condition) in search.conditions.iter().enumerate() {
        let path = format!("{path}.conditions[{index}]");
        if let (Some(nested), None, None, None) = (
            &condition.nested,
            &condition.property,
            condition.operator,
            &condition.value,
        ) {
            let path = format!("{path}.nestedConditions");
            conditions.extend(nested_condition(nested, &path, depth + 1, effort)?);
        } else {
            condition.check(&path)?;
            conditions.push(comparison(condition, &path, effort)?);
        }
    }
    let criteria = search.match_criteria.unwrap_or(MatchCriteria::All);
    Ok(Condition::combined(criteria, conditions))
}

/// A condition on one property, whose form has been checked.
fn comparison(
    condition: &PropertyCondition,
    path: &str,
    effort: &Arc<Effort>,
) -> Result<Condition, OmrsError> {
    use PropertyComparisonOperator as Operator;
    let bad = || OmrsError::of_parameter(Message::BadCondition, path, &[path]);
    let operator = condition.operator.ok_or_else(bad)?;
    let value = condition.value.as_ref();
    let test = match (operator, value) {
        (Operator::IsNull, _) => Test::Missing,
        (Operator::NotNull, _) => Test::Present,
        (_, None) => return Err(bad()),
        (Operator::Eq, Some(value)) => Test::Is(value.clone()),
        (Operator::Neq, Some(value)) => Test::IsNot(value.clone()),
        (Operator::In, Some(InstancePropertyValue::Array(array))) => {
            let count = array.values.as_ref().map_or(0, |of| of.values.len());
            if count > IN_VALUES_MAX {
                let (count, allowed) = (count.to_string(), IN_VALUES_MAX.to_string());
                let words = [path, &count, &allowed];
                return Err(OmrsError::of_parameter(
                    Message::TooManyValues,
                    path,
                    &words,
                ));
            }
            Test::OneOf(array.elements().cloned().collect())
        }
        (Operator::Like, Some(value)) => match string(value) {
            Some(text) => Test::Matches(Pattern::of_request(text, path, effort)?),
            None => return Err(bad()),
        },
        (_, Some(InstancePropertyValue::Primitive(value))) => {
            let limit = value.value.clone().ok_or_else(bad)?;
            Test::Compares(operator, limit)
        }
        (_, Some(_)) => return Err(bad()),
    };
    Ok(Condition::Property {
        name: condition.property.clone().ok_or_else(bad)?,
        test,
    })
}

fn string(value: &InstancePropertyValue) -> Option<&str> {
    match value {
        InstancePropertyValue::Primitive(value) => super::value::string(value),
        _ => None,
    }
}

/// The test for a value in a `…ByProperty` call. A string that is the whole value is a regular
/// expression; strings within arrays, maps and structs are compared literally.
fn value_test(
    value: &InstancePropertyValue,
    parameter: &str,
    effort: &Arc<Effort>,
) -> Result<Test, OmrsError> {
    let InstancePropertyValue::Primitive(primitive) = value else {
        return Ok(Test::Is(value.clone()));
    };
    match &primitive.value {
        None => Ok(Test::Missing),
        Some(Primitive::String(text)) => {
            Pattern::of_request(text, parameter, effort).map(Test::Matches)
        }
        Some(_) => Ok(Test::Is(value.clone())),
    }
}
