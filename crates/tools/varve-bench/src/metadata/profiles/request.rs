//! Bodies of requests, and the searches by which test cases find their instances.

use varve_omrs::instances::{InstanceProperties, InstancePropertyValue, Primitive};
use varve_omrs::json::Millis;
use varve_omrs::requests::{
    EntityFindRequest, EntityPropertyFindRequest, FindRequest, InstanceFindRequest, MatchCriteria,
    PagedFindRequest, PropertyComparisonOperator, PropertyCondition, PropertyMatchFindRequest,
    SearchProperties, SequencingOrder, SubtypeLimitedFindRequest, TypeDefValidationForRequest,
    TypeLimitedFindRequest,
};
use varve_omrs::types::InstanceStatus;

use super::super::answer::Guids;
use super::super::client::Failure;
use super::super::family::{Family, Properties};
use super::super::plan::PlannedType;
use super::super::suite::Suite;
use super::super::values::exactly;

/// The header field with the home of an instance.
const HOME: &str = "metadataCollectionId";

/// The parameters of a search: type, time, order and page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search<'a> {
    pub(crate) type_guid: Option<&'a str>,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) order: Option<SequencingOrder>,
    pub(crate) by: Option<&'a str>,
    pub(crate) statuses: &'a [InstanceStatus],
    pub(crate) as_of: Option<Millis>,
}

impl<'a> Search<'a> {
    /// The first `size` instances of a type, in any order.
    pub(crate) fn first(type_guid: &'a str, size: u64) -> Self {
        Self {
            type_guid: Some(type_guid),
            size,
            ..Self::default()
        }
    }

    /// The suffix of a search's path, which differs for history.
    pub(crate) fn ending(&self) -> &'static str {
        match self.as_of {
            Some(_) => "/history",
            None => "",
        }
    }

    pub(crate) fn paged(&self) -> PagedFindRequest {
        PagedFindRequest {
            find: FindRequest {
                statuses: self.statuses.to_vec(),
                as_of_time: self.as_of,
            },
            sequencing_property: self.by.map(str::to_owned),
            order: self.order,
            offset: narrow(self.offset),
            page_size: narrow(self.size),
        }
    }

    pub(crate) fn of_type(&self) -> TypeLimitedFindRequest {
        TypeLimitedFindRequest {
            paged: self.paged(),
            type_guid: self.type_guid.map(str::to_owned),
        }
    }

    pub(crate) fn instances(&self, conditions: Option<SearchProperties>) -> InstanceFindRequest {
        InstanceFindRequest {
            of_subtypes: SubtypeLimitedFindRequest {
                of_type: self.of_type(),
                subtype_guids: Vec::new(),
            },
            match_properties: conditions,
        }
    }

    pub(crate) fn entities(&self, conditions: Option<SearchProperties>) -> EntityFindRequest {
        EntityFindRequest {
            instances: self.instances(conditions),
            match_classifications: None,
        }
    }

    pub(crate) fn matching(&self, properties: Option<Properties>) -> PropertyMatchFindRequest {
        let (match_properties, match_criteria) = properties.unzip();
        PropertyMatchFindRequest {
            of_type: self.of_type(),
            match_properties,
            match_criteria,
        }
    }

    pub(crate) fn entity_properties(
        &self,
        properties: Option<Properties>,
    ) -> EntityPropertyFindRequest {
        EntityPropertyFindRequest {
            matching: self.matching(properties),
            classifications: Vec::new(),
        }
    }
}

/// Numbers of the contract have 32 bits; pages are far shorter.
fn narrow(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// A condition for the instances of one home.
pub(crate) fn of_home(id: &str) -> Properties {
    let home = InstancePropertyValue::string(&exactly(id));
    let properties = InstanceProperties::default().with(HOME, home);
    (properties, MatchCriteria::All)
}

/// A condition for the instances of one home that have been updated.
pub(crate) fn updated(id: &str) -> SearchProperties {
    let condition = |property: &str, operator, value| PropertyCondition {
        property: Some(property.to_owned()),
        operator: Some(operator),
        value: Some(value),
        nested: None,
    };
    let first = InstancePropertyValue::primitive(Primitive::Long(1));
    SearchProperties {
        conditions: vec![
            condition("version", PropertyComparisonOperator::Gt, first),
            condition(
                HOME,
                PropertyComparisonOperator::Eq,
                InstancePropertyValue::string(id),
            ),
        ],
        match_criteria: Some(MatchCriteria::All),
    }
}

/// The type that the caller expects of an instance.
pub(crate) fn taken_for(of: &PlannedType) -> TypeDefValidationForRequest {
    TypeDefValidationForRequest {
        type_guid: Some(of.guid.clone()),
        type_name: Some(of.name.clone()),
    }
}

impl Suite {
    /// The GUIDs of the first instances of a type, at most as many as were created of each.
    pub(super) fn first(
        &mut self,
        family: &Family,
        type_guid: &str,
        as_of: Option<Millis>,
    ) -> Result<Guids, Failure> {
        let search = Search {
            as_of,
            ..Search::first(type_guid, self.instances())
        };
        let path = format!("/instances/{}{}", family.many, search.ending());
        let row = family.searches(as_of.is_some()).find;
        let body = (family.find)(&search, None);
        let found = self.search((row, &family.list), &path, &*body, search.size)?;
        Ok(found.guids)
    }

    /// The GUIDs of the instances of a type with these properties.
    pub(super) fn with(
        &mut self,
        family: &Family,
        search: &Search<'_>,
        properties: Option<Properties>,
    ) -> Result<Guids, Failure> {
        let body = (family.by_property)(search, properties);
        let path = format!("/instances/{}/by-property", family.many);
        let of = (family.searches.by_property, &family.list);
        Ok(self.search(of, &path, &*body, search.size)?.guids)
    }

    /// The GUIDs of our own instances of a type, at most as many as were created.
    pub(super) fn own(&mut self, of: &PlannedType) -> Result<Guids, Failure> {
        let home = of_home(&self.home);
        let search = Search::first(&of.guid, self.instances());
        self.with(of.family, &search, Some(home))
    }

    /// The GUIDs of the reference copies of a type, at most `size`.
    pub(super) fn copied(&mut self, of: &PlannedType, size: u64) -> Result<Guids, Failure> {
        let home = of_home(&self.copies);
        self.with(of.family, &Search::first(&of.guid, size), Some(home))
    }
}
