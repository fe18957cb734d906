//! Tests of the catalogue: each rule with its recorded message, persistence, removal, and crashes.

mod bench;
mod index_labels;
mod labels;
mod modes;
mod open;
mod persistence;
mod property_keys;
mod removal;
