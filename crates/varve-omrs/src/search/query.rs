//! The query of a search: which instances it finds, in which order, and which page of them.

use std::sync::Arc;

use crate::error::OmrsError;
use crate::graph_store::Row;
use crate::matching::{Condition, Effort, Target};
use crate::requests::{FindRequest, Page, PagedFindRequest};
use crate::store::Subject;
use crate::types::{Catalogue, InstanceStatus, TypeDefCategory, TypeIndex};
use crate::validate::{optional_type, type_filter};

use super::Order;

/// The types to which a query is limited, each with its subtypes. Both limits apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeLimit {
    /// The type; `None` = all types.
    pub of: Option<TypeIndex>,
    /// If not empty, an instance must be of one of these types.
    pub listed: Vec<TypeIndex>,
}

/// A query for instances.
#[derive(Debug, Clone)]
pub struct Query {
    /// Entities or relationships. Proxies of entities are never found.
    pub subject: Subject,
    /// The types of the instances.
    pub types: TypeLimit,
    /// The statuses of the instances; empty = any but DELETED. `as_of_time` has no effect here.
    pub find: FindRequest,
    /// If not empty, an entity must have one of these classifications.
    pub classifications: Vec<String>,
    /// The condition on the instances; `None` = no condition.
    pub condition: Option<Condition>,
    /// The order.
    pub order: Order,
    /// The page of the ordered results.
    pub page: Page,
    /// The budget of the condition's regular expressions; `None` = no limit.
    pub effort: Option<Arc<Effort>>,
}

impl TypeLimit {
    /// The limit to the type with the GUID `guid` (missing or empty = all types), and of its
    /// subtypes to those listed, if any. A single listed subtype replaces the type.
    ///
    /// # Errors
    /// `TypeErrorException` when the category has no type with one of the GUIDs, or a listed type
    /// is not a subtype of the type.
    pub fn new(
        types: &Catalogue,
        category: TypeDefCategory,
        guid: Option<&str>,
        subtype_guids: &[String],
    ) -> Result<Self, OmrsError> {
        let of = optional_type(types, category, guid, "typeGUID")?;
        if subtype_guids.is_empty() {
            return Ok(Self {
                of,
                listed: Vec::new(),
            });
        }
        type_filter(types, category, guid, subtype_guids)?;
        let mut listed = Vec::with_capacity(subtype_guids.len());
        for guid in subtype_guids {
            listed.push(types.instance_type_by_guid(category, guid, "subtypeGUIDs")?);
        }
        if let [only] = listed[..] {
            return Ok(Self {
                of: Some(only),
                listed: Vec::new(),
            });
        }
        Ok(Self { of, listed })
    }

    /// Whether the type of an instance is within the limit.
    fn includes(&self, types: &Catalogue, instance: &Row<'_>) -> bool {
        if self.of.is_none() && self.listed.is_empty() {
            return true;
        }
        instance.of().is_some_and(|index| {
            let is_listed = self.listed.iter().any(|of| types.is_a(index, *of));
            self.of.is_none_or(|of| types.is_a(index, of)) && (self.listed.is_empty() || is_listed)
        })
    }
}

impl Query {
    /// A query for the instances of some types, with the statuses, order and page of a request. It
    /// has no further conditions.
    ///
    /// # Errors
    /// As [`PagedFindRequest::checked_page`].
    pub fn new(
        subject: Subject,
        types: TypeLimit,
        request: &PagedFindRequest,
    ) -> Result<Self, OmrsError> {
        Ok(Self {
            subject,
            types,
            find: FindRequest {
                statuses: request.find.statuses.clone(),
                as_of_time: None,
            },
            classifications: Vec::new(),
            condition: None,
            order: Order::from(request),
            page: request.checked_page()?,
            effort: None,
        })
    }

    /// Whether an instance satisfies the query.
    pub(super) fn takes(&self, types: &Catalogue, instance: &Row<'_>) -> bool {
        let life_status = instance.life_status();
        let status = life_status.status.unwrap_or(InstanceStatus::Unknown);
        let target = Target::of(instance);
        !life_status.is_proxy
            && self.find.takes(status)
            && self.types.includes(types, instance)
            && self.is_classified(&target)
            && self
                .condition
                .as_ref()
                .is_none_or(|condition| condition.holds(&target))
    }

    fn is_classified(&self, target: &Target<'_>) -> bool {
        let mut names = self.classifications.iter();
        self.classifications.is_empty()
            || names.any(|name| target.any_classification(name, |_| true))
    }
}
