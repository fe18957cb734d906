//! Rules of names, ids and lists of names for all kinds of schema elements.

use std::fmt::Display;

use crate::GraphError;

/// Names must be shorter than this many UTF-16 units.
pub const NAME_LENGTH_LIMIT: usize = 256;
/// Characters with a meaning inside element ids or queries: not allowed in names.
const RESERVED: [char; 4] = ['#', '>', ':', '!'];

/// Checks the name of a new schema element.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument).
pub fn check_name(name: &str) -> Result<(), GraphError> {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\x0B' | '\x0C' | '\r');
    if name.is_empty() {
        return Err(GraphError::invalid("The name can't be empty."));
    }
    if name.encode_utf16().count() >= NAME_LENGTH_LIMIT {
        return Err(GraphError::invalid(
            "The length of name must less than 256 bytes.",
        ));
    }
    if name.starts_with('~') || name.ends_with(blank) {
        return Err(GraphError::invalid(format!("Illegal schema name '{name}'")));
    }
    if let Some(c) = RESERVED.into_iter().find(|c| name.contains(*c)) {
        return Err(GraphError::invalid(format!(
            "The name can't contain character '{c}'."
        )));
    }
    Ok(())
}

/// Joins the labels of a set in the name of a vertex label.
const SET_SEPARATOR: &str = "::";

/// Checks the name of a vertex label of an open graph: a name, or several joined with `::`, for
/// vertices with several labels.
pub(super) fn check_label_set(name: &str) -> Result<(), GraphError> {
    if name.contains(SET_SEPARATOR) {
        name.split(SET_SEPARATOR).try_for_each(check_name)?;
        // The name as a whole, for its length.
        return check_name(&name.replace(SET_SEPARATOR, "  "));
    }
    check_name(name)
}

/// `[a, b]`, the form of lists in messages.
pub(super) fn bracketed<T: Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", items.join(", "))
}

/// Returns the distinct members of a list of names, in the order of their first occurrence.
pub(super) fn distinct(names: &[String]) -> Vec<&str> {
    let mut seen: Vec<&str> = Vec::with_capacity(names.len());
    for name in names {
        if !seen.contains(&name.as_str()) {
            seen.push(name);
        }
    }
    seen
}

/// Refuses a list with a repeated name; `what` is the list's name in the message.
pub(super) fn refuse_repeats(what: &str, names: &[String]) -> Result<(), GraphError> {
    if distinct(names).len() == names.len() {
        return Ok(());
    }
    Err(GraphError::invalid(format!(
        "Invalid {what} {}, which contains some duplicate properties",
        bracketed(names)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "date @&$=*?", "a~", "*x", "名"] {
            check_name(good).expect(good);
        }
        let long = "x".repeat(256);
        for (bad, message) in [
            ("", "The name can't be empty."),
            ("bad name ", "Illegal schema name 'bad name '"),
            ("~bad", "Illegal schema name '~bad'"),
            ("a\t", "Illegal schema name 'a\t'"),
            ("a>b", "The name can't contain character '>'."),
            ("a:b", "The name can't contain character ':'."),
            ("#", "The name can't contain character '#'."),
            ("a!", "The name can't contain character '!'."),
            (&long, "The length of name must less than 256 bytes."),
        ] {
            assert_eq!(check_name(bad).expect_err(bad).message, message);
        }
        check_name(&long[1..]).expect("255 are fine");
        check_label_set("A::B").expect("a set");
        for bad in [
            "A::",
            "::A",
            "A:B",
            "A:::B",
            &format!("{0}::{0}", &long[100..]),
        ] {
            assert!(check_label_set(bad).is_err(), "{bad}");
        }
    }
}
