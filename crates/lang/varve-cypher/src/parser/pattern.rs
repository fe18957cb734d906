//! Patterns of paths.

use super::Parser;
use super::label::Of;
use crate::error::{ErrorKind, Result};
use crate::lexer::TokenKind;
use crate::tree::{
    Direction, Expression, LabelExpression, Length, Name, NodePattern, PathKind, PathPattern,
    RelationshipPattern,
};

/// What a pattern is for, which decides what it may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Match,
    Create,
    Merge,
    /// A condition or a comprehension.
    Expression,
}

impl Use {
    fn writes(self) -> bool {
        matches!(self, Use::Create | Use::Merge)
    }
}

/// Words of GQL before a path.
const PATH_WORDS: &[&str] = &[
    "WALK", "TRAIL", "SIMPLE", "ACYCLIC", "ANY", "ALL", "SHORTEST",
];

impl Parser<'_> {
    pub(super) fn path_pattern(&mut self, used: Use) -> Result<PathPattern> {
        self.with_bar(false, |parser| parser.named_path(used))
    }

    fn named_path(&mut self, used: Use) -> Result<PathPattern> {
        let start = self.span().start;
        let variable = if self.is_name(0) && self.kind(1) == TokenKind::Equal {
            let name = self.name("a variable")?;
            self.advance();
            Some(name)
        } else {
            None
        };
        let word = self.span().of(self.text);
        let shortest = PathKind::word(word).filter(|_| self.kind(1) == TokenKind::LeftParen);
        let mut path = match shortest {
            Some(kind) => self.shortest_path(kind, used)?,
            None => {
                if let Some(word) = self.any_word(PATH_WORDS) {
                    let construct = format!("{word} before a path");
                    return Err(self.not_supported(&construct));
                }
                self.path(used)?
            }
        };
        path.variable = variable;
        path.span = self.span_from(start);
        Ok(path)
    }

    fn shortest_path(&mut self, kind: PathKind, used: Use) -> Result<PathPattern> {
        if used.writes() {
            return Err(self.unexpected("a pattern to create"));
        }
        let start = self.span().start;
        self.place += 2;
        let path = self.path(used)?;
        self.expect(TokenKind::RightParen, "')'")?;
        if path.steps.len() != 1 {
            let message = format!("{} takes a pattern of one relationship", kind.text());
            let span = self.span_from(start);
            return Err(self.error(ErrorKind::UnexpectedSyntax, span, message));
        }
        Ok(PathPattern { kind, ..path })
    }

    fn path(&mut self, used: Use) -> Result<PathPattern> {
        let start = self.node(used)?;
        let mut steps = Vec::new();
        while matches!(self.kind(0), TokenKind::Minus | TokenKind::Less) {
            let relationship = self.relationship(used)?;
            steps.push((relationship, self.node(used)?));
        }
        let is_quantified = matches!(self.kind(0), TokenKind::Plus | TokenKind::Star);
        if self.at(TokenKind::LeftParen) || is_quantified && used == Use::Match {
            return Err(self.not_supported("a quantified path pattern"));
        }
        Ok(PathPattern {
            variable: None,
            kind: PathKind::All,
            start,
            steps,
            span: self.span(),
        })
    }

    fn node(&mut self, used: Use) -> Result<NodePattern> {
        let start = self.span().start;
        self.expect(TokenKind::LeftParen, "'(' of a node")?;
        let is_path = self.is_name(0)
            && self.kind(1) == TokenKind::Equal
            && self.kind(2) == TokenKind::LeftParen;
        if self.at(TokenKind::LeftParen) || is_path {
            return Err(self.not_supported("a path pattern in parentheses"));
        }
        let variable = self.element_variable()?;
        let labels = self.labels(Of::Anything)?;
        if used.writes() && !labels.as_ref().is_none_or(names_labels) {
            let message = "a node is created with names of labels; '|', '!' and '%' only match";
            let span = self.span_from(start);
            return Err(self.error(ErrorKind::UnexpectedSyntax, span, message));
        }
        let (properties, filter) = self.properties(used)?;
        self.expect(TokenKind::RightParen, "')'")?;
        Ok(NodePattern {
            variable,
            labels,
            properties,
            filter,
            span: self.span_from(start),
        })
    }

    /// The variable of a node or relationship, if one comes next.
    fn element_variable(&mut self) -> Result<Option<Name>> {
        if !self.is_name(0) || self.begins_filter(0) || self.begins_labels(0) {
            return Ok(None);
        }
        self.name("a variable").map(Some)
    }

    /// Whether `WHERE` and a condition come next, not a variable of that name.
    fn begins_filter(&self, ahead: usize) -> bool {
        use TokenKind::{Colon, Dollar, LeftBrace, RightBracket, RightParen, Star};
        let after = self.kind(ahead + 1);
        let is_name = matches!(
            after,
            RightParen | RightBracket | Colon | LeftBrace | Dollar | Star
        );
        self.is_word(ahead, "WHERE") && !is_name
    }

    /// Whether `IS` and labels come next, not a variable of that name.
    fn begins_labels(&self, ahead: usize) -> bool {
        use TokenKind::{Bang, Dollar, Escaped, LeftParen, Percent, Word};
        let after = self.kind(ahead + 1);
        let is_label = matches!(after, Word | Escaped | Bang | Percent | LeftParen | Dollar);
        self.is_word(ahead, "IS") && is_label && !self.begins_filter(ahead + 1)
    }

    fn properties(&mut self, used: Use) -> Result<(Option<Expression>, Option<Expression>)> {
        let properties = match self.kind(0) {
            TokenKind::Dollar if used != Use::Create => {
                return Err(self.parameter_misused(
                    "a parameter as properties is for CREATE; match its keys one by one",
                ));
            }
            TokenKind::Dollar | TokenKind::LeftBrace => Some(self.map_or_parameter()?),
            _ => None,
        };
        if used.writes() && self.at_word("WHERE") {
            return Err(self.unexpected("')' or ']'; a pattern to create has no WHERE"));
        }
        Ok((properties, self.filter()?))
    }

    fn relationship(&mut self, used: Use) -> Result<RelationshipPattern> {
        let start = self.span().start;
        let left = self.take(TokenKind::Less);
        self.expect(TokenKind::Minus, "'-' of a relationship")?;
        let mut relationship = RelationshipPattern {
            variable: None,
            types: None,
            length: None,
            properties: None,
            filter: None,
            direction: Direction::Either,
            span: self.span(),
        };
        if self.take(TokenKind::LeftBracket) {
            relationship.variable = self.element_variable()?;
            relationship.types = self.labels(Of::Relationship)?;
            relationship.length = self.length()?;
            (relationship.properties, relationship.filter) = self.properties(used)?;
            self.end_of_bracket()?;
        }
        self.expect(TokenKind::Minus, "'-' of a relationship")?;
        let right = self.take(TokenKind::Greater);
        relationship.direction = match (left, right) {
            (false, true) => Direction::Right,
            (true, false) => Direction::Left,
            (false, false) => Direction::Either,
            (true, true) => Direction::Both,
        };
        if let Some(length) = self.quantifier()? {
            if relationship.length.is_some() {
                let message = "a relationship has a length and a quantifier";
                let span = self.span_from(start);
                return Err(self.error(ErrorKind::InvalidRelationshipPattern, span, message));
            }
            relationship.length = Some(length);
        }
        relationship.span = self.span_from(start);
        if used.writes() {
            self.check_created(&relationship, used)?;
        }
        Ok(relationship)
    }

    fn end_of_bracket(&mut self) -> Result<()> {
        if self.take(TokenKind::RightBracket) {
            return Ok(());
        }
        let is_length = matches!(self.kind(0), TokenKind::DotDot | TokenKind::Number);
        if is_length || self.at(TokenKind::Minus) || self.at(TokenKind::Dot) {
            let message = "a length is written as *, *2, *1..3, *1.. or *..3";
            return Err(self.error(ErrorKind::InvalidRelationshipPattern, self.span(), message));
        }
        Err(self.unexpected("']'"))
    }

    fn check_created(&self, relationship: &RelationshipPattern, used: Use) -> Result<()> {
        // A variable without a type may be bound, which is another error: the binder decides.
        let single = match &relationship.types {
            Some(types) => matches!(
                types,
                LabelExpression::Name(_) | LabelExpression::Dynamic(_)
            ),
            None => relationship.variable.is_some(),
        };
        let directed = matches!(relationship.direction, Direction::Left | Direction::Right);
        let (kind, message) = if relationship.length.is_some() {
            let message = "a relationship to create has no length";
            (ErrorKind::CreatingVarLength, message)
        } else if !single {
            let message = "a relationship to create has exactly one type, as in -[:TYPE]->";
            (ErrorKind::NoSingleRelationshipType, message)
        } else if !directed && used == Use::Create {
            let message = "a relationship to create has a direction, as in -[:TYPE]->";
            (ErrorKind::RequiresDirectedRelationship, message)
        } else {
            return Ok(());
        };
        Err(self.error(kind, relationship.span, message))
    }

    /// `*`, `*2`, `*1..3` and the like.
    fn length(&mut self) -> Result<Option<Length>> {
        if !self.take(TokenKind::Star) {
            return Ok(None);
        }
        if self.at(TokenKind::Dollar) {
            return Err(self.parameter_misused("the length of a relationship is no parameter"));
        }
        let min = self.bound()?;
        if !self.take(TokenKind::DotDot) {
            return Ok(Some(Length { min, max: min }));
        }
        let max = self.bound()?;
        Ok(Some(Length { min, max }))
    }

    fn bound(&mut self) -> Result<Option<u64>> {
        if !self.at(TokenKind::Number) {
            return Ok(None);
        }
        let token = self.advance();
        let digits = token.span.of(self.text).replace('_', "");
        let bound = digits.parse().map_err(|_| {
            let message = "a length is a number without sign or fraction";
            self.error(ErrorKind::InvalidRelationshipPattern, token.span, message)
        })?;
        Ok(Some(bound))
    }

    /// The quantifier of GQL behind a relationship: `+`, `*`, `{2}`, `{1,3}`.
    fn quantifier(&mut self) -> Result<Option<Length>> {
        let (min, max) = match self.kind(0) {
            TokenKind::Plus => (Some(1), None),
            TokenKind::Star => (Some(0), None),
            TokenKind::Question => {
                return Err(self.not_supported("the quantifier '?' of a relationship"));
            }
            TokenKind::LeftBrace => {
                self.advance();
                let min = self.bound()?;
                let max = if self.take(TokenKind::Comma) {
                    self.bound()?
                } else if min.is_some() {
                    min
                } else {
                    return Err(self.unexpected("a number or ','"));
                };
                self.expect(TokenKind::RightBrace, "'}'")?;
                return Ok(Some(Length {
                    min: min.or(Some(0)),
                    max,
                }));
            }
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(Length { min, max }))
    }

    /// Whether a path of at least one relationship begins `ahead`, rather than an expression in
    /// parentheses.
    pub(super) fn path_ahead(&self, ahead: usize) -> bool {
        if self.kind(ahead) != TokenKind::LeftParen || !self.node_ahead(ahead + 1) {
            return false;
        }
        let Some(end) = self.closing(ahead) else {
            return false;
        };
        let mut ahead = end + 1;
        ahead += usize::from(self.kind(ahead) == TokenKind::Less);
        if self.kind(ahead) != TokenKind::Minus {
            return false;
        }
        ahead += 1;
        if self.kind(ahead) == TokenKind::LeftBracket {
            match self.closing(ahead) {
                Some(end) => ahead = end + 1,
                None => return false,
            }
        }
        if self.kind(ahead) != TokenKind::Minus {
            return false;
        }
        ahead += 1;
        ahead += usize::from(self.kind(ahead) == TokenKind::Greater);
        self.kind(ahead) == TokenKind::LeftParen
    }

    /// Whether what is in a parenthesis looks like a node.
    fn node_ahead(&self, ahead: usize) -> bool {
        use TokenKind::{Colon, Dollar, LeftBrace, RightParen};
        if self.begins_filter(ahead) || self.begins_labels(ahead) {
            return true;
        }
        if !self.is_name(ahead) {
            return matches!(self.kind(ahead), RightParen | Colon | LeftBrace);
        }
        let tests = ["NOT", "NULL", "TYPED", "NORMALIZED"];
        let is_test = tests.iter().any(|word| self.is_word(ahead + 2, word));
        let after = self.kind(ahead + 1);
        matches!(after, RightParen | Colon | LeftBrace | Dollar)
            || self.is_word(ahead + 1, "WHERE")
            || self.is_word(ahead + 1, "IS") && !is_test && self.begins_labels(ahead + 1)
    }
}

/// Whether a node can be created with these labels.
fn names_labels(labels: &LabelExpression) -> bool {
    match labels {
        LabelExpression::Name(_) | LabelExpression::Dynamic(_) => true,
        LabelExpression::And(labels) => labels.iter().all(names_labels),
        _ => false,
    }
}
