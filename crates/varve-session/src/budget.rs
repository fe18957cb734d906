//! What requests may take of the server together: slots and bytes ([`admission`]), threads
//! ([`lanes`]), and the memory of queries ([`memory`]).

pub mod admission;
pub mod lanes;
pub mod memory;
