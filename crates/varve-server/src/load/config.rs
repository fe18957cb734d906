//! The options of loading.

use std::path::PathBuf;

use crate::section;

section! {
    /// The options of `…/load`.
    pub struct LoadConfig {
        /// Folder for uploaded files, while they are there. Empty: that of the system for temporary
        /// files.
        folder: PathBuf = PathBuf::new(),
        /// Bytes that the uploaded files of all clients may have together, and that one file may
        /// have once it is unpacked. Over it: 413.
        files_bytes_max: u64 = 8 << 30,
        /// Files that one client may have for one graph. Over it: 400.
        files_max: usize = 200,
        /// Time after which the files of a client are removed if it does not use them, in
        /// milliseconds.
        files_idle_ms: u64 = 3_600_000,
        /// Loads and drafts that may run at once. Further ones are answered 503.
        loads_max: usize = 4,
        /// Time that a load may take, in milliseconds. After it the load ends, and says so; what it
        /// has stored stays.
        load_timeout_ms: u64 = 14_400_000,
    }
}
