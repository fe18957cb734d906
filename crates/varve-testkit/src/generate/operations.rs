//! Operations and their random generation.

use varve_model::sortable::join_key_values;
use varve_model::{
    Edge, EdgeId, EdgeLabelId, Element, ElementId, Properties, PropertyKeyId, Value, Vertex,
    VertexId, VertexLabelId,
};

use super::schema::labels::*;
use super::schema::{SchemaPlan, plan};
use crate::model::{Change, Strategy};
use crate::{Fault, Random};

/// The grid of generated instants, in microseconds: half a millisecond, since times to live are in
/// milliseconds.
pub const UNIT: i64 = 500;

/// The next step of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// One request.
    Write {
        /// Its changes.
        changes: Vec<Change>,
        /// Start of the period, in microseconds from now; `None` = the instant of the commit.
        from: Option<i64>,
        /// End of the period, in microseconds from now; `None` = for ever.
        to: Option<i64>,
        /// Whether changes without an effect are not written.
        skip_unchanged: bool,
    },
    /// Moves the clock by this number of microseconds, which may be negative.
    Clock(i64),
    /// Closes the graph and opens it again.
    Reopen,
    /// Runs the tidier for all due rows.
    Tidy,
    /// Removes an index label of the schema plan, or creates it again and builds it.
    ToggleIndex(usize),
    /// Removes a label with its elements.
    RemoveVertexLabel(VertexLabelId),
    /// Removes a label with its elements.
    RemoveEdgeLabel(EdgeLabelId),
    /// Destroys an element with its history.
    Purge(ElementId),
    /// Lets the next request fail with this fault when it is stored.
    FailNext(Fault),
}

/// A schema, and the operations on a graph with this schema.
#[derive(Debug, Clone)]
pub struct Case {
    /// The schema.
    pub schema: SchemaPlan,
    /// The operations.
    pub operations: Vec<Operation>,
}

/// The case of a seed.
#[must_use]
pub fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let schema = plan(&mut random);
    let length = 5 + random.below(40);
    let mut draw = Draw {
        random,
        automatic: 0,
        scope: Scope::default(),
    };
    draw.scope = draw.draw_scope();
    let operations = (0..length).map(|_| draw.operation()).collect();
    Case { schema, operations }
}

/// The part of the schema and of the ids that a case uses: small, so that its operations interact.
#[derive(Default)]
struct Scope {
    vertex_labels: Vec<VertexLabelId>,
    edge_labels: Vec<EdgeLabelId>,
    ids: usize,
    /// One in this number of writes has a period; 0 = none.
    periods: usize,
}

struct Draw {
    random: Random,
    automatic: i64,
    scope: Scope,
}

impl Draw {
    fn draw_scope(&mut self) -> Scope {
        let mut vertex_labels = vec![PERSON];
        for label in [ITEM, GADGET, GHOST, AUTO, TOKEN] {
            if self.random.one_in(3) {
                vertex_labels.push(label);
            }
        }
        let mut edge_labels = Vec::new();
        for label in [KNOWS, HAS, LIKES, PLEASES, SHADOWS, BORROWS] {
            if self.random.one_in(3) {
                edge_labels.push(label);
            }
        }
        if edge_labels
            .iter()
            .any(|label| [HAS, LIKES, PLEASES, BORROWS].contains(label))
        {
            vertex_labels.push(ITEM);
        }
        let ids = 1 + self.random.below(3);
        let periods = *self.random.pick(&[0, 1, 2, 2, 4]);
        Scope {
            vertex_labels,
            edge_labels,
            ids,
            periods,
        }
    }

    fn operation(&mut self) -> Operation {
        if self.random.one_in(40) {
            use Fault::{DiskFull, IoLost, IoStored, ReadOnly};
            return Operation::FailNext(*self.random.pick(&[DiskFull, ReadOnly, IoStored, IoLost]));
        }
        match self.random.below(20) {
            0..=11 => self.write(),
            12..=15 => Operation::Clock(self.step()),
            16 | 17 => Operation::Tidy,
            18 => Operation::Reopen,
            _ => match self.random.below(8) {
                0..=3 => Operation::ToggleIndex(self.random.below(11)),
                4 => Operation::Purge(self.element().id()),
                5 => match self.random.below(6) {
                    // Labels without edge labels.
                    0..=2 => {
                        let labels = [GADGET, GHOST, AUTO];
                        Operation::RemoveVertexLabel(labels[self.random.below(3)])
                    }
                    at => Operation::RemoveEdgeLabel([SHADOWS, KNOWS, LIKES][at - 3]),
                },
                _ => Operation::Clock(self.step()),
            },
        }
    }

    fn step(&mut self) -> i64 {
        let step = match self.random.below(8) {
            0 => 0,
            1 => 1,
            2 => -(1 + self.random.below(6) as i64) * UNIT,
            _ => (1 + self.random.below(8) as i64) * UNIT,
        };
        if self.random.one_in(30) {
            step * 1_000_000
        } else {
            step
        }
    }

    fn write(&mut self) -> Operation {
        let count = match self.random.below(6) {
            0 => 3,
            1 => 2,
            _ => 1,
        };
        let changes = (0..count).map(|_| self.change()).collect();
        let (mut from, mut to) = (None, None);
        if self.scope.periods > 0 && self.random.one_in(self.scope.periods) {
            from = (!self.random.one_in(4)).then(|| self.offset());
            let start = from.unwrap_or(0);
            to = self.random.one_in(2).then(|| start + self.length());
        }
        Operation::Write {
            changes,
            from,
            to,
            skip_unchanged: self.random.one_in(4),
        }
    }

    fn offset(&mut self) -> i64 {
        match self.random.below(10) {
            0 => 0,
            1 => *self.random.pick(&[-1, 1]),
            2..=5 => -(1 + self.random.below(12) as i64) * UNIT,
            _ => (1 + self.random.below(12) as i64) * UNIT,
        }
    }

    fn length(&mut self) -> i64 {
        match self.random.below(10) {
            0 => 1,
            // Sometimes empty or reversed.
            1 => -(self.random.below(2) as i64) * UNIT,
            _ => (1 + self.random.below(12) as i64) * UNIT,
        }
    }

    fn change(&mut self) -> Change {
        match self.random.below(12) {
            0..=4 => Change::Put {
                element: self.vertex_any(),
                check_ends: false,
            },
            5..=7 => match self.edge_any() {
                Some(element) => {
                    let check_ends = !self.random.one_in(4);
                    Change::Put {
                        element,
                        check_ends,
                    }
                }
                None => Change::Put {
                    element: self.vertex_any(),
                    check_ends: false,
                },
            },
            8 => {
                let refuse_missing = self.random.one_in(3);
                Change::Delete {
                    id: self.element().id(),
                    refuse_missing,
                }
            }
            9 => {
                let element = self.element();
                let mut properties = element.properties().clone();
                for fixed in [NAME, SINCE] {
                    properties.remove(fixed);
                }
                Change::Append {
                    id: element.id(),
                    properties,
                }
            }
            10 => {
                let element = self.element();
                let keys = element.properties().iter().map(|(key, _)| key);
                let keys = keys.filter(|key| ![NAME, SINCE].contains(key)).collect();
                Change::Eliminate {
                    id: element.id(),
                    keys,
                }
            }
            _ => {
                let element = self.element();
                let strategies = element.properties().iter().map(|(key, _)| key);
                let strategies: Vec<_> = strategies
                    .filter(|key| ![NAME, SINCE].contains(key))
                    .map(|key| (key, self.strategy(key)))
                    .collect();
                Change::Combine {
                    element,
                    strategies,
                }
            }
        }
    }

    fn strategy(&mut self, key: PropertyKeyId) -> Strategy {
        use Strategy::{Append, Bigger, Eliminate, Intersection, Override, Smaller, Sum, Union};
        *self.random.pick(match key {
            AGE | WEIGHT | CODE => &[Sum, Bigger, Smaller, Override][..],
            TAGS => &[Union, Intersection, Append, Eliminate, Override],
            MARKS => &[Append, Eliminate, Override],
            _ => &[Override],
        })
    }

    fn element(&mut self) -> Element {
        let edge = if self.random.one_in(2) {
            self.edge_any()
        } else {
            None
        };
        edge.unwrap_or_else(|| self.vertex_any())
    }

    fn vertex_any(&mut self) -> Element {
        let label = *self.random.pick(&self.scope.vertex_labels);
        let keys: &[PropertyKeyId] = match label {
            PERSON => &[AGE, TAGS, CITY],
            ITEM => &[WEIGHT, MARKS, CITY, CODE],
            GADGET => &[AGE, SINCE],
            GHOST => &[AGE, CITY],
            _ => &[AGE],
        };
        let mut properties = self.properties(keys);
        let id = self.vertex_id(label);
        if label == PERSON {
            let VertexId::Text(text) = &id else {
                unreachable!("persons have text ids")
            };
            properties.set(NAME, Value::Text(text[2..].to_owned()));
        }
        Element::Vertex(Vertex {
            id,
            label,
            properties,
        })
    }

    fn vertex_id(&mut self, label: VertexLabelId) -> VertexId {
        let at = self.random.below(self.scope.ids);
        match label {
            PERSON => VertexId::text(["1:a", "1:b", "1:c"][at]),
            ITEM | GHOST => VertexId::text(["x", "yy", "1"][at]),
            GADGET => VertexId::Number([1, -7, 300][at]),
            AUTO => {
                if self.automatic == 0 || self.random.one_in(2) {
                    self.automatic += 1;
                }
                let back = self.random.below(self.automatic.min(2) as usize) as i64;
                VertexId::Number(1_000_000 + self.automatic - back)
            }
            _ => VertexId::Uuid([1, 2, u128::MAX][at]),
        }
    }

    fn edge_any(&mut self) -> Option<Element> {
        if self.scope.edge_labels.is_empty() {
            return None;
        }
        let label = *self.random.pick(&self.scope.edge_labels);
        let (source_label, target_label) = match label {
            KNOWS | SHADOWS => (PERSON, PERSON),
            PLEASES => (ITEM, PERSON),
            _ => (PERSON, ITEM),
        };
        let key = if label == SHADOWS { AGE } else { WEIGHT };
        let mut properties = self.properties(&[key]);
        let mut sort_values = Vec::new();
        if label == KNOWS {
            let since = Value::Date(*self.random.pick(&[-5, 1_361_318_400_000]));
            properties.set(SINCE, since.clone());
            sort_values.push(since);
        }
        let parent = if [LIKES, PLEASES].contains(&label) {
            RELATED
        } else {
            label
        };
        let id = EdgeId {
            source: self.vertex_id(source_label),
            parent,
            label,
            sort_values: join_key_values(&sort_values),
            target: self.vertex_id(target_label),
        };
        Some(Element::Edge(Edge {
            id,
            source_label,
            target_label,
            properties,
        }))
    }

    fn properties(&mut self, keys: &[PropertyKeyId]) -> Properties {
        let mut properties = Properties::new();
        for key in keys {
            if !self.random.one_in(4) {
                let value = self.value(*key);
                properties.set(*key, value);
            }
        }
        properties
    }

    fn value(&mut self, key: PropertyKeyId) -> Value {
        let at = self.random.below(3);
        match key {
            AGE => Value::Int([-1, 7, 40][at]),
            WEIGHT => Value::Double([-1.5, 0.25, f64::INFINITY][at]),
            CODE => Value::Long([1, 2, 3][at]),
            CITY => Value::Text(["Rome", "Oslo", LONG_TEXT][at].to_owned()),
            // Some before, some long after the start of the generated clock: periods that are over,
            // or far in the future.
            SINCE => Value::Date([0, 1_700_000_000_001, 1_700_000_000_006][at]),
            TAGS => {
                let tags = [["p", "q"], ["q", "r"], ["r", "p"]][at];
                Value::Set(tags.map(|tag| Value::Text(tag.to_owned())).to_vec())
            }
            _ => Value::List(
                [vec![1], vec![2, 1], vec![1, 1]][at]
                    .iter()
                    .map(|m| Value::Int(*m))
                    .collect(),
            ),
        }
    }
}

/// One of the generated values; longer than the part of a text that an index stores.
pub const LONG_TEXT: &str =
    "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, on the island of Anglesey";

impl Case {
    /// Every element that an operation names, without duplicates, in ascending order.
    #[must_use]
    pub fn ids(&self) -> Vec<ElementId> {
        let mut ids = Vec::new();
        for operation in &self.operations {
            let Operation::Write { changes, .. } = operation else {
                continue;
            };
            for change in changes {
                ids.push(match change {
                    Change::Put { element, .. } | Change::Combine { element, .. } => element.id(),
                    Change::Append { id, .. }
                    | Change::Eliminate { id, .. }
                    | Change::Delete { id, .. } => id.clone(),
                });
            }
        }
        ids.sort();
        ids.dedup();
        ids
    }
}
