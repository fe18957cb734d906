//! What is so many steps away from an entity, and everything that is connected to it.

use std::collections::{HashSet, VecDeque};

use super::{Step, Stepper};
use crate::error::OmrsError;
use crate::instances::EntityDetail;
use crate::matching::Target;
use crate::requests::{FindRequest, Page};
use crate::search::{Limits, Order};
use crate::store::{Read, StoredRelationship};
use crate::types::{Catalogue, TypeIndex};

/// A part of the graph: entities, and relationships between them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SubGraph {
    /// The entities, the nearest first.
    pub entities: Vec<EntityDetail>,
    /// The relationships.
    pub relationships: Vec<StoredRelationship>,
}

/// Which entities and relationships are walked along.
#[derive(Debug, Clone, Default)]
pub struct WalkLimits {
    /// Which status both must have; none listed = any but DELETED.
    pub find: FindRequest,
    /// Types of which an entity must be one; none listed = no matter.
    pub entity_types: Vec<TypeIndex>,
    /// Types of which a relationship must be one; none listed = no matter.
    pub relationship_types: Vec<TypeIndex>,
    /// Classifications of which an entity must have one; none listed = no matter.
    pub classifications: Vec<String>,
}

/// What is asked of all that is connected to an entity: which are wanted, in which order, which page.
#[derive(Debug, Clone)]
pub struct RelatedQuery {
    /// Which entities are wanted: all are walked along that have the right status.
    pub wanted: WalkLimits,
    /// The order.
    pub order: Order,
    /// The part that is asked for.
    pub page: Page,
}

/// The entity `start` and all that is at most `levels` relationships away from it, `None` = at any distance, with the
/// relationships that lead there.
///
/// # Errors
/// `RepositoryErrorException` when it is more than the limits allow to look at, or the store fails.
pub fn neighbourhood(
    read: &dyn Read,
    types: &Catalogue,
    start: EntityDetail,
    levels: Option<usize>,
    walked: &WalkLimits,
    limits: &Limits,
) -> Result<SubGraph, OmrsError> {
    let stepper = Stepper::new(read, types, walked, limits);
    let mut found: HashSet<String> = HashSet::from([start.header.guid().to_owned()]);
    let mut passed: HashSet<String> = HashSet::new();
    let mut graph = SubGraph::default();
    let mut border = vec![start.header.guid().to_owned()];
    graph.entities.push(start);
    let mut level = 0;
    while !border.is_empty() && levels.is_none_or(|levels| level < levels) {
        let mut next = Vec::new();
        for from in border {
            let is_passed = |guid: &str| passed.contains(guid);
            for relationship in stepper.relationships(&from, &is_passed)? {
                let to = other_end(&relationship.ends, &from);
                if !found.contains(to) {
                    let Some(entity) = stepper.entity(to)? else {
                        stepper.let_go(&relationship);
                        continue;
                    };
                    found.insert(to.to_owned());
                    next.push(to.to_owned());
                    graph.entities.push(entity);
                }
                passed.insert(relationship.header.guid().to_owned());
                graph.relationships.push(relationship);
            }
        }
        border = next;
        level += 1;
    }
    Ok(graph)
}

/// The entity `start` and all that is connected to it over any number of relationships: those that are wanted, in the order
/// and page that are asked for. Where no order is asked for, the nearest come first, and no more is walked than the page
/// needs.
///
/// # Errors
/// As [`neighbourhood`].
pub fn related(
    read: &dyn Read,
    types: &Catalogue,
    start: EntityDetail,
    query: &RelatedQuery,
    limits: &Limits,
) -> Result<Vec<EntityDetail>, OmrsError> {
    let everywhere = WalkLimits {
        find: query.wanted.find.clone(),
        ..WalkLimits::default()
    };
    let stepper = Stepper::new(read, types, &everywhere, limits);
    let wanted = Step::new(types, &query.wanted);
    let size = query.page.size.unwrap_or(usize::MAX);
    let enough = match query.order {
        Order::Any => query.page.offset.saturating_add(size),
        _ => usize::MAX,
    };
    let mut seen: HashSet<String> = HashSet::from([start.header.guid().to_owned()]);
    let mut border = VecDeque::from([start.header.guid().to_owned()]);
    let mut found = Vec::new();
    if wanted.takes_entity(&start) {
        found.push(start);
    }
    while found.len() < enough
        && let Some(from) = border.pop_front()
    {
        for link in stepper.links(&from)? {
            stepper.let_go_link(&link);
            let to = other_end(&link.ends, &from);
            if seen.contains(to) {
                continue;
            }
            seen.insert(to.to_owned());
            let Some(entity) = stepper.entity(to)? else {
                continue;
            };
            border.push_back(to.to_owned());
            if wanted.takes_entity(&entity) {
                found.push(entity);
            } else {
                stepper.let_go_entity(&entity);
            }
            if found.len() >= enough {
                break;
            }
        }
    }
    if query.order != Order::Any {
        sort(&query.order, &mut found);
    }
    Ok(found
        .into_iter()
        .skip(query.page.offset)
        .take(size)
        .collect())
}

fn sort(order: &Order, found: &mut Vec<EntityDetail>) {
    let taken = std::mem::take(found);
    let mut keyed: Vec<_> = taken
        .into_iter()
        .map(|entity| {
            let target = Target {
                audit: &entity.header.audit,
                header: Some(&entity.header),
                properties: entity.properties.as_ref(),
                classifications: &entity.classifications,
            };
            (order.key(&target), entity)
        })
        .collect();
    keyed.sort_unstable_by(|one, other| {
        let one = (&one.0, one.1.header.guid());
        let other = (&other.0, other.1.header.guid());
        order.compare(one, other)
    });
    found.extend(keyed.into_iter().map(|(_, entity)| entity));
}

/// The GUID of the end that is not `from`; `from` itself where it is at both.
pub(super) fn other_end<'a>([one, two]: &'a [String; 2], from: &str) -> &'a str {
    if one == from { two } else { one }
}
