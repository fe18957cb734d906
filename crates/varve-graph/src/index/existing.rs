//! Checks the elements that were stored before a constraint of existence, key or type.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::Flow;
use varve_model::schema::IndexBase;
use varve_model::{Direction, Element, ElementId, IndexLabelId, Instant};

use super::rebuild::STEP;
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::rows::decode_element;
use crate::schema::{Definition, Schema, SchemaKind};
use crate::write::{read_latch, visit_states_from};

/// Elements of a step that one row does not decide.
type Undecided = Vec<ElementId>;

/// Checks the states that elements have now or later against a rule, and records that they are
/// checked. New writes are checked anyway since the rule was created. `proceed` is called after
/// each step.
///
/// # Errors
/// [`ErrorKind::Constraint`] with the first element that breaks the rule; those of `proceed`;
/// [`ErrorKind::NotFound`] when the rule was removed; or when the store fails.
pub fn check_existing(
    graph: &Arc<Graph>,
    rule: IndexLabelId,
    proceed: &mut dyn FnMut() -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    graph.await_older_writes();
    let mut after: Option<(Vec<u8>, Vec<u8>)> = None;
    loop {
        proceed()?;
        let schema = graph.schema();
        let mut all = schema.definitions().iter();
        let found = all.find(|one| one.id == rule);
        let of = found.ok_or_else(|| SchemaKind::IndexLabel.not_found(&rule.to_string()))?;
        let mut step = Step {
            schema: &schema,
            rule: of,
            now: graph.now(),
            undecided: Vec::new(),
            last: None,
        };
        step.read(graph, after.take())?;
        let Step {
            undecided, last, ..
        } = step;
        check_undecided(graph, (&schema, of), undecided)?;
        if last.is_none() {
            return graph.catalogue().owned_by(None).set_checked(rule);
        }
        after = last;
    }
}

struct Step<'s> {
    schema: &'s Schema,
    rule: &'s Definition,
    now: Instant,
    undecided: Undecided,
    /// Where the next step continues.
    last: Option<(Vec<u8>, Vec<u8>)>,
}

impl Step<'_> {
    fn read(&mut self, graph: &Graph, after: Option<(Vec<u8>, Vec<u8>)>) -> Result<(), GraphError> {
        let table = match self.rule.of.is_of_edges {
            true => EDGE,
            false => VERTEX,
        };
        let from = after.as_ref().map(|(one, two)| (&one[..], &two[..]));
        let (mut seen, mut failed) = (0, None);
        graph.reader().scan_table(table, from, &mut |row| {
            seen += 1;
            if let Err(error) = self.row((row.partition, row.clustering), row.value) {
                failed = Some(error);
                return Flow::Break(());
            }
            if seen < STEP {
                return Flow::Continue(());
            }
            self.last = Some((row.partition.to_vec(), row.clustering.to_vec()));
            Flow::Break(())
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn row(
        &mut self,
        (partition, clustering): (&[u8], &[u8]),
        value: &[u8],
    ) -> Result<(), GraphError> {
        let id = match self.rule.of.is_of_edges {
            false => ElementId::Vertex(key::decode_vertex_id(partition)?),
            true => match key::decode_edge(partition, clustering)? {
                (_, Direction::In) => return Ok(()),
                (id, _) => ElementId::Edge(id),
            },
        };
        let (header, content) = Header::decode(value)?;
        if header.kind == RowKind::Put && header.until > self.now {
            check((self.schema, self.rule), &id, content)?;
        }
        if header.kind != RowKind::Put || header.until < Instant::FOREVER {
            self.undecided.push(id);
        }
        Ok(())
    }
}

/// Checks elements whose states change later. Each is latched while it is read, so that its rows do
/// not move.
fn check_undecided(
    graph: &Graph,
    of: (&Schema, &Definition),
    undecided: Undecided,
) -> Result<(), GraphError> {
    for id in undecided {
        let _latched = graph.latches.acquire(vec![read_latch(&id)])?;
        let mut checked = Ok(());
        visit_states_from(graph.reader(), &id, graph.now(), &mut |content| {
            checked = check(of, &id, content);
            match checked {
                Ok(()) => Flow::Continue(()),
                Err(_) => Flow::Break(()),
            }
        })?;
        checked?;
    }
    Ok(())
}

fn check(
    (schema, rule): (&Schema, &Definition),
    id: &ElementId,
    content: &[u8],
) -> Result<(), GraphError> {
    let element = decode_element(id, content)?;
    let base = match &element {
        Element::Vertex(vertex) => IndexBase::Vertex(vertex.label),
        Element::Edge(edge) => IndexBase::Edge(edge.id.label),
    };
    let mut rules = schema.rules_of(base).iter();
    let is_of_rule = rules.any(|one| one.id == rule.id);
    match is_of_rule
        .then(|| rule.broken_by(schema, &element))
        .flatten()
    {
        Some(message) => Err(GraphError::new(ErrorKind::Constraint, message)),
        None => Ok(()),
    }
}
