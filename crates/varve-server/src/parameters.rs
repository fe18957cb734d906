//! Refuses query parameters that a resource does not take.
//!
//! HugeGraph ignores them. But a listing with a misspelt `limit` returns everything, a read with a
//! misspelt `as_of` reads the present, and a write changes the present. A parameter of time is also
//! refused when it is given twice.

use std::borrow::Cow;

use crate::errors::ApiError;
use crate::path;
use crate::route::Route;

/// The parameters of both times, as they are written and as they are compared: only lower-case
/// letters and digits.
const TIMES: [(&str, &str); 4] = [
    ("as_of", "asof"),
    ("as_of_tx", "asoftx"),
    ("valid_from", "validfrom"),
    ("valid_to", "validto"),
];

/// A name with this prefix means the parameter of time beside it. No parameter of HugeGraph has
/// one.
const BEGINNINGS: [(&str, &str); 3] =
    [("asof", "as_of"), ("tx", "as_of_tx"), ("valid", "valid_to")];

/// Longer names never mean a parameter of time.
const NAME_BYTES_MAX: usize = 32;

/// 400 if the text after a request's `?` has a parameter that the route does not take, or one of
/// time more than once.
pub(crate) fn check(route: &Route, query: &str) -> Result<(), ApiError> {
    let mut given = [false; TIMES.len()];
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let raw = pair.split_once('=').map_or(pair, |(name, _)| name);
        let name = if raw.contains(['%', '+']) {
            // A name that cannot be decoded is refused where the values are read.
            path::decode(raw, true).map_or(Cow::Borrowed(raw), Cow::from)
        } else {
            Cow::Borrowed(raw)
        };
        let place = TIMES.iter().position(|(known, _)| *known == name);
        if !takes(route, &name) {
            match meant(&name) {
                Some(meant) => return Err(refusal(route, &name, meant, place.is_some())),
                None if route.any_query => continue,
                None => return Err(unknown(route, &name)),
            }
        }
        if let Some(place) = place
            && std::mem::replace(&mut given[place], true)
        {
            return Err(ApiError::illegal_argument(format!(
                "The {name} parameter must be given only once"
            )));
        }
    }
    Ok(())
}

fn takes(route: &Route, name: &str) -> bool {
    route.parameters.iter().any(|known| known.name == name)
}

/// The 400 for a parameter that has nothing to do with time.
fn unknown(route: &Route, name: &str) -> ApiError {
    let mut taken = route.parameters.iter().map(|known| known.name);
    if let Some(near) = taken.find(|known| within_one_edit(name.as_bytes(), known.as_bytes())) {
        return ApiError::illegal_argument(format!(
            "Unknown parameter '{name}': did you mean '{near}'?"
        ));
    }
    let taken: Vec<&str> = route.parameters.iter().map(|known| known.name).collect();
    ApiError::illegal_argument(if taken.is_empty() {
        format!("Unknown parameter '{name}': this resource takes no parameters")
    } else {
        let taken = taken.join(", ");
        format!("Unknown parameter '{name}': this resource takes {taken}")
    })
}

/// The parameter of time that a name resembles.
fn meant(name: &str) -> Option<&'static str> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    let folded: Vec<u8> = letters.map(|byte| byte.to_ascii_lowercase()).collect();
    let near = TIMES
        .iter()
        .find(|(_, ours)| within_one_edit(&folded, ours.as_bytes()));
    let begins = BEGINNINGS
        .iter()
        .find(|(beginning, _)| folded.starts_with(beginning.as_bytes()));
    near.map(|(name, _)| *name)
        .or_else(|| begins.map(|(_, name)| *name))
}

/// Whether two texts are equal but for one letter more, less, or other, or two neighbours that
/// changed places.
fn within_one_edit(one: &[u8], other: &[u8]) -> bool {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one, other) {
        ([], []) => true,
        ([a, b, one @ ..], [c, d, other @ ..]) if (a, b) == (d, c) && one == other => true,
        _ => {
            one.get(1..) == Some(other)
                || other.get(1..) == Some(one)
                || (one.len() == other.len() && one.get(1..) == other.get(1..))
        }
    }
}

fn refusal(route: &Route, name: &str, meant: &str, exact: bool) -> ApiError {
    let taken: Vec<&str> = TIMES
        .iter()
        .map(|(ours, _)| *ours)
        .filter(|ours| takes(route, ours))
        .collect();
    ApiError::illegal_argument(if taken.is_empty() {
        format!("This resource has no times: it takes no parameter '{name}'")
    } else if taken.contains(&meant) {
        format!("Unknown parameter '{name}': did you mean '{meant}'?")
    } else {
        let what = if taken.contains(&"as_of") {
            "read"
        } else {
            "write"
        };
        let unknown = if exact {
            format!("The {name} parameter does not belong to a {what}")
        } else {
            format!("Unknown parameter '{name}'")
        };
        format!("{unknown}: a {what} takes {}", taken.join(" and "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HandlerResult;
    use crate::request::RequestContext;
    use crate::route::{Handler, Parameter, Scope};

    fn never(_: &RequestContext) -> HandlerResult {
        unreachable!("only the route's table is read")
    }

    const READ: Route = Route::get("read", Handler::Inline(never))
        .reads(Scope::Server)
        .with(&[
            Parameter::text("label"),
            Parameter::text("as_of"),
            Parameter::text("as_of_tx"),
        ]);
    const WRITE: Route = Route::post("write", Handler::Inline(never))
        .writes(Scope::Server)
        .with(&[Parameter::text("valid_from"), Parameter::text("valid_to")]);
    const TIMELESS: Route = Route::get("schema", Handler::Inline(never)).reads(Scope::Server);

    #[track_caller]
    fn refused(route: &Route, query: &str, message: &str) {
        let error = check(route, query).expect_err(query);
        assert_eq!(error.message(), message, "{query}");
        assert_eq!(error.status(), http::StatusCode::BAD_REQUEST);
    }

    #[test]
    fn what_is_taken_passes() {
        for query in [
            "",
            "&",
            "label=a&as_of=x&as_of_tx=y",
            "label=a&label=b&as_of=x",
            "label",
        ] {
            assert!(check(&READ, query).is_ok(), "{query}");
        }
        assert!(check(&WRITE, "valid_from=x&valid_to=y").is_ok());
    }

    #[test]
    fn what_is_not_taken_is_refused_and_the_nearest_is_named() {
        refused(
            &READ,
            "lable=a",
            "Unknown parameter 'lable': did you mean 'label'?",
        );
        refused(
            &READ,
            "label=a&soft=1",
            "Unknown parameter 'soft': this resource takes label, as_of, as_of_tx",
        );
        refused(
            &TIMELESS,
            "%zz=1",
            "Unknown parameter '%zz': this resource takes no parameters",
        );
        let long = format!("valid{}", "x".repeat(NAME_BYTES_MAX));
        refused(
            &READ,
            &format!("{long}=1"),
            &format!("Unknown parameter '{long}': this resource takes label, as_of, as_of_tx"),
        );
    }

    #[test]
    fn resources_of_other_contracts_ignore_what_they_do_not_know_but_for_misspelt_times() {
        const ANY: Route = Route::get("any", Handler::Inline(never))
            .reads(Scope::Server)
            .any_query();
        assert!(check(&ANY, "limit=2&sort_by=incr&%zz=1&=1").is_ok());
        refused(
            &ANY,
            "asOf=2020-01-01",
            "This resource has no times: it takes no parameter 'asOf'",
        );
    }

    #[test]
    fn misspelt_names_are_refused_with_the_right_one() {
        for (wrong, right) in [
            ("asof", "as_of"),
            ("as-of", "as_of"),
            ("As_Of", "as_of"),
            ("asOf", "as_of"),
            ("as%5Fof%5F", "as_of"),
            ("as_fo", "as_of"),
            ("as_off", "as_of"),
            ("a_of", "as_of"),
            ("as_of_valid", "as_of"),
            ("as_of_txt", "as_of_tx"),
            ("asOfTx", "as_of_tx"),
            ("as_of_t", "as_of"),
            ("tx", "as_of_tx"),
            ("tx_time", "as_of_tx"),
        ] {
            let shown = wrong.replace("%5F", "_");
            let message = format!("Unknown parameter '{shown}': did you mean '{right}'?");
            refused(&READ, &format!("label=a&{wrong}=2020-01-01"), &message);
        }
        for (wrong, right) in [
            ("validFrom", "valid_from"),
            ("valid_form", "valid_from"),
            ("vaild_to", "valid_to"),
            ("validto", "valid_to"),
            ("valid", "valid_to"),
        ] {
            let message = format!("Unknown parameter '{wrong}': did you mean '{right}'?");
            refused(&WRITE, &format!("{wrong}=2020-01-01"), &message);
        }
    }

    #[test]
    fn times_of_the_other_kind_and_times_where_there_are_none_are_refused() {
        refused(
            &READ,
            "valid_to=2020-01-01",
            "The valid_to parameter does not belong to a read: a read takes as_of and as_of_tx",
        );
        refused(
            &READ,
            "valid_at=2020-01-01",
            "Unknown parameter 'valid_at': a read takes as_of and as_of_tx",
        );
        refused(
            &WRITE,
            "valid_from=2020-01-01&as_of_tx=1",
            "The as_of_tx parameter does not belong to a write: a write takes valid_from and valid_to",
        );
        refused(
            &TIMELESS,
            "as_of=2020-01-01",
            "This resource has no times: it takes no parameter 'as_of'",
        );
    }

    #[test]
    fn a_time_is_given_once() {
        refused(
            &READ,
            "as_of=2020-01-01&as_of=2021-01-01",
            "The as_of parameter must be given only once",
        );
    }
}
