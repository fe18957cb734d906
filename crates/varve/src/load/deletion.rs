//! Deletions of elements, as requests.

use serde_json::Value as Json;
use varve_load::{BatchKind, Period};

use crate::rest::{encode, id_in_path};

/// The part of a deletion's path after the resource of all elements. Dumps of older releases have
/// no label.
pub(super) fn deletion(id: &Json, label: Option<&str>, kind: BatchKind, period: &Period) -> String {
    let shown = id_in_path(id, kind == BatchKind::Edges);
    let mut path = format!("/{}", encode(&shown));
    // With a label, the server deletes the element in the whole period, whether or not it exists at
    // the start.
    let parameters = [
        ("label", label),
        ("valid_from", period.from.as_deref()),
        ("valid_to", period.to.as_deref()),
    ];
    let given = parameters
        .iter()
        .filter_map(|(name, value)| Some((name, (*value)?)));
    for (at, (name, value)) in given.enumerate() {
        path.push(if at == 0 { '?' } else { '&' });
        path.push_str(&format!("{name}={}", encode(value)));
    }
    path
}
