//! Java regular expressions that a whole string must match.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::Regex;

use super::java_regex::{Dot, Fault, Fold, Node, not_supported, parse};
use super::translate::{self, Within};

/// The most compiled expressions in the cache; a full cache is emptied.
const COMPILED_MAX: usize = 64;
/// The longest expression, in bytes. Expressions that are one quoted text may be longer.
pub(super) const TEXT_BYTES_MAX: usize = 64 << 10;
/// The approximate size of one part of a compiled expression, in bytes.
const PART_BYTES: usize = 32;

/// A Java regular expression that a whole string must match.
///
/// An expression that quotes a text is recognised and needs no regular expression: a string must be
/// that text, start with it, end with it or contain it, with or without regard to case. All other
/// expressions are translated.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// What an index can use of the pattern.
    shape: Shape,
    kind: PatternForm,
}

#[derive(Debug, Clone)]
enum PatternForm {
    Text(Quoted),
    General(Arc<Compiled>),
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) regex: Regex,
    /// An upper bound of its size, in bytes.
    pub(super) bytes: usize,
}

impl Compiled {
    /// About the largest number of steps that a search in `text` takes.
    pub(super) fn steps(&self, text: &str) -> u64 {
        text.len() as u64 * (self.bytes / PART_BYTES) as u64
    }
}

/// A text, with or without a run of any characters before and after it.
#[derive(Debug, Clone)]
struct Quoted {
    before: Option<Dot>,
    /// In lower case if case is ignored.
    text: String,
    after: Option<Dot>,
    ignores_case: bool,
}

/// What all strings that match a pattern have in common, for an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Only this string matches. Case-sensitive.
    Is(String),
    /// All matching strings start with this text. Case-sensitive.
    Starts(String),
    /// All matching strings contain this text, perhaps in other case.
    Contains(String),
    /// Nothing is known.
    Unknown,
}

impl Pattern {
    /// Parses an expression.
    ///
    /// # Errors
    /// When Java rejects it too; when it needs a feature that is not supported, is longer than
    /// 64 KiB, or is too large when compiled.
    pub fn new(text: &str) -> Result<Self, Fault> {
        match one_quote(text) {
            Some(quoted) => Ok(quoted.into()),
            None => Self::general(text),
        }
    }

    /// Whether an expression is recognised as a quoted text by its form alone, so that
    /// [`Pattern::new`] costs nothing.
    #[must_use]
    pub fn is_quote(text: &str) -> bool {
        one_quote(text).is_some()
    }

    /// Parses an expression that is not just one quoted text.
    fn general(text: &str) -> Result<Self, Fault> {
        if text.len() > TEXT_BYTES_MAX {
            let words = format!("it has more than {TEXT_BYTES_MAX} bytes");
            return Err(not_supported(&words));
        }
        let node = parse(text)?;
        if let Some(quoted) = quoted(&node) {
            return Ok(quoted.into());
        }
        Ok(Self {
            shape: general_shape(&node),
            kind: PatternForm::General(compiled(text, &node)?),
        })
    }

    /// The pattern that only `text` matches.
    #[must_use]
    pub fn exactly(text: &str) -> Self {
        Quoted::exactly(text).into()
    }

    /// Whether all of `text` matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match &self.kind {
            PatternForm::Text(quoted) => quoted.matches(text),
            PatternForm::General(compiled) => compiled.regex.is_match(text),
        }
    }

    /// About the largest number of steps that the comparison with `text` takes.
    #[must_use]
    pub fn steps(&self, text: &str) -> u64 {
        match &self.kind {
            PatternForm::Text(quoted) => match (quoted.before, quoted.after) {
                (None, None) => quoted.text.len().min(text.len()) as u64,
                _ => text.len() as u64,
            },
            PatternForm::General(compiled) => compiled.steps(text),
        }
    }

    /// The bytes of the compiled expression; 0 if it is a quoted text.
    #[must_use]
    pub fn compiled_bytes(&self) -> usize {
        match &self.kind {
            PatternForm::Text(_) => 0,
            PatternForm::General(compiled) => compiled.bytes,
        }
    }

    /// What all matching strings have in common.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// Compiles an expression, or takes it from the cache. Compiling takes much longer than matching
/// one string, and each page of a search is a request with the same expression.
fn compiled(text: &str, node: &Node) -> Result<Arc<Compiled>, Fault> {
    static COMPILED: OnceLock<Mutex<HashMap<String, Arc<Compiled>>>> = OnceLock::new();
    let cache = COMPILED.get_or_init(Mutex::default);
    let known = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = known().get(text) {
        return Ok(Arc::clone(regex));
    }
    let regex = Arc::new(translate::compile(node, Within::Whole)?);
    let mut known = known();
    if known.len() >= COMPILED_MAX {
        known.clear();
    }
    known.insert(text.to_owned(), Arc::clone(&regex));
    Ok(regex)
}

/// Whether a character has a special meaning in an expression.
pub(super) fn is_special(byte: u8) -> bool {
    b"\\[](){}.*+?^$|".contains(&byte)
}

/// Recognises a text without special characters, and the forms `\Q…\E`, `\Q…\E.*`, `.*\Q…\E` and
/// `.*\Q…\E.*`, each also after `(?i)`. The text between is not parsed, since values may have
/// megabytes. `None` for all other expressions.
fn one_quote(text: &str) -> Option<Quoted> {
    if !text.bytes().any(is_special) {
        return Some(Quoted::exactly(text));
    }
    let (text, ignores_case) = match text.strip_prefix("(?i)") {
        None => (text, false),
        Some(text) => (text, true),
    };
    let (text, before) = match text.strip_prefix(".*") {
        None => (text, None),
        Some(text) => (text, Some(Dot::NoTerminator)),
    };
    let (text, after) = match text.strip_suffix("\\E.*") {
        None => (text.strip_suffix("\\E")?, None),
        Some(text) => (text, Some(Dot::NoTerminator)),
    };
    let text = text.strip_prefix("\\Q")?;
    if text.contains("\\E") {
        return None;
    }
    let has_case = text.contains(|character: char| character.is_ascii_alphabetic());
    let ignores_case = ignores_case && has_case;
    Some(Quoted {
        before,
        text: if ignores_case {
            text.to_ascii_lowercase()
        } else {
            text.to_owned()
        },
        after,
        ignores_case,
    })
}

/// The consecutive parts of an expression.
fn parts(node: &Node) -> &[Node] {
    match node {
        Node::Sequence(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}

fn any_run(node: Option<&Node>) -> Option<Dot> {
    match node {
        Some(Node::Repeat(repeated, 0, None)) => match **repeated {
            Node::Dot(dot) => Some(dot),
            _ => None,
        },
        _ => None,
    }
}

/// Recognises a text with or without a run of any characters before and after it. `None` if case is
/// ignored for a part of the text only, or also for letters outside ASCII.
fn quoted(node: &Node) -> Option<Quoted> {
    let mut nodes = parts(node);
    let before = any_run(nodes.first());
    nodes = &nodes[usize::from(before.is_some())..];
    let after = any_run(nodes.last());
    nodes = &nodes[..nodes.len() - usize::from(after.is_some())];
    let mut text = String::with_capacity(nodes.len());
    let mut folded = None;
    for node in nodes {
        let Node::Char(character, fold) = node else {
            return None;
        };
        let counts = character.is_ascii_alphabetic() || *fold == Fold::Unicode;
        if counts && *folded.get_or_insert(*fold) != *fold {
            return None;
        }
        text.push(*character);
    }
    let ignores_case = match folded {
        None | Some(Fold::None) => false,
        Some(Fold::Ascii) => true,
        Some(Fold::Unicode) => return None,
    };
    if ignores_case {
        text.make_ascii_lowercase();
    }
    Some(Quoted {
        before,
        text,
        after,
        ignores_case,
    })
}

/// The shape of an expression that is not a quoted text.
fn general_shape(node: &Node) -> Shape {
    let nodes = parts(node);
    let literal = |node: &Node| match node {
        Node::Char(character, fold) if *fold != Fold::Unicode => Some((*character, *fold)),
        _ => None,
    };
    let start: String = nodes
        .iter()
        .map_while(|node| match node {
            Node::Char(character, Fold::None) => Some(*character),
            _ => None,
        })
        .collect();
    if !start.is_empty() {
        return Shape::Starts(start);
    }
    let runs = nodes.split(|node| literal(node).is_none());
    let longest = runs.max_by_key(|run| run.len()).unwrap_or_default();
    if longest.is_empty() {
        return Shape::Unknown;
    }
    let characters = longest.iter().filter_map(literal);
    Shape::Contains(characters.map(|(character, _)| character).collect())
}

impl From<Quoted> for Pattern {
    fn from(quoted: Quoted) -> Self {
        Self {
            shape: quoted.shape(),
            kind: PatternForm::Text(quoted),
        }
    }
}

impl Quoted {
    fn exactly(text: &str) -> Self {
        Self {
            before: None,
            text: text.to_owned(),
            after: None,
            ignores_case: false,
        }
    }

    fn shape(&self) -> Shape {
        match (self.before, self.after) {
            _ if self.text.is_empty() && (self.before.is_some() || self.after.is_some()) => {
                Shape::Unknown
            }
            (None, None) if !self.ignores_case => Shape::Is(self.text.clone()),
            (None, Some(_)) if !self.ignores_case => Shape::Starts(self.text.clone()),
            _ => Shape::Contains(self.text.clone()),
        }
    }

    fn matches(&self, text: &str) -> bool {
        let wanted = self.text.as_str();
        match (self.before, self.after) {
            (None, None) => self.same(text),
            (None, Some(after)) => {
                let split = split_at(text, wanted.len());
                split.is_some_and(|(start, rest)| self.same(start) && allows(after, rest))
            }
            (Some(before), None) => {
                let split = text.len().checked_sub(wanted.len());
                let split = split.and_then(|at| split_at(text, at));
                split.is_some_and(|(rest, end)| self.same(end) && allows(before, rest))
            }
            (Some(before), Some(after)) if self.ignores_case => {
                contains(&text.to_ascii_lowercase(), wanted, before, after)
            }
            (Some(before), Some(after)) => contains(text, wanted, before, after),
        }
    }

    fn same(&self, text: &str) -> bool {
        if self.ignores_case {
            text.eq_ignore_ascii_case(&self.text)
        } else {
            text == self.text
        }
    }
}

fn split_at(text: &str, at: usize) -> Option<(&str, &str)> {
    text.split_at_checked(at)
}

fn is_terminator(dot: Dot, character: char) -> bool {
    match dot {
        Dot::All => false,
        Dot::NoLineFeed => character == '\n',
        Dot::NoTerminator => {
            matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
        }
    }
}

/// Whether a run of dots matches all of `text`.
fn allows(dot: Dot, text: &str) -> bool {
    match dot {
        Dot::All => true,
        Dot::NoLineFeed => !text.as_bytes().contains(&b'\n'),
        Dot::NoTerminator => !text.contains(|character| is_terminator(dot, character)),
    }
}

/// Whether `text` contains `wanted`, with only characters before and after it that the dots match.
fn contains(text: &str, wanted: &str, before: Dot, after: Dot) -> bool {
    let first_barrier = text
        .find(|character| is_terminator(before, character))
        .unwrap_or(text.len());
    let last_barrier = text
        .char_indices()
        .rfind(|(_, character)| is_terminator(after, *character))
        .map_or(0, |(at, character)| at + character.len_utf8());
    // A barrier is a character that the dots do not match; `wanted` itself may contain some. The
    // match must begin at or before the first barrier of `before`, and must end at or after the end
    // of the last barrier of `after`.
    let start = text.ceil_char_boundary(last_barrier.saturating_sub(wanted.len()));
    match text[start..].find(wanted) {
        Some(at) => start + at <= first_barrier,
        None => false,
    }
}
