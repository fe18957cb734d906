//! A request's body is received, then opened for its handler. The body's size, the time to receive
//! it, and the memory of all bodies together are bounded.
//!
//! A body's content decides what memory it needs: some kilobytes of gzip may become many megabytes,
//! and a list of small numbers needs many times its text. So a second share covers the inflated
//! body and its values. It is taken before the values are allocated, and before a body of more than
//! 64 KiB is inflated. Plain bodies up to 16 KiB need no second share.

use std::fmt::Display;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use varve_session::budget::admission::{BodyShare, Gate, SMALL_BODY_BYTES};
use varve_session::budget::lanes::Lane;

use crate::config::ServerConfig;
use crate::errors::ApiError;
use crate::negotiate::{self, BodyEncoding};
use crate::route::{Class, Route};
use crate::state::AppState;

/// Bodies up to this size, both as sent and inflated, are inflated in place; larger ones on the
/// pool.
const INFLATE_INLINE_BYTES: usize = 64 * 1024;

/// The most bytes of a body for a control resource, which has no budget.
const CONTROL_BODY_BYTES: usize = 64 * 1024;

/// The estimated memory of one value that is read from JSON, in bytes.
const VALUE_BYTES: usize = 32;

/// The first guess of the memory of an inflated body and its values, in multiples of the declared
/// size.
const FIRST_GUESS: usize = 4;

/// A body as it was sent, and its share of the byte budget.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) bytes: Bytes,
    pub(crate) share: BodyShare,
}

/// A body without compression, and its share for the memory of its content and values; `None` if it
/// is small or has no budget.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    pub(crate) bytes: Bytes,
    pub(crate) share: Option<OwnedSemaphorePermit>,
}

/// The most bytes of a body of this resource. The limit holds for the body as sent, and for the
/// inflated body.
pub(crate) fn limit(config: &ServerConfig, route: &Route) -> usize {
    match (route.class, route.batch) {
        (Class::Control, _) => CONTROL_BODY_BYTES.min(config.max_body_bytes),
        (_, true) => config.max_batch_body_bytes,
        (_, false) => config.max_body_bytes,
    }
}

/// Inflates a body if it is compressed, and takes its second share. 413 if it is too large or its
/// values are, 400 if it is not valid gzip, 503 if the budget has no room in time.
pub(crate) async fn open(
    state: &AppState,
    route: &Route,
    encoding: BodyEncoding,
    bytes: Bytes,
) -> Result<Opened, ApiError> {
    let gate = state.admission().gate(route.class);
    match encoding {
        BodyEncoding::Gzip => inflate(state, route, gate, bytes).await,
        BodyEncoding::Identity => charged(gate, bytes).await,
    }
}

/// Charges the content and values of a plain body, unless it is small or has no budget.
async fn charged(gate: Option<&Gate>, bytes: Bytes) -> Result<Opened, ApiError> {
    let share = match gate {
        Some(gate) if bytes.len() > SMALL_BODY_BYTES => {
            Some(gate.reserve_work(work_bytes(&bytes)).await?)
        }
        _ => None,
    };
    Ok(Opened { bytes, share })
}

/// Inflates a body: in place if the result is small, otherwise on the pool, once the budget has
/// room.
async fn inflate(
    state: &AppState,
    route: &Route,
    gate: Option<&Gate>,
    packed: Bytes,
) -> Result<Opened, ApiError> {
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
    // A pass that inflates the whole body but lacks room for its values gives the next pass the
    // exact need. A body that declares too little may need a third pass.
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
                // The excess is given back.
                drop(share.as_mut().and_then(|share| share.split(room - needed)));
                return Ok(Opened { bytes, share });
            }
            Ok((_, needed)) => room = needed,
            Err(error) if is_larger(&error) && most < limit => room = limit,
            Err(error) => return Err(error),
        }
    }
}

/// The estimated memory of a parsed body, in bytes: a copy of its texts, and its values, of which
/// each comma counts as one.
fn work_bytes(body: &[u8]) -> usize {
    // The commas are counted in pieces whose counts fit a byte: compilers vectorise that.
    let commas = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte == b',')).sum::<u8>();
    let values: usize = body
        .chunks(usize::from(u8::MAX))
        .map(|piece| usize::from(commas(piece)))
        .sum();
    body.len() + values * VALUE_BYTES
}

/// Receives a body of at most `limit` bytes. A body that announces more is refused before any of it
/// is read. A body of at most `free` bytes is not charged; a longer one is charged in full.
///
/// The announced length is not charged before it arrives: a body's share is at most twice the bytes
/// received so far. So a client that announces much and sends little holds little. Once the body is
/// whole, its share is its length. If the budget has no room for more than the bytes received, the
/// share is that much, and the buffer still doubles: it would be copied for each piece otherwise.
///
/// # Errors
/// 413 for a longer body, 408 for one that arrives too slowly, 400 for one that cannot be read, 503
/// if the budget has no room in time.
pub(crate) async fn receive<B>(
    mut body: B,
    limit: usize,
    free: usize,
    gate: Option<&Gate>,
    config: &ServerConfig,
) -> Result<Received, ApiError>
where
    B: Body<Data = Bytes, Error: Display> + Unpin,
{
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        return Err(ApiError::body_too_large(limit));
    }
    let mut received = Received::default();
    // The hint is exact for a body with a declared length. It is at most `limit`, so it fits.
    let mut most = hint.exact().map_or(limit, |bytes| bytes as usize);
    let deadline = Deadline::start(config);
    let Some(first) = next(&mut body, &deadline, 0).await? else {
        return Ok(received);
    };
    let is_whole = body.is_end_stream();
    if is_whole {
        most = first.len();
    }
    let mut whole = Vec::new();
    let mut piece = Some(first);
    while let Some(bytes) = piece {
        let arrived = whole.len() + bytes.len();
        if arrived > limit {
            return Err(ApiError::body_too_large(limit));
        }
        let wanted = (2 * arrived).min(most);
        if let Some(gate) = gate.filter(|_| arrived > free) {
            gate.grow(&mut received.share, arrived, wanted).await?;
        }
        if is_whole {
            received.bytes = bytes;
            return Ok(received);
        }
        if whole.capacity() < arrived {
            whole.reserve_exact(wanted - whole.len());
        }
        whole.extend_from_slice(&bytes);
        piece = next(&mut body, &deadline, whole.len()).await?;
    }
    // The memory is given back before its share is.
    whole.shrink_to_fit();
    received.share.shrink(whole.len());
    received.bytes = whole.into();
    Ok(received)
}

/// The deadline of each piece of a body. Every received byte extends it.
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

    /// The instant by which the next piece must arrive, after `received` bytes.
    fn after(&self, received: usize) -> Instant {
        let earned_ms = received as u64 * 1000 / self.bytes_per_second;
        self.start + self.grace + Duration::from_millis(earned_ms)
    }
}

/// The next piece of the body, or `None` at its end. 408 after the deadline, 400 if the body cannot
/// be read.
async fn next<B>(
    body: &mut B,
    deadline: &Deadline,
    received: usize,
) -> Result<Option<Bytes>, ApiError>
where
    B: Body<Data = Bytes, Error: Display> + Unpin,
{
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
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::task::{Context, Poll};

    use bytes::BytesMut;
    use http_body::{Frame, SizeHint};

    use super::*;
    use varve_session::budget::admission::Admission;

    /// A body that arrives in pieces.
    struct Pieces {
        left: VecDeque<Bytes>,
        announced: Option<u64>,
        /// Whether the end is known with the last piece, as in HTTP/2, or after it, as with chunks.
        ends_with_last: bool,
    }

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.left.pop_front().map(|piece| Ok(Frame::data(piece))))
        }

        fn is_end_stream(&self) -> bool {
            self.ends_with_last && self.left.is_empty()
        }

        fn size_hint(&self) -> SizeHint {
            self.announced
                .map_or_else(SizeHint::new, SizeHint::with_exact)
        }
    }

    /// Receives pieces of these lengths. Returns the share of the body and the bytes that its
    /// buffer holds.
    async fn received(
        pieces: &[usize],
        is_announced: bool,
        ends_with_last: bool,
    ) -> (usize, usize) {
        let config = ServerConfig::default();
        let admission = Admission::new(&config.admission_limits());
        let gate = admission.writes();
        let length: usize = pieces.iter().sum();
        let body = Pieces {
            left: pieces
                .iter()
                .map(|piece| vec![b'1'; *piece].into())
                .collect(),
            announced: is_announced.then_some(length as u64),
            ends_with_last,
        };
        let received = receive(body, 1 << 20, 0, Some(gate), &config).await;
        let received = received.expect("a body");
        assert_eq!(received.bytes, vec![b'1'; length]);
        assert_eq!(gate.bytes_held(), received.share.bytes());
        let held = BytesMut::from(received.bytes).capacity();
        (received.share.bytes(), held)
    }

    #[tokio::test]
    async fn a_whole_body_is_charged_for_what_it_holds() {
        let cases: [&[usize]; 4] = [
            &[40_000],
            &[30_000, 31_000, 39_000],
            &[10, 100_000, 1],
            &[1; 1_000],
        ];
        for pieces in cases {
            let length: usize = pieces.iter().sum();
            for (is_announced, ends_with_last) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let taken = received(pieces, is_announced, ends_with_last).await;
                assert_eq!(
                    taken,
                    (length, length),
                    "{pieces:?}, {is_announced}, {ends_with_last}"
                );
            }
        }
    }

    #[test]
    fn many_small_values_take_more_than_their_text() {
        let list = [b"[".as_slice(), &b"1,".repeat(1000), b"1]"].concat();
        assert_eq!(work_bytes(&list), list.len() + 1000 * VALUE_BYTES);
        let text = [b'a'; 1000];
        assert_eq!(work_bytes(&text), 1000);
        assert_eq!(work_bytes(b""), 0);
    }
}
