//! Values of Gremlin on the wire: GraphSON 3.0 and GraphBinary 1.0, read and written.
//!
//! [`Value`] has every type of both formats. [`Value::into_gremlin`] converts bytecode to the input
//! of [`varve_gremlin::bytecode`].

mod budget;
mod error;
pub mod flat;
pub mod graphbinary;
pub mod graphson;
mod gremlin;
mod json;
mod message;
mod number;
mod value;

pub use budget::{NESTING_MAX, VALUE_BYTES, VALUES_MAX};
pub use error::{Result, WireError};
pub use message::{
    Format, Frame, Items, Request, Response, count_request, read_request, read_response,
    request_id, wants_texts, write_request, write_response,
};
pub use value::*;
