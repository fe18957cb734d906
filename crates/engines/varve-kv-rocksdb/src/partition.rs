//! The prefix extractor: passes the length of the partition key to RocksDB, so that its filters can
//! contain partition keys.
//!
//! The binding accepts only plain functions without state, but a table's function is known only at
//! run time. So this module registers the callbacks itself, with the function behind the state
//! pointer.

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
/// then owns it.
pub(crate) fn extractor(table: &TableSpec) -> SliceTransform {
    // RocksDB stores the name in each file and uses the file's filter only if the name is the same.
    // So the name must change when the partition keys of the table do.
    let name = CString::new(format!("varve.partition.{}", table.name))
        .expect("table names are lower-case letters, digits and underscores");
    let state = Box::new(Extractor {
        partition_len: table.partition_len,
        name,
    });
    // SAFETY: the callbacks have the types RocksDB asks for and expect the state that is passed
    // here. RocksDB calls `destroy` once, when the last user of the extractor is gone, and nothing
    // else frees the state.
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
/// `state` is a pointer from `Box::into_raw` that nothing else frees.
unsafe extern "C" fn destroy(state: *mut c_void) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(state.cast::<Extractor>()) });
}

/// # Safety
/// `state` points to an `Extractor`, `key` to `length` bytes that live as long as RocksDB uses the
/// result, `prefix_length` to writable memory.
unsafe extern "C" fn transform(
    state: *mut c_void,
    key: *const c_char,
    length: usize,
    prefix_length: *mut usize,
) -> *mut c_char {
    // SAFETY: as the caller promises.
    unsafe {
        let found = partition_length(state, key, length);
        // RocksDB asks `in_domain` first, so there is a partition key.
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
/// As [`transform`].
unsafe extern "C" fn name_of(state: *mut c_void) -> *const c_char {
    // SAFETY: as the caller promises; the name lives as long as the state.
    unsafe { (*state.cast::<Extractor>()).name.as_ptr() }
}

/// # Safety
/// As [`transform`].
unsafe fn partition_length(state: *mut c_void, key: *const c_char, length: usize) -> Option<usize> {
    if length == 0 {
        // RocksDB may pass no pointer with an empty key.
        // SAFETY: as the caller promises.
        return unsafe { ((*state.cast::<Extractor>()).partition_len)(&[]) };
    }
    // SAFETY: as the caller promises; `length` is not 0, so `key` is not null.
    unsafe {
        let key = slice::from_raw_parts(key.cast::<u8>(), length);
        ((*state.cast::<Extractor>()).partition_len)(key)
    }
}
