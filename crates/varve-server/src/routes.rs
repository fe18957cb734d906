//! The table of all resources, put together from the modules that own them.

use crate::route::Route;

/// All tables. A module adds its own here.
pub(crate) fn tables() -> Vec<&'static [Route]> {
    let mut tables = vec![
        crate::global::ROUTES,
        crate::admin::ROUTES,
        crate::explore::ROUTES,
        crate::load::ROUTES,
        crate::queries::ROUTES,
        crate::gremlin::ROUTES,
        crate::cypher::ROUTES,
        crate::sharing::ROUTES,
        crate::sharing::USERS_ROUTES,
        crate::sharing::FOLLOWING_ROUTES,
        crate::ui::ROUTES,
    ];
    tables.extend(crate::hugegraph::tables());
    tables.extend(crate::omrs::tables());
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{Action, Class, Scope, Verb};

    #[test]
    fn what_a_route_declares_fits_its_path() {
        for route in tables().into_iter().flatten() {
            let scope = match route.pattern.split('/').collect::<Vec<_>>()[..] {
                ["graphs" | "db", "{graph}", ..] | ["gremlin"] => Scope::Graph,
                ["servers", ..] => Scope::Metadata,
                ["admin", ..] => Scope::Administration,
                _ => Scope::Server,
            };
            assert_eq!(route.access.scope, scope, "{}", route.pattern);
        }
    }

    #[test]
    fn what_changes_something_never_draws_from_the_budget_of_reads() {
        for route in tables().into_iter().flatten() {
            let (action, class) = (route.access.action, route.class);
            assert!(
                !action.changes() || class != Class::Read,
                "{}",
                route.pattern
            );
            assert!(
                action.may_change() || class != Class::Write,
                "{}",
                route.pattern
            );
            // No route with DELETE or PUT only reads.
            let is_read = action == Action::Read;
            assert!(
                !is_read || !matches!(route.verb, Verb::Delete | Verb::Put),
                "{}",
                route.pattern
            );
        }
    }
}
