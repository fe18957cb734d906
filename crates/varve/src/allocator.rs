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
/// - `muzzy_decay_ms:0`: freed pages return to the kernel at once when they decay, not in two
///   steps, so that the process's resident size tells what it uses.
// SAFETY: jemalloc's name for its options; it reads them once at the start, as a C string.
#[unsafe(export_name = "malloc_conf")]
pub(crate) static MALLOC_CONF: &[u8; 28] = b"thp:always,muzzy_decay_ms:0\0";

thread_local! {
    /// Bytes that this thread has allocated and not freed. Negative if it has freed the allocations
    /// of other threads. Has no destructor, so that it can be used while a thread ends.
    static ALLOCATED: Cell<i64> = const { Cell::new(0) };
}

/// The interval at which the freed memory is looked at.
const GIVE_BACK_EVERY: Duration = Duration::from_millis(100);
/// The size of the pages that the allocator counts, in bytes.
const PAGE_BYTES: usize = 4096;

// The allocator's controls; 4096 stands for all arenas.
const EPOCH: &CStr = c"epoch";
const FREED_PAGES: &CStr = c"stats.arenas.4096.pdirty";
const DECAY: &CStr = c"arena.4096.decay";
const PURGE: &CStr = c"arena.4096.purge";

/// Starts a thread that returns freed memory to the kernel: memory freed over ten seconds ago, and
/// all of it when more than `kept_bytes` are freed, so that consecutive large bodies do not add up.
///
/// Memory that is soon used again is cheaper to keep: a page from the kernel costs a fault and is
/// zeroed first. Allocating threads alone would return it too late: they look at the time only
/// while they allocate, and at no amount.
pub(crate) fn give_back_over(kept_bytes: u64) {
    let kept_pages = usize::try_from(kept_bytes).unwrap_or(usize::MAX) / PAGE_BYTES;
    let named = std::thread::Builder::new().name("allocator".to_owned());
    let spawned = named.spawn(move || {
        loop {
            std::thread::sleep(GIVE_BACK_EVERY);
            let is_over = freed_pages().is_some_and(|freed| freed > kept_pages);
            control(if is_over { PURGE } else { DECAY }, None, None);
        }
    });
    if let Err(error) = spawned {
        tracing::warn!(%error, "freed memory of idle threads is not returned to the system");
    }
}

/// The pages that are freed and not returned to the kernel.
fn freed_pages() -> Option<usize> {
    let mut freed = 0_usize;
    // The counts are those of the last change of the epoch.
    let counted = control(EPOCH, None, Some(&mut 1));
    (counted && control(FREED_PAGES, Some(&mut freed), None)).then_some(freed)
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
    // SAFETY: the name ends with a zero, and each pointer is null or to a number of that size, which
    // all numbers among the controls above have: `size_t`, and 64 bits for the epoch.
    unsafe { tikv_jemalloc_sys::mallctl(name.as_ptr(), read, read_size, write, write_size) == 0 }
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
    use super::{allocated, freed_pages};

    #[test]
    fn freed_pages_are_counted() {
        assert!(freed_pages().is_some());
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
