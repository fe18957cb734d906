//! What requests may take of the server together: slots and bytes ([`admission`]), threads
//! ([`lanes`]), and the memory of queries ([`memory`]); what each user ([`users`]) and each
//! transaction ([`transactions`]) may take; and what runs now ([`running`]).

pub mod admission;
pub mod lanes;
pub mod memory;
pub mod running;
pub mod transactions;
pub mod users;
