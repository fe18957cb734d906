//! Rows of the sizes that graphs have.

use super::*;

/// Spreads numbers over all 64 bits, one to one.
pub(super) fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    bits ^ (bits >> 32)
}

pub(super) fn vertex_key(number: u64, ascending: bool) -> [u8; 24] {
    let mut key = [b'v'; 24];
    let first = if ascending { number } else { mix(number) };
    key[..8].copy_from_slice(&first.to_be_bytes());
    key
}

pub(super) fn edge_end(number: u64) -> [u8; 16] {
    let mut key = [b'e'; 16];
    key[..8].copy_from_slice(&mix(number).to_be_bytes());
    key
}

pub(super) fn edge_clustering(number: u64) -> [u8; 24] {
    let mut key = [b'c'; 24];
    key[8..16].copy_from_slice(&mix(number).to_be_bytes());
    key
}

/// A value that is half random, half repeated, as property values are.
pub(super) fn value<const N: usize>(number: u64) -> [u8; N] {
    let mut value = [0; N];
    for (at, chunk) in value.chunks_mut(16).enumerate() {
        let bytes = mix(number.wrapping_add(at as u64)).to_le_bytes();
        let length = chunk.len().min(8);
        chunk[..length].copy_from_slice(&bytes[..length]);
    }
    value
}

pub(super) fn vertices(batch: &mut Batch, from: u64, count: u64, ascending: bool) {
    for n in from..from + count {
        batch.put(VERTICES, &vertex_key(n, ascending), b"", &value::<120>(n));
    }
}

/// Edges whose ends are random among `ends` vertices.
pub(super) fn edges(batch: &mut Batch, from: u64, count: u64, ends: u64) {
    for n in from..from + count {
        let (source, target) = (mix(n) % ends, mix(n ^ 0x5555) % ends);
        batch.put(
            OUT,
            &edge_end(source),
            &edge_clustering(target),
            &value::<40>(n),
        );
        batch.put(
            IN,
            &edge_end(target),
            &edge_clustering(source),
            &value::<40>(n),
        );
    }
}
