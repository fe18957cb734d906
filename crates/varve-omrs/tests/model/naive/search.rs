//! Searches: a filter over all instances there are.

use varve_omrs::Exception;
use varve_omrs::instances::{EntityDetail, InstanceAuditHeader, Relationship};
use varve_omrs::requests::{
    EntityFindRequest, EntityPropertyFindRequest, FindRequest, InstanceFindRequest,
    PagedFindRequest, PropertyMatchFindRequest, SubtypeLimitedFindRequest, TypeLimitedFindRequest,
};
use varve_omrs::types::{TypeDefCategory, TypeIndex};

use super::history::cut;
use super::matching::{
    Searched, by_classifications, by_conditions, by_property, by_value, pattern,
};
use super::order::{Ordered, compare};
use super::{Naive, class, ends, given};
use crate::call::{Answer, Answered, InstanceKind};

fn of_entity(entity: &EntityDetail) -> Searched<'_> {
    Searched {
        audit: &entity.header.audit,
        properties: entity.properties.as_ref(),
    }
}

fn of_relationship(relationship: &Relationship) -> Searched<'_> {
    Searched {
        audit: &relationship.header.audit,
        properties: relationship.properties.as_ref(),
    }
}

/// Puts results in order and cuts the page out.
fn page<T: Ordered>(mut found: Vec<T>, paged: &PagedFindRequest) -> Result<Vec<T>, Exception> {
    let page = paged.checked_page().map_err(class)?;
    let property = paged.sequencing_property.as_deref();
    found.sort_by(|one, other| compare(paged.order, property, one, other));
    Ok(cut(found, page))
}

/// Keeps what passes; the first failure ends it.
fn keep<T>(
    list: Vec<T>,
    mut passes: impl FnMut(&T) -> Result<bool, Exception>,
) -> Result<Vec<T>, Exception> {
    let mut kept = Vec::new();
    for one in list {
        if passes(&one)? {
            kept.push(one);
        }
    }
    Ok(kept)
}

impl Naive {
    pub(super) fn type_named(
        &self,
        category: TypeDefCategory,
        guid: &str,
    ) -> Result<TypeIndex, Exception> {
        self.types
            .instance_type_by_guid(category, guid, "")
            .map_err(class)
    }

    /// Whether an instance is of the type or a subtype of it.
    pub(super) fn is_of(&self, audit: &InstanceAuditHeader, of: TypeIndex) -> bool {
        let lineage = self.types.get(self.type_of(audit)).lineage();
        lineage.contains(&of)
    }

    /// Whether an instance has a status and one of the types that a search is limited to.
    fn limits<'a>(
        &'a self,
        category: TypeDefCategory,
        request: &'a SubtypeLimitedFindRequest,
    ) -> Result<impl Fn(&InstanceAuditHeader) -> bool + 'a, Exception> {
        let find = &request.of_type.paged.find;
        self.not_in_future(find.as_of_time)?;
        let of = request.of_type.type_guid.as_deref();
        let of = of.map(|guid| self.type_named(category, guid)).transpose()?;
        let mut subtypes = Vec::new();
        for guid in &request.subtype_guids {
            let subtype = self.type_named(category, guid)?;
            let lineage = self.types.get(subtype).lineage();
            if of.is_some_and(|of| !lineage.contains(&of)) {
                return Err(Exception::TypeError);
            }
            subtypes.push(subtype);
        }
        request.of_type.paged.checked_page().map_err(class)?;
        Ok(move |audit: &InstanceAuditHeader| {
            has_status(find, audit)
                && of.is_none_or(|of| self.is_of(audit, of))
                && (subtypes.is_empty() || subtypes.iter().any(|of| self.is_of(audit, *of)))
        })
    }

    fn entities_of(
        &self,
        request: &SubtypeLimitedFindRequest,
    ) -> Result<Vec<EntityDetail>, Exception> {
        let passes = self.limits(TypeDefCategory::Entity, request)?;
        let all = self.entities(request.of_type.paged.find.as_of_time);
        let found = all.into_iter().filter(|one| passes(&one.header.audit));
        Ok(found.cloned().collect())
    }

    fn relationships_of(
        &self,
        request: &SubtypeLimitedFindRequest,
    ) -> Result<Vec<Relationship>, Exception> {
        let passes = self.limits(TypeDefCategory::Relationship, request)?;
        let all = self.relationships(request.of_type.paged.find.as_of_time);
        Ok(all
            .into_iter()
            .filter(|one| passes(&one.header.audit))
            .collect())
    }

    pub(super) fn find_entities(&self, request: &EntityFindRequest) -> Answered {
        let InstanceFindRequest {
            of_subtypes,
            match_properties,
        } = &request.instances;
        let all = self.entities_of(of_subtypes)?;
        if let Some(tree) = match_properties {
            tree.check("").map_err(class)?;
        }
        if let Some(tree) = &request.match_classifications {
            tree.check("").map_err(class)?;
        }
        let found = keep(all, |entity| {
            let wanted = request.match_classifications.as_ref();
            Ok(by_conditions(of_entity(entity), match_properties.as_ref())?
                && by_classifications(&entity.classifications, wanted)?)
        })?;
        page(found, &of_subtypes.of_type.paged).map(Answer::Entities)
    }

    pub(super) fn find_relationships(&self, request: &InstanceFindRequest) -> Answered {
        let wanted = request.match_properties.as_ref();
        let all = self.relationships_of(&request.of_subtypes)?;
        if let Some(tree) = wanted {
            tree.check("").map_err(class)?;
        }
        let found = keep(all, |of| by_conditions(of_relationship(of), wanted))?;
        page(found, &request.of_subtypes.of_type.paged).map(Answer::Relationships)
    }

    pub(super) fn find_entities_by_property(
        &self,
        request: &EntityPropertyFindRequest,
    ) -> Answered {
        let matching = &request.matching;
        let found = keep(self.entities_of(&whole(&matching.of_type))?, |entity| {
            let wanted = matching.match_properties.as_ref();
            Ok(is_classified(entity, &request.classifications)
                && by_property(of_entity(entity), wanted, matching.match_criteria)?)
        })?;
        page(found, &matching.of_type.paged).map(Answer::Entities)
    }

    pub(super) fn find_relationships_by_property(
        &self,
        request: &PropertyMatchFindRequest,
    ) -> Answered {
        let found = keep(self.relationships_of(&whole(&request.of_type))?, |of| {
            let wanted = request.match_properties.as_ref();
            by_property(of_relationship(of), wanted, request.match_criteria)
        })?;
        page(found, &request.of_type.paged).map(Answer::Relationships)
    }

    /// The properties are those of the classification.
    pub(super) fn find_entities_by_classification(
        &self,
        name: &str,
        request: &PropertyMatchFindRequest,
    ) -> Answered {
        given(name)?;
        self.not_in_future(request.of_type.paged.find.as_of_time)?;
        self.types.classification_by_name(name).map_err(class)?;
        let found = keep(self.entities_of(&whole(&request.of_type))?, |entity| {
            let wanted = request.match_properties.as_ref();
            let Some(one) = entity.classification(name) else {
                return Ok(false);
            };
            let searched = Searched {
                audit: &one.audit,
                properties: one.properties.as_ref(),
            };
            by_property(searched, wanted, request.match_criteria)
        })?;
        page(found, &request.of_type.paged).map(Answer::Entities)
    }

    pub(super) fn find_entities_by_value(
        &self,
        criteria: &str,
        request: &EntityPropertyFindRequest,
    ) -> Answered {
        given(criteria)?;
        let regex = pattern(criteria)?;
        let of_type = &request.matching.of_type;
        let mut found = self.entities_of(&whole(of_type))?;
        found.retain(|entity| {
            is_classified(entity, &request.classifications)
                && by_value(entity.properties.as_ref(), &regex)
        });
        page(found, &of_type.paged).map(Answer::Entities)
    }

    pub(super) fn find_relationships_by_value(
        &self,
        criteria: &str,
        request: &TypeLimitedFindRequest,
    ) -> Answered {
        given(criteria)?;
        let regex = pattern(criteria)?;
        let mut found = self.relationships_of(&whole(request))?;
        found.retain(|of| by_value(of.properties.as_ref(), &regex));
        page(found, &request.paged).map(Answer::Relationships)
    }

    /// The relationships with the entity at either end. The entity must be there, as a proxy at
    /// least.
    pub(super) fn of_entity(&self, guid: &str, request: &TypeLimitedFindRequest) -> Answered {
        given(guid)?;
        let mut found = self.relationships_of(&whole(request))?;
        match self.state(InstanceKind::Entity, guid, request.paged.find.as_of_time) {
            Some(known) if !known.header().audit.is_deleted() => {}
            _ => return Err(Exception::EntityNotKnown),
        }
        found.retain(|of| ends(of).iter().any(|end| end == guid));
        page(found, &request.paged).map(Answer::Relationships)
    }
}

fn whole(of_type: &TypeLimitedFindRequest) -> SubtypeLimitedFindRequest {
    SubtypeLimitedFindRequest {
        of_type: of_type.clone(),
        subtype_guids: Vec::new(),
    }
}

/// No status listed: any but DELETED.
pub(super) fn has_status(find: &FindRequest, audit: &InstanceAuditHeader) -> bool {
    match (find.statuses.is_empty(), audit.status) {
        (true, _) => !audit.is_deleted(),
        (false, Some(status)) => find.statuses.contains(&status),
        (false, None) => false,
    }
}

/// One of the listed classifications is enough.
pub(super) fn is_classified(entity: &EntityDetail, names: &[String]) -> bool {
    let carries = |name: &String| entity.classification(name).is_some();
    names.is_empty() || names.iter().any(carries)
}
