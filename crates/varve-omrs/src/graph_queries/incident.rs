//! The relationships of one entity.

use std::ops::ControlFlow;

use crate::error::OmrsError;
use crate::graph_store::GraphReader;
use crate::matching::Target;
use crate::search::{Limits, Meter, Order, Query, relationship_bytes, rendered_relationship_bytes};
use crate::store::RenderedRelationship;
use crate::types::InstanceStatus;

/// A page of the relationships of an entity, in the query's order. They have the query's type and
/// status, and the entity is at either end.
///
/// # Errors
/// `RepositoryErrorException` when a limit is exceeded, or the store fails.
pub fn relationships_of_entity(
    read: &GraphReader,
    query: &Query,
    guid: &str,
    limits: &Limits,
) -> Result<Vec<RenderedRelationship>, OmrsError> {
    if query.order != Order::Any {
        return ordered(read, query, guid, limits);
    }
    let meter = Meter::new(limits);
    let mut found = Vec::new();
    let end = query
        .page
        .size
        .map(|size| query.page.offset.saturating_add(size));
    let mut matching = 0;
    let mut visit = |relationship: RenderedRelationship| {
        meter.examine()?;
        let status = relationship.link.status;
        if query.find.takes(status.unwrap_or(InstanceStatus::Unknown)) {
            matching += 1;
            if matching > query.page.offset {
                meter.hold(rendered_relationship_bytes(&relationship))?;
                found.push(relationship);
            }
        }
        Ok(match end {
            Some(end) if matching >= end => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    };
    read.rendered_relationships_of(guid, query.types.of, &|_| false, &mut visit)?;
    Ok(found)
}

fn ordered(
    read: &GraphReader,
    query: &Query,
    guid: &str,
    limits: &Limits,
) -> Result<Vec<RenderedRelationship>, OmrsError> {
    let meter = Meter::new(limits);
    let mut found = Vec::new();
    read.relationships_of(guid, query.types.of, &mut |relationship| {
        meter.examine()?;
        let status = relationship.header.audit.status;
        if query.find.takes(status.unwrap_or(InstanceStatus::Unknown)) {
            meter.hold(relationship_bytes(&relationship))?;
            found.push((query.order.key(&Target::from(&relationship)), relationship));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    found.sort_unstable_by(|(one_key, one), (other_key, other)| {
        let one = (one_key, one.header.guid());
        let other = (other_key, other.header.guid());
        query.order.compare(one, other)
    });
    let types = read.types();
    let size = query.page.size.unwrap_or(usize::MAX);
    let page = found.into_iter().skip(query.page.offset).take(size);
    Ok(page
        .map(|(_, relationship)| RenderedRelationship::new(&types, relationship))
        .collect())
}
