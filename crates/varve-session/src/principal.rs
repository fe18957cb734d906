//! Who asks: the identity of a client, its rights, and its policy for elements.

mod identity;
mod login;
mod logins;
mod policies;
pub mod rights;

pub use identity::Identity;
pub use login::PendingLogin;
pub use logins::{LoginLimits, Logins};
pub use policies::{Policies, ReadCondition};
