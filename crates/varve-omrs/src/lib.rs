//! The open-metadata repository (OMRS): its types, its instances, the requests of its REST API, and
//! the rules between them.
//!
//! An OMRS repository holds *entities*, *relationships* between two of them, and *classifications*
//! of entities, each an instance of a *type*; types are data, inherit from one another and can be
//! added while the repository runs. This crate has those nouns as typed values ([`types`],
//! [`instances`], [`requests`]), their validation ([`validate`]), the trait of a store of instances
//! ([`store`]), its implementation on a graph ([`graph_store`]), the operations of the repository
//! ([`repository`]), and the errors of the API ([`error`]).
//!
//! The key decision: the contract *is* its JSON (which property is left out, which comes first, how
//! an error is encoded), so the values read and write it themselves ([`json`]) rather than through
//! twins in the server. What it must not know: HTTP, any engine.
//!
//! ```
//! use varve_omrs::types::Catalogue;
//!
//! let types = Catalogue::built_in();
//! let database = types.by_name("Database").expect("a type of the standard");
//! let asset = types.by_name("Asset").expect("a type of the standard");
//! assert!(types.is_a(database, asset));
//! ```

pub mod error;
pub mod graph_queries;
pub mod graph_store;
pub mod instances;
pub mod json;
pub mod matching;
pub mod repository;
pub mod requests;
pub mod search;
pub mod store;
pub mod types;
pub mod validate;

pub use error::{Exception, OmrsError};
