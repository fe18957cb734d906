//! Walks from entity to entity.

use std::collections::{BTreeMap, BTreeSet};

use varve_omrs::Exception;
use varve_omrs::instances::{EntityDetail, Relationship};
use varve_omrs::requests::{
    EntityNeighborhoodFindRequest, FindRequest, RelatedEntitiesFindRequest,
};
use varve_omrs::types::{TypeDefCategory, TypeIndex};

use super::history::cut;
use super::order::compare;
use super::search::{has_status, is_classified};
use super::{InstanceState, Naive, class, ends, given};
use crate::call::{Answer, Answered, At, InstanceKind};

/// Relationships, each with the GUIDs of its ends.
type Links = Vec<(Relationship, [String; 2])>;

/// The other end of a relationship that has `guid` at one.
fn other<'a>(ends: &'a [String; 2], guid: &str) -> Option<&'a String> {
    if ends[0] == guid {
        Some(&ends[1])
    } else if ends[1] == guid {
        Some(&ends[0])
    } else {
        None
    }
}

impl Naive {
    /// The entity a walk begins at, which must be there.
    fn start(&self, guid: &str, at: At) -> Result<&EntityDetail, Exception> {
        given(guid)?;
        match self.state(InstanceKind::Entity, guid, at) {
            Some(InstanceState::Entity(entity)) if !entity.header.audit.is_deleted() => Ok(entity),
            _ => Err(Exception::EntityNotKnown),
        }
    }

    fn links(&self, find: &FindRequest, types: &[TypeIndex]) -> Links {
        let all = self.relationships(find.as_of_time).into_iter();
        all.filter(|of| has_status(find, &of.header.audit))
            .filter(|of| {
                types.is_empty() || types.iter().any(|one| self.is_of(&of.header.audit, *one))
            })
            .map(|of| {
                let ends = ends(&of);
                (of, ends)
            })
            .collect()
    }

    fn known_types(
        &self,
        category: TypeDefCategory,
        guids: &[String],
    ) -> Result<Vec<TypeIndex>, Exception> {
        guids
            .iter()
            .map(|guid| self.type_named(category, guid))
            .collect()
    }

    /// The entities that may be walked to, by GUID.
    fn reachable(
        &self,
        find: &FindRequest,
        types: &[TypeIndex],
        classifications: &[String],
    ) -> BTreeMap<String, EntityDetail> {
        let all = self.entities(find.as_of_time).into_iter();
        all.filter(|one| has_status(find, &one.header.audit))
            .filter(|one| is_classified(one, classifications))
            .filter(|one| {
                types.is_empty() || types.iter().any(|of| self.is_of(&one.header.audit, *of))
            })
            .map(|one| (one.header.guid().to_owned(), one.clone()))
            .collect()
    }

    /// The start and what lies within so many steps of it, with the relationships that were walked
    /// along.
    pub(super) fn neighborhood(
        &self,
        guid: &str,
        level: i32,
        request: &EntityNeighborhoodFindRequest,
    ) -> Answered {
        given(guid)?;
        self.not_in_future(request.find.as_of_time)?;
        let types = self.known_types(TypeDefCategory::Entity, &request.entity_type_guids)?;
        let category = TypeDefCategory::Relationship;
        let along = self.known_types(category, &request.relationship_type_guids)?;
        let start = self.start(guid, request.find.as_of_time)?;
        let entities = self.reachable(&request.find, &types, &request.classifications);
        let links = self.links(&request.find, &along);
        let mut found = BTreeMap::from([(guid.to_owned(), start.clone())]);
        let mut walked = BTreeMap::new();
        let mut border = vec![guid.to_owned()];
        let mut steps = 0;
        while !border.is_empty() && (level < 0 || steps < level) {
            let mut next = Vec::new();
            for from in border {
                for (link, ends) in &links {
                    let Some(to) = other(ends, &from) else {
                        continue;
                    };
                    let Some(entity) = found.get(to).or(entities.get(to)) else {
                        continue;
                    };
                    walked.insert(link.header.guid().to_owned(), link.clone());
                    if !found.contains_key(to) {
                        found.insert(to.clone(), entity.clone());
                        next.push(to.clone());
                    }
                }
            }
            border = next;
            steps += 1;
        }
        Ok(Answer::Graph(
            found.into_values().collect(),
            walked.into_values().collect(),
        ))
    }

    /// Everything that is linked to the start at any distance, the start included; of these, what
    /// passes the filters.
    pub(super) fn related(&self, guid: &str, request: &RelatedEntitiesFindRequest) -> Answered {
        given(guid)?;
        let find = &request.paged.find;
        self.not_in_future(find.as_of_time)?;
        let page = request.paged.checked_page().map_err(class)?;
        let types = self.known_types(TypeDefCategory::Entity, &request.entity_type_guids)?;
        self.start(guid, find.as_of_time)?;
        let walk = EntityNeighborhoodFindRequest {
            find: find.clone(),
            ..Default::default()
        };
        let Answer::Graph(mut found, _) = self.neighborhood(guid, -1, &walk)? else {
            unreachable!("a neighborhood is a graph");
        };
        let wanted = self.reachable(find, &types, &request.classifications);
        found.retain(|one| wanted.contains_key(one.header.guid()));
        let property = request.paged.sequencing_property.as_deref();
        found.sort_by(|one, other| compare(request.paged.order, property, one, other));
        Ok(Answer::Entities(cut(found, page)))
    }

    /// What lies on a path from start to end that meets no entity twice.
    pub(super) fn linking(&self, start: &str, end: &str, request: &FindRequest) -> Answered {
        given(start)?;
        given(end)?;
        self.not_in_future(request.as_of_time)?;
        self.start(start, request.as_of_time)?;
        self.start(end, request.as_of_time)?;
        let entities = self.reachable(request, &[], &[]);
        let mut paths = Paths {
            entities: &entities,
            links: self.links(request, &[]),
            end,
            path: vec![start.to_owned()],
            along: Vec::new(),
            found: (BTreeSet::new(), BTreeSet::new()),
        };
        paths.walk(start);
        let (found, along) = paths.found;
        let links = paths.links.into_iter().map(|(link, _)| link);
        Ok(Answer::Graph(
            found
                .iter()
                .filter_map(|guid| entities.get(guid).cloned())
                .collect(),
            links
                .filter(|link| along.contains(link.header.guid()))
                .collect(),
        ))
    }
}

/// All paths, one after the other.
struct Paths<'a> {
    entities: &'a BTreeMap<String, EntityDetail>,
    links: Links,
    end: &'a str,
    path: Vec<String>,
    along: Vec<String>,
    found: (BTreeSet<String>, BTreeSet<String>),
}

impl Paths<'_> {
    fn walk(&mut self, from: &str) {
        if from == self.end {
            self.found.0.extend(self.path.iter().cloned());
            self.found.1.extend(self.along.iter().cloned());
            return;
        }
        for number in 0..self.links.len() {
            let (link, ends) = &self.links[number];
            let guid = link.header.guid().to_owned();
            let Some(to) = other(ends, from).cloned() else {
                continue;
            };
            if self.path.contains(&to) || !self.entities.contains_key(&to) {
                continue;
            }
            self.path.push(to.clone());
            self.along.push(guid);
            self.walk(&to);
            self.path.pop();
            self.along.pop();
        }
    }
}
