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
    /// Whether an element that the plan adds must be visible to reach the next step.
    pub check_additions: bool,
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
            additions: self.check_additions,
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
    match plan.ops.iter().all(Op::is_filter) {
        true => plan.ops.clone(),
        false => vec![filter(plan.clone())],
    }
}

struct Filters<'s> {
    vertices: Option<&'s Plan>,
    edges: Option<&'s Plan>,
    /// Whether an expansion to vertices must check the edges.
    splits: bool,
    vertex_properties: Option<&'s Plan>,
    additions: bool,
}

/// A step, the filters of what it gives, and a step that reads what passes.
struct Checked {
    step: Op,
    filters: Vec<Op>,
    read: Option<Op>,
}

impl Filters<'_> {
    fn apply(&self, plan: &mut Plan) {
        let mut ops: Vec<Op> = Vec::with_capacity(plan.ops.len() * 2);
        let mut rest = std::mem::take(&mut plan.ops).into_iter().peekable();
        while let Some(mut op) = rest.next() {
            for child in op.children_mut() {
                self.apply(child);
            }
            if let Some(visible) = self.vertex_properties {
                read_visible(&mut op, visible);
            }
            let checked = self.checked(op);
            ops.push(checked.step);
            // The filters of the plan go first: an index may serve them. Those that depend on which
            // properties are visible are no such filters.
            let swaps = !checked.filters.is_empty() && checked.read.is_none();
            let is_seen = |op: &Op| {
                self.vertex_properties.is_some() && matches!(op, Op::HasKey(_) | Op::HasNot(_))
            };
            let goes_first = |next: &Op| swaps && next.is_filter() && !is_seen(next);
            while let Some(next) = rest.next_if(goes_first) {
                ops.push(next);
            }
            ops.extend(checked.filters);
            ops.extend(checked.read);
        }
        plan.ops = ops;
    }

    /// A step, and the filters to add after it.
    fn checked(&self, op: Op) -> Checked {
        let checked = |step: Op, plan: Option<&Plan>| Checked {
            step,
            filters: plan.map(filtering).unwrap_or_default(),
            read: None,
        };
        let visible = |step: Op, wanted: &Plan, read: Option<Op>| Checked {
            step,
            filters: vec![vertex_property(wanted)],
            read,
        };
        let (vertices, edges) = (self.vertices, self.edges);
        match (&op, self.vertex_properties) {
            (Op::Source { kind, .. }, _) => match kind {
                ElementKind::Vertex => checked(op, vertices),
                ElementKind::Edge => checked(op, edges),
            },
            (Op::Expand { to, .. }, _) => match to {
                Expanded::Edges => checked(op, edges),
                Expanded::Vertices if self.splits => checked(self.split(op), vertices),
                Expanded::Vertices => checked(op, vertices),
            },
            (Op::EndVertex(_), _) => checked(op, vertices),
            (Op::Write(write), _) if self.additions => match write.as_ref() {
                Write::AddVertex { .. } => checked(op, vertices),
                Write::AddEdge { .. } => checked(op, edges),
                _ => checked(op, None),
            },
            (Op::Properties(_), Some(wanted)) => visible(op, wanted, None),
            (Op::Values(keys), Some(wanted)) => {
                visible(Op::Properties(keys.clone()), wanted, Some(Op::Value))
            }
            _ => checked(op, None),
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

/// Makes a step that reads vertex properties by name read those for which `visible` has a result.
fn read_visible(op: &mut Op, visible: &Plan) {
    for by in op.readers_mut() {
        key_of_visible(by, visible);
    }
    match op {
        Op::ElementMap(map) => map.visible = Some(narrowed(map.visible.take(), visible)),
        Op::HasPropertyChild { key, child } => {
            let mut own = vec![
                Op::Properties(vec![std::mem::take(key)]),
                vertex_property(visible),
                Op::Value,
            ];
            own.append(&mut child.ops);
            *op = filter(Plan::new(own));
        }
        Op::HasKey(key) | Op::HasNot(key) => {
            let own = vec![
                Op::Properties(vec![std::mem::take(key)]),
                vertex_property(visible),
            ];
            *op = Op::Where {
                child: Plan::new(own),
                not: matches!(op, Op::HasNot(_)),
            };
        }
        _ => {}
    }
}

fn key_of_visible(by: &mut By, visible: &Plan) {
    match by {
        By::Key(key) => *by = By::VisibleKey(std::mem::take(key), visible.clone()),
        By::VisibleKey(_, own) => *own = narrowed(Some(std::mem::take(own)), visible),
        By::OrNull(by) => key_of_visible(by, visible),
        _ => {}
    }
}

/// What passes both plans; `own` is the plan of another strategy.
fn narrowed(own: Option<Plan>, visible: &Plan) -> Plan {
    match own {
        None => visible.clone(),
        Some(own) => Plan::new(vec![filter(own), filter(visible.clone())]),
    }
}

/// Makes every `by` without a result return null, except those that read one of these properties:
/// they are known to have a result.
pub fn productive(plan: &mut Plan, keys: &[Name]) {
    for op in &mut plan.ops {
        for child in op.children_mut() {
            productive(child, keys);
        }
        let groups = matches!(op, Op::Group { .. });
        for (at, by) in op.readers_mut().into_iter().enumerate() {
            let applies = match by {
                By::Key(key) | By::VisibleKey(key, _) => !keys.contains(key),
                // The child of a group's value runs over the whole group, so it stays.
                By::Child(plan) => !(groups && at == 1 || reads_one_of(plan, keys)),
                _ => false,
            };
            if applies {
                *by = By::OrNull(Box::new(std::mem::take(by)));
            }
        }
    }
}

/// Whether a plan reads nothing but one of these properties.
fn reads_one_of(plan: &Plan, keys: &[Name]) -> bool {
    match plan.ops.as_slice() {
        [Op::Values(read)] => matches!(read.as_slice(), [key] if keys.contains(key)),
        _ => false,
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

/// Whether a step reads this property of elements by its name.
#[must_use]
pub fn asks_for(plan: &Plan, key: &Name) -> bool {
    let mut found = false;
    plan.walk(&mut |op| {
        found |= match op {
            Op::Properties(keys) | Op::Values(keys) => keys.contains(key),
            Op::HasKey(own) | Op::HasNot(own) => own == key,
            _ => false,
        };
    });
    found
}

/// Sets a property of properties on every vertex property that the plan writes.
pub fn add_to_properties(plan: &mut Plan, key: &Name, value: &Value) {
    for op in &mut plan.ops {
        if let Op::Write(write) = op
            && let Write::AddVertex { properties, .. } | Write::Set(properties) = write.as_mut()
        {
            for property in properties {
                property.partition = Some((key.clone(), value.clone()));
            }
        }
        for child in op.children_mut() {
            add_to_properties(child, key, value);
        }
    }
}

/// Sets a property on every element that the plan adds, and adds it to the search of merges.
pub fn add_to_all(plan: &mut Plan, key: &Name, value: &Value) {
    let property = || Property {
        cardinality: None,
        name: PropertyName::Key(key.clone()),
        value: Given::Value(value.clone()),
        meta: Vec::new(),
        partition: None,
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
