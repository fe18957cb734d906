//! Java regular expressions that a whole string must match, with the budget of their request.

use std::sync::Arc;

use varve_pattern::Fault;
pub use varve_pattern::Shape;

use super::Effort;
use crate::error::{Message, OmrsError};

/// A Java regular expression that a whole string must match.
#[derive(Debug, Clone)]
pub struct Pattern {
    pattern: varve_pattern::Pattern,
    /// The budget of the request that the pattern belongs to.
    effort: Option<Arc<Effort>>,
}

impl Pattern {
    /// Parses an expression. `parameter` is the name of the request parameter that contains it.
    ///
    /// # Errors
    /// `InvalidParameterException` when Java rejects it too; `FunctionNotSupportedException` when
    /// it needs a feature that is not supported, is longer than 64 KiB, or is too large when
    /// compiled.
    pub fn new(text: &str, parameter: &str) -> Result<Self, OmrsError> {
        let fault = |fault| match fault {
            Fault::Syntax(why) => {
                OmrsError::of_parameter(Message::BadPattern, parameter, &[parameter, &why])
            }
            Fault::NotSupported(why) => {
                OmrsError::new(Message::PatternNotSupported, &[parameter, &why])
            }
        };
        Ok(Self {
            pattern: varve_pattern::Pattern::new(text).map_err(fault)?,
            effort: None,
        })
    }

    /// Parses an expression of a request, whose cost counts against the request's budget.
    ///
    /// # Errors
    /// As [`Pattern::new`]; `InvalidParameterException` when the request has too many expressions,
    /// or they are too large when compiled; `RepositoryErrorException` when the request's time is
    /// over, or a comparison was refused ([`Effort::check`]). An expression that is recognised as a
    /// quoted text by its form is never refused.
    pub fn of_request(
        text: &str,
        parameter: &str,
        effort: &Arc<Effort>,
    ) -> Result<Self, OmrsError> {
        if !varve_pattern::Pattern::is_quote(text) {
            effort.check_time()?;
        }
        let pattern = Self::new(text, parameter)?;
        match pattern.pattern.compiled_bytes() {
            0 => {}
            bytes => effort.add(bytes, parameter)?,
        }
        Ok(Self {
            effort: Some(Arc::clone(effort)),
            ..pattern
        })
    }

    /// The pattern that only `text` matches.
    #[must_use]
    pub fn exactly(text: &str) -> Self {
        Self {
            pattern: varve_pattern::Pattern::exactly(text),
            effort: None,
        }
    }

    /// Whether all of `text` matches. Returns false without a comparison once the request's budget
    /// is used up, and if this comparison could take too long; [`Effort::check`] then fails.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let allows = |effort: &Arc<Effort>| effort.allows(self.pattern.steps(text));
        self.effort.as_ref().is_none_or(allows) && self.pattern.matches(text)
    }

    /// What all matching strings have in common.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.pattern.shape()
    }
}
