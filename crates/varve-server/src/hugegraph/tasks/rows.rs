//! A task's result page by page.
//!
//! A result is JSON as text. An algorithm's rows are the items of the first member that is a list
//! or an object; without such a member, the result's own items. Rows of other results are always
//! their own items. A page is the same result with some of its rows. This server has written the
//! text, so it is cut at the ends of rows without being parsed.
//!
//! The first page scans the whole result for the end of its rows. Tokens contain the offset of that
//! end, so that each other page scans its own rows only.

use std::fmt::{self, Display};
use std::ops::Range;

/// The first members of an algorithm's result, among which its rows are searched. If all of them
/// are single values, the members themselves are the rows.
const MEMBERS_BEFORE_ROWS: usize = 16;

/// Which items of a result are its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// The items of the first member that is a list or an object; without one, the result's own.
    OfMember,
    Own,
}

/// The start of a page, as its token encodes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The task's id.
    task: u64,
    /// The offset of the first row in bytes, after the opening bracket or a comma.
    start: usize,
    /// The offset in bytes of the bracket that ends the rows.
    close: usize,
}

impl Place {
    /// Reads a token; `None` if it is malformed.
    pub(super) fn parse(token: &str) -> Option<Self> {
        let (task, offsets) = token.split_once('.')?;
        let (start, close) = offsets.split_once('.')?;
        Some(Self {
            task: task.parse().ok()?,
            start: start.parse().ok()?,
            close: close.parse().ok()?,
        })
    }

    /// Whether a page can begin here, if the rows open at `open`.
    fn fits(self, result: &[u8], open: usize) -> bool {
        let closing = match result[open] {
            b'[' => b']',
            _ => b'}',
        };
        (open + 1..=self.close).contains(&self.start)
            && (self.start == open + 1 || result.get(self.start - 1) == Some(&b','))
            && result.get(self.close) == Some(&closing)
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.task, self.start, self.close)
    }
}

/// A page of a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// The result with these rows only.
    pub(super) text: String,
    /// The start of the next page; `None` on the last one, and if the limit is 0.
    pub(super) next: Option<Place>,
}

/// The result of one task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pages<'a> {
    pub(super) task: u64,
    pub(super) result: &'a str,
    pub(super) rows: Rows,
}

impl Pages<'_> {
    /// Returns the page of at most `limit` rows from `from` on; without `from`, the first page. A
    /// result without rows is one page, unchanged. `None` if no page of this result begins at
    /// `from`.
    pub(super) fn page(self, from: Option<Place>, limit: usize) -> Option<Page> {
        let Some(open) = self.opening() else {
            return from.is_none().then(|| self.whole());
        };
        if from.is_some_and(|place| place.task != self.task || !place.fits(self.bytes(), open)) {
            return None;
        }
        let start = from.map_or(open + 1, |place| place.start);
        let mut items = Items::within(self.result, start);
        let shown = items.by_ref().take(limit).last();
        let end = shown.map_or(start, |last| last.end);
        let next = items.next.filter(|_| limit > 0);
        let close = from.map(|place| place.close).or_else(|| items.closing());
        let Some(close) = close else {
            return Some(self.whole());
        };
        let part = |range: Range<usize>| self.result.get(range).unwrap_or("");
        let tail = part(close..self.result.len());
        Some(Page {
            text: [part(0..open + 1), part(start..end), tail].concat(),
            next: next.map(|start| Place {
                task: self.task,
                start,
                close,
            }),
        })
    }

    const fn bytes(&self) -> &[u8] {
        self.result.as_bytes()
    }

    fn whole(&self) -> Page {
        Page {
            text: self.result.to_owned(),
            next: None,
        }
    }

    /// The offset at which the list or the object of the rows opens.
    fn opening(&self) -> Option<usize> {
        let own = self
            .bytes()
            .iter()
            .position(|byte| !byte.is_ascii_whitespace())?;
        match (self.bytes()[own], self.rows) {
            (b'{', Rows::OfMember) => {
                let members = Items::within(self.result, own + 1);
                let mut members = members.take(MEMBERS_BEFORE_ROWS);
                let of_member = members.find_map(|at| inner(self.result, at));
                Some(of_member.unwrap_or(own))
            }
            (b'[' | b'{', _) => Some(own),
            _ => None,
        }
    }
}

/// The offset at which the value of a member opens, if it is a list or an object.
fn inner(result: &str, member: Range<usize>) -> Option<usize> {
    let bytes = result.as_bytes();
    let key = member.clone().find(|at| bytes[*at] == b'"')?;
    let colon = (string_end(bytes, key)..member.end).find(|at| bytes[*at] == b':')?;
    let value = (colon + 1..member.end).find(|at| !bytes[*at].is_ascii_whitespace())?;
    matches!(bytes[value], b'[' | b'{').then_some(value)
}

/// The offset after the string that opens at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The items of a list or the members of an object.
struct Items<'a> {
    bytes: &'a [u8],
    /// The offset of the next item.
    next: Option<usize>,
    /// The offset of the closing bracket, once all items have been read.
    close: Option<usize>,
}

impl<'a> Items<'a> {
    /// The items from the offset `start` on.
    const fn within(text: &'a str, start: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            next: Some(start),
            close: None,
        }
    }

    /// Reads the remaining items; returns the offset of the closing bracket.
    fn closing(mut self) -> Option<usize> {
        self.by_ref().for_each(drop);
        self.close
    }
}

impl Iterator for Items<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.next.take()?;
        let (mut at, mut depth) = (start, 0_usize);
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'"' => {
                    at = string_end(self.bytes, at);
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth == 0 => {
                    self.close = Some(at);
                    let is_empty = self.bytes[start..at].trim_ascii().is_empty();
                    return (!is_empty).then_some(start..at);
                }
                b']' | b'}' => depth -= 1,
                b',' if depth == 0 => {
                    self.next = Some(at + 1);
                    return Some(start..at);
                }
                _ => {}
            }
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const TASK: u64 = 7;

    fn pages(result: &str, rows: Rows) -> Pages<'_> {
        let task = TASK;
        Pages { task, result, rows }
    }

    /// Checks the texts of all pages of `limit` rows.
    #[track_caller]
    fn shows_as(rows: Rows, result: &str, limit: usize, texts: &[&str]) {
        let mut from = None;
        for (at, text) in texts.iter().enumerate() {
            let page = pages(result, rows).page(from, limit).expect("a page");
            assert_eq!(page.text, *text, "{result}");
            assert_eq!(page.next.is_none(), at + 1 == texts.len(), "{result}");
            from = page.next;
            let parsed = from.map(|place| Place::parse(&place.to_string()));
            assert_eq!(parsed.flatten(), from);
        }
    }

    #[track_caller]
    fn shows(result: &str, limit: usize, texts: &[&str]) {
        shows_as(Rows::OfMember, result, limit, texts);
    }

    #[test]
    fn rows_are_the_items_of_the_first_list_or_object() {
        let scores = r#"{"1:a":3,"1:b":2,"1:c":1}"#;
        shows(scores, 2, &[r#"{"1:a":3,"1:b":2}"#, r#"{"1:c":1}"#]);
        shows(scores, 3, &[scores]);
        shows(scores, usize::MAX, &[scores]);
        let ranks = r#"{"alpha":0.15,"top":{"1":0.5,"2":0.25},"times":20}"#;
        let first = r#"{"alpha":0.15,"top":{"1":0.5},"times":20}"#;
        let second = r#"{"alpha":0.15,"top":{"2":0.25},"times":20}"#;
        shows(ranks, 1, &[first, second]);
        let cores = r#"{"kcores":[["a","b"],["c"]]}"#;
        let parts = [r#"{"kcores":[["a","b"]]}"#, r#"{"kcores":[["c"]]}"#];
        shows(cores, 1, &parts);
        shows(r#"{"kcores":[]}"#, 1, &[r#"{"kcores":[]}"#]);
        let mixed = r#"[{"a":[1]}, [2] ,3]"#;
        shows(mixed, 1, &[r#"[{"a":[1]}]"#, "[ [2] ]", "[3]"]);
        shows(" [ ] ", 1, &[" [] "]);
    }

    #[test]
    fn no_page_follows_one_that_has_no_rows() {
        shows(r#"{"1:a":3,"1:b":2}"#, 0, &["{}"]);
        shows(r#"{"kcores":[1,2]}"#, 0, &[r#"{"kcores":[]}"#]);
    }

    #[test]
    fn rows_of_a_script_are_its_results_own_items() {
        let map = r#"{"a":[1,2],"b":3}"#;
        let own = [r#"{"a":[1,2]}"#, r#"{"b":3}"#];
        shows_as(Rows::Own, map, 1, &own);
        shows_as(Rows::Own, r"[[1,2],3]", 1, &["[[1,2]]", "[3]"]);
    }

    #[test]
    fn behind_many_single_values_the_members_are_the_rows() {
        let members = |count: usize| {
            let single = (0..count).map(|at| format!("\"{at}\":0,"));
            format!("{{{}\"top\":[1,2]}}", single.collect::<String>())
        };
        let rows_of = |result: &str| {
            let page = pages(result, Rows::OfMember).page(None, 1);
            page.expect("a page").text
        };
        assert!(rows_of(&members(MEMBERS_BEFORE_ROWS - 1)).ends_with("\"top\":[1]}"));
        assert_eq!(rows_of(&members(MEMBERS_BEFORE_ROWS)), r#"{"0":0}"#);
    }

    #[test]
    fn texts_hide_what_looks_like_a_bracket_or_a_comma() {
        let ids = r#"{"source":"[\"{,","distances":{"a\\":0,"]}\",":1,"é{":2}}"#;
        let first = r#"{"source":"[\"{,","distances":{"a\\":0,"]}\",":1}}"#;
        let last = r#"{"source":"[\"{,","distances":{"é{":2}}"#;
        shows(ids, 2, &[first, last]);
        shows(r#"{"a:[":1,"b":2}"#, 1, &[r#"{"a:[":1}"#, r#"{"b":2}"#]);
    }

    #[test]
    fn what_has_no_rows_is_one_page() {
        for result in ["null", "3", r#""[1,2]""#, "", "[1,2", r#"{"a"#, r#"["a\"#] {
            shows(result, 1, &[result]);
        }
    }

    #[test]
    fn a_place_of_another_result_is_refused() {
        let result = r#"{"times":1,"top":[10,20,30]}"#;
        let at = |task, start, close| Place { task, start, close };
        let page = |place| pages(result, Rows::OfMember).page(Some(place), 1);
        let (open, close) = (17, 26);
        assert_eq!(&result[open..=open], "[");
        let first = page(at(TASK, open + 1, close)).expect("the first page");
        assert_eq!(first.next, Some(at(TASK, open + 4, close)));
        for place in [
            at(TASK + 1, open + 4, close),
            at(TASK, open, close),
            at(TASK, 0, close),
            at(TASK, open + 2, close),
            at(TASK, open + 4, close - 1),
            at(TASK, open + 4, close + 1),
            at(TASK, open + 4, usize::MAX),
            at(TASK, usize::MAX, usize::MAX),
            at(TASK, close + 1, close),
        ] {
            assert_eq!(page(place), None, "{place:?}");
        }
        let none = pages("null", Rows::OfMember).page(Some(at(TASK, 1, 1)), 1);
        assert_eq!(none, None);
        for token in ["", "7", "7.1", "7.1.", "7.1.2.3", "7.-1.2", "a.b.c"] {
            assert_eq!(Place::parse(token), None, "{token}");
        }
    }

    #[test]
    fn pages_have_every_row_once() {
        let rows = (0..100_000).map(|row| (row.to_string(), Value::from(row / 7)));
        let all = Value::Object(rows.collect());
        let result = all.to_string();
        let (mut found, mut from) = (serde_json::Map::new(), None);
        let mut count = 0;
        loop {
            let page = pages(&result, Rows::OfMember).page(from, 4_999);
            let page = page.expect("a page");
            let rows: Value = serde_json::from_str(&page.text).expect("JSON");
            let rows = rows.as_object().expect("an object").clone();
            count += rows.len();
            found.extend(rows);
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        assert_eq!(count, 100_000);
        assert_eq!(Value::Object(found), all);
    }
}
