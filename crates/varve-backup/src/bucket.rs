//! A bucket of S3 as a place of backups.

use std::io::{self, Read};
use std::ops::Range;
use std::time::Duration;

use futures::TryStreamExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore as _, ObjectStoreExt as _, WriteMultipart};
use tokio::runtime::{Builder, Runtime};

use crate::place::{Object, Place, PlaceOptions, Upload};

/// The least bytes of a part. Smaller objects are sent at once.
const PART_BYTES: u64 = 8 << 20;
/// The most parts of an object: somewhat less than S3 accepts.
const PARTS_MAX: u64 = 9_000;
/// Parts that are sent at once. So an upload takes the memory of five parts.
const PARTS_AT_ONCE: usize = 4;
/// The time that one request may take: enough for a part over a slow line.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Bucket {
    store: AmazonS3,
    prefix: String,
    runtime: Runtime,
}

impl Bucket {
    /// Prepares the client of a bucket; sends nothing. The credentials are those of the environment
    /// (`AWS_ACCESS_KEY_ID`, …) or of the machine's role.
    pub(crate) fn open(name: &str, prefix: &str, options: &PlaceOptions) -> io::Result<Self> {
        let mut builder = AmazonS3Builder::from_env();
        if !options.endpoint.is_empty() {
            builder = builder.with_endpoint(&options.endpoint);
        }
        if !options.region.is_empty() {
            builder = builder.with_region(&options.region);
        }
        let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
        let is_plain = endpoint.is_some_and(|address| address.starts_with("http://"));
        let client = ClientOptions::new()
            .with_allow_http(is_plain)
            .with_timeout(REQUEST_TIMEOUT)
            .with_connect_timeout(CONNECT_TIMEOUT);
        let store = builder.with_client_options(client).with_bucket_name(name);
        Ok(Self {
            store: store.build()?,
            prefix: prefix.to_owned(),
            runtime: Builder::new_current_thread().enable_all().build()?,
        })
    }

    fn path(&self, key: &str) -> Path {
        // Keys and prefixes are plain: this changes nothing but leaves out an empty prefix.
        Path::from(format!("{}/{key}", self.prefix))
    }
}

impl Place for Bucket {
    fn list(&self, folder: &str) -> io::Result<Vec<Object>> {
        let folder = self.path(folder);
        let objects = self.store.list(Some(&folder)).map_ok(|object| Object {
            name: object.location.filename().unwrap_or_default().to_owned(),
            bytes: object.size,
        });
        Ok(self.runtime.block_on(objects.try_collect())?)
    }

    fn read(&self, key: &str) -> io::Result<Box<dyn Read + '_>> {
        let path = self.path(key);
        let object = self.runtime.block_on(self.store.head(&path))?;
        Ok(Box::new(Download {
            bucket: self,
            path,
            left: 0..object.size,
            piece: bytes::Bytes::new(),
        }))
    }

    fn begin(&self, key: &str, bytes: u64) -> io::Result<Box<dyn Upload + '_>> {
        let part = PART_BYTES.max(bytes.div_ceil(PARTS_MAX));
        Ok(Box::new(Parts {
            bucket: self,
            path: self.path(key),
            part: usize::try_from(part).map_err(io::Error::other)?,
            buffer: Vec::new(),
            parts: None,
        }))
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        let path = self.path(key);
        match self.runtime.block_on(self.store.delete(&path)) {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => Ok(removed?),
        }
    }
}

/// An object that is being read, in pieces: each is a request with a time limit and retries of its
/// own, however slow the reader is.
struct Download<'a> {
    bucket: &'a Bucket,
    path: Path,
    /// The bytes that are not yet fetched.
    left: Range<u64>,
    /// What is left of the last piece.
    piece: bytes::Bytes,
}

impl Read for Download<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            let Range { start, end } = self.left;
            if start == end {
                return Ok(0);
            }
            let end = end.min(start + PART_BYTES);
            let bucket = self.bucket;
            let piece = bucket.store.get_range(&self.path, start..end);
            self.piece = bucket.runtime.block_on(piece)?;
            self.left.start = end;
        }
        let length = self.piece.len().min(into.len());
        into[..length].copy_from_slice(&self.piece.split_to(length));
        Ok(length)
    }
}

/// An object that is being stored: at once if it is small, else in parts.
struct Parts<'a> {
    bucket: &'a Bucket,
    path: Path,
    /// Bytes of a part.
    part: usize,
    /// What was written so far, while it is less than a part.
    buffer: Vec<u8>,
    parts: Option<WriteMultipart>,
}

impl Upload for Parts<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        if self.parts.is_none() && self.buffer.len() + piece.len() <= self.part {
            self.buffer.extend_from_slice(piece);
            return Ok(());
        }
        let (store, path, part) = (&self.bucket.store, &self.path, self.part);
        let buffer = std::mem::take(&mut self.buffer);
        let parts = &mut self.parts;
        self.bucket.runtime.block_on(async {
            if parts.is_none() {
                let upload = store.put_multipart(path).await?;
                *parts = Some(WriteMultipart::new_with_chunk_size(upload, part));
            }
            if let Some(parts) = parts {
                parts.wait_for_capacity(PARTS_AT_ONCE).await?;
                parts.write(&buffer);
                parts.write(piece);
            }
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let bucket = self.bucket;
        match self.parts.take() {
            Some(parts) => bucket.runtime.block_on(parts.finish())?,
            None => {
                let bytes = std::mem::take(&mut self.buffer);
                let put = bucket.store.put(&self.path, bytes.into());
                bucket.runtime.block_on(put)?
            }
        };
        Ok(())
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            // What it cannot remove, the bucket's rule for incomplete uploads does.
            let _ = self.bucket.runtime.block_on(parts.abort());
        }
    }
}
