//! What can go wrong below the seam.

/// A failure of the storage engine. Missing rows are not errors: reads return `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KvError {
    /// The disk is full. Nothing of the batch was stored; reads go on; writes work again when space returns.
    #[error("the disk that holds '{space}' is full: {detail}")]
    DiskFull {
        /// Which space.
        space: String,
        /// The engine's words.
        detail: String,
    },
    /// The files cannot be written (read-only disk, missing rights). Nothing of the batch was stored.
    #[error("the files of '{space}' cannot be written: {detail}")]
    ReadOnly {
        /// Which space.
        space: String,
        /// The engine's words.
        detail: String,
    },
    /// Stored bytes are damaged: a checksum does not match or a file is missing or cut short.
    #[error("stored data of '{space}' is damaged: {detail}")]
    Corruption {
        /// Which space.
        space: String,
        /// The engine's words, with the file's name where it is known.
        detail: String,
    },
    /// The engine cannot keep up: what was written waits to be sorted, and no room came within the time that a write may
    /// wait. Nothing of the batch was stored; the same write may be tried again.
    #[error("'{space}' takes no more writes for the moment: {detail}")]
    Busy {
        /// Which space.
        space: String,
        /// What is waited for.
        detail: String,
    },
    /// Any other failure of reading or writing. Whether a failed write was stored is unknown until the space is
    /// opened again; after it no write is acknowledged any more.
    #[error("reading or writing '{space}' failed: {detail}")]
    Io {
        /// Which space.
        space: String,
        /// The engine's words.
        detail: String,
    },
    /// The space does not exist and was not to be created, or is in use by another process.
    #[error("space '{space}' cannot be opened: {detail}")]
    Unavailable {
        /// Which space.
        space: String,
        /// Why, and what to do.
        detail: String,
    },
}
