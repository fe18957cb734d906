//! The order of results.

use std::cmp::Ordering;

use crate::json::Millis;
use crate::matching::{SortValue, Target};
use crate::requests::{PagedFindRequest, SequencingOrder};

/// The order of results. Results that are equal in this order are ordered by GUID, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Any order, which is the same for all pages.
    Any,
    /// By GUID.
    Guid,
    /// By create time; instances without one count as earliest.
    CreateTime {
        /// Whether the latest comes first.
        reverse: bool,
    },
    /// By update time; instances that were never updated count as earliest.
    UpdateTime {
        /// Whether the latest comes first.
        reverse: bool,
    },
    /// By the value of a property; missing values count as least.
    Property {
        /// The property's name.
        name: String,
        /// Whether the greatest comes first.
        reverse: bool,
    },
}

/// The value by which an instance is ordered, before its GUID.
#[derive(Debug, Clone)]
pub enum SortKey {
    /// No value: only the GUID counts.
    None,
    /// A time.
    Time(Option<Millis>),
    /// The value of a property.
    Value(SortValue),
}

impl From<&PagedFindRequest> for Order {
    /// The order of a checked request; [`Order::Any`] if the request has none.
    fn from(request: &PagedFindRequest) -> Self {
        let property = |reverse| Self::Property {
            name: request.sequencing_property.clone().unwrap_or_default(),
            reverse,
        };
        match request.order.unwrap_or(SequencingOrder::Any) {
            SequencingOrder::Any => Self::Any,
            SequencingOrder::Guid => Self::Guid,
            SequencingOrder::CreationDateOldest => Self::CreateTime { reverse: false },
            SequencingOrder::CreationDateRecent => Self::CreateTime { reverse: true },
            SequencingOrder::LastUpdateOldest => Self::UpdateTime { reverse: false },
            SequencingOrder::LastUpdateRecent => Self::UpdateTime { reverse: true },
            SequencingOrder::PropertyAscending => property(false),
            SequencingOrder::PropertyDescending => property(true),
        }
    }
}

impl Order {
    /// The sort key of an instance.
    #[must_use]
    pub fn key(&self, target: &Target<'_>) -> SortKey {
        match self {
            Self::Any | Self::Guid => SortKey::None,
            Self::CreateTime { .. } => SortKey::Time(target.create_time()),
            Self::UpdateTime { .. } => SortKey::Time(target.update_time()),
            Self::Property { name, .. } => {
                SortKey::Value(SortValue::of_value(target.property(name).as_deref()))
            }
        }
    }

    /// Compares two instances by their sort keys, in reverse if the order is, and then by their
    /// GUIDs, ascending.
    #[must_use]
    pub fn compare(&self, one: (&SortKey, &str), other: (&SortKey, &str)) -> Ordering {
        let keys = match (one.0, other.0) {
            (SortKey::Time(one), SortKey::Time(other)) => one.cmp(other),
            (SortKey::Value(one), SortKey::Value(other)) => one.compare(other),
            _ => Ordering::Equal,
        };
        let keys = if self.is_reverse() {
            keys.reverse()
        } else {
            keys
        };
        keys.then_with(|| one.1.cmp(other.1))
    }

    /// Whether the greatest sort key comes first.
    #[must_use]
    pub fn is_reverse(&self) -> bool {
        match self {
            Self::Any | Self::Guid => false,
            Self::CreateTime { reverse }
            | Self::UpdateTime { reverse }
            | Self::Property { reverse, .. } => *reverse,
        }
    }
}
