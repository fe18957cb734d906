//! Temporal values: the proleptic Gregorian calendar for the years ±999,999,999, nanoseconds, and
//! time zones by offset or name.

mod arithmetic;
mod between;
mod calendar;
mod clock;
mod components;
mod construct;
pub(crate) mod parse;
mod print;
#[cfg(test)]
mod tests;
mod truncate;
mod types;
mod wire;
mod zone;

pub(crate) use arithmetic::Parts as DurationParts;
pub(crate) use between::{Units, between};
pub use clock::Clock;
pub(crate) use components::component;
pub(crate) use construct::{
    Kind, Parts, check_nanosecond, convert, from_map, from_nanos, out_of_range,
};
pub(crate) use print::{ClockText, OffsetText};
pub(crate) use truncate::truncate;
pub use types::{Date, DateTime, Duration, LocalDateTime, LocalTime, Time, YEAR_MAX};
pub(crate) use types::{NANOS_PER_DAY, NANOS_PER_SECOND};
pub use wire::read;
pub(crate) use zone::Zone;
