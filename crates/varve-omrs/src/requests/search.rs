//! Trees of conditions on properties and classifications.

use crate::error::{Message, OmrsError};
use crate::instances::{InstancePropertyValue, PrimitivePropertyValue};
use crate::json::{json_enum, json_object};
use crate::types::PrimitiveDefCategory;

json_enum! {
    /// Whether all, any or none of the conditions must hold.
    pub enum MatchCriteria {
        All = "ALL",
        Any = "ANY",
        None = "NONE",
    }
}

json_enum! {
    /// The operator that compares a property with a value.
    pub enum PropertyComparisonOperator {
        Eq = "EQ",
        Neq = "NEQ",
        Lt = "LT",
        Lte = "LTE",
        Gt = "GT",
        Gte = "GTE",
        In = "IN",
        IsNull = "IS_NULL",
        NotNull = "NOT_NULL",
        /// Whether a regular expression matches the whole string.
        Like = "LIKE",
    }
}

json_object! {
    /// Conditions on properties.
    pub struct SearchProperties {
        /// The conditions.
        conditions: Vec<PropertyCondition> = "conditions",
        /// Whether all, any or none of them must hold.
        match_criteria: Option<MatchCriteria> = "matchCriteria",
    }
}

json_object! {
    /// A condition on a property, or a group of conditions.
    pub struct PropertyCondition {
        /// The property or header field.
        property: Option<String> = "property",
        /// The operator.
        operator: Option<PropertyComparisonOperator> = "operator",
        /// The value to compare with.
        value: Option<InstancePropertyValue> = "value",
        /// The group.
        nested: Option<Box<SearchProperties>> = "nestedConditions",
    }
}

json_object! {
    /// Conditions on classifications.
    pub struct SearchClassifications {
        /// The conditions.
        conditions: Vec<ClassificationCondition> = "conditions",
        /// Whether all, any or none of them must hold.
        match_criteria: Option<MatchCriteria> = "matchCriteria",
    }
}

json_object! {
    /// A condition on a classification: the entity carries it, and its properties satisfy
    /// conditions.
    pub struct ClassificationCondition {
        /// The classification's name.
        name: Option<String> = "name",
        /// The conditions on its properties.
        match_properties: Option<SearchProperties> = "matchProperties",
    }
}

fn refused(message: Message, path: &str, words: &[&str]) -> OmrsError {
    let words: Vec<&str> = std::iter::once(path).chain(words.iter().copied()).collect();
    OmrsError::of_parameter(message, path, &words)
}

impl SearchProperties {
    /// Checks the form of every condition. `path` names the parameter; each error appends the path
    /// of its condition.
    ///
    /// The depth of the tree needs no check, since the JSON reader bounds it.
    ///
    /// # Errors
    /// `InvalidParameterException`.
    pub fn check(&self, path: &str) -> Result<(), OmrsError> {
        for (index, condition) in self.conditions.iter().enumerate() {
            condition.check(&format!("{path}.conditions[{index}]"))?;
        }
        Ok(())
    }
}

impl PropertyCondition {
    /// Checks the form of this condition and of those nested in it, as [`SearchProperties::check`].
    ///
    /// # Errors
    /// `InvalidParameterException`.
    pub fn check(&self, path: &str) -> Result<(), OmrsError> {
        let is_comparison =
            self.property.is_some() || self.operator.is_some() || self.value.is_some();
        if let Some(nested) = &self.nested {
            if is_comparison {
                return Err(refused(Message::BadCondition, path, &[]));
            }
            return nested.check(&format!("{path}.nestedConditions"));
        }
        let (Some(_), Some(operator)) = (&self.property, self.operator) else {
            return Err(refused(Message::BadCondition, path, &[]));
        };
        self.check_value(operator, path)
    }

    fn check_value(
        &self,
        operator: PropertyComparisonOperator,
        path: &str,
    ) -> Result<(), OmrsError> {
        use PropertyComparisonOperator as Operator;
        let Some(value) = &self.value else {
            return match operator {
                Operator::IsNull | Operator::NotNull => Ok(()),
                _ => Err(refused(Message::BadCondition, path, &[])),
            };
        };
        let primitive = match value {
            InstancePropertyValue::Primitive(PrimitivePropertyValue { category, .. }) => {
                Some(*category)
            }
            _ => None,
        };
        match operator {
            Operator::Eq | Operator::Neq | Operator::IsNull | Operator::NotNull => Ok(()),
            Operator::In if matches!(value, InstancePropertyValue::Array(_)) => Ok(()),
            Operator::In => Err(refused(Message::InNeedsArray, path, &[])),
            Operator::Like if primitive == Some(PrimitiveDefCategory::String) => Ok(()),
            Operator::Like => Err(refused(Message::LikeNeedsString, path, &[])),
            _ if primitive.is_some_and(has_order) => Ok(()),
            _ => Err(refused(Message::OrderNeedsNumber, path, &[operator.name()])),
        }
    }
}

/// Whether values of a kind can be compared by order: numbers and dates.
fn has_order(category: PrimitiveDefCategory) -> bool {
    !matches!(
        category,
        PrimitiveDefCategory::Unknown
            | PrimitiveDefCategory::Boolean
            | PrimitiveDefCategory::Char
            | PrimitiveDefCategory::String
    )
}

impl SearchClassifications {
    /// Checks the form of every condition, as [`SearchProperties::check`].
    ///
    /// # Errors
    /// `InvalidParameterException`.
    pub fn check(&self, path: &str) -> Result<(), OmrsError> {
        for (index, condition) in self.conditions.iter().enumerate() {
            let path = format!("{path}.conditions[{index}]");
            if condition.name.as_deref().unwrap_or_default().is_empty() {
                return Err(refused(
                    Message::NoNameInClassificationCondition,
                    &path,
                    &[],
                ));
            }
            if let Some(properties) = &condition.match_properties {
                properties.check(&format!("{path}.matchProperties"))?;
            }
        }
        Ok(())
    }
}
