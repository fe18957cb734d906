//! Java's regular expressions: the dialect of strings in requests of OMRS, and of `TextP.regex` in
//! Gremlin.
//!
//! An expression is parsed as Java does and translated for the `regex` crate, whose time is linear
//! in the length of the text. Features that this crate lacks (back references, look-around,
//! possessive repetition) are not supported.

mod finder;
mod java_class;
mod java_regex;
mod pattern;
mod translate;

pub use finder::Finder;
pub use java_regex::Fault;
pub use pattern::{Pattern, Shape};
