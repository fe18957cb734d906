//! The load tool: load tests of any server that speaks HugeGraph's REST API, and the performance
//! suite of any open-metadata repository.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

// The server's allocator with its options (`crates/varve/src/allocator.rs`), so that the bare
// engine and the bare HTTP server of `limits` allocate like it.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

// SAFETY: jemalloc's name for its options; it reads them once at the start, as a C string.
#[unsafe(export_name = "malloc_conf")]
static MALLOC_CONF: &[u8; 49] = b"thp:always,dirty_decay_ms:10000,muzzy_decay_ms:0\0";

fn main() -> ExitCode {
    varve_bench::main()
}
