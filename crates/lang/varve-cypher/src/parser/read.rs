//! Clauses: which one comes next, and those that read.

use super::Parser;
use super::pattern::Use;
use crate::error::{ErrorKind, Result};
use crate::lexer::TokenKind;
use crate::tree::{Clause, Expression, ExpressionKind, Hint, MatchClause, Projection};

/// The first words of clauses.
const CLAUSES: &[&str] = &[
    "CALL", "CREATE", "DELETE", "DETACH", "FILTER", "FINISH", "FOR", "FOREACH", "INSERT", "LET",
    "LOAD", "MATCH", "MERGE", "NODETACH", "OPTIONAL", "REMOVE", "RETURN", "SET", "UNWIND", "USE",
    "WITH",
];

/// The first words of clauses that write.
const WRITES: &[&str] = &[
    "CREATE", "DELETE", "DETACH", "FOREACH", "INSERT", "MERGE", "NODETACH", "REMOVE", "SET",
];

impl Parser<'_> {
    pub(super) fn at_clause(&self) -> bool {
        self.any_word(CLAUSES).is_some()
    }

    pub(super) fn clause(&mut self) -> Result<Clause> {
        if let Some(word) = self.any_word(WRITES) {
            return self.writing_clause(word);
        }
        let Some(word) = self.any_word(CLAUSES) else {
            return Err(self.unexpected("a clause, such as MATCH or RETURN"));
        };
        if word == "LOAD" {
            return Err(self.not_supported("LOAD CSV"));
        }
        if word == "OPTIONAL" && self.is_word(1, "CALL") || word == "CALL" {
            return self.call_clause();
        }
        self.advance();
        match word {
            "OPTIONAL" => {
                self.expect_word("MATCH")?;
                let clause = self.match_body(true)?;
                Ok(Clause::Match(Box::new(clause)))
            }
            "MATCH" => {
                let clause = self.match_body(false)?;
                Ok(Clause::Match(Box::new(clause)))
            }
            "UNWIND" => {
                let list = self.value()?;
                self.expect_word("AS")?;
                Ok(Clause::Unwind(list, self.name("a variable")?))
            }
            "FOR" => {
                let variable = self.name("a variable")?;
                self.expect_word("IN")?;
                let list = self.value()?;
                if self.any_word(&["WITH"]).is_some() && self.is_word(1, "ORDINALITY") {
                    return Err(self.not_supported("WITH ORDINALITY"));
                }
                Ok(Clause::Unwind(list, variable))
            }
            "WITH" => {
                let mut projection = self.projection()?;
                projection.filter = self.filter()?;
                Ok(Clause::With(Box::new(projection)))
            }
            "LET" => self.let_clause(),
            "FILTER" => {
                let _ = self.take_word("WHERE");
                let filter = Some(self.predicate()?);
                Ok(Clause::With(Box::new(Projection {
                    star: true,
                    filter,
                    ..Projection::default()
                })))
            }
            "RETURN" => Ok(Clause::Return(Box::new(self.projection()?))),
            "USE" => self.use_clause(),
            _ => Ok(Clause::Finish),
        }
    }

    fn use_clause(&mut self) -> Result<Clause> {
        let graph = self.qualified_name("the name of a graph")?;
        if self.at(TokenKind::LeftParen) {
            return Err(self.not_supported("a function that chooses the graph of USE"));
        }
        Ok(Clause::Use(graph))
    }

    /// `LET a = x, b = y`, which is `WITH *, x AS a, y AS b`.
    fn let_clause(&mut self) -> Result<Clause> {
        let items = self.list(|parser| {
            let alias = parser.name("a variable")?;
            parser.expect(TokenKind::Equal, "'='")?;
            let expression = parser.value()?;
            let alias = Some(alias);
            Ok(crate::tree::ProjectionItem { expression, alias })
        })?;
        Ok(Clause::With(Box::new(Projection {
            star: true,
            items,
            ..Projection::default()
        })))
    }

    /// What follows `MATCH`.
    pub(super) fn match_body(&mut self, optional: bool) -> Result<MatchClause> {
        if self.at_words(&["REPEATABLE"]) && self.is_name(1) {
            return Err(self.not_supported("MATCH REPEATABLE ELEMENTS"));
        }
        let relationships = self.is_word(1, "RELATIONSHIPS") || self.is_word(1, "RELATIONSHIP");
        if self.at_word("DIFFERENT") && relationships {
            self.place += 2;
            let _ = self.take_word("BINDINGS");
        }
        let patterns = self.list(|parser| parser.path_pattern(Use::Match))?;
        let mut hints = Vec::new();
        while self.take_word("USING") {
            hints.push(self.hint()?);
        }
        let slice = self.slice()?;
        let filter = self.filter()?;
        if self.at_word("SEARCH") {
            return Err(self.not_supported("SEARCH"));
        }
        Ok(MatchClause {
            optional,
            patterns,
            hints,
            slice,
            filter,
        })
    }

    fn hint(&mut self) -> Result<Hint> {
        if self.take_words(&["JOIN", "ON"]) {
            let names = self.list(|parser| parser.name("a variable"))?;
            return Ok(Hint::Join(names));
        }
        let scan = self.take_word("SCAN");
        if !scan {
            let kinds = ["TEXT", "RANGE", "POINT", "BTREE"];
            if self.any_word(&kinds).is_some() {
                self.advance();
            }
            self.expect_word("INDEX")?;
            if self.at_word("SEEK") && self.is_name(1) {
                self.advance();
            }
        }
        let variable = self.name("a variable")?;
        self.expect(TokenKind::Colon, "':'")?;
        let label = self.name("a label")?;
        if scan {
            return Ok(Hint::Scan { variable, label });
        }
        self.expect(TokenKind::LeftParen, "'('")?;
        let properties = self.list(|parser| parser.name("a property"))?;
        self.expect(TokenKind::RightParen, "')'")?;
        Ok(Hint::Index {
            variable,
            label,
            properties,
        })
    }

    /// An integer or a parameter.
    pub(super) fn count(&mut self) -> Result<Expression> {
        let start = self.span().start;
        match self.kind(0) {
            TokenKind::Number => self.number(start, false),
            TokenKind::Dollar => {
                let kind = ExpressionKind::Parameter(self.parameter()?);
                let span = self.span_from(start);
                Ok(Expression { kind, span })
            }
            _ => Err(self.unexpected("a number or a parameter")),
        }
    }

    /// The error of a clause that writes where none may.
    pub(super) fn check_writes(&self, word: &str) -> Result<()> {
        let Some(around) = self.reads_only else {
            return Ok(());
        };
        let message = format!("{around} does not write; {word} is not allowed in it");
        Err(self.error(ErrorKind::InvalidClauseComposition, self.span(), message))
    }
}
