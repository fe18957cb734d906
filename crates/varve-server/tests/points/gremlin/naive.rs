//! An evaluator of traversals by their definitions: one value after the other, over all elements of
//! the model. It has no plan, no batches and no counts of equal values.

use std::collections::BTreeMap;

use varve_model::{Edge, EdgeId, Properties, Value as Stored, VertexId};
use varve_testkit::model::ModelView;

use super::step::{End, Step, Test, Way};
use crate::history::{EDGE_LABELS, KEY, VERTEX_LABELS};

/// How many values a traversal may have at a time; with more it is left out.
const VALUES_MAX: usize = 5_000;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Vertex(VertexId),
    /// An edge, and the end that it was reached from.
    Edge(EdgeId, Option<VertexId>),
    /// 32 bits.
    Int(i64),
    /// 64 bits.
    Long(i64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Path(Vec<Value>),
}

/// A value on its way.
#[derive(Debug, Clone)]
struct Walker {
    value: Value,
    path: Vec<Value>,
    labels: BTreeMap<String, Value>,
}

impl Walker {
    fn to(&self, value: Value) -> Self {
        let path = [self.path.as_slice(), std::slice::from_ref(&value)].concat();
        Self {
            value,
            path,
            labels: self.labels.clone(),
        }
    }
}

/// More values than [`VALUES_MAX`].
#[derive(Debug)]
pub(crate) struct TooMany;

pub(crate) fn results(view: &ModelView, steps: &[Step]) -> Result<Vec<Value>, TooMany> {
    let start = Walker {
        value: Value::List(Vec::new()),
        path: Vec::new(),
        labels: BTreeMap::new(),
    };
    let walkers = Naive { view }.run(steps, vec![start])?;
    Ok(walkers.into_iter().map(|walker| walker.value).collect())
}

struct Naive<'a> {
    view: &'a ModelView,
}

/// Sorted lists and maps, so that equal multisets are the same text.
pub(crate) fn canonical(value: &Value) -> String {
    let each = |values: &[Value]| values.iter().map(canonical).collect::<Vec<_>>();
    match value {
        Value::Vertex(id) => format!("vertex {id}"),
        Value::Edge(id, _) => format!("edge {id}"),
        Value::Int(n) => format!("int {n}"),
        Value::Long(n) => format!("long {n}"),
        Value::Text(text) => format!("'{text}'"),
        Value::List(values) => format!("[{}]", sorted(each(values))),
        Value::Map(entries) => {
            let entries = entries.iter();
            let texts =
                entries.map(|(key, value)| format!("{}: {}", canonical(key), canonical(value)));
            format!("{{{}}}", sorted(texts.collect()))
        }
        Value::Path(values) => format!("path({})", each(values).join(", ")),
    }
}

pub(crate) fn sorted(mut texts: Vec<String>) -> String {
    texts.sort_unstable();
    texts.join(", ")
}

fn holds(test: Test, number: i64) -> bool {
    match test {
        Test::Equal(n) => number == n,
        Test::Differs(n) => number != n,
        Test::Above(n) => number > n,
        Test::Below(n) => number < n,
        Test::OneOf(a, b) => number == a || number == b,
    }
}

/// Equal values with where they are, each once.
fn distinct(values: impl Iterator<Item = Value>) -> Vec<(Value, Vec<usize>)> {
    let mut found: BTreeMap<String, (Value, Vec<usize>)> = BTreeMap::new();
    for (at, value) in values.enumerate() {
        let group = found.entry(canonical(&value));
        group.or_insert((value, Vec::new())).1.push(at);
    }
    found.into_values().collect()
}

/// The relation of predicates: numbers of any width by their value.
fn equal(a: &Value, b: &Value) -> bool {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        _ => canonical(a) == canonical(b),
    }
}

impl Naive<'_> {
    fn run(&self, steps: &[Step], mut walkers: Vec<Walker>) -> Result<Vec<Walker>, TooMany> {
        for step in steps {
            walkers = self.step(step, walkers)?;
            if walkers.len() > VALUES_MAX {
                return Err(TooMany);
            }
        }
        Ok(walkers)
    }

    /// Whether a child gives anything for a walker.
    fn gives(&self, child: &[Step], walker: &Walker) -> Result<bool, TooMany> {
        Ok(!self.run(child, vec![walker.clone()])?.is_empty())
    }

    fn step(&self, step: &Step, walkers: Vec<Walker>) -> Result<Vec<Walker>, TooMany> {
        let one = |value: Value| {
            let (path, labels) = (vec![value.clone()], BTreeMap::new());
            Ok(vec![Walker {
                value,
                path,
                labels,
            }])
        };
        match step {
            Step::Count => one(Value::Long(walkers.len() as i64)),
            Step::Fold => one(Value::List(walkers.into_iter().map(|w| w.value).collect())),
            Step::GroupCount => one(groups(walkers.into_iter().map(|w| w.value))),
            Step::GroupByLabel => {
                let labels = walkers.iter().map(|walker| self.label(&walker.value));
                one(groups(labels))
            }
            Step::Sum | Step::Max | Step::Min => {
                let numbers = walkers.iter().filter_map(|walker| number(&walker.value));
                let found = match step {
                    Step::Sum => numbers.reduce(|a, b| a + b),
                    Step::Max => numbers.max(),
                    _ => numbers.min(),
                };
                found.map_or(Ok(Vec::new()), |found| one(Value::Int(found)))
            }
            Step::Smallest(most) => {
                let mut walkers = walkers;
                walkers.sort_by_key(|walker| number(&walker.value));
                walkers.truncate(*most);
                Ok(walkers)
            }
            Step::Dedup => {
                let groups = distinct(walkers.iter().map(|walker| walker.value.clone()));
                let firsts = groups
                    .into_iter()
                    .map(|(_, places)| walkers[places[0]].clone());
                Ok(firsts.collect())
            }
            Step::Union(a, b) => {
                let mut all = self.run(a, walkers.clone())?;
                all.extend(self.run(b, walkers)?);
                Ok(all)
            }
            Step::Choose(test, yes, no) => {
                let (mut passing, mut others) = (Vec::new(), Vec::new());
                for walker in walkers {
                    match self.gives(test, &walker)? {
                        true => passing.push(walker),
                        false => others.push(walker),
                    }
                }
                let mut all = self.run(yes, passing)?;
                all.extend(self.run(no, others)?);
                Ok(all)
            }
            Step::Repeat(body, times, emits) => {
                let (mut now, mut emitted) = (walkers, Vec::new());
                for round in 1..=*times {
                    now = self.run(body, now)?;
                    if *emits && round < *times {
                        emitted.extend(now.iter().cloned());
                    }
                }
                emitted.extend(now);
                Ok(emitted)
            }
            _ => {
                let mut all = Vec::new();
                for walker in &walkers {
                    all.extend(self.each(step, walker)?);
                }
                Ok(all)
            }
        }
    }

    /// A step that looks at one walker at a time.
    fn each(&self, step: &Step, walker: &Walker) -> Result<Vec<Walker>, TooMany> {
        let to =
            |values: Vec<Value>| Ok(values.into_iter().map(|value| walker.to(value)).collect());
        let kept = |keep: bool| {
            Ok(if keep {
                vec![walker.clone()]
            } else {
                Vec::new()
            })
        };
        match step {
            Step::Vertices(ids) => to(self.vertices(ids)),
            Step::Edges => to(self
                .view
                .all_edges()
                .iter()
                .map(|edge| Value::Edge(edge.id.clone(), None))
                .collect()),
            Step::Hop(way, labels) => {
                let hops = self.hops(&walker.value, *way, labels).into_iter();
                to(hops.map(|(_, other)| Value::Vertex(other)).collect())
            }
            Step::HopEdges(way, labels) => {
                let Value::Vertex(from) = &walker.value else {
                    unreachable!("edges of a vertex")
                };
                let hops = self.hops(&walker.value, *way, labels).into_iter();
                to(hops
                    .map(|(edge, _)| Value::Edge(edge, Some(from.clone())))
                    .collect())
            }
            Step::Ends(end) => to(ends(&walker.value, *end)),
            Step::HasLabel(name) => kept(self.label(&walker.value) == Value::Text((*name).into())),
            Step::Has(test) => kept(self.age(&walker.value).is_some_and(|age| holds(*test, age))),
            Step::HasKey => kept(self.age(&walker.value).is_some()),
            Step::HasNot => kept(self.age(&walker.value).is_none()),
            Step::Age => to(self
                .age(&walker.value)
                .map(Value::Int)
                .into_iter()
                .collect()),
            Step::Label => to(vec![self.label(&walker.value)]),
            Step::Id => match &walker.value {
                Value::Vertex(VertexId::Number(id)) => to(vec![Value::Long(*id)]),
                other => unreachable!("no id of {other:?}"),
            },
            Step::Is(test) => kept(number(&walker.value).is_some_and(|n| holds(*test, n))),
            Step::Constant => to(vec![Value::Text("c".to_owned())]),
            Step::Where(child) => kept(self.gives(child, walker)?),
            Step::Not(child) => kept(!self.gives(child, walker)?),
            Step::And(a, b) => kept(self.gives(a, walker)? && self.gives(b, walker)?),
            Step::Or(a, b) => kept(self.gives(a, walker)? || self.gives(b, walker)?),
            Step::Local(child) => self.run(child, vec![walker.clone()]),
            Step::Optional(child) => {
                let found = self.run(child, vec![walker.clone()])?;
                if found.is_empty() {
                    kept(true)
                } else {
                    Ok(found)
                }
            }
            // A path has what it gives, not how that was found.
            Step::Coalesce(a, b) => {
                let mut found = self.run(a, vec![walker.clone()])?;
                if found.is_empty() {
                    found = self.run(b, vec![walker.clone()])?;
                }
                to(found.into_iter().map(|found| found.value).collect())
            }
            Step::As(label) => {
                let mut named = walker.clone();
                named.labels.insert(label.clone(), walker.value.clone());
                Ok(vec![named])
            }
            Step::Select(label) => to(vec![walker.labels[label].clone()]),
            Step::SelectBoth(a, b) => {
                let entry =
                    |label: &String| (Value::Text(label.clone()), walker.labels[label].clone());
                to(vec![Value::Map(vec![entry(a), entry(b)])])
            }
            Step::WhereSame(label, same) => {
                kept(equal(&walker.value, &walker.labels[label]) == *same)
            }
            Step::SimplePath => {
                kept(distinct(walker.path.iter().cloned()).len() == walker.path.len())
            }
            Step::Path => to(vec![Value::Path(walker.path.clone())]),
            other => unreachable!("{other} looks at all"),
        }
    }

    fn vertices(&self, ids: &[i64]) -> Vec<Value> {
        let all = self.view.all_vertices().iter();
        let wanted = all.filter(|vertex| {
            ids.is_empty() || ids.iter().any(|id| vertex.id == VertexId::Number(*id))
        });
        wanted
            .map(|vertex| Value::Vertex(vertex.id.clone()))
            .collect()
    }

    /// The edges of a vertex with their other ends; a self-loop both ways twice.
    fn hops(&self, from: &Value, way: Way, labels: &[&str]) -> Vec<(EdgeId, VertexId)> {
        let Value::Vertex(from) = from else {
            unreachable!("edges of {from:?}")
        };
        let mut found = Vec::new();
        for edge in self.view.all_edges() {
            if !labels.is_empty() && !labels.contains(&edge_label(&edge.id)) {
                continue;
            }
            if way != Way::In && edge.id.source == *from {
                found.push((edge.id.clone(), edge.id.target.clone()));
            }
            if way != Way::Out && edge.id.target == *from {
                found.push((edge.id.clone(), edge.id.source.clone()));
            }
        }
        found
    }

    fn edge(&self, id: &EdgeId) -> &Edge {
        let mut all = self.view.all_edges().iter();
        all.find(|edge| edge.id == *id)
            .expect("it was found before")
    }

    fn properties(&self, element: &Value) -> &Properties {
        match element {
            Value::Vertex(id) => {
                let mut all = self.view.all_vertices().iter();
                let vertex = all.find(|vertex| vertex.id == *id);
                &vertex.expect("no edge leads nowhere").properties
            }
            Value::Edge(id, _) => &self.edge(id).properties,
            other => unreachable!("{other:?} is no element"),
        }
    }

    fn age(&self, element: &Value) -> Option<i64> {
        self.properties(element).get(KEY).and_then(Stored::as_i64)
    }

    fn label(&self, element: &Value) -> Value {
        let name = match element {
            Value::Vertex(id) => {
                let mut all = self.view.all_vertices().iter();
                let vertex = all.find(|vertex| vertex.id == *id);
                let label = vertex.expect("no edge leads nowhere").label;
                VERTEX_LABELS[label.0 as usize - 1]
            }
            Value::Edge(id, _) => edge_label(id),
            other => unreachable!("{other:?} has no label"),
        };
        Value::Text(name.to_owned())
    }
}

fn edge_label(id: &EdgeId) -> &'static str {
    EDGE_LABELS[id.label.0 as usize - 1]
}

fn groups(values: impl Iterator<Item = Value>) -> Value {
    let counted = distinct(values).into_iter();
    Value::Map(
        counted
            .map(|(value, places)| (value, Value::Long(places.len() as i64)))
            .collect(),
    )
}

const fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) | Value::Long(n) => Some(*n),
        _ => None,
    }
}

fn ends(edge: &Value, end: End) -> Vec<Value> {
    let Value::Edge(id, from) = edge else {
        unreachable!("ends of {edge:?}")
    };
    let ends = match end {
        End::In => vec![&id.target],
        End::Out => vec![&id.source],
        End::Both => vec![&id.source, &id.target],
        End::Other => match from {
            Some(from) if *from == id.source => vec![&id.target],
            _ => vec![&id.source],
        },
    };
    ends.into_iter().cloned().map(Value::Vertex).collect()
}
