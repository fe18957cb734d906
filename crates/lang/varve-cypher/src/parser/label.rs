//! Label expressions.

use super::Parser;
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::tree::{Expression, LabelExpression};

/// What has the labels, which decides what a further colon means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// `:A:B` means both.
    Anything,
    /// `:A|:B` means either.
    Relationship,
}

impl Parser<'_> {
    /// The labels after a colon or `IS`, if one comes next.
    pub(super) fn labels(&mut self, of: Of) -> Result<Option<LabelExpression>> {
        if self.take(TokenKind::Colon) || self.take_word("IS") {
            return self.label_expression(of).map(Some);
        }
        Ok(None)
    }

    pub(super) fn label_expression(&mut self, of: Of) -> Result<LabelExpression> {
        self.deeper(|parser| match of {
            Of::Anything => parser.label_colons(),
            Of::Relationship => parser.label_or(of),
        })
    }

    /// `A:B:C`, whose parts are no expressions.
    fn label_colons(&mut self) -> Result<LabelExpression> {
        let first = self.label_or(Of::Anything)?;
        if !self.at(TokenKind::Colon) {
            return Ok(first);
        }
        let is_plain = |label: &LabelExpression| {
            use LabelExpression::{Dynamic, DynamicAny, Name};
            matches!(label, Name(_) | Dynamic(_) | DynamicAny(_))
        };
        if !is_plain(&first) {
            return Err(self.unexpected("'&', '|' or the end of the labels; ':' joins names only"));
        }
        let mut labels = vec![first];
        while self.take(TokenKind::Colon) {
            let place = self.place;
            labels.push(self.label_atom()?);
            if !labels.last().is_some_and(is_plain) {
                self.place = place;
                return Err(self.unexpected("the name of a label; ':' joins names only"));
            }
        }
        if self.at(TokenKind::Ampersand) || self.at(TokenKind::Bar) && !self.bar_ends {
            return Err(self.unexpected("':' or the end of the labels"));
        }
        Ok(LabelExpression::And(labels))
    }

    fn label_or(&mut self, of: Of) -> Result<LabelExpression> {
        let mut labels = vec![self.label_and()?];
        while !self.bar_ends && self.take(TokenKind::Bar) {
            if of == Of::Relationship {
                self.take(TokenKind::Colon);
            }
            labels.push(self.label_and()?);
        }
        Ok(joined(labels, LabelExpression::Or))
    }

    fn label_and(&mut self) -> Result<LabelExpression> {
        let mut labels = vec![self.label_atom()?];
        while self.take(TokenKind::Ampersand) {
            labels.push(self.label_atom()?);
        }
        Ok(joined(labels, LabelExpression::And))
    }

    fn label_atom(&mut self) -> Result<LabelExpression> {
        match self.kind(0) {
            TokenKind::Bang => {
                self.advance();
                let inner = self.deeper(Parser::label_atom)?;
                self.node_above()?;
                Ok(LabelExpression::Not(Box::new(inner)))
            }
            TokenKind::Percent => {
                self.advance();
                Ok(LabelExpression::Any)
            }
            TokenKind::LeftParen => {
                self.advance();
                let inner = self.with_bar(false, |parser| {
                    parser.deeper(|parser| parser.label_or(Of::Anything))
                })?;
                self.node_above()?;
                self.expect(TokenKind::RightParen, "'&', '|' or ')'")?;
                Ok(inner)
            }
            TokenKind::Dollar => self.dynamic_label(),
            _ => self.name("the name of a label").map(LabelExpression::Name),
        }
    }

    /// `$(e)`, `$all(e)` or `$any(e)`.
    fn dynamic_label(&mut self) -> Result<LabelExpression> {
        let any = self.is_word(1, "ANY");
        let label = Box::new(self.dynamic_labels()?);
        Ok(if any {
            LabelExpression::DynamicAny(label)
        } else {
            LabelExpression::Dynamic(label)
        })
    }

    /// The expression of a dynamic label.
    pub(super) fn dynamic_labels(&mut self) -> Result<Expression> {
        self.expect(TokenKind::Dollar, "'$('")?;
        let _ = self.take_word("ALL") || self.take_word("ANY");
        self.expect(TokenKind::LeftParen, "'(' and an expression")?;
        let expression = self.with_bar(false, Parser::value)?;
        self.expect(TokenKind::RightParen, "')'")?;
        Ok(expression)
    }
}

/// The only label, or all of them joined.
fn joined(
    mut labels: Vec<LabelExpression>,
    join: fn(Vec<LabelExpression>) -> LabelExpression,
) -> LabelExpression {
    match labels.pop() {
        Some(only) if labels.is_empty() => only,
        last => {
            labels.extend(last);
            join(labels)
        }
    }
}
