//! The Bolt protocol, versions 4.4 and 5.0 to 5.8, as a server speaks it. The crate does no I/O.
//!
//! Bytes of a client go through these modules in this order:
//!
//! 1. [`handshake`] chooses the version.
//! 2. [`framing`] joins chunks to messages.
//! 3. [`request`] reads a message, with the values of [`packstream`].
//! 4. [`state`] decides whether the connection's state allows the request.
//! 5. [`response`] writes the answer, with the elements and dates of [`structures`].
//!
//! Every length in a message is checked against the bytes left before memory is allocated, so
//! memory stays in proportion to the message: see [`packstream::read`].

#![forbid(unsafe_code)]

mod error;
pub mod framing;
pub mod handshake;
pub mod packstream;
pub mod request;
pub mod response;
pub mod state;
pub mod structures;

pub use error::{BoltError, Result};
pub use handshake::Version;
pub use packstream::{Map, Value};
pub use request::{Kind, Request};
pub use response::{Failure, Response};
pub use state::State;
