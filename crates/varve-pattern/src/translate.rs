//! Translates a tree of Java's syntax for the `regex` crate.

use regex::{Regex, RegexBuilder};

use super::java_regex::{Dot, Fault, Fold, Node, not_supported};
use super::pattern::Compiled;

/// The largest compiled expression, in bytes. In the worst case a comparison takes one step for
/// each part of the expression and each byte of the text, and nothing interrupts it. Expressions
/// that people write have some kilobytes. Larger ones have many repetitions, or Unicode classes:
/// `.{0,255}` is just allowed.
const BYTES_MAX: usize = 512 << 10;
/// The size limit of the first attempt, in bytes. The size of an expression is found by attempts
/// with doubled limits, so only up to a power of two.
const BYTES_TRIED: usize = 4 << 10;
/// The size limit of the lazy DFA's cache of each thread, in bytes.
const REMEMBERED_BYTES_MAX: usize = 512 << 10;
/// The greatest nesting depth of the translation, which has more groups than the original.
const NEST_LIMIT: u32 = 1000;

/// The part of a text that an expression must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// All of it.
    Whole,
    /// Any part of it.
    Part,
}

/// Compiles a tree to an expression that must match a whole text, or a part of it.
///
/// # Errors
/// When the `regex` crate does not support it.
pub(super) fn compile(node: &Node, within: Within) -> Result<Compiled, Fault> {
    let mut text = String::new();
    match within {
        Within::Whole => {
            text.push_str("\\A(?:");
            write(node, Last::Whole, &mut text)?;
            text.push_str(")\\z");
        }
        Within::Part => write(node, Last::Part, &mut text)?,
    }
    let mut bytes = BYTES_TRIED;
    loop {
        match compiled(&text, bytes) {
            Ok(regex) => return Ok(Compiled { regex, bytes }),
            Err(regex::Error::CompiledTooBig(_)) if bytes < BYTES_MAX => bytes *= 2,
            Err(regex::Error::CompiledTooBig(_)) => return Err(not_supported("it is too large")),
            Err(_) => {
                let what = "it has an unknown class or property of characters";
                return Err(not_supported(what));
            }
        }
    }
}

fn compiled(text: &str, bytes_max: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text)
        .size_limit(bytes_max)
        .dfa_size_limit(REMEMBERED_BYTES_MAX)
        .nest_limit(NEST_LIMIT)
        .build()
}

/// What follows a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A node that could match a character.
    No,
    /// Nothing but assertions, in an expression that must match the whole text.
    Whole,
    /// Nothing, in an expression that must match a part of the text.
    Part,
}

/// Writes a node.
fn write(node: &Node, last: Last, text: &mut String) -> Result<(), Fault> {
    match node {
        Node::Char(character, fold) => write_char(*character, *fold, text),
        Node::Dot(Dot::All) => text.push_str("(?s:.)"),
        Node::Dot(Dot::NoLineFeed) => text.push_str("[^\\n]"),
        Node::Dot(Dot::NoTerminator) => text.push_str("[^\\n\\r\\x{85}\\x{2028}\\x{2029}]"),
        Node::Class(class) if class.folds => text.push_str(&format!("(?i:{})", class.text)),
        Node::Class(class) => text.push_str(&class.text),
        Node::Sequence(nodes) => {
            let after = |nodes: &[Node]| match last {
                Last::Whole if nodes.iter().all(is_assertion) => Last::Whole,
                Last::Part if nodes.is_empty() => Last::Part,
                _ => Last::No,
            };
            text.push_str("(?:");
            for (at, node) in nodes.iter().enumerate() {
                write(node, after(&nodes[at + 1..]), text)?;
            }
            text.push(')');
        }
        Node::Alternatives(nodes) => {
            text.push_str("(?:");
            for (at, node) in nodes.iter().enumerate() {
                if at > 0 {
                    text.push('|');
                }
                write(node, last, text)?;
            }
            text.push(')');
        }
        Node::Repeat(node, min, max) => {
            text.push_str("(?:");
            write(node, if *max == Some(1) { last } else { Last::No }, text)?;
            text.push(')');
            match max {
                Some(max) => text.push_str(&format!("{{{min},{max}}}")),
                None => text.push_str(&format!("{{{min},}}")),
            }
        }
        Node::Start => text.push_str("\\A"),
        Node::End => text.push_str("\\z"),
        // The expression must match the whole text, so if nothing follows, the end of the line is
        // the end of the text.
        Node::LastLineEnd if last == Last::Whole => text.push_str("\\z"),
        // Whether the match includes the line terminator does not matter.
        Node::LastLineEnd if last == Last::Part => {
            text.push_str("(?:\\r\\n|[\\n\\r\\x{85}\\x{2028}\\x{2029}])?\\z");
        }
        Node::LastLineEnd => return Err(not_supported("$ or \\Z before something else")),
        Node::WordBoundary(true) => text.push_str("\\b"),
        Node::WordBoundary(false) => text.push_str("\\B"),
    }
    Ok(())
}

fn is_assertion(node: &Node) -> bool {
    match node {
        Node::Start | Node::End | Node::LastLineEnd | Node::WordBoundary(_) => true,
        Node::Sequence(nodes) => nodes.iter().all(is_assertion),
        _ => false,
    }
}

fn write_char(character: char, fold: Fold, text: &mut String) {
    let code = u32::from(character);
    match fold {
        Fold::Ascii if character.is_ascii_alphabetic() => {
            let (lower, upper) = (
                character.to_ascii_lowercase(),
                character.to_ascii_uppercase(),
            );
            text.push_str(&format!("[{lower}{upper}]"));
        }
        Fold::Unicode => text.push_str(&format!("(?i:\\x{{{code:X}}})")),
        _ if character.is_ascii_alphanumeric() => text.push(character),
        _ => text.push_str(&format!("\\x{{{code:X}}}")),
    }
}
