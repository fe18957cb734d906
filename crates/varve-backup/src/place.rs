//! Where a store of backups is, and what it needs of that place.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The folder of the manifests in a place.
pub(crate) const MANIFESTS: &str = "manifests";
/// The folder of the files in a place.
pub(crate) const FILES: &str = "files";
/// The scheme of a bucket's address.
const BUCKET_SCHEME: &str = "s3://";
/// The scheme of a folder's address.
const FOLDER_SCHEME: &str = "file://";

/// How a store is reached.
#[derive(Debug, Clone, Default)]
pub struct PlaceOptions {
    /// The location, as [`Location::parse`] reads it.
    pub to: String,
    /// The address of the S3 service; empty for that of AWS or of the environment.
    pub endpoint: String,
    /// The region; empty for that of the environment, or `us-east-1`.
    pub region: String,
}

/// The location of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A folder.
    Folder(PathBuf),
    /// A bucket of S3.
    Bucket {
        /// The name of the bucket.
        name: String,
        /// What the keys begin with, without `/` at either end; may be empty.
        prefix: String,
    },
}

impl Location {
    /// Whether a text is the address of a store, or the path of a folder that is one, not a folder
    /// with one backup.
    #[must_use]
    pub fn is_store(text: &str) -> bool {
        Self::is_address(text) || Path::new(text).join(MANIFESTS).is_dir()
    }

    /// Whether a text is the address of a store, not the path of a folder.
    #[must_use]
    pub fn is_address(text: &str) -> bool {
        text.contains("://")
    }

    /// Reads `s3://bucket/prefix`, `file:///folder` or the path of a folder.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| Err(format!("'{text}' is no place for backups: {what}"));
        if let Some(rest) = text.strip_prefix(BUCKET_SCHEME) {
            let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let plain = |byte: u8| lower(byte) || b"-.".contains(&byte);
            let edges = |name: &str| name.bytes().next().zip(name.bytes().last());
            if !(3..=63).contains(&name.len())
                || !name.bytes().all(plain)
                || !edges(name).is_some_and(|(first, last)| lower(first) && lower(last))
            {
                return wrong(
                    "the name of a bucket has 3 to 63 lower-case letters, digits, - and .",
                );
            }
            let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            let named = |part: &str| {
                !part.is_empty() && part.bytes().all(plain) && part != "." && part != ".."
            };
            if !prefix.is_empty() && !prefix.split('/').all(named) {
                return wrong("a prefix has letters, digits, -, _ and . between single /");
            }
            return Ok(Self::Bucket {
                name: name.to_owned(),
                prefix: prefix.to_owned(),
            });
        }
        let path = match text.strip_prefix(FOLDER_SCHEME) {
            Some(path) if !path.starts_with('/') => return wrong("write file:///folder"),
            Some(path) => path,
            None if Self::is_address(text) => return wrong("write s3://bucket/prefix or a folder"),
            None => text,
        };
        match path.is_empty() {
            true => wrong("it is empty"),
            false => Ok(Self::Folder(path.into())),
        }
    }

    /// The same place for one of several writers, which has this name.
    #[must_use]
    pub fn of_writer(to: &str, writer: &str) -> String {
        let plain = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
        let name = |char: char| if plain(char) { char } else { '_' };
        let writer: String = writer.chars().map(name).collect();
        format!("{}/{writer}", to.trim_end_matches('/'))
    }
}

/// A stored object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    /// The name within its folder.
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// A place of objects. Keys are `<folder>/<name>`.
pub(crate) trait Place: Send + Sync {
    /// The objects in a folder, in no order; none if there is no such folder.
    fn list(&self, folder: &str) -> io::Result<Vec<Object>>;

    /// Reads an object from its begin.
    fn read(&self, key: &str) -> io::Result<Box<dyn Read + '_>>;

    /// Begins an object of so many bytes. It is invisible until [`Upload::finish`], and never
    /// becomes visible if that is not called.
    fn begin(&self, key: &str, bytes: u64) -> io::Result<Box<dyn Upload + '_>>;

    /// Removes an object, if it exists.
    fn remove(&self, key: &str) -> io::Result<()>;
}

/// An object that is being stored.
pub(crate) trait Upload {
    /// Appends bytes.
    fn write(&mut self, piece: &[u8]) -> io::Result<()>;

    /// Makes the object visible, and brings it to stable storage.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_folder_or_a_bucket() {
        let bucket = |name: &str, prefix: &str| Location::Bucket {
            name: name.into(),
            prefix: prefix.into(),
        };
        for (text, location) in [
            ("/srv/backups", Location::Folder("/srv/backups".into())),
            ("backups", Location::Folder("backups".into())),
            ("file:///srv/b", Location::Folder("/srv/b".into())),
            ("s3://bucket", bucket("bucket", "")),
            ("s3://my.bucket-1/a/b_c/", bucket("my.bucket-1", "a/b_c")),
        ] {
            assert_eq!(Location::parse(text), Ok(location), "{text}");
        }
        for text in [
            "",
            "file://srv",
            "gs://bucket",
            "s3://",
            "s3://ab",
            "s3://Bucket",
            "s3://-bucket",
            "s3://bucket/../other",
            "s3://bucket//a",
            "s3://user:secret@bucket/a",
            "s3://bucket/a?x=1",
        ] {
            assert!(Location::parse(text).is_err(), "{text}");
        }
        let one = Location::of_writer("s3://bucket/a/", "10.0.0.7:8080");
        assert_eq!(one, "s3://bucket/a/10.0.0.7_8080");
        assert!(Location::parse(&one).is_ok());
    }
}
