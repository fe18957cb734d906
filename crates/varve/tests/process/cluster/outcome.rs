//! What an answer to a write says of what is stored.

use crate::acknowledged::says_late;
use crate::server::Answer;

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

/// What an answer, or none, says. A 503 for the time limit leaves it open, as the work may go on; any other is a promise that
/// nothing was stored.
pub(crate) fn outcome(answer: Option<&Answer>, request: &str) -> Outcome {
    match answer {
        Some((200..=299, _)) => Outcome::Done,
        Some((503, body)) if says_late(body) => Outcome::Unknown,
        Some((503, _)) => Outcome::Refused,
        None => Outcome::Unknown,
        // Told of in the list of refusals that nothing explains.
        Some((500..=599, _)) => Outcome::Unknown,
        Some((status, body)) => panic!("{request}: {status} {body}"),
    }
}
