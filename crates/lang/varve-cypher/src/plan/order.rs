//! The order in which the parts of a pattern are matched.

mod lookup;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use varve_view::SchemaView;

use crate::bind::{MatchPattern, PatternNode, PatternRelationship, unsupported};
use crate::error::Outcome;
use crate::expression::{Expr, LabelTest};
use crate::filters::{LabelFilter, names};
use crate::plan::slots::reads;
use crate::plan::{
    Ends, Expand, NodeScan, Op, PathParts, PropertyLookup, RelationshipScan, Shortest, Subplan,
    Use, VarExpand,
};
use crate::sizes::{COUNTED_MAX, Sizes};
use crate::tree::{Direction, PathKind};

use lookup::constants;

/// Operators that match a pattern. All its slots are there.
pub(crate) fn plan(
    pattern: &MatchPattern,
    subplans: &[Subplan],
    known: Known<'_>,
) -> Outcome<Vec<Op>> {
    let mut order = Order::new(pattern, subplans, known);
    order.check_each()?;
    order.emit_ready();
    loop {
        if let Some(number) = order.next_relationship() {
            order.relationship(number);
        } else if let Some(start) = order.next_start() {
            match start {
                Start::Node(number) => order.scan(number),
                Start::Relationship(number) => order.scan_relationship(number),
            }
        } else {
            break;
        }
        order.emit_ready();
    }
    // What is left reads slots that nothing binds, such as those of other clauses.
    let left = std::mem::take(&mut order.filters);
    order
        .ops
        .extend(left.into_iter().map(|one| Op::Filter(one.condition)));
    Ok(order.ops)
}

/// What is known of the graph.
#[derive(Clone, Copy)]
pub(crate) struct Known<'k> {
    pub(crate) schema: &'k dyn SchemaView,
    pub(crate) sizes: Sizes<'k>,
}

/// The most nodes of a pattern whose candidates are counted.
const NODES_COUNTED_MAX: usize = 16;
/// The nodes that are expected to have a value that is not known yet.
const EQUAL: u64 = 16;

/// Where a part of a pattern that nothing binds begins.
enum Start {
    Node(usize),
    Relationship(usize),
}

struct Filter {
    condition: Expr,
    /// Slots of the pattern that it reads.
    needs: Vec<usize>,
}

struct Order<'p> {
    known: Known<'p>,
    /// Results of [`Order::candidates`], by node and number of known values.
    counted: RefCell<HashMap<(usize, usize), (u64, u8)>>,
    pattern: &'p MatchPattern,
    subplans: &'p [Subplan],
    ops: Vec<Op>,
    /// Slots of the pattern that are not bound yet.
    open: HashSet<usize>,
    /// Relationships and paths that are not matched yet, by number.
    relationships: Vec<usize>,
    paths: Vec<usize>,
    filters: Vec<Filter>,
    /// Relationships that are matched, by number.
    done: Vec<usize>,
    /// Bound nodes whose labels are not checked yet.
    unchecked: Vec<usize>,
}

impl<'p> Order<'p> {
    fn new(pattern: &'p MatchPattern, subplans: &'p [Subplan], known: Known<'p>) -> Order<'p> {
        let nodes = pattern.nodes.iter();
        let open_nodes = nodes.filter(|node| !node.is_bound).map(|node| node.slot);
        let relationships = pattern.relationships.iter();
        let open_relationships = relationships
            .filter(|one| !one.is_bound)
            .map(|one| one.slot);
        let paths = pattern.paths.iter().map(|path| path.slot);
        let open: HashSet<usize> = open_nodes.chain(open_relationships).chain(paths).collect();
        let filters = pattern.filters.iter().map(|condition| {
            let mut needs = Vec::new();
            reads(condition, subplans, &mut |slot| {
                if open.contains(&slot) {
                    needs.push(slot);
                }
            });
            let condition = condition.clone();
            Filter { condition, needs }
        });
        let filters = filters.collect();
        let shortest = |number: &usize| {
            pattern
                .paths
                .iter()
                .any(|path| path.kind != PathKind::All && path.relationships.contains(number))
        };
        let all = 0..pattern.relationships.len();
        let nodes = 0..pattern.nodes.len();
        Order {
            known,
            counted: RefCell::default(),
            pattern,
            subplans,
            ops: Vec::new(),
            open,
            relationships: all.filter(|number| !shortest(number)).collect(),
            paths: (0..pattern.paths.len()).collect(),
            filters,
            done: Vec::new(),
            unchecked: nodes.filter(|at| pattern.nodes[*at].is_bound).collect(),
        }
    }

    /// Conditions on the relationships of a sequence are checked while it is walked, so they cannot
    /// read what the pattern binds.
    fn check_each(&self) -> Outcome<()> {
        let pattern = self.pattern;
        for (number, relationship) in pattern.relationships.iter().enumerate() {
            let span = crate::tree::Span::default();
            let mut shortest = pattern
                .paths
                .iter()
                .filter(|path| path.kind != PathKind::All);
            if relationship.is_bound && shortest.any(|path| path.relationships.contains(&number)) {
                let what = "a relationship of a shortest path that is bound before";
                return Err(unsupported(span, what));
            }
            if relationship.is_bound && relationship.each.is_some() {
                let what = "a condition on the relationships of a list that is bound before";
                return Err(unsupported(span, what));
            }
            let Some((own, condition)) = &relationship.each else {
                continue;
            };
            let mut is_open = false;
            reads(condition, self.subplans, &mut |slot| {
                is_open |= slot != *own && self.open.contains(&slot);
            });
            if is_open {
                let what = "a condition on the relationships of a variable length that reads \
                            other parts of the pattern";
                return Err(unsupported(span, what));
            }
        }
        Ok(())
    }

    fn is_open(&self, node: usize) -> bool {
        self.open.contains(&self.pattern.nodes[node].slot)
    }

    /// The next relationship with a known end: a cheap one first.
    fn next_relationship(&self) -> Option<usize> {
        let cost = |number: &usize| {
            let one = &self.pattern.relationships[*number];
            let ends = (self.is_open(one.from), self.is_open(one.to));
            match (one.is_bound, one.length.is_some(), ends) {
                (true, ..) => Some(0),
                (_, _, (true, true)) => None,
                (false, false, (false, false)) => Some(1),
                (false, false, _) => Some(2),
                (false, true, (false, false)) => Some(3),
                (false, true, _) => Some(4),
            }
        };
        let each = self.relationships.iter().copied();
        each.filter(|number| cost(number).is_some())
            .min_by_key(cost)
    }

    /// What to scan next: the node with the fewest candidates, or a relationship that an index
    /// finds among no more of them.
    fn next_start(&self) -> Option<Start> {
        let nodes = 0..self.pattern.nodes.len();
        let open: Vec<usize> = nodes.filter(|node| self.is_open(*node)).collect();
        let relationship = self.indexed_relationship();
        let node = match (&*open, &relationship) {
            // There is nothing to choose.
            ([one], None) => Some(*one),
            _ => open.into_iter().min_by_key(|node| self.candidates(*node)),
        }?;
        match relationship {
            Some((count, number)) if count <= self.candidates(node) => {
                Some(Start::Relationship(number))
            }
            _ => Some(Start::Node(node)),
        }
    }

    /// How many nodes a scan would find, at most [`COUNTED_MAX`], and a rank of the scans that find
    /// as many. A node is counted again only once more values of its properties are known.
    fn candidates(&self, number: usize) -> (u64, u8) {
        let node = &self.pattern.nodes[number];
        if self.id_of(node.slot).is_some() {
            return (0, 0);
        }
        let equal = self.lookups_of_node(node);
        let key = (number, equal.len());
        let counted = self.counted.borrow().get(&key).copied();
        counted.unwrap_or_else(|| {
            let counted = self.count(node, &equal);
            self.counted.borrow_mut().insert(key, counted);
            counted
        })
    }

    fn count(&self, node: &PatternNode, equal: &[PropertyLookup]) -> (u64, u8) {
        let may_count = self.counted.borrow().len() < NODES_COUNTED_MAX;
        let rank = match (equal.is_empty(), &node.labels) {
            (false, Some(_)) => 1,
            (true, Some(_)) => 2,
            (false, None) => 3,
            (true, None) => 4,
        };
        let Known { schema, sizes } = self.known;
        let labels = LabelFilter::new(node.labels.as_ref()).list(schema);
        if labels.as_ref().is_some_and(Vec::is_empty) {
            return (0, rank);
        }
        let labels = labels.unwrap_or_default();
        if !may_count {
            return (COUNTED_MAX, rank);
        }
        let all = || sizes.nodes(&labels, &[]).unwrap_or(COUNTED_MAX);
        let conditions = constants(schema, equal);
        let found = match (conditions.is_empty(), equal.is_empty()) {
            (false, _) => sizes.nodes(&labels, &conditions).unwrap_or_else(all),
            // The value comes later.
            (true, false) if equal.iter().all(|by| by.how.is_range()) => all() / 2,
            (true, false) => EQUAL.min(all()),
            (true, true) => all(),
        };
        (found, rank)
    }

    /// Scans a relationship, and binds its ends.
    fn scan_relationship(&mut self, number: usize) {
        let one = &self.pattern.relationships[number];
        self.ops.push(Op::RelationshipScan(RelationshipScan {
            relationship: one.slot,
            types: one.types.clone(),
            by: self.lookups_of_relationship(one),
        }));
        self.bind_ends(number);
    }

    fn scan(&mut self, number: usize) {
        let node = &self.pattern.nodes[number];
        self.ops.push(Op::NodeScan(NodeScan {
            node: node.slot,
            labels: node.labels.clone(),
            by: self.lookups_of_node(node),
            id: self.id_of(node.slot),
            reads_properties: false,
        }));
        self.open.remove(&node.slot);
    }

    /// The slots of matched relationships that this one could repeat.
    fn unlike(&self, number: usize) -> Vec<usize> {
        let own = &self.pattern.relationships[number];
        let each = self.done.iter().map(|at| &self.pattern.relationships[*at]);
        each.filter(|other| may_meet(self.known.schema, own.types.as_ref(), other.types.as_ref()))
            .map(|other| other.slot)
            .collect()
    }

    fn relationship(&mut self, number: usize) {
        let pattern = self.pattern;
        let one = &pattern.relationships[number];
        if one.is_bound {
            self.bind_ends(number);
            return;
        }
        let unlike = self.unlike(number);
        self.walk(one, self.is_open(one.from), unlike);
        self.matched(number);
    }

    /// Checks the ends of a relationship that is bound, or binds them.
    fn bind_ends(&mut self, number: usize) {
        let pattern = self.pattern;
        let one = &pattern.relationships[number];
        let unlike = self.unlike(number);
        let open = (self.is_open(one.from), self.is_open(one.to));
        let slot = |node: usize| pattern.nodes[node].slot;
        self.ops.push(Op::Ends(Ends {
            from: slot(one.from),
            is_from_bound: !open.0,
            relationship: one.slot,
            to: slot(one.to),
            is_to_bound: !open.1,
            direction: one.direction,
            types: one.types.clone(),
            length: one.length,
            unlike,
        }));
        for (is_open, node) in [(open.0, one.from), (open.1, one.to)] {
            if is_open {
                self.unchecked.push(node);
            }
        }
        self.matched(number);
    }

    fn matched(&mut self, number: usize) {
        let pattern = self.pattern;
        let one = &pattern.relationships[number];
        for slot in [
            pattern.nodes[one.from].slot,
            pattern.nodes[one.to].slot,
            one.slot,
        ] {
            self.open.remove(&slot);
        }
        self.relationships.retain(|other| *other != number);
        self.done.push(number);
    }

    /// Walks a relationship from the end that is bound.
    fn walk(&mut self, one: &PatternRelationship, reversed: bool, unlike: Vec<usize>) {
        let (from, to) = match reversed {
            false => (one.from, one.to),
            true => (one.to, one.from),
        };
        let direction = match (reversed, one.direction) {
            (true, Direction::Right) => Direction::Left,
            (true, Direction::Left) => Direction::Right,
            (_, direction) => direction,
        };
        let (from_node, to_node) = (&self.pattern.nodes[from], &self.pattern.nodes[to]);
        let is_to_bound = !self.is_open(to);
        let to_labels = match is_to_bound {
            true => None,
            false => to_node.labels.clone(),
        };
        let types = one.types.clone();
        let op = match one.length {
            None => Op::Expand(Expand {
                from: from_node.slot,
                relationship: one.slot,
                to: to_node.slot,
                is_to_bound,
                direction,
                types,
                to_labels,
                unlike,
                keeps_relationship: Use::Always,
                keeps_to: true,
                condition: None,
                second: None,
            }),
            Some((min, max)) => Op::VarExpand(VarExpand {
                from: from_node.slot,
                relationships: one.slot,
                reversed,
                to: to_node.slot,
                is_to_bound,
                direction,
                types,
                to_labels,
                min,
                max,
                each: one.each.clone(),
                unlike,
            }),
        };
        self.ops.push(op);
    }

    /// Emits what needs no open slot: labels of bound nodes, conditions and paths.
    fn emit_ready(&mut self) {
        for node in std::mem::take(&mut self.unchecked) {
            let mut relationships = self.pattern.relationships.iter();
            let is_alone = relationships.all(|one| one.from != node && one.to != node);
            let node = &self.pattern.nodes[node];
            let test = match &node.labels {
                Some(labels) => labels.clone(),
                // Nothing else finds out whether the value is a node: null is none.
                None if is_alone => {
                    let any = LabelTest::Any;
                    LabelTest::Or(vec![any.clone(), LabelTest::Not(Box::new(any))])
                }
                None => continue,
            };
            let subject = Box::new(Expr::Slot(node.slot));
            let condition = Expr::HasLabels(subject, Box::new(test));
            self.ops.push(Op::Filter(condition));
        }
        loop {
            let (ready, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.filters)
                .into_iter()
                .partition(|one| !one.needs.iter().any(|slot| self.open.contains(slot)));
            self.filters = left;
            let conditions = ready.into_iter().map(|one| Op::Filter(one.condition));
            self.ops.extend(conditions);
            let Some(number) = self.ready_path() else {
                return;
            };
            self.paths.retain(|other| *other != number);
            self.path(number);
        }
    }

    fn ready_path(&self) -> Option<usize> {
        let is_ready = |number: &&usize| {
            let path = &self.pattern.paths[**number];
            let is_shortest = path.kind != PathKind::All;
            let relationships = path.relationships.iter();
            let mut each = relationships.map(|at| &self.pattern.relationships[*at]);
            !self.is_open(path.start)
                && each.all(|one| {
                    let is_matched = is_shortest || !self.open.contains(&one.slot);
                    is_matched && !self.is_open(one.from) && !self.is_open(one.to)
                })
        };
        self.paths.iter().find(is_ready).copied()
    }

    fn path(&mut self, number: usize) {
        let path = &self.pattern.paths[number];
        let slot = |at: &usize| self.pattern.relationships[*at].slot;
        match (path.kind, &*path.relationships) {
            (PathKind::ShortestPath | PathKind::AllShortestPaths, [at]) => {
                let shortest = self.shortest(number, *at);
                self.open.remove(&slot(at));
                self.done.push(*at);
                self.ops.push(Op::Shortest(shortest));
            }
            _ => {
                let parts = PathParts {
                    start: self.pattern.nodes[path.start].slot,
                    relationships: path.relationships.iter().map(slot).collect(),
                };
                let path = path.slot;
                self.ops.push(Op::MakePath { path, parts });
            }
        }
        self.open.remove(&path.slot);
    }

    /// A search for shortest paths; conditions on the path belong to the search.
    fn shortest(&mut self, number: usize, at: usize) -> Shortest {
        let path = &self.pattern.paths[number];
        let one = &self.pattern.relationships[at];
        let own = [path.slot, one.slot];
        let mut conditions = Vec::new();
        let open = &self.open;
        self.filters.retain(|filter| {
            let needs = filter.needs.iter();
            let is_own = needs
                .clone()
                .all(|slot| own.contains(slot) || !open.contains(slot));
            if is_own {
                conditions.push(filter.condition.clone());
            }
            !is_own
        });
        let (min, max) = one.length.unwrap_or((1, Some(1)));
        let node = |at: usize| self.pattern.nodes[at].slot;
        Shortest {
            kind: path.kind,
            from: node(one.from),
            to: node(one.to),
            relationships: one.slot,
            is_single: one.length.is_none(),
            path: path.slot,
            direction: one.direction,
            types: one.types.clone(),
            min,
            max,
            each: one.each.clone(),
            filter: (!conditions.is_empty()).then_some(Expr::And(conditions)),
            unlike: self.unlike(at),
        }
    }
}

/// Whether a relationship may have types that satisfy both tests.
fn may_meet(schema: &dyn SchemaView, one: Option<&LabelTest>, other: Option<&LabelTest>) -> bool {
    let (Some(one), Some(other)) = (one.and_then(names), other.and_then(names)) else {
        return true;
    };
    // A relationship also has the type that its own belongs to.
    let is_parent = |parent: &str, of: &str| {
        let (parent, of) = (schema.edge_label_named(parent), schema.edge_label_named(of));
        parent.zip(of).is_some_and(|(parent, of)| {
            of.parent == Some(parent.id) || schema.edge_supertypes(of.id).contains(&parent.id)
        })
    };
    one.iter().any(|one| {
        let mut others = other.iter();
        others.any(|other| one == other || is_parent(one, other) || is_parent(other, one))
    })
}
