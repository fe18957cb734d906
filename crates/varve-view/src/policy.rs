//! Access policies: which elements of a graph a client may read, write and delete.
//!
//! A policy is plain data: it has labels and conditions, not users. A view with a policy contains
//! only the elements that [`AccessPolicy::read`] covers.

use std::collections::BTreeMap;

use varve_model::{Condition, EdgeLabelId, Properties, PropertyKeyId, VertexLabelId};

/// Which elements of one label a policy covers.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Coverage {
    /// None.
    #[default]
    Nothing,
    /// All.
    All,
    /// The elements that satisfy all conditions of at least one list.
    Where(AnyOf),
}

/// Lists of conditions, of which at least one must hold as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnyOf {
    lists: Vec<Vec<Condition>>,
    keys: Vec<PropertyKeyId>,
}

impl AnyOf {
    /// The properties that the conditions name, ascending.
    #[must_use]
    pub fn keys(&self) -> &[PropertyKeyId] {
        &self.keys
    }

    /// Whether an element with these properties satisfies one of the lists. A condition on a
    /// missing property does not hold.
    #[must_use]
    pub fn holds(
        &self,
        properties: &Properties,
        contains_words: &dyn Fn(&str, &str) -> bool,
    ) -> bool {
        let holds = |list: &Vec<Condition>| {
            let mut each = list.iter();
            each.all(|condition| condition.holds(properties, contains_words))
        };
        self.lists.iter().any(holds)
    }
}

impl Coverage {
    /// Extends the coverage to the elements that satisfy all of these conditions.
    pub fn add(&mut self, conditions: Vec<Condition>) {
        if conditions.is_empty() {
            *self = Self::All;
        }
        if matches!(self, Self::Nothing) {
            *self = Self::Where(AnyOf::default());
        }
        if let Self::Where(any_of) = self {
            let keys = conditions.iter().map(|condition| condition.key);
            any_of.keys.extend(keys);
            any_of.keys.sort_unstable();
            any_of.keys.dedup();
            any_of.lists.push(conditions);
        }
    }
}

/// The elements for which a client has one right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ElementPolicy {
    /// The coverage of each vertex label; other labels are not covered.
    pub vertices: BTreeMap<VertexLabelId, Coverage>,
    /// The coverage of each edge label; other labels are not covered.
    pub edges: BTreeMap<EdgeLabelId, Coverage>,
}

impl ElementPolicy {
    /// Returns the coverage of a vertex label.
    #[must_use]
    pub fn vertex(&self, label: VertexLabelId) -> &Coverage {
        self.vertices.get(&label).unwrap_or(&Coverage::Nothing)
    }

    /// Returns the coverage of an edge label, without regard to the edges' ends.
    #[must_use]
    pub fn edge(&self, label: EdgeLabelId) -> &Coverage {
        self.edges.get(&label).unwrap_or(&Coverage::Nothing)
    }

    /// Whether a vertex label has conditions, so that an edge cannot be checked without reading its
    /// ends.
    #[must_use]
    pub fn has_vertex_conditions(&self) -> bool {
        let mut each = self.vertices.values();
        each.any(|coverage| matches!(coverage, Coverage::Where(_)))
    }

    /// Whether an edge label has conditions.
    #[must_use]
    pub fn has_edge_conditions(&self) -> bool {
        let mut each = self.edges.values();
        each.any(|coverage| matches!(coverage, Coverage::Where(_)))
    }
}

/// The rights of a client on the elements of a graph. A client with all rights has no policy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AccessPolicy {
    /// The elements that may be read.
    pub read: ElementPolicy,
    /// The elements that may be written; a change must be covered before and after.
    pub write: ElementPolicy,
    /// The elements that may be deleted.
    pub delete: ElementPolicy,
}

#[cfg(test)]
mod tests {
    use varve_model::{Predicate, Value};

    use super::*;

    #[test]
    fn coverage_is_the_union() {
        let key = PropertyKeyId(1);
        let older = |bound| Condition {
            key,
            predicate: Predicate::Gt(Value::Int(bound)),
        };
        let mut coverage = Coverage::default();
        coverage.add(vec![older(10), older(20)]);
        coverage.add(vec![Condition {
            key,
            predicate: Predicate::Eq(Value::Int(1)),
        }]);
        let Coverage::Where(any_of) = &coverage else {
            panic!("{coverage:?}");
        };
        assert_eq!(any_of.keys(), [key]);
        let holds = |value| {
            let mut properties = Properties::new();
            properties.set(key, Value::Int(value));
            any_of.holds(&properties, &|_, _| false)
        };
        assert!(holds(1) && holds(21) && !holds(15));
        assert!(!any_of.holds(&Properties::new(), &|_, _| false));
        coverage.add(Vec::new());
        assert_eq!(coverage, Coverage::All);
    }
}
