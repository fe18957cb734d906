//! Connections: opens them without blocking, and makes sure that there are enough descriptors and
//! source addresses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Protocol, Socket, Type};

use crate::endpoint::{Endpoint, Security, Stream};

/// Descriptors that the tool itself needs besides its connections.
const DESCRIPTORS_BESIDE: u64 = 64;
/// Connections from one source address before the next one is used. The default range of local
/// ports of a kernel has 28,232, and ports of the last row may still be in TIME_WAIT.
const CONNECTIONS_PER_SOURCE: u32 = 10_000;
/// The number of loopback addresses that are used in turn.
const SOURCES: u32 = 200;

/// The target and the source addresses of connections.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    target: SocketAddr,
    security: Option<Security>,
    /// Added to the source address, so that a row does not reuse ports of the previous row.
    turn: u32,
    /// Whether several source addresses are used.
    spread: bool,
}

impl Route {
    /// The route to a server for the `turn`-th row, with this number of connections.
    pub(crate) fn new(endpoint: &Endpoint, turn: u32, connections: u32) -> Self {
        let target = endpoint.address;
        let loopback = matches!(target.ip(), IpAddr::V4(ip) if ip.is_loopback());
        Self {
            target,
            security: endpoint.security.clone(),
            turn,
            spread: loopback && connections > CONNECTIONS_PER_SOURCE / 10,
        }
    }

    fn source(&self, connection: u32) -> Option<Ipv4Addr> {
        let number = (self.turn * 2 + connection / CONNECTIONS_PER_SOURCE) % SOURCES;
        self.spread
            .then(|| Ipv4Addr::new(127, 0, 0, 2 + number as u8))
    }

    /// Starts to connect. Returns `true` if the connection is already established.
    pub(crate) fn open(&self, connection: u32) -> io::Result<(Stream, bool)> {
        let socket = Socket::new(
            Domain::for_address(self.target),
            Type::STREAM.nonblocking(),
            Some(Protocol::TCP),
        )?;
        socket.set_tcp_nodelay(true)?;
        if let Some(source) = self.source(connection) {
            socket.bind(&SocketAddr::from((source, 0)).into())?;
        }
        let connected = match socket.connect(&self.target.into()) {
            Ok(()) => true,
            Err(error) if in_progress(&error) => false,
            Err(error) => return Err(error),
        };
        let stream = Stream::new(socket.into(), self.security.as_ref())?;
        Ok((stream, connected))
    }
}

fn in_progress(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error())
        || error.kind() == io::ErrorKind::WouldBlock
}

/// Raises the limit of open files for `connections` if necessary. Returns the resulting limit.
///
/// # Errors
/// When the limit is too low and cannot be raised; the message names the limit to raise.
pub(crate) fn ensure_descriptors(connections: u32) -> Result<u64> {
    let needed = u64::from(connections) + DESCRIPTORS_BESIDE;
    let limit = getrlimit(Resource::Nofile);
    let (soft, hard) = (
        limit.current.unwrap_or(u64::MAX),
        limit.maximum.unwrap_or(u64::MAX),
    );
    if soft >= needed {
        return Ok(soft);
    }
    let raise = |current: u64, maximum: u64| {
        let raised = Rlimit {
            current: Some(current),
            maximum: Some(maximum),
        };
        setrlimit(Resource::Nofile, raised).is_ok()
    };
    // Only CAP_SYS_RESOURCE can raise the hard limit.
    let raised = raise(needed.max(hard), hard.max(needed)) || (hard >= needed && raise(hard, hard));
    ensure!(
        raised,
        "{connections} connections need {needed} open files, but this process may have {hard}: raise the hard limit \
         (`ulimit -Hn {needed}` as root, /etc/security/limits.conf, or LimitNOFILE of the service), or use fewer users"
    );
    Ok(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
}

/// A warning if the kernel's accept queue is too short for this number of connections.
pub(crate) fn warning(connections: u32, somaxconn: u64) -> Option<String> {
    (somaxconn < u64::from(connections)).then(|| {
        format!(
            "net.core.somaxconn is {somaxconn}, below {connections} users: a server's accept queue holds no more, and \
             connections over it wait a second or longer (`sysctl -w net.core.somaxconn=65535`, then restart the server)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_connections_come_from_many_addresses() {
        let target = Endpoint::plain(SocketAddr::from(([127, 0, 0, 1], 80)), "h");
        let route = Route::new(&target, 0, 20_000);
        assert_eq!(route.source(0), Some(Ipv4Addr::new(127, 0, 0, 2)));
        assert_eq!(route.source(19_999), Some(Ipv4Addr::new(127, 0, 0, 3)));
        assert_ne!(Route::new(&target, 1, 20_000).source(0), route.source(0));
        assert_eq!(Route::new(&target, 0, 100).source(0), None);
        let remote = Endpoint::plain(SocketAddr::from(([10, 0, 0, 1], 80)), "h");
        assert_eq!(Route::new(&remote, 0, 20_000).source(0), None);
    }

    #[test]
    fn too_many_connections_are_refused_with_what_to_raise() {
        // Above the kernel's limit for any process (fs.nr_open).
        let error = ensure_descriptors(u32::MAX)
            .expect_err("too many")
            .to_string();
        assert!(error.contains("LimitNOFILE"), "{error}");
        assert!(ensure_descriptors(1).is_ok());
    }

    #[test]
    fn a_short_accept_queue_is_reported() {
        assert_eq!(warning(100, 4_096), None);
        let warning = warning(14_000, 4_096).expect("a warning");
        assert!(warning.contains("somaxconn"), "{warning}");
    }
}
