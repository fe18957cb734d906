//! Logins of a connection, and the audit trail.

use std::sync::Arc;

use varve_auth::Proof;
use varve_bolt::request::Authentication;
use varve_graph::GraphError;
use varve_graph::optimistic::PartCheck;
use varve_session::audit::{Entry, login_name, status_of};
use varve_session::{Action, Failure};
use varve_view::ErrorKind;

use super::desk::Desk;

impl Desk {
    /// Authenticates the client. Each attempt is a line of the audit trail.
    pub(super) async fn log_in(&mut self, authentication: Authentication) -> Result<(), Failure> {
        let name = match &authentication {
            Authentication::Basic { principal, .. } => Some(login_name(principal)),
            Authentication::None | Authentication::Bearer { .. } => None,
        };
        let done = self.authenticate(authentication).await;
        if self.worker.state.auth().is_some() {
            self.audit("LOGON", name.as_deref(), (None, Action::Administer), &done);
        }
        done
    }

    async fn authenticate(&mut self, authentication: Authentication) -> Result<(), Failure> {
        if self.worker.state.auth().is_none() {
            return Ok(());
        }
        self.check_address()?;
        let (token, proof) = match authentication {
            Authentication::None => {
                let message = "This server needs a user name and a password, or a token";
                return Err(Failure::new(ErrorKind::Unauthenticated, message));
            }
            Authentication::Basic {
                principal: user,
                credentials: password,
            } => (None, Proof::Password { user, password }),
            Authentication::Bearer { credentials } => {
                (Some(credentials.clone()), Proof::Token(credentials))
            }
        };
        self.identity = self.database().log_in(proof, self.address).await?;
        self.token = token;
        Ok(())
    }

    /// # Errors
    /// [`ErrorKind::Denied`] if the white list refuses the client's address.
    fn check_address(&self) -> Result<(), Failure> {
        let auth = self.worker.state.auth();
        match auth.is_none_or(|auth| auth.permits(self.address)) {
            true => Ok(()),
            false => Err(Failure::new(
                ErrorKind::Denied,
                format!("Remote ip '{}' is not permitted", self.address),
            )),
        }
    }

    /// Identifies the client again.
    ///
    /// # Errors
    /// When its address or its credentials are no longer accepted.
    pub(super) fn renew_identity(&mut self) -> Result<(), Failure> {
        self.check_address()?;
        let database = self.worker.state.database();
        self.identity = database.renewed(&self.identity, self.token.as_deref())?;
        Ok(())
    }

    /// A check that refuses further commits of one query on a graph once the user has lost rights
    /// since its begin.
    pub(super) fn part_check(&self, graph: &str) -> PartCheck {
        let database = Arc::clone(self.worker.state.database());
        let (before, token) = (self.identity.clone(), self.token.clone());
        let graph = graph.to_owned();
        let check = move || {
            let now = database.renewed(&before, token.as_deref())?;
            now.check_query(Action::Write, &graph)?;
            match before.user().zip(now.user()) {
                Some((before, now)) if !now.rights.contain(&before.rights) => {
                    Err(Failure::new(ErrorKind::Denied, "User not authorized."))
                }
                _ => Ok(()),
            }
        };
        Arc::new(move || {
            check().map_err(|failure: Failure| GraphError::new(failure.kind, failure.message))
        })
    }

    /// # Errors
    /// [`ErrorKind::NotSupported`] for a request on behalf of another user.
    pub(super) fn check_impersonation(&self, of: Option<&str>) -> Result<(), Failure> {
        let own = self.identity.user().map(|user| user.name.as_str());
        match of {
            Some(name) if own != Some(name) => Err(Failure::new(
                ErrorKind::NotSupported,
                "Requests on behalf of another user are not supported",
            )),
            _ => Ok(()),
        }
    }

    /// Writes a line of the audit trail.
    pub(super) fn audit<T>(
        &self,
        method: &str,
        login: Option<&str>,
        (graph, action): (Option<&str>, Action),
        done: &Result<T, Failure>,
    ) {
        let Some(audit) = self.worker.state.audit() else {
            return;
        };
        audit.note(&Entry {
            user: self.identity.user().map(|user| user.name.as_str()),
            login,
            request: None,
            address: self.address,
            method,
            route: Some("bolt"),
            action: Some(action),
            graph,
            status: done.as_ref().map_or_else(status_of, |_| 200),
        });
    }
}
