//! What the store is compared with: lists of the whole states that instances had.

use std::collections::BTreeMap;

use varve_omrs::json::Millis;
use varve_omrs::store::*;

/// States by GUID, oldest first; `None` = there is none from then on.
pub(super) type Histories<T> = BTreeMap<String, Vec<(Millis, Option<T>)>>;

#[derive(Default)]
pub(super) struct Model {
    pub(super) entities: Histories<StoredEntity>,
    pub(super) relationships: Histories<StoredRelationship>,
}

pub(super) fn at_time<T>(states: &[(Millis, Option<T>)], at: Option<Millis>) -> Option<&T> {
    let mut states = states.iter().rev();
    let found = states.find(|(from, _)| at.is_none_or(|at| *from <= at));
    found.and_then(|(_, state)| state.as_ref())
}

pub(super) fn put<T>(
    histories: &mut Histories<T>,
    guid: &str,
    state: T,
    from: Millis,
    since: bool,
) {
    let states = histories.entry(guid.to_owned()).or_default();
    if since {
        states.retain(|(earlier, _)| *earlier < from);
    }
    states.push((from, Some(state)));
}
