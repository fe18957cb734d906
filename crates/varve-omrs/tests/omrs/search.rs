//! Searches, compared with looking at everything.

mod queries;

use std::sync::Arc;
use std::time::Duration;

use varve_omrs::OmrsError;
use varve_omrs::error::{Exception, Message};
use varve_omrs::graph_store::GraphReader;
use varve_omrs::instances::{
    ArrayPropertyValue, InstanceProperties, InstancePropertyValue, Primitive,
};
use varve_omrs::matching::{Condition, Effort, Pattern, Target, Test, search_condition};
use varve_omrs::requests::{Page, PropertyComparisonOperator, PropertyCondition, SearchProperties};
use varve_omrs::search::{Limits, Order, Query, Searcher};
use varve_omrs::store::{Candidate, StoredEntity, Subject};
use varve_omrs::types::{Catalogue, InstanceStatus};
use varve_testkit::random::Random;

use crate::filled::{Filled, StoredInstance, header};
use queries::{instances, query};

/// All that is asked for, found by looking at every instance.
fn expected(all: &[StoredInstance], types: &Catalogue, query: &Query) -> Vec<String> {
    let is_asked_for = |instance: &&StoredInstance| {
        let audit = &header(instance).audit;
        let of = types.by_name(audit.type_name()).unwrap();
        let target = Target::from(*instance);
        let subject = match instance {
            StoredInstance::Entity(StoredEntity::Detail(_)) => Some(Subject::Entities),
            StoredInstance::Entity(StoredEntity::Proxy(_)) => None,
            StoredInstance::Relationship(_) => Some(Subject::Relationships),
        };
        let carried = match instance {
            StoredInstance::Entity(entity) => entity.classifications(),
            StoredInstance::Relationship(_) => &[],
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
                || carried
                    .iter()
                    .any(|carried| names.iter().any(|name| name == carried.name())))
            && query.condition.as_ref().is_none_or(|of| of.holds(&target))
    };
    let mut found: Vec<&StoredInstance> = all.iter().filter(is_asked_for).collect();
    let by_creation = Order::CreateTime { reverse: false };
    let order = match &query.order {
        Order::Any => &by_creation,
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

fn guids(found: &[Candidate]) -> Vec<String> {
    found.iter().map(|of| of.guid().to_owned()).collect()
}

fn paged(
    searcher: &dyn Fn() -> Arc<Searcher>,
    read: &GraphReader,
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
        let page = searcher().find(read, types, query, None).unwrap();
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
        let count = *random.pick(&[20, 250, 600]);
        let filled = Filled::new(&types, instances(&mut random, &types, count));
        let (read, all) = (filled.read(), &filled.all);
        for _ in 0..40 {
            let mut query = query(&mut random, &types, all);
            let wanted = expected(all, &types, &query);
            let what = format!("seed {seed}, {query:?}");
            let whole = Searcher::default().find(&read, &types, &query, None);
            assert_eq!(guids(&whole.unwrap()), wanted, "whole: {what}");
            let size = 1 + random.below(40);
            // A searcher that has the pages before, and one that has none.
            let kept = Arc::new(Searcher::default());
            let searchers: [&dyn Fn() -> Arc<Searcher>; 2] =
                [&|| Arc::clone(&kept), &|| Arc::default()];
            for (has_pages, searcher) in [true, false].into_iter().zip(searchers) {
                let found = paged(searcher, &read, &types, &mut query, size);
                assert_eq!(found, wanted, "pages of {size}, {has_pages}: {what}");
            }
        }
    }
}

#[test]
fn pages_go_on_only_while_nothing_changes() {
    let types = Arc::new(Catalogue::built_in());
    let mut random = Random::new(1);
    let mut filled = Filled::new(&types, instances(&mut random, &types, 300));
    let every = filled.all.clone();
    let searcher = Searcher::default();
    let mut gone: Vec<StoredInstance> = Vec::new();
    for _ in 0..200 {
        filled.put(&gone);
        (gone, filled.all) = every.iter().cloned().partition(|_| random.one_in(8));
        filled.purge(&gone);
        let mut query = query(&mut random, &types, &every);
        query.condition = None;
        query.page = Page {
            offset: 5 * random.below(20),
            size: Some(5),
        };
        let wanted = expected(&filled.all, &types, &query);
        let wanted = wanted.into_iter().skip(query.page.offset).take(5);
        let found = searcher.find(&filled.read(), &types, &query, None);
        let found = guids(&found.unwrap());
        assert_eq!(found, wanted.collect::<Vec<_>>(), "{query:?}");
    }
}

/// A searcher that may look at so many instances.
fn looking_at(examined_max: usize) -> Searcher {
    Searcher::new(Limits {
        examined_max,
        ..Limits::default()
    })
}

#[test]
fn a_page_costs_no_more_for_those_before_it() {
    let types = Arc::new(Catalogue::built_in());
    let (filled, mut query) = many(&types);
    let read = filled.read();
    query.order = Order::Any;
    let searcher = Arc::new(looking_at(400));
    let found = paged(&|| Arc::clone(&searcher), &read, &types, &mut query, 10);
    assert!(found.len() > 400, "{}", found.len());
    query.page.offset = found.len().next_multiple_of(10);
    let after = searcher.find(&read, &types, &query, None).unwrap();
    assert_eq!(guids(&after), Vec::<String>::new());
    query.page.offset -= 20;
    let error = looking_at(400)
        .find(&read, &types, &query, None)
        .expect_err("from the start it is too far");
    assert_eq!(error.exception, Exception::RepositoryError);
    assert_eq!(error.message, Message::TooManyExamined);
}

#[test]
fn the_better_way_is_found() {
    let types = Arc::new(Catalogue::built_in());
    let mut random = Random::new(5);
    let filled = Filled::new(&types, instances(&mut random, &types, 4000));
    let read = filled.read();
    let statuses = [InstanceStatus::Active];
    let mut frequent = query(&mut random, &types, &filled.all);
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
    let wanted: Vec<String> = expected(&filled.all, &types, &frequent)
        .into_iter()
        .take(5)
        .collect();
    let found = looking_at(1000).find(&read, &types, &frequent, None);
    assert_eq!(guids(&found.unwrap()), wanted);
    let mut rare = frequent.clone();
    rare.condition = Some(queries::text("\\Qonly once\\E"));
    let found = looking_at(200).find(&read, &types, &rare, None);
    assert_eq!(found.unwrap().len(), 1);
}

/// A query for all entities.
fn everything(random: &mut Random, types: &Catalogue, all: &[StoredInstance]) -> Query {
    let mut query = query(random, types, all);
    query.subject = Subject::Entities;
    query.types = Default::default();
    query.condition = None;
    query.classifications.clear();
    query.find.statuses.clear();
    query
}

/// A store of many instances, and a query for all entities among them.
fn many(types: &Arc<Catalogue>) -> (Filled, Query) {
    let mut random = Random::new(11);
    let filled = Filled::new(types, instances(&mut random, types, 3000));
    let query = everything(&mut random, types, &filled.all);
    (filled, query)
}

/// An order that walks show, and one for which all must be collected.
fn orders() -> [Order; 3] {
    let property = |name: &str| Order::Property {
        name: name.to_owned(),
        reverse: false,
    };
    [Order::Any, property("qualifiedName"), property("version")]
}

#[test]
fn more_than_may_be_held_is_refused_and_pages_are_not() {
    let types = Arc::new(Catalogue::built_in());
    let (filled, mut query) = many(&types);
    let read = filled.read();
    let limits = Limits {
        held_bytes_max: 400 << 10,
        ..Limits::default()
    };
    for order in orders() {
        query.order = order.clone();
        query.page = Page {
            offset: 0,
            size: None,
        };
        let wanted = expected(&filled.all, &types, &query);
        assert!(wanted.len() > 1000, "{}", wanted.len());
        let searcher = Searcher::new(limits.clone());
        let error = searcher.find(&read, &types, &query, None).unwrap_err();
        assert_eq!(error.message, Message::TooMuchHeld, "{order:?}");
        assert_eq!(error.exception, Exception::RepositoryError);
        assert!(error.to_string().ends_with("request pages"), "{error}");
        query.page = Page {
            offset: 20,
            size: Some(20),
        };
        let found = searcher.find(&read, &types, &query, None).unwrap();
        assert_eq!(guids(&found), wanted[20..40], "{order:?}");
    }
}

#[test]
fn a_way_that_holds_too_much_leaves_the_others_to_answer() {
    let types = Arc::new(Catalogue::built_in());
    let mut answered = 0;
    let mut refused = 0;
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let filled = Filled::new(&types, instances(&mut random, &types, 250));
        let (read, all) = (filled.read(), &filled.all);
        for _ in 0..30 {
            let query = query(&mut random, &types, all);
            let wanted = expected(all, &types, &query);
            let wanted = wanted.into_iter().skip(query.page.offset);
            let size = query.page.size.unwrap_or(usize::MAX);
            let wanted: Vec<_> = wanted.take(size).collect();
            let searcher = Searcher::new(Limits {
                held_bytes_max: 24 << 10,
                ..Limits::default()
            });
            match searcher.find(&read, &types, &query, None) {
                Ok(found) => {
                    assert_eq!(guids(&found), wanted, "seed {seed}, {query:?}");
                    answered += usize::from(!wanted.is_empty());
                }
                Err(error) => {
                    assert_eq!(error.message, Message::TooMuchHeld);
                    refused += 1;
                }
            }
        }
    }
    assert!(answered > 20 && refused > 20, "{answered}, {refused}");
}

#[test]
fn a_search_ends_when_its_time_is_up() {
    let types = Arc::new(Catalogue::built_in());
    let (filled, mut query) = many(&types);
    let searcher = Searcher::new(Limits {
        examined_max: 500,
        time_max: Duration::ZERO,
        ..Limits::default()
    });
    for order in orders() {
        query.order = order;
        query.page.size = None;
        let error = searcher
            .find(&filled.read(), &types, &query, None)
            .unwrap_err();
        assert_eq!(error.message, Message::TookTooLong);
        assert_eq!(error.exception, Exception::RepositoryError);
    }
}

const LONG: Duration = Duration::from_secs(3600);

/// How often an entity with this name is found by an expression, when that may take so long.
fn found_by(expression: &str, text: &str, time_max: Duration) -> Result<usize, OmrsError> {
    let types = Arc::new(Catalogue::built_in());
    let mut random = Random::new(11);
    let mut all = instances(&mut random, &types, 30);
    let mut query = everything(&mut random, &types, &all);
    all.retain(|instance| {
        matches!(instance, StoredInstance::Entity(StoredEntity::Detail(it))
            if !it.header.audit.is_deleted() && it.properties.is_some())
    });
    all.truncate(1);
    if let Some(StoredInstance::Entity(StoredEntity::Detail(entity))) = all.first_mut() {
        let properties = InstanceProperties::default();
        let value = InstancePropertyValue::string(text);
        entity.properties = Some(properties.with("qualifiedName", value));
    }
    let filled = Filled::new(&types, all);
    let effort = Effort::new(time_max);
    let pattern = Pattern::of_request(expression, "p", &effort)?;
    query.condition = Some(Condition::Property {
        name: "qualifiedName".to_owned(),
        test: Test::Matches(pattern),
    });
    query.effort = Some(effort);
    query.page.size = None;
    if time_max != LONG {
        std::thread::sleep(time_max);
    }
    let found = Searcher::default().find(&filled.read(), &types, &query, None)?;
    Ok(found.len())
}

#[test]
fn a_search_ends_between_long_comparisons() {
    let text = "ab".repeat(500_000);
    assert_eq!(found_by("[ab]+", &text, LONG), Ok(1));
    assert_eq!(found_by("[ab]+c", &text, LONG), Ok(0));
    // One instance, of which a search without expressions would not look at the clock.
    let error = found_by("[ab]+", &text, Duration::from_millis(500)).unwrap_err();
    assert_eq!(error.message, Message::TookTooLong);
    assert_eq!(error.exception, Exception::RepositoryError);
}

#[test]
fn a_comparison_that_could_take_minutes_is_refused() {
    // Half a thousand repetitions, each of which could begin anywhere.
    let expression = "(?:[ab]{1,500}){1,4}c";
    let text = "ab".repeat(2_000_000);
    let error = found_by(expression, &text, LONG).unwrap_err();
    assert_eq!(error.message, Message::ComparisonTooLong);
    assert_eq!(found_by(expression, "abc", LONG), Ok(1));
    // What people write is compared with the longest texts.
    assert_eq!(found_by("ab.*ab.*", &text, LONG), Ok(1));
}

fn likes(values: impl Iterator<Item = String>) -> Result<Option<Condition>, OmrsError> {
    let condition = |value: String| PropertyCondition {
        property: Some("qualifiedName".to_owned()),
        operator: Some(PropertyComparisonOperator::Like),
        value: Some(InstancePropertyValue::string(&value)),
        ..Default::default()
    };
    let search = SearchProperties {
        conditions: values.map(condition).collect(),
        ..Default::default()
    };
    let effort = Effort::new(Duration::MAX);
    search_condition(&search, "matchProperties", &effort)
}

#[test]
fn regular_expressions_of_a_request_are_counted() {
    let general = |number: usize| format!("[ab]+{number}");
    assert!(likes((0..100).map(general)).unwrap().is_some());
    let error = likes((0..101).map(general)).unwrap_err();
    assert_eq!(error.message, Message::TooManyPatterns);
    assert_eq!(error.exception, Exception::InvalidParameter);
    // The same counts again: it would be compared again.
    let error = likes((0..101).map(|_| general(0))).unwrap_err();
    assert_eq!(error.message, Message::TooManyPatterns);
    // Those that quote one text cost nothing.
    let quoted = |number: usize| format!(".*\\Q{number}\\E.*");
    let plain = |number: usize| format!("plain text {number}");
    let all = (0..10_000).map(quoted).chain((0..10_000).map(plain));
    assert!(likes(all).unwrap().is_some());
}

#[test]
fn regular_expressions_of_a_request_are_weighed() {
    let large = |number: usize| format!("[a-z]{{1,2000}}{number}");
    assert!(likes((0..5).map(large)).unwrap().is_some());
    let error = likes((0..90).map(large)).unwrap_err();
    assert_eq!(error.message, Message::TooManyPatterns);
}

#[test]
fn a_list_of_values_has_an_end() {
    let of = |count: usize| {
        let mut values = InstanceProperties::default();
        for number in 0..count {
            let value = InstancePropertyValue::primitive(Primitive::Int(number as i32));
            values.values.insert(number.to_string(), value);
        }
        let search = SearchProperties {
            conditions: vec![PropertyCondition {
                property: Some("version".to_owned()),
                operator: Some(PropertyComparisonOperator::In),
                value: Some(InstancePropertyValue::Array(ArrayPropertyValue {
                    count: count as i32,
                    values: Some(values),
                    ..Default::default()
                })),
                ..Default::default()
            }],
            ..Default::default()
        };
        search_condition(&search, "matchProperties", &Effort::new(Duration::MAX))
    };
    assert!(of(10_000).unwrap().is_some());
    let error = of(10_001).unwrap_err();
    assert_eq!(error.message, Message::TooManyValues);
    assert_eq!(error.exception, Exception::InvalidParameter);
}
