//! Whether two answers say the same.

use varve_omrs::instances::{Classification, InstanceHeader, InstanceProperties};
use varve_omrs::requests::PagedFindRequest;

use crate::call::{Answer, Read};
use crate::naive::order::{Ordered, compare};

/// What instance URLs of copies begin with; those of the repository's own instances are not
/// compared.
const FAR: &str = "https://far.example/";

fn tidy_header(header: &mut InstanceHeader) {
    header.instance_url = header
        .instance_url
        .take()
        .filter(|url| url.starts_with(FAR));
}

/// No properties and an empty list of them are the same.
fn tidy_properties(properties: &mut Option<InstanceProperties>) {
    if properties.as_ref() == Some(&InstanceProperties::default()) {
        *properties = None;
    }
}

/// Classifications have no order.
fn tidy_classifications(classifications: &mut [Classification]) {
    classifications.sort_by(|one, other| one.name.cmp(&other.name));
    for one in classifications {
        tidy_properties(&mut one.properties);
    }
}

trait Tidy {
    fn tidy(&mut self);
}

impl Tidy for varve_omrs::instances::EntityDetail {
    fn tidy(&mut self) {
        tidy_header(&mut self.header);
        tidy_properties(&mut self.properties);
        tidy_classifications(&mut self.classifications);
    }
}

impl Tidy for varve_omrs::instances::Relationship {
    fn tidy(&mut self) {
        tidy_header(&mut self.header);
        tidy_properties(&mut self.properties);
        let ends = [&mut self.entity_one, &mut self.entity_two];
        for end in ends.into_iter().flatten() {
            tidy_header(&mut end.header);
            tidy_classifications(&mut end.classifications);
            tidy_properties(&mut end.unique_properties);
        }
    }
}

fn by_guid<T: Ordered>(list: &mut [T]) {
    list.sort_by(|one, other| one.header().guid.cmp(&other.header().guid));
}

/// The answer without what may differ. Graphs have no order.
pub(crate) fn tidied(mut answer: Answer) -> Answer {
    match &mut answer {
        Answer::Entity(one) => one.iter_mut().for_each(Tidy::tidy),
        Answer::Entities(list) => list.iter_mut().for_each(Tidy::tidy),
        Answer::Relationship(one) => one.iter_mut().for_each(Tidy::tidy),
        Answer::Relationships(list) => list.iter_mut().for_each(Tidy::tidy),
        Answer::Summary(one) => {
            tidy_header(&mut one.header);
            tidy_classifications(&mut one.classifications);
        }
        Answer::Graph(entities, relationships) => {
            entities.iter_mut().for_each(Tidy::tidy);
            relationships.iter_mut().for_each(Tidy::tidy);
            by_guid(entities);
            by_guid(relationships);
        }
        Answer::Classifications(list) => tidy_classifications(list),
        Answer::Nothing => {}
    }
    answer
}

/// Where order and page of a search stand.
pub(crate) fn paged(read: &mut Read) -> Option<&mut PagedFindRequest> {
    Some(match read {
        Read::RelationshipsForEntity(_, of_type) | Read::FindRelationshipsByValue(_, of_type) => {
            &mut of_type.paged
        }
        Read::FindEntities(request) => &mut request.instances.of_subtypes.of_type.paged,
        Read::FindRelationships(request) => &mut request.of_subtypes.of_type.paged,
        Read::FindEntitiesByProperty(request) | Read::FindEntitiesByValue(_, request) => {
            &mut request.matching.of_type.paged
        }
        Read::FindEntitiesByClassification(_, request)
        | Read::FindRelationshipsByProperty(request) => &mut request.of_type.paged,
        Read::Related(_, request) => &mut request.paged,
        _ => return None,
    })
}

/// Whether a list has the order that was asked for; then the list by GUID.
fn settled<T: Ordered>(mut list: Vec<T>, paged: &PagedFindRequest) -> Result<Vec<T>, String> {
    let property = paged.sequencing_property.as_deref();
    for pair in list.windows(2) {
        if compare(paged.order, property, &pair[0], &pair[1]).is_gt() {
            return Err(format!(
                "{:?} by {property:?}: {:?} before {:?}",
                paged.order,
                pair[0].header().guid,
                pair[1].header().guid
            ));
        }
    }
    by_guid(&mut list);
    Ok(list)
}

/// The answer with its results by GUID, if they were in the order asked for.
pub(crate) fn in_order(answer: Answer, paged: &PagedFindRequest) -> Result<Answer, String> {
    Ok(match answer {
        Answer::Entities(list) => Answer::Entities(settled(list, paged)?),
        Answer::Relationships(list) => Answer::Relationships(settled(list, paged)?),
        other => other,
    })
}

/// The part of a whole list that a page is.
pub(crate) fn part(whole: &Answer, offset: i32, size: i32) -> Answer {
    fn cut<T: Clone>(list: &[T], offset: i32, size: i32) -> Vec<T> {
        let rest = list.iter().skip(offset as usize);
        let size = if size == 0 { list.len() } else { size as usize };
        rest.take(size).cloned().collect()
    }
    match whole {
        Answer::Entities(list) => Answer::Entities(cut(list, offset, size)),
        Answer::Relationships(list) => Answer::Relationships(cut(list, offset, size)),
        other => other.clone(),
    }
}

/// Where two answers differ first, in few words: whole instances are long.
pub(crate) fn difference(wanted: &str, found: &str) -> String {
    let common = wanted
        .bytes()
        .zip(found.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let around = |text: &str| {
        let from = (0..=common.saturating_sub(160)).rev();
        let from = from.into_iter().find(|at| text.is_char_boundary(*at));
        let to = (common + 200).min(text.len())..=text.len();
        let to = to.into_iter().find(|at| text.is_char_boundary(*at));
        text[from.unwrap_or(0)..to.unwrap_or(text.len())].to_owned()
    };
    format!(
        "\n  wanted …{}…\n  found  …{}…",
        around(wanted),
        around(found)
    )
}
