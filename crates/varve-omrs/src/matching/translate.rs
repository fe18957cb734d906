//! A tree of Java's syntax written for the `regex` crate.

use regex::{Regex, RegexBuilder};

use super::java_regex::{Dot, Fault, Fold, Node, not_supported};

/// The most bytes of a compiled expression, and of what is remembered while it runs.
const COMPILED_BYTES_MAX: usize = 1 << 20;
/// How deep the translation may be nested: it puts groups around what Java has none for.
const NEST_LIMIT: u32 = 1000;

/// Compiles a tree to an expression that a whole text must match.
///
/// # Errors
/// When the `regex` crate cannot do it.
pub(super) fn compile(node: &Node) -> Result<Regex, Fault> {
    let mut text = String::from("\\A(?:");
    write(node, true, &mut text)?;
    text.push_str(")\\z");
    RegexBuilder::new(&text)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .nest_limit(NEST_LIMIT)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => not_supported("it is too large"),
            _ => not_supported("a class or property of characters in it is not known here"),
        })
}

/// `is_last`: nothing comes after the node that could match a character.
fn write(node: &Node, is_last: bool, text: &mut String) -> Result<(), Fault> {
    match node {
        Node::Char(character, fold) => write_char(*character, *fold, text),
        Node::Dot(Dot::All) => text.push_str("(?s:.)"),
        Node::Dot(Dot::NoLineFeed) => text.push_str("[^\\n]"),
        Node::Dot(Dot::NoTerminator) => text.push_str("[^\\n\\r\\x{85}\\x{2028}\\x{2029}]"),
        Node::Class(class) if class.folds => text.push_str(&format!("(?i:{})", class.text)),
        Node::Class(class) => text.push_str(&class.text),
        Node::Sequence(nodes) => {
            let consumes_nothing = |nodes: &[Node]| nodes.iter().all(is_assertion);
            text.push_str("(?:");
            for (at, node) in nodes.iter().enumerate() {
                let is_last = is_last && consumes_nothing(&nodes[at + 1..]);
                write(node, is_last, text)?;
            }
            text.push(')');
        }
        Node::Alternatives(nodes) => {
            text.push_str("(?:");
            for (at, node) in nodes.iter().enumerate() {
                if at > 0 {
                    text.push('|');
                }
                write(node, is_last, text)?;
            }
            text.push(')');
        }
        Node::Repeat(node, min, max) => {
            text.push_str("(?:");
            write(node, is_last && *max == Some(1), text)?;
            text.push(')');
            match max {
                Some(max) => text.push_str(&format!("{{{min},{max}}}")),
                None => text.push_str(&format!("{{{min},}}")),
            }
        }
        Node::Start => text.push_str("\\A"),
        Node::End => text.push_str("\\z"),
        // The whole text is to match, so where nothing follows, the end of the line is the end of the text.
        Node::LastLineEnd if is_last => text.push_str("\\z"),
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
