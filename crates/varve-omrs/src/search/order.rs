//! The order of results.

use std::cmp::Ordering;

use crate::json::Millis;
use crate::matching::{SortValue, Target};
use crate::requests::{PagedFindRequest, SequencingOrder};

/// The order of results. Those that are equal in it stand by their GUIDs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Whichever is easy, but the same for each page.
    Any,
    /// By GUID.
    Guid,
    /// By the time they were made.
    CreateTime {
        /// The latest first.
        reverse: bool,
    },
    /// By the time they were changed last; never changed counts as earliest.
    UpdateTime {
        /// The latest first.
        reverse: bool,
    },
    /// By the value of a property; missing values count as least.
    Property {
        /// The property's name.
        name: String,
        /// The greatest first.
        reverse: bool,
    },
}

/// What an instance is ordered by.
#[derive(Debug, Clone)]
pub enum SortKey {
    /// Nothing.
    None,
    /// A time.
    Time(Option<Millis>),
    /// The value of a property.
    Value(SortValue),
}

impl From<&PagedFindRequest> for Order {
    /// The order that a checked request asks for.
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
    /// What an instance is ordered by.
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

    /// How two instances stand to each other, by their keys and GUIDs.
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

    /// Whether the greatest comes first.
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
