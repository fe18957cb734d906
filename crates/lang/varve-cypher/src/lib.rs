//! Cypher as a syntax tree: queries, commands and `SHOW`, in the spellings of openCypher 9,
//! Cypher 5 and, where they mean the same, GQL. [`parse`] reads a text, and a [`tree`] prints as
//! text that is read as an equal tree.
//!
//! The parser resolves no names and checks no types. It bounds the depth of nesting; the caller
//! bounds the length of texts.

mod error;
mod lexer;
mod literals;
mod parser;
mod printer;
pub mod tree;
mod words;

pub use error::{ErrorKind, ParseError, Result};
pub use parser::{NESTING_MAX, parse};
