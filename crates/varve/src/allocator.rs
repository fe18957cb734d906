//! The allocator of the process: jemalloc, with a count of each thread's allocated bytes.
//!
//! Queries are charged for the allocations of their thread. Only Rust's allocations are counted:
//! blocks that a query reads into RocksDB's cache count for the cache.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::time::Duration;

use tikv_jemallocator::Jemalloc;

// RocksDB allocates too, so malloc itself is replaced, not only Rust's allocator.
#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// The options of the allocator; `MALLOC_CONF` in the environment overrides them.
///
/// - `thp:always`: rows are scattered over hundreds of megabytes, so address translation takes a
///   large part of a write's time. Huge pages, where the kernel grants them, save about a tenth of
///   a batch's cost.
/// - `dirty_decay_ms:250`: freed pages return to the kernel after 0.25 s instead of 10 s, so that
///   consecutive large bodies do not add up. This costs a batch about 2 % of CPU time. A thread
///   returns pages only while it allocates; [`give_back_while_idle`] does so for idle threads.
// SAFETY: jemalloc's name for its options; it reads them once at the start, as a C string.
#[unsafe(export_name = "malloc_conf")]
pub(crate) static MALLOC_CONF: &[u8; 47] = b"thp:always,dirty_decay_ms:250,muzzy_decay_ms:0\0";

thread_local! {
    /// Bytes that this thread has allocated and not freed. Negative if it has freed the allocations
    /// of other threads. Has no destructor, so that it can be used while a thread ends.
    static ALLOCATED: Cell<i64> = const { Cell::new(0) };
}

/// The interval at which the freed memory of idle threads is returned.
const GIVE_BACK_EVERY: Duration = Duration::from_millis(100);
/// All arenas (4096), in the names of jemalloc's controls.
const DECAY_ALL: &std::ffi::CStr = c"arena.4096.decay";

/// Starts a thread that returns memory freed long enough ago, ten times a second. Otherwise a
/// thread that has freed much and then idles would keep the memory. (Jemalloc's own background
/// threads would also take over this work from allocating threads, and are too late under load.)
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
        tracing::warn!(%error, "freed memory of idle threads is not returned to the system");
    }
}

/// The bytes that the calling thread has allocated and not freed.
pub(crate) fn allocated() -> i64 {
    ALLOCATED.get()
}

fn add(layout: Layout) {
    ALLOCATED.set(ALLOCATED.get().wrapping_add(layout.size() as i64));
}

fn subtract(layout: Layout) {
    ALLOCATED.set(ALLOCATED.get().wrapping_sub(layout.size() as i64));
}

/// Jemalloc with counting. A failed allocation counts too, since it ends the process.
struct Counted;

// SAFETY: jemalloc does all work; counting neither allocates nor unwinds.
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
