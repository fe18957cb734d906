//! Failures of requests, and what they mean for the request.

use rustls::{AlertDescription, CertificateError, Error as TlsError};
use scylla::errors::{
    BrokenConnectionError, BrokenConnectionErrorKind, ConnectionError, ConnectionPoolError,
    ConnectionSetupRequestErrorKind, DbError, ExecutionError, FrameHeaderParseError, MetadataError,
    NewSessionError, PrepareError, RequestAttemptError,
};
use varve_kv::KvError;

/// The prefix of a node's message when it could not read the roles, and so cannot check a password.
const ROLES_AWAY: &str = "Unable to perform authentication";
/// The prefix of a node's message when it could not read the rights of a role, since too few
/// replicas of them are up. It checks rights before it carries out anything, every two seconds by
/// default.
const RIGHTS_AWAY: &str = "Unable to perform authorization";
/// A node's messages about a table or keyspace that it does not have, by version.
const NOT_HERE: [&str; 2] = ["does not exist", "unconfigured table"];
/// A node's messages when it refuses a request for its size, for which there is no error code.
const TOO_LARGE: [&str; 5] = [
    "too large",
    "too long",
    "longer than",
    "oversized",
    "exceeds",
];

/// The messages of a node, or of the coordinator, about a read that met too many tombstones.
const TOMBSTONES: [&str; 2] = ["READ_TOO_MANY_TOMBSTONES", "tombstone_failure_threshold"];
/// The advice about tombstones.
const TOMBSTONES_REMEDY: &str = "they go with the compactions after the table's gc_grace_seconds (10 days if nothing else is \
    set); until then a larger tombstone_failure_threshold lets the nodes read on";

/// How a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It was not carried out: no node could be reached, or too few replicas were up.
    NotDone(String),
    /// It was not carried out and never will be: the cluster refuses it.
    Refused(String),
    /// It was not carried out: there is no list of spaces in the cluster, and none was to be
    /// created.
    NoList(String),
    /// It was not carried out: the node does not have the table. Other nodes may have it, if this
    /// one was down when it was created.
    NotHere(String),
    /// It was not carried out: another process is creating or removing its subject.
    InUse(String),
    /// As [`Failure::Refused`], because the request is too large.
    TooLarge(String),
    /// A read was given up because of too many tombstones.
    Tombstones(String),
    /// It may have been carried out, or may be later.
    Unknown(String),
}

impl Failure {
    /// The message, for people.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::NotDone(text)
            | Self::Refused(text)
            | Self::NoList(text)
            | Self::NotHere(text)
            | Self::InUse(text)
            | Self::TooLarge(text)
            | Self::Tombstones(text)
            | Self::Unknown(text) => text,
        }
    }

    /// Whether a retry is useless.
    pub(crate) fn for_good(&self) -> bool {
        matches!(
            self,
            Self::Refused(_)
                | Self::NoList(_)
                | Self::InUse(_)
                | Self::TooLarge(_)
                | Self::Tombstones(_)
        )
    }

    /// Returns the error for a read.
    pub(crate) fn into_error(self, space: &str) -> KvError {
        let space = space.to_owned();
        match self {
            Self::NotDone(detail) | Self::NotHere(detail) | Self::Unknown(detail) => {
                KvError::Away { space, detail }
            }
            Self::TooLarge(detail) => KvError::TooLarge { space, detail },
            Self::Tombstones(detail) => KvError::Tombstones {
                space,
                detail: format!("{detail}; {TOMBSTONES_REMEDY}"),
            },
            Self::Refused(detail) => KvError::Io { space, detail },
            Self::InUse(detail) => KvError::InUse { space, detail },
            Self::NoList(detail) => KvError::Missing {
                store: format!("keyspace '{space}'"),
                detail,
            },
        }
    }

    /// Returns the error for a write of which nothing is stored. Later writes may succeed, once the
    /// cause of a refusal is removed.
    pub(crate) fn unwritten(self, space: &str) -> KvError {
        match self {
            Self::Refused(detail) => KvError::ReadOnly {
                space: space.to_owned(),
                detail,
            },
            other => other.into_error(space),
        }
    }

    /// Returns the error for the opening, creation or removal of a space.
    pub(crate) fn opening(self, space: &str) -> KvError {
        match self {
            Self::TooLarge(detail) | Self::Refused(detail) => KvError::Unavailable {
                space: space.to_owned(),
                detail,
            },
            // An opening reads only small tables, whose tombstones are soon removed.
            Self::Tombstones(detail) => KvError::Away {
                space: space.to_owned(),
                detail,
            },
            other => other.into_error(space),
        }
    }

    /// Returns the worst of several failures of one write: the one after which least is known about
    /// what is stored.
    pub(crate) fn worst(failures: impl IntoIterator<Item = Self>) -> Option<Self> {
        failures.into_iter().max_by_key(|failure| match failure {
            Self::Refused(_)
            | Self::NoList(_)
            | Self::InUse(_)
            | Self::TooLarge(_)
            | Self::Tombstones(_) => 0,
            Self::NotDone(_) | Self::NotHere(_) => 1,
            Self::Unknown(_) => 2,
        })
    }
}

impl From<ExecutionError> for Failure {
    fn from(error: ExecutionError) -> Self {
        let text = error.to_string();
        match &error {
            ExecutionError::EmptyPlan
            | ExecutionError::ConnectionPoolError(_)
            | ExecutionError::PrepareError(_) => Self::NotDone(text),
            // The statements fit the tables, so the values must be too long or too many.
            ExecutionError::BadQuery(_) => Self::TooLarge(text),
            ExecutionError::LastAttemptError(attempt) => of_attempt(attempt, text),
            _ => Self::Unknown(text),
        }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Self {
        let text = error.to_string();
        match &error {
            PrepareError::ConnectionPoolError(error) => of_pool(error, text),
            PrepareError::AllAttemptsFailed { first_attempt } => {
                match of_attempt(first_attempt, text.clone()) {
                    // All nodes were asked, not only one that was down when a table was created.
                    Self::Refused(text) | Self::NotHere(text) => Self::Refused(text),
                    _ => Self::NotDone(text),
                }
            }
            _ => Self::NotDone(text),
        }
    }
}

impl From<NewSessionError> for Failure {
    fn from(error: NewSessionError) -> Self {
        let text = error.to_string();
        match &error {
            NewSessionError::MetadataError(MetadataError::ConnectionPoolError(error)) => {
                of_pool(error, text)
            }
            _ => Self::NotDone(text),
        }
    }
}

fn of_pool(error: &ConnectionPoolError, text: String) -> Failure {
    let ConnectionPoolError::Broken {
        last_connection_error: error,
    } = error
    else {
        return Failure::NotDone(text);
    };
    match error {
        ConnectionError::IoError(error) => of_handshake(error).unwrap_or(Failure::NotDone(text)),
        ConnectionError::ConnectionSetupRequestError(error) => of_login(&error.error, text),
        _ => Failure::NotDone(text),
    }
}

/// Returns whether a failed connection can ever succeed.
fn of_login(error: &ConnectionSetupRequestErrorKind, text: String) -> Failure {
    use ConnectionSetupRequestErrorKind as Kind;
    match error {
        Kind::MissingAuthentication => Failure::Refused(format!(
            "the cluster asks for a role and its password, and none are given ({text})"
        )),
        Kind::DbError(DbError::AuthenticationError, words) if !words.contains(ROLES_AWAY) => {
            Failure::Refused(text)
        }
        Kind::DbError(DbError::Unauthorized, words) if !words.contains(RIGHTS_AWAY) => {
            Failure::Refused(text)
        }
        // From this side's view, a node refuses a certificate only after the handshake.
        Kind::BrokenConnection(error) => of_broken(error).unwrap_or(Failure::NotDone(text)),
        _ => Failure::NotDone(text),
    }
}

fn of_broken(error: &BrokenConnectionError) -> Option<Failure> {
    let error = match error.downcast_ref::<BrokenConnectionErrorKind>()? {
        BrokenConnectionErrorKind::WriteError(error) => error,
        BrokenConnectionErrorKind::FrameHeaderParseError(FrameHeaderParseError::HeaderIoError(
            error,
        )) => error,
        _ => return None,
    };
    of_handshake(error)
}

/// Returns the failure of a TLS handshake: [`Failure::Refused`] if a retry would not help, and
/// [`Failure::NotDone`] if it may. Returns `None` if `error` is not of TLS, or the node only closed
/// the connection.
fn of_handshake(error: &std::io::Error) -> Option<Failure> {
    let error = error.get_ref()?.downcast_ref::<TlsError>()?;
    Some(Failure::Refused(match error {
        TlsError::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "a node's certificate is not signed by any that is trusted".to_owned()
        }
        TlsError::InvalidCertificate(wrong) if is_of_name(wrong) => format!(
            "a node's certificate does not name the IP address that it was reached by ({error})"
        ),
        TlsError::InvalidCertificate(_) => format!("a node's certificate is refused: {error}"),
        TlsError::InvalidMessage(_) => format!(
            "a node does not speak TLS at this port: is its client encryption switched on? ({error})"
        ),
        TlsError::AlertReceived(alert) => match alert {
            AlertDescription::CloseNotify | AlertDescription::UserCanceled => return None,
            // Cassandra sends this alert for a certificate that it does not trust, and for many
            // other errors.
            AlertDescription::InternalError => {
                return Some(Failure::NotDone(format!(
                    "the node broke off the handshake ({error}): perhaps it does not trust the certificate of this server, its log says more"
                )));
            }
            AlertDescription::CertificateRequired => {
                "the node asks for a certificate of this server, and none is given".to_owned()
            }
            AlertDescription::BadCertificate
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateExpired
            | AlertDescription::UnsupportedCertificate => {
                format!("the node refuses the certificate of this server, or misses one ({error})")
            }
            _ => format!("the node refused the handshake ({error})"),
        },
        _ => format!("the handshake failed: {error}"),
    }))
}

/// Whether a certificate is refused because it does not name the address of its node.
pub(crate) fn is_of_name(error: &CertificateError) -> bool {
    matches!(
        error,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
    )
}

/// Whether the node no longer had the prepared statement, and so has not carried it out.
pub(crate) fn is_unprepared(error: &ExecutionError) -> bool {
    matches!(
        error,
        ExecutionError::LastAttemptError(RequestAttemptError::DbError(
            DbError::Unprepared { .. },
            _
        ))
    )
}

fn of_attempt(error: &RequestAttemptError, text: String) -> Failure {
    match error {
        RequestAttemptError::UnableToAllocStreamId => Failure::NotDone(text),
        RequestAttemptError::SerializationError(_)
        | RequestAttemptError::CqlRequestSerialization(_) => Failure::TooLarge(text),
        RequestAttemptError::DbError(error, words) => match error {
            DbError::Unavailable { .. } | DbError::IsBootstrapping | DbError::Unprepared { .. } => {
                Failure::NotDone(text)
            }
            // Rights are checked, and tables looked up, before anything is carried out.
            DbError::Unauthorized if words.contains(RIGHTS_AWAY) => Failure::NotDone(text),
            DbError::AuthenticationError if words.contains(ROLES_AWAY) => Failure::NotDone(text),
            DbError::Invalid if NOT_HERE.iter().any(|sign| words.contains(sign)) => {
                Failure::NotHere(text)
            }
            DbError::ReadFailure { .. } if TOMBSTONES.iter().any(|sign| words.contains(sign)) => {
                Failure::Tombstones(text)
            }
            DbError::Invalid if TOO_LARGE.iter().any(|sign| words.contains(sign)) => {
                Failure::TooLarge(text)
            }
            DbError::SyntaxError
            | DbError::Invalid
            | DbError::AlreadyExists { .. }
            | DbError::AuthenticationError
            | DbError::Unauthorized
            | DbError::ConfigError => Failure::Refused(text),
            _ => Failure::Unknown(text),
        },
        _ => Failure::Unknown(text),
    }
}

/// The failure for an answer of an unexpected form.
pub(crate) fn unreadable(error: impl std::fmt::Display) -> Failure {
    Failure::Unknown(format!("the cluster's answer cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: DbError) -> Failure {
        ExecutionError::from(RequestAttemptError::DbError(error, "why".to_owned())).into()
    }

    #[test]
    fn only_what_cannot_have_happened_is_reported_as_not_done() {
        assert!(matches!(of(DbError::IsBootstrapping), Failure::NotDone(_)));
        assert!(matches!(of(DbError::Overloaded), Failure::Unknown(_)));
        assert!(matches!(of(DbError::ServerError), Failure::Unknown(_)));
        assert!(matches!(of(DbError::Invalid), Failure::Refused(_)));
        assert!(matches!(
            ExecutionError::EmptyPlan.into(),
            Failure::NotDone(_)
        ));
        let late = ExecutionError::RequestTimeout(std::time::Duration::from_secs(1));
        assert!(matches!(late.into(), Failure::Unknown(_)));
    }

    #[test]
    fn what_the_cluster_never_takes_is_not_reported_as_retryable() {
        let of = |words: &str| -> Failure {
            let attempt = RequestAttemptError::DbError(DbError::Invalid, words.to_owned());
            ExecutionError::from(attempt).into()
        };
        let large = of("Rejected an oversized mutation (20000000/16777216) for keyspace: k");
        assert!(matches!(large.into_error("s"), KvError::TooLarge { .. }));
        let other = of("Guardrail tables violated");
        assert!(other.for_good());
        let written = other.clone().unwritten("s");
        assert!(matches!(written, KvError::ReadOnly { .. }), "{written}");
        assert!(matches!(other.into_error("s"), KvError::Io { .. }));
        let away = Failure::Unknown("late".to_owned());
        assert!(!away.for_good());
        assert!(matches!(away.into_error("s"), KvError::Away { .. }));
    }

    fn failure_of(error: DbError, words: &str) -> Failure {
        ExecutionError::from(RequestAttemptError::DbError(error, words.to_owned())).into()
    }

    #[test]
    fn rights_that_cannot_be_read_are_waited_for_and_those_that_are_missing_are_not() {
        for words in [
            "Unable to perform authorization of permissions: Cannot achieve consistency level LOCAL_QUORUM",
            "Unable to perform authorization of permissions: Unable to perform authorization of super-user permission: \
             Operation timed out - received only 0 responses.",
            "Unable to perform authorization of login permission: Cannot achieve consistency level QUORUM",
        ] {
            let away = failure_of(DbError::Unauthorized, words);
            assert!(matches!(away, Failure::NotDone(_)), "{away:?}");
            assert!(matches!(away.into_error("s"), KvError::Away { .. }));
            use ConnectionSetupRequestErrorKind as Kind;
            let login = Kind::DbError(DbError::Unauthorized, words.to_owned());
            let login = of_login(&login, words.to_owned());
            assert!(matches!(login, Failure::NotDone(_)), "{login:?}");
        }
        let words = "User graphs has no MODIFY permission on <table varve_g_0.vertex> or any of its parents";
        let missing = failure_of(DbError::Unauthorized, words);
        assert!(matches!(missing, Failure::Refused(_)), "{missing:?}");
        let written = missing.unwritten("s");
        assert!(matches!(written, KvError::ReadOnly { .. }), "{written}");
    }

    #[test]
    fn a_table_that_one_node_lacks_is_asked_of_others_and_one_that_all_lack_is_refused() {
        for words in [
            "table vertex does not exist",
            "keyspace varve_g_0 does not exist",
            "unconfigured table vertex",
        ] {
            let one = failure_of(DbError::Invalid, words);
            assert!(matches!(one, Failure::NotHere(_)), "{one:?}");
            assert!(!one.for_good());
            assert!(matches!(one.clone().opening("s"), KvError::Away { .. }));
            assert!(matches!(one.unwritten("s"), KvError::Away { .. }));
            let first_attempt = RequestAttemptError::DbError(DbError::Invalid, words.to_owned());
            let all: Failure = PrepareError::AllAttemptsFailed { first_attempt }.into();
            assert!(matches!(all, Failure::Refused(_)), "{all:?}");
            let opening = all.opening("s");
            assert!(matches!(opening, KvError::Unavailable { .. }), "{opening}");
        }
    }

    #[test]
    fn removed_rows_in_the_way_are_no_node_that_is_away() {
        let of = |words: &str| -> Failure {
            let failed = DbError::ReadFailure {
                consistency: scylla::statement::Consistency::LocalQuorum,
                received: 0,
                required: 1,
                numfailures: 1,
                data_present: false,
            };
            ExecutionError::from(RequestAttemptError::DbError(failed, words.to_owned())).into()
        };
        let received = "Operation failed - received 0 responses and 1 failures: ";
        let many = of(&format!(
            "{received}READ_TOO_MANY_TOMBSTONES from /127.0.0.1:7000"
        ));
        let error = many.into_error("s");
        assert!(matches!(error, KvError::Tombstones { .. }));
        assert!(error.to_string().contains("gc_grace_seconds"), "{error}");
        let other = of(&format!("{received}UNKNOWN from /127.0.0.1:7000"));
        assert!(matches!(other.into_error("s"), KvError::Away { .. }));
    }

    #[test]
    fn a_wrong_password_is_not_waited_for() {
        use ConnectionSetupRequestErrorKind as Kind;
        let of = |kind: Kind| of_login(&kind, kind.to_string());
        let refused = |words: &str| Kind::DbError(DbError::AuthenticationError, words.to_owned());
        let wrong = of(refused("Provided username a and/or password are incorrect"));
        assert!(matches!(wrong.opening("s"), KvError::Unavailable { .. }));
        assert!(of(Kind::MissingAuthentication).for_good());
        let away = of(refused("Unable to perform authentication: no replica"));
        assert!(matches!(away.opening("s"), KvError::Away { .. }));
        assert!(!of(Kind::UnableToAllocStreamId).for_good());
    }

    fn of_tls(error: TlsError) -> Option<Failure> {
        of_handshake(&std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    }

    #[test]
    fn a_handshake_that_cannot_succeed_is_not_tried_again() {
        let unknown = TlsError::InvalidCertificate(CertificateError::UnknownIssuer);
        let words = of_tls(unknown).expect("it says something");
        assert!(words.for_good() && words.text().contains("not signed by any"));
        let name = TlsError::InvalidCertificate(CertificateError::NotValidForName);
        assert!(of_tls(name).is_some_and(|failure| failure.text().contains("IP address")));
        let none = TlsError::AlertReceived(AlertDescription::CertificateRequired);
        assert!(of_tls(none).is_some_and(|failure| failure.text().contains("none is given")));
        let unclear = of_tls(TlsError::AlertReceived(AlertDescription::InternalError));
        assert!(unclear.is_some_and(|failure| !failure.for_good()));
        assert!(of_handshake(&std::io::ErrorKind::ConnectionRefused.into()).is_none());
    }

    #[test]
    fn of_several_failures_the_one_that_leaves_most_open_counts() {
        let [one, two, three] = [
            Failure::Refused(String::new()),
            Failure::NotDone(String::new()),
            Failure::Unknown(String::new()),
        ];
        let worst = |of: &[&Failure]| Failure::worst(of.iter().copied().cloned());
        assert_eq!(worst(&[&three, &two, &one]), Some(three.clone()));
        assert_eq!(worst(&[&one, &two]), Some(two));
        assert_eq!(worst(&[]), None);
    }
}
