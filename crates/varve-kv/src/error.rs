//! Errors of storage engines.

/// A failure of the storage engine. Missing rows are not errors: reads return `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KvError {
    /// The disk is full. Nothing of the batch was stored. Reads continue; writes succeed again once
    /// there is free space.
    #[error("the disk that holds '{space}' is full: {detail}")]
    DiskFull {
        /// The space.
        space: String,
        /// The engine's message.
        detail: String,
    },
    /// The space cannot be written (read-only disk, missing rights). Nothing of the batch was
    /// stored; writes succeed again once the cause is removed.
    #[error("'{space}' cannot be written: {detail}")]
    ReadOnly {
        /// The space.
        space: String,
        /// The engine's message.
        detail: String,
    },
    /// Stored bytes are damaged: a checksum does not match or a file is missing or cut short.
    #[error("stored data of '{space}' is damaged: {detail}")]
    Corruption {
        /// The space.
        space: String,
        /// The engine's message, with the file's name where it is known.
        detail: String,
    },
    /// The process may not read the files. Nothing is known to be damaged.
    #[error("the files of '{space}' cannot be read: {detail}")]
    Unreadable {
        /// The space.
        space: String,
        /// The engine's message, and what to do.
        detail: String,
    },
    /// The engine cannot keep up, and the request's wait timed out. Nothing of the batch was
    /// stored; the call may be retried.
    #[error("'{space}' is busy: {detail}")]
    Busy {
        /// The space.
        space: String,
        /// The resource that the request waited for.
        detail: String,
    },
    /// The store is outside of this process and cannot be reached, or answers too late. Nothing of
    /// the batch was stored; the call may be retried once the store is back.
    #[error("the store of '{space}' cannot be reached: {detail}")]
    Away {
        /// The space.
        space: String,
        /// The request, and how it failed.
        detail: String,
    },
    /// A read met so many tombstones that the store gave it up. Such reads fail until the store has
    /// removed the tombstones; other reads continue.
    #[error("a read of '{space}' met too many tombstones: {detail}")]
    Tombstones {
        /// The space.
        space: String,
        /// The store's message, and what to do.
        detail: String,
    },
    /// A key, a row or the whole batch exceeds a limit of the engine. Nothing of the batch was
    /// stored.
    #[error("too large for the store of '{space}': {detail}")]
    TooLarge {
        /// The space.
        space: String,
        /// What is too large, and the limit.
        detail: String,
    },
    /// Any other failure of reading or writing. Whether a failed write was stored is unknown until
    /// the space is opened again; until then no write is acknowledged.
    #[error("reading or writing '{space}' failed: {detail}")]
    Io {
        /// The space.
        space: String,
        /// The engine's message.
        detail: String,
    },
    /// Whether the batch is stored is unknown. The next process that opens the space, perhaps this
    /// one, decides it: the batch is then stored wholly or not at all. Until then no write is
    /// acknowledged.
    #[error("it is not known yet whether a write to '{space}' is stored: {detail}")]
    OutcomeUnknown {
        /// The space.
        space: String,
        /// What happened to the batch.
        detail: String,
    },
    /// No space may have this name ([`crate::is_space_name`]).
    #[error(
        "'{space}' cannot be the name of a space: it must have 1 to {max} ASCII letters, digits and '_', and not be '{lock}'",
        max = crate::SPACE_NAME_BYTES_MAX,
        lock = crate::LOCK_FILE
    )]
    InvalidName {
        /// The name.
        space: String,
    },
    /// A store that must exist does not. Nothing was created.
    #[error("there is no data in {store}: {detail}")]
    Missing {
        /// The path or address of the expected store.
        store: String,
        /// What was found instead.
        detail: String,
    },
    /// The space does not exist and was not to be created, or is in use by another process.
    #[error("space '{space}' cannot be opened: {detail}")]
    Unavailable {
        /// The space.
        space: String,
        /// The reason, and what to do.
        detail: String,
    },
    /// The space is open, or is being created or removed; the call may be retried later. Only
    /// shared engines return this; others return [`KvError::Unavailable`].
    #[error("space '{space}' is in use: {detail}")]
    InUse {
        /// The space.
        space: String,
        /// The user of the space, as far as it is known.
        detail: String,
    },
    /// Another process has the space open, and the engine is shared.
    #[error("space '{space}' is led by the server at {address} (term {term})")]
    Led {
        /// The space.
        space: String,
        /// The address that the other process has published.
        address: String,
        /// The number of times the space has been opened.
        term: u64,
    },
}
