//! `IN TRANSACTIONS` of a subquery.

use super::clauses::Branch;
use super::syntax;
use crate::error::Outcome;
use crate::expression::Expr;
use crate::tree::{Batches, Name, OnError, Span};

/// The rows of each transaction, what follows an error, and the variable for the status.
type Bound = (Option<Expr>, OnError, Option<Name>);

impl Branch<'_, '_> {
    /// Binds the rules of the transactions, and checks that the subquery may have some. What the
    /// statement has changed before would be committed with the first of them.
    pub(super) fn batches(&mut self, batches: &Batches, span: Span) -> Outcome<Bound> {
        let refused = |why: &str| {
            let message = format!("CALL {{ ... }} IN TRANSACTIONS {why} is not supported");
            Err(syntax("InvalidClauseComposition", span, message))
        };
        if !self.is_whole {
            return refused("in a subquery or in a UNION");
        }
        if self.is_changed {
            return refused("after a clause that writes");
        }
        let on_error = batches.on_error.unwrap_or(OnError::Fail);
        if batches.status.is_some() && on_error == OnError::Fail {
            return refused("with REPORT STATUS, but without ON ERROR CONTINUE or ON ERROR BREAK,");
        }
        self.binder.commits = true;
        if let Some(concurrency) = &batches.concurrency {
            // They run one after another.
            self.count(concurrency, "IN")?;
        }
        let rows = batches.rows.as_ref();
        let rows = rows.map(|rows| self.count(rows, "OF")).transpose()?;
        Ok((rows, on_error, batches.status.clone()))
    }
}
