//! Cypher: a text is parsed into a syntax tree, the tree is bound to a plan, and the plan runs in
//! batches of rows on a graph view. Queries and commands are read in the spellings of openCypher 9,
//! Cypher 5 and, where they mean the same, GQL.
//!
//! [`parse`] reads a text, and a [`tree`] prints as text that is read as an equal tree. [`prepare`]
//! also resolves names and checks static types; [`run()`] gives the rows.
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
//! Errors have the names of openCypher's TCK: class, detail and phase. What is not supported is an
//! error before the query runs. The parser bounds the depth of nesting, and the binder the number
//! of operators that call one another; the caller bounds the length of texts.

mod bind;
mod error;
mod evaluate;
mod expression;
mod filters;
mod functions;
mod held;
mod instants;
mod labels;
mod lexer;
mod literals;
mod lookups;
mod names;
pub mod numbers;
mod parser;
mod plan;
mod prepared;
mod printer;
mod procedures;
mod run;
mod sizes;
pub mod temporal;
#[cfg(test)]
mod testing;
pub mod tree;
pub mod value;
mod words;

pub use error::{CypherError, Error, ErrorClass, ErrorKind, ParseError, Phase, Result};
pub use functions::versions::history;
pub use names::{FunctionShown, function_names, functions_shown, labels_of};
pub use parser::{NESTING_MAX, parse};
pub use plan::explain::PlanTree;
pub use prepared::{Context, Prepared, QueryKind, QueryTimes, Rows, prepare, run};
pub use procedures::{NoProcedures, ProcedureField, Procedures, Signature};
pub use run::{Batch, Counters, Measured};
pub use sizes::Sizes;
pub use value::{Graph, Map, Node, Path, Relationship, Value};
