//! What is so many steps away from an entity, and everything that is connected to it.

use std::collections::{HashSet, VecDeque};

use compact_str::CompactString;

use super::{Keep, Step, Stepper};
use crate::error::OmrsError;
use crate::matching::Target;
use crate::requests::{FindRequest, Page};
use crate::search::{Limits, Order, SortKey};
use crate::store::{Read, RenderedEntity, RenderedRelationship, StoredInstance};
use crate::types::{Catalogue, TypeIndex};

/// A part of the graph: entities, and relationships between them.
#[derive(Debug, Clone, Default)]
pub struct SubGraph {
    /// The entities, the nearest first.
    pub entities: Vec<RenderedEntity>,
    /// The relationships.
    pub relationships: Vec<RenderedRelationship>,
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

/// What is asked of all that is connected to an entity: which are wanted, in which order, which
/// page.
#[derive(Debug, Clone)]
pub struct RelatedQuery {
    /// Which entities are wanted: all are walked along that have the right status.
    pub wanted: WalkLimits,
    /// The order.
    pub order: Order,
    /// The part that is asked for.
    pub page: Page,
}

/// The entity `start` and all that is at most `levels` relationships away from it, `None` = at any
/// distance, with the relationships that lead there.
///
/// # Errors
/// `RepositoryErrorException` when it is more than the limits allow to look at, or the store fails.
pub fn neighbourhood(
    read: &dyn Read,
    types: &Catalogue,
    start: RenderedEntity,
    levels: Option<usize>,
    walked: &WalkLimits,
    limits: &Limits,
) -> Result<SubGraph, OmrsError> {
    let stepper = Stepper::new(read, types, walked, limits);
    let mut found: HashSet<String> = HashSet::from([start.guid().to_owned()]);
    let mut passed: HashSet<CompactString> = HashSet::new();
    let mut graph = SubGraph::default();
    let mut border = vec![start.guid().to_owned()];
    graph.entities.push(start);
    let mut level = 0;
    while !border.is_empty() && levels.is_none_or(|levels| level < levels) {
        let mut next = Vec::new();
        for from in border {
            let is_passed = |guid: &str| passed.contains(guid);
            for relationship in stepper.relationships(&from, &is_passed)? {
                let to = other_end(&relationship.link.ends, &from);
                if !found.contains(to) {
                    let Some(entity) = stepper.entity(to)? else {
                        stepper.let_go(&relationship);
                        continue;
                    };
                    found.insert(to.to_owned());
                    next.push(to.to_owned());
                    graph.entities.push(entity);
                }
                passed.insert(relationship.link.guid.clone());
                graph.relationships.push(relationship);
            }
        }
        border = next;
        level += 1;
    }
    Ok(graph)
}

/// The entity `start` and all that is connected to it over any number of relationships: those that
/// are wanted, in the order and page that are asked for. Where no order is asked for, the nearest
/// come first, and no more is walked than the page needs.
///
/// # Errors
/// As [`neighbourhood`].
pub fn related(
    read: &dyn Read,
    types: &Catalogue,
    start: RenderedEntity,
    query: &RelatedQuery,
    limits: &Limits,
) -> Result<Vec<RenderedEntity>, OmrsError> {
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
    let mut seen: HashSet<String> = HashSet::from([start.guid().to_owned()]);
    let mut border = VecDeque::from([start.guid().to_owned()]);
    let mut found = Vec::new();
    if wanted.takes_entity(read, &start)? {
        found.push((key(read, &query.order, &start)?, start));
    }
    while found.len() < enough
        && let Some(from) = border.pop_front()
    {
        for way in stepper.links(&from, Keep::Links)? {
            stepper.let_go_way(&way);
            let to = other_end(&way.link.ends, &from);
            if seen.contains(to) {
                continue;
            }
            seen.insert(to.to_owned());
            let Some(entity) = stepper.entity(to)? else {
                continue;
            };
            border.push_back(to.to_owned());
            if wanted.takes_entity(read, &entity)? {
                found.push((key(read, &query.order, &entity)?, entity));
            } else {
                stepper.let_go_entity(&entity);
            }
            if found.len() >= enough {
                break;
            }
        }
    }
    if query.order != Order::Any {
        found.sort_unstable_by(|(one_key, one), (other_key, other)| {
            let (one, other) = ((one_key, one.guid()), (other_key, other.guid()));
            query.order.compare(one, other)
        });
    }
    let page = found.into_iter().skip(query.page.offset).take(size);
    Ok(page.map(|(_, entity)| entity).collect())
}

/// What an entity is ordered by. Its object is made for that, where that is needed, and not kept.
fn key(read: &dyn Read, order: &Order, entity: &RenderedEntity) -> Result<SortKey, OmrsError> {
    if matches!(order, Order::Any | Order::Guid) {
        return Ok(SortKey::None);
    }
    let entity = read.entity(entity.guid())?.map(StoredInstance::Entity);
    Ok(entity.map_or(SortKey::None, |entity| order.key(&Target::from(&entity))))
}

/// The GUID of the end that is not `from`; `from` itself where it is at both.
pub(super) fn other_end<'a>([one, two]: &'a [CompactString; 2], from: &str) -> &'a str {
    if one == from { two } else { one }
}
