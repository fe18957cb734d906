//! Strategies that change what a plan gives: views of a part of the graph, values for what is
//! missing. They rewrite the plan before any rule sees it.

use std::sync::Arc;

use crate::plan::write::{Given, Property, PropertyName, Write};
use crate::plan::{By, End, Expanded, Name, Op, Plan};
use crate::predicate::{Custom, Predicate};
use crate::{Value, plan::ElementKind};

/// The part of the graph that a plan sees.
#[derive(Debug, Clone, Default)]
pub struct Subgraph {
    /// What each vertex must give a result for.
    pub vertices: Option<Plan>,
    /// What each edge must give a result for.
    pub edges: Option<Plan>,
    /// What each property of a vertex must give a result for.
    pub vertex_properties: Option<Plan>,
    /// Whether an edge is only there if both its ends are.
    pub check_ends: bool,
}

impl Subgraph {
    /// What it asks for.
    pub fn criteria(&self) -> impl Iterator<Item = &Plan> {
        let all = [&self.vertices, &self.edges, &self.vertex_properties];
        all.into_iter().flatten()
    }

    /// Puts filters behind every step that gives vertices, edges or properties of vertices.
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

/// Edges both of whose ends pass.
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

/// The steps that let pass what a plan has a result for: the plan itself where it only filters, so
/// that an index can serve it.
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
    /// Whether a walk to vertices must look at the edges.
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
            // Filters of the plan come first: an index may serve them.
            while let (false, Some(next)) = (behind.is_empty(), rest.next_if(is_filter)) {
                ops.push(next);
            }
            ops.extend(behind);
        }
        plan.ops = ops;
    }

    /// A step, and the filters behind it.
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

    /// A walk to vertices that looks at the edges. The path has no edge still.
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

/// Lets pass what is no property of a vertex, and those that a plan has a result for.
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

/// Makes every `by` that reads nothing read null. `keys`: only for these properties; all if empty.
pub fn productive(plan: &mut Plan, keys: &[crate::plan::Name]) {
    for op in &mut plan.ops {
        for child in op.children_mut() {
            productive(child, keys);
        }
        let groups = matches!(op, Op::Group { .. });
        for (at, by) in op.readers_mut().into_iter().enumerate() {
            let applies = match by {
                By::Key(key) => keys.is_empty() || keys.contains(key),
                // The child of a group's values sees the whole group.
                By::Child(_) => keys.is_empty() && !(groups && at == 1),
                _ => false,
            };
            if applies {
                *by = By::OrNull(Box::new(std::mem::take(by)));
            }
        }
    }
}

/// Whether a step walks edges of any label.
#[must_use]
pub fn walks_any_label(plan: &Plan) -> bool {
    let mut found = false;
    plan.walk(&mut |op| {
        found |= matches!(op, Op::Expand { labels, .. } if labels.is_empty());
    });
    found
}

/// Gives every element that the plan adds a property with this value, and looks for it in merges.
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
