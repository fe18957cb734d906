//! Sockets and descriptors: binding, the limit of open files, and refusing a connection.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpStream;

/// If fewer files may be open, the server warns at its start that this is too low for many
/// connections.
const COMFORTABLE_DESCRIPTORS: u64 = 12_000;

/// The answer to a connection beyond a limit of open connections.
const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/json\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 140\r\n\r\n\
    {\"exception\":\"class jakarta.ws.rs.ServiceUnavailableException\",\"message\":\"Too many connections are open\",\"cause\":\"\",\"code\":\"VRV-BUSY\"}      ";

/// Raises the limit of open files to what the system allows, and logs it.
pub(super) fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let wanted = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, wanted) {
            tracing::warn!(%error, "the limit of open files could not be raised");
        }
    }
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    tracing::info!(open_files = now, "limit of open files");
    if now < COMFORTABLE_DESCRIPTORS {
        tracing::warn!(
            open_files = now,
            "too low for many connections: raise the hard limit (ulimit -Hn)"
        );
    }
}

/// Binds one listener for each serving thread to the same address; the kernel spreads new
/// connections over them.
pub(super) fn bind(
    address: SocketAddr,
    count: usize,
    backlog: i32,
) -> io::Result<Vec<StdListener>> {
    if address.port() != 0 {
        // This socket does not share its port, so binding it fails if another server has the port.
        // Otherwise a second server would take half of the first one's connections unnoticed.
        let probe = new_socket(address, false)?;
        probe.bind(&address.into())?;
    }
    let mut listeners = Vec::with_capacity(count);
    let mut address = address;
    for _ in 0..count {
        let socket = new_socket(address, true)?;
        socket.bind(&address.into())?;
        socket.listen(backlog)?;
        socket.set_nonblocking(true)?;
        let listener = StdListener::from(socket);
        address = listener.local_addr()?;
        listeners.push(listener);
    }
    Ok(listeners)
}

fn new_socket(address: SocketAddr, share_port: bool) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if share_port {
        socket.set_reuse_port(true)?;
    }
    Ok(socket)
}

/// Answers a connection beyond a limit, without waiting for its client.
pub(super) fn refuse(stream: &TcpStream) {
    // If the socket cannot take the answer at once, the client only sees the connection close.
    let _ = stream.try_write(TOO_MANY_CONNECTIONS);
}

/// Checks a constant answer: its body is JSON, and has the length that its head says.
#[cfg(test)]
pub(super) fn check_static_answer(answer: &[u8]) {
    let text = std::str::from_utf8(answer).expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let length = format!("content-length: {}", body.len());
    assert!(head.contains(&length), "{length}: {head}");
    serde_json::from_str::<serde_json::Value>(body).expect("JSON");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_static_answer_is_as_long_as_it_says() {
        check_static_answer(TOO_MANY_CONNECTIONS);
    }

    #[test]
    fn a_taken_port_is_an_error() {
        let first = bind("127.0.0.1:0".parse().unwrap(), 2, 16).unwrap();
        let address = first[0].local_addr().unwrap();
        assert_eq!(address, first[1].local_addr().unwrap());
        let error = bind(address, 2, 16).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
