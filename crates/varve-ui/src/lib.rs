//! The explorer's files, built from `ui/` by `scripts/ui.sh` and embedded in the program.
//!
//! Without them (no Node at build time) the only file is a page that says how to get them.

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// One file.
#[derive(Debug)]
pub struct Asset {
    /// Its path below `/ui/`: `index.html`, `assets/index-3f2a.js`.
    pub name: &'static str,
    /// What it holds.
    pub content: Content,
}

/// The bytes of a file.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    /// As it is.
    Plain(&'static [u8]),
    /// Compressed when it was built, in both ways that browsers take.
    Packed {
        /// gzip.
        gzip: &'static [u8],
        /// Brotli.
        brotli: &'static [u8],
    },
}

impl Asset {
    /// Its media type, by the end of its name.
    pub fn media_type(&self) -> &'static str {
        let end = self.name.rsplit('.').next().unwrap_or_default();
        match end {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            "json" => "application/json",
            _ => "text/plain; charset=utf-8",
        }
    }

    /// Whether its name changes with its content.
    pub fn is_named_by_content(&self) -> bool {
        self.name.starts_with("assets/")
    }
}

/// What the files were built from: equal for equal files.
pub fn build() -> &'static str {
    BUILD
}

/// The file with this name.
pub fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_page_is_there_and_says_what_it_is() {
        let index = asset("index.html").expect("index.html");
        assert_eq!(index.media_type(), "text/html; charset=utf-8");
        assert!(!index.is_named_by_content());
        assert!(asset("no-such-file").is_none());
    }
}
