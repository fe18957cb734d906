//! The three small TOML tables beside the recording: details of requests that are not recorded,
//! known differences, and replacements for exchanges out of scope.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

/// Why an exchange is allowed to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceKind {
    /// A defect of the original that is mended: in scope, counted as different.
    Mended,
    /// The original's own behaviour since the version that the server reports; a recording of an
    /// older version cannot judge it. Out of scope.
    Newer,
    /// A consequence of the difference in an earlier listed exchange. Out of scope.
    Follows,
    /// A resource that is not served yet: out of scope.
    Later,
}

/// A known difference of one exchange.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Why the exchange may differ.
    pub kind: DifferenceKind,
    /// The reason, in one sentence.
    pub reason: String,
    /// The status that the server must give instead of the recorded one.
    pub status: Option<u16>,
    /// A text that the server's answer must contain.
    pub contains: Option<String>,
}

/// A body that is only described in the recording.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Body {
    /// A JSON array of `count` elements, with `%d` replaced by the element's index from 0.
    Repeat {
        /// How many elements.
        count: usize,
        /// One element.
        element: String,
    },
    /// This text, compressed.
    Gzip(String),
}

/// Details of a request that are not recorded.
#[derive(Clone, Debug, Default)]
pub struct RequestDetail {
    /// Headers to set; an empty value removes the header.
    pub headers: Vec<(String, String)>,
    /// The body to send instead of the recorded one.
    pub body: Option<Body>,
}

/// When a compensation is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Before the exchange: it removes the cause that would show a mended defect in an answer about
    /// something else.
    Before,
    /// When the server did not give the recorded status, since it does not serve the resource.
    #[default]
    Refused,
    /// When the answer differs in any way, since the mended defect left another state.
    Different,
}

/// A request that replaces an exchange that the server does not serve yet, so that later answers
/// stay comparable.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compensation {
    /// Sent after this exchange.
    pub exchange: usize,
    /// The condition.
    #[serde(default)]
    pub when: When,
    /// The change that it makes up for.
    pub reason: String,
    /// The verb.
    pub method: String,
    /// The path.
    pub path: String,
    /// The JSON body, or empty for none.
    #[serde(default)]
    pub body: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DifferenceEntry {
    exchanges: Vec<Range>,
    kind: DifferenceKind,
    reason: String,
    status: Option<u16>,
    contains: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Range {
    One(usize),
    Many(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestEntry {
    exchange: usize,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Body>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Differences {
    #[serde(default)]
    difference: Vec<DifferenceEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Requests {
    #[serde(default)]
    request: Vec<RequestEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compensations {
    #[serde(default)]
    compensation: Vec<Compensation>,
}

/// Reads the list of known differences, by exchange.
///
/// # Errors
/// When the text is not such a table, a range is not `a-b`, or an exchange is listed twice.
pub fn differences(text: &str) -> Result<BTreeMap<usize, Difference>, String> {
    let table: Differences = toml::from_str(text).map_err(|e| e.to_string())?;
    let mut out = BTreeMap::new();
    for entry in table.difference {
        for range in &entry.exchanges {
            let (first, last) = match range {
                Range::One(number) => (*number, *number),
                Range::Many(text) => text
                    .split_once('-')
                    .and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)))
                    .filter(|(a, b)| a <= b)
                    .ok_or_else(|| format!("'{text}' is not a range of exchanges"))?,
            };
            for number in first..=last {
                let difference = Difference {
                    kind: entry.kind,
                    reason: entry.reason.clone(),
                    status: entry.status,
                    contains: entry.contains.clone(),
                };
                if out.insert(number, difference).is_some() {
                    return Err(format!("exchange {number} is listed twice"));
                }
            }
        }
    }
    Ok(out)
}

/// Reads the details of requests, by exchange.
///
/// # Errors
/// When the text is not such a table.
pub fn requests(text: &str) -> Result<HashMap<usize, RequestDetail>, String> {
    let table: Requests = toml::from_str(text).map_err(|e| e.to_string())?;
    let detail = |e: RequestEntry| {
        (
            e.exchange,
            RequestDetail {
                headers: e.headers.into_iter().collect(),
                body: e.body,
            },
        )
    };
    Ok(table.request.into_iter().map(detail).collect())
}

/// Reads the compensations, in order.
///
/// # Errors
/// When the text is not such a table.
pub fn compensations(text: &str) -> Result<Vec<Compensation>, String> {
    let table: Compensations = toml::from_str(text).map_err(|e| e.to_string())?;
    Ok(table.compensation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_single_exchanges_and_ranges() {
        let list = differences(
            "[[difference]]\nexchanges=[3,\"5-7\"]\nkind=\"later\"\nreason=\"r\"\n\
             [[difference]]\nexchanges=[4]\nkind=\"mended\"\nreason=\"s\"\nstatus=200\n",
        )
        .unwrap();
        assert_eq!(list.keys().copied().collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
        assert_eq!(
            (list[&4].kind, list[&4].status),
            (DifferenceKind::Mended, Some(200))
        );
    }

    #[test]
    fn refuses_a_list_that_contradicts_itself() {
        let twice = "[[difference]]\nexchanges=[3,\"2-4\"]\nkind=\"later\"\nreason=\"r\"\n";
        assert!(differences(twice).is_err());
        let range = "[[difference]]\nexchanges=[\"7-2\"]\nkind=\"later\"\nreason=\"r\"\n";
        assert!(differences(range).is_err());
        assert!(
            differences("[[difference]]\nexchanges=[3]\nkind=\"other\"\nreason=\"r\"\n").is_err()
        );
    }

    #[test]
    fn the_tables_beside_the_recording_are_well_formed() {
        assert!(!differences(crate::DIFFERENCES).unwrap().is_empty());
        assert!(!requests(crate::REQUESTS).unwrap().is_empty());
        assert!(!compensations(crate::COMPENSATIONS).unwrap().is_empty());
    }
}
