//! The relationships of one entity.

use std::ops::ControlFlow;

use crate::error::OmrsError;
use crate::matching::Target;
use crate::search::{Limits, Meter, Order, Query, relationship_bytes};
use crate::store::{Read, StoredRelationship};
use crate::types::InstanceStatus;

/// The relationships with an entity at either end: those of the query's type and status, in its order, the part of its page.
///
/// # Errors
/// `RepositoryErrorException` when there are more than the limits allow to look at, or the store fails.
pub fn relationships_of_entity(
    read: &dyn Read,
    query: &Query,
    guid: &str,
    limits: &Limits,
) -> Result<Vec<StoredRelationship>, OmrsError> {
    let meter = Meter::new(limits);
    let mut found = Vec::new();
    let is_ordered = query.order != Order::Any;
    let size = query.page.size.unwrap_or(usize::MAX);
    let end = query.page.offset.saturating_add(size);
    let mut matching = 0;
    read.relationships_of(guid, query.types.of, &mut |relationship| {
        meter.examine()?;
        let status = relationship.header.audit.status;
        if !query.find.takes(status.unwrap_or(InstanceStatus::Unknown)) {
            return Ok(ControlFlow::Continue(()));
        }
        matching += 1;
        if is_ordered || matching > query.page.offset {
            meter.hold(relationship_bytes(&relationship))?;
            found.push(relationship);
        }
        let is_full = !is_ordered && matching >= end;
        Ok(if is_full {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    if !is_ordered {
        return Ok(found);
    }
    let mut keyed: Vec<_> = found
        .into_iter()
        .map(|found| (query.order.key(&Target::from(&found)), found))
        .collect();
    keyed.sort_unstable_by(|one, other| {
        let one = (&one.0, one.1.header.guid());
        let other = (&other.0, other.1.header.guid());
        query.order.compare(one, other)
    });
    let page = keyed.into_iter().skip(query.page.offset).take(size);
    Ok(page.map(|(_, found)| found).collect())
}
