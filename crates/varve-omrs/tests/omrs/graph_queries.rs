//! Walks from entity to entity on small random graphs, compared with following every path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use varve_omrs::error::{Exception, Message};
use varve_omrs::graph_queries::{
    RelatedQuery, SubGraph, WalkLimits, linking, neighbourhood, related, relationships_of_entity,
};
use varve_omrs::graph_store::GraphReader;
use varve_omrs::instances::{EntityDetail, EntityProxy, InstanceAuditHeader, InstanceHeader};
use varve_omrs::json::Millis;
use varve_omrs::requests::{FindRequest, Page};
use varve_omrs::search::{Limits, Order, Query, TypeLimit};
use varve_omrs::store::{RenderedEntity, StoredEntity, StoredRelationship, Subject};
use varve_omrs::types::{Catalogue, InstanceStatus};
use varve_testkit::random::Random;

use crate::filled::{Filled, StoredInstance};

const EVERYTHING: Page = Page {
    offset: 0,
    size: None,
};

fn header(types: &Catalogue, name: &str, guid: String, status: InstanceStatus) -> InstanceHeader {
    let index = types.by_name(name).unwrap();
    InstanceHeader {
        audit: InstanceAuditHeader {
            instance_type: Some(types.get(index).instance_type().clone()),
            status: Some(status),
            create_time: Some(Millis(1)),
            ..Default::default()
        },
        guid: Some(guid),
        ..Default::default()
    }
}

fn entity(types: &Catalogue, number: usize, status: InstanceStatus) -> EntityDetail {
    let name = if number.is_multiple_of(3) {
        "Asset"
    } else {
        "Person"
    };
    EntityDetail {
        header: header(types, name, format!("e{number}"), status),
        ..Default::default()
    }
}

fn relationship(
    types: &Catalogue,
    number: usize,
    ends: [usize; 2],
    status: InstanceStatus,
) -> StoredRelationship {
    let name = if number.is_multiple_of(4) {
        "ForeignKey"
    } else {
        "SemanticAssignment"
    };
    StoredRelationship {
        header: header(types, name, format!("r{number:03}"), status),
        properties: None,
        ends: ends.map(|end| format!("e{end}")),
    }
}

/// A graph with loops, several relationships between the same entities, deleted ones, and a proxy
/// now and then.
fn graph(random: &mut Random, types: &Arc<Catalogue>, count: usize, links: usize) -> Filled {
    let status = |random: &mut Random| {
        if random.one_in(12) {
            InstanceStatus::Deleted
        } else {
            InstanceStatus::Active
        }
    };
    let mut all = Vec::new();
    for number in 0..count {
        let detail = entity(types, number, status(random));
        all.push(StoredInstance::Entity(if number > 1 && random.one_in(12) {
            StoredEntity::Proxy(EntityProxy {
                header: detail.header,
                ..Default::default()
            })
        } else {
            StoredEntity::Detail(detail)
        }));
    }
    for number in 0..links {
        let ends = [random.below(count), random.below(count)];
        let link = relationship(types, number, ends, status(random));
        all.push(StoredInstance::Relationship(link));
    }
    Filled::new(types, all)
}

fn detail(read: &GraphReader, guid: &str) -> RenderedEntity {
    let entity = read.rendered_entity(guid).unwrap();
    let entity = entity.filter(|entity| entity.detail().is_some());
    entity.unwrap_or_else(|| panic!("{guid} is no entity"))
}

/// What may be walked along: the entities, and relationships by GUID with their ends.
fn walkable(
    all: &[StoredInstance],
    types: &Catalogue,
    walked: &WalkLimits,
) -> (BTreeSet<String>, BTreeMap<String, [String; 2]>) {
    let mut entities = BTreeSet::new();
    let mut links = BTreeMap::new();
    let is_of = |audit: &InstanceAuditHeader, of: &[varve_omrs::types::TypeIndex]| {
        let index = types.by_name(audit.type_name()).unwrap();
        of.is_empty() || of.iter().any(|of| types.is_a(index, *of))
    };
    for instance in all {
        match instance {
            StoredInstance::Entity(StoredEntity::Detail(entity)) => {
                let audit = &entity.header.audit;
                if walked.find.takes(audit.status.unwrap()) && is_of(audit, &walked.entity_types) {
                    entities.insert(entity.header.guid().to_owned());
                }
            }
            StoredInstance::Entity(StoredEntity::Proxy(_)) => {}
            StoredInstance::Relationship(link) => {
                let audit = &link.header.audit;
                if walked.find.takes(audit.status.unwrap())
                    && is_of(audit, &walked.relationship_types)
                {
                    links.insert(link.header.guid().to_owned(), link.ends.clone());
                }
            }
        }
    }
    (entities, links)
}

fn rendered(graph: &SubGraph) -> (BTreeSet<String>, BTreeSet<String>) {
    let entities = graph.entities.iter().map(|of| of.guid().to_owned());
    let links = graph.relationships.iter();
    let links = links.map(|of| of.link.guid.to_string());
    let rendered = (
        entities.collect::<BTreeSet<_>>(),
        links.collect::<BTreeSet<_>>(),
    );
    assert_eq!(rendered.0.len(), graph.entities.len(), "an entity twice");
    assert_eq!(
        rendered.1.len(),
        graph.relationships.len(),
        "a relationship twice"
    );
    rendered
}

struct Paths<'a> {
    entities: &'a BTreeSet<String>,
    links: &'a BTreeMap<String, [String; 2]>,
    end: String,
    path: Vec<String>,
    along: Vec<String>,
    found: (BTreeSet<String>, BTreeSet<String>),
}

impl Paths<'_> {
    fn follow(&mut self, from: &str) {
        if from == self.end {
            self.found.0.extend(self.path.iter().cloned());
            self.found.1.extend(self.along.iter().cloned());
            return;
        }
        for (guid, [one, two]) in self.links {
            let to = match (one == from, two == from) {
                (true, _) => two,
                (_, true) => one,
                _ => continue,
            };
            if self.path.contains(to) || !self.entities.contains(to) {
                continue;
            }
            self.path.push(to.clone());
            self.along.push(guid.clone());
            self.follow(to);
            self.path.pop();
            self.along.pop();
        }
    }
}

#[test]
fn linking_finds_all_paths_and_nothing_else() {
    let types = Arc::new(Catalogue::built_in());
    let mut links_found = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let count = 2 + random.below(8);
        let links = random.below(14);
        let filled = graph(&mut random, &types, count, links);
        let read = filled.read();
        let find = FindRequest::default();
        let walked = WalkLimits::default();
        let (entities, links) = walkable(&filled.all, &types, &walked);
        let mut paths = Paths {
            entities: &entities,
            links: &links,
            end: "e1".to_owned(),
            path: vec!["e0".to_owned()],
            along: Vec::new(),
            found: Default::default(),
        };
        if entities.contains("e0") && entities.contains("e1") {
            paths.follow("e0");
        }
        let ends = ["e0", "e1"].map(|guid| detail(&read, guid));
        let deleted = Some(InstanceStatus::Deleted);
        if ends.iter().any(|end| end.life_status().status == deleted) {
            continue;
        }
        let found = linking(&read, &types, ends, &find, &Limits::default()).unwrap();
        assert_eq!(rendered(&found), paths.found, "seed {seed}: {links:?}");
        links_found += found.relationships.len();
    }
    assert!(links_found > 1000, "only {links_found} links in all graphs");
}

#[test]
fn an_entity_is_linked_to_itself_by_nothing_else() {
    let types = Arc::new(Catalogue::built_in());
    let filled = graph(&mut Random::new(2), &types, 5, 20);
    let read = filled.read();
    let ends = ["e0", "e0"].map(|guid| detail(&read, guid));
    let find = FindRequest::default();
    let found = linking(&read, &types, ends, &find, &Limits::default()).unwrap();
    assert_eq!(
        rendered(&found),
        (BTreeSet::from(["e0".to_owned()]), BTreeSet::new())
    );
}

/// The entities and relationships within so many steps, by their definition.
fn within(
    entities: &BTreeSet<String>,
    links: &BTreeMap<String, [String; 2]>,
    levels: usize,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut found = BTreeSet::from(["e0".to_owned()]);
    let mut along = BTreeSet::new();
    for _ in 0..levels {
        let before = found.clone();
        for (guid, [one, two]) in links {
            for (from, to) in [(one, two), (two, one)] {
                let may_be_there = to == "e0" || entities.contains(to);
                if before.contains(from) && may_be_there {
                    found.insert(to.clone());
                    along.insert(guid.clone());
                }
            }
        }
    }
    (found, along)
}

#[test]
fn neighbourhoods_reach_as_far_as_asked() {
    let types = Arc::new(Catalogue::built_in());
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let count = 2 + random.below(20);
        let links = random.below(30);
        let filled = graph(&mut random, &types, count, links);
        let read = filled.read();
        let of = |name: &str| vec![types.by_name(name).unwrap()];
        let walked = WalkLimits {
            find: FindRequest::default(),
            entity_types: if random.one_in(3) {
                of("Person")
            } else {
                Vec::new()
            },
            relationship_types: if random.one_in(3) {
                of("SemanticAssignment")
            } else {
                Vec::new()
            },
            classifications: Vec::new(),
        };
        let (entities, links) = walkable(&filled.all, &types, &walked);
        for levels in [Some(0), Some(1), Some(2), Some(3), None] {
            let start = detail(&read, "e0");
            let limits = Limits::default();
            let found = neighbourhood(&read, &types, start, levels, &walked, &limits).unwrap();
            let wanted = within(&entities, &links, levels.unwrap_or(count));
            assert_eq!(rendered(&found), wanted, "seed {seed}, {levels:?}");
        }
    }
}

#[test]
fn related_entities_come_in_pages() {
    let types = Arc::new(Catalogue::built_in());
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let count = 2 + random.below(20);
        let links = random.below(40);
        let filled = graph(&mut random, &types, count, links);
        let read = filled.read();
        let (entities, links) = walkable(&filled.all, &types, &WalkLimits::default());
        let (closure, _) = within(&entities, &links, count);
        let persons = random.one_in(2);
        let is_wanted = |guid: &String| {
            let of = detail(&read, guid);
            let of = &of.detail().unwrap().header.audit;
            entities.contains(guid) && (!persons || of.type_name() == "Person")
        };
        let wanted: BTreeSet<String> = closure.into_iter().filter(is_wanted).collect();
        for order in [Order::Any, Order::Guid, Order::CreateTime { reverse: true }] {
            let mut query = RelatedQuery {
                wanted: WalkLimits::default(),
                order: order.clone(),
                page: EVERYTHING,
            };
            if persons {
                query.wanted.entity_types = vec![types.by_name("Person").unwrap()];
            }
            let find = |query: &RelatedQuery| {
                let start = detail(&read, "e0");
                let found = related(&read, &types, start, query, &Limits::default()).unwrap();
                let guids = found.iter().map(|of| of.guid().to_owned());
                guids.collect::<Vec<_>>()
            };
            let whole = find(&query);
            assert_eq!(whole.iter().cloned().collect::<BTreeSet<_>>(), wanted);
            assert_eq!(whole.len(), wanted.len());
            assert!(order == Order::Any || whole.is_sorted());
            let mut paged = Vec::new();
            for offset in (0..whole.len() + 3).step_by(3) {
                query.page = Page {
                    offset,
                    size: Some(3),
                };
                paged.extend(find(&query));
            }
            assert_eq!(paged, whole);
        }
    }
}

#[test]
fn relationships_of_an_entity_come_in_order_and_pages() {
    let types = Arc::new(Catalogue::built_in());
    let filled = graph(&mut Random::new(4), &types, 4, 40);
    let read = filled.read();
    let mut query = Query {
        subject: Subject::Relationships,
        types: TypeLimit::default(),
        find: FindRequest::default(),
        classifications: Vec::new(),
        condition: None,
        order: Order::Any,
        page: EVERYTHING,
        effort: None,
    };
    let (_, links) = walkable(&filled.all, &types, &WalkLimits::default());
    let has_end = |(_, ends): &(&String, &[String; 2])| ends.iter().any(|end| end == "e0");
    let wanted = links.iter().filter(has_end).map(|(guid, _)| guid.clone());
    let wanted: Vec<String> = wanted.collect();
    assert!(wanted.len() > 8);
    let find = |query: &Query| {
        let found = relationships_of_entity(&read, query, "e0", &Limits::default());
        let found = found.unwrap();
        let guids = found.iter().map(|of| of.link.guid.to_string());
        guids.collect::<Vec<_>>()
    };
    for order in [Order::Any, Order::Guid] {
        query.order = order;
        let mut paged = Vec::new();
        for offset in (0..40).step_by(4) {
            query.page = Page {
                offset,
                size: Some(4),
            };
            paged.extend(find(&query));
        }
        query.page = EVERYTHING;
        assert_eq!(paged, find(&query));
        if query.order == Order::Any {
            paged.sort_unstable();
        }
        assert_eq!(paged, wanted);
    }
}

#[test]
fn what_would_cost_too_much_is_refused() {
    let types = Arc::new(Catalogue::built_in());
    let mut all = Vec::new();
    for number in 0..500 {
        let detail = entity(&types, number, InstanceStatus::Active);
        all.push(StoredInstance::Entity(StoredEntity::Detail(detail)));
        let link = relationship(&types, number, [0, number], InstanceStatus::Active);
        all.push(StoredInstance::Relationship(link));
    }
    let filled = Filled::new(&types, all);
    let read = filled.read();
    let default = Limits::default();
    let limits = [
        (
            Message::TooManyExamined,
            Limits {
                examined_max: 300,
                ..default.clone()
            },
        ),
        (
            Message::TooMuchHeld,
            Limits {
                held_bytes_max: 50 << 10,
                ..default.clone()
            },
        ),
        (
            Message::TookTooLong,
            Limits {
                time_max: Duration::ZERO,
                ..default.clone()
            },
        ),
    ];
    let start = || detail(&read, "e0");
    let walked = WalkLimits::default();
    let query = RelatedQuery {
        wanted: walked.clone(),
        order: Order::Guid,
        page: EVERYTHING,
    };
    let all = Query {
        subject: Subject::Relationships,
        types: TypeLimit::default(),
        find: FindRequest::default(),
        classifications: Vec::new(),
        condition: None,
        order: Order::Any,
        page: EVERYTHING,
        effort: None,
    };
    for (message, limits) in &limits {
        let refused = |error: varve_omrs::OmrsError| {
            assert_eq!(error.exception, Exception::RepositoryError, "{error}");
            assert_eq!(error.message, *message);
        };
        refused(neighbourhood(&read, &types, start(), None, &walked, limits).unwrap_err());
        let ends = [start(), detail(&read, "e7")];
        refused(linking(&read, &types, ends, &FindRequest::default(), limits).unwrap_err());
        refused(related(&read, &types, start(), &query, limits).unwrap_err());
        refused(relationships_of_entity(&read, &all, "e0", limits).unwrap_err());
    }
}

#[test]
fn what_is_passed_by_is_not_held() {
    let types = Arc::new(Catalogue::built_in());
    let mut all = Vec::new();
    for number in 0..500 {
        let detail = entity(&types, number, InstanceStatus::Active);
        all.push(StoredInstance::Entity(StoredEntity::Detail(detail)));
        let ends = [number.max(1) - 1, number];
        let link = relationship(&types, number, ends, InstanceStatus::Active);
        all.push(StoredInstance::Relationship(link));
    }
    let filled = Filled::new(&types, all);
    let read = filled.read();
    let limits = Limits {
        held_bytes_max: 100 << 10,
        ..Limits::default()
    };
    let query = RelatedQuery {
        wanted: WalkLimits {
            classifications: vec!["Confidentiality".to_owned()],
            ..WalkLimits::default()
        },
        order: Order::Guid,
        page: EVERYTHING,
    };
    let found = related(&read, &types, detail(&read, "e0"), &query, &limits);
    assert_eq!(found.unwrap().len(), 0);
}

#[test]
fn paths_of_many_entities_need_no_recursion() {
    let types = Arc::new(Catalogue::built_in());
    let count = 1500;
    let mut all = Vec::new();
    for number in 0..count {
        let detail = entity(&types, number, InstanceStatus::Active);
        all.push(StoredInstance::Entity(StoredEntity::Detail(detail)));
        if number > 0 {
            let ends = [number - 1, number];
            let link = relationship(&types, number, ends, InstanceStatus::Active);
            all.push(StoredInstance::Relationship(link));
        }
    }
    let filled = Filled::new(&types, all);
    let read = filled.read();
    let ends = [0, count - 1].map(|number| detail(&read, &format!("e{number}")));
    let found = linking(
        &read,
        &types,
        ends,
        &FindRequest::default(),
        &Limits::default(),
    );
    let found = found.unwrap();
    assert_eq!(found.entities.len(), count);
    assert_eq!(found.relationships.len(), count - 1);
}
