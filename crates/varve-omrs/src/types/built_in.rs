//! The types of the open metadata standard, release 3.4.

use std::sync::OnceLock;

use super::{Catalogue, TypeDefGallery};
use crate::json::{Limits, decode};

/// The definitions without descriptions, one per line. Attributes refer to their types by name.
/// Their source: `data/README.md`.
const TYPES: &str = include_str!("../../data/open-metadata-types.json");

impl Catalogue {
    /// The types of the open metadata standard, release 3.4. Parsed once per process.
    #[must_use]
    pub fn built_in() -> Self {
        static BUILT_IN: OnceLock<Catalogue> = OnceLock::new();
        BUILT_IN.get_or_init(read).clone()
    }
}

fn read() -> Catalogue {
    let gallery: TypeDefGallery = decode(TYPES.as_bytes(), Limits::DEFAULT)
        .expect("a test reads the definitions, which are a part of the program");
    let mut catalogue = Catalogue::empty();
    catalogue
        .add_gallery(gallery)
        .expect("a test adds the definitions, which are a part of the program");
    catalogue
}
