//! Statements, and the options before them.

use super::Parser;
use crate::error::{ErrorKind, Result};
use crate::lexer::TokenKind;
use crate::tree::{Mode, Options, Statement, StatementKind, Text, Version};

/// Words that begin statements which Varve does not have.
const ADMINISTRATION: &[&str] = &[
    "ALTER",
    "GRANT",
    "DENY",
    "REVOKE",
    "RENAME",
    "TERMINATE",
    "START",
];

impl Parser<'_> {
    /// The only statement of the text.
    pub(super) fn whole_statement(mut self) -> Result<Statement> {
        let options = self.options()?;
        let kind = self.statement()?;
        if self.take(TokenKind::Semicolon) && !self.at(TokenKind::End) {
            if self.at(TokenKind::Invalid) {
                return Err(self.unexpected("the end"));
            }
            return Err(self.not_supported("a second statement in one text"));
        }
        if !self.at(TokenKind::End) {
            return Err(self.unexpected("a clause or the end"));
        }
        Ok(Statement { options, kind })
    }

    fn options(&mut self) -> Result<Options> {
        let mut options = Options::default();
        loop {
            if self.take_word("EXPLAIN") {
                options.mode = Mode::Explain;
            } else if self.take_word("PROFILE") {
                options.mode = Mode::Profile;
            } else if self.take_word("CYPHER") {
                self.version(&mut options)?;
                while self.is_name(0) && self.kind(1) == TokenKind::Equal {
                    let name = self.name("an option")?;
                    self.advance();
                    if !self.is_name(0) && !self.at(TokenKind::Number) {
                        return Err(self.unexpected("the value of an option"));
                    }
                    let value = self.advance().span.of(self.text);
                    options.settings.push((name, Text::from(value)));
                }
            } else {
                return Ok(options);
            }
        }
    }

    fn version(&mut self, options: &mut Options) -> Result<()> {
        if !self.at(TokenKind::Number) {
            return Ok(());
        }
        options.version = match self.span().of(self.text) {
            "5" => Some(Version::Five),
            "25" => Some(Version::TwentyFive),
            other => {
                let construct = format!("CYPHER {other}");
                return Err(self.not_supported(&construct));
            }
        };
        self.advance();
        Ok(())
    }

    fn statement(&mut self) -> Result<StatementKind> {
        if self.at(TokenKind::End) {
            let message = "the text has no statement";
            return Err(self.error(ErrorKind::UnexpectedSyntax, self.span(), message));
        }
        if let Some(word) = self.any_word(ADMINISTRATION) {
            return Err(self.not_supported(word));
        }
        if self.at_word("SHOW") {
            return Ok(StatementKind::Show(Box::new(self.show()?)));
        }
        if self.at_command() {
            return Ok(StatementKind::Command(self.command()?));
        }
        Ok(StatementKind::Query(self.whole_query()?))
    }
}
