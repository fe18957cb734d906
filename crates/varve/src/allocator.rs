//! The allocator of the process: jemalloc, with a count of each thread's allocated bytes.
//!
//! Queries are charged for the allocations of their thread. Only Rust's allocations are counted:
//! blocks that a query reads into RocksDB's cache count for the cache.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::CStr;
use std::ptr;
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
/// - `dirty_decay_ms:10000`: a freed page stays for up to ten seconds, in which it may be used
///   again.
/// - `muzzy_decay_ms:0`: after that it returns to the kernel in one step, so that the resident size
///   of the process shrinks.
// SAFETY: jemalloc's name for its options; it reads them once at the start, as a C string.
#[unsafe(export_name = "malloc_conf")]
pub(crate) static MALLOC_CONF: &[u8; 49] = b"thp:always,dirty_decay_ms:10000,muzzy_decay_ms:0\0";

thread_local! {
    /// Bytes that this thread has allocated and not freed. Negative if it has freed the allocations
    /// of other threads. Has no destructor, so that it can be used while a thread ends.
    static ALLOCATED: Cell<i64> = const { Cell::new(0) };
}

/// The interval between two checks of the dirty pages.
const CHECK_EVERY: Duration = Duration::from_millis(100);

// The allocator's controls; 4096 stands for all arenas.
const EPOCH: &CStr = c"epoch";
const PAGE_BYTES: &CStr = c"arenas.page";
const DIRTY_PAGES: &CStr = c"stats.arenas.4096.pdirty";
const DECAY: &CStr = c"arena.4096.decay";
const PURGE: &CStr = c"arena.4096.purge";

// The epoch has 64 bits, the other numbers are of the type `size_t`.
const _: () = assert!(size_of::<usize>() == size_of::<u64>());

/// Starts a thread that returns dirty pages, which are freed and not yet returned, to the kernel:
/// those freed over ten seconds ago, and all of them once they exceed `kept_bytes`. So consecutive
/// bodies of some MiB do not add up. (Allocations of 8 MiB or more are returned at once.)
///
/// A page that is used again is cheaper to keep: the kernel hands out a page by a fault, and zeroes
/// it first. Without this thread, an idle thread would return nothing, and no thread would return
/// pages because of their number.
pub(crate) fn return_over(kept_bytes: u64) {
    let named = std::thread::Builder::new().name("allocator".to_owned());
    let spawned = named.spawn(move || {
        loop {
            std::thread::sleep(CHECK_EVERY);
            let is_over = dirty_bytes().is_some_and(|dirty| dirty > kept_bytes);
            control(if is_over { PURGE } else { DECAY }, None, None);
        }
    });
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread for the allocator: freed memory is returned late");
    }
}

/// The size of all dirty pages.
fn dirty_bytes() -> Option<u64> {
    let (mut page, mut pages) = (0, 0);
    // A change of the epoch refreshes the counts.
    let counted = control(EPOCH, None, Some(&mut 1))
        && control(PAGE_BYTES, Some(&mut page), None)
        && control(DIRTY_PAGES, Some(&mut pages), None);
    counted.then_some((pages * page) as u64)
}

/// Calls a control that reads or writes a number, or neither; returns whether it succeeded.
fn control(name: &CStr, read: Option<&mut usize>, write: Option<&mut usize>) -> bool {
    let mut size = size_of::<usize>();
    let (read, read_size) = match read {
        Some(number) => (ptr::from_mut(number).cast(), ptr::from_mut(&mut size)),
        None => (ptr::null_mut(), ptr::null_mut()),
    };
    let (write, write_size) = match write {
        Some(number) => (ptr::from_mut(number).cast(), size_of::<usize>()),
        None => (ptr::null_mut(), 0),
    };
    // SAFETY: the name ends with a zero. Each pointer is null, or to a number of the given size,
    // and jemalloc refuses a size that is not the control's own.
    unsafe { tikv_jemalloc_sys::mallctl(name.as_ptr(), read, read_size, write, write_size) == 0 }
}

/// The bytes that the calling thread has allocated and not freed, without what is in caches.
pub(crate) fn allocated() -> i64 {
    ALLOCATED.get().wrapping_sub(varve_kv::cached::bytes())
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
    use super::{DECAY, PURGE, allocated, control, dirty_bytes};

    #[test]
    fn dirty_pages_are_counted_and_returned() {
        assert!(dirty_bytes().is_some());
        assert!(control(DECAY, None, None));
        assert!(control(PURGE, None, None));
    }

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
