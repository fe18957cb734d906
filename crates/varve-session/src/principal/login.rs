//! Logins: from a proof to an identity.

use std::net::IpAddr;
use std::sync::Arc;

use varve_auth::{Auth, AuthError, Login, Principal, Proof, Proved};

use crate::{Database, Failure, Identity};

/// A password that is not checked yet.
pub struct PendingLogin {
    auth: Arc<Auth>,
    login: Login,
}

impl PendingLogin {
    /// A login that begins.
    pub const fn new(auth: Arc<Auth>, login: Login) -> Self {
        Self { auth, login }
    }

    /// The user name.
    pub fn user(&self) -> &str {
        self.login.user()
    }

    /// Checks the password. That takes about 20 ms of a core by design ([`super::Logins`]).
    ///
    /// # Errors
    /// [`varve_view::ErrorKind::Unauthenticated`] if it is wrong;
    /// [`varve_view::ErrorKind::Throttled`] when too many logins wait.
    pub async fn finish(self, database: &Database) -> Result<Arc<Principal>, Failure> {
        let check = move || self.auth.finish(&self.login);
        Ok(database.logins.run(check).await??)
    }
}

impl Database {
    /// The current identity of a client that authenticated earlier, perhaps with this token. An
    /// identity without a user stays as it is.
    ///
    /// # Errors
    /// [`varve_view::ErrorKind::Unauthenticated`] if it is no longer valid; those of
    /// [`Database::current_auth`].
    pub fn renewed(&self, before: &Identity, token: Option<&str>) -> Result<Identity, Failure> {
        let Some((auth, principal)) = self.current_auth()?.zip(before.user()) else {
            return Ok(before.clone());
        };
        let now = match token {
            Some(token) => auth.check(token),
            None => auth.again(principal),
        };
        Ok(Identity::User(now.ok_or(AuthError::Failed)?))
    }

    /// Authenticates a client by a message of its connection.
    ///
    /// # Errors
    /// [`varve_view::ErrorKind::Unauthenticated`] if the proof is wrong, or authentication is off;
    /// [`varve_view::ErrorKind::Throttled`] after too many failures; those of
    /// [`Database::current_auth`].
    pub async fn log_in(&self, proof: Proof, address: IpAddr) -> Result<Identity, Failure> {
        let auth = self.current_auth()?.ok_or(AuthError::Missing)?;
        let user = match proof {
            Proof::Token(token) => auth.check(&token).ok_or(AuthError::Failed)?,
            Proof::Password { user, password } => match auth.enter(&user, &password, address)? {
                Proved::Known(user) => user,
                Proved::Pending(login) => {
                    let login = PendingLogin::new(Arc::clone(auth), login);
                    login.finish(self).await?
                }
            },
        };
        Ok(Identity::User(user))
    }
}
