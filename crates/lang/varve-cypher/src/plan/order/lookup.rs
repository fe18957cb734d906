//! The conditions of a pattern by which scans look elements up.

use std::sync::Arc;

use varve_model::{Condition, DataType, EdgeLabelId, PropertyKeyId, VertexLabelId};
use varve_view::SchemaView;

use super::{EQUAL, Known, Order};
use crate::bind::{PatternNode, PatternRelationship};
use crate::error::Outcome;
use crate::expression::{BinaryOp, CompareOp, Expr};
use crate::filters::{LabelFilter, Types};
use crate::lookups::{Looked, conditions, looked, serves};
use crate::plan::slots::{is_random, reads};
use crate::plan::{IdLookup, IdOf, LookupBy, PropertyLookup};
use crate::sizes::COUNTED_MAX;

impl Order<'_> {
    /// Whether an expression can be evaluated before the pattern's open slots are bound.
    fn is_known(&self, expr: &Expr) -> bool {
        // The filter behind the scan would have another number.
        if is_random(expr) {
            return false;
        }
        let mut known = true;
        reads(expr, self.subplans, &mut |slot| {
            known &= !self.open.contains(&slot);
        });
        known
    }

    /// The conditions on properties of a node that an index may serve.
    pub(super) fn lookups_of_node(&self, node: &PatternNode) -> Vec<PropertyLookup> {
        let Known { schema, .. } = self.known;
        let mut by = self.lookups_of(node.slot);
        if by.iter().any(|by| by.how.is_range()) {
            let labels = LabelFilter::new(node.labels.as_ref()).list(schema);
            let labels = labels.unwrap_or_default();
            let has = |label: &VertexLabelId, key| {
                let known = schema.vertex_label(*label);
                known.is_some_and(|known| known.properties.contains(&key))
            };
            let is_ordered = |label: &VertexLabelId, key| schema.has_vertex_order(*label, key);
            by.retain(|by| !by.how.is_range() || is_served(schema, by, &labels, has, is_ordered));
        }
        by
    }

    /// As [`Order::lookups_of_node`], of a relationship.
    pub(super) fn lookups_of_relationship(&self, one: &PatternRelationship) -> Vec<PropertyLookup> {
        let Known { schema, .. } = self.known;
        let mut by = self.lookups_of(one.slot);
        if by.iter().any(|by| by.how.is_range()) {
            let types = Types::new(one.types.as_ref(), schema);
            let has = |label: &EdgeLabelId, key| {
                let known = schema.edge_label(*label);
                known.is_some_and(|known| known.properties.contains(&key))
            };
            let is_ordered = |label: &EdgeLabelId, key| schema.has_edge_order(*label, key);
            let labels = &types.labels;
            by.retain(|by| !by.how.is_range() || is_served(schema, by, labels, has, is_ordered));
        }
        by
    }

    /// Conditions on a property with a known value.
    fn lookups_of(&self, slot: usize) -> Vec<PropertyLookup> {
        let mut found = Vec::new();
        let mut add = |property: &Expr, value: &Expr, how| {
            if let Expr::Property(subject, key) = property
                && matches!(**subject, Expr::Slot(own) if own == slot)
                && self.is_known(value)
            {
                found.push(PropertyLookup {
                    key: Arc::clone(key),
                    value: value.clone(),
                    how,
                });
            }
        };
        for filter in &self.filters {
            match &filter.condition {
                Expr::Compare(first, rest) => {
                    // Each pair of neighbours must hold.
                    let firsts = std::iter::once(&**first).chain(rest.iter().map(|(_, one)| one));
                    for (first, (op, second)) in firsts.zip(&**rest) {
                        let (how, reversed) = match op {
                            CompareOp::Equal => (LookupBy::Equal, LookupBy::Equal),
                            CompareOp::NotEqual => continue,
                            CompareOp::Less | CompareOp::LessEqual => {
                                (LookupBy::To, LookupBy::From)
                            }
                            CompareOp::Greater | CompareOp::GreaterEqual => {
                                (LookupBy::From, LookupBy::To)
                            }
                        };
                        add(first, second, how);
                        add(second, first, reversed);
                    }
                }
                Expr::Binary(BinaryOp::In, item, list) => add(item, list, LookupBy::Among),
                Expr::Binary(BinaryOp::StartsWith, text, prefix) => {
                    add(text, prefix, LookupBy::Prefix);
                }
                _ => {}
            }
        }
        found
    }

    /// A condition `elementId(node) = value`, `id(node) = value` or `node = value`, or with `IN`.
    pub(super) fn id_of(&self, slot: usize) -> Option<IdLookup> {
        let conditions = self.filters.iter().map(|filter| &filter.condition);
        let mut found = conditions.filter_map(|condition| self.id_by(slot, condition));
        let first = found.next()?;
        // The nodes themselves come after ids.
        match first.of {
            IdOf::Node => found.find(|one| one.of != IdOf::Node).or(Some(first)),
            _ => Some(first),
        }
    }

    fn id_by(&self, slot: usize, condition: &Expr) -> Option<IdLookup> {
        match condition {
            Expr::Compare(first, rest) => match &**rest {
                [(CompareOp::Equal, second)] => {
                    let by = self.id_in(slot, first, (second, false));
                    by.or_else(|| self.id_in(slot, second, (first, false)))
                }
                _ => None,
            },
            Expr::Binary(BinaryOp::In, item, list) => self.id_in(slot, item, (list, true)),
            Expr::Or(branches) => self.node_among(slot, branches),
            _ => None,
        }
    }

    fn id_in(&self, slot: usize, own: &Expr, (value, is_list): (&Expr, bool)) -> Option<IdLookup> {
        let is_own = |expr: &Expr| matches!(expr, Expr::Slot(own) if *own == slot);
        let of = match own {
            Expr::Call(function, arguments) if matches!(&**arguments, [one] if is_own(one)) => {
                match function.name {
                    name if name.eq_ignore_ascii_case("elementId") => IdOf::Text,
                    name if name.eq_ignore_ascii_case("id") => IdOf::Number,
                    _ => return None,
                }
            }
            own if is_own(own) => IdOf::Node,
            _ => return None,
        };
        self.is_known(value).then(|| IdLookup {
            value: value.clone(),
            of,
            is_list,
        })
    }

    /// `node = one AND … OR node = other AND …`: the node is one of some.
    fn node_among(&self, slot: usize, branches: &[Expr]) -> Option<IdLookup> {
        let each = branches.iter().map(|branch| {
            let parts = match branch {
                Expr::And(parts) => parts.as_slice(),
                one => std::slice::from_ref(one),
            };
            let mut found = parts.iter().filter_map(|part| self.id_by(slot, part));
            found.find(|one| one.of == IdOf::Node && !one.is_list)
        });
        let values = each.map(|one| one.map(|one| one.value));
        Some(IdLookup {
            value: Expr::List(values.collect::<Option<Vec<Expr>>>()?),
            of: IdOf::Node,
            is_list: true,
        })
    }

    /// The relationship without a known end that an index finds among the fewest candidates, after
    /// their number and rank.
    pub(super) fn indexed_relationship(&self) -> Option<((u64, u8), usize)> {
        let each = self.relationships.iter().copied();
        let found = each.filter_map(|number| {
            let one = &self.pattern.relationships[number];
            let is_single = !one.is_bound && one.length.is_none() && one.each.is_none();
            let is_open = self.is_open(one.from) && self.is_open(one.to);
            let count = (is_single && is_open).then(|| self.indexed(one)).flatten();
            Some((count?, number))
        });
        found.min_by_key(|found| found.0)
    }

    /// How many relationships an index finds by their properties, and the rank of such a scan:
    /// behind that of nodes by a property. `None` if there is no such index.
    fn indexed(&self, one: &PatternRelationship) -> Option<(u64, u8)> {
        let by = self.lookups_of_relationship(one);
        if by.is_empty() {
            return None;
        }
        let Known { schema, sizes } = self.known;
        let types = Types::new(one.types.as_ref(), schema);
        if types.is_none || types.labels.is_empty() {
            return None;
        }
        let conditions = constants(schema, &by);
        if !conditions.is_empty()
            && let Some(found) = sizes.relationships(&types.labels, &conditions)
        {
            return Some((found, 2));
        }
        // The values come later, or nothing is counted.
        let is_range = by.iter().all(|by| by.how.is_range());
        let found = match sizes.graph {
            Some(_) if !is_range => EQUAL,
            _ => COUNTED_MAX,
        };
        let mut each = by.iter().filter(|by| may_be_served(schema, by));
        each.any(|by| by.how.is_range() || is_indexed(schema, &types.labels, by))
            .then_some((found, 2))
    }
}

/// Whether an index of each of these labels that has the property finds relationships by it.
fn is_indexed(schema: &dyn SchemaView, labels: &[EdgeLabelId], by: &PropertyLookup) -> bool {
    let Some(key) = schema.property_key_named(&by.key) else {
        return false;
    };
    let has = |label: &EdgeLabelId| {
        let known = schema.edge_label(*label);
        known.is_some_and(|known| known.properties.contains(&key.id))
    };
    let mut labels = labels.iter().filter(|label| has(label)).peekable();
    // Equal numbers of several types are found in the order of the values only.
    let is_mixed = key.data_type == DataType::Object;
    let finds = |label| match is_mixed {
        true => schema.has_edge_order(label, key.id),
        false => schema.has_edge_index(label, key.id),
    };
    labels.peek().is_some() && labels.all(|label| finds(*label))
}

/// Whether an index in the order of a property serves a range: of each of these labels that has it.
fn is_served<L>(
    schema: &dyn SchemaView,
    by: &PropertyLookup,
    labels: &[L],
    has: impl Fn(&L, PropertyKeyId) -> bool,
    is_ordered: impl Fn(&L, PropertyKeyId) -> bool,
) -> bool {
    let Some(key) = schema.property_key_named(&by.key) else {
        return false;
    };
    let mut labels = labels.iter().filter(|label| has(label, key.id)).peekable();
    labels.peek().is_some() && labels.all(|label| is_ordered(label, key.id))
}

/// Whether an index may serve a lookup. One that it does not serve reads every relationship.
fn may_be_served(schema: &dyn SchemaView, by: &PropertyLookup) -> bool {
    match &by.value {
        Expr::Constant(value) => !matches!(looked(schema, by, value), Looked::Unserved),
        _ => schema
            .property_key_named(&by.key)
            .is_some_and(|key| serves(key.data_type)),
    }
}

/// The conditions whose values are constants; none if no element has such a value.
pub(super) fn constants(schema: &dyn SchemaView, by: &[PropertyLookup]) -> Vec<Condition> {
    let constants = by.iter().filter_map(|by| match &by.value {
        Expr::Constant(value) => Some((by, value.clone())),
        _ => None,
    });
    let all = constants.map(Ok);
    let found: Outcome<Option<Vec<Condition>>> = conditions(schema, all);
    found.ok().flatten().unwrap_or_default()
}
