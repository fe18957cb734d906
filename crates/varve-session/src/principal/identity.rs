//! The identity of a client, and the checks of its rights.

use std::sync::Arc;

use varve_auth::{Permission, Principal, Reach, ResourceType, Rights};
use varve_view::ErrorKind;

use super::rights::{self, Right};
use crate::{Action, Failure};

/// The identity of a client.
#[derive(Debug, Clone)]
pub enum Identity {
    /// Anybody: authentication is off, and everything is allowed.
    Anybody,
    /// A client without credentials: only requests that need no rights are allowed.
    Unknown,
    /// A user.
    User(Arc<Principal>),
}

impl Identity {
    /// The user, if authentication is on and the client is authenticated.
    pub fn user(&self) -> Option<&Arc<Principal>> {
        match self {
            Self::User(principal) => Some(principal),
            Self::Anybody | Self::Unknown => None,
        }
    }

    /// Whether the client may do everything.
    pub fn is_administrator(&self) -> bool {
        self.has(Rights::is_administrator)
    }

    /// Whether the client uses an API token that allows less than its user's rights.
    pub fn is_restricted(&self) -> bool {
        self.user().is_some_and(|user| user.is_restricted)
    }

    /// Whether the client may know that the graph exists: it may read some part of the graph.
    pub fn sees(&self, graph: &str) -> bool {
        self.has(|rights| rights.reaches(graph, Permission::Read))
    }

    /// Whether the client has every right on the graph.
    pub fn administers(&self, graph: &str) -> bool {
        self.has(|rights| rights.administer(graph))
    }

    /// The owner of the tasks that the client submits; `None` without a user.
    pub fn owner(&self) -> Option<String> {
        self.user().map(|user| user.account().to_string())
    }

    /// Whether the client may run queries on at least one graph.
    pub fn may_query(&self) -> bool {
        self.has(|rights| rights.reaches_somewhere(Permission::Execute, ResourceType::Gremlin))
    }

    /// Whether authentication is off, or the user has these rights.
    fn has(&self, wanted: impl FnOnce(&Rights) -> bool) -> bool {
        match self {
            Self::Anybody => true,
            Self::Unknown => false,
            Self::User(principal) => wanted(&principal.rights),
        }
    }

    /// # Errors
    /// [`ErrorKind::Denied`] unless the client has each of these rights on all the graph's
    /// resources of the right's type.
    pub fn check(&self, graph: &str, rights: &[Right]) -> Result<(), Failure> {
        let lacks = |right: &&Right| self.reach(graph, **right) != Reach::All;
        rights.iter().find(lacks).map_or(Ok(()), denied(graph))
    }

    /// # Errors
    /// [`ErrorKind::Denied`] unless the client has each of these rights on the graph. For vertices
    /// and edges, a right on some of them is enough; for other types, it must be on all resources
    /// of the type.
    pub fn check_elements(&self, graph: &str, rights: &[Right]) -> Result<(), Failure> {
        let lacks = |right: &&Right| match (right.1, self.reach(graph, **right)) {
            (ResourceType::Vertex | ResourceType::Edge, reach) => reach == Reach::Nothing,
            (_, reach) => reach != Reach::All,
        };
        rights.iter().find(lacks).map_or(Ok(()), denied(graph))
    }

    /// # Errors
    /// [`ErrorKind::Denied`] if the client has none of these rights on any resource of the graph.
    /// Without `rights` there is no error.
    pub fn check_one(&self, graph: &str, rights: &[Right]) -> Result<(), Failure> {
        let has = |right: &Right| self.reach(graph, *right) != Reach::Nothing;
        match rights.iter().any(has) {
            true => Ok(()),
            false => rights.first().map_or(Ok(()), denied(graph)),
        }
    }

    /// Checks a query. The client's view and policy then decide about each element.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] if the client may take this action on no part of the graph.
    pub fn check_query(&self, action: Action, graph: &str) -> Result<(), Failure> {
        match action {
            Action::Read | Action::Query => self.check_elements(graph, rights::QUERY_READS),
            Action::Write => {
                self.check_elements(graph, rights::QUERY_READS)?;
                self.check_one(graph, rights::ELEMENTS_CHANGED)
            }
            Action::Schema | Action::Administer => self.check(graph, rights::QUERY_CHANGES_SCHEMA),
        }
    }

    /// # Errors
    /// [`ErrorKind::Denied`] if a query of the client may not read the graph's schema.
    pub fn check_query_of_schema(&self, graph: &str) -> Result<(), Failure> {
        let reads = self.check(graph, rights::QUERY_READS);
        reads.or_else(|_| self.check(graph, rights::QUERY_READS_SCHEMA))
    }

    fn reach(&self, graph: &str, (permission, kind): Right) -> Reach {
        match self {
            Self::Anybody => Reach::All,
            Self::Unknown => Reach::Nothing,
            Self::User(principal) => principal.rights.reach(graph, permission, kind),
        }
    }
}

/// The failure for a missing right.
fn denied(graph: &str) -> impl Fn(&Right) -> Result<(), Failure> {
    move |(permission, kind)| {
        Err(Failure::new(
            ErrorKind::Denied,
            format!(
                "Permission denied: {} Resource{{graph={graph},type={},operated=*}}",
                permission.name().to_ascii_lowercase(),
                kind.name()
            ),
        ))
    }
}
