//! The order of results.

use std::cmp::Ordering;

use varve_omrs::instances::{
    EntityDetail, InstanceHeader, InstanceProperties, InstancePropertyValue, Primitive,
    Relationship,
};
use varve_omrs::requests::SequencingOrder;

/// What can be put in order.
pub(crate) trait Ordered: Clone {
    fn header(&self) -> &InstanceHeader;
    fn properties(&self) -> Option<&InstanceProperties>;
}

impl Ordered for EntityDetail {
    fn header(&self) -> &InstanceHeader {
        &self.header
    }

    fn properties(&self) -> Option<&InstanceProperties> {
        self.properties.as_ref()
    }
}

impl Ordered for Relationship {
    fn header(&self) -> &InstanceHeader {
        &self.header
    }

    fn properties(&self) -> Option<&InstanceProperties> {
        self.properties.as_ref()
    }
}

/// How two results stand to each other. Equal: either may come first.
pub(crate) fn compare<T: Ordered>(
    order: Option<SequencingOrder>,
    property: Option<&str>,
    one: &T,
    other: &T,
) -> Ordering {
    let (a, b) = (one.header(), other.header());
    let by_property = || {
        let name = property.unwrap_or_default();
        let of = |of: &T| of.properties().and_then(|of| of.get(name)).cloned();
        values(of(one), of(other))
    };
    match order.unwrap_or(SequencingOrder::Any) {
        SequencingOrder::Any => Ordering::Equal,
        SequencingOrder::Guid => a.guid.cmp(&b.guid),
        SequencingOrder::CreationDateRecent => b.audit.create_time.cmp(&a.audit.create_time),
        SequencingOrder::CreationDateOldest => a.audit.create_time.cmp(&b.audit.create_time),
        SequencingOrder::LastUpdateRecent => b.audit.update_time.cmp(&a.audit.update_time),
        SequencingOrder::LastUpdateOldest => a.audit.update_time.cmp(&b.audit.update_time),
        SequencingOrder::PropertyAscending => by_property(),
        SequencingOrder::PropertyDescending => by_property().reverse(),
    }
}

/// Missing values come first; values without an order are equal.
fn values(one: Option<InstancePropertyValue>, other: Option<InstancePropertyValue>) -> Ordering {
    let primitive = |value: Option<InstancePropertyValue>| match value {
        Some(InstancePropertyValue::Primitive(value)) => value.value,
        _ => None,
    };
    // What has no order counts as missing.
    let sortable = |value: Option<InstancePropertyValue>| {
        value.filter(|value| {
            matches!(
                value,
                InstancePropertyValue::Primitive(_) | InstancePropertyValue::Enum(_)
            )
        })
    };
    match (sortable(one), sortable(other)) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (one, other) => match (primitive(one), primitive(other)) {
            (Some(Primitive::String(one)), Some(Primitive::String(other))) => one.cmp(&other),
            (Some(Primitive::Int(one)), Some(Primitive::Int(other))) => one.cmp(&other),
            (Some(Primitive::Long(one)), Some(Primitive::Long(other))) => one.cmp(&other),
            (Some(Primitive::Date(one)), Some(Primitive::Date(other))) => one.cmp(&other),
            _ => Ordering::Equal,
        },
    }
}
