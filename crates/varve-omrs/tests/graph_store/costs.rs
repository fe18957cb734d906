//! What searches look at: a page of one costs about the same however many instances there are.
//!
//! The instances and searches are those of the performance suite, on some of its types. `-- --nocapture` shows the table.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use varve_omrs::OmrsError;
use varve_omrs::instances::*;
use varve_omrs::json::{Millis, Shared};
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::*;
use varve_omrs::store::*;
use varve_omrs::types::{AttributeTypeKind, Catalogue, InstanceStatus, PrimitiveDefCategory};

use crate::world::*;

const TYPES: [&str; 8] = [
    "Asset",
    "Community",
    "Database",
    "GlossaryTerm",
    "Person",
    "Referenceable",
    "RelationalColumn",
    "ToDo",
];
const CLASSIFICATION: &str = "Confidentiality";
const HOMES: [&str; 2] = ["home", "away"];
const PAGE: i32 = 5;

/// A store that counts what its readers show, and tell of what was found.
struct Counted {
    inner: Arc<World>,
    shown: Arc<AtomicUsize>,
    told: Arc<AtomicUsize>,
}

struct CountedRead<'a> {
    inner: Box<dyn Read + 'a>,
    shown: Arc<AtomicUsize>,
    told: Arc<AtomicUsize>,
}

impl Read for CountedRead<'_> {
    fn types(&self) -> Arc<Catalogue> {
        self.inner.types()
    }

    fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        self.inner.entity(guid)
    }

    fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        self.inner.relationship(guid)
    }

    fn relationships_of(
        &self,
        entity: &str,
        of: Option<varve_omrs::types::TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.inner.relationships_of(entity, of, visit)
    }

    fn kept(&self, subject: Subject, guid: &str) -> Result<Option<Kept>, OmrsError> {
        self.inner.kept(subject, guid)
    }

    fn kept_entity(&self, kept: &KeptRow) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        self.told.fetch_add(1, Ordering::Relaxed);
        self.inner.kept_entity(kept)
    }

    fn kept_relationship(&self, kept: KeptRow) -> Result<Option<ToldRelationship>, OmrsError> {
        self.told.fetch_add(1, Ordering::Relaxed);
        self.inner.kept_relationship(kept)
    }

    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError> {
        self.inner.walk(walk, &mut |step| {
            self.shown.fetch_add(1, Ordering::Relaxed);
            visit(step)
        })
    }

    fn behind_same_value(&self, place: &[u8]) -> Option<Vec<u8>> {
        self.inner.behind_same_value(place)
    }

    fn can_walk(&self, walk: &Walk<'_>) -> bool {
        self.inner.can_walk(walk)
    }

    fn state(&self) -> Option<u64> {
        self.inner.state()
    }

    fn texts(&self) -> Option<usize> {
        self.inner.texts()
    }

    fn matching_texts(&self, matches: &dyn Fn(&str) -> bool, most: usize) -> Option<Vec<TextHint>> {
        self.inner.matching_texts(matches, most)
    }
}

impl Store for Counted {
    fn now(&self) -> Millis {
        self.inner.store.now()
    }

    fn read(&self, at: Option<Millis>) -> Result<Box<dyn Read + '_>, OmrsError> {
        Ok(Box::new(CountedRead {
            inner: self.inner.store.read(at)?,
            shown: Arc::clone(&self.shown),
            told: Arc::clone(&self.told),
        }))
    }

    fn entity_history(&self, guid: &str) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
        self.inner.store.entity_history(guid)
    }

    fn relationship_history(
        &self,
        guid: &str,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
        self.inner.store.relationship_history(guid)
    }

    fn has_ever(&self, of: varve_omrs::types::TypeIndex) -> Result<bool, OmrsError> {
        self.inner.store.has_ever(of)
    }

    fn transact(
        &self,
        guids: &[&str],
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), OmrsError>,
    ) -> Result<(), OmrsError> {
        self.inner.store.transact(guids, work)
    }

    fn set_types(&self, types: Arc<Catalogue>) -> Result<(), OmrsError> {
        self.inner.store.set_types(types)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, OmrsError> {
        self.inner.store.note(name)
    }

    fn put_note(&self, name: &str, content: &[u8]) -> Result<(), OmrsError> {
        self.inner.store.put_note(name, content)
    }
}

/// A value as the suite gives it to the `n`th of `i` instances.
fn value(
    name: &str,
    category: PrimitiveDefCategory,
    unique: bool,
    n: usize,
    i: usize,
) -> Option<Primitive> {
    let distinct = unique || n % 2 == 1;
    let drawn = n.wrapping_mul(2_654_435_761) >> 7;
    let number = if distinct { i + n } else { drawn % i };
    Some(match category {
        PrimitiveDefCategory::String if distinct => text(&format!("{name}.{n}")),
        PrimitiveDefCategory::String => text(name),
        PrimitiveDefCategory::Int => Primitive::Int(number as i32),
        PrimitiveDefCategory::Date => Primitive::Date(Millis(1_700_000_000_000 + n as i64)),
        PrimitiveDefCategory::Boolean => Primitive::Boolean(drawn.is_multiple_of(2)),
        _ => return None,
    })
}

fn values(types: &Catalogue, of: &str, n: usize, i: usize) -> Vec<(String, Primitive)> {
    let of = types.get(types.by_name(of).expect("a type"));
    let properties = of.properties().iter().filter_map(|property| {
        let attribute = &property.attribute;
        let AttributeTypeKind::Primitive(kind) = &attribute.type_def()?.kind else {
            return None;
        };
        let name = attribute.name();
        let value = value(name, kind.category?, attribute.unique, n, i)?;
        Some((name.to_owned(), value))
    });
    properties.collect()
}

/// The instances, and the time before they were updated.
struct Filled {
    repository: Repository,
    shown: Arc<AtomicUsize>,
    types: Arc<Catalogue>,
    before: Millis,
    i: usize,
}

/// With `is_deleted`, what is at home here is deleted, of some types.
fn filled(i: usize, is_deleted: bool) -> Filled {
    let world = World::new();
    let types = Arc::clone(&world.types);
    let mut all: Vec<EntityDetail> = Vec::new();
    let properties = |of: &str, n: usize| {
        let values = values(&types, of, n, i);
        let named: Vec<(&str, Primitive)> = values
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        world.properties(of, &named)
    };
    for of in TYPES {
        for n in 0..i {
            for home in HOMES {
                world.clock.advance(1_000);
                let mut entity = world.entity(of, &format!("{of}-{home}-{n}"), &[]);
                entity.header.audit.metadata_collection_id = Some(home.to_owned());
                entity.properties = Some(properties(of, n));
                if of == "Referenceable" {
                    let mut audit = world.header(CLASSIFICATION, "").audit;
                    audit.metadata_collection_id = Some(home.to_owned());
                    entity.classifications = vec![Classification {
                        audit,
                        name: Some(CLASSIFICATION.to_owned()),
                        properties: Some(properties(CLASSIFICATION, n)),
                        ..Classification::default()
                    }]
                    .into();
                }
                world.put(&entity);
                all.push(entity);
            }
        }
    }
    let before = world.store.now();
    for entity in &mut all {
        let audit = &mut entity.header.audit;
        if audit.metadata_collection_id.as_deref() != Some(HOMES[0]) {
            continue;
        }
        world.clock.advance(1_000);
        audit.version = 2;
        audit.update_time = Some(world.store.now());
        let is_kept = !is_deleted
            || ["Referenceable", "RelationalColumn", "ToDo"].contains(&audit.type_name());
        world.put(entity);
        if !is_kept {
            entity.header.audit.version = 3;
            entity.header.audit.status = Some(InstanceStatus::Deleted);
            world.clock.advance(1_000);
            world.put(entity);
        }
    }
    world.clock.advance(1_000);
    let (repository, shown) = counted(world);
    Filled {
        repository,
        shown,
        types,
        before,
        i,
    }
}

/// A repository, and how many instances its readers have shown.
fn counted(world: World) -> (Repository, Arc<AtomicUsize>) {
    let (repository, shown, _) = counting(world);
    (repository, shown)
}

/// A repository, and how many instances its readers have shown, and told of those that searches found.
pub(crate) fn counting(world: World) -> (Repository, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    assert!(world.store.read_texts());
    let [shown, told] = [0, 0].map(|none| Arc::new(AtomicUsize::new(none)));
    let store = Counted {
        inner: Arc::new(world),
        shown: Arc::clone(&shown),
        told: Arc::clone(&told),
    };
    let options = Options {
        metadata_collection_id: Some(HOMES[0].to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://here.example".to_owned(),
    };
    let repository = Repository::open(Arc::new(store), options).expect("a repository");
    (repository, shown, told)
}

/// A pattern that matches one text.
fn exactly(text: &str) -> InstancePropertyValue {
    InstancePropertyValue::string(&format!(r"\Q{text}\E"))
}

/// What is searched for, and how many were found and shown.
type Row = (String, usize, usize);

impl Filled {
    fn of_type(&self, of: Option<&str>, order: SequencingOrder) -> TypeLimitedFindRequest {
        let guid = |of: &str| {
            self.types
                .get(self.types.by_name(of).expect("a type"))
                .guid()
        };
        TypeLimitedFindRequest {
            paged: PagedFindRequest {
                order: Some(order),
                page_size: PAGE,
                ..PagedFindRequest::default()
            },
            type_guid: of.map(|of| guid(of).to_owned()),
        }
    }

    fn row(
        &self,
        rows: &mut Vec<Row>,
        what: &str,
        search: impl FnOnce() -> Result<Vec<Shared<EntityDetail>>, OmrsError>,
    ) {
        self.shown.store(0, Ordering::Relaxed);
        let found = search().expect("an answer").len();
        rows.push((what.to_owned(), found, self.shown.load(Ordering::Relaxed)));
    }

    /// Two properties as the suite chooses them, with the values of the first instance.
    fn pair(&self, of: &str) -> Vec<(String, InstancePropertyValue)> {
        let mut all = values(&self.types, of, 0, self.i);
        all.sort_by_key(|(_, value)| matches!(value, Primitive::String(_)));
        if all.len() > 1 {
            all.retain(|(name, _)| name != "qualifiedName");
        }
        all.truncate(2);
        let wanted = |value: Primitive| match value {
            Primitive::String(text) => exactly(&text),
            other => InstancePropertyValue::primitive(other),
        };
        all.into_iter()
            .map(|(name, value)| (name, wanted(value)))
            .collect()
    }

    fn criteria_rows(
        &self,
        of: &str,
        orders: [SequencingOrder; 4],
        search: &mut dyn FnMut(&str, PropertyMatchFindRequest),
    ) {
        use MatchCriteria::{All, Any, None as Neither};
        let pair = self.pair(of);
        let names: Vec<&str> = pair.iter().map(|(name, _)| name.as_str()).collect();
        let (first, second) = (names[0], names[names.len() - 1]);
        let kinds = [
            ("one", 1, All, first),
            ("two, all", 2, All, second),
            ("two, any", 2, Any, second),
            ("two, none", 2, Neither, first),
        ];
        for ((what, count, criteria, by), order) in kinds.into_iter().zip(orders) {
            let mut of_type = self.of_type(None, order);
            of_type.paged.sequencing_property = Some(by.to_owned());
            let wanted = pair.iter().take(count).cloned().collect();
            let request = PropertyMatchFindRequest {
                of_type,
                match_properties: Some(InstanceProperties {
                    values: wanted,
                    ..InstanceProperties::default()
                }),
                match_criteria: Some(criteria),
            };
            search(what, request);
        }
    }

    fn searches_of_type(&self, rows: &mut Vec<Row>, of: &str, at: Option<Millis>) {
        use SequencingOrder as Order;
        let then = at.map_or("", |_| " as of then");
        let of_type = |order: Order| {
            let mut request = self.of_type(Some(of), order);
            request.paged.find.as_of_time = at;
            request
        };
        for order in [
            Order::Any,
            Order::CreationDateRecent,
            Order::LastUpdateRecent,
        ] {
            self.row(rows, &format!("{of}: all by {order:?}{then}"), || {
                let mut request = EntityFindRequest::default();
                request.instances.of_subtypes.of_type = of_type(order);
                self.repository.find_entities(&request)
            });
        }
        let texts = values(&self.types, of, 0, self.i);
        let is_text = |value: &Primitive| matches!(value, Primitive::String(_));
        let searched = texts
            .iter()
            .find(|(name, value)| name != "qualifiedName" && is_text(value));
        let word = searched.map_or("qualifiedName", |(name, _)| name);
        let (begin, end) = (&word[..word.len() - 1], &word[1..]);
        let middle = &begin[1..];
        for (what, pattern, order) in [
            ("is", format!(r"\Q{word}\E"), Order::CreationDateOldest),
            (
                "starts",
                format!(r"\Q{begin}\E.*"),
                Order::CreationDateRecent,
            ),
            (
                "contains",
                format!(r".*\Q{middle}\E.*"),
                Order::LastUpdateOldest,
            ),
            ("ends", format!(r".*\Q{end}\E"), Order::LastUpdateRecent),
            ("regex", format!("{begin}.*"), Order::Guid),
        ] {
            self.row(rows, &format!("{of}: text {what}{then}"), || {
                let request = EntityPropertyFindRequest {
                    matching: PropertyMatchFindRequest {
                        of_type: of_type(order),
                        ..PropertyMatchFindRequest::default()
                    },
                    ..EntityPropertyFindRequest::default()
                };
                self.repository
                    .find_entities_by_property_value(&pattern, &request)
            });
        }
        let (up, down) = (Order::PropertyAscending, Order::PropertyDescending);
        self.criteria_rows(of, [up, down, up, down], &mut |what, matching| {
            let mut request = EntityPropertyFindRequest {
                matching,
                ..EntityPropertyFindRequest::default()
            };
            let limited = of_type(Order::Any);
            request.matching.of_type.type_guid = limited.type_guid;
            request.matching.of_type.paged.find.as_of_time = at;
            self.row(rows, &format!("{of}: {what}{then}"), || {
                self.repository.find_entities_by_property(&request)
            });
        });
        for home in HOMES {
            self.row(rows, &format!("{of}: at {home}{then}"), || {
                let mut request = EntityPropertyFindRequest::default();
                request.matching.of_type = of_type(Order::Any);
                request.matching.match_properties =
                    Some(InstanceProperties::default().with("metadataCollectionId", exactly(home)));
                self.repository.find_entities_by_property(&request)
            });
        }
    }

    fn searches_by_classification(&self, rows: &mut Vec<Row>, at: Option<Millis>) {
        use SequencingOrder as Order;
        let then = at.map_or("", |_| " as of then");
        let mut ask = |what: &str, mut request: PropertyMatchFindRequest| {
            request.of_type.paged.find.as_of_time = at;
            self.row(rows, &format!("classified: {what}{then}"), || {
                self.repository
                    .find_entities_by_classification(CLASSIFICATION, &request)
            });
        };
        ask(
            "name only",
            PropertyMatchFindRequest {
                of_type: self.of_type(None, Order::CreationDateRecent),
                ..PropertyMatchFindRequest::default()
            },
        );
        let orders = [
            Order::CreationDateOldest,
            Order::LastUpdateRecent,
            Order::LastUpdateOldest,
            Order::Guid,
        ];
        self.criteria_rows(CLASSIFICATION, orders, &mut ask);
        for home in HOMES {
            ask(
                &format!("at {home}"),
                PropertyMatchFindRequest {
                    of_type: self.of_type(None, Order::Any),
                    match_properties: Some(
                        InstanceProperties::default().with("metadataCollectionId", exactly(home)),
                    ),
                    match_criteria: None,
                },
            );
        }
    }

    fn searches_of_deleted(&self, rows: &mut Vec<Row>) {
        use SequencingOrder as Order;
        for of in ["Asset", "Referenceable"] {
            for order in [Order::Any, Order::CreationDateRecent] {
                let mut request = EntityPropertyFindRequest::default();
                request.matching.of_type = self.of_type(Some(of), order);
                request.matching.of_type.paged.find.statuses = vec![InstanceStatus::Deleted];
                self.row(rows, &format!("{of}: deleted by {order:?}"), || {
                    self.repository.find_entities_by_property(&request)
                });
            }
        }
    }

    fn search_of_updated(&self, rows: &mut Vec<Row>, of: &str) {
        use SequencingOrder as Order;
        let mut undo = EntityFindRequest::default();
        undo.instances.of_subtypes.of_type = self.of_type(Some(of), Order::Any);
        let condition = |name: &str, operator, value| PropertyCondition {
            property: Some(name.to_owned()),
            operator: Some(operator),
            value: Some(value),
            nested: None,
        };
        undo.instances.match_properties = Some(SearchProperties {
            conditions: vec![
                condition(
                    "version",
                    PropertyComparisonOperator::Gt,
                    InstancePropertyValue::primitive(Primitive::Long(1)),
                ),
                condition(
                    "metadataCollectionId",
                    PropertyComparisonOperator::Eq,
                    InstancePropertyValue::string(HOMES[0]),
                ),
            ],
            match_criteria: Some(MatchCriteria::All),
        });
        self.row(rows, &format!("{of}: updated"), || {
            self.repository.find_entities(&undo)
        });
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for at in [None, Some(self.before)] {
            for of in ["RelationalColumn", "ToDo", "Referenceable"] {
                self.searches_of_type(&mut rows, of, at);
            }
            self.searches_by_classification(&mut rows, at);
        }
        for of in ["RelationalColumn", "Referenceable"] {
            self.search_of_updated(&mut rows, of);
        }
        rows
    }
}

#[test]
fn a_page_costs_the_same_however_much_there_is() {
    let rows = |i: usize| {
        let mut rows = filled(i, false).rows();
        filled(i, true).searches_of_deleted(&mut rows);
        rows
    };
    let (few, many) = (rows(6), rows(48));
    let mut wrong = Vec::new();
    for ((what, found, shown), (_, found_of_many, shown_of_many)) in few.into_iter().zip(many) {
        let line = format!(
            "{what:<50} found {found} and {found_of_many}, looked at {shown} and {shown_of_many}"
        );
        println!("{line}");
        if shown_of_many > 2 * shown.max(SHOWN_FREE) {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What ways that begin in turns may look at in any case.
const SHOWN_FREE: usize = 80;

/// In either direction, whatever stands at the beginning or in between.
#[test]
fn values_that_none_may_have_are_passed_over() {
    const HAVE: usize = 300;
    let world = World::new();
    let mut wanted = Vec::new();
    for (position, count) in [(1, HAVE), (2, 3), (3, HAVE), (4, 3), (5, HAVE)] {
        for number in 0..count {
            let guid = format!("{position}-{number:03}");
            let values = [("position", Primitive::Int(position))];
            world.put(&world.entity("RelationalColumn", &guid, &values));
            if count < HAVE {
                wanted.push(guid);
            }
        }
    }
    let index = world.types.by_name("RelationalColumn").expect("a type");
    let type_guid = world.types.get(index).guid().to_owned();
    let (repository, shown) = counted(world);
    let is = |position| PropertyCondition {
        property: Some("position".to_owned()),
        operator: Some(PropertyComparisonOperator::Eq),
        value: Some(InstancePropertyValue::primitive(Primitive::Int(position))),
        nested: None,
    };
    let find = |order, page_size| {
        let request = EntityFindRequest {
            instances: InstanceFindRequest {
                of_subtypes: SubtypeLimitedFindRequest {
                    of_type: TypeLimitedFindRequest {
                        paged: PagedFindRequest {
                            sequencing_property: Some("position".to_owned()),
                            order: Some(order),
                            page_size,
                            ..PagedFindRequest::default()
                        },
                        type_guid: Some(type_guid.clone()),
                    },
                    subtype_guids: Vec::new(),
                },
                match_properties: Some(SearchProperties {
                    conditions: [1, 3, 5].map(is).to_vec(),
                    match_criteria: Some(MatchCriteria::None),
                }),
            },
            match_classifications: None,
        };
        shown.store(0, Ordering::Relaxed);
        let found = repository.find_entities(&request).expect("an answer");
        let guids = found.iter().map(|entity| entity.header.guid().to_owned());
        (guids.collect::<Vec<_>>(), shown.load(Ordering::Relaxed))
    };
    let mut backwards = wanted[3..].to_vec();
    backwards.extend_from_slice(&wanted[..3]);
    for (order, wanted) in [
        (SequencingOrder::PropertyAscending, &wanted),
        (SequencingOrder::PropertyDescending, &backwards),
    ] {
        for page_size in [6, 0] {
            let (found, looked_at) = find(order, page_size);
            assert_eq!(&found, wanted);
            assert!(looked_at < HAVE, "{order:?}: looked at {looked_at}");
        }
    }
}

/// Whatever has been deleted, the others are found at once, and so are the deleted ones.
#[test]
fn what_is_deleted_is_not_passed_by() {
    const DELETED: usize = 300;
    let world = World::new();
    for number in 0..2 * DELETED {
        world.clock.advance(1_000);
        let mut entity = world.entity("Database", &format!("g{number:04}"), &[]);
        world.put(&entity);
        let audit = &mut entity.header.audit;
        (audit.version, audit.update_time) = (2, Some(world.store.now()));
        // A few in the middle stay.
        if !(DELETED..DELETED + 4).contains(&number) {
            audit.status = Some(InstanceStatus::Deleted);
        }
        world.clock.advance(1_000);
        world.put(&entity);
    }
    let index = world.types.by_name("Database").expect("a type");
    let type_guid = world.types.get(index).guid().to_owned();
    let (repository, shown) = counted(world);
    use SequencingOrder as Order;
    let orders = [
        Order::Any,
        Order::Guid,
        Order::CreationDateOldest,
        Order::CreationDateRecent,
        Order::LastUpdateOldest,
        Order::LastUpdateRecent,
    ];
    let both = [InstanceStatus::Active, InstanceStatus::Deleted];
    for order in orders {
        for (statuses, found_of_few) in [(&[][..], 4), (&both[1..], 5), (&both[..], 5)] {
            let mut request = EntityFindRequest::default();
            let of_type = &mut request.instances.of_subtypes.of_type;
            of_type.type_guid = Some(type_guid.clone());
            of_type.paged.order = Some(order);
            of_type.paged.page_size = PAGE;
            of_type.paged.find.statuses = statuses.to_vec();
            shown.store(0, Ordering::Relaxed);
            let found = repository.find_entities(&request).expect("an answer");
            assert_eq!(found.len(), found_of_few, "{order:?} {statuses:?}");
            let looked_at = shown.load(Ordering::Relaxed);
            assert!(
                looked_at < 20,
                "{order:?} {statuses:?}: looked at {looked_at}"
            );
        }
    }
}
