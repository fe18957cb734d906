//! What searches and graph queries cost in a repository in memory: `search_costs [instances of each type]`. Prints for each
//! kind of call how many instances the store showed and how long it took.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program that measures has nobody to report to but its user"
)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use varve_encoding::tables::TABLES;
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::{Engine, MemoryEngine};
use varve_model::time::SystemClock;
use varve_omrs::OmrsError;
use varve_omrs::graph_store::{GraphStore, InstanceDerivers};
use varve_omrs::instances::*;
use varve_omrs::json::{Millis, Shared};
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::*;
use varve_omrs::store::*;
use varve_omrs::types::{
    AttributeTypeKind, Catalogue, InstanceStatus, PrimitiveDefCategory, TypeDefCategory, TypeIndex,
};

const HOMES: [&str; 2] = ["our collection", "another collection"];
const PAGE: i32 = 10;

/// A store that counts what it shows.
struct Counting {
    inner: GraphStore,
    shown: Arc<AtomicUsize>,
}

struct CountingRead<'a> {
    inner: Box<dyn Read + 'a>,
    shown: Arc<AtomicUsize>,
}

impl Read for CountingRead<'_> {
    fn types(&self) -> Arc<Catalogue> {
        self.inner.types()
    }

    fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        self.shown.fetch_add(1, Ordering::Relaxed);
        self.inner.entity(guid)
    }

    fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        self.shown.fetch_add(1, Ordering::Relaxed);
        self.inner.relationship(guid)
    }

    fn relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.inner.relationships_of(entity, of, &mut |found| {
            self.shown.fetch_add(1, Ordering::Relaxed);
            visit(found)
        })
    }

    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError> {
        self.inner.walk(walk, &mut |step| {
            self.shown.fetch_add(1, Ordering::Relaxed);
            visit(step)
        })
    }

    fn can_walk(&self, walk: &Walk<'_>) -> bool {
        self.inner.can_walk(walk)
    }

    fn state(&self) -> Option<u64> {
        self.inner.state()
    }
}

impl Store for Counting {
    fn now(&self) -> Millis {
        self.inner.now()
    }

    fn read(&self, at: Option<Millis>) -> Result<Box<dyn Read + '_>, OmrsError> {
        Ok(Box::new(CountingRead {
            inner: self.inner.read(at)?,
            shown: Arc::clone(&self.shown),
        }))
    }

    fn entity_history(&self, guid: &str) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
        self.inner.entity_history(guid)
    }

    fn relationship_history(
        &self,
        guid: &str,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
        self.inner.relationship_history(guid)
    }

    fn has_ever(&self, of: TypeIndex) -> Result<bool, OmrsError> {
        self.inner.has_ever(of)
    }

    fn transact(
        &self,
        guids: &[&str],
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), OmrsError>,
    ) -> Result<(), OmrsError> {
        self.inner.transact(guids, work)
    }

    fn set_types(&self, types: Arc<Catalogue>) -> Result<(), OmrsError> {
        self.inner.set_types(types)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, OmrsError> {
        self.inner.note(name)
    }

    fn put_note(&self, name: &str, content: &[u8]) -> Result<(), OmrsError> {
        self.inner.put_note(name, content)
    }
}

/// Makes instances as Egeria's performance suite does.
struct Maker {
    types: Arc<Catalogue>,
    instances: usize,
    random: u64,
    time: i64,
}

impl Maker {
    fn bits(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits ^ (bits >> 31)
    }

    fn guid(&mut self) -> String {
        format!("{:016x}-{:016x}", self.bits(), self.bits())
    }

    fn value(&mut self, name: &str, category: PrimitiveDefCategory, number: usize) -> Primitive {
        let own = number % 2 == 1 || name == "qualifiedName";
        let count = self.instances;
        let whole = if own {
            count + number
        } else {
            self.bits() as usize % count
        };
        match category {
            PrimitiveDefCategory::Boolean => Primitive::Boolean(self.bits().is_multiple_of(2)),
            PrimitiveDefCategory::Int => Primitive::Int(whole as i32),
            PrimitiveDefCategory::Long => Primitive::Long(whole as i64),
            PrimitiveDefCategory::Float => Primitive::Float(whole as f32),
            PrimitiveDefCategory::Date => Primitive::Date(Millis(self.time)),
            _ if own => Primitive::String(format!("{name}.{number}")),
            _ => Primitive::String(name.to_owned()),
        }
    }

    fn properties(&mut self, of: TypeIndex, number: usize) -> InstanceProperties {
        let types = Arc::clone(&self.types);
        let mut properties = InstanceProperties::default();
        for (name, category) in primitives(&types, of) {
            let value = InstancePropertyValue::primitive(self.value(&name, category, number));
            properties = properties.with(&name, value);
        }
        properties
    }

    fn header(&mut self, of: TypeIndex, home: &str) -> InstanceHeader {
        self.time += i64::from(self.bits().is_multiple_of(3));
        InstanceHeader {
            audit: InstanceAuditHeader {
                header_version: Some(1),
                instance_type: Some(self.types.get(of).instance_type().clone()),
                provenance: Some(InstanceProvenanceType::LocalCohort),
                metadata_collection_id: Some(home.to_owned()),
                created_by: Some("ada".to_owned()),
                create_time: Some(Millis(self.time)),
                version: 1,
                status: Some(InstanceStatus::Active),
                ..Default::default()
            },
            guid: Some(self.guid()),
            ..Default::default()
        }
    }
}

/// The properties of a type that the suite sets.
fn primitives(types: &Catalogue, of: TypeIndex) -> Vec<(String, PrimitiveDefCategory)> {
    let properties = types.get(of).properties().iter();
    let found = properties.filter_map(|property| match &property.attribute.type_def()?.kind {
        AttributeTypeKind::Primitive(kind) => {
            Some((property.attribute.name().to_owned(), kind.category?))
        }
        _ => None,
    });
    found.collect()
}

fn of_category(types: &Catalogue, category: TypeDefCategory) -> Vec<TypeIndex> {
    let all = types.types();
    let mut found: Vec<_> = all
        .filter(|(_, of)| of.def().category() == category)
        .collect();
    found.sort_by_key(|(_, of)| of.name().to_owned());
    found.into_iter().map(|(index, _)| index).collect()
}

struct Costs {
    repository: Repository,
    shown: Arc<AtomicUsize>,
    /// Nanoseconds and instances shown, by the kind of call.
    samples: BTreeMap<String, Vec<(u128, usize)>>,
}

impl Costs {
    fn take<T>(&mut self, kind: &str, call: impl FnOnce(&Repository) -> Result<T, OmrsError>) -> T {
        self.shown.store(0, Ordering::Relaxed);
        let began = Instant::now();
        let answer = call(&self.repository).unwrap();
        let sample = (
            began.elapsed().as_nanos(),
            self.shown.load(Ordering::Relaxed),
        );
        self.samples
            .entry(kind.to_owned())
            .or_default()
            .push(sample);
        answer
    }

    fn print(&mut self) {
        println!("call; N; shown median, max; us median, p99, max");
        for (kind, samples) in &mut self.samples {
            let count = samples.len();
            samples.sort_unstable_by_key(|sample| sample.1);
            let shown = (samples[count / 2].1, samples[count - 1].1);
            samples.sort_unstable();
            let time = |at: usize| samples[at.min(count - 1)].0 / 1000;
            println!(
                "{kind}; {count}; {}, {}; {}, {}, {}",
                shown.0,
                shown.1,
                time(count / 2),
                time(count * 99 / 100),
                time(count - 1)
            );
        }
    }
}

fn load(store: &Counting, maker: &mut Maker) -> BTreeMap<TypeIndex, Vec<String>> {
    let types = Arc::clone(&maker.types);
    let mut known: BTreeMap<TypeIndex, Vec<String>> = BTreeMap::new();
    for of in of_category(&types, TypeDefCategory::Entity) {
        let allowed = types.get(of).valid_classifications().to_vec();
        for home in HOMES {
            let mut entities = Vec::new();
            for number in 0..maker.instances {
                let mut entity = EntityDetail {
                    header: maker.header(of, home),
                    properties: Some(maker.properties(of, number)),
                    classifications: Shared::default(),
                };
                if number == 0 && !allowed.is_empty() {
                    let one = allowed[maker.bits() as usize % allowed.len()];
                    let name = types.get(one).name().to_owned();
                    entity.classifications.push(Classification {
                        audit: maker.header(one, home).audit,
                        properties: Some(maker.properties(one, number)),
                        name: Some(name),
                        ..Default::default()
                    });
                }
                known
                    .entry(of)
                    .or_default()
                    .push(entity.header.guid().to_owned());
                entities.push(entity);
            }
            store
                .transact(&[], &mut |transaction| {
                    for entity in &entities {
                        let entity = StoredEntity::Detail(entity.clone());
                        transaction.put_entity(entity, None)?;
                    }
                    Ok(())
                })
                .unwrap();
        }
    }
    known
}

fn find(
    types: &Catalogue,
    of: TypeIndex,
    order: SequencingOrder,
    offset: usize,
) -> TypeLimitedFindRequest {
    TypeLimitedFindRequest {
        paged: PagedFindRequest {
            order: Some(order),
            offset: offset as i32,
            page_size: PAGE,
            ..Default::default()
        },
        type_guid: Some(types.get(of).guid().to_owned()),
    }
}

fn link(costs: &mut Costs, store: &Counting, maker: &mut Maker) {
    let types = Arc::clone(&maker.types);
    for of in of_category(&types, TypeDefCategory::Relationship) {
        let ends = types.get(of).ends().unwrap();
        let first = |costs: &mut Costs, end: TypeIndex| {
            let mut request = EntityFindRequest::default();
            let limit = &mut request.instances.of_subtypes.of_type;
            *limit = find(&types, end, SequencingOrder::Any, 0);
            limit.paged.page_size = maker.instances as i32;
            let found = costs.take("first of a type", |of| of.find_entities(&request));
            found
                .into_iter()
                .map(|of| of.header.guid().to_owned())
                .collect::<Vec<_>>()
        };
        let ends = [first(costs, ends[0]), first(costs, ends[1])];
        let mut made = Vec::new();
        for (number, (one, two)) in ends[0].iter().zip(&ends[1]).enumerate() {
            made.push(StoredRelationship {
                header: maker.header(of, HOMES[0]),
                properties: Some(maker.properties(of, number)),
                ends: [one.clone(), two.clone()],
            });
        }
        store
            .transact(&[], &mut |transaction| {
                for relationship in &made {
                    transaction.put_relationship(relationship.clone(), None)?;
                }
                Ok(())
            })
            .unwrap();
    }
}

fn search(costs: &mut Costs, types: &Catalogue, at: Option<Millis>) {
    let past = if at.is_some() { " then" } else { "" };
    for of in of_category(types, TypeDefCategory::Entity) {
        for offset in (0..200).step_by(PAGE as usize) {
            let mut request = EntityFindRequest::default();
            let limit = &mut request.instances.of_subtypes.of_type;
            *limit = find(types, of, SequencingOrder::Any, offset);
            limit.paged.find.as_of_time = at;
            costs.take(&format!("page{past}"), |of| of.find_entities(&request));
        }
        let all = primitives(types, of);
        let text = all
            .iter()
            .find(|(_, category)| *category == PrimitiveDefCategory::String);
        if let Some((name, _)) = text {
            let (first, last) = (&name[..1], &name[name.len() - 1..]);
            let inner = &name[1..name.len() - 1];
            let kinds = [
                (
                    "exact",
                    format!("\\Q{name}\\E"),
                    SequencingOrder::CreationDateOldest,
                ),
                (
                    "starts",
                    format!("\\Q{first}{inner}\\E.*"),
                    SequencingOrder::CreationDateRecent,
                ),
                (
                    "contains",
                    format!(".*\\Q{inner}\\E.*"),
                    SequencingOrder::LastUpdateOldest,
                ),
                (
                    "ends",
                    format!(".*\\Q{inner}{last}\\E"),
                    SequencingOrder::LastUpdateRecent,
                ),
                (
                    "general",
                    format!("{first}{inner}.*"),
                    SequencingOrder::Guid,
                ),
            ];
            for (kind, pattern, order) in kinds {
                let mut request = EntityPropertyFindRequest::default();
                request.matching.of_type = find(types, of, order, 0);
                request.matching.of_type.paged.find.as_of_time = at;
                costs.take(&format!("value {kind}{past}"), |of| {
                    of.find_entities_by_property_value(&pattern, &request)
                });
            }
        }
        by_property(costs, types, of, at, &all);
    }
}

fn by_property(
    costs: &mut Costs,
    types: &Catalogue,
    of: TypeIndex,
    at: Option<Millis>,
    all: &[(String, PrimitiveDefCategory)],
) {
    let past = if at.is_some() { " then" } else { "" };
    let is_text = |category: PrimitiveDefCategory| category == PrimitiveDefCategory::String;
    let mut chosen: Vec<_> = all
        .iter()
        .filter(|(_, category)| !is_text(*category))
        .collect();
    chosen.extend(all.iter().filter(|(_, category)| is_text(*category)));
    chosen.truncate(2);
    let value = |name: &str, category: PrimitiveDefCategory| {
        InstancePropertyValue::primitive(match category {
            PrimitiveDefCategory::Boolean => Primitive::Boolean(true),
            PrimitiveDefCategory::Int => Primitive::Int(7),
            PrimitiveDefCategory::Long => Primitive::Long(7),
            PrimitiveDefCategory::Float => Primitive::Float(7.0),
            PrimitiveDefCategory::Date => Primitive::Date(Millis(7)),
            _ => Primitive::String(format!("\\Q{name}\\E")),
        })
    };
    let mut given = InstanceProperties::default();
    for (number, (name, category)) in chosen.iter().enumerate() {
        given = given.with(name, value(name, *category));
        let criteria: &[MatchCriteria] = if number == 0 {
            &[MatchCriteria::All]
        } else {
            &[MatchCriteria::All, MatchCriteria::Any, MatchCriteria::None]
        };
        for criteria in criteria {
            let mut request = EntityPropertyFindRequest::default();
            request.matching.of_type = find(types, of, SequencingOrder::PropertyDescending, 0);
            let paged = &mut request.matching.of_type.paged;
            paged.sequencing_property = Some(name.clone());
            paged.find.as_of_time = at;
            request.matching.match_properties = Some(given.clone());
            request.matching.match_criteria = Some(*criteria);
            let kind = format!("{} properties {criteria:?}{past}", number + 1);
            costs.take(&kind, |of| of.find_entities_by_property(&request));
        }
    }
    let home = InstancePropertyValue::string(&format!("\\Q{}\\E", HOMES[1]));
    let mut request = EntityPropertyFindRequest::default();
    request.matching.of_type = find(types, of, SequencingOrder::Any, 0);
    request.matching.of_type.paged.find.as_of_time = at;
    let homed = InstanceProperties::default().with("metadataCollectionId", home);
    request.matching.match_properties = Some(homed);
    costs.take(&format!("home{past}"), |of| {
        of.find_entities_by_property(&request)
    });
}

fn classified(costs: &mut Costs, types: &Catalogue) {
    for of in of_category(types, TypeDefCategory::Classification) {
        let name = types.get(of).name();
        for order in [SequencingOrder::CreationDateRecent, SequencingOrder::Guid] {
            let mut request = PropertyMatchFindRequest::default();
            request.of_type.paged.order = Some(order);
            request.of_type.paged.page_size = PAGE;
            costs.take(&format!("classification {order:?}"), |of| {
                of.find_entities_by_classification(name, &request)
            });
        }
    }
}

fn walk(costs: &mut Costs, known: &BTreeMap<TypeIndex, Vec<String>>) {
    for guid in known.values().flat_map(|guids| guids.iter().take(3)) {
        let mut request = TypeLimitedFindRequest::default();
        request.paged.page_size = PAGE;
        costs.take("relationships", |of| {
            of.get_relationships_for_entity(guid, &request)
        });
        for level in 1..=3 {
            let request = EntityNeighborhoodFindRequest::default();
            costs.take(&format!("neighborhood {level}"), |of| {
                of.get_entity_neighborhood(guid, level, &request)
            });
        }
        let mut request = RelatedEntitiesFindRequest::default();
        request.paged.page_size = PAGE;
        let related = costs.take("related", |of| of.get_related_entities(guid, &request));
        if let Some(last) = related.last() {
            let end = last.header.guid();
            let request = FindRequest::default();
            costs.take("linking", |of| of.get_linking_entities(guid, end, &request));
        }
    }
}

fn main() {
    let instances = std::env::args()
        .nth(1)
        .map_or(50, |text| text.parse().unwrap());
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let space = engine.open("metadata", TABLES, true).unwrap();
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    options.derivers = Some(Arc::new(InstanceDerivers));
    let graph = Graph::open("metadata", space, &options).unwrap();
    let shown = Arc::new(AtomicUsize::new(0));
    let store = || Counting {
        inner: GraphStore::open(Arc::clone(&graph)),
        shown: Arc::clone(&shown),
    };
    let repository = Repository::open(
        Arc::new(store()),
        Options {
            metadata_collection_id: Some(HOMES[0].to_owned()),
            metadata_collection_name: "costs".to_owned(),
            base_url: "http://localhost".to_owned(),
        },
    );
    let repository = repository.unwrap();
    let types = repository.types();
    let writer = store();
    writer.set_types(Arc::clone(&types)).unwrap();
    let mut maker = Maker {
        types: Arc::clone(&types),
        instances,
        random: 1,
        time: 1_700_000_000_000,
    };
    let began = Instant::now();
    let known = load(&writer, &mut maker);
    let mut costs = Costs {
        repository,
        shown,
        samples: BTreeMap::new(),
    };
    link(&mut costs, &writer, &mut maker);
    let at = writer.now();
    println!("loaded in {:?}", began.elapsed());
    search(&mut costs, &types, None);
    classified(&mut costs, &types);
    walk(&mut costs, &known);
    let root = types.by_name("OpenMetadataRoot").unwrap();
    for offset in (0..5000).step_by(PAGE as usize) {
        let mut request = EntityFindRequest::default();
        request.instances.of_subtypes.of_type = find(&types, root, SequencingOrder::Any, offset);
        costs.take("page of all", |of| of.find_entities(&request));
    }
    search(&mut costs, &types, Some(at));
    costs.print();
}
