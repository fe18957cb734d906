//! Parses Java's regular expressions into a tree.

use super::java_class::{self, ClassText};

/// The most characters of an expression outside quotes.
const GENERAL_LENGTH_MAX: usize = 20_000;
/// The most characters of an expression, those in quotes included.
const QUOTED_LENGTH_MAX: usize = 1_000_000;
/// The greatest nesting depth of groups and classes.
pub(super) const NESTING_MAX: u32 = 100;

/// The reason why an expression cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Java rejects it too.
    Syntax(String),
    /// Java accepts it, but this implementation does not support it.
    NotSupported(String),
}

/// Which letters match each other regardless of case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// None.
    None,
    /// ASCII letters only, Java's default: a matches A, but é does not match É.
    Ascii,
    /// All letters.
    Unicode,
}

/// The characters that a dot does not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dot {
    /// All line terminators that Java knows.
    NoTerminator,
    /// The line feed only.
    NoLineFeed,
    /// None: the dot matches every character.
    All,
}

/// A part of an expression. Capturing and greediness are left out, since they do not change which
/// texts match.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Char(char, Fold),
    Dot(Dot),
    Class(ClassText),
    Sequence(Vec<Node>),
    Alternatives(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
    /// The end of the text, or before a line terminator at the end.
    LastLineEnd,
    WordBoundary(bool),
}

/// The flags in force.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one of the contract's letters"
)]
pub(super) struct Flags {
    case_insensitive: bool,
    unicode_case: bool,
    dot_all: bool,
    multi_line: bool,
    unix_lines: bool,
    comments: bool,
    unicode_classes: bool,
}

impl Flags {
    pub(super) fn fold(self) -> Fold {
        match (self.case_insensitive, self.unicode_case) {
            (false, _) => Fold::None,
            (true, false) => Fold::Ascii,
            (true, true) => Fold::Unicode,
        }
    }

    pub(super) fn unicode_classes(self) -> bool {
        self.unicode_classes
    }

    pub(super) fn comments(self) -> bool {
        self.comments
    }

    fn dot(self) -> Dot {
        match (self.dot_all, self.unix_lines) {
            (true, _) => Dot::All,
            (false, true) => Dot::NoLineFeed,
            (false, false) => Dot::NoTerminator,
        }
    }

    fn set(&mut self, letter: char, on: bool) -> bool {
        match letter {
            'i' => self.case_insensitive = on,
            'u' => self.unicode_case = on,
            's' => self.dot_all = on,
            'm' => self.multi_line = on,
            'd' => self.unix_lines = on,
            'x' => self.comments = on,
            'U' => {
                self.unicode_classes = on;
                self.unicode_case = on;
            }
            _ => return false,
        }
        true
    }
}

/// A character with its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// A character that may be an operator.
    Plain(char),
    /// A character within a quote.
    Quoted(char),
    /// A character after a backslash.
    Escaped(char),
}

/// Parses an expression.
///
/// # Errors
/// When Java rejects the expression, or this implementation does not support it.
pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let mut parser = Parser::new(text)?;
    let node = parser.alternatives(Flags::default(), 0)?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(syntax("a closing parenthesis has no opening one")),
    }
}

pub(super) fn syntax(why: &str) -> Fault {
    Fault::Syntax(why.to_owned())
}

pub(super) fn not_supported(why: &str) -> Fault {
    Fault::NotSupported(why.to_owned())
}

/// The tokens of an expression, and the position of the next one.
pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    /// Splits an expression into tokens. Removes the quotes first, as Java does, so a quote may be
    /// wherever a character may be.
    fn new(text: &str) -> Result<Self, Fault> {
        let mut tokens = Vec::with_capacity(text.len());
        let mut characters = text.chars();
        let mut general = 0;
        while let Some(character) = characters.next() {
            general += 1;
            if character != '\\' {
                tokens.push(Token::Plain(character));
                continue;
            }
            match characters.next() {
                Some('Q') => {
                    let rest = characters.as_str();
                    let (quoted, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
                    tokens.extend(quoted.chars().map(Token::Quoted));
                    characters = rest.chars();
                }
                Some(escaped) => tokens.push(Token::Escaped(escaped)),
                None => return Err(syntax("it ends with a backslash")),
            }
        }
        if general > GENERAL_LENGTH_MAX || tokens.len() > QUOTED_LENGTH_MAX {
            return Err(not_supported("it is too long"));
        }
        Ok(Self { tokens, at: 0 })
    }

    pub(super) fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        let token = self.peek();
        self.at += usize::from(token.is_some());
        token
    }

    pub(super) fn take(&mut self, character: char) -> bool {
        let found = self.peek() == Some(Token::Plain(character));
        self.at += usize::from(found);
        found
    }

    /// The token after the next one.
    pub(super) fn peek_second(&self) -> Option<Token> {
        self.tokens.get(self.at + 1).copied()
    }

    pub(super) fn back(&mut self) {
        self.at -= 1;
    }

    /// Skips white space and comments, if the flag `x` is set.
    fn skip_remarks(&mut self, flags: Flags) {
        if !flags.comments {
            return;
        }
        while let Some(Token::Plain(character)) = self.peek() {
            if character == '#' {
                while self.peek().is_some_and(|token| !is_line_end(token)) {
                    self.at += 1;
                }
            } else if !java_class::is_space(character) {
                break;
            }
            self.at += usize::from(self.peek().is_some());
        }
    }

    /// Parses alternatives up to a closing parenthesis or the end.
    fn alternatives(&mut self, mut flags: Flags, depth: u32) -> Result<Node, Fault> {
        if depth > NESTING_MAX {
            return Err(not_supported("its groups are nested too deeply"));
        }
        let mut alternatives = vec![self.sequence(&mut flags, depth)?];
        while self.take('|') {
            alternatives.push(self.sequence(&mut flags, depth)?);
        }
        Ok(match alternatives.len() {
            1 => alternatives.remove(0),
            _ => Node::Alternatives(alternatives),
        })
    }

    fn sequence(&mut self, flags: &mut Flags, depth: u32) -> Result<Node, Fault> {
        let mut nodes = Vec::new();
        loop {
            self.skip_remarks(*flags);
            match self.peek() {
                None | Some(Token::Plain(')' | '|')) => break,
                Some(_) => {}
            }
            if let Some(node) = self.atom(flags, depth)? {
                nodes.push(self.repeated(node, *flags)?);
            }
        }
        Ok(match nodes.len() {
            1 => nodes.remove(0),
            _ => Node::Sequence(nodes),
        })
    }

    /// Parses one part that may be repeated; `None` if it only sets flags.
    fn atom(&mut self, flags: &mut Flags, depth: u32) -> Result<Option<Node>, Fault> {
        let Some(token) = self.next() else {
            return Ok(None);
        };
        let literal = |character| Node::Char(character, fold_of(character, flags.fold()));
        let node = match token {
            Token::Quoted(character) => literal(character),
            Token::Escaped(escaped) => return self.escape(escaped, *flags).map(Some),
            Token::Plain('(') => return self.group(flags, depth),
            Token::Plain('[') => Node::Class(java_class::class(self, *flags, depth)?),
            Token::Plain('.') => Node::Dot(flags.dot()),
            Token::Plain('^' | '$') if flags.multi_line => {
                return Err(not_supported("^ and $ at every line"));
            }
            Token::Plain('^') => Node::Start,
            Token::Plain('$') => Node::LastLineEnd,
            Token::Plain(operator @ ('*' | '+' | '?')) => {
                return Err(Fault::Syntax(format!("{operator} repeats nothing")));
            }
            Token::Plain('{') => {
                // Java repeats the empty text here if a count follows, and refuses the expression
                // if not.
                self.back();
                Node::Sequence(Vec::new())
            }
            Token::Plain(character) => literal(character),
        };
        Ok(Some(node))
    }

    fn escape(&mut self, escaped: char, flags: Flags) -> Result<Node, Fault> {
        match escaped {
            'A' | 'G' => Ok(Node::Start),
            'z' => Ok(Node::End),
            'Z' => Ok(Node::LastLineEnd),
            'b' if self.peek() == Some(Token::Plain('{')) => Err(not_supported("\\b{g}")),
            'b' => Ok(Node::WordBoundary(true)),
            'B' => Ok(Node::WordBoundary(false)),
            '1'..='9' | 'k' => Err(not_supported("references back to a group")),
            'X' | 'N' => Err(Fault::NotSupported(format!("\\{escaped}"))),
            'R' => {
                let breaks = ClassText::ranges("\\n-\\r\\x{85}\\x{2028}\\x{2029}");
                let pair = ['\r', '\n'].map(|one| Node::Char(one, Fold::None));
                Ok(Node::Alternatives(vec![
                    Node::Sequence(pair.to_vec()),
                    Node::Class(breaks),
                ]))
            }
            _ => {
                if let Some(class) = java_class::predefined(self, escaped, flags)? {
                    return Ok(Node::Class(class));
                }
                let character = java_class::escaped_character(self, escaped)?;
                Ok(Node::Char(character, fold_of(character, flags.fold())))
            }
        }
    }

    fn group(&mut self, flags: &mut Flags, depth: u32) -> Result<Option<Node>, Fault> {
        let mut inner = *flags;
        if self.take('?') {
            if self.take('<') {
                self.group_name()?;
            } else if self.take('=') || self.take('!') {
                return Err(not_supported("looking ahead"));
            } else if self.take('>') {
                return Err(not_supported("groups that are not entered again"));
            } else if self.take_flags(&mut inner)? {
                *flags = inner;
                return Ok(None);
            }
        }
        let node = self.alternatives(inner, depth + 1)?;
        if !self.take(')') {
            return Err(syntax("a group is not closed"));
        }
        Ok(Some(node))
    }

    fn group_name(&mut self) -> Result<(), Fault> {
        if self.take('=') || self.take('!') {
            return Err(not_supported("looking back"));
        }
        let mut length = 0;
        while let Some(Token::Plain(character)) = self.next() {
            match character {
                '>' if length > 0 => return Ok(()),
                _ if character.is_ascii_alphabetic() => length += 1,
                _ if character.is_ascii_digit() && length > 0 => length += 1,
                _ => break,
            }
        }
        Err(syntax("the name of a group is not letters and digits"))
    }

    /// Reads flags after `(?`. Returns true if the group has only flags, false if an expression
    /// follows.
    fn take_flags(&mut self, flags: &mut Flags) -> Result<bool, Fault> {
        let mut on = true;
        loop {
            match self.next() {
                Some(Token::Plain(')')) => return Ok(true),
                Some(Token::Plain(':')) => return Ok(false),
                Some(Token::Plain('-')) if on => on = false,
                Some(Token::Plain(letter)) if flags.set(letter, on) => {}
                _ => return Err(syntax("a flag of a group is not known")),
            }
        }
    }

    fn repeated(&mut self, node: Node, flags: Flags) -> Result<Node, Fault> {
        self.skip_remarks(flags);
        let (min, max) = match self.peek() {
            Some(Token::Plain('*')) => (0, None),
            Some(Token::Plain('+')) => (1, None),
            Some(Token::Plain('?')) => (0, Some(1)),
            Some(Token::Plain('{')) => {
                self.at += 1;
                let count = self.count()?;
                self.back();
                count
            }
            _ => return Ok(node),
        };
        self.at += 1;
        if self.take('+') {
            return Err(not_supported("repetitions that give nothing back"));
        }
        self.take('?');
        Ok(Node::Repeat(Box::new(node), min, max))
    }

    /// Reads the count between braces, and the closing brace.
    fn count(&mut self) -> Result<(u32, Option<u32>), Fault> {
        let bad = || syntax("a count in braces is not one number or two");
        let min = self.number()?.ok_or_else(bad)?;
        let max = if self.take(',') {
            self.number()?
        } else {
            Some(min)
        };
        let is_range = max.is_none_or(|max| min <= max);
        if !is_range || !self.take('}') {
            return Err(bad());
        }
        Ok((min, max))
    }

    fn number(&mut self) -> Result<Option<u32>, Fault> {
        let mut value = None;
        while let Some(Token::Plain(character)) = self.peek() {
            let Some(digit) = character.to_digit(10) else {
                break;
            };
            self.at += 1;
            let larger = value.unwrap_or(0_u32).checked_mul(10);
            let larger = larger.and_then(|value| value.checked_add(digit));
            value = Some(larger.ok_or_else(|| syntax("a count is too large"))?);
        }
        Ok(value)
    }
}

fn is_line_end(token: Token) -> bool {
    matches!(
        token,
        Token::Plain('\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
    )
}

/// Characters without case need no folding, which keeps quoted texts recognisable.
fn fold_of(character: char, fold: Fold) -> Fold {
    match fold {
        Fold::Ascii if !character.is_ascii_alphabetic() => Fold::None,
        _ => fold,
    }
}
