//! The table of all resources, put together from the rooms that own them.

use crate::route::Route;

/// All tables. A room adds its own here.
pub(crate) fn tables() -> Vec<&'static [Route]> {
    let mut tables = vec![
        crate::global::ROUTES,
        crate::admin::ROUTES,
        crate::sharing::ROUTES,
    ];
    tables.extend(crate::hugegraph::tables());
    tables.extend(crate::omrs::tables());
    tables
}
