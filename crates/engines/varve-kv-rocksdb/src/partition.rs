//! The prefix extractor of a table: tells RocksDB where the partition key of a row's key ends, so
//! that its Bloom filters can contain partition keys.
//!
//! The Rust binding of RocksDB accepts only functions without state, but the extractor needs the
//! [`TableSpec::partition_len`] of its table. So this module registers the callbacks itself, and
//! their state contains that function.

use std::ffi::{CString, c_char, c_uchar, c_void};
use std::slice;

use rust_librocksdb_sys as ffi;
use rust_rocksdb::SliceTransform;
use varve_kv::TableSpec;

struct Extractor {
    partition_len: fn(&[u8]) -> Option<usize>,
    name: CString,
}

/// Returns the extractor of `table`'s partition keys. It may be set in one `Options` only, which
/// then owns it. An extractor that is never set is not freed.
pub(crate) fn extractor(table: &TableSpec) -> SliceTransform {
    // RocksDB stores the extractor's name in each file, and uses the file's filter only if the
    // names are the same. So the name must change when `partition_len` of the table does.
    let name = CString::new(format!("varve.partition.{}", table.name))
        .expect("table names are lower-case letters, digits and underscores");
    let state = Box::new(Extractor {
        partition_len: table.partition_len,
        name,
    });
    // SAFETY: the callbacks have the types that RocksDB requires, and expect the state that is
    // passed here. RocksDB calls `destroy` once, when the last user of the extractor is gone.
    // Nothing else frees the state.
    let inner = unsafe {
        ffi::rocksdb_slicetransform_create(
            Box::into_raw(state).cast::<c_void>(),
            Some(destroy),
            Some(transform),
            Some(in_domain),
            Some(name_of),
        )
    };
    SliceTransform { inner }
}

/// # Safety
/// `state` is a pointer from `Box::<Extractor>::into_raw`. Nothing else frees it, and nothing uses
/// it afterwards.
unsafe extern "C" fn destroy(state: *mut c_void) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(state.cast::<Extractor>()) });
}

/// # Safety
/// `state` points to an `Extractor`, and `prefix_length` to writable memory. `key` points to
/// `length` bytes that live as long as RocksDB uses the result; if `length` is 0, it may be null.
unsafe extern "C" fn transform(
    state: *mut c_void,
    key: *const c_char,
    length: usize,
    prefix_length: *mut usize,
) -> *mut c_char {
    // SAFETY: as the caller promises.
    unsafe {
        let found = partition_length(state, key, length);
        // RocksDB calls `in_domain` first, so there is a partition key.
        prefix_length.write(found.unwrap_or(length));
    }
    key.cast_mut()
}

/// # Safety
/// As [`transform`].
unsafe extern "C" fn in_domain(state: *mut c_void, key: *const c_char, length: usize) -> c_uchar {
    // SAFETY: as the caller promises.
    c_uchar::from(unsafe { partition_length(state, key, length) }.is_some())
}

/// # Safety
/// `state` points to an `Extractor`.
unsafe extern "C" fn name_of(state: *mut c_void) -> *const c_char {
    // SAFETY: as the caller promises; the name lives as long as the state.
    unsafe { (*state.cast::<Extractor>()).name.as_ptr() }
}

/// # Safety
/// As [`transform`].
unsafe fn partition_length(state: *mut c_void, key: *const c_char, length: usize) -> Option<usize> {
    if length == 0 {
        // With an empty key, RocksDB may pass a null pointer.
        // SAFETY: as the caller promises.
        return unsafe { ((*state.cast::<Extractor>()).partition_len)(&[]) };
    }
    // SAFETY: as the caller promises; `length` is not 0, so `key` is not null.
    unsafe {
        let key = slice::from_raw_parts(key.cast::<u8>(), length);
        ((*state.cast::<Extractor>()).partition_len)(key)
    }
}
