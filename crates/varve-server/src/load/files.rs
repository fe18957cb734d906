//! Uploaded files: in a folder for each client and graph, removed once they are not used.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use http::StatusCode;
use parking_lot::Mutex;
use serde_json::json;
use tempfile::TempDir;
use varve_load::{Source, source_of};
use varve_session::budget::lanes::Lane;

use super::config::LoadConfig;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};

const NAME_BYTES_MAX: usize = 200;
/// What the names of the folders of uploads begin with; the process follows.
const PREFIX: &str = "varve-load-";
static CLEARED: Once = Once::new();

/// The client and the graph of files: the name of the user, if users have names.
type Key = (Option<String>, String);

/// The uploaded files of all clients.
#[derive(Debug)]
pub(crate) struct Uploads {
    config: LoadConfig,
    all: Arc<Mutex<HashMap<Key, Arc<Upload>>>>,
    bytes: Arc<AtomicU64>,
}

/// The uploaded files of a client for a graph.
#[derive(Debug)]
pub(crate) struct Upload {
    folder: TempDir,
    files: Mutex<BTreeMap<String, u64>>,
    used: Mutex<Instant>,
    /// The bytes of all clients.
    bytes: Arc<AtomicU64>,
    bytes_max: u64,
}

impl Drop for Upload {
    fn drop(&mut self) {
        let own: u64 = self.files.get_mut().values().sum();
        self.bytes.fetch_sub(own, Ordering::Relaxed);
    }
}

impl Uploads {
    pub(super) fn new(config: &LoadConfig) -> Self {
        // Only at the start: another server of this process may have files.
        CLEARED.call_once(|| clear(&folder_of(config)));
        Self {
            config: config.clone(),
            all: Arc::default(),
            bytes: Arc::default(),
        }
    }

    fn key(context: &RequestContext) -> Key {
        let user = context.identity().user().map(|user| user.name.to_string());
        (user, context.graph_name().to_owned())
    }

    /// The files of the request's client for its graph; 404 if there are none.
    pub(super) fn of(&self, context: &RequestContext) -> Result<Arc<Upload>, ApiError> {
        // The graph must exist.
        context.graph()?;
        let upload = self.all.lock().get(&Self::key(context)).map(Arc::clone);
        let upload = upload.ok_or_else(|| {
            ApiError::not_found(
                "There are no uploaded files; they are removed after some time without use \
                 (load.files_idle_ms)",
            )
        })?;
        *upload.used.lock() = Instant::now();
        Ok(upload)
    }

    fn of_or_new(&self, context: &RequestContext) -> Result<Arc<Upload>, ApiError> {
        context.graph()?;
        let mut all = self.all.lock();
        let key = Self::key(context);
        if let Some(upload) = all.get(&key) {
            *upload.used.lock() = Instant::now();
            return Ok(Arc::clone(upload));
        }
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(folder_of(&self.config));
        let folder = folder.map_err(|error| unwritable(&error))?;
        let upload = Arc::new(Upload {
            folder,
            files: Mutex::default(),
            used: Mutex::new(Instant::now()),
            bytes: Arc::clone(&self.bytes),
            bytes_max: self.config.files_bytes_max,
        });
        all.insert(key.clone(), Arc::clone(&upload));
        drop(all);
        let idle = Duration::from_millis(self.config.files_idle_ms);
        tokio::spawn(remove_unused(Arc::clone(&self.all), key, idle));
        Ok(upload)
    }
}

/// Where the folders of uploads are.
fn folder_of(config: &LoadConfig) -> PathBuf {
    match config.folder.as_os_str().is_empty() {
        true => std::env::temp_dir(),
        false => config.folder.clone(),
    }
}

/// Removes the folders of processes that have ended without doing so.
fn clear(folder: &Path) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let process = process.and_then(|rest| rest.split_once('-'));
        let Some(Ok(process)) = process.map(|(process, _)| process.parse::<u32>()) else {
            continue;
        };
        // This process has none yet.
        let runs = Path::new("/proc").join(process.to_string()).exists();
        if process == std::process::id() || !runs {
            // What cannot be removed belongs to someone else.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Removes the files of a client once they have not been used for `idle`.
async fn remove_unused(all: Arc<Mutex<HashMap<Key, Arc<Upload>>>>, key: Key, idle: Duration) {
    loop {
        let Some(used) = all.lock().get(&key).map(|upload| *upload.used.lock()) else {
            return;
        };
        let end = used + idle;
        if end <= Instant::now() {
            // A load that reads them still holds them.
            let removed = all.lock().remove(&key);
            drop(removed);
            return;
        }
        tokio::time::sleep_until(end.into()).await;
    }
}

fn unwritable(error: &std::io::Error) -> ApiError {
    ApiError::new(
        StatusCode::INSUFFICIENT_STORAGE,
        "java.io.IOException",
        format!("The files cannot be kept (load.folder): {error}"),
    )
}

impl Upload {
    /// The names of the files.
    pub(super) fn names(&self) -> Vec<String> {
        self.files.lock().keys().cloned().collect()
    }

    /// The path of a file; 400 if it was not uploaded.
    pub(super) fn path(&self, name: &str) -> Result<PathBuf, String> {
        match self.files.lock().contains_key(name) {
            true => Ok(self.folder.path().join(name)),
            false => Err(format!("{name}: no such file was uploaded")),
        }
    }

    /// The source of a file, as a minimal mapping has it.
    pub(super) fn source(&self, name: &str) -> Result<Source, ApiError> {
        let path = self.path(name).map_err(ApiError::illegal_argument)?;
        let source = source_of(Path::new(name)).map_err(ApiError::illegal_argument)?;
        Ok(self.placed(source, path))
    }

    /// The source with the place of its file.
    pub(super) fn placed(&self, source: Source, path: PathBuf) -> Source {
        Source {
            place: Some(path),
            unpacked_bytes_max: Some(self.bytes_max),
            ..source
        }
    }

    /// Writes a piece of a file. A piece at 0 begins the file anew.
    fn write(
        &self,
        config: &LoadConfig,
        (name, offset): (&str, u64),
        piece: &[u8],
    ) -> Result<u64, ApiError> {
        let mut files = self.files.lock();
        let known = files.get(name).copied();
        if known.is_none() && files.len() >= config.files_max {
            return Err(ApiError::illegal_argument(format!(
                "Too many files, at most {} (load.files_max)",
                config.files_max
            )));
        }
        let before = known.unwrap_or(0);
        if offset != 0 && offset != before {
            return Err(ApiError::illegal_argument(format!(
                "The file '{name}' has {before} bytes: the next piece begins there, not at {offset}"
            )));
        }
        let length = offset + piece.len() as u64;
        let others = self.bytes.load(Ordering::Relaxed).saturating_sub(before);
        if others + length > self.bytes_max {
            return Err(ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "java.lang.IllegalArgumentException",
                format!(
                    "The uploaded files are larger than {} bytes (load.files_bytes_max)",
                    self.bytes_max
                ),
            ));
        }
        let path = self.folder.path().join(name);
        if offset == 0 {
            // A load that reads the former file goes on with it.
            let _ = std::fs::remove_file(&path);
        }
        let written = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .and_then(|file| file.write_all_at(piece, offset));
        written.map_err(|error| unwritable(&error))?;
        self.bytes.fetch_add(length, Ordering::Relaxed);
        self.bytes.fetch_sub(before, Ordering::Relaxed);
        files.insert(name.to_owned(), length);
        Ok(length)
    }
}

/// Refuses names that are not those of a file in a folder.
fn check_name(name: &str) -> Result<(), ApiError> {
    let is_wrong = name.is_empty()
        || name.len() > NAME_BYTES_MAX
        || name.starts_with('.')
        || name.contains(|each: char| each == '/' || each == '\\' || each.is_control());
    match is_wrong {
        true => Err(ApiError::illegal_argument(format!(
            "'{}' is not the name of a file",
            name.escape_debug()
        ))),
        false => Ok(()),
    }
}

/// Stores a piece of a file: 201 and the length of the file.
pub(super) async fn put(context: Box<RequestContext>) -> HandlerResult {
    let name = context.path_parameter("name").to_owned();
    check_name(&name)?;
    let offset = context.query()?.get("offset").unwrap_or("0");
    let offset: u64 = offset.parse().map_err(|_| {
        ApiError::illegal_argument(format!("The offset must be a number, but got '{offset}'"))
    })?;
    let state = context.shared_state();
    let upload = state.feature::<Uploads>().of_or_new(&context)?;
    let config = state.config().load.clone();
    let body = context.body().clone();
    // The piece is in nobody's graph.
    let write = move || {
        upload
            .write(&config, (&name, offset), &body)
            .map(|length| (name, length))
    };
    let (name, length) = state.run_beside(Lane::Writes, write).await??;
    let answer = json!({ "name": name, "bytes": length });
    Ok(Response::created(answer.to_string()))
}

/// The client's files for the graph.
pub(super) fn list(context: &RequestContext) -> HandlerResult {
    let upload = match context.state().feature::<Uploads>().of(context) {
        Ok(upload) => Some(upload),
        Err(error) if error.status() == StatusCode::NOT_FOUND => {
            context.graph()?;
            None
        }
        Err(error) => return Err(error),
    };
    let files = upload.map_or_else(BTreeMap::new, |upload| upload.files.lock().clone());
    let files = files.iter();
    let files: Vec<_> = files
        .map(|(name, bytes)| json!({ "name": name, "bytes": bytes }))
        .collect();
    Ok(Response::ok(json!({ "files": files }).to_string()))
}

/// Removes the client's files for the graph: 204.
pub(super) fn delete(context: &RequestContext) -> HandlerResult {
    context.graph()?;
    let uploads = context.state().feature::<Uploads>();
    let removed = uploads.all.lock().remove(&Uploads::key(context));
    drop(removed);
    Ok(Response::no_content())
}
