//! The valid period of what a statement writes.

use super::clauses::Branch;
use super::{Outer, syntax};
use crate::error::{CypherError, Outcome};
use crate::expression::Expr;
use crate::tree::{Expression, Period};

/// The valid periods that the clauses of a statement name. A statement is one commit, and a commit
/// has one valid period: so either all clauses that write name it, or none does, and what they name
/// must be equal when the statement runs.
#[derive(Default)]
pub(crate) struct Periods {
    /// The first instant, and the one after the last.
    pub(crate) all: Vec<(Expr, Option<Expr>)>,
    /// Whether a clause names none.
    has_plain: bool,
}

impl Branch<'_, '_> {
    /// Notes the period of a clause that writes.
    ///
    /// # Errors
    /// When it uses a variable, or one clause names a period and another does not.
    pub(super) fn period(&mut self, period: Option<&Period>) -> Outcome<()> {
        match period {
            None => self.binder.periods.has_plain = true,
            Some(period) => {
                let from = self.instant(&period.from)?;
                let to = period.to.as_ref().map(|to| self.instant(to)).transpose()?;
                self.binder.periods.all.push((from, to));
            }
        }
        let periods = &self.binder.periods;
        if periods.has_plain && !periods.all.is_empty() {
            let span = period.map(|period| period.from.span).unwrap_or_default();
            let message = "either all clauses of a statement that write name the same period FOR \
                           VALID_TIME, or none does";
            return Err(syntax("InvalidClauseComposition", span, message));
        }
        Ok(())
    }

    /// Whether the clause that is bound names a period: then all clauses that write do.
    pub(super) fn has_period(&self) -> bool {
        !self.binder.periods.all.is_empty()
    }

    fn instant(&mut self, instant: &Expression) -> Outcome<Expr> {
        let outer = Outer::default();
        let bound = Branch::new(&mut *self.binder, &outer).expr(instant);
        match bound {
            Ok((bound, _)) => Ok(bound),
            Err(CypherError::Error(error)) if error.detail == "UndefinedVariable" => {
                let message = "a statement has one valid period of writes: its instants are \
                               literals and parameters, without variables";
                Err(syntax("UndefinedVariable", instant.span, message))
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::rows_of;

    #[test]
    fn clauses_that_write_have_one_period_or_none() {
        for text in [
            "CREATE (:P) CREATE (:P) FOR VALID_TIME FROM '2020-01-01'",
            "CREATE (:P) FOR VALID_TIME FROM '2020-01-01' WITH 1 AS one CREATE (:P)",
            "MERGE (n:P) FOR VALID_TIME FROM '2020-01-01' FOREACH (x IN [1] | CREATE (:P))",
            "CREATE (n:P) FOR VALID_TIME FROM '2020-01-01' CALL (n) { SET n.x = 1 }",
        ] {
            let fault = rows_of(text);
            assert!(fault.contains("or none does"), "{text}: {fault}");
        }
    }

    #[test]
    fn a_node_is_deleted_in_a_period_together_with_its_relationships() {
        let period = "FOR VALID_TIME FROM '2020-01-01'";
        for start in [
            "MATCH (n) DELETE n",
            "MATCH ()-[r]->(n) DELETE r, n",
            "MATCH p = (a)-->(b) DELETE p",
            "MATCH (n) UNWIND [n] AS one CALL (one) { DELETE one",
        ] {
            let end = if start.contains('{') { "}" } else { "" };
            let fault = rows_of(&format!("{start} {period} {end}"));
            assert!(fault.contains("use DETACH DELETE"), "{start}: {fault}");
        }
        for start in ["MATCH (n) DETACH DELETE n", "MATCH ()-[r]->() DELETE r"] {
            let fault = rows_of(&format!("{start} {period}"));
            assert!(!fault.contains("DETACH"), "{start}: {fault}");
        }
    }

    #[test]
    fn the_properties_of_a_period_are_not_replaced() {
        let period = "FOR VALID_TIME FROM '2020-01-01'";
        for start in [
            "MATCH (n) SET n = {a: 1}",
            "MERGE (n:P) ON MATCH SET n = {a: 1}",
        ] {
            let fault = rows_of(&format!("{start} {period}"));
            assert!(fault.contains("use SET n += map"), "{start}: {fault}");
            let added = rows_of(&format!("{} {period}", start.replace(" = ", " += ")));
            assert!(!added.contains("use SET"), "{start}: {added}");
        }
    }

    #[test]
    fn a_period_of_a_write_has_no_variables() {
        for text in [
            "UNWIND ['2020-01-01'] AS at CREATE (:P) FOR VALID_TIME FROM at",
            "CREATE (n:P) FOR VALID_TIME FROM '2020-01-01' TO n.end",
            "WITH '2020-01-01' AS at CALL (at) { CREATE (:P) FOR VALID_TIME FROM at }",
        ] {
            let fault = rows_of(text);
            assert!(fault.contains("without variables"), "{text}: {fault}");
        }
    }
}
