//! The times of statements, matches and writes.

use super::Parser;
use crate::error::{ErrorKind, Result};
use crate::tree::{Expression, Period, Precedence, Slice, Times};

/// The words after the name of a time, unless it is a variable of `FOR variable IN`.
const SLICES: &[&str] = &["AS", "FROM", "BETWEEN", "ALL"];

impl Parser<'_> {
    /// `FOR VALID_TIME AS OF e FOR SYSTEM_TIME AS OF e`, in any order.
    pub(super) fn times(&mut self) -> Result<Times> {
        let mut times = Times::default();
        while let Some(name) = self.at_time() {
            let is_valid = name == "VALID_TIME";
            let taken = if is_valid {
                &times.valid
            } else {
                &times.system
            };
            if taken.is_some() {
                let message = format!("{name} is there twice");
                return Err(self.error(ErrorKind::UnexpectedSyntax, self.span(), message));
            }
            self.place += 2;
            if !self.take_words(&["AS", "OF"]) {
                return Err(self.unexpected("AS OF; only MATCH has periods"));
            }
            let at = Some(self.value()?);
            if is_valid {
                times.valid = at;
            } else {
                times.system = at;
            }
        }
        Ok(times)
    }

    /// The name of the time, if `FOR` and a time come next.
    fn at_time(&self) -> Option<&'static str> {
        let named = ["VALID_TIME", "SYSTEM_TIME"];
        let name = named.into_iter().find(|name| self.is_word(1, name))?;
        let is_slice = SLICES.iter().any(|word| self.is_word(2, word));
        (self.at_word("FOR") && is_slice).then_some(name)
    }

    /// Takes `FOR VALID_TIME`, if it comes next.
    fn take_valid_time(&mut self) -> Result<bool> {
        match self.at_time() {
            None => Ok(false),
            Some("SYSTEM_TIME") => {
                let message = "SYSTEM_TIME stands before the first clause: a statement reads one \
                               recorded state";
                Err(self.error(ErrorKind::InvalidClauseComposition, self.span(), message))
            }
            Some(_) => {
                self.place += 2;
                Ok(true)
            }
        }
    }

    /// The slice of a match.
    pub(super) fn slice(&mut self) -> Result<Option<Slice>> {
        if !self.take_valid_time()? {
            return Ok(None);
        }
        let slice = if self.take_word("ALL") {
            Slice::All
        } else if self.take_word("FROM") {
            let from = self.value()?;
            self.expect_word("TO")?;
            Slice::FromTo(from, self.value()?)
        } else if self.take_word("BETWEEN") {
            // AND is not the operator here.
            let from = self.value_of(Precedence::Not)?;
            self.expect_word("AND")?;
            Slice::Between(from, self.value_of(Precedence::Not)?)
        } else {
            self.expect_word("AS")?;
            self.expect_word("OF")?;
            Slice::AsOf(self.value()?)
        };
        Ok(Some(slice))
    }

    /// The valid period of a write.
    pub(super) fn period(&mut self) -> Result<Option<Box<Period>>> {
        if !self.take_valid_time()? {
            return Ok(None);
        }
        self.expect_word("FROM")?;
        let from = self.value()?;
        let to: Option<Expression> = if self.take_word("TO") {
            Some(self.value()?)
        } else {
            None
        };
        Ok(Some(Box::new(Period { from, to })))
    }
}
