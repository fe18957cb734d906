//! What the store renders without making objects is what the objects render as.

use varve_omrs::graph_store::GraphReader;
use varve_omrs::json::{Encode, Shared, encode};
use varve_omrs::matching::Facts;
use varve_omrs::store::*;

use super::parts::{header_of, properties_of};
use crate::world::*;

/// What is read of an entity and its relationships to pass them by is what they say themselves.
pub(super) fn compare_links(reader: &GraphReader, guid: &str) {
    use std::ops::ControlFlow::Continue;
    let mut whole = Vec::new();
    let read = reader.relationships_of(guid, None, &mut |found| {
        whole.push(found);
        Ok(Continue(()))
    });
    read.expect("read");
    let (mut links, mut rendered_links) = (Vec::new(), Vec::new());
    let read = reader.links_of(guid, &mut |link, content| {
        let rendered = reader.rendered_link(&link, content);
        rendered_links.push(rendered.expect("rendered"));
        links.push(link);
        Ok(Continue(()))
    });
    read.expect("read");
    for (link, rendered) in links.iter().zip(rendered_links) {
        let again = reader.rendered_relationship(link).expect("read");
        assert_eq!(
            format!("{rendered:?}"),
            format!("{:?}", again.expect("it was shown"))
        );
    }
    let mut of_each = vec![Vec::new(); 3];
    let read = reader.links_of_each(&[guid, "other", guid], &mut |at, link, _| {
        of_each[at].push(link);
        Ok(Continue(()))
    });
    read.expect("read");
    assert_eq!(of_each, [links.clone(), Vec::new(), links.clone()]);
    let types = reader.types();
    let link = |of: &StoredRelationship| Link::of(&types, of);
    assert_eq!(links, whole.iter().map(link).collect::<Vec<_>>());
    let known = |guid: &str| guid.len().is_multiple_of(2) || guid.ends_with('1');
    let mut others = Vec::new();
    let read = reader.rendered_relationships_of(guid, None, &known, &mut |found| {
        others.push(found);
        Ok(Continue(()))
    });
    read.expect("read");
    whole.retain(|of| !known(of.header.guid()));
    assert_eq!(others.len(), whole.len());
    for (rendered, whole) in others.into_iter().zip(whole) {
        let again = reader.rendered_relationship(&rendered.link).expect("read");
        let again = again.expect("it was shown");
        let ends = whole.ends.each_ref().map(|end| {
            let entity = reader.entity(end).expect("read").expect("an end");
            let made = RenderedEntity::new(&types, entity);
            let rendered = reader.rendered_entity(end).expect("read").expect("an end");
            compare_rendered(&rendered, &made);
            let proxy = reader.rendered_proxy(end).expect("read").expect("an end");
            assert_eq!(json(&proxy), json(rendered.proxy()));
            [rendered.proxy().clone(), made.proxy().clone()]
        });
        let [[one, made_one], [two, made_two]] = &ends;
        let made = RenderedRelationship::new(&types, whole).between([made_one, made_two]);
        for rendered in [rendered, again] {
            let rendered = rendered.between([one, two]);
            assert_eq!(json(&rendered), json(&made));
            assert_eq!(rendered, made);
        }
    }
    compare_life_status(reader, guid);
}

/// What is read of an entity at a glance is what it says itself.
fn compare_life_status(reader: &GraphReader, guid: &str) {
    let life_status = reader.entity(guid).expect("read").map(|of| LifeStatus {
        is_proxy: matches!(of, StoredEntity::Proxy(_)),
        status: of.header().audit.status,
    });
    assert_eq!(reader.life_status(guid).expect("read"), life_status);
    let glance = reader.glance(guid).expect("read");
    assert_eq!(
        glance.as_ref().map(|(life_status, _)| *life_status),
        life_status
    );
    if let Some((_, row)) = glance {
        let kept = reader.rendered_kept(&row).expect("rendered");
        let rendered = reader
            .rendered_entity(guid)
            .expect("read")
            .expect("an entity");
        compare_rendered(&kept, &rendered);
    }
}

/// Candidates of searches are rendered as the instances are.
pub(super) fn compare_kept(
    reader: &GraphReader,
    subject: Subject,
    found: &[(&String, Option<&StoredInstance>)],
) {
    let whole =
        |of: RenderedRelationship| json(&of.between([&Shared::default(), &Shared::default()]));
    let rendered = |kept: Candidate| match subject {
        Subject::Entities => {
            let rendered = reader.candidate_entity(&kept).expect("rendered");
            rendered.map(|it| json(&it))
        }
        Subject::Relationships => {
            let rendered = reader.candidate_relationship(kept).expect("rendered");
            rendered.map(whole)
        }
    };
    let types = reader.types();
    let made = |instance: &StoredInstance| match instance {
        StoredInstance::Entity(StoredEntity::Detail(entity)) => Some(json(entity)),
        StoredInstance::Entity(StoredEntity::Proxy(_)) => None,
        StoredInstance::Relationship(of) => {
            Some(whole(RenderedRelationship::new(&types, of.clone())))
        }
    };
    let life_status = |instance: &StoredInstance| match instance {
        StoredInstance::Entity(entity) => LifeStatus::from(entity),
        StoredInstance::Relationship(of) => LifeStatus::from(&of.header),
    };
    for (guid, instance) in found {
        let kept = reader.kept(subject, guid).expect("read");
        assert_eq!(kept.is_some(), instance.is_some(), "{guid}");
        if let (Some(kept), Some(instance)) = (kept, instance) {
            assert_eq!(kept.guid(), *guid);
            assert_eq!(rendered(kept), made(instance), "{guid}");
        }
    }
    let walk = all(subject, WalkBy::Guid);
    let walked = reader.walk(&walk, &mut |step| {
        let (_, instance) = found
            .iter()
            .find(|(guid, _)| *guid == step.instance.guid())
            .expect("one of them");
        let instance = instance.expect("it is there");
        assert_eq!(step.instance.life_status(), life_status(instance));
        assert_eq!(step.instance.audit(), &header_of(instance).audit);
        assert_eq!(step.instance.properties(), properties_of(instance));
        assert_eq!(rendered(step.instance.to_candidate()), made(instance));
        Ok(std::ops::ControlFlow::Continue(()))
    });
    walked.expect("a walk");
}

/// What stands for entities is the same whether they are read one by one or at once.
pub(super) fn compare_proxies(reader: &GraphReader, guids: &[&str]) {
    let mut at_once = vec![None; guids.len()];
    let read = reader.rendered_proxies(guids, &mut |at, proxy| {
        let former = at_once[at].replace(json(&proxy));
        assert!(former.is_none());
    });
    read.expect("read");
    for (guid, proxy) in guids.iter().zip(at_once) {
        let alone = reader.rendered_proxy(guid).expect("read");
        assert_eq!(proxy, alone.as_ref().map(json), "{guid}");
    }
}

pub(super) fn json<T: Encode>(of: &T) -> String {
    String::from_utf8(encode(of)).expect("JSON is text")
}

/// What is rendered straight from what is stored is what the object renders as.
fn compare_rendered(rendered: &RenderedEntity, made: &RenderedEntity) {
    assert_eq!(rendered.guid(), made.guid());
    assert_eq!(rendered.of(), made.of());
    assert_eq!(rendered.life_status(), made.life_status());
    assert_eq!(json(rendered.proxy()), json(made.proxy()));
    assert_eq!(rendered.proxy(), made.proxy());
    assert_eq!(rendered.detail().map(json), made.detail().map(json));
    assert_eq!(rendered.detail(), made.detail());
}
