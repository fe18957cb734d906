//! What an answer says: to a write, of what is stored; to a read, whether there was one.

use serde_json::Value as Json;

use crate::acknowledged::leaves_open;
use crate::server::Response;

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is stored.
    Done,
    /// It is not stored and never will be.
    Refused,
    /// It may be stored, or may be later.
    Unknown,
}

/// What an answer, or none, says. Some 503s leave it open ([`leaves_open`]); any other is a promise
/// that nothing was stored.
pub(crate) fn outcome(answer: Option<&Response>, request: &str) -> Outcome {
    match answer {
        Some((200..=299, _)) => Outcome::Done,
        Some((503, body)) if leaves_open(body) => Outcome::Unknown,
        Some((503, _)) => Outcome::Refused,
        None => Outcome::Unknown,
        // Named in the list of refusals that nothing explains.
        Some((500..=599, _)) => Outcome::Unknown,
        Some((status, body)) => panic!("{request}: {status} {body}"),
    }
}

/// What a read found; `None` when there was no answer, or a 503. Anything else is no refusal.
pub(crate) fn found(answer: Option<Response>, request: &str) -> Option<Json> {
    match answer? {
        (200, body) => Some(body),
        (503, _) => None,
        (status, body) => panic!("{request}: {status} {body}"),
    }
}

#[test]
fn a_write_whose_leader_was_lost_is_left_open() {
    let error_body = |cause: &str| serde_json::json!({ "message": "why", "cause": cause });
    let judged = |cause| outcome(Some(&(503, error_body(cause))), "x");
    assert_eq!(judged("VRV-OUTCOME-UNKNOWN"), Outcome::Unknown);
    assert_eq!(judged(""), Outcome::Refused);
}

#[test]
fn a_read_is_answered_or_refused() {
    let answered = |status: u16| Some((status, Json::from(7)));
    assert_eq!(found(answered(200), "x"), Some(Json::from(7)));
    assert_eq!(found(answered(503), "x"), None);
    assert_eq!(found(None, "x"), None);
    for status in [204, 400, 404, 500, 504] {
        let judged = std::panic::catch_unwind(|| found(answered(status), "x"));
        assert!(judged.is_err(), "{status}");
    }
}
