//! Bodies of calls that read: conditions, time, order and page.

use super::{MatchCriteria, SearchClassifications, SearchProperties};
use crate::error::{Message, OmrsError};
use crate::instances::InstanceProperties;
use crate::json::{Millis, json_enum, json_object};
use crate::types::InstanceStatus;

json_enum! {
    /// The order of results.
    pub enum SequencingOrder {
        Any = "ANY",
        Guid = "GUID",
        CreationDateRecent = "CREATION_DATE_RECENT",
        CreationDateOldest = "CREATION_DATE_OLDEST",
        LastUpdateRecent = "LAST_UPDATE_RECENT",
        LastUpdateOldest = "LAST_UPDATE_OLDEST",
        PropertyAscending = "PROPERTY_ASCENDING",
        PropertyDescending = "PROPERTY_DESCENDING",
    }
}

json_enum! {
    /// The order of an instance's history.
    pub enum HistorySequencingOrder {
        /// Oldest first.
        Forwards = "FORWARDS",
        /// Newest first; the default.
        Backwards = "BACKWARDS",
    }
}

json_object! {
    /// The time at which to read an instance.
    pub struct HistoryRequest {
        @class "HistoryRequest";
        /// The time; mandatory.
        as_of_time: Option<Millis> = "asOfTime",
    }
}

json_object! {
    /// The part of an instance's history to read.
    pub struct HistoryRangeRequest {
        @class "HistoryRangeRequest";
        /// The start of the range, inclusive; absent = no start.
        from_time: Option<Millis> = "fromTime",
        /// The end of the range, exclusive; absent = no end.
        to_time: Option<Millis> = "toTime",
        /// The number of states to skip.
        offset: i32 = "offset",
        /// The most states to return; 0 = all.
        page_size: i32 = "pageSize",
        /// The order.
        order: Option<HistorySequencingOrder> = "sequencingOrder",
    }
}

json_object! {
    /// The time of a search, and the limit to statuses.
    pub struct FindRequest {
        @class "OMRSAPIFindRequest" | "OMRSAPIHistoricalFindRequest" if as_of_time;
        /// The statuses of the instances; empty = any but DELETED.
        statuses: Vec<InstanceStatus> = "limitResultsByStatus",
        /// The time; absent = now.
        as_of_time: Option<Millis> = "asOfTime",
    }
}

json_object! {
    /// A search with order and page.
    pub struct PagedFindRequest {
        @class "OMRSAPIPagedFindRequest" | "OMRSAPIPagedHistoricalFindRequest" if find.as_of_time;
        @base
        /// Status and time.
        find: FindRequest;
        /// The property to order by, if the order is by a property.
        sequencing_property: Option<String> = "sequencingProperty",
        /// The order.
        order: Option<SequencingOrder> = "sequencingOrder",
        /// The number of results to skip.
        offset: i32 = "offset",
        /// The most results to return; 0 = all.
        page_size: i32 = "pageSize",
    }
}

json_object! {
    /// A search among the instances of a type.
    pub struct TypeLimitedFindRequest {
        @class "TypeLimitedFindRequest" | "TypeLimitedHistoricalFindRequest" if paged.find.as_of_time;
        @base
        /// Order and page.
        paged: PagedFindRequest;
        /// The type; absent = all types.
        type_guid: Option<String> = "typeGUID",
    }
}

json_object! {
    /// A search among the instances of some subtypes of a type.
    pub struct SubtypeLimitedFindRequest {
        @class "SubtypeLimitedFindRequest" | "SubtypeLimitedHistoricalFindRequest"
            if of_type.paged.find.as_of_time;
        @base
        /// The type.
        of_type: TypeLimitedFindRequest;
        /// The subtypes; empty = all.
        subtype_guids: Vec<String> = "subtypeGUIDs",
    }
}

json_object! {
    /// `findRelationships`, and the common part of `findEntities`.
    pub struct InstanceFindRequest {
        @class "InstanceFindRequest" | "InstanceHistoricalFindRequest"
            if of_subtypes.of_type.paged.find.as_of_time;
        @base
        /// The types.
        of_subtypes: SubtypeLimitedFindRequest;
        /// The conditions on properties.
        match_properties: Option<SearchProperties> = "matchProperties",
    }
}

json_object! {
    /// `findEntities`.
    pub struct EntityFindRequest {
        @class "EntityFindRequest" | "EntityHistoricalFindRequest"
            if instances.of_subtypes.of_type.paged.find.as_of_time;
        @base
        /// Types and properties.
        instances: InstanceFindRequest;
        /// The conditions on classifications.
        match_classifications: Option<SearchClassifications> = "matchClassifications",
    }
}

json_object! {
    /// `findRelationshipsByProperty` and `findEntitiesByClassification`.
    pub struct PropertyMatchFindRequest {
        @class "PropertyMatchFindRequest" | "PropertyMatchHistoricalFindRequest"
            if of_type.paged.find.as_of_time;
        @base
        /// The type.
        of_type: TypeLimitedFindRequest;
        /// The properties and header fields to compare with; strings are regular expressions.
        match_properties: Option<InstanceProperties> = "matchProperties",
        /// Whether all, any or none of them must match.
        match_criteria: Option<MatchCriteria> = "matchCriteria",
    }
}

json_object! {
    /// `findEntitiesByProperty` and `findEntitiesByPropertyValue`.
    pub struct EntityPropertyFindRequest {
        @class "EntityPropertyFindRequest" | "EntityPropertyHistoricalFindRequest"
            if matching.of_type.paged.find.as_of_time;
        @base
        /// Type and properties.
        matching: PropertyMatchFindRequest;
        /// An entity must carry one of these classifications; empty = no limit.
        classifications: Vec<String> = "limitResultsByClassification",
    }
}

json_object! {
    /// `getEntityNeighborhood`.
    pub struct EntityNeighborhoodFindRequest {
        @class "EntityNeighborhoodFindRequest" | "EntityNeighborhoodHistoricalFindRequest"
            if find.as_of_time;
        @base
        /// Status and time.
        find: FindRequest;
        /// The types of entities to enter; empty = all.
        entity_type_guids: Vec<String> = "entityTypeGUIDs",
        /// The types of relationships to follow; empty = all.
        relationship_type_guids: Vec<String> = "relationshipTypeGUIDs",
        /// An entity must carry one of these classifications; empty = no limit.
        classifications: Vec<String> = "limitResultsByClassification",
    }
}

json_object! {
    /// `getRelatedEntities`. The time is used on the URL without `/history` too, since clients send
    /// it there.
    pub struct RelatedEntitiesFindRequest {
        @class "RelatedEntitiesFindRequest" | "RelatedEntitiesHistoricalFindRequest"
            if paged.find.as_of_time;
        @base
        /// Order and page.
        paged: PagedFindRequest;
        /// The types of entities to return; empty = all.
        entity_type_guids: Vec<String> = "entityTypeGUIDs",
        /// An entity must carry one of these classifications; empty = no limit.
        classifications: Vec<String> = "limitResultsByClassification",
    }
}

/// A page of an ordered result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The number of results to skip.
    pub offset: usize,
    /// The most results to return; `None` = all.
    pub size: Option<usize>,
}

impl Page {
    /// # Errors
    /// `PagingErrorException` when one of the two is negative.
    pub fn new(offset: i32, page_size: i32) -> Result<Self, OmrsError> {
        let size = count("pageSize", page_size)?;
        Ok(Self {
            offset: count("fromElement", offset)?,
            size: (size > 0).then_some(size),
        })
    }
}

fn count(parameter: &str, value: i32) -> Result<usize, OmrsError> {
    let words = || OmrsError::new(Message::NegativePage, &[parameter, &value.to_string()]);
    usize::try_from(value).map_err(|_| words())
}

impl HistoryRequest {
    /// Checks the requested time against `now`.
    ///
    /// # Errors
    /// `InvalidParameterException` when there is no time, or it is in the future.
    pub fn checked(&self, now: Millis) -> Result<Millis, OmrsError> {
        let parameter = "asOfTime";
        let missing = || OmrsError::of_parameter(Message::NullAsOfTime, parameter, &[parameter]);
        let time = self.as_of_time.ok_or_else(missing)?;
        not_in_future(time, now)
    }
}

impl FindRequest {
    /// Checks that a time is given, as historical calls require.
    ///
    /// # Errors
    /// `InvalidParameterException` when there is none.
    pub fn check_historical(&self) -> Result<(), OmrsError> {
        let parameter = "asOfTime";
        let missing = || OmrsError::of_parameter(Message::NullAsOfTime, parameter, &[parameter]);
        self.as_of_time.map(|_| ()).ok_or_else(missing)
    }

    /// Checks the requested time, if any, against `now`.
    ///
    /// # Errors
    /// `InvalidParameterException` when it is in the future.
    pub fn checked_time(&self, now: Millis) -> Result<Option<Millis>, OmrsError> {
        self.as_of_time
            .map(|time| not_in_future(time, now))
            .transpose()
    }

    /// Whether a search takes instances with this status.
    #[must_use]
    pub fn takes(&self, status: InstanceStatus) -> bool {
        if self.statuses.is_empty() {
            status != InstanceStatus::Deleted
        } else {
            self.statuses.contains(&status)
        }
    }
}

fn not_in_future(time: Millis, now: Millis) -> Result<Millis, OmrsError> {
    if time <= now {
        return Ok(time);
    }
    let words = [time.0.to_string()];
    let words = [words[0].as_str()];
    Err(OmrsError::of_parameter(
        Message::FutureAsOfTime,
        "asOfTime",
        &words,
    ))
}

impl PagedFindRequest {
    /// The requested page.
    ///
    /// # Errors
    /// `PagingErrorException` when offset or size is negative; `PropertyErrorException` when the
    /// order is by a property that is not named.
    pub fn checked_page(&self) -> Result<Page, OmrsError> {
        let page = Page::new(self.offset, self.page_size)?;
        if let Some(
            order @ (SequencingOrder::PropertyAscending | SequencingOrder::PropertyDescending),
        ) = self.order
            && self
                .sequencing_property
                .as_deref()
                .unwrap_or_default()
                .is_empty()
        {
            return Err(OmrsError::new(Message::OrderNeedsProperty, &[order.name()]));
        }
        Ok(page)
    }
}

impl HistoryRangeRequest {
    /// The requested page.
    ///
    /// # Errors
    /// `InvalidParameterException` when the range is empty, `PagingErrorException` when offset or
    /// size is negative.
    pub fn checked_page(&self) -> Result<Page, OmrsError> {
        if let (Some(from), Some(to)) = (self.from_time, self.to_time)
            && from >= to
        {
            let (from, to) = (from.0.to_string(), to.0.to_string());
            let words = [from.as_str(), to.as_str()];
            return Err(OmrsError::of_parameter(
                Message::BadTimeRange,
                "fromTime",
                &words,
            ));
        }
        Page::new(self.offset, self.page_size)
    }

    /// The requested order; by default newest first.
    #[must_use]
    pub fn order(&self) -> HistorySequencingOrder {
        self.order.unwrap_or(HistorySequencingOrder::Backwards)
    }
}
