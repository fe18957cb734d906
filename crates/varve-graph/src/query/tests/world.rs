//! A small graph with history, implemented naively, and its reader: the subject of the query tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use compact_str::CompactString;
use varve_encoding::key;
use varve_encoding::row::{self, Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT, EVENT_INDEX, INDEX, TABLES, VERTEX};
use varve_kv::{
    Batch, ClusteringRange, Durability, Engine, Flow, MemoryEngine, Reader, ReaderExt, ScanRequest,
    Space, TableId,
};
use varve_model::schema::{
    AggregateType, EdgeLabelType, Frequency, IdStrategy, IndexBase, IndexType, Retention,
    SchemaStatus, WriteType,
};
use varve_model::{
    Cardinality, CommitVersion, DataType, Datum, Direction, Edge, EdgeId, EdgeLabel, EdgeLabelId,
    Element, ElementId, IndexLabel, IndexLabelId, Properties, PropertyKey, PropertyKeyId,
    TemporalScope, Value, Vertex, VertexId, VertexLabel, VertexLabelId, sortable,
};

use crate::GraphError;
use crate::index::{self, IndexEntry};
use crate::query::{Resolver, RowHeader, RowKey};
use crate::schema::Schema;

pub(super) const NAME: PropertyKeyId = PropertyKeyId(1);
pub(super) const AGE: PropertyKeyId = PropertyKeyId(2);
pub(super) const CITY: PropertyKeyId = PropertyKeyId(3);
pub(super) const SCORE: PropertyKeyId = PropertyKeyId(4);
pub(super) const HOBBY: PropertyKeyId = PropertyKeyId(5);
pub(super) const ABOUT: PropertyKeyId = PropertyKeyId(6);
pub(super) const DATE: PropertyKeyId = PropertyKeyId(7);
pub(super) const TAGS: PropertyKeyId = PropertyKeyId(8);

pub(super) const PERSON: VertexLabelId = VertexLabelId(1);
pub(super) const ITEM: VertexLabelId = VertexLabelId(2);
pub(super) const HIDDEN: VertexLabelId = VertexLabelId(3);

pub(super) const KNOWS: EdgeLabelId = EdgeLabelId(1);
pub(super) const LIKES: EdgeLabelId = EdgeLabelId(2);
pub(super) const PARENT: EdgeLabelId = EdgeLabelId(3);
pub(super) const SUB_ONE: EdgeLabelId = EdgeLabelId(4);
pub(super) const SUB_TWO: EdgeLabelId = EdgeLabelId(5);

const NO_DATA: Datum = Datum::Null;

fn property_key(
    id: PropertyKeyId,
    name: &str,
    data_type: DataType,
    cardinality: Cardinality,
) -> PropertyKey {
    PropertyKey {
        id,
        name: name.into(),
        data_type,
        cardinality,
        aggregate_type: AggregateType::None,
        write_type: WriteType::Oltp,
        status: SchemaStatus::Created,
        user_data: NO_DATA,
    }
}

fn vertex_label(
    id: VertexLabelId,
    name: &str,
    id_strategy: IdStrategy,
    enable_label_index: bool,
) -> VertexLabel {
    let primary_keys = if id_strategy == IdStrategy::PrimaryKey {
        vec![NAME]
    } else {
        Vec::new()
    };
    VertexLabel {
        id,
        name: name.into(),
        id_strategy,
        properties: (1..=8).map(PropertyKeyId).collect(),
        primary_keys,
        nullable_keys: Vec::new(),
        ttl: 0,
        ttl_start_time: None,
        enable_label_index,
        retention: Retention::All,
        status: SchemaStatus::Created,
        user_data: NO_DATA,
    }
}

fn edge_label(
    id: EdgeLabelId,
    name: &str,
    label_type: EdgeLabelType,
    sort_keys: &[PropertyKeyId],
) -> EdgeLabel {
    EdgeLabel {
        id,
        name: name.into(),
        label_type,
        parent: (label_type == EdgeLabelType::Sub).then_some(PARENT),
        link: (label_type != EdgeLabelType::Parent).then_some((PERSON, PERSON)),
        frequency: if sort_keys.is_empty() {
            Frequency::Single
        } else {
            Frequency::Multiple
        },
        sort_keys: sort_keys.to_vec(),
        properties: if label_type == EdgeLabelType::Parent {
            Vec::new()
        } else {
            (1..=8).map(PropertyKeyId).collect()
        },
        nullable_keys: Vec::new(),
        ttl: 0,
        ttl_start_time: None,
        enable_label_index: true,
        retention: Retention::All,
        status: SchemaStatus::Created,
        user_data: NO_DATA,
    }
}

/// The schema of all query tests, with entries spread over `buckets` partitions.
pub(super) fn schema(buckets: u8) -> Schema {
    let mut schema = Schema::default();
    use Cardinality::{List, Set, Single};
    for (id, name, data_type, cardinality) in [
        (NAME, "name", DataType::Text, Single),
        (AGE, "age", DataType::Int, Single),
        (CITY, "city", DataType::Text, Single),
        (SCORE, "score", DataType::Double, Single),
        (HOBBY, "hobby", DataType::Text, Set),
        (ABOUT, "about", DataType::Text, Single),
        (DATE, "date", DataType::Date, Single),
        (TAGS, "tags", DataType::Text, List),
    ] {
        schema.put_property_key(property_key(id, name, data_type, cardinality));
    }
    schema.put_vertex_label(vertex_label(PERSON, "person", IdStrategy::PrimaryKey, true));
    schema.put_vertex_label(vertex_label(
        ITEM,
        "item",
        IdStrategy::CustomizeNumber,
        true,
    ));
    schema.put_vertex_label(vertex_label(
        HIDDEN,
        "hidden",
        IdStrategy::CustomizeString,
        false,
    ));
    schema.put_edge_label(edge_label(
        KNOWS,
        "knows",
        EdgeLabelType::Normal,
        &[DATE, CITY, AGE],
    ));
    schema.put_edge_label(edge_label(LIKES, "likes", EdgeLabelType::Normal, &[]));
    schema.put_edge_label(edge_label(PARENT, "parent", EdgeLabelType::Parent, &[]));
    schema.put_edge_label(edge_label(SUB_ONE, "one", EdgeLabelType::Sub, &[]));
    schema.put_edge_label(edge_label(SUB_TWO, "two", EdgeLabelType::Sub, &[]));
    let (vertex, edge) = (IndexBase::Vertex, IndexBase::Edge);
    use IndexType::{Range, Search, Secondary, Shard, Unique};
    let indexes: &[(IndexBase, IndexType, &[PropertyKeyId])] = &[
        (vertex(PERSON), Secondary, &[CITY, AGE]),
        (vertex(PERSON), Range, &[AGE]),
        (vertex(PERSON), Search, &[ABOUT]),
        (vertex(PERSON), Secondary, &[HOBBY]),
        (vertex(PERSON), Search, &[TAGS]),
        (vertex(PERSON), Shard, &[CITY, SCORE, AGE]),
        (vertex(ITEM), Range, &[SCORE]),
        (vertex(ITEM), Secondary, &[AGE]),
        (vertex(ITEM), Unique, &[NAME]),
        (vertex(HIDDEN), Secondary, &[CITY]),
        (vertex(HIDDEN), Shard, &[SCORE, CITY, AGE]),
        (edge(KNOWS), Range, &[AGE]),
        (edge(LIKES), Secondary, &[CITY]),
        (edge(SUB_ONE), Secondary, &[CITY]),
        (edge(SUB_TWO), Shard, &[CITY, AGE]),
    ];
    for (id, (base, index_type, fields)) in (1_u32..).zip(indexes) {
        schema.put_index_label(IndexLabel {
            id: IndexLabelId(id),
            name: format!("index{id}"),
            base: *base,
            index_type: *index_type,
            fields: fields.to_vec(),
            buckets,
            group: None,
            status: SchemaStatus::Created,
            user_data: NO_DATA,
        });
    }
    schema
}

/// A vertex of the tests' schema; a person's id is made from the name.
pub(super) fn vertex(
    label: VertexLabelId,
    name: &str,
    number: i64,
    mut properties: Properties,
) -> Vertex {
    properties.set(NAME, Value::Text(name.into()));
    let id = match label {
        PERSON => sortable::primary_key_id(PERSON, name),
        ITEM => VertexId::Number(number),
        _ => VertexId::text(name),
    };
    Vertex {
        id,
        label,
        properties,
    }
}

/// An edge of the tests' schema; its sort values are taken from its properties.
pub(super) fn edge(
    label: EdgeLabelId,
    source: &VertexId,
    target: &VertexId,
    properties: Properties,
) -> Edge {
    let sort_values = match label {
        KNOWS => {
            let value = |key| properties.get(key).cloned().expect("sort keys are set");
            sortable::join_key_values(&[value(DATE), value(CITY), value(AGE)])
        }
        _ => CompactString::default(),
    };
    let parent = if label == SUB_ONE || label == SUB_TWO {
        PARENT
    } else {
        label
    };
    let id = EdgeId {
        source: source.clone(),
        parent,
        label,
        sort_values,
        target: target.clone(),
    };
    Edge {
        id,
        source_label: PERSON,
        target_label: PERSON,
        properties,
    }
}

/// A graph: the states of each element, and the tables that store them.
pub(super) struct World {
    pub(super) schema: Schema,
    space: Arc<dyn Space>,
    /// The states of each element by commit version; `None` is a delete.
    history: BTreeMap<ElementId, Vec<(CommitVersion, Option<Element>)>>,
    version: u64,
    /// Whether reads are requests to a cluster.
    pub(super) is_remote: bool,
}

impl World {
    pub(super) fn new(schema: Schema) -> Self {
        let space = MemoryEngine::new().open("g", TABLES, true).expect("fresh");
        Self {
            schema,
            space,
            history: BTreeMap::new(),
            version: 0,
            is_remote: false,
        }
    }

    /// Commits one state of an element.
    pub(super) fn put(&mut self, element: Element) -> CommitVersion {
        self.commit(element.id(), Some(element))
    }

    /// Commits the deletion of an element.
    pub(super) fn delete(&mut self, id: &ElementId) -> CommitVersion {
        self.commit(id.clone(), None)
    }

    pub(super) fn last_version(&self) -> CommitVersion {
        CommitVersion(self.version << CommitVersion::LOW_BITS)
    }

    fn commit(&mut self, id: ElementId, state: Option<Element>) -> CommitVersion {
        self.version += 1;
        let version = self.last_version();
        self.history
            .entry(id.clone())
            .or_default()
            .push((version, state));
        let mut batch = Batch::new();
        self.rewrite(&id, &mut batch);
        self.space
            .write(&batch, Durability::Buffered)
            .expect("memory");
        version
    }

    /// Rewrites all rows of one element.
    fn rewrite(&self, id: &ElementId, batch: &mut Batch) {
        let states = &self.history[id];
        for (owner, clustering, table) in sides(id) {
            batch.delete(table, &owner, &clustering);
            for (at, (version, state)) in states.iter().enumerate() {
                let row = row_of(*version, state.as_ref());
                if at + 1 == states.len() && state.is_some() {
                    batch.put(table, &owner, &clustering, &row);
                    batch.delete(EVENT, &owner, &key::event_clustering(&clustering, *version));
                } else {
                    batch.put(
                        EVENT,
                        &owner,
                        &key::event_clustering(&clustering, *version),
                        &row,
                    );
                }
            }
        }
        let now: BTreeSet<IndexEntry> = states
            .last()
            .and_then(|(_, state)| state.as_ref())
            .into_iter()
            .flat_map(|e| self.entries(e))
            .collect();
        let ever: BTreeSet<IndexEntry> = states
            .iter()
            .filter_map(|(_, state)| state.as_ref())
            .flat_map(|e| self.entries(e))
            .collect();
        for entry in &ever {
            let left_over = entry.clustering.len() % 3 == 0;
            let label_entry = entry.partition[0] != 1;
            if now.contains(entry) || left_over && !label_entry {
                batch.put(INDEX, &entry.partition, &entry.clustering, &[]);
            } else {
                // Another edge of the source may still need a label's entry; surplus entries are
                // harmless.
                if !label_entry {
                    batch.delete(INDEX, &entry.partition, &entry.clustering);
                }
                batch.put(EVENT_INDEX, &entry.partition, &entry.clustering, &[]);
            }
        }
    }

    fn entries(&self, element: &Element) -> Vec<IndexEntry> {
        let id = element.id();
        let (indexes, label) = match element {
            Element::Vertex(vertex) => (
                self.schema.indexes_of_vertex_label(vertex.label),
                index::vertex_label_entry(vertex.label, &vertex.id),
            ),
            Element::Edge(edge) => (
                self.schema.indexes_of_edge_label(edge.id.label),
                index::edge_label_entry(&edge.id),
            ),
        };
        let mut all: Vec<IndexEntry> = indexes
            .iter()
            .flat_map(|index| index::entries(index, &id, element.properties()))
            .collect();
        all.push(label);
        all
    }

    /// The elements that exist at `scope`.
    pub(super) fn at(&self, scope: TemporalScope) -> Vec<Element> {
        let newest = scope.transaction.unwrap_or(CommitVersion::MAX);
        let states = self.history.values().filter_map(|states| {
            states
                .iter()
                .rev()
                .find(|(version, _)| *version <= newest)?
                .1
                .clone()
        });
        states.collect()
    }

    fn row(
        &self,
        table: TableId,
        owner: &[u8],
        clustering: &[u8],
        scope: TemporalScope,
    ) -> Result<Option<Vec<u8>>, GraphError> {
        let newest = scope.transaction.unwrap_or(CommitVersion::MAX);
        if let Some(row) = self.space.get(table, owner, clustering)? {
            let (header, content) = Header::decode(&row)?;
            if header.version <= newest {
                return Ok(Some(content.to_vec()));
            }
        }
        if scope.is_now() {
            return Ok(None);
        }
        let range = ClusteringRange {
            from: key::event_clustering(clustering, newest),
            to: Some([clustering, &[0xFF; 9]].concat()),
        };
        let mut found = None;
        let request = ScanRequest {
            table: EVENT,
            partition: owner,
            range: &range,
            reverse: false,
        };
        self.space.scan(request, &mut |_, row| {
            let (header, content) = Header::decode(row).expect("own row");
            found = Some((header.kind == RowKind::Put).then(|| content.to_vec()));
            Flow::Break(())
        })?;
        Ok(found.flatten())
    }
}

fn sides(id: &ElementId) -> Vec<(Vec<u8>, Vec<u8>, TableId)> {
    match id {
        ElementId::Vertex(id) => {
            vec![(key::vertex_id(id), key::VERTEX_CLUSTERING.to_vec(), VERTEX)]
        }
        ElementId::Edge(id) => [Direction::Out, Direction::In]
            .map(|direction| {
                (
                    key::vertex_id(id.owner(direction)),
                    key::edge_clustering(id, direction),
                    EDGE,
                )
            })
            .to_vec(),
    }
}

fn row_of(version: CommitVersion, state: Option<&Element>) -> Vec<u8> {
    let mut out = Vec::new();
    let kind = if state.is_some() {
        RowKind::Put
    } else {
        RowKind::Delete
    };
    Header {
        version,
        kind,
        ..Header::put_now()
    }
    .encode(&mut out);
    match state {
        Some(Element::Vertex(vertex)) => row::put_vertex_content(vertex, &mut out),
        Some(Element::Edge(edge)) => row::put_edge_content(edge, &mut out),
        None => {}
    }
    out
}

/// A world at a point of both times.
pub(super) struct At<'a>(pub(super) &'a World, pub(super) TemporalScope);

impl Resolver for At<'_> {
    fn reader(&self) -> &dyn Reader {
        &*self.0.space
    }

    fn scope(&self) -> TemporalScope {
        self.1
    }

    fn decides(&self, _header: &RowHeader) -> bool {
        false
    }

    fn is_remote(&self) -> bool {
        self.0.is_remote
    }

    fn visit_elements(
        &self,
        table: TableId,
        keys: &[RowKey],
        visit: &mut dyn FnMut(usize, &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        for (at, (owner, clustering)) in keys.iter().enumerate() {
            let row = self.0.row(table, owner, clustering, self.1)?;
            if row.is_some_and(|content| visit(at, &content).is_break()) {
                break;
            }
        }
        Ok(())
    }

    fn visit_adjacent(
        &self,
        owner: &[u8],
        range: &ClusteringRange,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<(), GraphError> {
        let mut keys = BTreeSet::new();
        let all = ClusteringRange::all();
        for table in [EDGE, EVENT] {
            let request = ScanRequest {
                table,
                partition: owner,
                range: &all,
                reverse: false,
            };
            self.0.space.scan(request, &mut |clustering, _| {
                let cut = if table == EVENT { key::EVENT_SUFFIX } else { 0 };
                keys.insert(clustering[..clustering.len() - cut].to_vec());
                Flow::Continue(())
            })?;
        }
        keys.remove(key::VERTEX_CLUSTERING);
        for clustering in keys.iter().filter(|key| range.contains(key)) {
            let row = self.0.row(EDGE, owner, clustering, self.1)?;
            if row.is_some_and(|content| visit(clustering, &content).is_break()) {
                break;
            }
        }
        Ok(())
    }
}
