//! What patterns ask of labels, types and properties, in terms of a graph's schema.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use varve_model::{Direction, EdgeLabelId, VertexLabelId};
use varve_view::{Expand, SchemaView};

use crate::expression::LabelTest;
use crate::labels;

/// Which vertex labels satisfy a label expression.
pub(crate) struct LabelFilter<'t> {
    test: Option<&'t LabelTest>,
    known: HashMap<VertexLabelId, bool>,
    /// The last label and its result: elements of one label often come together.
    last: Option<(VertexLabelId, bool)>,
}

impl<'t> LabelFilter<'t> {
    pub(crate) fn new(test: Option<&'t LabelTest>) -> LabelFilter<'t> {
        LabelFilter {
            test,
            known: HashMap::new(),
            last: None,
        }
    }

    pub(crate) fn holds(&mut self, schema: &dyn SchemaView, label: VertexLabelId) -> bool {
        let Some(test) = self.test else {
            return true;
        };
        if let Some((last, holds)) = self.last
            && last == label
        {
            return holds;
        }
        let check = || labels::satisfies(test, &labels::names(schema, label));
        let holds = *self.known.entry(label).or_insert_with(check);
        self.last = Some((label, holds));
        holds
    }

    /// The labels that satisfy the expression; `None` = all, or unknown ones among them.
    pub(crate) fn list(&mut self, schema: &dyn SchemaView) -> Option<Vec<VertexLabelId>> {
        let test = self.test?;
        if let Some(all) = schema.vertex_labels() {
            let holds = |label: &VertexLabelId| self.holds(schema, *label);
            return Some(all.into_iter().filter(holds).collect());
        }
        if schema.is_open() {
            return None;
        }
        let names = names(test)?.into_iter();
        let ids = names.filter_map(|name| schema.vertex_label_named(name));
        Some(ids.map(|label| label.id).collect())
    }
}

/// The relationship types of a pattern.
pub(crate) struct Types<'t> {
    test: Option<&'t LabelTest>,
    /// The labels to read; empty = all.
    pub(crate) labels: Vec<EdgeLabelId>,
    /// Whether no relationship has such a type.
    pub(crate) is_none: bool,
    /// The last label and its result: relationships of one label come together.
    last: Cell<Option<(EdgeLabelId, bool)>>,
}

impl<'t> Types<'t> {
    /// What is asked of a view to walk relationships of these types; `None` = both directions.
    pub(crate) fn ask(&self, direction: Option<Direction>) -> Expand<'_> {
        Expand {
            direction,
            labels: &self.labels,
            properties: &[],
        }
    }

    pub(crate) fn new(test: Option<&'t LabelTest>, schema: &dyn SchemaView) -> Types<'t> {
        let listed = test.and_then(|test| match (names(test), schema.edge_labels()) {
            (Some(names), _) => {
                let each = names.into_iter();
                let named = each.filter_map(|name| schema.edge_label_named(name));
                let ids = named.flat_map(|label| {
                    let below = schema.edge_subtypes(label.id).iter().copied();
                    std::iter::once(label.id).chain(below)
                });
                Some(ids.collect())
            }
            (None, Some(all)) => {
                let holds = |label: &EdgeLabelId| has_type(test, schema, *label);
                Some(all.into_iter().filter(holds).collect())
            }
            (None, None) => None,
        });
        let is_none = listed.as_ref().is_some_and(Vec::is_empty);
        let labels = listed.unwrap_or_default();
        Types {
            test,
            labels,
            is_none,
            last: Cell::default(),
        }
    }

    /// Whether relationships of a label have such a type.
    pub(crate) fn holds(&self, schema: &dyn SchemaView, label: EdgeLabelId) -> bool {
        let Some(test) = self.test else {
            return true;
        };
        if let Some((last, holds)) = self.last.get()
            && last == label
        {
            return holds;
        }
        let holds = has_type(test, schema, label);
        self.last.set(Some((label, holds)));
        holds
    }
}

/// Whether relationships of an edge label satisfy a test: by its own name, its parent's or a
/// supertype's.
fn has_type(test: &LabelTest, schema: &dyn SchemaView, label: EdgeLabelId) -> bool {
    let above = schema.edge_supertypes(label).iter();
    let above = above.filter_map(|label| schema.edge_label(*label));
    let Some(label) = schema.edge_label(label) else {
        return false;
    };
    let parent = label.parent.and_then(|parent| schema.edge_label(parent));
    let names = std::iter::once(label).chain(parent).chain(above);
    let names: Vec<Arc<str>> = names.map(|label| Arc::from(&*label.name)).collect();
    labels::satisfies(test, &names)
}

/// The types that a test names, if it is a choice of names.
pub(crate) fn names(test: &LabelTest) -> Option<Vec<&Arc<str>>> {
    match test {
        LabelTest::Name(name) => Some(vec![name]),
        LabelTest::Or(all) => {
            let each = all.iter().map(names).collect::<Option<Vec<_>>>()?;
            Some(each.concat())
        }
        _ => None,
    }
}
