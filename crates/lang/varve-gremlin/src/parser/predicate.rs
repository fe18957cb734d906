//! Predicates: `P`, `TextP` and HugeGraph's classes.

use super::Parser;
use crate::error::{ErrorCode, Result};
use crate::lexer::{Token, TokenKind};
use crate::signatures;
use crate::tree::{Argument, Predicate, PredicateName, Root, StepName};

/// A test, normalized for texts and bytecode: the operands of `within` are the members of its list.
pub(crate) fn test(name: PredicateName, mut arguments: Vec<Argument>) -> Predicate {
    let spreads = matches!(name, PredicateName::Within | PredicateName::Without);
    if spreads
        && arguments.len() == 1
        && let Some(Argument::List(members) | Argument::Set(members)) = arguments.first_mut()
    {
        arguments = std::mem::take(members);
    }
    Predicate::Test { name, arguments }
}

/// The conjunction of two predicates.
pub(crate) fn all_of(first: Predicate, second: Predicate) -> Predicate {
    let mut members = match first {
        Predicate::And(members) => members,
        other => vec![other],
    };
    match second {
        Predicate::And(more) => members.extend(more),
        other => members.push(other),
    }
    Predicate::And(members)
}

/// The disjunction of two predicates.
pub(crate) fn any_of(first: Predicate, second: Predicate) -> Predicate {
    let mut members = match first {
        Predicate::Or(members) => members,
        other => vec![other],
    };
    match second {
        Predicate::Or(more) => members.extend(more),
        other => members.push(other),
    }
    Predicate::Or(members)
}

/// The negation of a predicate.
pub(crate) fn negated(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::Not(inner) => *inner,
        other => Predicate::Not(Box::new(other)),
    }
}

impl Parser<'_> {
    /// Parses a predicate after its name, and the predicates joined to it.
    pub(super) fn predicate(&mut self, token: Token, word: &str) -> Result<Argument> {
        if word == "not" {
            return self.not(token);
        }
        let Some(name) = PredicateName::from_text(word) else {
            let arguments = if self.at(TokenKind::LeftParen) {
                self.arguments()?
            } else {
                Vec::new()
            };
            let message = signatures::no_such_call("P", word, &arguments, "");
            return Err(self.error(ErrorCode::NoSuchMethod, token.span(), message));
        };
        let arguments = self.arguments()?;
        self.node_above(self.height)?;
        let forms = signatures::predicate_forms(name);
        if !signatures::match_forms(forms, &arguments) {
            let message = signatures::no_such_call("P", word, &arguments, forms);
            return Err(self.error(ErrorCode::WrongArguments, token.span(), message));
        }
        self.joined(test(name, arguments))
    }

    /// Parses `not(…)`: the negation of a predicate, or the step on a traversal.
    pub(super) fn not(&mut self, token: Token) -> Result<Argument> {
        let mut arguments = self.arguments()?;
        if let [Argument::Predicate(_)] = arguments.as_slice()
            && let Some(Argument::Predicate(inner)) = arguments.pop()
        {
            self.node_above(self.height)?;
            return self.joined(negated(*inner));
        }
        self.traversal_from_call(Root::Anonymous, token, StepName::Not, arguments)
    }

    /// Parses `.and(p)`, `.or(p)` and `.negate()` after a predicate.
    pub(super) fn joined(&mut self, first: Predicate) -> Result<Argument> {
        let mut predicate = first;
        let mut height = self.height;
        while self.at(TokenKind::Dot) {
            self.advance()?;
            let token = self.expect(TokenKind::Word, "and, or or negate")?;
            let word = self.text_of(token);
            let mut arguments = self.arguments()?;
            height = height.max(self.height);
            predicate = match (word, arguments.pop(), arguments.is_empty()) {
                ("and", Some(Argument::Predicate(second)), true) => all_of(predicate, *second),
                ("or", Some(Argument::Predicate(second)), true) => any_of(predicate, *second),
                ("negate", None, true) => negated(predicate),
                (_, last, _) => {
                    arguments.extend(last);
                    let forms = match word {
                        "and" | "or" => "P",
                        "negate" => "-",
                        _ => "",
                    };
                    let message = signatures::no_such_call("P", word, &arguments, forms);
                    return Err(self.error(ErrorCode::NoSuchMethod, token.span(), message));
                }
            };
            self.node_above(height)?;
            height = self.height;
        }
        Ok(Argument::Predicate(Box::new(predicate)))
    }

    /// `Text.contains('w')`, `Text.uuid('…')`, `ConditionP.contains(1)`, `ConditionP.eq(1)`.
    pub(super) fn hugegraph_predicate(&mut self, class: &str) -> Result<Argument> {
        self.advance()?;
        let token = self.expect(TokenKind::Word, "a predicate")?;
        match self.text_of(token) {
            "uuid" => self.uuid(token),
            "contains" if class == "Text" => self.predicate(token, "textContains"),
            word => self.predicate(token, word),
        }
    }
}
