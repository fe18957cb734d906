//! Expressions without operators: literals, variables, calls, and forms of their own.

use super::Parser;
use crate::error::{ErrorKind, Result};
use crate::lexer::TokenKind;
use crate::literals;
use crate::tree::{
    Call, Case, Entry, Expression, ExpressionKind, ListComprehension, MapProjection, Name,
    PathKind, PatternComprehension, ProjectionEntry, QualifiedName, Quantified, Quantifier, Reduce,
    SubqueryKind, When,
};

impl Parser<'_> {
    pub(super) fn atom(&mut self) -> Result<Expression> {
        let start = self.span().start;
        let kind = match self.kind(0) {
            TokenKind::Number => return self.number(start, false),
            TokenKind::String => self.string()?,
            TokenKind::Dollar => ExpressionKind::Parameter(self.parameter()?),
            TokenKind::LeftBracket => self.with_bar(false, Parser::bracket)?,
            TokenKind::LeftBrace => {
                self.with_bar(false, |parser| parser.map().map(ExpressionKind::Map))?
            }
            TokenKind::LeftParen if self.path_ahead(0) => {
                self.with_bar(false, Parser::pattern_atom)?
            }
            TokenKind::LeftParen => {
                self.advance();
                let inner = self.with_bar(false, Parser::predicate)?;
                self.expect(TokenKind::RightParen, "an operator or ')'")?;
                let span = self.span_from(start);
                let kind = inner.kind;
                return Ok(Expression { kind, span });
            }
            TokenKind::Word | TokenKind::Escaped => self.word_atom()?,
            _ => return Err(self.unexpected("an expression")),
        };
        self.node_above()?;
        let span = self.span_from(start);
        Ok(Expression { kind, span })
    }

    fn pattern_atom(&mut self) -> Result<ExpressionKind> {
        let pattern = self.path_pattern(super::pattern::Use::Expression)?;
        Ok(ExpressionKind::Pattern(Box::new(pattern)))
    }

    fn string(&mut self) -> Result<ExpressionKind> {
        let token = self.token(0);
        let value = literals::string(token.span.of(self.text));
        let value = value.map_err(|(offset, (kind, message))| {
            let mut span = token.span;
            span.start += offset as u32;
            self.error(kind, span, message)
        })?;
        self.advance();
        Ok(ExpressionKind::String(value))
    }

    pub(super) fn parameter(&mut self) -> Result<Name> {
        let dollar = self.expect(TokenKind::Dollar, "a parameter")?;
        let token = self.token(0);
        if token.span.start > dollar.span.end {
            let message = "the name of a parameter follows '$' without a blank";
            return Err(self.error(ErrorKind::UnexpectedSyntax, token.span, message));
        }
        let text = token.span.of(self.text);
        if token.kind == TokenKind::Number && text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.advance();
            let (text, span) = (text.into(), token.span);
            return Ok(Name { text, span });
        }
        self.name("the name of a parameter")
    }

    pub(super) fn map(&mut self) -> Result<Vec<Entry>> {
        self.expect(TokenKind::LeftBrace, "'{'")?;
        let entries = if self.at(TokenKind::RightBrace) {
            Vec::new()
        } else {
            self.list(Parser::entry)?
        };
        self.expect(TokenKind::RightBrace, "',' or '}'")?;
        Ok(entries)
    }

    fn entry(&mut self) -> Result<Entry> {
        let key = self.name("a key")?;
        self.expect(TokenKind::Colon, "':'")?;
        let value = self.value()?;
        Ok(Entry { key, value })
    }

    /// A list, or a comprehension.
    fn bracket(&mut self) -> Result<ExpressionKind> {
        self.advance();
        if self.is_name(0) && self.is_word(1, "IN") && !self.lists_ahead() {
            return self.list_comprehension();
        }
        let is_named = self.is_name(0) && self.kind(1) == TokenKind::Equal && self.path_ahead(2);
        if is_named || self.path_ahead(0) {
            return self.pattern_comprehension();
        }
        let items = if self.at(TokenKind::RightBracket) {
            Vec::new()
        } else {
            self.list(Parser::value)?
        };
        self.expect(TokenKind::RightBracket, "',' or ']'")?;
        Ok(ExpressionKind::List(items))
    }

    /// Whether a comma between items comes before what ends `variable IN list` in a comprehension:
    /// `[x IN list, y]` is a list of a truth value and `y`.
    fn lists_ahead(&self) -> bool {
        let (mut ahead, mut cases) = (2, 0_u32);
        loop {
            match self.kind(ahead) {
                TokenKind::Comma if cases == 0 => return true,
                TokenKind::Bar | TokenKind::RightBracket | TokenKind::End => return false,
                TokenKind::Dot => ahead += 1,
                TokenKind::Word if self.is_word(ahead, "WHERE") => return false,
                TokenKind::Word if self.is_word(ahead, "CASE") => cases += 1,
                TokenKind::Word if self.is_word(ahead, "END") => cases = cases.saturating_sub(1),
                _ => {}
            }
            ahead = self.closing(ahead).unwrap_or(ahead) + 1;
        }
    }

    /// `variable IN list`.
    fn source(&mut self) -> Result<(Name, Expression)> {
        let variable = self.name("a variable")?;
        self.expect_word("IN")?;
        let list = self.with_bar(true, Parser::value)?;
        Ok((variable, list))
    }

    fn list_comprehension(&mut self) -> Result<ExpressionKind> {
        let (variable, list) = self.source()?;
        let filter = self.with_bar(true, Parser::filter)?;
        let result = if self.take(TokenKind::Bar) {
            Some(self.value()?)
        } else {
            None
        };
        self.expect(TokenKind::RightBracket, "WHERE, '|' or ']'")?;
        Ok(ExpressionKind::ListComprehension(Box::new(
            ListComprehension {
                variable,
                list,
                filter,
                result,
            },
        )))
    }

    fn pattern_comprehension(&mut self) -> Result<ExpressionKind> {
        let pattern = self.path_pattern(super::pattern::Use::Expression)?;
        let filter = self.with_bar(true, Parser::filter)?;
        self.expect(TokenKind::Bar, "WHERE or '|'")?;
        let result = self.value()?;
        self.expect(TokenKind::RightBracket, "']'")?;
        Ok(ExpressionKind::PatternComprehension(Box::new(
            PatternComprehension {
                pattern,
                filter,
                result,
            },
        )))
    }

    fn word_atom(&mut self) -> Result<ExpressionKind> {
        if let Some(kind) = self.word_form()? {
            return Ok(kind);
        }
        let mut ahead = 1;
        while self.kind(ahead) == TokenKind::Dot && self.is_name(ahead + 1) {
            ahead += 2;
        }
        if self.kind(ahead) == TokenKind::LeftParen {
            return self.with_bar(false, Parser::call);
        }
        let name = self.name("a variable")?;
        if self.at(TokenKind::LeftBrace) {
            return self.with_bar(false, |parser| parser.map_projection(name));
        }
        Ok(ExpressionKind::Variable(name))
    }

    /// What a word means if it is not a name.
    fn word_form(&mut self) -> Result<Option<ExpressionKind>> {
        let next = self.kind(1);
        if !self.at(TokenKind::Word) {
            return Ok(None);
        }
        let word = self.span().of(self.text).to_ascii_uppercase();
        let literal = match word.as_str() {
            "NULL" => Some(ExpressionKind::Null),
            "TRUE" => Some(ExpressionKind::Boolean(true)),
            "FALSE" => Some(ExpressionKind::Boolean(false)),
            "INF" | "INFINITY" => Some(ExpressionKind::Float(f64::INFINITY)),
            "NAN" => Some(ExpressionKind::Float(f64::NAN)),
            _ => None,
        };
        if literal.is_some() {
            self.advance();
            return Ok(literal);
        }
        if word == "CASE" && self.begins_operand(1) {
            return self.with_bar(false, Parser::case).map(Some);
        }
        if next == TokenKind::LeftBrace && !self.begins_projection(2) {
            return self.subquery_form(&word);
        }
        if next == TokenKind::LeftParen {
            return self.with_bar(false, |parser| parser.call_form(&word));
        }
        Ok(None)
    }

    /// Whether a map projection goes on `ahead`, after its brace, rather than a subquery.
    fn begins_projection(&self, ahead: usize) -> bool {
        use TokenKind::{Colon, Comma, Dot, RightBrace};
        matches!(self.kind(ahead), Dot | RightBrace)
            || self.is_name(ahead) && matches!(self.kind(ahead + 1), Colon | Comma | RightBrace)
    }

    /// Whether the token `ahead` can begin an operand, and no operator.
    fn begins_operand(&self, ahead: usize) -> bool {
        let operators = [
            "AND", "OR", "XOR", "IN", "IS", "STARTS", "ENDS", "CONTAINS", "AS",
        ];
        match self.kind(ahead) {
            TokenKind::Word => !operators.iter().any(|word| self.is_word(ahead, word)),
            kind => matches!(
                kind,
                TokenKind::Escaped
                    | TokenKind::Number
                    | TokenKind::String
                    | TokenKind::LeftParen
                    | TokenKind::LeftBracket
                    | TokenKind::LeftBrace
                    | TokenKind::Dollar
                    | TokenKind::Minus
                    | TokenKind::Plus
            ),
        }
    }

    fn subquery_form(&mut self, word: &str) -> Result<Option<ExpressionKind>> {
        let kind = match word {
            "EXISTS" => SubqueryKind::Exists,
            "COUNT" => SubqueryKind::Count,
            "COLLECT" => SubqueryKind::Collect,
            _ => return Ok(None),
        };
        self.advance();
        let query = Box::new(self.subquery(kind)?);
        Ok(Some(ExpressionKind::Subquery(kind, query)))
    }

    /// What a word before a parenthesis means if it is no function.
    fn call_form(&mut self, word: &str) -> Result<Option<ExpressionKind>> {
        let quantifier = match word {
            "ALL" => Some(Quantifier::All),
            "ANY" => Some(Quantifier::Any),
            "NONE" => Some(Quantifier::None),
            "SINGLE" => Some(Quantifier::Single),
            _ => None,
        };
        if let Some(quantifier) = quantifier {
            if self.is_name(2) && self.is_word(3, "IN") {
                return self.quantified(quantifier).map(Some);
            }
        } else if word == "REDUCE" && self.is_name(2) && self.kind(3) == TokenKind::Equal {
            return self.reduce().map(Some);
        } else if word == "COUNT"
            && self.kind(2) == TokenKind::Star
            && self.kind(3) == TokenKind::RightParen
        {
            self.place += 4;
            return Ok(Some(ExpressionKind::CountStar));
        } else if PathKind::word(word).is_some() {
            return self.pattern_atom().map(Some);
        } else if word == "TRIM" {
            let sides = ["LEADING", "TRAILING", "BOTH"];
            let has_side = sides.iter().any(|side| self.is_word(2, side));
            if has_side && self.kind(3) != TokenKind::RightParen {
                return Err(self.not_supported("trim(… FROM …)"));
            }
        }
        Ok(None)
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Result<ExpressionKind> {
        self.place += 2;
        let (variable, list) = self.source()?;
        self.expect_word("WHERE")?;
        let predicate = self.predicate()?;
        self.expect(TokenKind::RightParen, "')'")?;
        Ok(ExpressionKind::Quantified(Box::new(Quantified {
            quantifier,
            variable,
            list,
            predicate,
        })))
    }

    fn reduce(&mut self) -> Result<ExpressionKind> {
        self.place += 2;
        let accumulator = self.name("an accumulator")?;
        self.expect(TokenKind::Equal, "'='")?;
        let initial = self.value()?;
        self.expect(TokenKind::Comma, "','")?;
        let (variable, list) = self.source()?;
        self.expect(TokenKind::Bar, "'|'")?;
        let step = self.value()?;
        self.expect(TokenKind::RightParen, "')'")?;
        Ok(ExpressionKind::Reduce(Box::new(Reduce {
            accumulator,
            initial,
            variable,
            list,
            step,
        })))
    }

    pub(super) fn qualified_name(&mut self, what: &str) -> Result<QualifiedName> {
        let mut parts = vec![self.name(what)?];
        while self.take(TokenKind::Dot) {
            parts.push(self.name("a name")?);
        }
        Ok(QualifiedName { parts })
    }

    fn call(&mut self) -> Result<ExpressionKind> {
        let name = self.qualified_name("a function")?;
        self.expect(TokenKind::LeftParen, "'('")?;
        let distinct = self.set_quantifier();
        let tests_pattern = name.text().eq_ignore_ascii_case("exists");
        let arguments = if self.at(TokenKind::RightParen) && !distinct {
            Vec::new()
        } else if tests_pattern {
            self.list(Parser::predicate)?
        } else {
            self.list(Parser::value)?
        };
        self.expect(TokenKind::RightParen, "',' or ')'")?;
        Ok(ExpressionKind::Call(Box::new(Call {
            name,
            distinct,
            arguments,
        })))
    }

    /// `DISTINCT` or `ALL`, unless it is a name; whether it is `DISTINCT`.
    pub(super) fn set_quantifier(&mut self) -> bool {
        let is_call = self.kind(1) == TokenKind::LeftParen;
        if self.at_word("DISTINCT") && (self.begins_operand(1) || self.kind(1) == TokenKind::Star) {
            self.advance();
            return true;
        }
        let ends = [
            "ORDER", "SKIP", "OFFSET", "LIMIT", "WHERE", "RETURN", "MATCH", "WITH", "UNWIND",
            "UNION", "CALL", "OPTIONAL", "CREATE", "MERGE", "SET",
        ];
        let is_last = ends.iter().any(|word| self.is_word(1, word));
        let follows = self.begins_operand(1) && !is_call && !is_last;
        // What follows a variable named `all` in Cypher: an index, a map projection, a sign.
        let goes_on = matches!(
            self.kind(1),
            TokenKind::LeftBracket | TokenKind::LeftBrace | TokenKind::Minus | TokenKind::Plus
        );
        if self.at_word("ALL") && follows && !goes_on {
            self.advance();
        }
        false
    }

    fn case(&mut self) -> Result<ExpressionKind> {
        self.advance();
        let subject = if self.at_word("WHEN") {
            None
        } else {
            Some(self.value()?)
        };
        let mut branches = Vec::new();
        while self.take_word("WHEN") {
            let operands = if subject.is_some() {
                self.list(Parser::value)?
            } else {
                vec![self.predicate()?]
            };
            self.expect_word("THEN")?;
            let value = self.value()?;
            branches.push(When { operands, value });
        }
        if branches.is_empty() {
            return Err(self.unexpected("WHEN"));
        }
        let otherwise = self.value_after("ELSE")?;
        self.expect_word("END")?;
        Ok(ExpressionKind::Case(Box::new(Case {
            subject,
            branches,
            otherwise,
        })))
    }

    fn map_projection(&mut self, variable: Name) -> Result<ExpressionKind> {
        self.advance();
        let entries = if self.at(TokenKind::RightBrace) {
            Vec::new()
        } else {
            self.list(Parser::projection_entry)?
        };
        self.expect(TokenKind::RightBrace, "',' or '}'")?;
        Ok(ExpressionKind::MapProjection(Box::new(MapProjection {
            variable,
            entries,
        })))
    }

    fn projection_entry(&mut self) -> Result<ProjectionEntry> {
        if self.take(TokenKind::Dot) {
            if self.take(TokenKind::Star) {
                return Ok(ProjectionEntry::All);
            }
            return self
                .name("a property or '*'")
                .map(ProjectionEntry::Property);
        }
        if self.kind(1) == TokenKind::Colon {
            return self.entry().map(ProjectionEntry::Entry);
        }
        self.name("'.' and a property, a key, or a variable")
            .map(ProjectionEntry::Variable)
    }

    /// A map or a parameter.
    pub(super) fn map_or_parameter(&mut self) -> Result<Expression> {
        let start = self.span().start;
        let kind = match self.kind(0) {
            TokenKind::Dollar => ExpressionKind::Parameter(self.parameter()?),
            TokenKind::LeftBrace => {
                let entries = self.deeper(|parser| parser.with_bar(false, Parser::map))?;
                ExpressionKind::Map(entries)
            }
            _ => return Err(self.unexpected("a map or a parameter")),
        };
        let span = self.span_from(start);
        Ok(Expression { kind, span })
    }

    /// The error of a parameter that is not allowed here.
    pub(super) fn parameter_misused(&self, message: &str) -> crate::error::ParseError {
        self.error(ErrorKind::InvalidParameterUse, self.span(), message)
    }
}
