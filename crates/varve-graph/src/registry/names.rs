//! Names of graphs, and of their spaces.

use varve_kv::{LOCK_FILE, is_space_name};

use crate::error::GraphError;

/// Longest graph name, in bytes. Leaves room for the generation within the 48 bytes of a space's
/// name.
pub const GRAPH_NAME_BYTES_MAX: usize = 40;

/// Refuses a name that is not a valid graph name.
pub(super) fn check_name(name: &str) -> Result<(), GraphError> {
    let letter_first = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if letter_first && name.len() <= GRAPH_NAME_BYTES_MAX && is_space_name(name) {
        return Ok(());
    }
    let rule = match name {
        LOCK_FILE => "it is the name of a file of the storage engine".to_owned(),
        _ => format!(
            "valid graph name is up to {GRAPH_NAME_BYTES_MAX} alpha-numeric characters and underscores and only letters \
             are supported as first letter"
        ),
    };
    Err(GraphError::invalid(format!(
        "Invalid graph name '{name}', {rule}"
    )))
}

/// Returns the name of the space of a generation.
pub(super) fn space_name(graph: &str, generation: u32) -> String {
    if generation == 0 {
        graph.to_owned()
    } else {
        format!("_{generation}_{graph}")
    }
}

/// Returns the graph to which the space with this name belongs; `None` if it belongs to none.
#[must_use]
pub fn graph_of_space(space: &str) -> Option<&str> {
    parse_space_name(space).map(|(graph, _)| graph)
}

/// Splits a space's name into the graph's name and the generation; `None` if it is not a graph's.
pub(super) fn parse_space_name(space: &str) -> Option<(&str, u32)> {
    let Some(rest) = space.strip_prefix('_') else {
        return Some((space, 0));
    };
    let (generation, name) = rest.split_once('_')?;
    Some((name, generation.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_space_says_whose_it_is() {
        for (graph, generation) in [("a_b", 12), ("a_1", 0), ("a", 1)] {
            let name = space_name(graph, generation);
            assert_eq!(parse_space_name(&name), Some((graph, generation)));
        }
        assert_eq!(parse_space_name("_x_a"), None);
    }
}
