//! The work of schema tasks on elements: deleting the elements of a label, building or removing
//! index entries, and clearing OLAP properties. Jobs are implemented by the program that opens the
//! graph.
//!
//! A body first waits for the writes that began with an older schema. Then it works in chunks of
//! ordinary commits. So it blocks neither readers nor writers for long, history is kept, and an
//! interrupted task simply runs again.

mod olap;

use std::sync::{Arc, Weak};

use varve_encoding::index::{IndexId, element_key, partition};
use varve_encoding::key;
use varve_encoding::row::{self, Header, RowKind};
use varve_encoding::tables::{EDGE, INDEX, VERTEX};
use varve_kv::{ClusteringRange, Flow, ReaderExt, Row, ScanRequest, TableId};
use varve_model::{
    CommitVersion, Direction, EdgeLabelId, ElementId, IndexLabelId, Instant, Period, PropertyKeyId,
    VertexId, VertexLabelId,
};

use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::read::{resolve, scan_events};
use crate::schema::SchemaKind;
use crate::tasks::{Subject, TaskBodies, TaskProgress, TaskSpec, TaskType};
use crate::write::{Missing, Mutation, WriteRequest};

/// The most elements deleted by one commit, without the edges of deleted vertices.
const CHUNK: usize = 500;

/// The implementation of tasks that are jobs (scripts, algorithms), provided by the program that
/// opens the graph.
pub trait Jobs: Send + Sync {
    /// Runs a job and returns its result, as [`TaskBodies::run`].
    ///
    /// # Errors
    /// As [`TaskBodies::run`].
    fn run(
        &self,
        graph: &Arc<Graph>,
        task: &TaskSpec,
        progress: &TaskProgress,
    ) -> Result<String, GraphError>;

    /// Sets the check of jobs' owners; ignored by default. On a server with users, a job with an
    /// owner that starts before this call waits for the check.
    fn check_owners_by(&self, check: Arc<OwnerCheck>) {
        let _ = check;
    }
}

/// A check that refuses a job whose owner may not run it now. Its arguments are the name of the
/// graph, the type of the task, and the owner as stored in the task.
pub type OwnerCheck = dyn Fn(&str, TaskType, &str) -> Result<(), GraphError> + Send + Sync;

pub(crate) struct ElementBodies {
    graph: Weak<Graph>,
    jobs: Option<Arc<dyn Jobs>>,
}

impl ElementBodies {
    pub(crate) fn new(graph: &Arc<Graph>, jobs: Option<Arc<dyn Jobs>>) -> Self {
        Self {
            graph: Arc::downgrade(graph),
            jobs,
        }
    }
}

impl TaskBodies for ElementBodies {
    fn run(&self, task: &TaskSpec, progress: &TaskProgress) -> Result<String, GraphError> {
        let closed = || GraphError::new(ErrorKind::IllegalState, "The graph is closed");
        let graph = self.graph.upgrade().ok_or_else(closed)?;
        // From here on, no write runs with a schema from before the task's first step.
        graph.await_older_writes();
        match (task.task_type, task.subject, &self.jobs) {
            (TaskType::RemoveSchema, Some(subject), _) => remove(&graph, subject, progress),
            (TaskType::RebuildIndex, Some(subject), _) => rebuild(&graph, subject, progress),
            (TaskType::ClearOlap | TaskType::RemoveOlap, Some(subject), _) => {
                olap::clear(&graph, PropertyKeyId(subject.id), progress)
            }
            (_, None, Some(jobs)) => return jobs.run(&graph, task, progress),
            _ => Err(GraphError::new(
                ErrorKind::NotSupported,
                format!("Tasks of the type of '{}' are not supported", task.name),
            )),
        }
        .map(|()| String::new())
    }
}

fn rebuild(
    graph: &Arc<Graph>,
    subject: Subject,
    progress: &TaskProgress,
) -> Result<(), GraphError> {
    let schema = graph.schema();
    let labels = match subject.kind {
        SchemaKind::IndexLabel => schema
            .index_label(IndexLabelId(subject.id))
            .cloned()
            .into_iter()
            .collect(),
        SchemaKind::VertexLabel => schema
            .indexes_of_vertex_label(VertexLabelId(subject.id))
            .to_vec(),
        SchemaKind::EdgeLabel => schema
            .indexes_of_edge_label(EdgeLabelId(subject.id))
            .to_vec(),
        SchemaKind::PropertyKey => Vec::new(),
    };
    labels
        .iter()
        .try_for_each(|label| crate::index::rebuild(graph, label, progress))
}

fn remove(graph: &Arc<Graph>, subject: Subject, progress: &TaskProgress) -> Result<(), GraphError> {
    let schema = graph.schema();
    match subject.kind {
        SchemaKind::VertexLabel => {
            let label = VertexLabelId(subject.id);
            let indexed = schema
                .vertex_label(label)
                .is_some_and(|label| label.enable_label_index);
            if indexed {
                listed_vertices(graph, label, progress)
            } else {
                scanned(graph, Doomed::Vertices(label), progress)
            }
        }
        SchemaKind::EdgeLabel => {
            let label = EdgeLabelId(subject.id);
            scanned(graph, Doomed::Edges(label), progress)
        }
        SchemaKind::IndexLabel => match schema.index_label(IndexLabelId(subject.id)) {
            Some(label) => crate::index::remove(graph, label, progress),
            None => Ok(()),
        },
        SchemaKind::PropertyKey => Ok(()),
    }
}

/// Deletes the vertices that a label's index lists, if they have the label now or later.
fn listed_vertices(
    graph: &Arc<Graph>,
    label: VertexLabelId,
    progress: &TaskProgress,
) -> Result<(), GraphError> {
    let partition = partition(IndexId::VertexLabel(label), 0, &[]);
    let mut range = ClusteringRange::all();
    loop {
        progress.check()?;
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let request = ScanRequest {
            table: INDEX,
            partition: &partition,
            range: &range,
            reverse: false,
        };
        graph.reader().scan(request, &mut |clustering, _| {
            keys.push(clustering.to_vec());
            if keys.len() < CHUNK {
                Flow::Continue(())
            } else {
                Flow::Break(())
            }
        })?;
        let Some(last) = keys.last() else {
            return Ok(());
        };
        range.from = [last.as_slice(), &[0]].concat();
        let mut ids = Vec::with_capacity(keys.len());
        for key in &keys {
            ids.push(key::decode_element(
                element_key(key, 0).unwrap_or_default(),
            )?);
        }
        let ids = with_label(graph, ids, label)?;
        delete(graph, ids, progress)?;
    }
}

/// Whether a vertex has the label now or later.
fn has_label(graph: &Graph, id: &VertexId, label: VertexLabelId) -> Result<bool, GraphError> {
    let partition = key::vertex_id(id);
    let row = graph
        .reader()
        .get(VERTEX, &partition, key::VERTEX_CLUSTERING)?;
    match row {
        Some(row) => row_has_label(graph, &partition, &row, label),
        None => Ok(false),
    }
}

fn row_has_label(
    graph: &Graph,
    partition: &[u8],
    row: &[u8],
    label: VertexLabelId,
) -> Result<bool, GraphError> {
    let (header, content) = Header::decode(row)?;
    if row::decides_always(row) {
        return Ok(row::vertex_label(content)? == label);
    }
    let (reader, now) = (graph.reader(), graph.now());
    let mut instants = vec![now];
    let mut add = |period: Period| {
        let boundaries = [period.from, period.to].into_iter();
        instants.extend(boundaries.filter(|at| *at > now && *at < Instant::FOREVER));
    };
    if header.kind == RowKind::Put {
        add(header.period());
    }
    let (clustering, newest) = (key::VERTEX_CLUSTERING, CommitVersion::MAX);
    scan_events(reader, partition, clustering, newest, &mut |header, _| {
        add(header.period());
        Flow::Continue(())
    })?;
    for instant in instants {
        let state = resolve(reader, partition, clustering, Some(row), instant, newest)?;
        if let Some(state) = state
            && row::vertex_label(&state.content)? == label
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The elements to delete: those of a label.
#[derive(Clone, Copy)]
enum Doomed {
    Vertices(VertexLabelId),
    Edges(EdgeLabelId),
}

/// Deletes the elements of a label by a scan of all vertices or edges.
fn scanned(graph: &Arc<Graph>, doomed: Doomed, progress: &TaskProgress) -> Result<(), GraphError> {
    let table = match doomed {
        Doomed::Vertices(_) => VERTEX,
        Doomed::Edges(_) => EDGE,
    };
    let of_row = |row: &Row<'_>| doomed_id(doomed, row.partition, row.clustering, row.value);
    each_chunk(graph, table, progress, &of_row, &mut |mut ids| {
        if let Doomed::Vertices(label) = doomed {
            ids = with_label(graph, ids, label)?;
        }
        delete(graph, ids, progress)
    })
}

/// Returns the element of a row; `None` if the scan does not look for it.
type OfRow<'a> = dyn Fn(&Row<'_>) -> Result<Option<ElementId>, GraphError> + 'a;

/// Scans a table and passes the elements that `of_row` returns to `work`, at most [`CHUNK`] at a
/// time, possibly none.
fn each_chunk(
    graph: &Graph,
    table: TableId,
    progress: &TaskProgress,
    of_row: &OfRow<'_>,
    work: &mut dyn FnMut(Vec<ElementId>) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    /// The most rows read between two checks for a cancellation.
    const STEP: usize = 10_000;
    let mut after: Option<(Vec<u8>, Vec<u8>)> = None;
    loop {
        progress.check()?;
        let (mut seen, mut ids, mut last) = (0, Vec::new(), None);
        let mut failed: Option<GraphError> = None;
        let from = after.as_ref().map(|(p, c)| (p.as_slice(), c.as_slice()));
        graph.reader().scan_table(table, from, &mut |row| {
            seen += 1;
            match of_row(&row) {
                Ok(id) => ids.extend(id),
                Err(error) => {
                    failed = Some(error);
                    return Flow::Break(());
                }
            }
            if ids.len() < CHUNK && seen < STEP {
                return Flow::Continue(());
            }
            last = Some((row.partition.to_vec(), row.clustering.to_vec()));
            Flow::Break(())
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        work(ids)?;
        if last.is_none() {
            return Ok(());
        }
        after = last;
    }
}

/// The element of a row, if it may have the label now or later. A vertex whose current row does not
/// decide for ever may get the label later. An edge is returned for its OUT row only.
fn doomed_id(
    doomed: Doomed,
    partition: &[u8],
    clustering: &[u8],
    row: &[u8],
) -> Result<Option<ElementId>, GraphError> {
    match doomed {
        Doomed::Vertices(label) => {
            let (_, content) = Header::decode(row)?;
            let doomed = !row::decides_always(row) || row::vertex_label(content)? == label;
            let id = key::decode_vertex_id(partition)?;
            Ok(doomed.then_some(ElementId::Vertex(id)))
        }
        Doomed::Edges(label) => {
            let of = row::edge_labels_of_clustering(clustering).map(|(_, of)| of);
            let (id, direction) = key::decode_edge(partition, clustering)?;
            let doomed = of == Some(label) && direction == Direction::Out;
            Ok(doomed.then_some(ElementId::Edge(id)))
        }
    }
}

/// The vertices among `ids` that have the label now or later.
fn with_label(
    graph: &Graph,
    ids: Vec<ElementId>,
    label: VertexLabelId,
) -> Result<Vec<ElementId>, GraphError> {
    let mut kept = Vec::with_capacity(ids.len());
    for id in ids {
        if let ElementId::Vertex(vertex) = &id
            && has_label(graph, vertex, label)?
        {
            kept.push(id);
        }
    }
    Ok(kept)
}

fn delete(
    graph: &Arc<Graph>,
    ids: Vec<ElementId>,
    progress: &TaskProgress,
) -> Result<(), GraphError> {
    if ids.is_empty() {
        return Ok(());
    }
    let count = ids.len() as u64;
    let delete = |id| Mutation::Delete {
        id,
        missing: Missing::Ignore,
    };
    graph.write_now(&WriteRequest::now(ids.into_iter().map(delete).collect()))?;
    progress.add(count);
    Ok(())
}
