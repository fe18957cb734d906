//! Steps along relationships.

mod checked;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use varve_model::Direction as Walked;
use varve_view::{Counted, Flow, Neighbour};

use super::batch::ROWS;
use super::matching::{is_second_sight, is_used, may_be_used, node_of, other_node, step, walked};
use super::{Batch, Cx};
use crate::error::{Error, ErrorClass, Outcome};
use crate::filters::{LabelFilter, Types};
use crate::plan::{Expand, Use};
use crate::value::{Node, Relationship, Value};
use checked::{Results, Unchecked};

/// The most steps from a node that are remembered.
const STEPS_MAX: usize = 8;
/// The most nodes whose steps are remembered; then all are forgotten.
const NODES_MAX: usize = 65_536;
/// Bytes of remembered steps beside the steps themselves.
const FOUND_BYTES: usize = 112;

/// Follows the relationships of the rows' nodes.
pub(super) fn expand(
    cx: Cx<'_>,
    expand: &Expand,
    known: &mut KnownSteps,
    batch: &Batch,
) -> Outcome<Batch> {
    let types = Types::new(expand.types.as_ref(), cx.graph().schema);
    match (types.is_none, expand.is_to_bound) {
        (true, _) => Ok(Batch::new(batch.width())),
        (false, true) => between(cx, expand, &types, batch),
        (false, false) => Steps::of(expand, batch)?.expand(cx, &types, known),
    }
}

/// Visits the relationships of nodes in a direction, or both, each with the place of its node.
fn visit(
    cx: Cx<'_>,
    (direction, types): (Option<Walked>, &Types<'_>),
    nodes: &[&Arc<Node>],
    mut add: impl FnMut(usize, &Neighbour<'_>) -> Outcome<()>,
) -> Outcome<()> {
    let graph = cx.graph();
    let keys: Vec<&[u8]> = nodes.iter().map(|node| &*node.key).collect();
    let ask = types.ask(direction);
    let mut failed = None;
    let (view, meter) = (cx.view(), graph.meter);
    view.neighbours(&keys, &ask, meter, &mut |at, seen| {
        if !types.holds(graph.schema, seen.label) {
            return Flow::Continue(());
        }
        match add(at, seen) {
            Ok(()) => Flow::Continue(()),
            Err(error) => {
                failed = Some(error);
                Flow::Break(())
            }
        }
    })?;
    failed.map_or(Ok(()), Err)
}

/// Counts the relationships that [`visit`] visits.
fn count(
    cx: Cx<'_>,
    (direction, types): (Option<Walked>, &Types<'_>),
    nodes: &[&Arc<Node>],
    mut add: impl FnMut(usize, Counted),
) -> Outcome<()> {
    let graph = cx.graph();
    let keys: Vec<&[u8]> = nodes.iter().map(|node| &*node.key).collect();
    let ask = types.ask(direction);
    let (view, meter) = (cx.view(), graph.meter);
    let counted = view.counts(&keys, &ask, meter, &mut |at, of| {
        if types.holds(graph.schema, of.label) {
            add(at, of);
        }
    });
    Ok(counted?)
}

/// Follows relationships to nodes that are bound.
fn between(cx: Cx<'_>, expand: &Expand, types: &Types<'_>, batch: &Batch) -> Outcome<Batch> {
    let graph = cx.graph();
    let (mut nodes, mut rows) = (Vec::new(), Vec::new());
    for (at, (row, _)) in batch.rows().enumerate() {
        let to = node_of(row.get(expand.to))?;
        if let Some((node, to)) = node_of(row.get(expand.from))?.zip(to) {
            nodes.push(node);
            rows.push((at, to));
        }
    }
    let mut out = Batch::new(batch.width());
    let direction = walked(expand.direction);
    visit(cx, (direction, types), &nodes, |at, seen| {
        let (row, to) = rows[at];
        if *to.key != *seen.other {
            return Ok(());
        }
        if is_second_sight(nodes[at], direction, seen) {
            return Ok(());
        }
        let (relationship, _) = step(cx, nodes[at], seen)?;
        if !is_used(&relationship, &expand.unlike, batch.row(row)) {
            out.push(batch.row(row), batch.count(row));
            let last = out.len() - 1;
            out.row_mut(last)[expand.relationship] = Value::Relationship(relationship);
        }
        Ok(())
    })?;
    graph.meter.check()?;
    Ok(out)
}

/// A step from a node.
struct Step {
    /// The relationship, if it is compared with others or kept.
    relationship: Option<Arc<Relationship>>,
    keeps_relationship: bool,
    /// The node at the other end, if it is kept.
    other: Option<Arc<Node>>,
}

/// The steps from a node.
#[derive(Default)]
struct Found {
    steps: Vec<Step>,
    /// How many more there are, of which nothing is kept.
    counted: u64,
}

/// The steps from some nodes, while they are read.
struct Reading {
    found: Vec<Found>,
    /// Steps that are kept.
    made: usize,
}

impl Reading {
    fn new(nodes: usize) -> Reading {
        let mut found = Vec::new();
        found.resize_with(nodes, Found::default);
        Reading { found, made: 0 }
    }

    /// Adds the step along a relationship that was seen at the node at place `at`. `may_repeat`:
    /// whether it may be a relationship that a row has.
    fn add(
        &mut self,
        cx: Cx<'_>,
        at: usize,
        (expand, from): (&Expand, &Arc<Node>),
        (seen, may_repeat): (&Neighbour<'_>, bool),
    ) -> Outcome<()> {
        let keeps_relationship = match expand.keeps_relationship {
            Use::Always => true,
            Use::Loops => *seen.other == *from.key,
            Use::Never => false,
        };
        let step = if keeps_relationship || may_repeat {
            let (relationship, other) = step(cx, from, seen)?;
            Step {
                relationship: Some(relationship),
                keeps_relationship,
                other: expand.keeps_to.then_some(other),
            }
        } else if expand.keeps_to {
            Step {
                relationship: None,
                keeps_relationship,
                other: Some(other_node(cx, from, seen)?),
            }
        } else {
            self.found[at].counted += 1;
            return Ok(());
        };
        self.found[at].steps.push(step);
        self.made += 1;
        if self.made.is_multiple_of(ROWS) {
            cx.graph().meter.hold(ROWS * size_of::<Step>())?;
        }
        Ok(())
    }

    fn finish(self, cx: Cx<'_>) -> Vec<Found> {
        let meter = cx.graph().meter;
        meter.release(self.made / ROWS * ROWS * size_of::<Step>());
        self.found
    }
}

/// The steps from nodes with few of them, so that a node that many batches have is asked for once.
#[derive(Default)]
pub(super) struct KnownSteps {
    /// By the node's address. The node is kept, so that no other gets its address.
    known: HashMap<*const Node, (Arc<Node>, Rc<Found>), foldhash::fast::RandomState>,
    /// The results of the steps' condition.
    results: Results,
}

impl KnownSteps {
    fn of(&self, node: &Arc<Node>) -> Option<Rc<Found>> {
        let known = self.known.get(&Arc::as_ptr(node));
        known.map(|(_, found)| Rc::clone(found))
    }

    fn remember(&mut self, cx: Cx<'_>, node: &Arc<Node>, found: &Rc<Found>) -> Outcome<()> {
        let meter = cx.graph().meter;
        if self.known.len() >= NODES_MAX {
            meter.release(self.known.values().map(|(_, found)| found.bytes()).sum());
            self.known.clear();
        }
        meter.hold(found.bytes())?;
        let entry = (Arc::clone(node), Rc::clone(found));
        self.known.insert(Arc::as_ptr(node), entry);
        Ok(())
    }
}

impl Found {
    fn bytes(&self) -> usize {
        FOUND_BYTES + self.steps.capacity() * size_of::<Step>()
    }
}

/// The steps from the nodes of a batch of rows. Each node is asked for once.
struct Steps<'b> {
    expand: &'b Expand,
    batch: &'b Batch,
    nodes: Vec<&'b Arc<Node>>,
    /// For each row, the place of its node; `None` if it is null.
    places: Vec<Option<usize>>,
    /// For each node, the rows with relationships that its own must not be.
    compared: Vec<Vec<usize>>,
}

impl<'b> Steps<'b> {
    fn of(expand: &'b Expand, batch: &'b Batch) -> Outcome<Steps<'b>> {
        let mut known: HashMap<*const Node, usize, foldhash::fast::RandomState> =
            HashMap::with_capacity_and_hasher(batch.len(), foldhash::fast::RandomState::default());
        let mut steps = Steps {
            expand,
            batch,
            nodes: Vec::new(),
            places: Vec::with_capacity(batch.len()),
            compared: Vec::new(),
        };
        for (at, (row, _)) in batch.rows().enumerate() {
            let Some(node) = node_of(row.get(expand.from))? else {
                steps.places.push(None);
                continue;
            };
            let place = *known.entry(Arc::as_ptr(node)).or_insert_with(|| {
                steps.nodes.push(node);
                steps.compared.push(Vec::new());
                steps.nodes.len() - 1
            });
            steps.places.push(Some(place));
            let mut others = expand.unlike.iter().map(|slot| &row[*slot]);
            if others.any(|other| !other.is_null()) {
                steps.compared[place].push(at);
            }
        }
        Ok(steps)
    }

    fn expand(&self, cx: Cx<'_>, types: &Types<'_>, known: &mut KnownSteps) -> Outcome<Batch> {
        let may_know = self.expand.unlike.is_empty() && cx.graph().writer.is_none();
        // Nodes that rows share in one batch are likely to come in others, too.
        let is_shared = self.nodes.len() < self.places.len();
        let mut found: Vec<Option<Rc<Found>>> = match may_know {
            true => self.nodes.iter().map(|node| known.of(node)).collect(),
            false => vec![None; self.nodes.len()],
        };
        let unknown: Vec<usize> = (0..found.len()).filter(|at| found[*at].is_none()).collect();
        let read = self.read(cx, types, &unknown, &mut known.results)?;
        for (at, new) in unknown.iter().zip(read) {
            let new = Rc::new(new);
            if may_know && is_shared && new.steps.len() <= STEPS_MAX {
                known.remember(cx, self.nodes[*at], &new)?;
            }
            found[*at] = Some(new);
        }
        self.rows(&found)
    }

    /// Finds the steps from some of the nodes. Where nothing is kept of them, they are counted.
    fn read(
        &self,
        cx: Cx<'_>,
        types: &Types<'_>,
        places: &[usize],
        results: &mut Results,
    ) -> Outcome<Vec<Found>> {
        if let Some(second) = &self.expand.second {
            return self.count_pairs(cx, types, places, second);
        }
        let keeps = self.expand.keeps_relationship;
        if self.expand.keeps_to || self.expand.condition.is_some() || keeps == Use::Always {
            return self.read_each(cx, types, places, results);
        }
        let schema = cx.graph().schema;
        let direction = walked(self.expand.direction);
        let mut labels = LabelFilter::new(self.expand.to_labels.as_ref());
        let mut found = Vec::new();
        found.resize_with(places.len(), Found::default);
        let is_compared = |at: &usize| !self.compared[places[*at]].is_empty();
        let (mut rest, counted): (Vec<usize>, Vec<usize>) =
            (0..places.len()).partition(is_compared);
        let nodes: Vec<&Arc<Node>> = counted.iter().map(|at| self.nodes[places[*at]]).collect();
        count(cx, (direction, types), &nodes, |number, of| {
            // A loop comes once in each direction.
            let is_second = of.is_loop && direction.is_none() && of.direction == Walked::In;
            if labels.holds(schema, of.other_label) && !is_second {
                found[counted[number]].counted += of.edges;
                if of.is_loop && keeps == Use::Loops {
                    rest.push(counted[number]);
                }
            }
        })?;
        rest.sort_unstable();
        rest.dedup();
        let places: Vec<usize> = rest.iter().map(|at| places[*at]).collect();
        for (at, steps) in rest
            .iter()
            .zip(self.read_each(cx, types, &places, results)?)
        {
            found[*at] = steps;
        }
        Ok(found)
    }

    /// Counts the pairs of a step and a second one from some of the nodes.
    fn count_pairs(
        &self,
        cx: Cx<'_>,
        types: &Types<'_>,
        places: &[usize],
        second: &Expand,
    ) -> Outcome<Vec<Found>> {
        let schema = cx.graph().schema;
        let both = [self.expand, second];
        let directions = both.map(|one| walked(one.direction));
        let direction = directions[0].filter(|_| directions[0] == directions[1]);
        let mut labels = both.map(|one| LabelFilter::new(one.to_labels.as_ref()));
        let nodes: Vec<&Arc<Node>> = places.iter().map(|at| self.nodes[*at]).collect();
        // The steps, the second steps, and the loops that are both.
        let mut numbers = vec![[0_u64; 3]; places.len()];
        count(cx, (direction, types), &nodes, |at, of| {
            let holds = labels
                .each_mut()
                .map(|own| own.holds(schema, of.other_label));
            let is_of = directions.map(|own| own == Some(of.direction));
            let counts = [
                holds[0] && is_of[0],
                holds[1] && is_of[1],
                of.is_loop && is_of[0] && holds == [true, true],
            ];
            for (number, counts) in numbers[at].iter_mut().zip(counts) {
                *number += if counts { of.edges } else { 0 };
            }
        })?;
        let found = numbers.into_iter().map(|[first, second_steps, loops]| {
            let pairs = first.checked_mul(second_steps).ok_or_else(too_many)?;
            let equal = if second.unlike.is_empty() { 0 } else { loops };
            let counted = pairs.saturating_sub(equal);
            Ok(Found {
                steps: Vec::new(),
                counted,
            })
        });
        found.collect()
    }

    /// Reads the steps from some of the nodes.
    fn read_each(
        &self,
        cx: Cx<'_>,
        types: &Types<'_>,
        places: &[usize],
        results: &mut Results,
    ) -> Outcome<Vec<Found>> {
        let graph = cx.graph();
        let direction = walked(self.expand.direction);
        let mut labels = LabelFilter::new(self.expand.to_labels.as_ref());
        let nodes: Vec<&Arc<Node>> = places.iter().map(|at| self.nodes[*at]).collect();
        let mut reading = Reading::new(nodes.len());
        let mut add = |at: usize, seen: &Neighbour<'_>| {
            let may_repeat = self.may_repeat(places[at], seen);
            reading.add(cx, at, (self.expand, nodes[at]), (seen, may_repeat))
        };
        let condition = self.expand.condition.as_ref();
        let mut unchecked = Unchecked::default();
        let mut read = visit(cx, (direction, types), &nodes, |at, seen| {
            if !labels.holds(graph.schema, seen.other_label)
                || is_second_sight(nodes[at], direction, seen)
            {
                return Ok(());
            }
            match condition {
                Some(_) => unchecked.push(cx, at, seen),
                None => add(at, seen),
            }
        });
        if let (Ok(()), Some(condition)) = (&read, condition) {
            read = unchecked.check(cx, (self.expand, condition), results, add);
        }
        let found = reading.finish(cx);
        read.map(|()| found)
    }

    /// Whether a relationship may be one that a row has.
    fn may_repeat(&self, at: usize, seen: &Neighbour<'_>) -> bool {
        let unlike = &self.expand.unlike;
        let mut rows = self.compared[at].iter();
        rows.any(|row| may_be_used(self.nodes[at], seen, unlike, self.batch.row(*row)))
    }

    /// The rows, in the order of the batch.
    fn rows(&self, found: &[Option<Rc<Found>>]) -> Outcome<Batch> {
        let (expand, batch) = (self.expand, self.batch);
        let mut out = Batch::new(batch.width());
        for (at, (row, times)) in batch.rows().enumerate() {
            let Some(found) = self.places[at].and_then(|place| found[place].as_ref()) else {
                continue;
            };
            let mut counted = found.counted;
            for step in &found.steps {
                let relationship = step.relationship.as_ref();
                if relationship.is_some_and(|one| is_used(one, &expand.unlike, row)) {
                    continue;
                }
                if !step.keeps_relationship && step.other.is_none() {
                    counted += 1;
                    continue;
                }
                out.push(row, times);
                let last = out.len() - 1;
                let new = out.row_mut(last);
                if let Some(relationship) = relationship.filter(|_| step.keeps_relationship) {
                    new[expand.relationship] = Value::Relationship(Arc::clone(relationship));
                }
                if let Some(other) = &step.other {
                    new[expand.to] = Value::Node(Arc::clone(other));
                }
            }
            if counted > 0 {
                out.push(row, times.checked_mul(counted).ok_or_else(too_many)?);
            }
        }
        Ok(out)
    }
}

fn too_many() -> crate::CypherError {
    let message = "there are more than 2^64 equal rows";
    Error::run(ErrorClass::ArithmeticError, "IntegerOverflow", message).into()
}
