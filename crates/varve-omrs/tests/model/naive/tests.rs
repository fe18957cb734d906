//! The naive repository by itself: sentences of the contract that are easy to get wrong. Expected
//! values are written out.

use varve_omrs::Exception;
use varve_omrs::instances::{
    EntityDetail, EntityProxy, InstanceHeader, InstanceProperties, InstancePropertyValue,
    Relationship,
};
use varve_omrs::json::Millis;
use varve_omrs::requests::{
    EntityCreateRequest, EntityFindRequest, EntityNeighborhoodFindRequest,
    EntityPropertyFindRequest, FindRequest, HistoryRangeRequest, HistorySequencingOrder,
    RelatedEntitiesFindRequest, RelationshipCreateRequest, SequencingOrder,
    TypeDefValidationForRequest, TypeLimitedFindRequest,
};
use varve_omrs::types::{Catalogue, InstanceStatus};

use super::Naive;
use super::matching::pattern;
use crate::call::{Answer, Answered, InstanceKind, Read, Write};

const USER: &str = "ada";

/// A repository in which entities are called as tests like.
struct World(Naive);

impl World {
    fn new() -> Self {
        Self(Naive::new(Catalogue::built_in(), ("home", "Home")))
    }

    /// Sets the time and makes the call.
    fn write(&mut self, at: i64, write: &Write) -> Answered {
        self.0.now = Millis(at);
        self.0.write(USER, write)
    }

    fn guid_of(&self, name: &str) -> String {
        let index = self.0.types.by_name(name).unwrap();
        self.0.types.get(index).guid().to_owned()
    }

    fn of(&self, name: &str) -> TypeDefValidationForRequest {
        TypeDefValidationForRequest {
            type_guid: Some(self.guid_of(name)),
            type_name: Some(name.to_owned()),
        }
    }

    fn add(&mut self, at: i64, guid: &str, of: &str) -> EntityDetail {
        self.0.next_guid = guid.to_owned();
        let request = EntityCreateRequest {
            type_guid: Some(self.guid_of(of)),
            properties: Some(named(&format!("name of {guid}"))),
            ..Default::default()
        };
        let answer = self.write(at, &Write::AddEntity(guid.to_owned(), request));
        entity(answer)
    }

    /// `from` and `to` become linked by a synonym.
    fn link(&mut self, at: i64, guid: &str, from: &str, to: &str) -> Answered {
        self.0.next_guid = guid.to_owned();
        let request = RelationshipCreateRequest {
            type_guid: Some(self.guid_of("Synonym")),
            entity_one_guid: Some(from.to_owned()),
            entity_two_guid: Some(to.to_owned()),
            ..Default::default()
        };
        self.write(at, &Write::AddRelationship(guid.to_owned(), request))
    }

    fn get(&self, guid: &str, at: Option<i64>) -> Answered {
        let at = at.map(Millis);
        self.0
            .read(&Read::Get(InstanceKind::Entity, guid.to_owned(), at))
    }

    fn delete(&mut self, at: i64, guid: &str, of: &str) -> Answered {
        let of = self.of(of);
        self.write(
            at,
            &Write::Delete(InstanceKind::Entity, guid.to_owned(), of),
        )
    }

    /// Terms a, b, c, d in a chain, and e by itself.
    fn chain() -> Self {
        let mut world = Self::new();
        for guid in ["a", "b", "c", "d", "e"] {
            world.add(1, guid, "GlossaryTerm");
        }
        for (guid, from, to) in [("ab", "a", "b"), ("cb", "c", "b"), ("cd", "c", "d")] {
            world.link(2, guid, from, to).unwrap();
        }
        world
    }
}

fn named(name: &str) -> InstanceProperties {
    InstanceProperties::default().with("qualifiedName", InstancePropertyValue::string(name))
}

fn entity(answer: Answered) -> EntityDetail {
    match answer {
        Ok(Answer::Entity(Some(entity))) => entity,
        other => panic!("{other:?} is not an entity"),
    }
}

fn guids(answer: Answered) -> Vec<String> {
    let guid = |header: &InstanceHeader| header.guid().to_owned();
    match answer.unwrap() {
        Answer::Entities(list) => list.iter().map(|one| guid(&one.header)).collect(),
        Answer::Relationships(list) => list.iter().map(|one| guid(&one.header)).collect(),
        Answer::Graph(entities, links) => {
            let entities = entities.iter().map(|one| guid(&one.header));
            let links = links.iter().map(|one| guid(&one.header));
            entities.chain(links).collect()
        }
        other => panic!("{other:?} is no list"),
    }
}

#[test]
fn an_update_is_a_new_version_and_the_old_one_stays_in_the_past() {
    let mut world = World::new();
    let new = world.add(10, "a", "GlossaryTerm");
    assert_eq!(
        (new.header.audit.version, new.header.audit.update_time),
        (1, None)
    );
    let update = Write::UpdateProperties(InstanceKind::Entity, "a".to_owned(), named("other"));
    let changed = entity(world.write(20, &update));
    let audit = &changed.header.audit;
    assert_eq!((audit.version, audit.update_time), (2, Some(Millis(20))));
    assert_eq!(audit.maintained_by, [USER]);
    assert_eq!(entity(world.get("a", None)), changed);
    assert_eq!(entity(world.get("a", Some(19))), new);
    assert_eq!(world.get("a", Some(9)), Err(Exception::EntityNotKnown));
    assert_eq!(world.get("a", Some(21)), Err(Exception::InvalidParameter));
    let undone = entity(world.write(30, &Write::Undo(InstanceKind::Entity, "a".to_owned())));
    assert_eq!(undone.header.audit.version, 3);
    assert_eq!(undone.properties, new.properties);
}

#[test]
fn a_change_of_a_classification_leaves_the_version_of_the_entity() {
    let mut world = World::new();
    world.add(10, "a", "GlossaryTerm");
    let classify = Write::Classify("a".to_owned(), "SpineObject".to_owned(), None);
    let classified = entity(world.write(20, &classify));
    assert_eq!(classified.header.audit.version, 1);
    assert_eq!(classified.classifications[0].audit.version, 1);
    assert_eq!(
        world.write(30, &classify),
        Err(Exception::ClassificationError)
    );
    let range = HistoryRangeRequest {
        order: Some(HistorySequencingOrder::Forwards),
        ..Default::default()
    };
    let history = Read::History(InstanceKind::Entity, "a".to_owned(), range);
    assert_eq!(guids(world.0.read(&history)), ["a", "a"]);
    let wrong = Write::Classify("a".to_owned(), "PrimaryKey".to_owned(), None);
    assert_eq!(world.write(30, &wrong), Err(Exception::ClassificationError));
}

#[test]
fn the_range_of_a_history_takes_its_start_and_not_its_end() {
    let mut world = World::new();
    world.add(10, "a", "GlossaryTerm");
    for at in [20, 20, 30] {
        let update = Write::UpdateProperties(InstanceKind::Entity, "a".to_owned(), named("x"));
        world.write(at, &update).unwrap();
    }
    let cases = [
        (None, None, vec![4, 3, 2, 1]),
        (Some(20), None, vec![4, 3, 2]),
        (Some(21), None, vec![4, 3]),
        (Some(10), Some(20), vec![1]),
        (Some(20), Some(21), vec![3, 2]),
        (None, Some(10), vec![]),
        (Some(40), None, vec![4]),
    ];
    for (from, to, wanted) in cases {
        let range = HistoryRangeRequest {
            from_time: from.map(Millis),
            to_time: to.map(Millis),
            ..Default::default()
        };
        let history = Read::History(InstanceKind::Entity, "a".to_owned(), range);
        let Ok(Answer::Entities(found)) = world.0.read(&history) else {
            panic!("a list");
        };
        let versions: Vec<i64> = found.iter().map(|one| one.header.audit.version).collect();
        assert_eq!(versions, wanted, "{from:?} to {to:?}");
    }
}

#[test]
fn a_deleted_entity_is_found_by_its_status_only_and_can_come_back() {
    let mut world = World::chain();
    let deleted = entity(world.delete(10, "b", "GlossaryTerm"));
    let audit = &deleted.header.audit;
    assert_eq!(audit.status_on_delete, Some(InstanceStatus::Active));
    assert_eq!(world.get("b", None), Err(Exception::EntityNotKnown));
    assert_eq!(
        world.delete(11, "b", "GlossaryTerm"),
        Err(Exception::EntityNotKnown)
    );
    let find = |statuses: &[InstanceStatus]| {
        let mut request = EntityFindRequest::default();
        request.instances.of_subtypes.of_type.paged.find.statuses = statuses.to_vec();
        request.instances.of_subtypes.of_type.paged.order = Some(SequencingOrder::Guid);
        Read::FindEntities(request)
    };
    assert_eq!(guids(world.0.read(&find(&[]))), ["a", "c", "d", "e"]);
    let only_deleted = find(&[InstanceStatus::Deleted]);
    assert_eq!(guids(world.0.read(&only_deleted)), ["b"]);
    let links = |world: &World| {
        let all = world.0.relationships(None);
        all.iter()
            .filter(|one| one.header.audit.is_deleted())
            .count()
    };
    assert_eq!(links(&world), 2, "its relationships are deleted with it");
    let restored = entity(world.write(20, &Write::Restore(InstanceKind::Entity, "b".to_owned())));
    assert_eq!(restored.header.audit.status, Some(InstanceStatus::Active));
    assert_eq!(restored.header.audit.version, 3);
    assert_eq!(links(&world), 2, "and stay so");
}

#[test]
fn undoing_passes_over_what_was_deleted() {
    let mut world = World::new();
    let new = world.add(10, "a", "GlossaryTerm");
    let update = Write::UpdateProperties(InstanceKind::Entity, "a".to_owned(), named("other"));
    let changed = entity(world.write(20, &update));
    world.delete(30, "a", "GlossaryTerm").unwrap();
    let restore = Write::Restore(InstanceKind::Entity, "a".to_owned());
    assert_eq!(entity(world.write(40, &restore)).header.audit.version, 4);
    let undo = Write::Undo(InstanceKind::Entity, "a".to_owned());
    let undone = entity(world.write(50, &undo));
    let audit = &undone.header.audit;
    assert_eq!((audit.version, audit.status), (5, new.header.audit.status));
    assert_eq!(undone.properties, changed.properties);
}

#[test]
fn a_newer_proxy_leaves_classifications_that_are_homed_here() {
    let mut world = World::new();
    let template = world.add(3, "template", "GlossaryTerm");
    let mut header = template.header;
    header.guid = Some("far".to_owned());
    header.audit.metadata_collection_id = Some("elsewhere".to_owned());
    let mut proxy = EntityProxy {
        header,
        ..Default::default()
    };
    let classify = Write::ClassifyProxy(proxy.clone(), "SpineObject".to_owned(), None);
    world.write(10, &classify).unwrap();
    proxy.header.audit.version = 2;
    world
        .write(20, &Write::AddEntityProxy(proxy.clone()))
        .unwrap();
    let carried = world.0.classifications("far");
    assert_eq!(carried.len(), 1);
    assert_eq!(carried[0].name(), "SpineObject");
    proxy.header.guid = Some("nobody".to_owned());
    proxy.header.audit.metadata_collection_id = Some("home".to_owned());
    let own = Write::ClassifyProxy(proxy.clone(), "SpineObject".to_owned(), None);
    assert_eq!(world.write(30, &own), Err(Exception::EntityNotKnown));
    let add = Write::AddEntityProxy(proxy);
    assert_eq!(world.write(30, &add), Err(Exception::InvalidParameter));
}

#[test]
fn a_purge_takes_deleted_entities_only_and_all_of_their_past() {
    let mut world = World::chain();
    let purge = Write::Purge(
        InstanceKind::Entity,
        "b".to_owned(),
        world.of("GlossaryTerm"),
    );
    assert_eq!(world.write(10, &purge), Err(Exception::EntityNotDeleted));
    world.delete(20, "b", "GlossaryTerm").unwrap();
    assert_eq!(world.write(30, &purge), Ok(Answer::Nothing));
    assert_eq!(world.get("b", Some(15)), Err(Exception::EntityNotKnown));
    let known = Read::IsKnown(InstanceKind::Relationship, "ab".to_owned());
    assert_eq!(world.0.read(&known), Ok(Answer::Relationship(None)));
}

#[test]
fn an_entity_that_is_re_identified_takes_its_relationships_along() {
    let mut world = World::chain();
    let of = world.of("GlossaryTerm");
    let write = Write::ReIdentify(InstanceKind::Entity, "b".to_owned(), "new".to_owned(), of);
    let renamed = entity(world.write(10, &write));
    assert_eq!(renamed.header.re_identified_from_guid.as_deref(), Some("b"));
    assert_eq!(renamed.header.audit.version, 2);
    assert_eq!(world.get("b", None), Err(Exception::EntityNotKnown));
    let request = TypeLimitedFindRequest::default();
    let links = Read::RelationshipsForEntity("new".to_owned(), request);
    assert_eq!(guids(world.0.read(&links)), ["ab", "cb"]);
}

#[test]
fn a_copy_brings_proxies_which_a_full_copy_replaces() {
    let mut world = World::chain();
    let mut copy = world.add(3, "template", "GlossaryTerm");
    copy.header.guid = Some("far".to_owned());
    copy.header.audit.metadata_collection_id = Some("elsewhere".to_owned());
    let Answer::Relationship(Some(link)) = world.link(3, "t", "template", "a").unwrap() else {
        panic!("a relationship");
    };
    let mut link: Relationship = link;
    link.header.guid = Some("far link".to_owned());
    link.header.audit.metadata_collection_id = Some("elsewhere".to_owned());
    let mut far = link.entity_one.take().unwrap();
    far.header = copy.header.clone();
    link.entity_one = Some(far);
    world.write(10, &Write::SaveRelationshipCopy(link)).unwrap();
    assert_eq!(world.get("far", None), Err(Exception::EntityProxyOnly));
    assert!(world.0.read(&Read::Summary("far".to_owned())).is_ok());
    world
        .write(20, &Write::SaveEntityCopy(copy.clone()))
        .unwrap();
    assert_eq!(entity(world.get("far", None)), copy);
    let update = Write::UpdateProperties(InstanceKind::Entity, "far".to_owned(), named("x"));
    assert_eq!(world.write(30, &update), Err(Exception::InvalidParameter));
}

#[test]
fn walks_give_what_is_within_reach_and_no_more() {
    let world = World::chain();
    let around = |guid: &str, level: i32| {
        let request = EntityNeighborhoodFindRequest::default();
        guids(
            world
                .0
                .read(&Read::Neighborhood(guid.to_owned(), level, request)),
        )
    };
    assert_eq!(around("b", 0), ["b"]);
    assert_eq!(around("b", 1), ["a", "b", "c", "ab", "cb"]);
    assert_eq!(around("a", -1), ["a", "b", "c", "d", "ab", "cb", "cd"]);
    let mut request = RelatedEntitiesFindRequest::default();
    request.paged.order = Some(SequencingOrder::Guid);
    request.paged.page_size = 2;
    request.paged.offset = 1;
    let related = Read::Related("d".to_owned(), request);
    assert_eq!(guids(world.0.read(&related)), ["b", "c"]);
    let linking = |start: &str, end: &str| {
        let request = FindRequest::default();
        guids(
            world
                .0
                .read(&Read::Linking(start.to_owned(), end.to_owned(), request)),
        )
    };
    assert_eq!(linking("a", "c"), ["a", "b", "c", "ab", "cb"]);
    assert_eq!(linking("a", "e"), [""; 0]);
}

#[test]
fn expressions_are_javas_and_match_whole_texts() {
    let cases = [
        (r"\Qa.b\E", "a.b", true),
        (r"\Qa.b\E", "axb", false),
        (r"\Qa\E.*", "abc", true),
        (r"\Qa\E.*", "bac", false),
        (r".*\Qa\E.*", "bac", true),
        (r"(?i)\QABC\E", "abc", true),
        (r"\Qa\E\\E\Qb\E", r"a\Eb", true),
        ("a|b", "bc", false),
        ("a.", "a\n", false),
        ("", "", true),
    ];
    for (java, text, wanted) in cases {
        assert_eq!(
            pattern(java).unwrap().is_match(text),
            wanted,
            "{java} {text}"
        );
    }
    let refused = pattern("(?=a)").map(|_| ());
    assert_eq!(refused, Err(Exception::FunctionNotSupported));
}

#[test]
fn a_type_finds_its_subtypes_and_their_properties() {
    let mut world = World::new();
    world.add(1, "a", "Database");
    world.add(2, "b", "GlossaryTerm");
    let find = |of: Option<String>, name: &str| {
        let mut request = EntityPropertyFindRequest::default();
        request.matching.of_type.type_guid = of;
        request.matching.match_properties = Some(named(name));
        Read::FindEntitiesByProperty(request)
    };
    let asset = Some(world.guid_of("Asset"));
    assert_eq!(guids(world.0.read(&find(asset.clone(), "name.*"))), ["a"]);
    assert_eq!(guids(world.0.read(&find(None, "name.*"))), ["a", "b"]);
    assert_eq!(guids(world.0.read(&find(None, ".*of b"))), ["b"]);
    assert_eq!(guids(world.0.read(&find(asset, "ame.*"))), [""; 0]);
    let nowhere = find(Some("no type".to_owned()), "x");
    assert_eq!(world.0.read(&nowhere), Err(Exception::TypeError));
}
