//! The address of a client: that of its connection, or the one in the header of a trusted proxy.
//!
//! Any client can send such a header, so it is read only on connections from trusted proxies, and
//! from the right, where the nearest proxy appends: the first address that is not a trusted proxy
//! is the client's. A request that is forwarded to another server of the cluster carries that
//! address alone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use varve_auth::Network;

use crate::config::{ConfigError, ServerConfig};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The header with the client's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`: addresses, with commas between.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// The trusted proxies.
#[derive(Debug)]
pub(crate) struct Proxies {
    trusted: Vec<Network>,
    header: ForwardedHeader,
}

/// Reads the addresses of a header's line; `None` for an entry that is not an address.
type Reading = fn(&str) -> Vec<Option<IpAddr>>;

impl Proxies {
    pub(crate) fn new(config: &ServerConfig) -> Result<Self, ConfigError> {
        let each = config.trusted_proxies.iter().map(|text| {
            let network = Network::parse(text).filter(|network| !network.is_everywhere());
            network.ok_or_else(|| ConfigError {
                option: "trusted_proxies",
                reason: format!(
                    "must be addresses, or networks with a prefix of at least 1 bit, as in 10.0.0.7 or 10.1.0.0/16, but has '{text}'"
                ),
            })
        });
        Ok(Self {
            trusted: each.collect::<Result<_, _>>()?,
            header: config.forwarded_header,
        })
    }

    /// The client's address of a request with these headers over a connection from `connection`.
    pub(crate) fn client(&self, connection: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trusts(connection) {
            return connection;
        }
        let (name, read): (_, Reading) = match self.header {
            ForwardedHeader::XForwardedFor => (&X_FORWARDED_FOR, addresses_with_commas),
            ForwardedHeader::Forwarded => (&FORWARDED, forwarded_for),
        };
        let mut client = connection;
        for line in headers.get_all(name).iter().rev() {
            // The part that the client sent may be no UTF-8.
            let line = String::from_utf8_lossy(line.as_bytes());
            for named in read(&line).into_iter().rev() {
                // Nothing to the left of an entry without an address is trustworthy. The proxy's
                // own address is not used in its place: it may be on the white list.
                let Some(address) = named else {
                    return IpAddr::V4(Ipv4Addr::UNSPECIFIED);
                };
                client = address;
                if !self.trusts(address) {
                    return client;
                }
            }
        }
        client
    }

    /// Sets the client's address in the headers of a request that is forwarded to another server.
    /// Removes the headers of the request, since the client may have sent them.
    pub(crate) fn name_client(&self, client: IpAddr, headers: &mut HeaderMap) {
        headers.remove(X_FORWARDED_FOR);
        headers.remove(FORWARDED);
        let (name, text) = match (self.header, client) {
            (ForwardedHeader::XForwardedFor, _) => (X_FORWARDED_FOR, client.to_string()),
            (ForwardedHeader::Forwarded, IpAddr::V4(_)) => (FORWARDED, format!("for={client}")),
            (ForwardedHeader::Forwarded, IpAddr::V6(_)) => {
                (FORWARDED, format!("for=\"[{client}]\""))
            }
        };
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(name, value);
        }
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

/// The addresses of a line of `X-Forwarded-For`; `None` for an entry that is not an address.
fn addresses_with_commas(line: &str) -> Vec<Option<IpAddr>> {
    line.split(',').map(|text| address(text.trim())).collect()
}

/// The addresses of a line of `Forwarded`; `None` for an entry without exactly one.
fn forwarded_for(line: &str) -> Vec<Option<IpAddr>> {
    let elements = split(line, ',');
    let each = elements.into_iter().map(|element| {
        let pairs = split(element, ';').into_iter();
        let mut named = pairs.filter_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("for")
                .then_some(value.trim())
        });
        match (named.next(), named.next()) {
            (Some(value), None) => {
                let inner = value.strip_prefix('"');
                address(inner.map_or(Some(value), |rest| rest.strip_suffix('"'))?)
            }
            _ => None,
        }
    });
    each.collect()
}

/// The parts of a text between these marks, except marks in quotes. After a quote that is not
/// closed the rest is one part, which has no address.
fn split(text: &str, mark: char) -> Vec<&str> {
    let (mut parts, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if char == mark && !quoted => {
                parts.push(&text[from..at]);
                from = at + char.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// The address in `10.0.0.1`, `10.0.0.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`.
fn address(text: &str) -> Option<IpAddr> {
    if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let is_port = port.is_empty() || port.starts_with(':');
        let address = address.parse::<Ipv6Addr>().ok().filter(|_| is_port)?;
        return Some(IpAddr::V6(address).to_canonical());
    }
    let with_port = || {
        let (address, _) = text.split_once(':')?;
        address.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
    };
    let alone = text.parse::<IpAddr>().ok();
    alone
        .map(|address| address.to_canonical())
        .or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(header: ForwardedHeader) -> Proxies {
        Proxies::new(&ServerConfig {
            trusted_proxies: vec!["10.0.0.0/8".to_owned(), "::1".to_owned()],
            forwarded_header: header,
            ..ServerConfig::default()
        })
        .expect("networks")
    }

    fn client(header: ForwardedHeader, connection: &str, lines: &[&str]) -> String {
        let name = match header {
            ForwardedHeader::XForwardedFor => X_FORWARDED_FOR,
            ForwardedHeader::Forwarded => FORWARDED,
        };
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(&name, line.parse().expect("a value"));
        }
        let connection = connection.parse().expect("an address");
        proxies(header).client(connection, &headers).to_string()
    }

    #[test]
    fn the_nearest_address_that_is_no_proxy_is_the_client() {
        for (connection, lines, wanted) in [
            // Not from a proxy: the header is ignored.
            ("192.0.2.9", &["198.51.100.1"][..], "192.0.2.9"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            ("::ffff:10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            // Entries that the client itself sent are on the left, or in an earlier line.
            ("10.0.0.1", &["6.6.6.6, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["6.6.6.6", "198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["198.51.100.1, 10.2.3.4"], "198.51.100.1"),
            ("10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1"),
            ("::1", &["[2001:db8::1]:80"], "2001:db8::1"),
            ("::1", &["2001:db8::1"], "2001:db8::1"),
            // An unreadable entry ends the search.
            ("10.0.0.1", &["198.51.100.1, unknown"], "0.0.0.0"),
            ("10.0.0.1", &["198.51.100.1, ,10.2.3.4"], "0.0.0.0"),
            ("10.0.0.1", &["10.9.9.9, 10.2.3.4"], "10.9.9.9"),
            ("10.0.0.1", &[""], "0.0.0.0"),
        ] {
            let found = client(ForwardedHeader::XForwardedFor, connection, lines);
            assert_eq!(found, wanted, "{connection} {lines:?}");
        }
    }

    #[test]
    fn forwarded_is_read_as_rfc_7239_says() {
        for (lines, wanted) in [
            (&["for=198.51.100.1"][..], "198.51.100.1"),
            (&["For=\"198.51.100.1:80\";proto=https"], "198.51.100.1"),
            (&["proto=http; for=\"[2001:db8::1]:80\""], "2001:db8::1"),
            (&["for=6.6.6.6, for=198.51.100.1"], "198.51.100.1"),
            (
                &["for=198.51.100.1;host=\"x, for=6.6.6.6\""],
                "198.51.100.1",
            ),
            (&["for=198.51.100.1;host=\"\\\"\""], "198.51.100.1"),
            // A quote that the client left open, a name in place of an address, and none or two.
            (&["for=\", for=198.51.100.1"], "0.0.0.0"),
            (&["for=_hidden"], "0.0.0.0"),
            (&["proto=https"], "0.0.0.0"),
            (&["for=1.1.1.1;for=2.2.2.2"], "0.0.0.0"),
        ] {
            let found = client(ForwardedHeader::Forwarded, "10.0.0.1", lines);
            assert_eq!(found, wanted, "{lines:?}");
        }
    }

    #[test]
    fn who_forwards_names_the_client_that_it_has_seen() {
        for header in [ForwardedHeader::XForwardedFor, ForwardedHeader::Forwarded] {
            for wanted in ["198.51.100.1", "2001:db8::1", "10.2.3.4", "0.0.0.0"] {
                let mut headers = HeaderMap::new();
                for (name, text) in [
                    (X_FORWARDED_FOR, "6.6.6.6"),
                    (X_FORWARDED_FOR, "7.7.7.7"),
                    (FORWARDED, "for=6.6.6.6"),
                ] {
                    headers.append(name, text.parse().expect("a value"));
                }
                let proxies = proxies(header);
                proxies.name_client(wanted.parse().expect("an address"), &mut headers);
                assert_eq!(headers.len(), 1, "{headers:?}");
                let server = "10.0.0.1".parse().expect("an address");
                assert_eq!(proxies.client(server, &headers).to_string(), wanted);
            }
        }
    }

    #[test]
    fn only_the_named_header_counts_and_nobody_is_trusted_everywhere() {
        let mut headers = HeaderMap::new();
        headers.insert(FORWARDED, "for=6.6.6.6".parse().expect("a value"));
        let connection = "10.0.0.1".parse().expect("an address");
        let found = proxies(ForwardedHeader::XForwardedFor).client(connection, &headers);
        assert_eq!(found, connection);
        for bad in ["", "proxy.example", "0.0.0.0/0", "::/0", "10.0.0.0/33"] {
            let config = ServerConfig {
                trusted_proxies: vec![bad.to_owned()],
                ..ServerConfig::default()
            };
            assert!(Proxies::new(&config).is_err(), "{bad}");
        }
    }
}
