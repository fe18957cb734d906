//! Gremlin as a syntax tree. Three kinds of input become a [`tree`]: texts of gremlin-lang 3.8 and
//! older versions, the scripts of HugeGraph's clients, and bytecode. A printer writes a tree as
//! text.
//!
//! [`bind`] makes a plan from a traversal. [`execute`] runs the statements of a script on a host.

#![allow(
    clippy::mutable_key_type,
    reason = "a vertex is its id; what is filled in later is not hashed"
)]

pub mod bind;
pub mod bytecode;
mod calls;
mod datetime;
mod error;
pub mod execute;
mod lexer;
mod literals;
mod names;
mod parser;
mod printer;
mod script;
mod signatures;
pub mod tree;
mod writing;

pub use error::{ErrorCode, ParseError, Result};
pub use literals::NUMBER_DIGITS_MAX;
pub use parser::{
    NESTING_MAX, SCRIPT_BYTES_MAX, STEPS_MAX, parse_script, parse_script_with, parse_traversal,
};
pub use script::SCRIPT_METHODS;
pub use signatures::{predicate_forms, source_forms, step_forms};
