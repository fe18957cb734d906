//! The states of a connection at the server.
//!
//! The server calls [`State::admit`] for each request in its turn. If the request is allowed, the
//! server runs it, and calls [`State::after_success`] or [`State::after_failure`]. A RESET acts
//! twice: [`State::interrupted`] when it arrives, ahead of the requests before it, and then in its
//! turn.

use crate::error::{BoltError, Result};
use crate::handshake::Version;
use crate::request::Kind;

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// The version is chosen; HELLO is next.
    Negotiated,
    /// The client said HELLO or LOGOFF; LOGON is next. Since 5.1.
    Authentication,
    /// No transaction is open.
    Ready,
    /// A query outside BEGIN has records.
    Streaming,
    /// A transaction is open, and no query in it has records.
    TxReady,
    /// A query in a transaction has records.
    TxStreaming,
    /// A request failed; all others are ignored until RESET.
    Failed,
    /// RESET has arrived, and requests before it are ignored.
    Interrupted,
    /// The connection is closed, or closes after the last response.
    Defunct,
}

/// What the server does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It runs the request.
    Allowed,
    /// It answers IGNORED, and the state stays.
    Ignored,
}

impl State {
    /// Whether the state allows a request.
    ///
    /// # Errors
    /// [`BoltError::NotAllowed`] for a violation of the protocol: the server answers FAILURE, and
    /// the connection is [`State::Defunct`].
    pub const fn admit(self, request: Kind) -> Result<Admission> {
        let allowed = match (self, request) {
            (Self::Defunct, _) => false,
            (_, Kind::Goodbye) => true,
            (Self::Negotiated, Kind::Hello) | (Self::Authentication, Kind::Logon) => true,
            (Self::Negotiated | Self::Authentication, _) | (_, Kind::Hello) => false,
            (_, Kind::Reset) => true,
            (Self::Failed | Self::Interrupted, _) => return Ok(Admission::Ignored),
            (
                Self::Ready,
                Kind::Logoff | Kind::Run | Kind::Begin | Kind::Route | Kind::Telemetry,
            ) => true,
            (Self::Streaming, Kind::Pull | Kind::Discard) => true,
            (Self::TxReady, Kind::Run | Kind::Commit | Kind::Rollback) => true,
            (Self::TxStreaming, Kind::Run | Kind::Pull | Kind::Discard) => true,
            (Self::Ready | Self::Streaming | Self::TxReady | Self::TxStreaming, _) => false,
        };
        match allowed {
            true => Ok(Admission::Allowed),
            false => Err(BoltError::NotAllowed {
                request,
                state: self,
            }),
        }
    }

    /// The state after an allowed request has succeeded. `has_records` says whether any result of
    /// the connection still has records that PULL or DISCARD can ask for; only the answers to these
    /// two depend on it.
    #[must_use]
    pub fn after_success(self, request: Kind, version: Version, has_records: bool) -> State {
        match request {
            Kind::Hello if version >= Version::V5_1 => State::Authentication,
            Kind::Hello | Kind::Logon | Kind::Reset | Kind::Commit | Kind::Rollback => State::Ready,
            Kind::Logoff => State::Authentication,
            Kind::Goodbye => State::Defunct,
            Kind::Begin => State::TxReady,
            Kind::Run if self == State::Ready => State::Streaming,
            Kind::Run => State::TxStreaming,
            Kind::Pull | Kind::Discard if has_records => self,
            Kind::Pull | Kind::Discard if self == State::Streaming => State::Ready,
            Kind::Pull | Kind::Discard => State::TxReady,
            Kind::Route | Kind::Telemetry => self,
        }
    }

    /// The state after an allowed request has failed.
    #[must_use]
    pub const fn after_failure(self, request: Kind) -> State {
        match request {
            Kind::Hello | Kind::Logon | Kind::Reset | Kind::Goodbye => State::Defunct,
            _ => State::Failed,
        }
    }

    /// The state when a RESET has arrived. Before the authentication it has no effect ahead of its
    /// turn.
    #[must_use]
    pub const fn interrupted(self) -> State {
        match self {
            State::Negotiated | State::Authentication | State::Defunct => self,
            _ => State::Interrupted,
        }
    }
}
