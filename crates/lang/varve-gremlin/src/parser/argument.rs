//! Primary expressions: literals, collections, tokens, constructors, and the words that begin
//! predicates and traversals.

use compact_str::CompactString;

use super::Parser;
use super::expression::binary_operator;
use super::words::{bare_token, class_member, is_class};
use crate::error::{ErrorCode, ParseError, Result};
use crate::lexer::{Token, TokenKind};
use crate::literals;
use crate::tree::{
    Argument, Cardinality, ComputedKind, DateTime, ElementLiteral, PredicateName, Root, Span,
    StepName, Strategy,
};

/// Keywords of Groovy that begin an unsupported construct.
const KEYWORDS: &[&str] = &[
    "else",
    "catch",
    "finally",
    "switch",
    "do",
    "throw",
    "assert",
    "synchronized",
    "goto",
    "instanceof",
    "super",
    "static",
    "final",
    "private",
    "public",
    "protected",
    "abstract",
];

/// First words of package names.
const PACKAGES: &[&str] = &["java", "javax", "groovy", "org", "com", "sun", "jdk", "io"];

impl<'s> Parser<'s> {
    /// Parses arguments in parentheses. Sets `height` to that of the highest argument.
    pub(super) fn arguments(&mut self) -> Result<Vec<Argument>> {
        self.expect(TokenKind::LeftParen, "'('")?;
        self.height = 0;
        let arguments = if self.at(TokenKind::RightParen) {
            Vec::new()
        } else {
            self.in_brackets(|parser| parser.list_until(TokenKind::RightParen, "')'"))?
        };
        self.advance()?;
        if self.at(TokenKind::LeftBrace) && !self.current.newline {
            return Err(self.closure(self.current.span()));
        }
        Ok(arguments)
    }

    /// Parses one or more arguments, separated by commas. Does not take the closing token.
    fn list_until(&mut self, end: TokenKind, what: &str) -> Result<Vec<Argument>> {
        let mut members = Vec::new();
        let mut height = 0;
        loop {
            members.push(self.argument()?);
            height = height.max(self.height);
            if self.at(end) {
                self.height = height;
                return Ok(members);
            }
            if !self.take(TokenKind::Comma)? {
                return Err(self.unexpected(&format!("',' or {what}")));
            }
        }
    }

    /// Parses an expression without operators and suffixes.
    pub(super) fn primary(&mut self) -> Result<Argument> {
        self.height = 1;
        match self.current.kind {
            TokenKind::Word => self.word(),
            TokenKind::String => {
                let token = self.advance()?;
                let text = literals::string(self.text_of(token));
                text.map(Argument::String)
                    .map_err(|wrong| self.literal(token.span(), wrong))
            }
            TokenKind::Number => self.number(false),
            TokenKind::LeftParen => {
                self.advance()?;
                let inner = self.in_brackets(Parser::argument)?;
                self.expect(TokenKind::RightParen, "')'")?;
                Ok(inner)
            }
            TokenKind::LeftBracket => self.list_or_map(),
            TokenKind::LeftBrace => self.set(),
            _ => Err(self.unexpected("a value")),
        }
    }

    pub(super) fn literal(&self, span: Span, wrong: String) -> ParseError {
        self.error(ErrorCode::Literal, span, wrong)
    }

    /// Parses a number, after its sign.
    pub(super) fn number(&mut self, negative: bool) -> Result<Argument> {
        let token = self.advance()?;
        self.height = 1;
        literals::number(self.text_of(token), negative)
            .map_err(|wrong| self.literal(token.span(), wrong))
    }

    fn list_or_map(&mut self) -> Result<Argument> {
        self.advance()?;
        self.in_brackets(|parser| match parser.current.kind {
            TokenKind::RightBracket => Ok(Argument::List(Vec::new())),
            TokenKind::Colon => {
                parser.advance()?;
                Ok(Argument::Map(Vec::new()))
            }
            _ => parser.members(),
        })
        .and_then(|collection| {
            self.expect(TokenKind::RightBracket, "']'")?;
            Ok(collection)
        })
    }

    /// Parses the members of a list or map that is not empty. The first member decides which one it
    /// is.
    fn members(&mut self) -> Result<Argument> {
        let first = self.map_key()?;
        let mut height = self.height;
        if !self.at(TokenKind::Colon) {
            let mut list = vec![first];
            while self.take(TokenKind::Comma)? {
                list.push(self.argument()?);
                height = height.max(self.height);
            }
            self.node_above(height)?;
            return Ok(Argument::List(list));
        }
        let mut key = first;
        let mut entries = Vec::new();
        loop {
            self.expect(TokenKind::Colon, "':' and a value")?;
            let value = self.argument()?;
            height = height.max(self.height);
            entries.push((key, value));
            if !self.take(TokenKind::Comma)? {
                self.node_above(height)?;
                return Ok(Argument::Map(entries));
            }
            key = self.map_key()?;
            height = height.max(self.height);
        }
    }

    /// Parses the key of a map or a member of a list. A word before a colon is a string.
    fn map_key(&mut self) -> Result<Argument> {
        if self.at(TokenKind::Word) && self.second()?.kind == TokenKind::Colon {
            let token = self.advance()?;
            self.height = 1;
            return Ok(Argument::String(CompactString::from(self.text_of(token))));
        }
        self.argument()
    }

    /// Parses `{a, b}`. Other text in braces is a closure.
    fn set(&mut self) -> Result<Argument> {
        let start = self.advance()?.span();
        if self.take(TokenKind::RightBrace)? {
            return Ok(Argument::Set(Vec::new()));
        }
        let members = if self.at(TokenKind::Arrow) || self.at_word("it") {
            Err(self.closure(start))
        } else {
            self.in_brackets(|parser| parser.list_until(TokenKind::RightBrace, "'}'"))
        };
        match members {
            Ok(members) => {
                self.advance()?;
                self.node_above(self.height)?;
                Ok(Argument::Set(members))
            }
            Err(error) if error.code == ErrorCode::Syntax => Err(self.closure(start)),
            Err(error) => Err(error),
        }
    }

    /// Parses an expression that begins with a word.
    fn word(&mut self) -> Result<Argument> {
        let token = self.advance()?;
        let word = self.text_of(token);
        match self.current.kind {
            TokenKind::LeftParen if !self.current.newline => self.call(token, word),
            TokenKind::Dot => self.word_before_dot(token, word),
            _ => self.lone_word(token, word),
        }
    }

    /// A word without members and arguments.
    fn lone_word(&mut self, token: Token, word: &'s str) -> Result<Argument> {
        Ok(match word {
            "null" => Argument::Null,
            "true" => Argument::Bool(true),
            "false" => Argument::Bool(false),
            "NaN" => Argument::Double(f64::NAN),
            "Infinity" => Argument::Double(f64::INFINITY),
            "new" => return self.constructor(token),
            "__" => return Err(self.unexpected("'.' and a step")),
            _ if self.is_declared(word) => Argument::Variable(word.into()),
            _ if is_strategy(word) => self.strategy_named(token, word)?,
            _ => {
                if self.is_whole_argument(token)
                    && let Some(value) = bare_token(word)
                {
                    return Ok(value);
                }
                self.refuse_word(token, word)?;
                Argument::Variable(word.into())
            }
        })
    }

    /// Whether this word is a whole argument. If not, a word such as `desc` is a variable.
    fn is_whole_argument(&self, word: Token) -> bool {
        let goes_on = matches!(
            self.current.kind,
            TokenKind::Dot
                | TokenKind::DotDot
                | TokenKind::LeftBracket
                | TokenKind::PlusPlus
                | TokenKind::MinusMinus
                | TokenKind::Assign
                | TokenKind::AssignWith
                | TokenKind::Question
                | TokenKind::Elvis
        ) || binary_operator(self.current.kind).is_some()
            || self.at_word("in");
        word.start == self.argument_start && (self.line_ends() || !goes_on)
    }

    fn word_before_dot(&mut self, token: Token, word: &'s str) -> Result<Argument> {
        if word == "__" {
            self.advance()?;
            return self.anonymous(token.start);
        }
        if word == "VertexProperty" || word == "SackFunctions" || word == "TraversalOptionParent" {
            // In Java, Cardinality, Barrier and Pick are nested in these classes.
            self.advance()?;
            return self.primary();
        }
        if self.is_declared(word) {
            return Ok(Argument::Variable(word.into()));
        }
        if is_class(word) {
            return self.member_of_class(word);
        }
        match word {
            "Text" | "ConditionP" => self.hugegraph_predicate(word),
            "UUID" => self.uuid_method(),
            "Thread" => self.thread_sleep(token),
            "NaN" | "Infinity" | "null" | "true" | "false" => self.lone_word(token, word),
            _ if is_strategy(word) => self.strategy_named(token, word),
            _ if PACKAGES.contains(&word) => self.package(token),
            _ => {
                self.refuse_word(token, word)?;
                Ok(Argument::Variable(word.into()))
            }
        }
    }

    /// `T.id`, `P.gt(3)`, `Cardinality.list(1)`, `WithOptions.tokens`.
    fn member_of_class(&mut self, class: &'s str) -> Result<Argument> {
        self.advance()?;
        let token = self.expect(TokenKind::Word, "a name")?;
        let member = self.text_of(token);
        if class == "P" || class == "TextP" {
            return self.predicate(token, member);
        }
        match class_member(class, member) {
            Some(Argument::Cardinality(cardinality)) if self.at(TokenKind::LeftParen) => {
                self.cardinality_value(cardinality)
            }
            Some(value) => Ok(value),
            None => {
                let message = format!("No such property: {member} for class: {class}");
                Err(self.error(ErrorCode::Static, token.span(), message))
            }
        }
    }

    fn cardinality_value(&mut self, cardinality: Cardinality) -> Result<Argument> {
        let start = self.current.span();
        let mut arguments = self.arguments()?;
        match (arguments.pop(), arguments.is_empty()) {
            (Some(value), true) => {
                self.node_above(self.height)?;
                Ok(Argument::CardinalityValue(cardinality, Box::new(value)))
            }
            _ => Err(self.error(
                ErrorCode::WrongArguments,
                start,
                format!("Cardinality.{cardinality}() takes one value"),
            )),
        }
    }

    /// A word before parentheses: a predicate, the first step of a nested traversal, or a function.
    fn call(&mut self, token: Token, word: &'s str) -> Result<Argument> {
        if PredicateName::from_text(word).is_some() {
            return self.predicate(token, word);
        }
        match word {
            "not" => return self.not(token),
            "single" | "set" | "list" => {
                if let Some(cardinality) = Cardinality::from_text(word) {
                    return self.cardinality_value(cardinality);
                }
            }
            "datetime" | "DateTime" => return self.datetime(token),
            "UUID" => return self.uuid(token),
            "Vertex" | "ReferenceVertex" | "DetachedVertex" => return self.vertex(token),
            "sleep" => return self.sleep(token),
            _ => {}
        }
        if let Some(name) = StepName::from_text(word) {
            return self.traversal(Root::Anonymous, token, name);
        }
        if is_strategy(word) {
            return self.strategy_named(token, word);
        }
        self.refuse_word(token, word)?;
        let arguments = self.arguments()?;
        let message = crate::signatures::no_such_call("Script", word, &arguments, "");
        Err(self.error(ErrorCode::NoSuchMethod, token.span(), message))
    }

    /// A function of the script layer.
    fn function(&mut self, token: Token, name: &str, arguments: Vec<Argument>) -> Result<Argument> {
        let kind = ComputedKind::Call {
            receiver: None,
            name: name.into(),
            arguments,
        };
        self.computed(token.start, kind, self.height)
    }

    fn sleep(&mut self, token: Token) -> Result<Argument> {
        let arguments = self.arguments()?;
        self.function(token, "sleep", arguments)
    }

    fn datetime(&mut self, token: Token) -> Result<Argument> {
        let arguments = self.arguments()?;
        match arguments.as_slice() {
            [] => Ok(Argument::Now),
            [Argument::String(text)] => match DateTime::from_text(text) {
                Some(instant) => Ok(Argument::DateTime(instant)),
                None => {
                    let text = literals::shortened(text);
                    let wrong =
                        format!("'{text}' is not a date and time such as 2023-08-02T00:00:00Z");
                    Err(self.literal(token.span(), wrong))
                }
            },
            [_] => self.function(token, "datetime", arguments),
            _ => Err(self.one_string(token, "datetime")),
        }
    }

    pub(super) fn uuid(&mut self, token: Token) -> Result<Argument> {
        let arguments = self.arguments()?;
        match arguments.as_slice() {
            [] => Ok(Argument::RandomUuid),
            [Argument::String(text)] => literals::uuid(text)
                .map(Argument::Uuid)
                .map_err(|wrong| self.literal(token.span(), wrong)),
            [_] => self.function(token, "UUID", arguments),
            _ => Err(self.one_string(token, "UUID")),
        }
    }

    fn one_string(&self, token: Token, name: &str) -> ParseError {
        let message = format!("{name}() takes one string");
        self.error(ErrorCode::WrongArguments, token.span(), message)
    }

    /// `UUID.fromString('…')`, `UUID.randomUUID()`.
    fn uuid_method(&mut self) -> Result<Argument> {
        self.advance()?;
        let token = self.expect(TokenKind::Word, "a method")?;
        match self.text_of(token) {
            "fromString" | "randomUUID" => self.uuid(token),
            _ => Err(self.refused_static(token, "UUID")),
        }
    }

    /// `Thread.sleep(1000L)` is `sleep(1000L)`. Other members of `Thread` are refused.
    fn thread_sleep(&mut self, class: Token) -> Result<Argument> {
        self.advance()?;
        let token = self.expect(TokenKind::Word, "a method")?;
        match self.text_of(token) {
            "sleep" => self.sleep(class),
            _ => Err(self.refused_static(token, "Thread")),
        }
    }

    /// Parses `new Vertex(id, label)` and `new XStrategy(…)`. Other constructors are refused.
    fn constructor(&mut self, new: Token) -> Result<Argument> {
        let token = self.expect(TokenKind::Word, "a class")?;
        let word = self.text_of(token);
        match word {
            "Vertex" | "ReferenceVertex" | "DetachedVertex" if self.at(TokenKind::LeftParen) => {
                self.vertex(new)
            }
            _ if is_strategy(word) => self.strategy_named(new, word),
            _ => {
                let message =
                    format!("new {word}(…) is not supported: scripts make no objects of Java");
                Err(self.error(ErrorCode::New, self.span_from(new.start), message))
            }
        }
    }

    fn vertex(&mut self, token: Token) -> Result<Argument> {
        let arguments = self.arguments()?;
        let height = self.height;
        let [id, label] = <[Argument; 2]>::try_from(arguments).map_err(|_| {
            let message = "a vertex is written new Vertex(id, label)";
            self.error(ErrorCode::WrongArguments, token.span(), message)
        })?;
        self.node_above(height)?;
        Ok(Argument::Element(Box::new(ElementLiteral::Vertex {
            id,
            label,
        })))
    }

    /// Returns an error if the word is refused.
    fn refuse_word(&self, token: Token, word: &str) -> Result<()> {
        let (code, message) = match word {
            "import" | "package" => (
                ErrorCode::Import,
                format!("{word} is not supported: scripts use no classes of Java"),
            ),
            "class" | "interface" | "enum" | "trait" | "record" => (
                ErrorCode::Definition,
                format!("a script cannot define a {word}"),
            ),
            "System" => return Err(self.system(token)),
            _ if KEYWORDS.contains(&word) => (
                ErrorCode::Keyword,
                format!("'{word}' is not supported in scripts"),
            ),
            _ if word.as_bytes()[0].is_ascii_uppercase()
                && self.at(TokenKind::LeftParen)
                && !self.current.newline =>
            {
                return Err(self.refused_static(token, word));
            }
            _ => return Ok(()),
        };
        Err(self.error(code, token.span(), message))
    }

    pub(super) fn refused_static(&self, token: Token, class: &str) -> ParseError {
        let message = format!(
            "No such property: {class} for class: Script; classes of Java and Groovy and their static members are not supported"
        );
        self.error(ErrorCode::Static, token.span(), message)
    }

    fn system(&self, token: Token) -> ParseError {
        let rest = &self.text[token.end as usize..];
        let exits = rest
            .trim_start()
            .strip_prefix('.')
            .is_some_and(|rest| rest.trim_start().starts_with("exit"));
        if exits {
            let message = "Not allowed to call System.exit() via Gremlin";
            return self.error(ErrorCode::Exit, token.span(), message);
        }
        self.refused_static(token, "System")
    }

    /// Parses `org.apache.….SubgraphStrategy(…)`. Qualified names other than strategies and
    /// `Thread` are refused.
    fn package(&mut self, first: Token) -> Result<Argument> {
        while self.take(TokenKind::Dot)? {
            let token = self.expect(TokenKind::Word, "a name")?;
            let word = self.text_of(token);
            if is_strategy(word) {
                return self.strategy_named(first, word);
            }
            if word == "Thread" {
                return self.thread_sleep(first);
            }
            if !self.at(TokenKind::Dot) {
                break;
            }
        }
        let class = &self.text[first.start as usize..self.last_end as usize];
        Err(self.refused_static(first, literals::shortened(class)))
    }

    /// Parses the rest after a strategy's name: its configuration, or the calls of its builder.
    fn strategy_named(&mut self, start: Token, word: &str) -> Result<Argument> {
        let mut configuration = Vec::new();
        let mut height = 0;
        if self.at(TokenKind::LeftParen) && !self.current.newline {
            self.advance()?;
            height = self.in_brackets(|parser| parser.configuration(&mut configuration))?;
            self.expect(TokenKind::RightParen, "')'")?;
        }
        while self.at(TokenKind::Dot) {
            self.advance()?;
            let token = self.expect(TokenKind::Word, "a method of the strategy's builder")?;
            let method = self.text_of(token);
            let mut arguments = self.arguments()?;
            height = height.max(self.height);
            match (method, arguments.len()) {
                ("build" | "instance" | "create", 0) => {}
                (_, 1) => configuration.push((method.into(), arguments.swap_remove(0))),
                _ => configuration.push((method.into(), Argument::List(arguments))),
            }
        }
        self.node_above(height)?;
        Ok(Argument::Strategy(Box::new(Strategy {
            name: word.into(),
            configuration,
            span: self.span_from(start.start),
        })))
    }

    /// Parses `key: value, …`. Returns the height of the highest value.
    fn configuration(&mut self, entries: &mut Vec<(CompactString, Argument)>) -> Result<u16> {
        let mut height = 0;
        while !self.at(TokenKind::RightParen) {
            let key = self.expect(TokenKind::Word, "a key of the strategy's configuration")?;
            self.expect(TokenKind::Colon, "':'")?;
            let value = self.argument()?;
            height = height.max(self.height);
            entries.push((self.text_of(key).into(), value));
            if !self.take(TokenKind::Comma)? {
                break;
            }
        }
        Ok(height)
    }
}

/// Whether a word is the class name of a strategy.
pub(super) fn is_strategy(word: &str) -> bool {
    word.len() > 8 && word.ends_with("Strategy") && word.as_bytes()[0].is_ascii_uppercase()
}
