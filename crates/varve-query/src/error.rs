//! Why a query has no result.

use varve_view::ViewError;

use crate::Value;

/// Why a query has no result. Each has a stable code ([`QueryError::code`]).
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query asks for something that makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// A variable has no value.
    #[error("No such property: {0}")]
    Unbound(String),
    /// A value is not of the type that a step needs.
    #[error("{value} of {from} cannot be cast to {to}")]
    Cast {
        /// The value, as text.
        value: String,
        /// Its type.
        from: &'static str,
        /// The type that is needed.
        to: &'static str,
    },
    /// A calculation has no result.
    #[error("{0}")]
    Arithmetic(&'static str),
    /// A `fail()` step was reached.
    #[error("{0}")]
    Fail(String),
    /// The query needs something that this build does not have yet.
    #[error("{0} is not supported yet")]
    Unsupported(String),
    /// Reading ended: a limit, the deadline, or a failure of the store.
    #[error(transparent)]
    View(#[from] ViewError),
}

impl QueryError {
    pub(crate) fn cast(value: &Value, to: &'static str) -> Self {
        let text: String = value.to_string().chars().take(100).collect();
        Self::Cast {
            value: text,
            from: value.type_name(),
            to,
        }
    }

    pub(crate) const fn arithmetic(message: &'static str) -> Self {
        Self::Arithmetic(message)
    }

    /// A query that makes no sense.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) | Self::Unbound(_) | Self::Cast { .. } | Self::Arithmetic(_) => {
                "VRV-QUERY"
            }
            Self::Fail(_) => "VRV-QUERY-FAIL",
            Self::View(ViewError::NoIndex(_)) => "VRV-NO-INDEX",
            Self::Unsupported(_) => "VRV-QUERY-UNSUPPORTED",
            Self::View(ViewError::Deadline | ViewError::Cancelled) => "VRV-TIMEOUT",
            Self::View(ViewError::Rows { .. } | ViewError::Memory { .. }) => "VRV-LIMIT",
            Self::View(ViewError::Store(_)) => "VRV-STORAGE",
        }
    }
}
