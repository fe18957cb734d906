//! Ids that the server generates: learnt when they first appear, then inserted into later requests
//! and expected answers.
//!
//! Each kind is a one-to-one mapping between the recording's ids and the server's. A second
//! recorded id for the same id of the server, or vice versa, is a difference.

use std::collections::HashMap;

/// The kind of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdKind {
    /// The number of a vertex whose label has the id strategy AUTOMATIC.
    Vertex,
    /// A task's number.
    Task,
    /// The token of a following page.
    Page,
    /// The start or the end of a shard.
    Shard,
    /// The token of a login.
    Token,
}

/// Automatic ids are snowflake numbers; a recorded digit run shorter than this is never one.
const AUTOMATIC_ID_DIGITS_MIN: usize = 16;

#[derive(Clone, Debug, Default)]
struct Pairs {
    actual_by_recorded: HashMap<String, String>,
    recorded_by_actual: HashMap<String, String>,
}

/// All ids learnt so far.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    pairs: HashMap<IdKind, Pairs>,
}

impl Identities {
    /// Maps the recording's `recorded` to the server's `actual`, or checks an existing mapping.
    ///
    /// # Errors
    /// When `recorded` is already mapped to another id. Unless ids of this kind are opaque tokens,
    /// also when another recorded id is already mapped to `actual`.
    pub fn pair(&mut self, kind: IdKind, recorded: &str, actual: &str) -> Result<(), String> {
        let pairs = self.pairs.entry(kind).or_default();
        if let Some(known) = pairs.actual_by_recorded.get(recorded) {
            return if known == actual {
                Ok(())
            } else {
                Err(format!(
                    "recorded {kind:?} {recorded} was {known} before, now {actual}"
                ))
            };
        }
        // One token of the server may be the counterpart of several recorded ones, since two
        // listings may continue at the same position.
        let opaque = matches!(kind, IdKind::Page | IdKind::Shard);
        if let Some(known) = pairs.recorded_by_actual.get(actual).filter(|_| !opaque) {
            return Err(format!(
                "{kind:?} {actual} already stands for recorded {known}"
            ));
        }
        pairs
            .actual_by_recorded
            .insert(recorded.to_owned(), actual.to_owned());
        pairs
            .recorded_by_actual
            .insert(actual.to_owned(), recorded.to_owned());
        Ok(())
    }

    /// The server's id for a recorded one; the recorded one itself if it is unknown.
    #[must_use]
    pub fn actual<'a>(&'a self, kind: IdKind, recorded: &'a str) -> &'a str {
        self.known(kind, recorded).unwrap_or(recorded)
    }

    /// The server's id for a recorded one, if it is known.
    #[must_use]
    pub fn known(&self, kind: IdKind, recorded: &str) -> Option<&str> {
        let pairs = self.pairs.get(&kind)?;
        pairs.actual_by_recorded.get(recorded).map(String::as_str)
    }

    /// Removes all mappings except tokens of logins: a cleared graph restarts its ids.
    pub fn forget(&mut self) {
        self.pairs.retain(|kind, _| *kind == IdKind::Token);
    }

    /// Maps the recording's `recorded` to the server's `actual` from now on.
    pub fn renew(&mut self, kind: IdKind, recorded: &str, actual: &str) {
        let pairs = self.pairs.entry(kind).or_default();
        pairs
            .actual_by_recorded
            .insert(recorded.to_owned(), actual.to_owned());
    }

    /// A text in which recorded automatic vertex ids are replaced, but not within longer numbers.
    #[must_use]
    pub fn in_text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let digits_end = rest[start..]
                .find(|c: char| !c.is_ascii_digit())
                .map_or(rest.len(), |n| start + n);
            let digits = &rest[start..digits_end];
            out.push_str(&rest[..start]);
            let is_long = digits.len() >= AUTOMATIC_ID_DIGITS_MIN;
            out.push_str(if is_long {
                self.actual(IdKind::Vertex, digits)
            } else {
                digits
            });
            rest = &rest[digits_end..];
        }
        out.push_str(rest);
        out
    }

    /// A path and query with every id replaced: automatic vertex ids, task ids, page tokens and
    /// shard bounds.
    #[must_use]
    pub fn in_path(&self, path: &str) -> String {
        let path = self.in_text(path);
        let (route, query) = match path.split_once('?') {
            Some((route, query)) => (route, Some(query)),
            None => (path.as_str(), None),
        };
        let mut out = match route.rsplit_once("/tasks/") {
            Some((base, id)) => format!("{base}/tasks/{}", self.actual(IdKind::Task, id)),
            None => route.to_owned(),
        };
        if let Some(query) = query {
            let pairs: Vec<_> = query
                .split('&')
                .map(|pair| self.in_query(route, pair))
                .collect();
            out = format!("{out}?{}", pairs.join("&"));
        }
        out
    }

    fn in_query(&self, route: &str, pair: &str) -> String {
        let Some((name, value)) = pair.split_once('=') else {
            return pair.to_owned();
        };
        let kind = match name {
            "page" => IdKind::Page,
            "ids" if route.ends_with("/tasks") => IdKind::Task,
            "start" | "end" => IdKind::Shard,
            _ => return pair.to_owned(),
        };
        let recorded = percent_decode(value);
        match self.actual(kind, &recorded) {
            same if same == recorded => pair.to_owned(),
            other => format!("{name}={}", percent_encode(other)),
        }
    }
}

/// Decodes `%XX`; everything else is unchanged.
#[must_use]
pub fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = bytes
            .get(i + 1..i + 3)
            .and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(byte) if bytes[i] == b'%' => {
                out.push(byte);
                i += 3;
            }
            _ => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn percent_encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_holds_in_both_directions() {
        let mut ids = Identities::default();
        ids.pair(IdKind::Task, "2", "7").unwrap();
        ids.pair(IdKind::Task, "2", "7").unwrap();
        assert!(
            ids.pair(IdKind::Task, "2", "8").is_err(),
            "one recorded id, two of the server's"
        );
        assert!(
            ids.pair(IdKind::Task, "3", "7").is_err(),
            "one id of the server, two recorded ones"
        );
        ids.pair(IdKind::Vertex, "3", "7").unwrap();
        ids.forget();
        ids.pair(IdKind::Task, "3", "7").unwrap();
    }

    #[test]
    fn replaces_ids_in_paths() {
        let mut ids = Identities::default();
        ids.pair(IdKind::Task, "14", "3").unwrap();
        ids.pair(IdKind::Vertex, "1188924869312512000", "42")
            .unwrap();
        ids.pair(IdKind::Page, "AA=", "b/+").unwrap();
        for (recorded, wanted) in [
            ("/graphs/h/tasks/14", "/graphs/h/tasks/3"),
            (
                "/graphs/h/tasks/14?action=cancel",
                "/graphs/h/tasks/3?action=cancel",
            ),
            (
                "/graphs/h/tasks?ids=14&ids=2",
                "/graphs/h/tasks?ids=3&ids=2",
            ),
            (
                "/graphs/h/traversers/vertices?ids=14",
                "/graphs/h/traversers/vertices?ids=14",
            ),
            (
                "/graphs/h/graph/vertices/1188924869312512000",
                "/graphs/h/graph/vertices/42",
            ),
            (
                "/graphs/h/graph/vertices/11889248693125120001",
                "/graphs/h/graph/vertices/11889248693125120001",
            ),
            (
                "/graphs/h/graph/vertices?page=AA%3D&limit=3",
                "/graphs/h/graph/vertices?page=b%2F%2B&limit=3",
            ),
            (
                "/graphs/h/graph/vertices?page&limit=3",
                "/graphs/h/graph/vertices?page&limit=3",
            ),
        ] {
            assert_eq!(ids.in_path(recorded), wanted);
        }
    }

    #[test]
    fn replaces_automatic_ids_inside_edge_ids() {
        let mut ids = Identities::default();
        ids.pair(IdKind::Vertex, "1188924869312512000", "42")
            .unwrap();
        assert_eq!(ids.in_text("L1188924869312512000>1>1>>L12"), "L42>1>1>>L12");
    }
}
