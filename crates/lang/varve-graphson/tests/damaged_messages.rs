//! Damaged messages of drivers: flipped bits, and parts removed, duplicated and mixed. No message
//! makes the decoders or the conversion to the syntax tree panic. What can still be read is written
//! and read again.
//!
//! `VARVE_FUZZ_ROUNDS` sets the number of messages, `VARVE_FUZZ_SEED` the seed. A failure prints
//! both.

use varve_graphson::{
    Format, Frame, VALUES_MAX, Value, graphbinary, graphson, read_request, read_response,
};
use varve_gremlin::bytecode::from_bytecode;

const FIXTURES: &str = include_str!("fixtures/gremlinpython.tsv");

/// Takes about a second.
const ROUNDS_DEFAULT: u64 = 20_000;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn part(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(bytes.len() + 1);
        let length = if self.below(4) == 0 { bytes.len() } else { 8 };
        start..(start + self.below(length + 1)).min(bytes.len())
    }

    fn damage(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let part = self.part(bytes);
        match self.below(6) {
            0 => drop(bytes.drain(part)),
            1 => {
                let copy = bytes[part.clone()].to_vec();
                bytes.splice(part.start..part.start, copy);
            }
            2 => {
                let from = self.part(other);
                bytes.splice(part, other[from].iter().copied());
            }
            3 => bytes.truncate(part.end),
            _ if bytes.is_empty() => {}
            4 => {
                let place = self.below(bytes.len());
                bytes[place] ^= 1 << self.below(8);
            }
            _ => {
                let place = self.below(bytes.len());
                bytes[place] = [0, 1, 0x7F, 0x80, 0xFF, b'"', b'[', b'{'][self.below(8)];
            }
        }
    }
}

/// The messages of the fixtures with their formats. The mime type of request frames is removed.
fn messages() -> Vec<(Format, Vec<u8>)> {
    let bytes = |digits: &str| -> Vec<u8> {
        let byte = |pair| {
            let digits = std::str::from_utf8(pair).expect("ASCII");
            u8::from_str_radix(digits, 16).expect("two digits")
        };
        digits.as_bytes().chunks(2).map(byte).collect()
    };
    let mut messages = Vec::new();
    for line in FIXTURES.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        if parts[0].starts_with("request ") {
            for frame in [bytes(parts[1]), bytes(parts[2])] {
                let frame = Frame::split(&frame).expect("a frame");
                let (format, message) = (frame.format().expect("known"), frame.message);
                messages.push((format, message.to_vec()));
            }
            continue;
        }
        messages.push((Format::GraphSon, parts[1].as_bytes().to_vec()));
        if parts[2] != "-" {
            messages.push((Format::GraphBinary, bytes(parts[2])));
        }
    }
    messages
}

fn check(format: Format, bytes: &[u8]) {
    let _ = read_request(format, bytes, VALUES_MAX);
    let _ = read_response(format, bytes);
    let read = match format {
        Format::GraphSon => graphson::read(bytes),
        Format::GraphBinary => graphbinary::read(bytes),
    };
    let Ok(value) = read else { return };
    let mut written = Vec::new();
    format.write(&value, &mut written);
    let again = match format {
        Format::GraphSon => graphson::read(&written),
        Format::GraphBinary => graphbinary::read(&written),
    };
    let again = again.expect("what was written is read");
    let mut rewritten = Vec::new();
    format.write(&again, &mut rewritten);
    assert!(rewritten == written, "what was written is written again");
    if let Value::Bytecode(bytecode) = value
        && let Ok(bytecode) = bytecode.into_gremlin()
    {
        let _ = from_bytecode(bytecode).map(|tree| tree.to_string());
    }
}

fn number_from(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => default,
    }
}

#[test]
fn damaged_messages_never_panic_and_what_is_read_survives() {
    let rounds = number_from("VARVE_FUZZ_ROUNDS", ROUNDS_DEFAULT);
    let seed = number_from("VARVE_FUZZ_SEED", 2026);
    let messages = messages();
    let mut random = Random(seed);
    for round in 0..rounds {
        let (format, mut bytes) = messages[random.below(messages.len())].clone();
        for _ in 0..=random.below(3) {
            let (_, other) = &messages[random.below(messages.len())];
            random.damage(&mut bytes, other);
        }
        let outcome = std::panic::catch_unwind(|| check(format, &bytes));
        assert!(
            outcome.is_ok(),
            "VARVE_FUZZ_SEED={seed}, round {round}, {format:?} {bytes:02x?}"
        );
    }
}
