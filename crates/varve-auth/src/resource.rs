//! The resources to which rights apply, and the permissions of rights.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An operation that a right allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Permission {
    /// Nothing.
    None,
    /// To read.
    Read,
    /// To write.
    Write,
    /// To delete.
    Delete,
    /// To run.
    Execute,
    /// All of these.
    Any,
}

varve_model::names! { Permission, "permission":
    None = "NONE", Read = "READ", Write = "WRITE", Delete = "DELETE", Execute = "EXECUTE",
    Any = "ANY",
}

impl Permission {
    /// The permissions that ANY includes.
    pub const EACH: [Self; 4] = [Self::Read, Self::Write, Self::Delete, Self::Execute];

    /// Its form in the id of an access: the number of digits, and its number in base 64.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::None => "10",
            Self::Read => "11",
            Self::Write => "12",
            Self::Delete => "14",
            Self::Execute => "18",
            Self::Any => "21~",
        }
    }

    /// Whether it includes `wanted`.
    #[must_use]
    pub fn allows(self, wanted: Self) -> bool {
        self == wanted || (self == Self::Any && wanted != Self::None)
    }
}

/// The type of a resource. The order is HugeGraph's: ALL covers the types before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ResourceType {
    None,
    Status,
    Vertex,
    Edge,
    VertexAggr,
    EdgeAggr,
    Var,
    Gremlin,
    Task,
    PropertyKey,
    VertexLabel,
    EdgeLabel,
    IndexLabel,
    Schema,
    Meta,
    All,
    Grant,
    UserGroup,
    Project,
    Target,
    Metrics,
    Root,
}

varve_model::names! { ResourceType, "resource type":
    None = "NONE", Status = "STATUS", Vertex = "VERTEX", Edge = "EDGE", VertexAggr = "VERTEX_AGGR",
    EdgeAggr = "EDGE_AGGR", Var = "VAR", Gremlin = "GREMLIN", Task = "TASK",
    PropertyKey = "PROPERTY_KEY", VertexLabel = "VERTEX_LABEL", EdgeLabel = "EDGE_LABEL",
    IndexLabel = "INDEX_LABEL", Schema = "SCHEMA", Meta = "META", All = "ALL", Grant = "GRANT",
    UserGroup = "USER_GROUP", Project = "PROJECT", Target = "TARGET", Metrics = "METRICS",
    Root = "ROOT",
}

impl ResourceType {
    /// Whether a right on this type is a right on `wanted`. Every right is a right on NONE.
    #[must_use]
    pub fn covers(self, wanted: Self) -> bool {
        match self {
            _ if wanted == Self::None => true,
            Self::Root => true,
            Self::All => wanted <= Self::All,
            Self::Schema => (Self::PropertyKey..=Self::Schema).contains(&wanted),
            _ => self == wanted,
        }
    }
}

/// Resources of one type, as a target names them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Their type.
    #[serde(rename = "type")]
    pub kind: ResourceType,
    /// Their label or name: `*`, or a regular expression that matches all of it.
    #[serde(default = "any_label")]
    pub label: String,
    /// Conditions on the properties of vertices and edges: each an equal value or a predicate such
    /// as `P.gte(18)`.
    #[serde(default)]
    pub properties: Option<BTreeMap<String, Value>>,
}

fn any_label() -> String {
    "*".to_owned()
}

/// Predicates that a property condition may name.
const PREDICATES: [&str; 11] = [
    "eq", "neq", "gt", "gte", "lt", "lte", "between", "inside", "outside", "within", "without",
];

/// The labels or names of a resource.
#[derive(Debug)]
pub(crate) enum Labels {
    Any,
    Matching(regex::Regex),
    /// None: the text is no regular expression.
    Unreadable,
}

impl Labels {
    pub(crate) fn contain(&self, label: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Matching(regex) => regex.is_match(label),
            Self::Unreadable => false,
        }
    }
}

impl Resource {
    pub(crate) fn labels(&self) -> Labels {
        if self.label == "*" {
            return Labels::Any;
        }
        let whole = format!(r"\A(?:{})\z", self.label);
        regex::Regex::new(&whole).map_or(Labels::Unreadable, Labels::Matching)
    }

    /// The conditions on properties; none if all elements are included.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = (&str, &Value)> {
        let each = self.properties.iter().flatten();
        each.filter(|(key, value)| !(*key == "*" && *value == "*"))
            .map(|(key, value)| (key.as_str(), value))
    }

    /// Whether it contains all of `other`. Two different conditions or expressions never contain
    /// each other here.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        let has_label = self.label == "*" || self.label == other.label;
        let is_any = self.conditions().next().is_none();
        let has_conditions = is_any || self.properties == other.properties;
        self.kind.covers(other.kind) && has_label && has_conditions
    }

    /// Whether it contains everything of its type.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.label == "*" && self.conditions().next().is_none()
    }

    /// Checks the label and the predicates.
    ///
    /// # Errors
    /// When the label is no regular expression, or a predicate is unknown.
    pub fn check(&self) -> Result<(), String> {
        if self.label != "*"
            && let Err(error) = regex::Regex::new(&self.label)
        {
            let why = match error {
                regex::Error::CompiledTooBig(most) => format!("it takes more than {most} bytes"),
                other => other.to_string(),
            };
            return Err(format!(
                "the label '{}' is no regular expression: {why}",
                self.label
            ));
        }
        for value in self.properties.iter().flat_map(BTreeMap::values) {
            let Some(predicate) = value.as_str().and_then(|text| text.strip_prefix("P.")) else {
                continue;
            };
            let name = predicate.split('(').next().unwrap_or_default();
            if !PREDICATES.contains(&name) || !predicate.ends_with(')') {
                return Err(format!("Not support predicate '{name}'"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_cover_what_the_original_says() {
        use ResourceType as T;
        assert!(T::All.covers(T::Meta) && !T::All.covers(T::Grant));
        assert!(T::Schema.covers(T::IndexLabel) && !T::Schema.covers(T::Task));
        assert!(T::Root.covers(T::Metrics) && T::Var.covers(T::None));
        assert!(!T::Vertex.covers(T::Edge));
    }

    #[test]
    fn any_permission_is_all_but_none() {
        assert!(Permission::Any.allows(Permission::Delete));
        assert!(!Permission::Any.allows(Permission::None));
        assert!(!Permission::Read.allows(Permission::Execute));
    }
}
