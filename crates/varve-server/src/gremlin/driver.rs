//! The abilities of a driver, from its header `User-Agent`.

use http::{HeaderMap, header};

/// The first version of TinkerPop whose drivers all read dates with an offset.
const OFFSETS_SINCE: (u32, u32) = (3, 8);

/// Whether the driver can read dates only as milliseconds. A driver without a version counts as
/// new.
pub(super) fn reads_no_offsets(headers: &HeaderMap) -> bool {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent.and_then(|agent| agent.to_str().ok());
    agent
        .and_then(version)
        .is_some_and(|version| version < OFFSETS_SINCE)
}

/// The version of TinkerPop in `application Gremlin-Python.3.7.3 runtime system`.
fn version(agent: &str) -> Option<(u32, u32)> {
    let mut words = agent.split_ascii_whitespace();
    let (_, version) = words.find_map(|word| word.strip_prefix("Gremlin-")?.split_once('.'))?;
    let mut parts = version.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_drivers_before_3_8_read_no_offsets() {
        for (agent, wanted) in [
            (
                "NotAvailable Gremlin-Python.3.7.3 3.11.2 Linux.6.1 x86_64",
                true,
            ),
            ("shop Gremlin-Javascript.3.6.8-rc1 v18 Linux.6 x64", true),
            (
                "NotAvailable Gremlin-Go.3.8.1 go1.22 linux.NotAvailable amd64",
                false,
            ),
            (
                "NotAvailable Gremlin-Python.3.10.0 3.11.2 Linux.6.1 x86_64",
                false,
            ),
            (
                "NotAvailable Gremlin-Python.4.0.0 3.11.2 Linux.6.1 x86_64",
                false,
            ),
            ("Gremlin-Python", false),
            ("Gremlin-Python.x.y", false),
            ("node", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::USER_AGENT, agent.parse().expect("a value"));
            assert_eq!(reads_no_offsets(&headers), wanted, "{agent}");
        }
        assert!(!reads_no_offsets(&HeaderMap::new()));
    }
}
