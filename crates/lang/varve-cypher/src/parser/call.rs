//! `CALL` of procedures and subqueries.

use super::Parser;
use super::query::Place;
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::tree::{
    Batches, Clause, Imports, OnError, ProcedureCall, SubqueryCall, YieldItem, Yields,
};

impl Parser<'_> {
    /// `CALL …` or `OPTIONAL CALL …`.
    pub(super) fn call_clause(&mut self) -> Result<Clause> {
        let start = self.span().start;
        let optional = self.take_word("OPTIONAL");
        self.expect_word("CALL")?;
        match self.kind(0) {
            TokenKind::LeftBrace | TokenKind::LeftParen => {
                let subquery = self.subquery_call(optional)?;
                Ok(Clause::Subquery(Box::new(subquery)))
            }
            _ => {
                let call = self.procedure_call(optional, start)?;
                Ok(Clause::Call(Box::new(call)))
            }
        }
    }

    fn procedure_call(&mut self, optional: bool, start: u32) -> Result<ProcedureCall> {
        let name = self.qualified_name("a procedure, '(' or '{'")?;
        let arguments = if self.take(TokenKind::LeftParen) {
            let arguments = if self.at(TokenKind::RightParen) {
                Vec::new()
            } else {
                self.list(Parser::value)?
            };
            self.expect(TokenKind::RightParen, "',' or ')'")?;
            Some(arguments)
        } else {
            None
        };
        let span = self.span_from(start);
        let yields = if self.take_word("YIELD") {
            Some(self.yields()?)
        } else {
            None
        };
        Ok(ProcedureCall {
            optional,
            name,
            arguments,
            yields,
            span,
        })
    }

    fn yields(&mut self) -> Result<Yields> {
        let items = if self.take(TokenKind::Star) {
            None
        } else {
            Some(self.list(|parser| {
                let column = parser.name("a column")?;
                let alias = if parser.take_word("AS") {
                    Some(parser.name("a variable")?)
                } else {
                    None
                };
                Ok(YieldItem { column, alias })
            })?)
        };
        let filter = self.filter()?;
        Ok(Yields { items, filter })
    }

    fn subquery_call(&mut self, optional: bool) -> Result<SubqueryCall> {
        let imports = if self.take(TokenKind::LeftParen) {
            self.imports()?
        } else {
            Imports::LeadingWith
        };
        self.expect(TokenKind::LeftBrace, "'{'")?;
        let query = self.with_bar(false, |parser| {
            parser.deeper(|parser| parser.query(Place::Whole))
        })?;
        self.node_above()?;
        self.expect(TokenKind::RightBrace, "a clause or '}'")?;
        let concurrent = self.is_word(2, "CONCURRENT")
            || self.is_word(3, "CONCURRENT")
            || self.is_word(1, "CONCURRENT");
        let in_batches = self.at_word("IN") && (self.is_word(1, "TRANSACTIONS") || concurrent);
        let batches = if in_batches {
            self.advance();
            Some(self.batches()?)
        } else {
            None
        };
        Ok(SubqueryCall {
            optional,
            imports,
            query,
            batches,
        })
    }

    fn imports(&mut self) -> Result<Imports> {
        if self.take(TokenKind::RightParen) {
            return Ok(Imports::Named(Vec::new()));
        }
        let imports = if self.take(TokenKind::Star) {
            Imports::All
        } else {
            Imports::Named(self.list(|parser| parser.name("a variable or '*'"))?)
        };
        self.expect(TokenKind::RightParen, "',' or ')'")?;
        Ok(imports)
    }

    /// What follows `IN`.
    fn batches(&mut self) -> Result<Batches> {
        let mut batches = Batches::default();
        if !self.at_word("TRANSACTIONS") {
            if !self.at_word("CONCURRENT") {
                batches.concurrency = Some(self.count()?);
            }
            self.expect_word("CONCURRENT")?;
            batches.concurrent = true;
        }
        self.expect_word("TRANSACTIONS")?;
        loop {
            if batches.rows.is_none() && self.take_word("OF") {
                batches.rows = Some(self.count()?);
                self.expect_either("ROWS", "ROW")?;
            } else if batches.on_error.is_none() && self.take_words(&["ON", "ERROR"]) {
                batches.on_error = Some(self.on_error()?);
            } else if batches.status.is_none() && self.take_words(&["REPORT", "STATUS"]) {
                self.expect_word("AS")?;
                batches.status = Some(self.name("a variable")?);
            } else {
                return Ok(batches);
            }
        }
    }

    fn on_error(&mut self) -> Result<OnError> {
        for (word, on_error) in [
            ("CONTINUE", OnError::Continue),
            ("BREAK", OnError::Break),
            ("FAIL", OnError::Fail),
        ] {
            if self.take_word(word) {
                return Ok(on_error);
            }
        }
        Err(self.unexpected("CONTINUE, BREAK or FAIL"))
    }
}
