//! The JSON of the contract, on top of [`varve_json`]: dates, objects that inherit properties, and
//! values that several objects of a document share.

mod date;
mod object;
mod shared;

pub use date::Millis;
pub(crate) use object::{Fields, json_enum, json_object};
pub(crate) use shared::MakeLater;
pub use shared::Shared;
pub use varve_json::{
    Decode, Encode, Field, JsonError, Known, Limits, Pieces, RawJson, Reader, Writer, decode,
    encode, encode_within,
};
