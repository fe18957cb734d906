//! Profiles 5, 6, 9 and 22: classifications of entities.

use varve_omrs::instances::{Classification, ClassificationOrigin, InstanceProperties};
use varve_omrs::json::{Encode, RawJson, Writer};
use varve_omrs::requests::{InstancePropertiesRequest, MatchCriteria, SequencingOrder as Order};

use super::super::answer::{self, Answer, ENTITIES, ENTITY, Form, NOTHING, WHOLE_ENTITIES};
use super::super::client::{Failure, escaped};
use super::super::family;
use super::super::plan::PlannedType;
use super::super::profile::{Profile as P, Row};
use super::super::suite::Suite;
use super::creation::copy_header;
use super::request::{Search, of_home};
use super::search::wanted;

const SEARCH: Row = Row::new(P::ClassificationSearch, "findEntitiesByClassification");

/// Classifies entities of the last type that may carry the classification.
pub(super) fn classify(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let Some(entity_type) = of.entity_types.first() else {
        return Ok(());
    };
    let name = escaped(&of.name);
    let row = Row::new(P::EntityClassification, "classifyEntity");
    suite.step(row, |suite, row| {
        let found = suite.first(&family::ENTITIES, &entity_type.guid, None)?;
        for (number, guid) in found.iter().enumerate() {
            let body = InstancePropertiesRequest {
                properties: suite.values.properties(&of.set, number as u64),
            };
            let path = format!("/instances/entity/{}/classification/{name}", escaped(guid));
            suite.change((row, &ENTITY), &path, &body)?;
        }
        Ok(())
    })?;
    let row = Row::new(P::EntityClassification, "saveClassificationReferenceCopy");
    suite.step(row, |suite, row| {
        for (number, entity) in copies(suite, &entity_type.guid)?.iter().enumerate() {
            let classification = Classification {
                audit: copy_header(suite, of),
                name: Some(of.name.clone()),
                properties: suite.values.properties(&of.set, number as u64),
                origin: Some(ClassificationOrigin::Assigned),
                origin_guid: None,
            };
            let body = CopyRequest {
                classification: Some(&classification),
                entity,
            };
            let path = "/instances/entities/classifications/reference-copy";
            suite.change((row, &NOTHING), path, &body)?;
        }
        Ok(())
    })
}

/// A reference copy of a classification, with its entity as it was received.
struct CopyRequest<'a, C> {
    classification: Option<&'a C>,
    entity: &'a RawJson,
}

impl<C: Encode> Encode for CopyRequest<'_, C> {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|writer| {
            writer.class("ClassificationWithEntityRequest");
            if let Some(classification) = self.classification {
                writer.key("classification");
                classification.encode(writer);
            }
            writer.key("entity");
            self.entity.encode(writer);
        });
    }
}

/// Reference copies of the entities of a type.
fn copies(suite: &mut Suite, type_guid: &str) -> Result<Vec<RawJson>, Failure> {
    let search = Search::first(type_guid, suite.instances());
    let body = search.entity_properties(Some(of_home(&suite.copies)));
    let row = Row::new(P::EntitySearch, "findEntitiesByProperty");
    let path = "/instances/entities/by-property";
    let found = suite.search((row, &WHOLE_ENTITIES), path, &body, search.size)?;
    Ok(found.whole)
}

fn path_of_search(of: &PlannedType) -> String {
    let name = escaped(&of.name);
    format!("/instances/entities/by-classification/{name}")
}

/// Searches by the classification alone, by one of its properties, by both of two, by either of
/// them, and by neither.
pub(super) fn search(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    suite.step(SEARCH, |suite, row| {
        use MatchCriteria::{All, Any, None as Neither};
        let path = path_of_search(of);
        let page = u64::from(suite.volume.page);
        let search =
            |suite: &mut Suite, properties: Option<(&InstanceProperties, MatchCriteria)>, order| {
                let search = Search {
                    size: page,
                    order: Some(order),
                    ..Search::default()
                };
                let properties = properties.map(|(of, criteria)| (of.clone(), criteria));
                let body = search.matching(properties);
                suite.search((row, &ENTITIES), &path, &body, page).map(drop)
            };
        search(suite, None, Order::CreationDateRecent)?;
        let pair = of.first_pair();
        let Some(one) = pair[0] else {
            return Ok(());
        };
        let first = wanted(suite, &[one]);
        search(suite, Some((&first, All)), Order::CreationDateOldest)?;
        let Some(two) = pair[1] else {
            return Ok(());
        };
        let mut both = wanted(suite, &[two]);
        both.values.extend(first.values);
        search(suite, Some((&both, All)), Order::LastUpdateRecent)?;
        search(suite, Some((&both, Any)), Order::LastUpdateOldest)?;
        search(suite, Some((&both, Neither)), Order::Guid)
    })
}

/// Entities that have the classification, if the home of the classification is `home`.
fn carriers(
    suite: &mut Suite,
    of: &PlannedType,
    form: &Form,
    home: &str,
) -> Result<Answer, Failure> {
    let search = Search {
        size: suite.instances(),
        ..Search::default()
    };
    let body = search.matching(Some(of_home(home)));
    suite.search((SEARCH, form), &path_of_search(of), &body, search.size)
}

/// Updates the properties of the classifications whose home is this repository.
pub(super) fn update(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    if !of.declares_attributes {
        return Ok(());
    }
    let row = Row::new(P::ClassificationUpdate, "updateEntityClassification");
    suite.step(row, |suite, row| {
        let home = suite.home.clone();
        let found = carriers(suite, of, &ENTITIES, &home)?;
        for (number, guid) in found.guids.iter().enumerate() {
            let properties = suite.values.properties(&of.set, number as u64);
            if properties.is_none() {
                break;
            }
            let body = InstancePropertiesRequest { properties };
            let (guid, name) = (escaped(guid), escaped(&of.name));
            let path = format!("/instances/entity/{guid}/classification/{name}/properties");
            suite.change((row, &ENTITY), &path, &body)?;
        }
        Ok(())
    })
}

/// Removes the classification: ours by declassifying, reference copies by purging.
pub(super) fn declassify(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    let row = Row::new(P::EntityDeclassify, "declassifyEntity");
    suite.step(row, |suite, row| {
        let home = suite.home.clone();
        let found = carriers(suite, of, &ENTITIES, &home)?;
        for guid in found.guids.iter() {
            let (guid, name) = (escaped(guid), escaped(&of.name));
            let path = format!("/instances/entity/{guid}/classification/{name}/delete");
            suite.given((row, &ENTITY), "POST", &path, None)?;
        }
        Ok(())
    })?;
    let row = Row::new(P::EntityDeclassify, "purgeClassificationReferenceCopy");
    suite.step(row, |suite, row| {
        let home = suite.copies.clone();
        let found = carriers(suite, of, &WHOLE_ENTITIES, &home)?;
        for entity in &found.whole {
            let classification = answer::classification(entity, &of.name);
            let classification = classification.map_err(|error| Failure::empty(error.message()))?;
            let Some(classification) = &classification else {
                return Err(Failure::empty("an entity does not have the classification"));
            };
            let body = CopyRequest {
                classification: Some(classification),
                entity,
            };
            let path = "/instances/entities/classifications/reference-copy/purge";
            suite.change((row, &NOTHING), path, &body)?;
        }
        Ok(())
    })
}
