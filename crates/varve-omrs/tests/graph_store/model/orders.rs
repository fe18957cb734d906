//! The orders that walks show instances in.

use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::store::*;

use super::parts::{header_of, value_of};
use crate::world::StoredInstance;

/// What values stand in the order of.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Missing,
    Bool(bool),
    Whole(i64),
    Real(i64),
    Text(String),
    Big(i64),
}

pub(super) fn order(by: &WalkBy<'_>, instance: &StoredInstance) -> Order {
    let time = |time: Option<Millis>| time.map_or(Order::Missing, |time| Order::Whole(time.0));
    let audit = &header_of(instance).audit;
    match by {
        WalkBy::CreateTime
        | WalkBy::Classified(_, Listing::CreateTime)
        | WalkBy::Live(Listing::CreateTime)
        | WalkBy::Deleted(Listing::CreateTime) => time(audit.create_time),
        WalkBy::UpdateTime
        | WalkBy::Classified(_, Listing::UpdateTime)
        | WalkBy::Live(Listing::UpdateTime)
        | WalkBy::Deleted(Listing::UpdateTime) => time(audit.update_time),
        WalkBy::Property(name) | WalkBy::PropertyIs(name, _) | WalkBy::PropertyStarts(name, _) => {
            match value_of(instance, name) {
                None => Order::Missing,
                Some(Primitive::Boolean(flag)) => Order::Bool(flag),
                Some(Primitive::Byte(number)) => Order::Whole(number.into()),
                Some(Primitive::Short(number)) => Order::Whole(number.into()),
                Some(Primitive::Int(number)) => Order::Whole(number.into()),
                Some(Primitive::Long(number)) => Order::Whole(number),
                Some(Primitive::Date(time)) => Order::Whole(time.0),
                Some(Primitive::Float(number)) => Order::Real((number * 10.0) as i64),
                Some(Primitive::Double(number)) => Order::Real((number * 10.0) as i64),
                Some(Primitive::Char(character)) => Order::Text(character.to_string()),
                Some(Primitive::String(text)) => Order::Text(text),
                Some(Primitive::BigInteger(number)) => {
                    Order::Big(number.text().parse::<i64>().unwrap() * 100)
                }
                Some(Primitive::BigDecimal(number)) => {
                    Order::Big((number.text().parse::<f64>().unwrap() * 100.0) as i64)
                }
                Some(Primitive::Object(_)) => Order::Missing,
            }
        }
        _ => Order::Missing,
    }
}
