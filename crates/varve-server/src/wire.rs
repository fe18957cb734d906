//! The texts of the model in requests and answers, for every resource: instants and points of both
//! times, ids, values, properties and elements as JSON, conditions.

pub(crate) mod ids;
mod open_values;
pub(crate) mod output;
pub(crate) mod predicate;
pub(crate) mod raw;
pub(crate) mod time;
pub(crate) mod typed_values;
