//! Stores of backups: a folder or a bucket of S3 in which each backup is one small manifest, and
//! each file is kept once, under its checksum.
//!
//! ```text
//! manifests/20261130T141924.123Z    the manifest of a backup, as varve_graph::backup writes it
//! files/<SHA-256>                   a file of one or more backups
//! ```
//! The files of RocksDB never change, so a backup stores only those that are new. Its manifest is
//! stored last: a backup that was cut short is invisible, and the next one uses its files. At most
//! one process may write to a store at a time.

mod bucket;
mod folder;
mod keep;
mod place;
mod store;

pub use keep::Keep;
pub use place::{Location, PlaceOptions};
pub use store::{Store, Stored, stored_bytes};
