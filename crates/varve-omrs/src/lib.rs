//! The open-metadata repository (OMRS): its types, its instances, the requests of its REST API, and
//! the rules between them.
//!
//! An OMRS repository has *entities*, *relationships* between two of them, and *classifications* of
//! entities. Each is an instance of a *type*. Types are data: they inherit from one another and can
//! be added while the repository runs. This crate has these as typed values ([`types`],
//! [`instances`], [`requests`]), their validation ([`validate`]), the store of instances on a graph
//! ([`graph_store`]) and the values that it exchanges ([`store`]), the operations of the repository
//! ([`repository`]), and the errors of the API ([`error`]).
//!
//! Clients rely on the exact JSON of the API: which property is left out, which comes first, how an
//! error is encoded. So the values decode and encode themselves ([`json`]), without a second model
//! in the server. This crate must not know HTTP or any engine.
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
