//! JSON as the contract of the open-metadata repository has it: read in one pass into typed values, written from them.
//!
//! Not serde, for five reasons. A polymorphic object says its kind in its property `class`, and serde would buffer each
//! such object, level by level, to find it; here the property is looked up ahead. Objects inherit properties, which serde
//! flattens through the same buffers. Numbers of any size keep their digits (`bigdecimal`, `biginteger`) without a feature
//! of `serde_json` that would change every other crate. Depth, size and number of values are bounded ([`Limits`]). And an
//! error names the path of what is wrong ([`JsonError`]).
//!
//! Two rules hold everywhere: `null` means the same as a missing property, and unknown properties are skipped.

mod codec;
mod date;
mod error;
mod object;
mod pieces;
mod raw;
mod reader;
mod scan;
mod shared;
mod writer;

pub use codec::{Decode, Encode, Field, decode, encode, encode_within};
pub use date::Millis;
pub use error::JsonError;
pub(crate) use object::{Fields, json_enum, json_object};
pub use pieces::Pieces;
pub use raw::RawJson;
pub use reader::{Known, Limits, Reader};
pub(crate) use shared::MakeLater;
pub use shared::Shared;
pub use writer::Writer;
