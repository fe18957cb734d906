//! Expressions: operators by precedence climbing, then properties, indexes and labels.

use super::Parser;
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::literals;
use crate::tree::{
    ChainLink, Expression, ExpressionKind, Operator, Precedence, Sign, SliceBounds, Test, TestKind,
    Text,
};

impl Parser<'_> {
    /// An expression that may be a pattern, as a condition may.
    pub(super) fn predicate(&mut self) -> Result<Expression> {
        self.chain(Precedence::Or)
    }

    /// An expression that is a value, so that a pattern alone is an error.
    pub(super) fn value(&mut self) -> Result<Expression> {
        self.value_of(Precedence::Or)
    }

    /// A value with operators that are at least this tight.
    pub(super) fn value_of(&mut self, least: Precedence) -> Result<Expression> {
        let start = self.place;
        let value = self.chain(least)?;
        self.refuse_pattern(&value, start)?;
        Ok(value)
    }

    /// A value if this word comes next.
    pub(super) fn value_after(&mut self, word: &str) -> Result<Option<Expression>> {
        if self.take_word(word) {
            return self.value().map(Some);
        }
        Ok(None)
    }

    /// The condition after `WHERE`, if it comes next.
    pub(super) fn filter(&mut self) -> Result<Option<Expression>> {
        if self.take_word("WHERE") {
            return self.predicate().map(Some);
        }
        Ok(None)
    }

    fn refuse_pattern(&mut self, expression: &Expression, start: usize) -> Result<()> {
        let is_path = |kind| kind == crate::tree::PathKind::All;
        match &expression.kind {
            ExpressionKind::Pattern(pattern) if is_path(pattern.kind) => {
                // The error is at the pattern.
                self.place = start;
                Err(self.unexpected(
                    "a value; a pattern is a condition: use EXISTS { … }, COUNT { … } or \
                     [pattern | value]",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Operands and the operators between them that are at least this tight.
    fn chain(&mut self, least: Precedence) -> Result<Expression> {
        self.deeper(|parser| parser.chain_here(least))
    }

    fn chain_here(&mut self, least: Precedence) -> Result<Expression> {
        let (start, place) = (self.span().start, self.place);
        let mut left = if least <= Precedence::Not && self.at_word("NOT") {
            self.advance();
            let operand = self.chain(Precedence::Not)?;
            self.node_above()?;
            let kind = ExpressionKind::Not(Box::new(operand));
            let span = self.span_from(start);
            Expression { kind, span }
        } else {
            self.signed()?
        };
        loop {
            if least <= Precedence::Predicate && self.at_word("IS") {
                self.refuse_pattern(&left, place)?;
                left = self.test(left, start)?;
                continue;
            }
            let operator = self
                .operator()
                .filter(|operator| operator.precedence() >= least);
            let Some(operator) = operator else {
                return Ok(left);
            };
            let precedence = operator.precedence();
            if precedence > Precedence::Not {
                self.refuse_pattern(&left, place)?;
            }
            let links = self.links(precedence)?;
            self.node_above()?;
            let kind = ExpressionKind::Chain(Box::new(left), links);
            let span = self.span_from(start);
            left = Expression { kind, span };
        }
    }

    /// The operators of one precedence that follow, each with its right operand.
    fn links(&mut self, precedence: Precedence) -> Result<Vec<ChainLink>> {
        let mut links = Vec::new();
        while let Some(operator) = self.operator()
            && operator.precedence() == precedence
        {
            self.advance();
            if matches!(operator, Operator::StartsWith | Operator::EndsWith) {
                self.advance();
            }
            let place = self.place;
            let operand = self.chain(precedence.tighter())?;
            if precedence > Precedence::Not {
                self.refuse_pattern(&operand, place)?;
            }
            links.push(ChainLink { operator, operand });
        }
        Ok(links)
    }

    /// The operator that comes next.
    fn operator(&self) -> Option<Operator> {
        let operator = match self.kind(0) {
            TokenKind::Equal => Operator::Equal,
            TokenKind::NotEqual => Operator::NotEqual,
            TokenKind::Less => Operator::Less,
            TokenKind::LessEqual => Operator::LessEqual,
            TokenKind::Greater => Operator::Greater,
            TokenKind::GreaterEqual => Operator::GreaterEqual,
            TokenKind::Matches => Operator::Matches,
            TokenKind::Plus => Operator::Add,
            TokenKind::Minus => Operator::Subtract,
            TokenKind::BarBar => Operator::Concatenate,
            TokenKind::Star => Operator::Multiply,
            TokenKind::Slash => Operator::Divide,
            TokenKind::Percent => Operator::Modulo,
            TokenKind::Caret => Operator::Power,
            TokenKind::Word => {
                let words = [
                    ("OR", Operator::Or),
                    ("XOR", Operator::Xor),
                    ("AND", Operator::And),
                    ("IN", Operator::In),
                    ("CONTAINS", Operator::Contains),
                ];
                let word = words.into_iter().find(|(word, _)| self.at_word(word));
                return match word {
                    Some((_, operator)) => Some(operator),
                    None if self.at_words(&["STARTS", "WITH"]) => Some(Operator::StartsWith),
                    None if self.at_words(&["ENDS", "WITH"]) => Some(Operator::EndsWith),
                    None => None,
                };
            }
            _ => return None,
        };
        Some(operator)
    }

    /// `IS` and what follows it.
    fn test(&mut self, value: Expression, start: u32) -> Result<Expression> {
        self.node_above()?;
        self.advance();
        let negated = self.take_word("NOT");
        let kind = if self.take_word("NULL") {
            TestKind::Null
        } else if self.take(TokenKind::ColonColon) || self.take_word("TYPED") {
            TestKind::Type(self.value_type()?)
        } else if let Some(form) = self.any_word(&["NFC", "NFD", "NFKC", "NFKD"])
            && self.is_word(1, "NORMALIZED")
        {
            self.place += 2;
            TestKind::Normalized(Some(Text::from(form)))
        } else if self.take_word("NORMALIZED") {
            TestKind::Normalized(None)
        } else if !negated && value.kind.precedence() > Precedence::Label {
            let labels = Box::new(self.label_expression(super::label::Of::Anything)?);
            let kind = ExpressionKind::HasLabels(Box::new(value), labels);
            let span = self.span_from(start);
            return Ok(Expression { kind, span });
        } else {
            return Err(self.unexpected("NULL, NORMALIZED, '::' and a type, or a label"));
        };
        let test = Box::new(Test { negated, kind });
        let kind = ExpressionKind::Is(Box::new(value), test);
        let span = self.span_from(start);
        Ok(Expression { kind, span })
    }

    /// An operand of an operator: signs and what they apply to.
    fn signed(&mut self) -> Result<Expression> {
        let start = self.span().start;
        let sign = match self.kind(0) {
            TokenKind::Minus if self.kind(1) == TokenKind::Number => {
                self.advance();
                let number = self.number(start, true)?;
                return self.postfix(number);
            }
            TokenKind::Minus => Sign::Minus,
            TokenKind::Plus => Sign::Plus,
            _ => {
                let atom = self.atom()?;
                return self.postfix(atom);
            }
        };
        self.advance();
        let place = self.place;
        let operand = self.deeper(Parser::signed)?;
        self.node_above()?;
        self.refuse_pattern(&operand, place)?;
        let kind = ExpressionKind::Sign(sign, Box::new(operand));
        let span = self.span_from(start);
        Ok(Expression { kind, span })
    }

    pub(super) fn number(&mut self, start: u32, negative: bool) -> Result<Expression> {
        let token = self.advance();
        let number = literals::number(token.span.of(self.text), negative);
        let kind = number.map_err(|(kind, message)| self.error(kind, token.span, message))?;
        let span = self.span_from(start);
        Ok(Expression { kind, span })
    }

    /// What follows an atom: properties, indexes, slices, and labels at the end.
    fn postfix(&mut self, atom: Expression) -> Result<Expression> {
        let start = atom.span.start;
        let mut value = self.access(atom)?;
        if self.at(TokenKind::Colon) {
            self.advance();
            self.node_above()?;
            let labels = Box::new(self.label_expression(super::label::Of::Anything)?);
            let kind = ExpressionKind::HasLabels(Box::new(value), labels);
            let span = self.span_from(start);
            value = Expression { kind, span };
        }
        Ok(value)
    }

    /// Properties, indexes and slices of a value.
    pub(super) fn access(&mut self, mut value: Expression) -> Result<Expression> {
        let start = value.span.start;
        loop {
            let kind = match self.kind(0) {
                TokenKind::Dot => {
                    self.advance();
                    let key = self.name("the name of a property")?;
                    ExpressionKind::Property(Box::new(value), key)
                }
                TokenKind::LeftBracket => {
                    self.advance();
                    let value = Box::new(value);
                    self.with_bar(false, |parser| parser.subscript(value))?
                }
                _ => return Ok(value),
            };
            self.node_above()?;
            let span = self.span_from(start);
            value = Expression { kind, span };
        }
    }

    fn subscript(&mut self, value: Box<Expression>) -> Result<ExpressionKind> {
        let from = if self.at(TokenKind::DotDot) {
            None
        } else {
            Some(self.value()?)
        };
        match from {
            Some(index) if self.take(TokenKind::RightBracket) => {
                Ok(ExpressionKind::Index(value, Box::new(index)))
            }
            from => {
                self.expect(TokenKind::DotDot, "']' or '..'")?;
                let to = if self.at(TokenKind::RightBracket) {
                    None
                } else {
                    Some(self.value()?)
                };
                self.expect(TokenKind::RightBracket, "']'")?;
                let bounds = Box::new(SliceBounds { from, to });
                Ok(ExpressionKind::Slice(value, bounds))
            }
        }
    }
}
