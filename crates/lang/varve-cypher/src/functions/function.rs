//! Scalar functions, and what their implementations share.

use std::fmt;

use super::types::{Returns, Types};
use crate::error::{CypherError, Outcome, type_error};
use crate::expression::Frame;
use crate::value::Value;

/// The code of a function. It gets as many arguments as the call has.
pub(crate) type Body = fn(&[Value], &Frame<'_>) -> Outcome<Value>;

/// A scalar function.
pub(crate) struct Function {
    /// The name as it is documented, such as `toUpper`.
    pub(crate) name: &'static str,
    /// The types that each parameter takes. Null is allowed everywhere.
    pub(crate) parameters: &'static [Types],
    /// How many of the parameters a call must have.
    pub(crate) required: usize,
    /// Whether the last parameter repeats.
    pub(crate) variadic: bool,
    /// The type of the result.
    pub(crate) returns: Returns,
    /// Whether any null argument makes the result null without a call of `body`.
    pub(crate) strict: bool,
    pub(crate) body: Body,
}

impl Function {
    /// A strict function whose parameters are all required.
    pub(super) const fn new(
        name: &'static str,
        parameters: &'static [Types],
        returns: Returns,
        body: Body,
    ) -> Function {
        Function {
            name,
            parameters,
            required: parameters.len(),
            variadic: false,
            returns,
            strict: true,
            body,
        }
    }

    /// The same function with fewer required parameters.
    pub(super) const fn required(mut self, required: usize) -> Function {
        self.required = required;
        self
    }

    /// The same function, called with nulls too.
    pub(super) const fn lenient(mut self) -> Function {
        self.strict = false;
        self
    }

    /// The same function with a last parameter that repeats.
    pub(super) const fn variadic(mut self) -> Function {
        self.variadic = true;
        self
    }

    /// How many bytes a call may make of arguments of so many bytes, if it copies them.
    pub(crate) fn copies(&self, bytes: usize) -> usize {
        match self.returns {
            // A text is made, and then copied into a value.
            Returns::One(types) if types == Types::STRING => bytes.saturating_mul(2),
            Returns::One(types) if types == Types::LIST || types == Types::MAP => bytes,
            Returns::ListOf(_) | Returns::Argument(_) => bytes,
            _ => 0,
        }
    }

    /// Whether the call ends at the first argument that is not null.
    pub(crate) fn is_coalesce(&self) -> bool {
        self.name == "coalesce"
    }

    /// Whether a call may have this number of arguments.
    pub(crate) fn takes(&self, arguments: usize) -> bool {
        arguments >= self.required && (self.variadic || arguments <= self.parameters.len())
    }

    /// The types that the parameter at a position takes.
    pub(crate) fn parameter(&self, at: usize) -> Types {
        let parameter = self.parameters.get(at).or(self.parameters.last());
        parameter.copied().unwrap_or(Types::ANY)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

/// An argument of a function has a type that the function does not take.
pub(crate) fn bad_value(expected: &str, found: Option<&Value>) -> CypherError {
    let found = found.map_or("nothing", Value::type_name);
    let message = format!("expected {expected}, found {found}");
    type_error("InvalidArgumentValue", message)
}

/// A count as a value.
pub(crate) fn integer(count: usize) -> Value {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}
