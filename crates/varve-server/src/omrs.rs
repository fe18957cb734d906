//! The REST API of the open-metadata repository (OMRS): 99 calls below
//! `/servers/{serverName}/open-metadata/repository-services`.
//!
//! This API differs from HugeGraph's in nearly everything, so its module is separate. The HTTP
//! status is always 200; a failure is in the body, in the response class of the call. `varve-omrs`
//! decodes bodies and encodes answers. Each module of calls has a table of [`call!`](call::call)
//! lines: the contract's name of the method, its path, where it runs, the class of its response,
//! and its work on the repository. Reads of the present by GUID run in place. Searches and reads of
//! the past run on the pool, since their cost has no bound (an instance may have a hundred thousand
//! states), and so do writes, since they wait for the disk.

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

/// A server's metadata repository.
pub struct Metadata {
    /// The repository.
    pub repository: RepositoryOf,
    /// The graph that stores the repository. Nothing else may change it.
    pub graph: String,
    /// The names of the server that paths may use; empty = any.
    pub server_names: Vec<String>,
    /// The limits of a body.
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
    /// Whether a path may use this name for the server.
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
