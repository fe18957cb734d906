//! Strategies that change the results of a plan: restriction to a part of the graph, null for
//! missing values. They rewrite the plan before the rules do.

use std::sync::Arc;

use crate::plan::write::{Given, Property, PropertyName, Write};
use crate::plan::{By, End, Expanded, Name, Op, Plan};
use crate::predicate::{Custom, Predicate};
use crate::{Value, plan::ElementKind};

/// The part of the graph that a plan sees.
#[derive(Debug, Clone, Default)]
pub struct Subgraph {
    /// A vertex is visible if this plan has a result for it.
    pub vertices: Option<Plan>,
    /// An edge is visible if this plan has a result for it.
    pub edges: Option<Plan>,
    /// A vertex property is visible if this plan has a result for it.
    pub vertex_properties: Option<Plan>,
    /// Whether an edge is visible only if both its ends are.
    pub check_ends: bool,
}

impl Subgraph {
    /// The plans that decide what is visible.
    pub fn criteria(&self) -> impl Iterator<Item = &Plan> {
        let all = [&self.vertices, &self.edges, &self.vertex_properties];
        all.into_iter().flatten()
    }

    /// Adds filters after every step that gives vertices, edges or vertex properties.
    pub fn apply(&self, plan: &mut Plan) {
        let both_ends = match (&self.vertices, self.check_ends) {
            (Some(vertices), true) => Some(ends_filter(vertices)),
            _ => None,
        };
        let edges = match (self.edges.clone(), both_ends) {
            (Some(mut edges), Some(ends)) => {
                edges = Plan::new(vec![filter(edges), filter(ends)]);
                Some(edges)
            }
            (edges, ends) => edges.or(ends),
        };
        let filters = Filters {
            vertices: self.vertices.as_ref(),
            edges: edges.as_ref(),
            splits: self.edges.is_some(),
            vertex_properties: self.vertex_properties.as_ref(),
        };
        filters.apply(plan);
    }
}

fn filter(child: Plan) -> Op {
    Op::Where { child, not: false }
}

/// A filter of edges: both ends must pass.
fn ends_filter(vertices: &Plan) -> Plan {
    let end = |end| {
        let mut child = vec![Op::EndVertex(end)];
        child.extend(filtering(vertices));
        Plan::new(child)
    };
    Plan::new(vec![Op::Junction {
        children: vec![end(End::In), end(End::Out)],
        all: true,
    }])
}

/// The steps that filter by a plan: the plan itself if it consists of filters, so that an index can
/// serve it; else one step that runs it as a child.
fn filtering(plan: &Plan) -> Vec<Op> {
    match plan.ops.iter().all(is_filter) {
        true => plan.ops.clone(),
        false => vec![filter(plan.clone())],
    }
}

const fn is_filter(op: &Op) -> bool {
    matches!(
        op,
        Op::HasProperty { .. } | Op::HasToken { .. } | Op::HasKey(_) | Op::HasNot(_)
    )
}

struct Filters<'s> {
    vertices: Option<&'s Plan>,
    edges: Option<&'s Plan>,
    /// Whether an expansion to vertices must check the edges.
    splits: bool,
    vertex_properties: Option<&'s Plan>,
}

impl Filters<'_> {
    fn apply(&self, plan: &mut Plan) {
        let mut ops: Vec<Op> = Vec::with_capacity(plan.ops.len() * 2);
        let mut rest = std::mem::take(&mut plan.ops).into_iter().peekable();
        while let Some(mut op) = rest.next() {
            for child in op.children_mut() {
                self.apply(child);
            }
            let (mut given, behind) = self.filtered(op);
            ops.append(&mut given);
            // The filters of the plan go first: an index may serve them.
            while let (false, Some(next)) = (behind.is_empty(), rest.next_if(is_filter)) {
                ops.push(next);
            }
            ops.extend(behind);
        }
        plan.ops = ops;
    }

    /// A step, and the filters to add after it.
    fn filtered(&self, op: Op) -> (Vec<Op>, Vec<Op>) {
        let of = |plan: Option<&Plan>| plan.map(filtering).unwrap_or_default();
        match (&op, self.vertex_properties) {
            (Op::Source { kind, .. }, _) => match kind {
                ElementKind::Vertex => (vec![op], of(self.vertices)),
                ElementKind::Edge => (vec![op], of(self.edges)),
            },
            (Op::Expand { to, .. }, _) => match to {
                Expanded::Edges => (vec![op], of(self.edges)),
                Expanded::Vertices if self.splits => (vec![self.split(op)], of(self.vertices)),
                Expanded::Vertices => (vec![op], of(self.vertices)),
            },
            (Op::EndVertex(_), _) => (vec![op], of(self.vertices)),
            (Op::Properties(_), Some(wanted)) => (vec![op], vec![vertex_property(wanted)]),
            (Op::Values(keys), Some(wanted)) => {
                let properties = Op::Properties(keys.clone());
                (vec![properties], vec![vertex_property(wanted), Op::Value])
            }
            _ => (vec![op], Vec::new()),
        }
    }

    /// Rewrites an expansion to vertices into one to edges, a filter, and the edges' ends. The path
    /// still contains no edge.
    fn split(&self, op: Op) -> Op {
        let mut edges = op;
        if let Op::Expand { to, .. } = &mut edges {
            *to = Expanded::Edges;
        }
        let mut ops = vec![edges];
        ops.extend(self.edges.map(filtering).unwrap_or_default());
        ops.push(Op::EndVertex(End::Other));
        Op::FlatMap {
            child: Plan::new(ops),
            first: false,
            local: false,
        }
    }
}

/// A filter that passes every value but those vertex properties for which the plan has no result.
fn vertex_property(wanted: &Plan) -> Op {
    let other = Predicate::Custom(Custom {
        name: "other than a vertex property",
        decide: Arc::new(|value| Ok(!matches!(value, Value::VertexProperty(_)))),
    });
    Op::Junction {
        children: vec![Plan::new(vec![Op::Is(other)]), wanted.clone()],
        all: false,
    }
}

/// Makes every `by` without a result return null. `keys`: only `by` of these properties; empty =
/// all.
pub fn productive(plan: &mut Plan, keys: &[crate::plan::Name]) {
    for op in &mut plan.ops {
        for child in op.children_mut() {
            productive(child, keys);
        }
        let groups = matches!(op, Op::Group { .. });
        for (at, by) in op.readers_mut().into_iter().enumerate() {
            let applies = match by {
                By::Key(key) => keys.is_empty() || keys.contains(key),
                // The child of a group's value runs over the whole group, so it stays.
                By::Child(_) => keys.is_empty() && !(groups && at == 1),
                _ => false,
            };
            if applies {
                *by = By::OrNull(Box::new(std::mem::take(by)));
            }
        }
    }
}

/// Whether any step walks edges without naming a label.
#[must_use]
pub fn walks_any_label(plan: &Plan) -> bool {
    let mut found = false;
    plan.walk(&mut |op| {
        found |= matches!(op, Op::Expand { labels, .. } if labels.is_empty());
    });
    found
}

/// Sets a property on every element that the plan adds, and adds it to the search of merges.
pub fn add_to_all(plan: &mut Plan, key: &Name, value: &Value) {
    let property = || Property {
        cardinality: None,
        name: PropertyName::Key(key.clone()),
        value: Given::Value(value.clone()),
        meta: Vec::new(),
    };
    for op in &mut plan.ops {
        if let Op::Write(write) = op {
            match write.as_mut() {
                Write::AddVertex { properties, .. } | Write::AddEdge { properties, .. } => {
                    properties.push(property());
                }
                Write::MergeVertex(merge) | Write::MergeEdge(merge) => {
                    merge.also.push((key.clone(), value.clone()));
                }
                Write::Set(_) | Write::Drop => {}
            }
        }
        for child in op.children_mut() {
            add_to_all(child, key, value);
        }
    }
}
