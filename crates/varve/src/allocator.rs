//! The allocator of the process: jemalloc, with a count of what each thread has of it.
//!
//! Queries are charged for what their thread allocates. Only Rust's allocations are counted: blocks
//! that a query reads into RocksDB's cache are the cache's.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::time::Duration;

use tikv_jemallocator::Jemalloc;

// RocksDB allocates too, so malloc itself is replaced, not only Rust's allocator.
#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// How the allocator begins; `MALLOC_CONF` in the environment goes before it. Rows lie all over
/// hundreds of megabytes, so a good part of the time of a write was the translation of addresses:
/// huge pages, where the kernel gives them to those that ask, take about a tenth off a batch's
/// cost. Freed pages go back to the kernel after a quarter of a second, not ten, so that large
/// bodies one after the other do not add up: that costs a batch about 2 % of CPU time. Threads give
/// back what they have freed while they allocate; [`give_back_while_idle`] sees to the idle ones.
// SAFETY: the allocator's name for this, read once at the start as a C string, which it is.
#[unsafe(export_name = "malloc_conf")]
pub(crate) static MALLOC_CONF: &[u8; 47] = b"thp:always,dirty_decay_ms:250,muzzy_decay_ms:0\0";

thread_local! {
    /// Bytes that this thread has allocated and not freed. Below zero where it freed what others
    /// have allocated. It has no destructor, so that it may be used while a thread ends.
    static ALLOCATED: Cell<i64> = const { Cell::new(0) };
}

/// How often memory is given back that idle threads have freed.
const GIVE_BACK_EVERY: Duration = Duration::from_millis(100);
/// All arenas, in the names of jemalloc's controls.
const DECAY_ALL: &std::ffi::CStr = c"arena.4096.decay";

/// Gives back ten times a second what was freed long enough ago, from a thread of its own: a thread
/// that has freed much and then idles would keep it for good. (Jemalloc's own threads would take
/// that over from the threads that allocate, too, and under load they come too late.)
pub(crate) fn give_back_while_idle() {
    let named = std::thread::Builder::new().name("allocator".to_owned());
    let spawned = named.spawn(|| {
        loop {
            std::thread::sleep(GIVE_BACK_EVERY);
            // SAFETY: the control takes and gives no value, and its name ends with a zero.
            let _ = unsafe {
                tikv_jemalloc_sys::mallctl(
                    DECAY_ALL.as_ptr(),
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    0,
                )
            };
        }
    });
    if let Err(error) = spawned {
        tracing::warn!(%error, "freed memory of idle threads is not given back");
    }
}

/// Bytes that the calling thread has allocated and not freed since it began.
pub(crate) fn allocated() -> i64 {
    ALLOCATED.get()
}

fn add(layout: Layout) {
    ALLOCATED.set(ALLOCATED.get().wrapping_add(layout.size() as i64));
}

fn subtract(layout: Layout) {
    ALLOCATED.set(ALLOCATED.get().wrapping_sub(layout.size() as i64));
}

/// Jemalloc, counted. A refused allocation counts too: the process ends then.
struct Counted;

// SAFETY: jemalloc does everything; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout);
        // SAFETY: as the caller promises.
        unsafe { Jemalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout);
        // SAFETY: as the caller promises.
        unsafe { Jemalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        subtract(layout);
        // SAFETY: as the caller promises.
        unsafe { Jemalloc.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let more = (size as i64).wrapping_sub(layout.size() as i64);
        ALLOCATED.set(ALLOCATED.get().wrapping_add(more));
        // SAFETY: as the caller promises.
        unsafe { Jemalloc.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::allocated;

    #[test]
    fn what_a_thread_allocates_and_frees_is_counted() {
        let before = allocated();
        let mut bytes: Vec<u8> = Vec::with_capacity(1_000);
        assert_eq!(allocated() - before, 1_000);
        bytes.reserve_exact(5_000);
        assert_eq!(allocated() - before, 5_000);
        let freed = std::thread::spawn(move || {
            let before = allocated();
            drop(bytes);
            allocated() - before
        });
        let freed = freed.join().expect("no panic");
        assert_eq!(freed, -5_000, "who frees has it counted");
    }
}
