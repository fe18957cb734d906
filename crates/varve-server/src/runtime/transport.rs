//! The transport below HTTP: TCP, or TLS over TCP.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::addresses::{Addresses, ConnectionSlot};
use super::connection::Handle;
use crate::tls::{ClientCertificate, Tls};

/// The first byte of a client that speaks TLS: the record type of a handshake.
const HANDSHAKE: u8 = 22;

/// The answer to a client that speaks HTTP without TLS.
const SPEAK_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\
    content-length: 137\r\n\r\n\
    {\"exception\":\"class jakarta.ws.rs.BadRequestException\",\"message\":\"This address speaks TLS: use \
    https or wss\",\"cause\":\"\",\"code\":\"VRV-ARG\"}";

/// The most bytes that are read from a client without TLS and discarded. Without this, the client
/// could see a connection reset instead of the answer.
const DISCARDED_BYTES: usize = 64 * 1024;

/// The byte stream of a connection.
pub(super) enum Transport {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

impl Transport {
    pub(super) fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Secure(stream) => stream.get_ref().0,
        }
    }

    pub(super) const fn is_secure(&self) -> bool {
        matches!(self, Self::Secure(_))
    }

    /// The client's certificate, if it has sent one.
    pub(super) fn certificate(&self, tls: &Tls) -> Option<ClientCertificate> {
        match self {
            Self::Plain(_) => None,
            Self::Secure(stream) => tls.certificate_in(stream.get_ref().1),
        }
    }
}

/// Performs the TLS handshake of a new connection. Returns `None` if it fails or takes too long, if
/// no slot is free, or if the connection is cut or the server stops.
pub(super) async fn secure(
    stream: TcpStream,
    tls: &Tls,
    addresses: &std::sync::Arc<Addresses>,
    handle: &Handle,
) -> Option<Transport> {
    let _room = tls.handshakes.try_acquire().ok()?;
    let from = stream.peer_addr().ok()?.ip();
    let _own: Option<ConnectionSlot> = addresses.enter(from).ok()?;
    let accepted = tokio::time::timeout(
        tls.handshake_timeout(),
        handle.while_served(accept(stream, tls)),
    );
    match accepted.await {
        Ok(Some(Ok(stream))) => Some(Transport::Secure(Box::new(stream))),
        Ok(Some(Err(error))) => {
            tracing::debug!(%error, "a TLS handshake failed");
            None
        }
        Ok(None) | Err(_) => None,
    }
}

async fn accept(mut stream: TcpStream, tls: &Tls) -> io::Result<TlsStream<TcpStream>> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if first[0] != HANDSHAKE {
        if first[0].is_ascii_uppercase() {
            stream.write_all(SPEAK_TLS).await?;
            stream.shutdown().await?;
            discard(&mut stream).await?;
        }
        return Err(io::Error::other("the client does not speak TLS"));
    }
    tls.acceptor().accept(stream).await
}

async fn discard(stream: &mut TcpStream) -> io::Result<()> {
    use tokio::io::AsyncReadExt as _;
    let mut scratch = [0; 4 * 1024];
    let mut discarded = 0;
    while discarded < DISCARDED_BYTES {
        match stream.read(&mut scratch).await? {
            0 => break,
            bytes => discarded += bytes,
        }
    }
    Ok(())
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => pin!(stream).poll_read(context, buffer),
            Self::Secure(stream) => pin!(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => pin!(stream).poll_write(context, bytes),
            Self::Secure(stream) => pin!(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => pin!(stream).poll_flush(context),
            Self::Secure(stream) => pin!(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => pin!(stream).poll_shutdown(context),
            Self::Secure(stream) => pin!(stream).poll_shutdown(context),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => pin!(stream).poll_write_vectored(context, slices),
            Self::Secure(stream) => pin!(stream).poll_write_vectored(context, slices),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_a_client_without_tls_is_as_long_as_it_says() {
        super::super::listener::check_static_answer(SPEAK_TLS);
    }
}
