//! Finds the neighbourhood of an entity, and all entities connected to it.

use std::collections::{HashSet, VecDeque};

use compact_str::CompactString;

use super::{Keep, Step, Stepper};
use crate::error::OmrsError;
use crate::graph_store::GraphReader;
use crate::matching::Target;
use crate::requests::{FindRequest, Page};
use crate::search::{Limits, Order, SortKey};
use crate::store::{RenderedEntity, RenderedRelationship};
use crate::types::{Catalogue, TypeIndex};

/// A subgraph: entities, and relationships between them.
#[derive(Debug, Clone, Default)]
pub struct SubGraph {
    /// The entities, the nearest first.
    pub entities: Vec<RenderedEntity>,
    /// The relationships.
    pub relationships: Vec<RenderedRelationship>,
}

/// The entities and relationships that a traversal may enter.
#[derive(Debug, Clone, Default)]
pub struct WalkLimits {
    /// The statuses of both; empty = any but DELETED.
    pub find: FindRequest,
    /// An entity must have one of these types; empty = no limit.
    pub entity_types: Vec<TypeIndex>,
    /// A relationship must have one of these types; empty = no limit.
    pub relationship_types: Vec<TypeIndex>,
    /// An entity must carry one of these classifications; empty = no limit.
    pub classifications: Vec<String>,
}

/// A query for entities connected to an entity.
#[derive(Debug, Clone)]
pub struct RelatedQuery {
    /// The limits of the results. The traversal itself enters every entity and relationship with
    /// the right status.
    pub wanted: WalkLimits,
    /// The order of the results.
    pub order: Order,
    /// The page of the results.
    pub page: Page,
}

/// The entity `start` and the entities within `levels` relationships of it (`None` = at any
/// distance), with the relationships that lead to them.
///
/// # Errors
/// `RepositoryErrorException` when a limit is exceeded, or the store fails.
pub fn neighbourhood(
    read: &GraphReader,
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

/// The entity `start` and all entities connected to it: the query's page of those that it selects.
/// In the order `Any`, the nearest come first, and the traversal stops when the page is full.
///
/// # Errors
/// As [`neighbourhood`].
pub fn related(
    read: &GraphReader,
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

/// The sort key of an entity. If the order needs it, the entity is decoded; the decoded object is
/// not kept.
fn key(read: &GraphReader, order: &Order, entity: &RenderedEntity) -> Result<SortKey, OmrsError> {
    if matches!(order, Order::Any | Order::Guid) {
        return Ok(SortKey::None);
    }
    let entity = read.entity(entity.guid())?;
    Ok(entity.map_or(SortKey::None, |entity| order.key(&Target::from(&entity))))
}

/// The GUID of the end that is not `from`; `from` itself if it is at both ends.
pub(super) fn other_end<'a>([one, two]: &'a [CompactString; 2], from: &str) -> &'a str {
    if one == from { two } else { one }
}
