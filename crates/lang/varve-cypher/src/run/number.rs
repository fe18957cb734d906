//! Numbers of rows that a query names.

use super::Cx;
use crate::error::{Error, ErrorClass, Outcome};
use crate::expression::Expr;
use crate::value::Value;

/// The number of rows after `SKIP`, `LIMIT` or `OF`.
pub(super) fn number(cx: Cx<'_>, count: &Expr, word: &str) -> Outcome<u64> {
    let failed = |detail, what: &str| {
        let message = format!("the number after {word} is {what}");
        Error::run(ErrorClass::SyntaxError, detail, message).into()
    };
    match cx.evaluate(count, &[])? {
        Value::Integer(number) => {
            u64::try_from(number).map_err(|_| failed("NegativeIntegerArgument", "negative"))
        }
        _ => Err(failed("InvalidArgumentType", "no integer")),
    }
}
