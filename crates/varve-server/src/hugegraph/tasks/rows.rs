//! A task's result page by page.
//!
//! A result is JSON as text. Its rows are the items of its first member that is a list or an
//! object; without such a member, its own items. A page is the same result with some of its rows.
//! The text was written by this server, so it is cut where the rows end and not parsed.

use std::ops::Range;

/// Some rows of a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// The result with these rows only.
    pub(super) text: String,
    /// The number of the first row that follows; `None` after the last page.
    pub(super) next: Option<usize>,
}

/// The page of `result` that begins at row `first`. A result without rows is a page as it is.
pub(super) fn page(result: &str, first: usize, limit: usize) -> Page {
    let whole = || Page {
        text: result.to_owned(),
        next: None,
    };
    let Some(open) = opening(result) else {
        return whole();
    };
    let mut items = Items::within(result, open);
    let (mut shown, mut count): (Option<Range<usize>>, usize) = (None, 0);
    let mut next = None;
    for item in &mut items {
        if count >= first && count - first < limit {
            let start = shown.map_or(item.start, |shown| shown.start);
            shown = Some(start..item.end);
        } else if count >= first {
            next = next.or(Some(count));
        }
        count += 1;
    }
    let Some(close) = items.close else {
        return whole();
    };
    let rows = shown.and_then(|shown| result.get(shown)).unwrap_or("");
    let (head, tail) = (result.get(..=open), result.get(close..));
    Page {
        text: [head.unwrap_or(""), rows, tail.unwrap_or("")].concat(),
        next,
    }
}

/// Where the list or the object of the rows opens.
fn opening(result: &str) -> Option<usize> {
    let own = result
        .bytes()
        .position(|byte| !byte.is_ascii_whitespace())?;
    match result.as_bytes()[own] {
        b'[' => Some(own),
        b'{' => {
            let mut members = Items::within(result, own);
            Some(members.find_map(|at| inner(result, at)).unwrap_or(own))
        }
        _ => None,
    }
}

/// Where the value of a member opens, if it is a list or an object.
fn inner(result: &str, member: Range<usize>) -> Option<usize> {
    let bytes = result.as_bytes();
    let key = member.clone().find(|at| bytes[*at] == b'"')?;
    let colon = (string_end(bytes, key)..member.end).find(|at| bytes[*at] == b':')?;
    let value = (colon + 1..member.end).find(|at| !bytes[*at].is_ascii_whitespace())?;
    matches!(bytes[value], b'[' | b'{').then_some(value)
}

/// The place behind the string that opens at `at`.
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
    /// Where the next one begins.
    next: Option<usize>,
    /// Where the list or the object closes, once all items were seen.
    close: Option<usize>,
}

impl<'a> Items<'a> {
    /// Those of what opens at `open`.
    const fn within(text: &'a str, open: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            next: Some(open + 1),
            close: None,
        }
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

    #[track_caller]
    fn shows(result: &str, (first, limit): (usize, usize), text: &str, next: Option<usize>) {
        let text = text.to_owned();
        assert_eq!(page(result, first, limit), Page { text, next }, "{result}");
    }

    #[test]
    fn rows_are_the_items_of_the_first_list_or_object() {
        let scores = r#"{"1:a":3,"1:b":2,"1:c":1}"#;
        shows(scores, (0, 2), r#"{"1:a":3,"1:b":2}"#, Some(2));
        shows(scores, (2, 2), r#"{"1:c":1}"#, None);
        shows(scores, (0, 3), scores, None);
        shows(scores, (3, 2), "{}", None);
        shows(scores, (usize::MAX, usize::MAX), "{}", None);
        shows(scores, (1, 0), "{}", Some(1));
        let ranks = r#"{"alpha":0.15,"top":{"1":0.5,"2":0.25},"times":20}"#;
        let second = r#"{"alpha":0.15,"top":{"2":0.25},"times":20}"#;
        shows(ranks, (1, 1), second, None);
        let cores = r#"{"kcores":[["a","b"],["c"]]}"#;
        shows(cores, (0, 1), r#"{"kcores":[["a","b"]]}"#, Some(1));
        shows(r#"{"kcores":[]}"#, (0, 1), r#"{"kcores":[]}"#, None);
        shows(r#"[{"a":[1]}, [2] ,3]"#, (1, 1), "[ [2] ]", Some(2));
        shows(" [ ] ", (0, 1), " [] ", None);
    }

    #[test]
    fn texts_hide_what_looks_like_a_bracket_or_a_comma() {
        let ids = r#"{"source":"[\"{,","distances":{"a\\":0,"]}\",":1,"é{":2}}"#;
        let last = r#"{"source":"[\"{,","distances":{"é{":2}}"#;
        shows(ids, (2, 1), last, None);
        shows(r#"{"a:[":1,"b":2}"#, (1, 1), r#"{"b":2}"#, None);
    }

    #[test]
    fn what_has_no_rows_is_one_page() {
        for result in ["null", "3", r#""[1,2]""#, "", "[1,2", r#"{"a"#, r#"["a\"#] {
            shows(result, (1, 1), result, None);
        }
    }

    #[test]
    fn pages_have_every_row_once() {
        let rows = (0..100_000).map(|row| (row.to_string(), Value::from(row / 7)));
        let all = Value::Object(rows.collect());
        let result = all.to_string();
        let (mut found, mut first) = (serde_json::Map::new(), Some(0));
        let mut count = 0;
        while let Some(at) = first {
            let page = page(&result, at, 4_999);
            let rows: Value = serde_json::from_str(&page.text).expect("JSON");
            let rows = rows.as_object().expect("an object").clone();
            count += rows.len();
            found.extend(rows);
            first = page.next;
        }
        assert_eq!(count, 100_000);
        assert_eq!(Value::Object(found), all);
    }
}
