//! A load on trial: which edges would be refused for lack of their vertices.
//!
//! Of each vertex that the load would store, a hash of label and id is kept with its valid time. An
//! edge whose ends these vertices do not cover is asked of the graph, many at a time.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use varve_model::time::parse_instant;

use crate::batches::{BadRow, BatchKind, Sending};
use crate::catalogue::Catalogue;
use crate::element::hash_of;
use crate::store::reason;
use crate::values::{key_id, key_value};

/// The most states of vertices that are kept, 24 bytes each.
const STATES_MAX: usize = 10_000_000;

/// The most edges of one question.
const ASKED_MAX: usize = 500;

/// The most states that a load has for an end of an edge within the edge's valid time: the graph
/// answers to no more of them (`…/load/ends`).
pub const PLANNED_MAX: usize = 50;

/// A state of a vertex: a hash of its label and id, and its valid time in microseconds.
type State = (u64, i64, i64);

/// A start and an end in microseconds.
type Span = (i64, i64);

/// What a load on trial would have stored so far.
#[derive(Debug)]
pub struct Trial {
    /// Whether the ends of edges are checked.
    checks_ends: bool,
    /// When times begin that have no start.
    now: i64,
    states: Vec<State>,
    is_sorted: bool,
    /// Whether there were more states than are kept: then an edge without its vertices passes.
    is_full: bool,
    /// Whether an edge has passed without its vertices.
    has_unchecked: bool,
}

#[derive(Deserialize)]
struct Vertex {
    label: String,
    id: Option<Json>,
    #[serde(default)]
    properties: Map<String, Json>,
    valid_from: Option<String>,
    valid_to: Option<String>,
}

#[derive(Deserialize)]
struct Edge {
    label: String,
    #[serde(rename = "outV")]
    source: Json,
    #[serde(rename = "outVLabel")]
    source_label: String,
    #[serde(rename = "inV")]
    target: Json,
    #[serde(rename = "inVLabel")]
    target_label: String,
    valid_from: Option<String>,
    valid_to: Option<String>,
}

/// Sends a body of `POST …/load/ends`, and returns for each edge why it would be refused.
type Ask<'a, F> = &'a mut dyn FnMut(&str) -> Result<Vec<Option<String>>, F>;

/// What the graph is asked: a body of `POST …/load/ends`.
#[derive(Serialize)]
struct Question {
    edges: Vec<AskedEdge>,
}

#[derive(Serialize)]
struct AskedEdge {
    label: String,
    #[serde(flatten)]
    period: AskedPeriod,
    ends: [AskedEnd; 2],
}

#[derive(Serialize)]
struct AskedEnd {
    id: Json,
    label: String,
    planned: Vec<AskedPeriod>,
}

#[derive(Serialize)]
struct AskedPeriod {
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<String>,
}

impl Trial {
    /// Nothing is stored yet.
    #[must_use]
    pub fn new(checks_ends: bool) -> Self {
        Self {
            checks_ends,
            now: jiff::Timestamp::now().as_microsecond(),
            states: Vec::new(),
            is_sorted: true,
            is_full: false,
            has_unchecked: false,
        }
    }

    /// Whether not all edges were checked: there were more vertices, or states of one, than are
    /// kept.
    #[must_use]
    pub fn has_unchecked(&self) -> bool {
        self.has_unchecked
    }

    /// Marks the elements that would be stored; the others are added to `bad`.
    ///
    /// # Errors
    /// When the graph cannot be asked.
    pub fn run<F>(
        &mut self,
        (kind, catalogue): (BatchKind, &Catalogue),
        elements: &mut [Sending],
        bad: &mut Vec<BadRow>,
        ask: Ask<'_, F>,
    ) -> Result<(), F> {
        if !self.checks_ends {
            elements
                .iter_mut()
                .for_each(|element| element.stored = true);
            return Ok(());
        }
        if kind == BatchKind::Vertices {
            for element in elements {
                element.stored = true;
                if let Ok(vertex) = serde_json::from_str(&element.json) {
                    self.note(&vertex, catalogue);
                }
            }
            return Ok(());
        }
        for elements in elements.chunks_mut(ASKED_MAX) {
            self.edges(elements, bad, ask)?;
        }
        Ok(())
    }

    fn edges<F>(
        &mut self,
        elements: &mut [Sending],
        bad: &mut Vec<BadRow>,
        ask: Ask<'_, F>,
    ) -> Result<(), F> {
        self.sort();
        let (mut places, mut edges) = (Vec::new(), Vec::new());
        for (at, element) in elements.iter_mut().enumerate() {
            element.stored = true;
            let edge = serde_json::from_str(&element.json).ok();
            if let Some(asked) = edge.and_then(|edge| self.asked(edge)) {
                places.push(at);
                edges.push(asked);
            }
        }
        if edges.is_empty() {
            return Ok(());
        }
        let question = serde_json::to_string(&Question { edges });
        let refused = ask(&question.unwrap_or_default())?;
        for (at, refused) in places.into_iter().zip(refused) {
            if let Some(message) = refused {
                let element = &mut elements[at];
                element.stored = false;
                let (line, reason) = (element.line, reason(message));
                bad.push(BadRow { line, reason });
            }
        }
        Ok(())
    }

    /// Notes a vertex that would be stored. A vertex whose id the server makes has no edges.
    fn note(&mut self, vertex: &Vertex, catalogue: &Catalogue) {
        let Some(id) = id_of(vertex, catalogue) else {
            return;
        };
        if self.states.len() >= STATES_MAX {
            self.sort();
            self.is_full |= self.states.len() >= STATES_MAX;
        }
        if !self.is_full {
            let (from, to) = self.period(&vertex.valid_from, &vertex.valid_to);
            self.states.push((hash_of(&(&vertex.label, id)), from, to));
            self.is_sorted = false;
        }
    }

    fn sort(&mut self) {
        if !self.is_sorted {
            self.states.sort_unstable();
            self.states.dedup();
            self.is_sorted = true;
        }
    }

    fn period(&self, from: &Option<String>, to: &Option<String>) -> Span {
        let at = |text: &Option<String>, open: i64| {
            let instant = text.as_deref().and_then(parse_instant);
            instant.map_or(open, |instant| instant.0)
        };
        (at(from, self.now), at(to, i64::MAX))
    }

    /// The question for an edge; `None` if its ends would be stored for its whole period.
    fn asked(&mut self, edge: Edge) -> Option<AskedEdge> {
        let within = self.period(&edge.valid_from, &edge.valid_to);
        let ends = [
            (edge.source, edge.source_label),
            (edge.target, edge.target_label),
        ];
        let ends = ends.map(|(id, label)| {
            let planned = self.planned(hash_of(&(&label, id.to_string())));
            (id, label, joined(planned, within))
        });
        if ends.iter().all(|(_, _, planned)| **planned == [within]) {
            return None;
        }
        let is_much = |planned: &[Span]| planned.len() > PLANNED_MAX;
        if self.is_full || ends.iter().any(|(_, _, planned)| is_much(planned)) {
            self.has_unchecked = true;
            return None;
        }
        let ends = ends.map(|(id, label, planned)| AskedEnd {
            id,
            label,
            planned: planned.iter().map(|span| self.shown(*span)).collect(),
        });
        Some(AskedEdge {
            label: edge.label,
            period: AskedPeriod {
                valid_from: edge.valid_from,
                valid_to: edge.valid_to,
            },
            ends,
        })
    }

    /// The states of a vertex that would be stored, by their starts.
    fn planned(&self, hash: u64) -> &[State] {
        let start = self.states.partition_point(|state| state.0 < hash);
        let rest = &self.states[start..];
        &rest[..rest.partition_point(|state| state.0 == hash)]
    }

    fn shown(&self, (from, to): Span) -> AskedPeriod {
        let text = |micros: i64| {
            let instant = jiff::Timestamp::from_microsecond(micros).ok()?;
            Some(instant.to_string())
        };
        AskedPeriod {
            valid_from: text(from).filter(|_| from != self.now),
            valid_to: text(to).filter(|_| to != i64::MAX),
        }
    }
}

/// The spans of a period in which there are states, which are in the order of their starts.
fn joined(states: &[State], (from, to): Span) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (_, start, end) in states {
        let (start, end) = ((*start).max(from), (*end).min(to));
        if start >= end {
            continue;
        }
        match spans.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => spans.push((start, end)),
        }
    }
    spans
}

/// The id of a vertex as an edge has it; `None` if the server makes it.
fn id_of(vertex: &Vertex, catalogue: &Catalogue) -> Option<String> {
    if let Some(id) = &vertex.id {
        return Some(id.to_string());
    }
    let label = catalogue.vertex_label(&vertex.label).ok()?;
    let keys = label.primary_keys.iter().map(|key| {
        let data_type = catalogue.key(key).ok()?.data_type;
        key_value(vertex.properties.get(key)?, data_type).ok()
    });
    let keys: Option<Vec<_>> = keys.collect();
    let keys = keys.filter(|keys| !keys.is_empty())?;
    Some(Json::from(key_id(label.id, &keys)).to_string())
}

#[cfg(test)]
mod tests;
