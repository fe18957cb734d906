//! JSON for servers and tools. It is read in one pass into typed values, or into a tree that keeps
//! the digits of numbers and the order of members, and is written from either.
//!
//! Not serde, for five reasons. A polymorphic object names its type in its property `class`, and
//! serde would buffer each such object, level by level, to find it; here the property is looked up
//! ahead. Objects inherit properties, which serde flattens through the same buffers. Numbers of any
//! size keep their digits without a feature of `serde_json` that would change every other crate.
//! Depth, size and number of values are bounded ([`Limits`]). And an error names the path to the
//! faulty value ([`JsonError`]).
//!
//! Two rules hold for typed values: `null` means the same as a missing property, and unknown
//! properties are skipped.

mod codec;
mod error;
mod escape;
mod pieces;
mod raw;
mod reader;
mod scan;
mod tree;
mod writer;

pub use codec::{Decode, Encode, Field, decode, encode, encode_within};
pub use error::{Fault, JsonError};
pub use escape::{Escaping, escape, must_escape, write_string};
pub use pieces::Pieces;
pub use raw::RawJson;
pub use reader::{Known, Limits, Reader};
pub use scan::plain_end;
pub use tree::Json;
pub use writer::Writer;
