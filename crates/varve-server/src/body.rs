//! A request's body: received, and opened for whoever works on it; bounded in size, in time and in the memory of all requests
//! together.
//!
//! What a body takes depends on what is in it: some kilobytes of gzip may become many megabytes, and a list of small numbers
//! takes many times its text. So a second share covers the inflated body and its values, and is taken before they are made.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::admission::{Gate, SMALL_BODY_BYTES};
use crate::blocking::Lane;
use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::negotiate::{self, BodyEncoding};
use crate::route::{Class, Route};
use crate::state::AppState;

/// Bodies up to this size after decompression are decompressed in place; larger ones on the pool.
const INFLATE_INLINE_BYTES: usize = 64 * 1024;

/// Bytes of a body for a resource about the server itself, which has no budget.
const CONTROL_BODY_BYTES: usize = 64 * 1024;

/// Bytes that each value takes once it is read from JSON, about.
const VALUE_BYTES: usize = 32;

/// How much larger than itself an inflated body and its values are, first guess.
const FIRST_GUESS: usize = 4;

/// A body and the share of the byte budget that it holds.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) bytes: Bytes,
    pub(crate) share: Option<OwnedSemaphorePermit>,
}

/// Bytes that the body of a request to this resource may have, as sent and inflated.
pub(crate) fn limit(config: &ServerConfig, route: &Route) -> usize {
    match (route.class, route.batch) {
        (Class::Control, _) => CONTROL_BODY_BYTES.min(config.max_body_bytes),
        (_, true) => config.max_batch_body_bytes,
        (_, false) => config.max_body_bytes,
    }
}

/// A body as it was sent, ready to be worked on.
pub(crate) async fn open(
    state: &AppState,
    route: &Route,
    encoding: BodyEncoding,
    bytes: Bytes,
) -> Result<Held, ApiError> {
    let gate = state.admission().gate(route.class);
    match encoding {
        BodyEncoding::Gzip => inflate(state, route, gate, bytes).await,
        BodyEncoding::Identity => charged(gate, bytes).await,
    }
}

/// A body and the share that its values take.
async fn charged(gate: Option<&Gate>, bytes: Bytes) -> Result<Held, ApiError> {
    let share = match gate {
        Some(gate) if bytes.len() > SMALL_BODY_BYTES => {
            Some(gate.reserve_work(work_bytes(&bytes)).await?)
        }
        _ => None,
    };
    Ok(Held { bytes, share })
}

/// Inflates a body: in place if it turns out to be small, else on the pool, once there is room for it.
async fn inflate(
    state: &AppState,
    route: &Route,
    gate: Option<&Gate>,
    packed: Bytes,
) -> Result<Held, ApiError> {
    let limit = limit(state.config(), route);
    let is_larger = |error: &ApiError| error.status() == StatusCode::PAYLOAD_TOO_LARGE;
    if packed.len() <= INFLATE_INLINE_BYTES {
        let small = negotiate::gunzip(&packed, limit.min(INFLATE_INLINE_BYTES));
        if limit <= INFLATE_INLINE_BYTES || !small.as_ref().is_err_and(is_larger) {
            return charged(gate, small?).await;
        }
    }
    let most = gate.map_or(limit, Gate::work_max);
    let declared = negotiate::declared_size(&packed).min(limit);
    let mut room = (FIRST_GUESS * declared).max(INFLATE_INLINE_BYTES).min(most);
    // The second time what it takes is known, but for a body that declares too little: the third time then.
    loop {
        let mut share = match gate {
            Some(gate) => Some(gate.reserve_work(room).await?),
            None => None,
        };
        let (again, most) = (packed.clone(), limit.min(room));
        let inflating = move || {
            let plain = negotiate::gunzip(&again, most)?;
            let needed = plain.len() + work_bytes(&plain);
            Ok::<_, ApiError>((plain, needed))
        };
        let lane = Lane::of(route.class);
        match state.run_beside(lane, inflating).await? {
            Ok((bytes, needed)) if needed <= room => {
                // What is left over is given back.
                drop(share.as_mut().and_then(|share| share.split(room - needed)));
                return Ok(Held { bytes, share });
            }
            Ok((_, needed)) => room = needed,
            Err(error) if is_larger(&error) && most < limit => room = limit,
            Err(error) => return Err(error),
        }
    }
}

/// What is made of a body while it is worked on, about: a copy of its texts, and its values.
fn work_bytes(body: &[u8]) -> usize {
    // In pieces whose counts fit a byte, which compilers make few instructions of.
    let commas = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte == b',')).sum::<u8>();
    let values: usize = body
        .chunks(usize::from(u8::MAX))
        .map(|piece| usize::from(commas(piece)))
        .sum();
    body.len() + values * VALUE_BYTES
}

/// Receives a body of at most `limit` bytes. Refuses one that says it is larger before reading any of it. The first `free`
/// bytes need no share.
pub(crate) async fn receive(
    mut body: Incoming,
    limit: usize,
    free: usize,
    gate: Option<&Gate>,
    config: &ServerConfig,
) -> Result<Held, ApiError> {
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        return Err(ApiError::body_too_large(limit));
    }
    let mut received = Held::default();
    // The hint is exact for a body with a length, and below the limit, so it fits.
    let announced = hint.exact().map_or(0, |bytes| bytes as usize);
    grow_share(&mut received.share, announced, free, gate).await?;
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
        grow_share(&mut received.share, whole.len() + bytes.len(), free, gate).await?;
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
    free: usize,
    gate: Option<&Gate>,
) -> Result<(), ApiError> {
    let held = share
        .as_ref()
        .map_or(free, OwnedSemaphorePermit::num_permits);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_values_take_more_than_their_text() {
        let list = [b"[".as_slice(), &b"1,".repeat(1000), b"1]"].concat();
        assert_eq!(work_bytes(&list), list.len() + 1000 * VALUE_BYTES);
        let text = [b'a'; 1000];
        assert_eq!(work_bytes(&text), 1000);
        assert_eq!(work_bytes(b""), 0);
    }
}
