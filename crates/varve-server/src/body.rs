//! Receiving a request's body: bounded in size, in time and in the memory of all requests together.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::admission::{Gate, SMALL_BODY_BYTES};
use crate::config::ServerConfig;
use crate::errors::ApiError;

/// A body and the share of the byte budget that it holds.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) bytes: Bytes,
    pub(crate) share: Option<OwnedSemaphorePermit>,
}

/// Receives a body of at most `limit` bytes. Refuses one that says it is larger before reading any of it.
pub(crate) async fn receive(
    mut body: Incoming,
    limit: usize,
    gate: Option<&Gate>,
    config: &ServerConfig,
) -> Result<Received, ApiError> {
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        return Err(ApiError::body_too_large(limit));
    }
    let mut received = Received::default();
    // The hint is exact for a body with a length, and below the limit, so it fits.
    let announced = hint.exact().map_or(0, |bytes| bytes as usize);
    grow_share(&mut received.share, announced, gate).await?;
    let deadline = Deadline::start(config);
    let Some(first) = next(&mut body, &deadline, 0).await? else {
        return Ok(received);
    };
    if body.is_end_stream() {
        if first.len() > limit {
            return Err(ApiError::body_too_large(limit));
        }
        received.bytes = first;
        return Ok(received);
    }
    let mut whole = BytesMut::with_capacity(announced.max(2 * first.len()).min(limit));
    let mut piece = Some(first);
    while let Some(bytes) = piece {
        if whole.len() + bytes.len() > limit {
            return Err(ApiError::body_too_large(limit));
        }
        grow_share(&mut received.share, whole.len() + bytes.len(), gate).await?;
        whole.extend_from_slice(&bytes);
        piece = next(&mut body, &deadline, whole.len()).await?;
    }
    received.bytes = whole.freeze();
    Ok(received)
}

/// Makes the share of the byte budget cover `bytes`. It grows in steps of the doubling size, so that a body of unknown
/// length seldom waits.
async fn grow_share(
    share: &mut Option<OwnedSemaphorePermit>,
    bytes: usize,
    gate: Option<&Gate>,
) -> Result<(), ApiError> {
    let held = share
        .as_ref()
        .map_or(SMALL_BODY_BYTES, OwnedSemaphorePermit::num_permits);
    let Some(gate) = gate.filter(|_| bytes > held) else {
        return Ok(());
    };
    match share {
        None => *share = Some(gate.reserve(bytes).await?),
        Some(share) => share.merge(gate.reserve(bytes - held).await?),
    }
    Ok(())
}

struct Deadline {
    start: Instant,
    grace: Duration,
    bytes_per_second: u64,
}

impl Deadline {
    fn start(config: &ServerConfig) -> Self {
        Self {
            start: Instant::now(),
            grace: Duration::from_millis(config.body_read_timeout_ms),
            bytes_per_second: config.min_body_bytes_per_second,
        }
    }

    /// The time by which the next piece must be here, given what came so far.
    fn after(&self, received: usize) -> Instant {
        let earned_ms = received as u64 * 1000 / self.bytes_per_second;
        self.start + self.grace + Duration::from_millis(earned_ms)
    }
}

/// The next piece of the body, or `None` at its end.
async fn next(
    body: &mut Incoming,
    deadline: &Deadline,
    received: usize,
) -> Result<Option<Bytes>, ApiError> {
    loop {
        let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context));
        let frame = tokio::time::timeout_at(deadline.after(received), frame).await;
        match frame {
            Err(_) => {
                return Err(ApiError::request_timeout(
                    "The request body came too slowly",
                ));
            }
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => {
                if let Ok(bytes) = frame.into_data() {
                    return Ok(Some(bytes));
                }
            }
            Ok(Some(Err(error))) => {
                let message = format!("The request body could not be read: {error}");
                return Err(ApiError::bad_request(message).closing());
            }
        }
    }
}
