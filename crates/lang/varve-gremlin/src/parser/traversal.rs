//! Traversals: a root, source instructions, steps, and a terminal method.

use super::Parser;
use super::argument::is_strategy;
use crate::calls::{self, SOURCE_CLASS, TRAVERSAL_CLASS};
use crate::error::{ErrorCode, Result};
use crate::lexer::{Token, TokenKind};
use crate::signatures;
use crate::tree::{
    Argument, Root, SourceInstruction, SourceName, Span, Step, StepName, Strategy, Terminal,
    Traversal,
};

/// Methods of a traversal that are not steps: the script layer implements them.
const TRAVERSAL_METHODS: &[&str] = &["toString", "size"];

impl Traversal {
    /// A nested traversal of these steps.
    pub(crate) fn anonymous(steps: Vec<Step>, span: Span) -> Traversal {
        Traversal {
            root: Root::Anonymous,
            source: Vec::new(),
            steps,
            terminal: None,
            span,
        }
    }
}

/// Whether a step may be the first step after a source.
pub(super) fn is_spawn(name: StepName) -> bool {
    use StepName as N;
    matches!(
        name,
        N::V | N::E
            | N::AddV
            | N::AddE
            | N::MergeV
            | N::MergeE
            | N::Inject
            | N::Io
            | N::Call
            | N::Union
            | N::Match
    )
}

/// A method call in a chain of steps.
enum Link {
    Step(Step),
    Terminal(Terminal),
    /// A method of the script layer.
    Method,
}

impl Parser<'_> {
    /// Parses a nested traversal after `__.`.
    pub(super) fn anonymous(&mut self, start: u32) -> Result<Argument> {
        let token = self.expect(TokenKind::Word, "a step")?;
        let Some(name) = StepName::from_text(self.text_of(token)) else {
            return Err(self.no_such_step("__", token)?);
        };
        let first = Token { start, ..token };
        self.traversal(Root::Anonymous, first, name)
    }

    /// Parses a traversal after the name of its first step.
    pub(super) fn traversal(
        &mut self,
        root: Root,
        token: Token,
        name: StepName,
    ) -> Result<Argument> {
        let arguments = self.arguments()?;
        self.traversal_from_call(root, token, name, arguments)
    }

    /// Parses a traversal after the arguments of its first step.
    pub(super) fn traversal_from_call(
        &mut self,
        root: Root,
        token: Token,
        name: StepName,
        arguments: Vec<Argument>,
    ) -> Result<Argument> {
        let height = self.height;
        let step = self.checked_step(name, arguments, token)?;
        self.chain(
            Traversal {
                root,
                source: Vec::new(),
                steps: vec![step],
                terminal: None,
                span: token.span(),
            },
            height,
        )
    }

    /// Parses a traversal from a source, after the name of the first instruction or step.
    /// `root_height`: the height of the root.
    pub(super) fn source_traversal(
        &mut self,
        root: Root,
        start: u32,
        first: Token,
        root_height: u16,
    ) -> Result<Argument> {
        let mut source = Vec::new();
        let mut token = first;
        let mut height = root_height;
        while let Some(name) = SourceName::from_text(self.text_of(token)) {
            self.source_instruction(&mut source, name, token)?;
            height = height.max(self.height);
            if !self.at(TokenKind::Dot) {
                return self.source_only(root, source, start, height);
            }
            let before = self.mark();
            self.advance()?;
            token = self.expect(TokenKind::Word, "a step")?;
            if self.text_of(token) == "tx" {
                self.return_to(before);
                return self.source_only(root, source, start, height);
            }
        }
        let spawn = StepName::from_text(self.text_of(token)).filter(|name| is_spawn(*name));
        let Some(name) = spawn else {
            return Err(self.no_such_step(SOURCE_CLASS, token)?);
        };
        let arguments = self.arguments()?;
        height = height.max(self.height);
        let step = self.checked_step(name, arguments, token)?;
        self.chain(
            Traversal {
                root,
                source,
                steps: vec![step],
                terminal: None,
                span: Span { start, end: start },
            },
            height,
        )
    }

    /// A configured source without steps: `h = g.withBulk(false)`.
    fn source_only(
        &mut self,
        root: Root,
        source: Vec<SourceInstruction>,
        start: u32,
        height: u16,
    ) -> Result<Argument> {
        if source.is_empty() {
            // All instructions were empty: a strategy without configuration.
            self.height = height;
            return Ok(match root {
                Root::Source(name) => Argument::Variable(name),
                Root::Computed(computed) => *computed,
                Root::Anonymous => Argument::Null,
            });
        }
        self.node_above(height)?;
        Ok(Argument::Traversal(Box::new(Traversal {
            root,
            source,
            steps: Vec::new(),
            terminal: None,
            span: self.span_from(start),
        })))
    }

    /// Whether the name after this point belongs to the traversal.
    pub(super) fn goes_on(&self, traversal: &Traversal) -> Result<bool> {
        let open = traversal.terminal.is_none() && !traversal.steps.is_empty();
        Ok(open && !TRAVERSAL_METHODS.contains(&self.text_of(self.second()?)))
    }

    /// Parses the following steps, and the terminal method.
    pub(super) fn chain(&mut self, mut traversal: Traversal, mut height: u16) -> Result<Argument> {
        while self.at(TokenKind::Dot) {
            let before = self.mark();
            self.advance()?;
            match self.link()? {
                Link::Step(step) => {
                    traversal.steps.push(step);
                    height = height.max(self.height);
                }
                Link::Terminal(_) if traversal.root == Root::Anonymous => {
                    self.return_to(before);
                    let message =
                        "a nested traversal cannot be ended with next(), toList() and the like";
                    return Err(self.error(ErrorCode::Syntax, self.current.span(), message));
                }
                Link::Terminal(terminal) => {
                    traversal.terminal = Some(terminal);
                    height = height.max(self.height);
                    break;
                }
                Link::Method => {
                    self.return_to(before);
                    break;
                }
            }
        }
        traversal.span = self.span_from(traversal.span.start);
        self.node_above(height)?;
        Ok(Argument::Traversal(Box::new(traversal)))
    }

    /// Parses the call after a point in a chain of steps.
    fn link(&mut self) -> Result<Link> {
        let token = self.expect(TokenKind::Word, "a step")?;
        let word = self.text_of(token);
        if let Some(name) = StepName::from_text(word) {
            let arguments = self.arguments()?;
            return self.checked_step(name, arguments, token).map(Link::Step);
        }
        if TRAVERSAL_METHODS.contains(&word) {
            return Ok(Link::Method);
        }
        let plain = match word {
            "next" => Terminal::Next,
            "tryNext" => Terminal::TryNext,
            "hasNext" => Terminal::HasNext,
            "toList" => Terminal::ToList,
            "toSet" => Terminal::ToSet,
            "toBulkSet" => Terminal::ToBulkSet,
            "iterate" => Terminal::Iterate,
            "explain" => Terminal::Explain,
            _ => return Err(self.no_such_step(TRAVERSAL_CLASS, token)?),
        };
        let mut arguments = self.arguments()?;
        match (plain, arguments.pop(), arguments.is_empty()) {
            (plain, None, _) => Ok(Link::Terminal(plain)),
            (Terminal::Next, Some(count), true)
                if signatures::match_forms("I", std::slice::from_ref(&count)) =>
            {
                Ok(Link::Terminal(Terminal::NextMany(Box::new(count))))
            }
            (_, last, _) => {
                arguments.extend(last);
                let forms = if word == "next" { "- I" } else { "-" };
                let message = signatures::no_such_call(TRAVERSAL_CLASS, word, &arguments, forms);
                Err(self.error(ErrorCode::WrongArguments, token.span(), message))
            }
        }
    }

    /// The error of an unknown step. Parses its arguments, so that the message contains them.
    pub(super) fn no_such_step(&mut self, class: &str, token: Token) -> Result<crate::ParseError> {
        if !self.at(TokenKind::LeftParen) {
            if self.at(TokenKind::LeftBrace) {
                return Ok(self.closure(self.current.span()));
            }
            let word = crate::literals::shortened(self.text_of(token));
            let message = format!("No such property: {word} for class: {class}");
            return Ok(self.error(ErrorCode::NoSuchMethod, token.span(), message));
        }
        let arguments = self.arguments()?;
        let word = crate::literals::shortened(self.text_of(token));
        let message = signatures::no_such_call(class, word, &arguments, "");
        Ok(self.error(ErrorCode::NoSuchMethod, token.span(), message))
    }

    fn checked_step(
        &mut self,
        name: StepName,
        arguments: Vec<Argument>,
        token: Token,
    ) -> Result<Step> {
        self.count_step()?;
        let made = calls::step(name, arguments, self.span_from(token.start));
        made.map_err(|wrong| self.error(ErrorCode::WrongArguments, token.span(), wrong))
    }

    fn source_instruction(
        &mut self,
        source: &mut Vec<SourceInstruction>,
        name: SourceName,
        token: Token,
    ) -> Result<()> {
        self.count_step()?;
        let arguments = match name {
            SourceName::WithStrategies | SourceName::WithoutStrategies => self.strategies()?,
            _ => self.arguments()?,
        };
        let span = self.span_from(token.start);
        calls::add_source(source, name, arguments, span)
            .map_err(|wrong| self.error(ErrorCode::WrongArguments, token.span(), wrong))
    }

    /// Parses the strategies of `withStrategies` and `withoutStrategies`, where any word is a class
    /// name.
    fn strategies(&mut self) -> Result<Vec<Argument>> {
        let mark = self.mark();
        self.expect(TokenKind::LeftParen, "'('")?;
        let mut strategies = Vec::new();
        while self.at(TokenKind::Word)
            && !self.at_word("new")
            && !is_strategy(self.text_of(self.current))
        {
            let token = self.advance()?;
            if !matches!(self.current.kind, TokenKind::Comma | TokenKind::RightParen) {
                break;
            }
            strategies.push(Argument::Strategy(Box::new(Strategy {
                name: self.text_of(token).into(),
                configuration: Vec::new(),
                span: token.span(),
            })));
            self.height = 1;
            if self.take(TokenKind::RightParen)? {
                return Ok(strategies);
            }
            self.advance()?;
        }
        self.return_to(mark);
        self.arguments()
    }
}
