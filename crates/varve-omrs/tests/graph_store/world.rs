//! A store on a graph in memory, and instances to put into it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use varve_encoding::tables::TABLES;
use varve_graph::write::{EndCheck, Mutation, WriteRequest};
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::{Engine, MemoryEngine};
use varve_model::{
    Clock, Datum, EdgeId, EdgeLabelId, Instant, Properties, TemporalScope, Value, VertexId,
};
use varve_omrs::OmrsError;
use varve_omrs::graph_store::{GraphReader, GraphStore, InstanceDerivers};
use varve_omrs::instances::*;
use varve_omrs::json::{Millis, Shared};
use varve_omrs::store::*;
use varve_omrs::types::Catalogue;

/// A clock that is set by hand, in microseconds.
pub(crate) struct HandClock(AtomicI64);

impl HandClock {
    pub(crate) fn advance(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
}

/// Chooses all states, oldest first, without a limit.
pub(crate) struct Everything;

impl Cost for Everything {
    fn look(&mut self) -> Result<(), OmrsError> {
        Ok(())
    }

    fn hold(&mut self, _: usize) -> Result<(), OmrsError> {
        Ok(())
    }
}

impl Choice for Everything {
    fn keep(&mut self, _: usize) -> Result<(), OmrsError> {
        Ok(())
    }

    fn choose(&mut self, states: &[Version<LifeStatus>]) -> Result<Vec<usize>, OmrsError> {
        Ok((0..states.len()).collect())
    }
}

/// One of the two kinds of instances that have a GUID.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StoredInstance {
    Entity(StoredEntity),
    Relationship(StoredRelationship),
}

pub(crate) struct World {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) store: GraphStore,
    pub(crate) types: Arc<Catalogue>,
}

/// When the clock begins.
pub(crate) const START: i64 = 1_700_000_000_000_000;

impl World {
    pub(crate) fn new() -> Self {
        Self::on(Arc::new(MemoryEngine::new()))
    }

    pub(crate) fn on(engine: Arc<dyn Engine>) -> Self {
        let clock = Arc::new(HandClock(AtomicI64::new(START)));
        let types = Arc::new(Catalogue::built_in());
        let store = open(&engine, &clock);
        store.set_types(Arc::clone(&types)).expect("types");
        Self {
            engine,
            clock,
            store,
            types,
        }
    }

    /// An entity of a type as a client would make it.
    pub(crate) fn entity(
        &self,
        of: &str,
        guid: &str,
        properties: &[(&str, Primitive)],
    ) -> EntityDetail {
        EntityDetail {
            header: self.header(of, guid),
            classifications: Shared::default(),
            properties: Some(self.properties(of, properties)),
        }
    }

    pub(crate) fn header(&self, of: &str, guid: &str) -> InstanceHeader {
        let index = self.types.by_name(of).expect("a type");
        InstanceHeader {
            audit: InstanceAuditHeader {
                header_version: Some(1),
                instance_type: Some(self.types.get(index).instance_type().clone()),
                provenance: Some(InstanceProvenanceType::LocalCohort),
                metadata_collection_id: Some("home".to_owned()),
                metadata_collection_name: Some("varve".to_owned()),
                created_by: Some("ada".to_owned()),
                create_time: Some(self.store.now()),
                version: 1,
                status: Some(varve_omrs::types::InstanceStatus::Active),
                ..InstanceAuditHeader::default()
            },
            guid: Some(guid.to_owned()),
            ..InstanceHeader::default()
        }
    }

    pub(crate) fn properties(&self, of: &str, values: &[(&str, Primitive)]) -> InstanceProperties {
        let index = self.types.by_name(of).expect("a type");
        let values = values.iter().map(|(name, value)| {
            let value = InstancePropertyValue::primitive(value.clone());
            ((*name).to_owned(), value)
        });
        let properties = InstanceProperties {
            header_version: Some(1),
            values: values.collect(),
            ..InstanceProperties::default()
        };
        varve_omrs::validate::completed_properties(&self.types, index, properties)
            .expect("valid properties")
    }

    pub(crate) fn relationship(&self, of: &str, guid: &str, ends: [&str; 2]) -> StoredRelationship {
        StoredRelationship {
            header: self.header(of, guid),
            properties: None,
            ends: ends.map(str::to_owned),
        }
    }

    pub(crate) fn put(&self, entity: &EntityDetail) {
        let guid = entity.header.guid().to_owned();
        self.store
            .transact(&[&guid], &mut |transaction| {
                transaction.put_entity(StoredEntity::Detail(entity.clone()), None)
            })
            .expect("stored");
    }

    pub(crate) fn put_relationship(&self, relationship: &StoredRelationship) {
        self.store
            .transact(&[], &mut |transaction| {
                transaction.put_relationship(relationship.clone(), None)
            })
            .expect("stored");
    }

    pub(crate) fn reader(&self, at: Option<Millis>) -> GraphReader {
        self.store.read(at).expect("a reader")
    }

    /// All states that an entity ever had, oldest first.
    pub(crate) fn entity_history(&self, guid: &str) -> Vec<Version<StoredEntity>> {
        let states = self.store.entity_states(guid, &mut Everything);
        states.expect("read")
    }

    /// All states that a relationship ever had, oldest first.
    pub(crate) fn relationship_history(&self, guid: &str) -> Vec<Version<StoredRelationship>> {
        let states = self.store.relationship_states(guid, &mut Everything);
        states.expect("read")
    }

    /// The GUIDs of a walk, page by page of two.
    pub(crate) fn guids(&self, at: Option<Millis>, walk: &Walk<'_>) -> Vec<String> {
        let reader = self.reader(at);
        assert!(reader.can_walk(walk), "{walk:?}");
        let whole = guids_of(&reader, walk, usize::MAX).0;
        let (mut paged, mut after): (Vec<String>, Option<Vec<u8>>) = (Vec::new(), None);
        loop {
            let page = Walk {
                after: after.as_deref(),
                ..walk.clone()
            };
            let (mut found, place) = guids_of(&reader, &page, 2);
            let ended = found.is_empty();
            paged.append(&mut found);
            if ended {
                break;
            }
            after = place;
        }
        assert_eq!(whole, paged, "{walk:?}");
        whole
    }

    /// Closes the graph and opens it again, sound as it is.
    pub(crate) fn restart(&mut self) {
        self.reopen();
        self.verify();
        self.set_types();
    }

    /// Closes the graph and opens it again, without the types.
    pub(crate) fn reopen(&mut self) {
        let other = open(
            &(Arc::new(MemoryEngine::new()) as Arc<dyn Engine>),
            &self.clock,
        );
        drop(std::mem::replace(&mut self.store, other));
        self.store = open(&self.engine, &self.clock);
    }

    pub(crate) fn set_types(&self) {
        self.store
            .set_types(Arc::clone(&self.types))
            .expect("types");
    }

    pub(crate) fn verify(&self) {
        let report =
            varve_graph::verify::verify(self.store.graph(), 1, &mut |_| true).expect("a report");
        assert!(report.is_sound(), "{:#?}", report.problems);
    }
}

pub(crate) fn open(engine: &Arc<dyn Engine>, clock: &Arc<HandClock>) -> GraphStore {
    let space = engine.open("metadata", TABLES, true).expect("a space");
    let mut options = GraphOptions::new(Arc::clone(clock) as Arc<dyn Clock>);
    options.durability = DurabilityMode::None;
    options.derivers = Some(Arc::new(InstanceDerivers));
    GraphStore::open(Graph::open("metadata", space, &options).expect("a graph"))
}

pub(crate) fn guids_of(
    reader: &GraphReader,
    walk: &Walk<'_>,
    most: usize,
) -> (Vec<String>, Option<Vec<u8>>) {
    let (mut guids, mut place) = (Vec::new(), None);
    reader
        .walk(walk, &mut |step| {
            guids.push(step.instance.guid().to_owned());
            place = Some(step.place.to_vec());
            Ok(if guids.len() < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })
        .expect("a walk");
    (guids, place)
}

pub(crate) fn guid_of(instance: &StoredInstance) -> &str {
    match instance {
        StoredInstance::Entity(entity) => entity.header().guid(),
        StoredInstance::Relationship(relationship) => relationship.header.guid(),
    }
}

pub(crate) fn all<'a>(subject: Subject, by: WalkBy<'a>) -> Walk<'a> {
    Walk {
        subject,
        of: None,
        by,
        reverse: false,
        after: None,
    }
}

pub(crate) fn text(text: &str) -> Primitive {
    Primitive::String(text.to_owned())
}

/// Gives a relationship that is there a mapping property that is no JSON, so that it cannot be read
/// as a whole.
pub(crate) fn damage_relationship(store: &GraphStore, clock: &HandClock, of: &StoredRelationship) {
    let graph = store.graph();
    let schema = graph.schema();
    let label = schema.edge_label_by_name(of.header.audit.type_name());
    let label = EdgeLabelId(label.expect("a label").id.0);
    let [source, target] = of.ends.each_ref().map(|end| VertexId::text(end));
    let id = EdgeId {
        source,
        parent: label,
        label,
        sort_values: of.header.guid().into(),
        target,
    };
    let edge = graph.edge(&id, TemporalScope::NOW).expect("read");
    let mut edge = edge.expect("there");
    damage(store, &mut edge.properties);
    let ends = EndCheck::Skip;
    write(store, clock, Mutation::PutEdge { edge, ends });
}

/// The same for an entity.
pub(crate) fn damage_entity(store: &GraphStore, clock: &HandClock, guid: &str) {
    let vertex = store
        .graph()
        .vertex(&VertexId::text(guid), TemporalScope::NOW);
    let mut vertex = vertex.expect("read").expect("there");
    damage(store, &mut vertex.properties);
    let fresh = false;
    write(store, clock, Mutation::PutVertex { vertex, fresh });
}

fn damage(store: &GraphStore, properties: &mut Properties) {
    let schema = store.graph().schema();
    let key = schema.property_key_by_name("header").expect("a key").id;
    let Some(Value::Object(header)) = properties.get(key) else {
        panic!("an instance has a header");
    };
    let Datum::Map(mut members) = Datum::clone(header) else {
        panic!("a header has members");
    };
    let no_json = ("m".to_owned(), Datum::Text("{".to_owned()));
    members.push(("mp".to_owned(), Datum::Map(vec![no_json])));
    properties.set(key, Value::Object(Box::new(Datum::Map(members))));
}

fn write(store: &GraphStore, clock: &HandClock, mutation: Mutation) {
    clock.advance(1_000);
    let request = WriteRequest::now(vec![mutation]);
    store.graph().write_now(&request).expect("written");
    clock.advance(1_000);
}
