//! Cypher as a syntax tree: queries, commands and `SHOW`, in the spellings of openCypher 9,
//! Cypher 5 and, where they mean the same, GQL. [`parse`] reads a text, and a [`tree`] prints as
//! text that is read as an equal tree.
//!
//! ```
//! let tree = varve_cypher::parse("match (a)-->(b) where a.x > 1 return b.y")?;
//! assert_eq!(tree.to_string(), "MATCH (a)-->(b) WHERE a.x > 1 RETURN b.y");
//!
//! let error = varve_cypher::parse("RETURN 12a").unwrap_err();
//! assert_eq!(error.kind.detail(), "InvalidNumberLiteral");
//! assert_eq!((error.line, error.column), (1, 8));
//! # Ok::<(), varve_cypher::ParseError>(())
//! ```
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
