//! Gremlin as a tree. Texts of gremlin-lang 3.8 and the older forms, the scripts that HugeGraph's
//! clients send, and bytecode are parsed into one [`tree`]; a printer writes a tree as text.
//!
//! The crate knows no graph and runs nothing.

mod names;
pub mod tree;
