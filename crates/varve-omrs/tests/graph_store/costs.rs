//! What searches look at: a page of one costs about the same however many instances there are.
//!
//! The instances and searches are those of the performance suite, on some of its types.
//! `-- --nocapture` shows the table.

mod examined;
mod searches;
mod suite;

use varve_omrs::instances::*;
use varve_omrs::requests::*;
use varve_omrs::types::InstanceStatus;

pub(crate) use examined::repository;

use crate::world::*;
use examined::Examined;
use searches::PAGE;
use suite::filled;

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
    let examined = Examined::new(world);
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
        let (found, looked_at) = examined.search(|of| of.find_entities(&request));
        let guids = found.iter().map(|entity| entity.header.guid().to_owned());
        (guids.collect::<Vec<_>>(), looked_at)
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
    let examined = Examined::new(world);
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
            let (found, looked_at) = examined.search(|of| of.find_entities(&request));
            assert_eq!(found.len(), found_of_few, "{order:?} {statuses:?}");
            assert!(
                looked_at < 20,
                "{order:?} {statuses:?}: looked at {looked_at}"
            );
        }
    }
}
