//! Splits large frames of a client into fragments.
//!
//! The codec reserves the length that the head of a frame names before the payload arrives: a
//! client that sends ten bytes would make the server allocate megabytes. So the codec gets a frame
//! of more than [`PIECE_BYTES`] as several fragments, as the client might have sent it (RFC 6455,
//! 5.4), and a message takes memory only as it arrives. A frame longer than the longest message is
//! passed on unchanged: the codec refuses it at its head.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use varve_session::budget::admission::SMALL_BODY_BYTES;

/// The longest payload of a fragment, in bytes: this size is not charged.
const PIECE_BYTES: usize = SMALL_BODY_BYTES;
/// The size of a read where a head is expected, in bytes.
const READ_BYTES: usize = 4 * 1024;
/// The longest head: two bytes, a length of eight, a mask.
const HEAD_BYTES_MAX: usize = 14;
/// In the first byte of a head: the frame is the last of its message.
const LAST: u8 = 0x80;
/// In the second byte: a mask follows.
const MASKED: u8 = 0x80;
/// In the second byte: the length is in the next two or eight bytes.
const LENGTH_OF_2: u8 = 126;
const LENGTH_OF_8: u8 = 127;

/// The frames of one client.
pub(super) struct Fragments {
    /// The longest frame that is split.
    frame_bytes_max: u64,
    /// Bytes that have arrived and are not passed on: `input[begin..end]`.
    input: Box<[u8; READ_BYTES]>,
    begin: usize,
    end: usize,
    /// The head that is being passed on.
    head: Vec<u8>,
    head_begin: usize,
    /// Bytes of the fragment's payload that follow the head.
    piece: u64,
    /// The rest of the frame, after this fragment.
    rest: Frame,
    /// Bytes that have arrived in all.
    pub(super) arrived: u64,
}

/// A frame, or the rest of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    /// The first byte of its head.
    first: u8,
    mask: Option<[u8; 4]>,
    /// Bytes of its payload.
    length: u64,
}

impl Frame {
    /// No frame.
    const NONE: Self = Self {
        first: 0,
        mask: None,
        length: 0,
    };

    /// The frame whose head these bytes begin with, and the length of the head; `None` if the head
    /// is incomplete.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let [first, second, rest @ ..] = bytes else {
            return None;
        };
        let (length, rest) = match second & !MASKED {
            LENGTH_OF_2 => {
                let (length, rest) = rest.split_first_chunk()?;
                (u64::from(u16::from_be_bytes(*length)), rest)
            }
            LENGTH_OF_8 => {
                let (length, rest) = rest.split_first_chunk()?;
                (u64::from_be_bytes(*length), rest)
            }
            length => (u64::from(length), rest),
        };
        let (mask, rest) = match second & MASKED {
            0 => (None, rest),
            _ => {
                let (mask, rest) = rest.split_first_chunk()?;
                (Some(*mask), rest)
            }
        };
        let frame = Self {
            first: *first,
            mask,
            length,
        };
        Some((frame, bytes.len() - rest.len()))
    }

    fn put_head(&self, out: &mut Vec<u8>) {
        let masked = self.mask.map_or(0, |_| MASKED);
        out.push(self.first);
        match (u8::try_from(self.length), u16::try_from(self.length)) {
            (Ok(length), _) if length < LENGTH_OF_2 => out.push(masked | length),
            (_, Ok(length)) => {
                out.push(masked | LENGTH_OF_2);
                out.extend_from_slice(&length.to_be_bytes());
            }
            _ => {
                out.push(masked | LENGTH_OF_8);
                out.extend_from_slice(&self.length.to_be_bytes());
            }
        }
        out.extend_from_slice(self.mask.as_ref().map_or(&[], |mask| mask));
    }

    /// The first fragment, and the rest. The mask of the rest is the same, since the length of a
    /// fragment is a multiple of the mask's.
    fn split(self) -> (Self, Self) {
        let piece = PIECE_BYTES as u64;
        if self.length <= piece {
            return (self, Self::NONE);
        }
        let first = Self {
            first: self.first & !LAST,
            length: piece,
            ..self
        };
        let rest = Self {
            // A continuation.
            first: self.first & LAST,
            length: self.length - piece,
            ..self
        };
        (first, rest)
    }
}

impl Fragments {
    /// The fragments of a client whose messages may have at most this many bytes.
    pub(super) fn new(message_bytes_max: usize) -> Self {
        Self {
            frame_bytes_max: message_bytes_max as u64,
            input: Box::new([0; READ_BYTES]),
            begin: 0,
            end: 0,
            head: Vec::with_capacity(HEAD_BYTES_MAX),
            head_begin: 0,
            piece: 0,
            rest: Frame::NONE,
            arrived: 0,
        }
    }

    /// Reads the fragments for the codec.
    pub(super) fn poll_read<R: AsyncRead + Unpin>(
        &mut self,
        io: &mut R,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = out.filled().len();
        loop {
            self.hand_on(out);
            if out.filled().len() > before || out.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            if self.piece > 0 {
                return self.poll_payload(io, context, out);
            }
            if ready!(self.poll_input(io, context))? == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Passes on heads and payload that have arrived, as far as `out` has space.
    fn hand_on(&mut self, out: &mut ReadBuf<'_>) {
        loop {
            let head = &self.head[self.head_begin..];
            let bytes = head.len().min(out.remaining());
            out.put_slice(&head[..bytes]);
            self.head_begin += bytes;
            if self.head_begin < self.head.len() {
                return;
            }
            self.head.clear();
            self.head_begin = 0;
            let arrived = &self.input[self.begin..self.end];
            let piece = usize::try_from(self.piece).unwrap_or(usize::MAX);
            let bytes = arrived.len().min(piece).min(out.remaining());
            out.put_slice(&arrived[..bytes]);
            self.begin += bytes;
            self.piece -= bytes as u64;
            if self.piece > 0 || !self.next_head() {
                return;
            }
        }
    }

    /// Builds the next head, if all of it has arrived.
    fn next_head(&mut self) -> bool {
        let mut frame = self.rest;
        if frame == Frame::NONE {
            let Some((read, bytes)) = Frame::read(&self.input[self.begin..self.end]) else {
                return false;
            };
            self.begin += bytes;
            frame = read;
        }
        let (piece, rest) = match frame.length <= self.frame_bytes_max {
            true => frame.split(),
            false => (frame, Frame::NONE),
        };
        piece.put_head(&mut self.head);
        self.piece = piece.length;
        self.rest = rest;
        true
    }

    /// Reads into `input`, where a head is expected.
    fn poll_input<R: AsyncRead + Unpin>(
        &mut self,
        io: &mut R,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        // Less than a head is left.
        self.input.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        let mut room = ReadBuf::new(&mut self.input[self.end..]);
        ready!(Pin::new(io).poll_read(context, &mut room))?;
        let bytes = room.filled().len();
        self.end += bytes;
        self.arrived += bytes as u64;
        Poll::Ready(Ok(bytes))
    }

    /// Reads payload directly into `out`.
    fn poll_payload<R: AsyncRead + Unpin>(
        &mut self,
        io: &mut R,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let piece = usize::try_from(self.piece).unwrap_or(usize::MAX);
        let most = piece.min(out.remaining());
        let mut room = ReadBuf::new(out.initialize_unfilled_to(most));
        ready!(Pin::new(io).poll_read(context, &mut room))?;
        let bytes = room.filled().len();
        out.advance(bytes);
        self.piece -= bytes as u64;
        self.arrived += bytes as u64;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that sends so many bytes at a time.
    struct Client<'c>(&'c [u8], usize);

    impl AsyncRead for Client<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            out: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let bytes = self.0.len().min(self.1).min(out.remaining());
            let (now, later) = self.0.split_at(bytes);
            out.put_slice(now);
            self.0 = later;
            Poll::Ready(Ok(()))
        }
    }

    /// What the codec sees, read so many bytes at a time.
    fn seen(sent: &[u8], at_once: usize, room: usize) -> Vec<u8> {
        let mut fragments = Fragments::new(1 << 20);
        let mut client = Client(sent, at_once);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut all = Vec::new();
        loop {
            let mut bytes = vec![0; room];
            let mut out = ReadBuf::new(&mut bytes);
            let read = fragments.poll_read(&mut client, &mut context, &mut out);
            assert!(matches!(read, Poll::Ready(Ok(()))));
            if out.filled().is_empty() {
                assert_eq!(fragments.arrived as usize, sent.len());
                return all;
            }
            all.extend_from_slice(out.filled());
        }
    }

    fn frame(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let frame = Frame {
            first,
            mask,
            length: payload.len() as u64,
        };
        frame.put_head(&mut bytes);
        bytes.extend_from_slice(payload);
        bytes
    }

    /// The frames in these bytes, each with its payload.
    fn frames(mut bytes: &[u8]) -> Vec<(Frame, &[u8])> {
        let mut frames = Vec::new();
        while let Some((frame, head)) = Frame::read(bytes) {
            let (payload, rest) = bytes[head..].split_at(frame.length as usize);
            frames.push((frame, payload));
            bytes = rest;
        }
        assert!(bytes.is_empty());
        frames
    }

    #[test]
    fn small_frames_are_seen_as_they_came() {
        let mask = Some([1, 2, 3, 4]);
        let sent = [
            frame(0x82, mask, b""),
            frame(0x89, mask, b"ping"),
            frame(0x01, mask, &[7; 300]),
            frame(0x80, None, &[8; PIECE_BYTES]),
        ]
        .concat();
        for (at_once, room) in [(1, 1), (3, 7), (5_000, 100), (100, 5_000), (100_000, 8_192)] {
            assert_eq!(seen(&sent, at_once, room), sent, "{at_once} {room}");
        }
    }

    #[test]
    fn a_large_frame_is_seen_as_fragments_of_one_message() {
        let payload: Vec<u8> = (0..3 * PIECE_BYTES + 5).map(|at| at as u8).collect();
        let mask = Some([9, 8, 7, 6]);
        let sent = [frame(0x82, mask, &payload), frame(0x81, mask, b"next")].concat();
        for (at_once, room) in [(1, 1), (100, 7), (5_000, 100), (100_000, 8_192)] {
            let seen = seen(&sent, at_once, room);
            let frames = frames(&seen);
            let firsts: Vec<u8> = frames.iter().map(|(frame, _)| frame.first).collect();
            assert_eq!(firsts, [0x02, 0x00, 0x00, 0x80, 0x81]);
            assert!(frames.iter().all(|(frame, _)| frame.mask == mask));
            let pieces: Vec<&[u8]> = frames[..4].iter().map(|(_, payload)| *payload).collect();
            assert!(pieces.concat() == payload && frames[4].1 == b"next");
        }
    }

    #[test]
    fn a_fragment_that_is_not_the_last_stays_one() {
        let sent = frame(0x02, None, &[1; PIECE_BYTES + 1]);
        let seen = seen(&sent, 4_096, 4_096);
        let firsts: Vec<u8> = frames(&seen).iter().map(|(frame, _)| frame.first).collect();
        assert_eq!(firsts, [0x02, 0x00]);
    }

    #[test]
    fn a_frame_larger_than_a_message_is_refused_at_its_head() {
        let mut head = vec![0x82, 0x80 | LENGTH_OF_8];
        head.extend_from_slice(&u64::MAX.to_be_bytes());
        head.extend_from_slice(&[0; 4]);
        assert_eq!(seen(&head, 3, 100), head);
    }
}
