//! Operators, and suffixes of values: members, method calls, indexes, `++` and `--`.

use super::Parser;
use super::traversal::is_spawn;
use crate::calls::SOURCE_CLASS;
use crate::error::{ErrorCode, Result};
use crate::lexer::{Token, TokenKind};
use crate::script;
use crate::signatures;
use crate::tree::{
    Argument, BinaryOperator, Computed, ComputedKind, Root, SourceName, StepName, UnaryOperator,
};

/// The precedence of ranges and `<<`. Operators of the same precedence are left-associative.
const LEVEL_RANGE: u8 = 5;

pub(super) fn binary_operator(kind: TokenKind) -> Option<(BinaryOperator, u8)> {
    Some(match kind {
        TokenKind::OrOr => (BinaryOperator::Or, 1),
        TokenKind::AndAnd => (BinaryOperator::And, 2),
        TokenKind::EqualEqual => (BinaryOperator::Equal, 3),
        TokenKind::BangEqual => (BinaryOperator::NotEqual, 3),
        TokenKind::Spaceship => (BinaryOperator::Compare, 3),
        TokenKind::Less => (BinaryOperator::Less, 4),
        TokenKind::LessEqual => (BinaryOperator::LessOrEqual, 4),
        TokenKind::Greater => (BinaryOperator::Greater, 4),
        TokenKind::GreaterEqual => (BinaryOperator::GreaterOrEqual, 4),
        TokenKind::LessLess => (BinaryOperator::Append, LEVEL_RANGE),
        TokenKind::Plus => (BinaryOperator::Add, 6),
        TokenKind::Minus => (BinaryOperator::Subtract, 6),
        TokenKind::Star => (BinaryOperator::Multiply, 7),
        TokenKind::Slash => (BinaryOperator::Divide, 7),
        TokenKind::Percent => (BinaryOperator::Remainder, 7),
        TokenKind::StarStar => (BinaryOperator::Power, 8),
        _ => return None,
    })
}

/// The precedence of `in`.
const LEVEL_IN: u8 = 4;

impl Parser<'_> {
    /// Parses an expression, one nesting level deeper.
    pub(super) fn argument(&mut self) -> Result<Argument> {
        self.deeper(Parser::assignment)
    }

    /// Parses an expression, including the operators of lowest precedence: assignment, `? :` and
    /// `?:`.
    fn assignment(&mut self) -> Result<Argument> {
        let start = self.current.start;
        self.argument_start = start;
        let left = self.binary(0)?;
        match self.current.kind {
            TokenKind::Question | TokenKind::Elvis if !self.line_ends() => {
                self.ternary(start, left)
            }
            TokenKind::Assign | TokenKind::AssignWith => self.assign(start, left),
            _ => Ok(left),
        }
    }

    fn ternary(&mut self, start: u32, condition: Argument) -> Result<Argument> {
        let mut height = self.height;
        let short = self.advance()?.kind == TokenKind::Elvis;
        let then = if short {
            None
        } else {
            let then = self.in_brackets(Parser::argument)?;
            height = height.max(self.height);
            self.expect(TokenKind::Colon, "':'")?;
            Some(then)
        };
        let otherwise = self.argument()?;
        let height = height.max(self.height);
        let kind = ComputedKind::Ternary {
            condition,
            then,
            otherwise,
        };
        self.computed(start, kind, height)
    }

    fn assign(&mut self, start: u32, target: Argument) -> Result<Argument> {
        let mut height = self.height;
        let token = self.advance()?;
        let is_target = match &target {
            Argument::Variable(_) => true,
            Argument::Computed(computed) => matches!(
                computed.kind,
                ComputedKind::Member { .. } | ComputedKind::Index { .. }
            ),
            // An enum token is no target, but its name can be that of a variable: in `desc = 1`,
            // `desc` is parsed as a variable.
            _ => false,
        };
        if !is_target {
            let message = "only a variable, a member or an entry can be assigned to";
            return Err(self.error(ErrorCode::Syntax, token.span(), message));
        }
        let operator = match &self.text_of(token)[..token.end as usize - token.start as usize - 1] {
            "" => None,
            text => BinaryOperator::from_text(text),
        };
        let value = self.argument()?;
        height = height.max(self.height);
        let kind = ComputedKind::Assign {
            target,
            operator,
            value,
        };
        self.computed(start, kind, height)
    }

    /// Makes a computed node whose highest child has this height.
    pub(super) fn computed(
        &mut self,
        start: u32,
        kind: ComputedKind,
        height: u16,
    ) -> Result<Argument> {
        self.node_above(height)?;
        let span = self.span_from(start);
        Ok(Argument::Computed(Box::new(Computed { kind, span })))
    }

    /// Parses operands joined by operators of at least this precedence.
    fn binary(&mut self, least: u8) -> Result<Argument> {
        let start = self.current.start;
        let mut left = self.operand()?;
        loop {
            let operator = match self.current.kind {
                TokenKind::DotDot => None,
                TokenKind::Word if self.at_word("in") => Some((BinaryOperator::In, LEVEL_IN)),
                kind => match binary_operator(kind) {
                    Some(found) => Some(found),
                    None => return Ok(left),
                },
            };
            let level = operator.map_or(LEVEL_RANGE, |(_, level)| level);
            if level < least || self.line_ends() {
                return Ok(left);
            }
            let mut height = self.height;
            let token = self.advance()?;
            let right = self.binary(level + 1)?;
            height = height.max(self.height);
            left = match operator {
                None => {
                    if !is_range_end(&left) || !is_range_end(&right) {
                        let message = "a range goes from one integer or string to another";
                        return Err(self.error(ErrorCode::Syntax, token.span(), message));
                    }
                    self.node_above(height)?;
                    Argument::Range(Box::new((left, right)))
                }
                Some((operator, _)) => {
                    let kind = ComputedKind::Binary(operator, left, right);
                    self.computed(start, kind, height)?
                }
            };
        }
    }

    /// Parses a value with its prefix operators and suffixes.
    fn operand(&mut self) -> Result<Argument> {
        match self.current.kind {
            TokenKind::Minus | TokenKind::Plus => self.signed(),
            TokenKind::Bang => self.unary(UnaryOperator::Not),
            TokenKind::PlusPlus | TokenKind::MinusMinus => {
                let token = self.advance()?;
                let target = self.deeper(Parser::operand)?;
                self.step_by(token, token, target, false)
            }
            _ => {
                let start = self.current;
                let value = self.primary()?;
                self.suffixes(start, value)
            }
        }
    }

    /// Parses a sign: part of a literal, or an operator.
    fn signed(&mut self) -> Result<Argument> {
        let negative = self.at(TokenKind::Minus);
        let next = self.second()?;
        if next.kind == TokenKind::Number {
            let start = self.advance()?;
            let value = self.number(negative)?;
            return self.suffixes(start, value);
        }
        if next.kind == TokenKind::Word && self.text_of(next) == "Infinity" {
            self.advance()?;
            self.advance()?;
            self.height = 1;
            let sign = if negative { -1.0 } else { 1.0 };
            return Ok(Argument::Double(sign * f64::INFINITY));
        }
        self.unary(if negative {
            UnaryOperator::Minus
        } else {
            UnaryOperator::Plus
        })
    }

    fn unary(&mut self, operator: UnaryOperator) -> Result<Argument> {
        let start = self.advance()?.start;
        let operand = self.deeper(Parser::operand)?;
        self.computed(start, ComputedKind::Unary(operator, operand), self.height)
    }

    fn step_by(
        &mut self,
        start: Token,
        operator: Token,
        target: Argument,
        before: bool,
    ) -> Result<Argument> {
        let by = if operator.kind == TokenKind::PlusPlus {
            1
        } else {
            -1
        };
        let is_target = matches!(&target, Argument::Variable(_))
            || matches!(&target, Argument::Computed(computed)
                if matches!(computed.kind, ComputedKind::Member { .. } | ComputedKind::Index { .. }));
        if !is_target {
            let message = "only a variable, a member or an entry can be counted up or down";
            return Err(self.error(ErrorCode::Syntax, operator.span(), message));
        }
        let kind = ComputedKind::Step { target, by, before };
        self.computed(start.start, kind, self.height)
    }

    /// Parses the members, calls and indexes after a value.
    fn suffixes(&mut self, start: Token, first: Argument) -> Result<Argument> {
        let mut value = first;
        loop {
            value = match self.current.kind {
                TokenKind::Dot => self.member(start, value)?,
                TokenKind::LeftBracket if !self.current.newline => {
                    let mut height = self.height;
                    self.advance()?;
                    let index = self.in_brackets(Parser::argument)?;
                    self.expect(TokenKind::RightBracket, "']'")?;
                    height = height.max(self.height);
                    let kind = ComputedKind::Index {
                        receiver: value,
                        index,
                    };
                    self.computed(start.start, kind, height)?
                }
                TokenKind::PlusPlus | TokenKind::MinusMinus if !self.current.newline => {
                    let operator = self.advance()?;
                    self.step_by(start, operator, value, true)?
                }
                _ => return Ok(value),
            };
        }
    }

    /// Parses a dot and a name after a value: as a step, a call or a member.
    fn member(&mut self, start: Token, receiver: Argument) -> Result<Argument> {
        let height = self.height;
        let receiver = match receiver {
            // A traversal or predicate continues, whether or not it is in parentheses.
            Argument::Traversal(traversal) if self.goes_on(&traversal)? => {
                return self.chain(*traversal, height);
            }
            Argument::Predicate(predicate) => return self.joined(*predicate),
            Argument::Strategy(_) => return Err(self.unexpected("',' or ')' behind a strategy")),
            other => other,
        };
        self.advance()?;
        let token = match self.current.kind {
            TokenKind::Word | TokenKind::String => self.advance()?,
            _ => return Err(self.unexpected("a name")),
        };
        if let Argument::Variable(name) = &receiver
            && name.as_bytes()[0].is_ascii_uppercase()
            && !self.is_declared(name)
            && !script::is_of_graph(self.text_of(token))
        {
            return Err(self.refused_static(start, name));
        }
        if token.kind == TokenKind::String {
            let text = crate::literals::string(self.text_of(token));
            let name = text.map_err(|wrong| self.literal(token.span(), wrong))?;
            self.check_member(token, &name)?;
            let kind = ComputedKind::Member { receiver, name };
            return self.computed(start.start, kind, height);
        }
        let word = self.text_of(token);
        if self.at(TokenKind::LeftBrace) && !self.current.newline {
            return Err(self.closure(self.current.span()));
        }
        if !self.at(TokenKind::LeftParen) || self.current.newline {
            self.check_member(token, word)?;
            let kind = ComputedKind::Member {
                receiver,
                name: word.into(),
            };
            return self.computed(start.start, kind, height);
        }
        if starts_traversal(&receiver, word) {
            let root = match receiver {
                Argument::Variable(name) => Root::Source(name),
                other => Root::Computed(Box::new(other)),
            };
            return self.source_traversal(root, start.start, token, height);
        }
        self.method(start, receiver, token, height)
    }

    fn check_member(&self, token: Token, name: &str) -> Result<()> {
        script::check_member(name)
            .map_err(|wrong| self.error(ErrorCode::NoSuchMethod, token.span(), wrong))
    }

    /// Parses a method call of the script layer.
    fn method(
        &mut self,
        start: Token,
        receiver: Argument,
        token: Token,
        receiver_height: u16,
    ) -> Result<Argument> {
        let word = self.text_of(token);
        let arguments = self.arguments()?;
        if !script::is_method(&receiver, word) {
            let class = match &receiver {
                Argument::Variable(name) if name == "g" => SOURCE_CLASS,
                other => signatures::kind_name(other),
            };
            let message = signatures::no_such_call(class, word, &arguments, "");
            return Err(self.error(ErrorCode::NoSuchMethod, token.span(), message));
        }
        let height = receiver_height.max(self.height);
        let kind = ComputedKind::Call {
            receiver: Some(receiver),
            name: word.into(),
            arguments,
        };
        self.computed(start.start, kind, height)
    }
}

fn is_range_end(argument: &Argument) -> bool {
    matches!(
        argument,
        Argument::Byte(_)
            | Argument::Short(_)
            | Argument::Int(_)
            | Argument::Long(_)
            | Argument::String(_)
            | Argument::Variable(_)
            | Argument::Computed(_)
    )
}

/// Whether a traversal may begin with this method of a source.
pub(crate) fn begins_traversal(word: &str) -> bool {
    SourceName::from_text(word).is_some() || StepName::from_text(word).is_some_and(is_spawn)
}

/// Whether this method call on this value begins a traversal from a source.
fn starts_traversal(receiver: &Argument, word: &str) -> bool {
    let can_be_source = match receiver {
        Argument::Variable(_) => true,
        Argument::Computed(computed) => {
            matches!(
                &computed.kind,
                ComputedKind::Call { name, .. } if name == "traversal"
            ) || matches!(
                computed.kind,
                ComputedKind::Member { .. } | ComputedKind::Index { .. }
            )
        }
        _ => false,
    };
    can_be_source && begins_traversal(word)
}
