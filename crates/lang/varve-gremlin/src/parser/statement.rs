//! Statements of scripts.

use super::Parser;
use crate::error::{ErrorCode, Result};
use crate::lexer::TokenKind;
use crate::tree::{Argument, Catch, Statement, StatementKind, Text};

/// Keywords that cannot be the type of a definition, even if a word follows them.
const NO_TYPES: &[&str] = &[
    "return",
    "new",
    "in",
    "else",
    "import",
    "package",
    "class",
    "interface",
    "enum",
    "trait",
    "throw",
    "assert",
    "switch",
    "do",
    "case",
    "null",
    "true",
    "false",
];

impl<'s> Parser<'s> {
    /// Parses the whole text.
    pub(super) fn script(&mut self) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while self.take(TokenKind::Semicolon)? {}
            if self.at(TokenKind::End) {
                return Ok(statements);
            }
            statements.push(self.statement()?);
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        self.deeper(Parser::statement_here)
    }

    fn statement_here(&mut self) -> Result<Statement> {
        let start = self.current;
        let word = if self.at(TokenKind::Word) {
            self.text_of(start)
        } else {
            ""
        };
        let kind = match word {
            "if" => self.conditional()?,
            "for" => self.for_loop()?,
            "while" => self.while_loop()?,
            "try" => self.try_statement()?,
            "return" => self.return_statement()?,
            "break" | "continue" => {
                self.advance()?;
                self.end_of_statement()?;
                if word == "break" {
                    StatementKind::Break
                } else {
                    StatementKind::Continue
                }
            }
            _ => {
                let kind = self.simple()?;
                self.end_of_statement()?;
                kind
            }
        };
        Ok(Statement {
            kind,
            span: self.span_from(start.start),
        })
    }

    /// Parses a definition or an expression.
    fn simple(&mut self) -> Result<StatementKind> {
        if let Some(name) = self.definition()? {
            let value = if self.take(TokenKind::Assign)? {
                Some(self.argument()?)
            } else {
                None
            };
            self.declare(name);
            return Ok(StatementKind::Define {
                name: name.into(),
                value,
            });
        }
        if self.at(TokenKind::Word) && self.second()?.kind == TokenKind::Assign {
            // Declared before the expression is parsed: the name of an enum token may become a
            // variable.
            self.declare(self.text_of(self.current));
        }
        let expression = self.argument()?;
        Ok(StatementKind::Expression(expression))
    }

    /// Parses `def x` or `Type x`, and returns the name `x`. If there is no definition here,
    /// returns `None` and takes no tokens.
    fn definition(&mut self) -> Result<Option<&'s str>> {
        let first = self.current;
        let follows_word = || -> Result<bool> {
            let second = self.second()?;
            Ok(matches!(
                second.kind,
                TokenKind::Word | TokenKind::Less | TokenKind::LeftBracket
            ))
        };
        if first.kind != TokenKind::Word
            || NO_TYPES.contains(&self.text_of(first))
            || !follows_word()?
        {
            return Ok(None);
        }
        let mark = self.mark();
        let name = self.try_definition()?;
        if name.is_none() {
            self.return_to(mark);
        }
        Ok(name)
    }

    fn try_definition(&mut self) -> Result<Option<&'s str>> {
        let first = self.advance()?;
        let is_def = self.text_of(first) == "def";
        if self.at(TokenKind::Less) && !self.skip_type_arguments()? {
            return Ok(None);
        }
        if self.take(TokenKind::LeftBracket)? && !self.take(TokenKind::RightBracket)? {
            return Ok(None);
        }
        if !self.at(TokenKind::Word) || self.current.newline || self.at_word("in") {
            return Ok(None);
        }
        let token = self.advance()?;
        if self.at(TokenKind::LeftParen) && is_def {
            let message = "a script cannot define methods";
            return Err(self.error(ErrorCode::Definition, token.span(), message));
        }
        let ends = matches!(
            self.current.kind,
            TokenKind::Assign
                | TokenKind::Semicolon
                | TokenKind::End
                | TokenKind::RightBrace
                | TokenKind::Colon
        ) || self.at_word("in")
            || self.current.newline;
        Ok(ends.then(|| self.text_of(token)))
    }

    /// Skips type arguments such as `<A, B>`. Returns false at a token that they cannot contain;
    /// the caller then goes back.
    fn skip_type_arguments(&mut self) -> Result<bool> {
        let mut open = 0_u32;
        loop {
            match self.current.kind {
                TokenKind::Less => open += 1,
                TokenKind::Greater => open -= 1,
                TokenKind::Word | TokenKind::Comma | TokenKind::Dot | TokenKind::Question => {}
                _ => return Ok(false),
            }
            self.advance()?;
            if open == 0 {
                return Ok(true);
            }
        }
    }

    /// Checks the end of a statement: `;`, or the end of a line, a block or the text, or the word
    /// `else` or `g`. Takes only the `;`.
    fn end_of_statement(&mut self) -> Result<()> {
        if self.take(TokenKind::Semicolon)? || self.current.newline {
            return Ok(());
        }
        match self.current.kind {
            TokenKind::End | TokenKind::RightBrace => Ok(()),
            // gremlin-lang allows queries to follow each other without a separator.
            TokenKind::Word if self.at_word("g") || self.at_word("else") => Ok(()),
            _ => Err(self.unexpected("';' or a new line")),
        }
    }

    /// Parses the body of a loop or condition: `{ … }`, one statement, or `;` for an empty body.
    fn body(&mut self) -> Result<Vec<Statement>> {
        if !self.at(TokenKind::LeftBrace) {
            return Ok(if self.take(TokenKind::Semicolon)? {
                Vec::new()
            } else {
                vec![self.statement()?]
            });
        }
        self.block()
    }

    fn block(&mut self) -> Result<Vec<Statement>> {
        self.expect(TokenKind::LeftBrace, "'{'")?;
        let mut statements = Vec::new();
        loop {
            while self.take(TokenKind::Semicolon)? {}
            if self.take(TokenKind::RightBrace)? {
                return Ok(statements);
            }
            statements.push(self.statement()?);
        }
    }

    fn condition(&mut self) -> Result<Argument> {
        self.expect(TokenKind::LeftParen, "'('")?;
        let condition = self.in_brackets(Parser::argument)?;
        self.expect(TokenKind::RightParen, "')'")?;
        Ok(condition)
    }

    fn conditional(&mut self) -> Result<StatementKind> {
        self.advance()?;
        let condition = self.condition()?;
        let then = self.body()?;
        let otherwise = if self.at_word("else") {
            self.advance()?;
            self.body()?
        } else {
            Vec::new()
        };
        Ok(StatementKind::If {
            condition,
            then,
            otherwise,
        })
    }

    fn while_loop(&mut self) -> Result<StatementKind> {
        self.advance()?;
        let condition = self.condition()?;
        let body = self.body()?;
        Ok(StatementKind::While { condition, body })
    }

    fn for_loop(&mut self) -> Result<StatementKind> {
        self.advance()?;
        self.expect(TokenKind::LeftParen, "'('")?;
        if let Some(name) = self.loop_variable()? {
            self.declare(name);
            let items = self.in_brackets(Parser::argument)?;
            self.expect(TokenKind::RightParen, "')'")?;
            let body = self.body()?;
            return Ok(StatementKind::ForIn {
                name: name.into(),
                items,
                body,
            });
        }
        let first = if self.at(TokenKind::Semicolon) {
            None
        } else {
            let start = self.current.start;
            let kind = self.simple()?;
            let span = self.span_from(start);
            Some(Box::new(Statement { kind, span }))
        };
        self.expect(TokenKind::Semicolon, "';'")?;
        let condition = if self.at(TokenKind::Semicolon) {
            None
        } else {
            Some(self.in_brackets(Parser::argument)?)
        };
        self.expect(TokenKind::Semicolon, "';'")?;
        let each = if self.at(TokenKind::RightParen) {
            None
        } else {
            Some(self.in_brackets(Parser::argument)?)
        };
        self.expect(TokenKind::RightParen, "')'")?;
        let body = self.body()?;
        Ok(StatementKind::For {
            first,
            condition,
            each,
            body,
        })
    }

    /// Parses the variable of `for (x in …)` or `for (Type x : …)`, up to and including the `in` or
    /// colon. `None`, and no tokens taken, if this is a loop such as `for (i = 0; …)`.
    fn loop_variable(&mut self) -> Result<Option<&'s str>> {
        let mark = self.mark();
        let name = match self.definition()? {
            Some(name) => name,
            None if self.at(TokenKind::Word) => {
                let token = self.advance()?;
                self.text_of(token)
            }
            None => return Ok(None),
        };
        if self.at_word("in") || self.at(TokenKind::Colon) {
            self.advance()?;
            return Ok(Some(name));
        }
        self.return_to(mark);
        Ok(None)
    }

    fn try_statement(&mut self) -> Result<StatementKind> {
        self.advance()?;
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.at_word("catch") {
            self.advance()?;
            catches.push(self.catch()?);
        }
        let has_finally = self.at_word("finally");
        if catches.is_empty() && !has_finally {
            return Err(self.unexpected("catch or finally"));
        }
        let finally = if has_finally {
            self.advance()?;
            self.block()?
        } else {
            Vec::new()
        };
        Ok(StatementKind::Try {
            body,
            catches,
            finally,
        })
    }

    /// Parses `(A | B name) { … }` or `(name) { … }`.
    fn catch(&mut self) -> Result<Catch> {
        self.expect(TokenKind::LeftParen, "'('")?;
        let mut classes = Vec::new();
        loop {
            classes.push(self.class_name()?);
            if !self.take(TokenKind::Pipe)? {
                break;
            }
        }
        let name = if self.at(TokenKind::Word) {
            let token = self.advance()?;
            self.text_of(token)
        } else {
            classes.pop().unwrap_or_default()
        };
        self.declare(name);
        self.expect(TokenKind::RightParen, "')'")?;
        let body = self.block()?;
        Ok(Catch {
            classes: classes.into_iter().map(Text::from).collect(),
            name: name.into(),
            body,
        })
    }

    /// Parses a class name. Returns its last part.
    fn class_name(&mut self) -> Result<&'s str> {
        let mut token = self.expect(TokenKind::Word, "a class")?;
        while self.take(TokenKind::Dot)? {
            token = self.expect(TokenKind::Word, "a class")?;
        }
        Ok(self.text_of(token))
    }

    fn return_statement(&mut self) -> Result<StatementKind> {
        self.advance()?;
        let nothing = self.current.newline
            || matches!(
                self.current.kind,
                TokenKind::Semicolon | TokenKind::RightBrace | TokenKind::End
            );
        let value = if nothing {
            None
        } else {
            Some(self.argument()?)
        };
        self.end_of_statement()?;
        Ok(StatementKind::Return(value))
    }
}
