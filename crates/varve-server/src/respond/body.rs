//! The body of an answer: one piece, several pieces that are never joined, or pieces that are made
//! while the answer is sent.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use futures_util::Stream;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;

use crate::answers::Sending;
use crate::runtime::ConnectionState;
use crate::state::WorkerHandle;

/// Why a body ends early: its next piece could not be made. The connection is cut, so that the
/// client does not take the part for the whole.
#[derive(Debug, thiserror::Error)]
#[error("the answer was cut: {0}")]
pub struct Cut(pub String);

/// Pieces that are made while earlier ones are sent.
type Pieces = dyn Stream<Item = Result<Bytes, Cut>> + Send;

/// The bytes of an answer. While it is sent, each piece is released once it was sent.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// Empty only when there is nothing more.
    first: Bytes,
    /// Most answers have one piece.
    rest: Option<Box<Rest>>,
    /// Counts the bytes that are sent, if the answer is counted.
    sending: Option<Arc<Sending>>,
    /// The pieces that are not made yet.
    more: Option<Arc<More>>,
}

/// The pieces of a body that are not made yet.
struct More {
    pieces: Mutex<Pin<Box<Pieces>>>,
    /// The connection that sends them, which is not idle until the last one is sent.
    sender: Mutex<Option<Sender>>,
}

/// The serving thread and the connection that send a body.
type Sender = (Arc<WorkerHandle>, Arc<ConnectionState>);

impl More {
    /// A piece, charged to the budget of answers: the client must read each in time.
    fn counted(&self, piece: Bytes) -> Result<Body, Cut> {
        let size = piece.len();
        let mut body = Body::from(piece);
        if let Some((worker, connection)) = &*self.sender.lock() {
            let mut share = worker.state.answers().share(false);
            if !share.reach(size) {
                return Err(Cut(
                    "there is no room for it beside other answers".to_owned()
                ));
            }
            body.count_in(worker.underway.add(share, connection));
        }
        Ok(body)
    }
}

impl std::fmt::Debug for More {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("More").finish_non_exhaustive()
    }
}

impl Drop for More {
    fn drop(&mut self) {
        if let Some((_, connection)) = self.sender.lock().take() {
            connection.request_ended();
        }
    }
}

#[derive(Debug, Clone)]
struct Rest {
    /// None is empty.
    pieces: VecDeque<Bytes>,
    length: usize,
}

impl Body {
    /// A body whose pieces are made while it is sent.
    pub(crate) fn streamed(
        pieces: impl Stream<Item = Result<Bytes, Cut>> + Send + 'static,
    ) -> Self {
        let more = More {
            pieces: Mutex::new(Box::pin(pieces)),
            sender: Mutex::new(None),
        };
        Self {
            more: Some(Arc::new(more)),
            ..Self::default()
        }
    }

    /// Whether pieces are still to be made.
    pub(crate) const fn is_streamed(&self) -> bool {
        self.more.is_some()
    }

    /// Sets the connection that sends the pieces. It is not idle while they are made.
    pub(crate) fn sent_by(&self, worker: &Arc<WorkerHandle>, connection: &Arc<ConnectionState>) {
        if let Some(more) = &self.more {
            connection.request_started();
            *more.sender.lock() = Some((Arc::clone(worker), Arc::clone(connection)));
        }
    }

    /// Sets the counter of the bytes that are sent.
    pub(crate) fn count_in(&mut self, sending: Arc<Sending>) {
        self.sending = Some(sending);
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first.len() + self.rest.as_ref().map_or(0, |rest| rest.length)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Its pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        let rest = self.rest.iter().flat_map(|rest| &rest.pieces);
        std::iter::once(&self.first).chain(rest)
    }

    fn next_piece(&mut self) {
        self.first = Bytes::new();
        let Some(rest) = &mut self.rest else {
            return;
        };
        match rest.pieces.pop_front() {
            Some(next) => {
                rest.length -= next.len();
                self.first = next;
            }
            None => self.rest = None,
        }
    }
}

impl<B: Into<Bytes>> From<B> for Body {
    fn from(piece: B) -> Self {
        Self {
            first: piece.into(),
            rest: None,
            sending: None,
            more: None,
        }
    }
}

impl FromIterator<Bytes> for Body {
    fn from_iter<I: IntoIterator<Item = Bytes>>(pieces: I) -> Self {
        let mut pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
        let first = pieces.next().unwrap_or_default();
        let pieces: VecDeque<Bytes> = pieces.collect();
        let length = pieces.iter().map(Bytes::len).sum();
        let rest = (!pieces.is_empty()).then(|| Box::new(Rest { pieces, length }));
        Self {
            first,
            rest,
            sending: None,
            more: None,
        }
    }
}

impl Buf for Body {
    fn remaining(&self) -> usize {
        self.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.first
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        let pieces = self.pieces().filter(|piece| !piece.is_empty());
        for (slice, piece) in slices.iter_mut().zip(pieces) {
            *slice = IoSlice::new(piece);
            count += 1;
        }
        count
    }

    fn advance(&mut self, mut count: usize) {
        if let Some(sending) = &self.sending {
            sending.took(count);
        }
        while count >= self.first.len() && !self.first.is_empty() {
            count -= self.first.len();
            self.next_piece();
        }
        self.first.advance(count);
    }
}

impl http_body::Body for Body {
    type Data = Self;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self>, Cut>>> {
        let more = self.more.take();
        let all = std::mem::take(&mut *self);
        self.more = more;
        if !all.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(all))));
        }
        let Some(more) = self.more.as_ref().map(Arc::clone) else {
            return Poll::Ready(None);
        };
        let next = more.pieces.lock().as_mut().poll_next(context);
        let Poll::Ready(next) = next else {
            return Poll::Pending;
        };
        let piece = next.map(|next| next.and_then(|piece| more.counted(piece)));
        if !matches!(piece, Some(Ok(_))) {
            self.more = None;
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_empty() && self.more.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.more {
            None => SizeHint::with_exact(self.len() as u64),
            Some(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pieces: &[&'static str]) -> Body {
        pieces.iter().map(|piece| Bytes::from(*piece)).collect()
    }

    fn in_slices(body: &Body, most: usize) -> Vec<u8> {
        let mut slices = vec![IoSlice::new(&[]); most];
        let count = body.chunks_vectored(&mut slices);
        let left: Vec<&[u8]> = slices[..count].iter().map(|slice| &**slice).collect();
        left.concat()
    }

    #[test]
    fn the_rest_is_written_wherever_it_is_cut() {
        let all = of(&["ab", "", "c", "defg", ""]);
        assert_eq!((all.len(), all.pieces().count()), (7, 3));
        for cut in 0..=7 {
            for again in 0..=7 - cut {
                let mut left = all.clone();
                left.advance(cut);
                left.advance(again);
                let text = &b"abcdefg"[cut + again..];
                assert_eq!(
                    (left.remaining(), left.is_empty()),
                    (text.len(), text.is_empty())
                );
                assert_eq!(in_slices(&left, 8), text);
                assert!(text.starts_with(&in_slices(&left, 2)));
                assert_eq!(left.copy_to_bytes(left.remaining()), text);
                assert!(left.is_empty() && left.rest.is_none());
            }
        }
    }

    #[test]
    fn it_is_one_frame_of_known_length() {
        let mut body = of(&["ab", "c"]);
        let hint = http_body::Body::size_hint(&body);
        assert_eq!(hint.exact(), Some(3));
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut next = || http_body::Body::poll_frame(Pin::new(&mut body), &mut context);
        let Poll::Ready(Some(Ok(frame))) = next() else {
            panic!("there is a frame");
        };
        let mut data = frame.into_data().expect("data");
        assert_eq!(data.copy_to_bytes(3), "abc");
        assert!(matches!(next(), Poll::Ready(None)));
        assert!(Body::from("").is_empty() && of(&[""]).is_empty());
    }
}
