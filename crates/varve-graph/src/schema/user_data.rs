//! Rules of a schema element's user data.

use varve_model::Datum;
use varve_model::schema::{CREATE_TIME, Retention, create_time_text};
use varve_model::time::Instant;

use super::retention::{HISTORY, parse_retention, retention_text};
use crate::{ErrorKind, GraphError};

/// The user data members of a request.
pub type UserData = Vec<(String, Datum)>;

/// Refuses null values when user data is created or appended.
pub(super) fn refuse_nulls(given: &[(String, Datum)]) -> Result<(), GraphError> {
    if given.iter().any(|(_, value)| *value == Datum::Null) {
        return Err(GraphError::new(
            ErrorKind::NotAllowed,
            "Not allowed to pass null userdata value when create or append schema",
        ));
    }
    Ok(())
}

/// Returns the user data of a new element: the given members, and `now` as its time of creation. If
/// the members have a time of creation, it stays: a restored element keeps its own.
pub(super) fn created(given: UserData, now: Instant) -> Datum {
    let mut data = Datum::Map(Vec::with_capacity(given.len() + 1));
    append(&mut data, given);
    if data.get(CREATE_TIME).is_none() {
        data.set(CREATE_TIME, Datum::Text(create_time_text(now)));
    }
    data
}

/// Puts members, replacing those with the same name.
pub(super) fn append(data: &mut Datum, given: UserData) {
    for (name, value) in given {
        data.set(&name, value);
    }
}

/// Removes the named members; the given values are ignored.
pub(super) fn eliminate(data: &mut Datum, given: &[(String, Datum)]) {
    if let Datum::Map(members) = data {
        members.retain(|(name, _)| given.iter().all(|(gone, _)| gone != name));
    }
}

/// Returns the retention in a request, from its member `history` or from [`HISTORY`] in its user
/// data; `None` if it gives neither.
///
/// # Errors
/// If the user data has it but not as a text, if both are given and differ, or if the text is not a
/// retention.
pub(super) fn asked_retention(
    history: Option<&str>,
    given: &[(String, Datum)],
) -> Result<Option<Retention>, GraphError> {
    let member = given.iter().find(|(name, _)| name == HISTORY);
    let in_data = match member {
        None => None,
        Some((_, Datum::Text(text))) => Some(text.as_str()),
        Some(_) => {
            return Err(GraphError::invalid(
                "The user data '~history' must be a text",
            ));
        }
    };
    if let (Some(one), Some(other)) = (history, in_data)
        && one != other
    {
        return Err(GraphError::invalid(format!(
            "The history is given twice: '{one}' and '{other}'"
        )));
    }
    history.or(in_data).map(parse_retention).transpose()
}

/// Puts [`HISTORY`] into user data, or removes it if the retention is the default.
pub(super) fn show_retention(data: &mut Datum, retention: Retention) {
    if retention == Retention::All {
        eliminate(data, &[(HISTORY.to_owned(), Datum::Null)]);
    } else {
        data.set(HISTORY, Datum::Text(retention_text(retention)));
    }
}
