//! Waits for a server that is starting: a user who starts a load test beside its server cannot know
//! how long that takes.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::endpoint;
use anyhow::{Context as _, Error, Result};

/// The time limit of one attempt to connect.
const CONNECTING: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);

/// Waits until a server accepts connections at `url`. The name is resolved each time, since it may
/// only become known with the server.
///
/// # Errors
/// When none does in this number of seconds.
pub(crate) fn for_server(url: &str, seconds: u64) -> Result<()> {
    let (limit, started) = (Duration::from_secs(seconds), Instant::now());
    let connect = || {
        Ok(TcpStream::connect_timeout(
            &endpoint::address(url)?,
            CONNECTING,
        )?)
    };
    while let Err::<_, Error>(error) = connect() {
        if started.elapsed() >= limit {
            return Err(error).with_context(|| format!("{url}, after {seconds} seconds"));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use socket2::{Domain, Socket, Type};

    use super::*;

    #[test]
    fn a_server_that_starts_meanwhile_is_waited_for() {
        // Bound, so that nobody else gets the port, but not listening yet.
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(&any.into()).expect("a port");
        let address = socket.local_addr().expect("an address");
        let address = address.as_socket().expect("an address of IPv4");
        let url = format!("http://{address}/platform/");
        for_server(&url, 0).expect_err("nobody listens");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(3 * PAUSE);
                socket.listen(16).expect("a listener");
            });
            for_server(&url, 600).expect("it is there");
        });
        for_server(&url, 0).expect("it is there still");
    }
}
