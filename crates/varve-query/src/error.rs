//! The errors of queries.

use std::borrow::Cow;

use varve_view::ViewError;

use crate::Value;

/// An error of a query. Each has a stable code ([`QueryError::code`]).
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query is invalid.
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
    /// The graph does not allow the change.
    #[error("{0}")]
    NotAllowed(String),
    /// The language of the query raised an error, which has a name there.
    #[error("{message}")]
    Script {
        /// The name of the error in the language.
        exception: Cow<'static, str>,
        /// What happened.
        message: String,
    },
    /// A limit of scripts is exceeded.
    #[error("{0}")]
    Limit(String),
    /// The query needs something that is not supported.
    #[error("{0} is not supported yet")]
    Unsupported(String),
    /// Reading the graph failed: a limit, the deadline, or an error of the store.
    #[error(transparent)]
    View(#[from] ViewError),
}

impl QueryError {
    /// A value has another type than the one needed.
    #[must_use]
    pub fn cast(value: &Value, to: &'static str) -> Self {
        Self::Cast {
            value: value.shown().to_string(),
            from: value.type_name(),
            to,
        }
    }

    pub(crate) const fn arithmetic(message: &'static str) -> Self {
        Self::Arithmetic(message)
    }

    /// A child has no result for a value, where a step needs one.
    pub(crate) fn unproductive(value: &Value) -> Self {
        Self::invalid(format!(
            "The provided traverser does not map to a value: {}",
            value.shown()
        ))
    }

    /// An invalid query.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }

    /// A property of a property that does not belong to a vertex.
    #[must_use]
    pub fn meta_property(owner: &str, key: &str) -> Self {
        Self::invalid(format!(
            "Properties of properties can only be set for a Vertex but the traversal encountered \
             {owner} for key: {key}"
        ))
    }

    /// An error of the language, by its name there.
    pub fn script(exception: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::Script {
            exception: exception.into(),
            message: message.into(),
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_)
            | Self::Unbound(_)
            | Self::Cast { .. }
            | Self::Arithmetic(_)
            | Self::NotAllowed(_)
            | Self::Script { .. } => "VRV-QUERY",
            Self::Fail(_) => "VRV-QUERY-FAIL",
            Self::View(ViewError::NoIndex(_)) => "VRV-NO-INDEX",
            Self::Unsupported(_) => "VRV-QUERY-UNSUPPORTED",
            Self::View(ViewError::Deadline | ViewError::Cancelled) => "VRV-TIMEOUT",
            Self::Limit(_) | Self::View(ViewError::Rows { .. } | ViewError::Memory { .. }) => {
                "VRV-LIMIT"
            }
            Self::View(ViewError::Store(_)) => "VRV-STORAGE",
        }
    }
}
