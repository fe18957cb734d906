//! Indexes: which entries an element has, how text is split into words, and the building and
//! removing of whole indexes.
//!
//! Entries are hints (see `docs/architecture.md`): an entry says that an element *may* match. An
//! element's entries are a pure function of the index label, the element's id and its properties.
//! So each write of an element derives the entries of its old and of its new state, and stores the
//! difference.

mod derived;
mod derived_rebuild;
mod entries;
mod existing;
mod holders;
mod rebuild;
mod repair;
pub mod tokenizer;
mod uniqueness;

pub use derived::{
    DERIVED_FIRST_BYTES_MAX, DerivedEntries, Deriver, DeriverSource, GIVEN_EDGE_IDS,
};
pub(crate) use derived::{derived_entries, given_first, may_have_derived};
pub use derived_rebuild::{rebuild_derived, visit_states};
pub use entries::{IndexEntry, edge_label_entry, entries, vertex_label_entry};
pub use existing::check_existing;
pub(crate) use holders::holders;
pub(crate) use rebuild::{rebuild, remove};
pub(crate) use repair::{add_missing, element_of, remove_surplus};
pub(crate) use uniqueness::{conflict, has_values};
