//! The REST API of the open-metadata repository (OMRS): 99 calls below
//! `/servers/{serverName}/open-metadata/repository-services`.
//!
//! This API differs from HugeGraph's in nearly everything, so its module is separate: the HTTP
//! status is 200 whatever happened and the failure is in the body, in the response's class of the
//! very call; bodies and answers are read and written by `varve-omrs`. Each module of calls has a
//! table of [`call!`](call::call) lines, each with the contract's name of the method, its path,
//! where it runs, the class of its response, and what it asks the repository. Reads of the present
//! by GUID run in place; searches, reads of the past and writes on the pool, since the first two
//! have no bound (an instance may have a hundred thousand states) and the last wait for the disk.

mod call;
mod classifications;
mod config;
mod entities;
mod history;
mod identity;
mod reference_copies;
mod relationships;
mod repository_of;
mod searches;
mod types;

pub use config::OmrsConfig;
pub use repository_of::RepositoryOf;

use varve_omrs::json::Limits;

use crate::route::Route;

/// The tables of all calls.
pub(crate) fn tables() -> Vec<&'static [Route]> {
    vec![
        types::ROUTES,
        entities::ROUTES,
        relationships::ROUTES,
        classifications::ROUTES,
        history::ROUTES,
        searches::ROUTES,
        identity::ROUTES,
        reference_copies::ROUTES,
    ]
}

/// The metadata repository that a server is, and how it is reached.
pub struct Metadata {
    /// The repository.
    pub repository: RepositoryOf,
    /// The graph that keeps it, which nothing else may change.
    pub graph: String,
    /// The names by which paths may call the server; none = any.
    pub server_names: Vec<String>,
    /// What a body may hold.
    pub limits: Limits,
}

impl std::fmt::Debug for Metadata {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Metadata")
            .field("graph", &self.graph)
            .field("server_names", &self.server_names)
            .finish_non_exhaustive()
    }
}

impl Metadata {
    /// Whether the server goes by this name.
    fn is_called(&self, name: &str) -> bool {
        self.server_names.is_empty() || self.server_names.iter().any(|known| known == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{Action, Handler};

    #[test]
    fn nothing_that_goes_through_states_runs_in_place() {
        let routes = || tables().into_iter().flatten();
        let of_the_past = routes().filter(|route| route.pattern.contains("/history"));
        let mut count = 0;
        for route in of_the_past {
            let is_pooled = matches!(route.handler, Handler::Pooled(_));
            assert!(is_pooled, "{} runs in place", route.pattern);
            count += 1;
        }
        assert!(count > 10, "{count}");
        let present = routes().find(|route| route.pattern.ends_with("instances/entity/{guid}"));
        let handler = present.map(|route| route.handler);
        assert!(matches!(handler, Some(Handler::Inline(_))));
    }

    #[test]
    fn changes_of_types_have_the_longer_time_limit() {
        let mut count = 0;
        for route in tables().into_iter().flatten() {
            let is_of_types = route.pattern.contains("/{userId}/types");
            let changes_types = route.access.action == Action::Schema;
            assert!(is_of_types || !changes_types, "{}", route.pattern);
            assert_eq!(route.lengthy, changes_types, "{}", route.pattern);
            count += usize::from(changes_types);
        }
        assert_eq!(count, 10);
    }
}
