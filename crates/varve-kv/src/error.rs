//! What can go wrong below the seam.

/// A failure of the storage engine. Missing rows are not errors: reads return `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KvError {
    /// The disk is full. Nothing of the batch was stored; reads go on; writes work again when space
    /// returns.
    #[error("the disk that holds '{space}' is full: {detail}")]
    DiskFull {
        /// Which space.
        space: String,
        /// The engine's words.
        detail: String,
    },
    /// It cannot be written (read-only disk, missing rights). Nothing of the batch was stored;
    /// writes work again once that is mended.
    #[error("'{space}' cannot be written: {detail}")]
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
    /// The process may not read the files. Nothing is known to be damaged.
    #[error("the files of '{space}' cannot be read: {detail}")]
    Unreadable {
        /// Which space.
        space: String,
        /// The engine's words, and what to do.
        detail: String,
    },
    /// The engine cannot keep up, and no room came within the time that a request may wait. Nothing
    /// of the batch was stored; the same call may be tried again.
    #[error("'{space}' takes no more requests for the moment: {detail}")]
    Busy {
        /// Which space.
        space: String,
        /// What is waited for.
        detail: String,
    },
    /// What keeps the rows is outside of this process and cannot be reached, or answers too late.
    /// Nothing of the batch was stored; the same call works again once it is back.
    #[error("the store of '{space}' cannot be reached: {detail}")]
    Away {
        /// Which space.
        space: String,
        /// What was tried, and how it failed.
        detail: String,
    },
    /// Where a read looks, so many rows were removed, and are still kept as removed, that the store
    /// gives up. It stays so until the store has cleared them away; other reads go on.
    #[error("too many removed rows lie where '{space}' is read: {detail}")]
    Tombstones {
        /// Which space.
        space: String,
        /// The store's words, and what to do.
        detail: String,
    },
    /// A key, a row or the whole batch is larger than the engine takes. Nothing of the batch was
    /// stored.
    #[error("too large for the store of '{space}': {detail}")]
    TooLarge {
        /// Which space.
        space: String,
        /// What is too large, and the limit.
        detail: String,
    },
    /// Any other failure of reading or writing. Whether a failed write was stored is unknown until
    /// the space is opened again; after it no write is acknowledged any more.
    #[error("reading or writing '{space}' failed: {detail}")]
    Io {
        /// Which space.
        space: String,
        /// The engine's words.
        detail: String,
    },
    /// Whether the batch is stored is decided by whoever opens the space next, perhaps this
    /// process: it may be found wholly there, or not at all. Until then no write is acknowledged
    /// any more.
    #[error("whether a write to '{space}' is stored is not known yet: {detail}")]
    OutcomeUnknown {
        /// Which space.
        space: String,
        /// What became of it.
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
    /// There is no store where one was to be opened that exists. Nothing was created.
    #[error("there is no data in {store}: {detail}")]
    Missing {
        /// Where it was looked for.
        store: String,
        /// What was found there.
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
    /// The space is open, or is being made or removed; it may be tried again later. Of engines that
    /// can be shared; others say
    /// [`KvError::Unavailable`].
    #[error("space '{space}' is in use: {detail}")]
    InUse {
        /// Which space.
        space: String,
        /// By whom, as far as is known.
        detail: String,
    },
    /// Another process has the space open, and the engine is shared.
    #[error("space '{space}' is led by the server at {address} (term {term})")]
    Led {
        /// Which space.
        space: String,
        /// Where that process can be asked.
        address: String,
        /// How often the space has been opened.
        term: u64,
    },
}
