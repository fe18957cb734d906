//! Which properties a plan reads, so that only those are decoded.
//!
//! The names are known if every element that the plan binds is used in a few ways only: its
//! properties are read by name, it is passed on, counted, or asked for its id, labels or type. Any
//! other use, such as returning a node, may read all its properties.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Op, Plan};
use crate::expression::Expr;
use crate::plan::IdOf;
use crate::plan::slots::operands;

/// The names of all properties that the plan reads; `None`: it may read any property.
pub(crate) fn read(plan: &Plan) -> Option<Vec<Arc<str>>> {
    if plan.writes || !plan.subplans.is_empty() {
        return None;
    }
    let mut uses = Uses::default();
    for op in &plan.root.ops {
        uses.op(op)?;
    }
    let is_element = uses.elements.iter().any(|is_element| *is_element);
    (!is_element).then(|| uses.names.into_iter().collect())
}

/// The functions that read no property of an element.
const WITHOUT_PROPERTIES: [&str; 5] = ["count", "elementId", "id", "labels", "type"];

/// What the operators so far have bound and read. Its methods return `None` when a property whose
/// name is not known may be read.
#[derive(Default)]
struct Uses {
    /// For each slot, whether it may have a node or a relationship.
    elements: Vec<bool>,
    names: BTreeSet<Arc<str>>,
}

impl Uses {
    fn op(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Extend(by) => self.elements.resize(self.elements.len() + by, false),
            Op::Project { items, kept } => {
                let new = self.each(items)?;
                if *kept == 0 {
                    self.elements.clear();
                }
                self.elements.extend(new);
            }
            Op::Keep(slots) => {
                let kept = slots.iter().map(|slot| self.is_element(*slot));
                self.elements = kept.collect();
            }
            Op::Filter(one) => {
                self.value(one)?;
            }
            Op::Aggregate { keys, aggregates } => {
                let mut new = self.each(keys)?;
                for call in aggregates {
                    let arguments = self.each(&call.arguments)?;
                    if arguments.contains(&true) && call.function.name != "count" {
                        return None;
                    }
                    new.push(false);
                }
                self.elements = new;
            }
            Op::Sort { keys, .. } => {
                for key in keys {
                    self.scalar(&key.value)?;
                }
            }
            Op::Unwind(list) => {
                self.scalar(list)?;
                self.elements.push(false);
            }
            Op::Distinct | Op::Skip(_) | Op::Limit { .. } | Op::Eager => {}
            Op::NodeScan(scan) => {
                for by in &scan.by {
                    self.scalar(&by.value)?;
                }
                match &scan.id {
                    // A node is only asked for its id.
                    Some(id) if id.of == IdOf::Node => drop(self.value(&id.value)?),
                    Some(id) => self.scalar(&id.value)?,
                    None => {}
                }
                self.bind(scan.node);
            }
            Op::Expand(one) => {
                self.bind(one.relationship);
                self.bind(one.to);
            }
            _ => return None,
        }
        Some(())
    }

    fn bind(&mut self, slot: usize) {
        if let Some(is_element) = self.elements.get_mut(slot) {
            *is_element = true;
        }
    }

    /// An unknown slot may have an element.
    fn is_element(&self, slot: usize) -> bool {
        self.elements.get(slot).copied().unwrap_or(true)
    }

    fn each(&mut self, all: &[Expr]) -> Option<Vec<bool>> {
        all.iter().map(|one| self.value(one)).collect()
    }

    /// Reads an expression whose value must not be an element.
    fn scalar(&mut self, expr: &Expr) -> Option<()> {
        (!self.value(expr)?).then_some(())
    }

    /// Whether the value of an expression may be an element.
    fn value(&mut self, expr: &Expr) -> Option<bool> {
        match expr {
            Expr::Slot(slot) => return Some(self.is_element(*slot)),
            Expr::Property(subject, name) => {
                self.value(subject)?;
                self.names.insert(Arc::clone(name));
            }
            Expr::IsNull(one, _) | Expr::HasLabels(one, _) => {
                self.value(one)?;
            }
            Expr::Call(function, arguments) if WITHOUT_PROPERTIES.contains(&function.name) => {
                self.each(arguments)?;
            }
            Expr::Subquery(..) | Expr::Local(_) => return None,
            _ => {
                let mut own = Vec::new();
                operands(expr, &mut |operand| own.push(operand));
                for operand in own {
                    self.scalar(operand)?;
                }
            }
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use varve_view::EmptyGraph;

    use super::*;
    use crate::bind::Binder;
    use crate::parser::parse;
    use crate::procedures::NoProcedures;
    use crate::sizes::Sizes;
    use crate::tree::StatementKind;

    fn names(text: &str) -> String {
        let StatementKind::Query(query) = parse(text).expect(text).kind else {
            panic!("{text} is no query");
        };
        let binder = Binder::new(text, &EmptyGraph, &NoProcedures, Sizes::UNKNOWN);
        let bound = binder.statement(&query).expect(text);
        read(&bound.plan).map_or("all".to_owned(), |names| names.join(" "))
    }

    #[test]
    fn properties_that_are_named_are_known() {
        for (text, wanted) in [
            ("MATCH (a) RETURN count(*)", ""),
            ("MATCH (a)-[r]->(b) WHERE a.x > 1 RETURN b.y, r.z", "x y z"),
            (
                "MATCH (a {x: 1}) RETURN DISTINCT a.y AS y ORDER BY y LIMIT 3",
                "x y",
            ),
            (
                "MATCH (a)-->(b) WITH b AS c, count(a) AS n ORDER BY n, c.y RETURN c.x, n",
                "x y",
            ),
            (
                "MATCH (a) RETURN id(a), labels(a), a IS NULL, count(DISTINCT a)",
                "",
            ),
            (
                "MATCH (a) WITH a.x AS x, a UNWIND [x, 1] AS y RETURN x + y",
                "x",
            ),
            (
                "MATCH (a) WITH a AS a, a.x AS x RETURN {x: x, y: a.y}",
                "x y",
            ),
        ] {
            assert_eq!(names(text), wanted, "{text}");
        }
    }

    #[test]
    fn any_property_may_be_read_by_other_uses() {
        for text in [
            "MATCH (a) RETURN a",
            "MATCH (a) WITH a AS b RETURN b, b.x",
            "MATCH (a)-[r]->() RETURN a.x, r",
            "MATCH p = (a) RETURN p",
            "MATCH (a) RETURN properties(a), a.x",
            "MATCH (a) RETURN keys(a)",
            "MATCH (a) RETURN a['x']",
            "MATCH (a) RETURN a {.x}",
            "MATCH (a) RETURN [a]",
            "MATCH (a) RETURN coalesce(a, 1)",
            "MATCH (a) RETURN collect(a)",
            "MATCH (a)-[r]->() RETURN startNode(r).x",
            "MATCH (a) RETURN CASE WHEN a.x THEN a END",
            "MATCH (a) WITH a ORDER BY a RETURN a.x",
            "MATCH (a) WHERE EXISTS { (a)-->() } RETURN a.x",
            "MATCH (a) RETURN [x IN [1] WHERE x = a.x]",
            "MATCH (a) OPTIONAL MATCH (a)-->(b) RETURN a.x",
            "MATCH (a) DELETE a RETURN 1",
        ] {
            assert_eq!(names(text), "all", "{text}");
        }
    }
}
