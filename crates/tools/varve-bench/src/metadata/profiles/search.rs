//! Profiles 2, 4, 16 and 17: searches for entities and relationships, in the present and as of the
//! time before updates.

use varve_omrs::instances::InstanceProperties;
use varve_omrs::requests::{MatchCriteria, SequencingOrder as Order};

use super::super::client::{Failure, escaped};
use super::super::plan::{Attribute, PlannedType};
use super::super::profile::Row;
use super::super::suite::Suite;
use super::super::values::exactly;
use super::request::Search;

pub(super) fn now(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    all_of(suite, of, false)
}

pub(super) fn history(suite: &mut Suite, of: &PlannedType) -> Result<(), Failure> {
    all_of(suite, of, true)
}

fn all_of(suite: &mut Suite, of: &PlannedType, is_past: bool) -> Result<(), Failure> {
    let rows = of.family.searches(is_past);
    let page = Search {
        as_of: suite.as_of.filter(|_| is_past),
        ..Search::first(&of.guid, u64::from(suite.volume.page))
    };
    suite.step(rows.find, |suite, row| pages(suite, row, of, &page))?;
    suite.step(rows.by_value, |suite, row| by_value(suite, row, of, &page))?;
    suite.step(rows.by_property, |suite, row| {
        by_property(suite, row, of, &page)
    })
}

/// Every instance of the type, page by page until one is empty.
fn pages(suite: &mut Suite, row: Row, of: &PlannedType, page: &Search<'_>) -> Result<(), Failure> {
    let family = of.family;
    let path = format!("/instances/{}{}", family.many, page.ending());
    let mut page = page.clone();
    loop {
        let body = (family.find)(&page, None);
        let found = suite.search((row, &family.list), &path, &*body, page.size)?;
        if found.is_empty {
            return Ok(());
        }
        page.offset += found.instances;
    }
}

/// The regular expressions for a value, each with its order: the whole value, its start, its
/// middle, its end, and its start without quotes.
pub(super) fn patterns(value: &str) -> [(String, Order); 5] {
    let all: Vec<char> = value.chars().collect();
    let text = |characters: &[char]| characters.iter().collect::<String>();
    let begin = text(&all[..all.len() - 1]);
    let middle = text(&all[1..all.len() - 1]);
    let end = text(&all[1..]);
    [
        (exactly(value), Order::CreationDateOldest),
        (format!("{}.*", exactly(&begin)), Order::CreationDateRecent),
        (format!(".*{}.*", exactly(&middle)), Order::LastUpdateOldest),
        (format!(".*{}", exactly(&end)), Order::LastUpdateRecent),
        (format!("{begin}.*"), Order::Guid),
    ]
}

/// Searches for the value that every second instance has in its first string.
fn by_value(
    suite: &mut Suite,
    row: Row,
    of: &PlannedType,
    page: &Search<'_>,
) -> Result<(), Failure> {
    let Some(attribute) = of.searched_string() else {
        return Ok(());
    };
    for (pattern, order) in patterns(&attribute.name) {
        let search = Search {
            order: Some(order),
            ..page.clone()
        };
        let (many, ending, pattern) = (of.family.many, page.ending(), escaped(&pattern));
        let path = format!("/instances/{many}/by-property-value{ending}?searchCriteria={pattern}");
        let body = (of.family.by_value)(&search);
        suite.search((row, &of.family.list), &path, &*body, search.size)?;
    }
    Ok(())
}

/// The property values to search for.
pub(super) fn wanted(suite: &mut Suite, attributes: &[&Attribute]) -> InstanceProperties {
    let mut properties = InstanceProperties::default();
    for attribute in attributes {
        if let Some(value) = suite.values.match_value(attribute) {
            properties.values.insert(attribute.name.clone(), value);
        }
    }
    properties
}

/// Searches by one property, by both of two, by either, and by neither.
fn by_property(
    suite: &mut Suite,
    row: Row,
    of: &PlannedType,
    page: &Search<'_>,
) -> Result<(), Failure> {
    use MatchCriteria::{All, Any, None as Neither};
    let pair = of.searched_pair();
    let Some(one) = pair[0] else {
        return Ok(());
    };
    let family = of.family;
    let path = format!("/instances/{}/by-property{}", family.many, page.ending());
    let search = |suite: &mut Suite, properties: &InstanceProperties, criteria, by, order| {
        let search = Search {
            by: Some(by),
            order: Some(order),
            ..page.clone()
        };
        let body = (family.by_property)(&search, Some((properties.clone(), criteria)));
        let found = suite.search((row, &family.list), &path, &*body, search.size);
        found.map(drop)
    };
    let first = wanted(suite, &[one]);
    search(suite, &first, All, &one.name, Order::PropertyAscending)?;
    let Some(two) = pair[1] else {
        return Ok(());
    };
    let mut both = wanted(suite, &[two]);
    // Every search uses the same value of the first property, which may be random.
    both.values.extend(first.values.clone());
    search(suite, &both, All, &two.name, Order::PropertyDescending)?;
    search(suite, &both, Any, &two.name, Order::PropertyAscending)?;
    search(suite, &both, Neither, &one.name, Order::PropertyDescending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_searched_for_in_five_ways() {
        let texts = patterns("name").map(|(text, _)| text);
        assert_eq!(
            texts,
            [
                "\\Qname\\E",
                "\\Qnam\\E.*",
                ".*\\Qam\\E.*",
                ".*\\Qame\\E",
                "nam.*"
            ]
        );
    }
}
