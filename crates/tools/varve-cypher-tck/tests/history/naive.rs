//! A naive evaluator: it tries all elements of the states of the history that a query reads.

use std::cmp::Ordering;

use varve_model::{Element, ElementId, Value as Stored};
use varve_testkit::model::Point;

use crate::query::{Direction, Item, LABELS, Match, Predicate, Query, Step, TYPES, Term, Variable};
use crate::world::World;

/// A value, in the order of Cypher.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
    Null,
}

#[derive(Debug)]
struct Node {
    labels: Vec<String>,
    i: Value,
    x: Value,
}

#[derive(Debug)]
struct Edge {
    from: usize,
    to: usize,
    edge_type: String,
    x: Value,
}

/// The elements that exist at a point of both times, by their positions in the world.
#[derive(Debug)]
pub(crate) struct Snapshot {
    nodes: Vec<Option<Node>>,
    edges: Vec<Option<Edge>>,
}

/// The value of a variable: elements, and the number of the state in which they are.
#[derive(Debug, Clone)]
enum Bound {
    Node(usize, usize),
    Edges(Vec<usize>, usize),
    Null,
}

/// The variables of a row: of nodes, and of the relationships of steps.
#[derive(Debug, Clone, Default)]
struct Row {
    nodes: Vec<Option<Bound>>,
    edges: Vec<Option<Bound>>,
}

fn of<T: Clone>(values: &[Option<T>], at: usize) -> Option<T> {
    values.get(at).cloned().flatten()
}

fn set<T: Clone>(values: &mut Vec<Option<T>>, at: usize, value: T) {
    if values.len() <= at {
        values.resize(at + 1, None);
    }
    values[at] = Some(value);
}

impl Snapshot {
    pub(crate) fn of(world: &World, point: Point) -> Snapshot {
        let state = |id: &ElementId| world.model.state(id, point);
        let key = |name: &str| world.key(name);
        let place = |id: &varve_model::VertexId| {
            let id = ElementId::Vertex(id.clone());
            let found = world.nodes.iter().position(|node| *node == id);
            found.expect("a node")
        };
        let nodes = world.nodes.iter().map(|id| {
            let Element::Vertex(vertex) = state(id)? else {
                return None;
            };
            let labels = world.label_of(vertex.label);
            let labels = labels.split("::").filter(|one| *one != "vertex");
            Some(Node {
                labels: labels.map(str::to_owned).collect(),
                i: property(vertex.properties.get(key("i"))),
                x: property(vertex.properties.get(key("x"))),
            })
        });
        let edges = world.edges.iter().map(|id| {
            let Element::Edge(edge) = state(id)? else {
                return None;
            };
            Some(Edge {
                from: place(&edge.id.source),
                to: place(&edge.id.target),
                edge_type: world.type_of(edge.id.label),
                x: property(edge.properties.get(key("x"))),
            })
        });
        Snapshot {
            nodes: nodes.collect(),
            edges: edges.collect(),
        }
    }
}

/// The MATCH of a state, or what follows the MATCHes.
#[derive(Clone, Copy)]
struct Reading<'s> {
    states: &'s [Snapshot],
    state: usize,
}

impl Reading<'_> {
    fn own(&self) -> &Snapshot {
        &self.states[self.state]
    }

    fn has_label(&self, node: usize, label: usize) -> bool {
        let node = self.own().nodes[node].as_ref();
        node.is_some_and(|node| node.labels.iter().any(|one| one == LABELS[label]))
    }

    /// The relationships from a node that a step may take, with their other ends.
    fn steps(&self, step: &Step, node: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (at, edge) in self.own().edges.iter().enumerate() {
            let Some(edge) = edge else { continue };
            if step
                .edge_type
                .is_some_and(|wanted| TYPES[wanted] != edge.edge_type)
            {
                continue;
            }
            if step.direction != Direction::Left && edge.from == node {
                found.push((at, edge.to));
            }
            let is_loop = edge.from == edge.to;
            let is_new = step.direction == Direction::Left || !is_loop;
            if step.direction != Direction::Right && edge.to == node && is_new {
                found.push((at, edge.from));
            }
        }
        found.retain(|(_, end)| self.own().nodes[*end].is_some());
        found
    }

    /// The rows of a MATCH for one row.
    fn matches(&self, one: &Match, row: &Row) -> Vec<Row> {
        let mut found = Vec::new();
        // Within the MATCH, nodes that were bound before are those of its state.
        let mut inner = row.clone();
        let variables = one.steps.iter().map(|step| step.to).chain([one.first]);
        let variables: Vec<Variable> = variables.collect();
        for variable in &variables {
            if let Some(Bound::Node(node, _)) = of(&row.nodes, *variable) {
                set(&mut inner.nodes, *variable, Bound::Node(node, self.state));
            }
        }
        for row in self.with_node(one, one.first, &inner) {
            self.walk(one, 0, row, &mut Vec::new(), &mut found);
        }
        if let Some(filter) = &one.filter {
            found.retain(|row| self.truth(filter, row) == Some(true));
        }
        for own in &mut found {
            for variable in &variables {
                if let Some(before) = of(&row.nodes, *variable) {
                    set(&mut own.nodes, *variable, before);
                }
            }
        }
        found
    }

    /// The row with a node for a variable, in each way that fits.
    fn with_node(&self, one: &Match, variable: Variable, row: &Row) -> Vec<Row> {
        let candidates = match of(&row.nodes, variable) {
            Some(Bound::Node(node, _)) => vec![node],
            Some(_) => Vec::new(),
            None => (0..self.own().nodes.len()).collect(),
        };
        let fits = |node: &usize| {
            let own = one.labels.iter().filter(|(of, _)| *of == variable);
            let mut own = own.map(|(_, label)| self.has_label(*node, *label));
            self.own().nodes[*node].is_some() && own.all(|has| has)
        };
        let with = |node| {
            let mut row = row.clone();
            set(&mut row.nodes, variable, Bound::Node(node, self.state));
            row
        };
        candidates.into_iter().filter(fits).map(with).collect()
    }

    fn walk(&self, one: &Match, at: usize, row: Row, used: &mut Vec<usize>, found: &mut Vec<Row>) {
        let Some(step) = one.steps.get(at) else {
            found.push(row);
            return;
        };
        let Some(Bound::Node(start, _)) = of(&row.nodes, step.from) else {
            return;
        };
        let (min, max) = step.length.unwrap_or((1, 1));
        // The ends and the relationships of all walks.
        let mut walks = vec![(start, Vec::new())];
        for length in 0..=max {
            for (end, edges) in walks.iter().filter(|_| length >= min) {
                let mut row = row.clone();
                let own = Bound::Edges(edges.clone(), self.state);
                set(&mut row.edges, step.number, own);
                for row in self.with_node(one, step.to, &row) {
                    if matches!(of(&row.nodes, step.to), Some(Bound::Node(node, _)) if node == *end)
                    {
                        used.extend(edges);
                        self.walk(one, at + 1, row, used, found);
                        used.truncate(used.len() - edges.len());
                    }
                }
            }
            let mut longer = Vec::new();
            for (end, edges) in walks {
                for (edge, next) in self.steps(step, end) {
                    if !used.contains(&edge) && !edges.contains(&edge) {
                        longer.push((next, [&edges[..], &[edge]].concat()));
                    }
                }
            }
            walks = longer;
        }
    }

    fn term(&self, term: Term, row: &Row) -> Value {
        let found = match term {
            Term::Constant(number) => Some(Value::Number(number)),
            Term::Node(variable, key) => match of(&row.nodes, variable) {
                Some(Bound::Node(node, state)) => {
                    let node = self.states[state].nodes[node].as_ref();
                    node.map(|node| match key {
                        "i" => node.i.clone(),
                        _ => node.x.clone(),
                    })
                }
                _ => None,
            },
            Term::Relationship(step) => match of(&row.edges, step) {
                Some(Bound::Edges(edges, state)) => {
                    let edge = self.states[state].edges[edges[0]].as_ref();
                    edge.map(|edge| edge.x.clone())
                }
                _ => None,
            },
        };
        found.unwrap_or(Value::Null)
    }

    fn truth(&self, predicate: &Predicate, row: &Row) -> Option<bool> {
        match predicate {
            Predicate::Compares(left, operator, right) => {
                let (left, right) = (self.term(*left, row), self.term(*right, row));
                if left == Value::Null || right == Value::Null {
                    return None;
                }
                let order = left.cmp(&right);
                Some(match *operator {
                    "=" => order == Ordering::Equal,
                    "<>" => order != Ordering::Equal,
                    "<" => order == Ordering::Less,
                    "<=" => order != Ordering::Greater,
                    ">" => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                })
            }
            Predicate::IsNull(term) => Some(self.term(*term, row) == Value::Null),
            Predicate::HasLabel(variable, label) => match of(&row.nodes, *variable) {
                Some(Bound::Node(node, state)) => {
                    Some(Reading { state, ..*self }.has_label(node, *label))
                }
                _ => None,
            },
            Predicate::Not(one) => self.truth(one, row).map(|truth| !truth),
            Predicate::And(both) => match (self.truth(&both.0, row), self.truth(&both.1, row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Predicate::Or(both) => match (self.truth(&both.0, row), self.truth(&both.1, row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Predicate::Exists(step, label) => Some(match of(&row.nodes, step.from) {
                Some(Bound::Node(node, _)) => {
                    let ends = self.steps(step, node);
                    ends.iter().any(|(_, end)| self.has_label(*end, *label))
                }
                _ => false,
            }),
        }
    }

    fn item(&self, item: Item, row: &Row) -> Value {
        let edges = |step| match of(&row.edges, step) {
            Some(Bound::Edges(edges, state)) => Some((edges, state)),
            _ => None,
        };
        match item {
            Item::Term(term) => self.term(term, row),
            Item::TypeOf(step) => edges(step).map_or(Value::Null, |(edges, state)| {
                let edge = self.states[state].edges[edges[0]].as_ref();
                edge.map_or(Value::Null, |edge| Value::Text(edge.edge_type.clone()))
            }),
            Item::LengthOf(step) => {
                edges(step).map_or(Value::Null, |(edges, _)| Value::Number(edges.len() as i64))
            }
            _ => panic!("an aggregate has many rows"),
        }
    }

    fn aggregate(&self, item: Item, rows: &[Row]) -> Value {
        let values = |term| {
            let all = rows.iter().map(|row| self.term(term, row));
            all.filter(|value| *value != Value::Null)
                .collect::<Vec<_>>()
        };
        let count = |count: usize| Value::Number(count as i64);
        match item {
            Item::CountAll => count(rows.len()),
            Item::Count(term) => count(values(term).len()),
            Item::CountDistinct(term) => {
                let mut all = values(term);
                all.sort();
                all.dedup();
                count(all.len())
            }
            Item::Sum(term) => Value::Number(
                values(term)
                    .iter()
                    .map(|value| match value {
                        Value::Number(number) => *number,
                        _ => 0,
                    })
                    .sum(),
            ),
            Item::Min(term) => values(term).into_iter().min().unwrap_or(Value::Null),
            Item::Max(term) => values(term).into_iter().max().unwrap_or(Value::Null),
            item => self.item(item, &rows[0]),
        }
    }
}

fn property(value: Option<&Stored>) -> Value {
    match value {
        Some(Stored::Long(number)) => Value::Number(*number),
        None => Value::Null,
        other => panic!("no history has {other:?}"),
    }
}

/// The rows of a query: `states` has its own state, then one for each of its points.
pub(crate) fn answer(query: &Query, states: &[Snapshot]) -> Vec<String> {
    let reading = Reading { states, state: 0 };
    let mut rows = vec![Row::default()];
    for one in &query.matches {
        let mut next = Vec::new();
        for row in rows {
            let state = one.at.map_or(0, |at| at + 1);
            let found = Reading { state, ..reading }.matches(one, &row);
            if found.is_empty() && one.optional {
                next.push(with_nulls(one, row));
            } else {
                next.extend(found);
            }
        }
        rows = next;
    }
    let mut table = match query.items.iter().any(|item| item.is_aggregate()) {
        true => grouped(query, reading, &rows),
        false => {
            let line = |row: &Row| {
                query
                    .items
                    .iter()
                    .map(|item| reading.item(*item, row))
                    .collect()
            };
            rows.iter().map(line).collect::<Vec<Vec<Value>>>()
        }
    };
    if query.distinct {
        table.sort();
        table.dedup();
    }
    if let Some(order) = &query.order {
        table.sort_by(|left, right| {
            let each = left.iter().zip(right).zip(order);
            let mut each = each.map(|((left, right), down)| match down {
                true => right.cmp(left),
                false => left.cmp(right),
            });
            each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
    }
    let (skip, limit) = query.window.unwrap_or((0, usize::MAX));
    let table = table.into_iter().skip(skip).take(limit);
    table.map(|line| shown(&line)).collect()
}

fn with_nulls(one: &Match, mut row: Row) -> Row {
    let nodes = one.steps.iter().map(|step| step.to).chain([one.first]);
    for variable in nodes {
        if of(&row.nodes, variable).is_none() {
            set(&mut row.nodes, variable, Bound::Null);
        }
    }
    for step in &one.steps {
        set(&mut row.edges, step.number, Bound::Null);
    }
    row
}

fn grouped(query: &Query, reading: Reading<'_>, rows: &[Row]) -> Vec<Vec<Value>> {
    let keys = |row: &Row| -> Vec<Value> {
        let keys = query.items.iter().filter(|item| !item.is_aggregate());
        keys.map(|item| reading.item(*item, row)).collect()
    };
    let mut groups: Vec<(Vec<Value>, Vec<Row>)> = Vec::new();
    if query.items.iter().all(|item| item.is_aggregate()) {
        groups.push((Vec::new(), Vec::new()));
    }
    for row in rows {
        let own = keys(row);
        match groups.iter_mut().find(|(keys, _)| *keys == own) {
            Some((_, rows)) => rows.push(row.clone()),
            None => groups.push((own, vec![row.clone()])),
        }
    }
    let line = |(_, rows): &(Vec<Value>, Vec<Row>)| {
        let items = query.items.iter();
        items.map(|item| reading.aggregate(*item, rows)).collect()
    };
    groups.iter().map(line).collect()
}

fn shown(line: &[Value]) -> String {
    let cells = line.iter().map(|value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    });
    cells.collect::<Vec<_>>().join(" ")
}
