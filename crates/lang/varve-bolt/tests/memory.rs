//! Messages that announce more than they have: reading allocates in proportion to the message.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use proptest::prelude::*;
use varve_bolt::packstream::{DEPTH_MAX, read};
use varve_bolt::{Request, Value, Version};

/// Counts the bytes that each thread allocates.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed to the system's allocator as it is, and the counter allocates
// nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.with(|bytes| bytes.set(bytes.get() + layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer was given out by `alloc`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that reading may allocate for each byte of a message.
const FACTOR: usize = 64;
/// For the text of an error.
const EXTRA: usize = 1024;

fn check(message: &[u8]) {
    let before = ALLOCATED.get();
    let is_read = read(message).is_ok();
    let _ = Request::read(message, Version::V5_8);
    let allocated = (ALLOCATED.get() - before) / 2;
    assert!(
        allocated <= FACTOR * message.len() + EXTRA,
        "{allocated} bytes for {} (read: {is_read})",
        message.len()
    );
}

#[test]
fn a_value_is_small() {
    assert_eq!(size_of::<Value>(), 32);
}

#[test]
fn announced_lengths_allocate_nothing_in_advance() {
    for marker in [0xCE, 0xD2, 0xD6, 0xDA] {
        check(&[marker, 0x7F, 0xFF, 0xFF, 0xFF]);
        check(&[marker, 0xFF, 0xFF, 0xFF, 0xFF]);
    }
    // Each level announces as many values as bytes are left.
    for marker in [0xD6, 0xDA] {
        let mut message = vec![0; 1 << 20];
        let mut place = 0;
        for _ in 0..DEPTH_MAX {
            let left = (message.len() - place - 5) as u32;
            let count = if marker == 0xDA { left / 2 } else { left };
            message[place] = marker;
            message[place + 1..place + 5].copy_from_slice(&count.to_be_bytes());
            place += 5;
            if marker == 0xDA {
                message[place..place + 2].copy_from_slice(b"\x81a");
                place += 2;
            }
        }
        check(&message);
    }
}

#[test]
fn small_values_take_a_bounded_multiple() {
    let nulls = [&[0xD6, 0, 1, 0, 0][..], &[0xC0; 1 << 16]].concat();
    check(&nulls);
    let mut keys = vec![0xD9, 0x40, 0];
    for key in 0..0x4000_u16 {
        keys.extend([0x82, (key & 0x7F) as u8, (key >> 7) as u8, 0xC0]);
    }
    assert!(read(&keys).is_ok());
    check(&keys);
    check(&[0x91; DEPTH_MAX]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_in_a_bounded_multiple(
        message in prop::collection::vec(
            prop_oneof![any::<u8>(), 0x80..=0xBF_u8, 0xC8..=0xDB_u8, 0..4_u8],
            0..400,
        ),
    ) {
        check(&message);
    }
}
