//! Searches in every way that indexes allow, compared with looking at everything.

pub(crate) mod indexed;
mod queries;

use std::collections::HashSet;
use std::sync::Arc;

use varve_omrs::Exception;
use varve_omrs::json::Millis;
use varve_omrs::matching::Target;
use varve_omrs::requests::Page;
use varve_omrs::search::{Limits, Order, Query, Searcher};
use varve_omrs::store::{Read, StoredEntity, StoredInstance, Subject, Walk, WalkBy};
use varve_omrs::types::{Catalogue, InstanceStatus};
use varve_testkit::random::Random;

use indexed::{Indexed, header};
use queries::{instances, query};

/// All that is asked for, found by looking at every instance.
fn expected(read: &Indexed, types: &Catalogue, query: &Query) -> Vec<String> {
    let is_asked_for = |instance: &&StoredInstance| {
        let audit = &header(instance).audit;
        let of = types.by_name(audit.type_name()).unwrap();
        let target = Target::from(*instance);
        let subject = match instance {
            StoredInstance::Entity(StoredEntity::Detail(_)) => Some(Subject::Entities),
            StoredInstance::Entity(StoredEntity::Proxy(_)) => None,
            StoredInstance::Relationship(_) => Some(Subject::Relationships),
        };
        let names = &query.classifications;
        subject == Some(query.subject)
            && query.find.takes(audit.status.unwrap())
            && query.types.of.is_none_or(|limit| types.is_a(of, limit))
            && (query.types.listed.is_empty()
                || query
                    .types
                    .listed
                    .iter()
                    .any(|limit| types.is_a(of, *limit)))
            && (names.is_empty()
                || target
                    .classifications
                    .iter()
                    .any(|carried| names.iter().any(|name| name == carried.name())))
            && query.condition.as_ref().is_none_or(|of| of.holds(&target))
    };
    let mut found: Vec<&StoredInstance> = read.all.iter().filter(is_asked_for).collect();
    let by_creation = Order::CreateTime { reverse: false };
    let order = match &query.order {
        Order::Any if read.serves(&WalkBy::CreateTime) => &by_creation,
        order => order,
    };
    found.sort_by(|one, other| {
        let one = (&order.key(&Target::from(*one)), header(one).guid());
        let other = (&order.key(&Target::from(*other)), header(other).guid());
        order.compare(one, other)
    });
    let guids = found
        .into_iter()
        .map(|found| header(found).guid().to_owned());
    guids.collect()
}

fn guids(found: &[StoredInstance]) -> Vec<String> {
    found
        .iter()
        .map(|of| header(of).guid().to_owned())
        .collect()
}

fn paged(
    searcher: &Searcher,
    read: &Indexed,
    types: &Arc<Catalogue>,
    query: &mut Query,
    size: usize,
) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        query.page = Page {
            offset: all.len(),
            size: Some(size),
        };
        let page = searcher.find(read, types, query, None).unwrap();
        assert!(page.len() <= size);
        all.extend(guids(&page));
        if page.len() < size {
            return all;
        }
    }
}

#[test]
fn every_way_gives_what_looking_at_everything_gives() {
    let types = Arc::new(Catalogue::built_in());
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let all = instances(&mut random, &types, 250);
        for _ in 0..40 {
            let mut read = Indexed::new(Arc::clone(&types), all.clone());
            read.forbid(&mut random);
            let mut query = query(&mut random, &types, &all);
            let wanted = expected(&read, &types, &query);
            let what = format!("seed {seed}, {query:?}, without {:?}", read.forbidden);
            let whole = Searcher::default().find(&read, &types, &query, None);
            assert_eq!(guids(&whole.unwrap()), wanted, "whole: {what}");
            let size = 1 + random.below(40);
            for state in [None, Some(1)] {
                read.state = state;
                let searcher = Searcher::default();
                let found = paged(&searcher, &read, &types, &mut query, size);
                assert_eq!(found, wanted, "pages of {size}, state {state:?}: {what}");
            }
        }
    }
}

#[test]
fn pages_go_on_only_while_nothing_changes() {
    let types = Arc::new(Catalogue::built_in());
    let mut random = Random::new(1);
    let all = instances(&mut random, &types, 300);
    let searcher = Searcher::default();
    for round in 0..200 {
        let mut read = Indexed::new(Arc::clone(&types), all.clone());
        read.state = Some(round);
        read.all.retain(|_| !random.one_in(4));
        let mut query = query(&mut random, &types, &all);
        query.condition = None;
        query.page = Page {
            offset: 5 * random.below(20),
            size: Some(5),
        };
        let wanted = expected(&read, &types, &query);
        let wanted = wanted.into_iter().skip(query.page.offset).take(5);
        let found = searcher.find(&read, &types, &query, None).unwrap();
        assert_eq!(guids(&found), wanted.collect::<Vec<_>>(), "{query:?}");
    }
}

#[test]
fn a_page_costs_no_more_for_those_before_it() {
    let types = Arc::new(Catalogue::built_in());
    let mut random = Random::new(3);
    let mut read = Indexed::new(Arc::clone(&types), instances(&mut random, &types, 3000));
    read.state = Some(7);
    let mut query = query(&mut random, &types, &read.all);
    query.condition = None;
    query.classifications.clear();
    query.find.statuses.clear();
    query.order = Order::Any;
    let searcher = Searcher::new(Limits { examined_max: 400 });
    let found = paged(&searcher, &read, &types, &mut query, 10);
    assert!(found.len() > 400, "{}", found.len());
    query.page.offset = found.len().next_multiple_of(10);
    let after = searcher.find(&read, &types, &query, None).unwrap();
    assert_eq!(guids(&after), Vec::<String>::new());
    query.page.offset -= 20;
    let error = Searcher::new(Limits { examined_max: 400 })
        .find(&read, &types, &query, None)
        .expect_err("from the start it is too far");
    assert_eq!(error.exception, Exception::RepositoryError);
}

#[test]
fn the_better_way_is_found() {
    let types = Arc::new(Catalogue::built_in());
    let mut random = Random::new(5);
    let read = Indexed::new(Arc::clone(&types), instances(&mut random, &types, 4000));
    let statuses = [InstanceStatus::Active];
    let mut frequent = query(&mut random, &types, &read.all);
    frequent.subject = Subject::Entities;
    frequent.types = Default::default();
    frequent.classifications.clear();
    frequent.find.statuses = statuses.to_vec();
    frequent.order = Order::UpdateTime { reverse: true };
    frequent.condition = Some(queries::text("n.*"));
    frequent.page = Page {
        offset: 0,
        size: Some(5),
    };
    let searcher = Searcher::default();
    let wanted: Vec<String> = expected(&read, &types, &frequent)
        .into_iter()
        .take(5)
        .collect();
    assert_eq!(
        guids(&searcher.find(&read, &types, &frequent, None).unwrap()),
        wanted
    );
    assert!(read.steps.get() < 1000, "{} steps", read.steps.get());
    read.steps.set(0);
    let mut rare = frequent.clone();
    rare.condition = Some(queries::text("\\Qonly once\\E"));
    assert_eq!(searcher.find(&read, &types, &rare, None).unwrap().len(), 1);
    assert!(read.steps.get() < 200, "{} steps", read.steps.get());
}

#[test]
fn the_double_walks_as_the_trait_says() {
    let types = Arc::new(Catalogue::built_in());
    let mut random = Random::new(9);
    let read = Indexed::new(Arc::clone(&types), instances(&mut random, &types, 200));
    let walk = Walk {
        subject: Subject::Entities,
        of: None,
        by: WalkBy::UpdateTime,
        reverse: true,
        after: None,
    };
    let mut times: Vec<Option<Millis>> = Vec::new();
    let mut seen = HashSet::new();
    read.walk(&walk, &mut |step| {
        times.push(header(&step.instance).audit.update_time);
        assert!(seen.insert(header(&step.instance).guid().to_owned()));
        Ok(std::ops::ControlFlow::Continue(()))
    })
    .unwrap();
    assert!(times.is_sorted_by(|one, other| one >= other) && times.contains(&None));
}
