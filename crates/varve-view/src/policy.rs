//! Access policies: which elements of a graph a client may read, write and delete.
//!
//! A policy is plain data: it knows labels and conditions, not users. [`AccessPolicy::read`] bounds
//! what a view shows: the graph without the elements that it does not cover.

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
    /// Those that satisfy all conditions of one of several lists.
    Where(AnyOf),
}

/// Lists of conditions, one of which must hold as a whole.
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

    /// Whether an element with these properties satisfies one of the lists. A missing property
    /// satisfies no condition.
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
    /// Covers the elements that satisfy all of these conditions too.
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

/// The elements that may be treated in one way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ElementPolicy {
    /// Of each vertex label; others are not covered.
    pub vertices: BTreeMap<VertexLabelId, Coverage>,
    /// Of each edge label; others are not covered.
    pub edges: BTreeMap<EdgeLabelId, Coverage>,
}

impl ElementPolicy {
    /// What is covered of a vertex label.
    #[must_use]
    pub fn vertex(&self, label: VertexLabelId) -> &Coverage {
        self.vertices.get(&label).unwrap_or(&Coverage::Nothing)
    }

    /// What is covered of an edge label, as far as its own rule says.
    #[must_use]
    pub fn edge(&self, label: EdgeLabelId) -> &Coverage {
        self.edges.get(&label).unwrap_or(&Coverage::Nothing)
    }

    /// Whether a vertex's properties decide about it, so that an edge can't be judged without a
    /// look at its ends.
    #[must_use]
    pub fn has_vertex_conditions(&self) -> bool {
        let mut each = self.vertices.values();
        each.any(|coverage| matches!(coverage, Coverage::Where(_)))
    }

    /// Whether an edge's properties decide about it.
    #[must_use]
    pub fn has_edge_conditions(&self) -> bool {
        let mut each = self.edges.values();
        each.any(|coverage| matches!(coverage, Coverage::Where(_)))
    }
}

/// What a client may do with the elements of a graph. A client that may do everything has none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AccessPolicy {
    /// What may be read.
    pub read: ElementPolicy,
    /// What may be written: elements before and after the change.
    pub write: ElementPolicy,
    /// What may be deleted.
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
