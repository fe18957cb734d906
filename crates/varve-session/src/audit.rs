//! The audit trail: a line of JSON for each request of a kind that the options name.
//!
//! A line has the user, the address, the kind of the request, its graph and its status; for a
//! login, also the name. Bodies, other parameters and secrets are not in it. Lines are appended to
//! the file, which the system may rotate: once it was moved away, it is opened anew.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use varve_auth::{API_TOKEN_PREFIX, NAME_BYTES_MAX};

use varve_view::ErrorKind;

use crate::{Action, Failure};

/// The requests that the audit trail records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditLevel {
    /// None.
    Off,
    /// Refused requests, logins, and requests that change users, rights, schemas, whole graphs, or
    /// the server.
    #[default]
    Security,
    /// Also requests that change anything else.
    Writes,
    /// All.
    All,
}

impl AuditLevel {
    fn has(self, entry: &Entry<'_>) -> bool {
        let action = entry.action;
        let is_security = is_refusal(entry.status)
            || entry.login.is_some()
            || matches!(action, Some(Action::Schema | Action::Administer));
        match self {
            Self::Off => false,
            Self::Security => is_security,
            Self::Writes => is_security || action.is_some_and(Action::may_change),
            Self::All => true,
        }
    }
}

/// The content of a line.
#[derive(Debug, Serialize)]
pub struct Entry<'a> {
    /// The client's user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<&'a str>,
    /// The name of a login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<&'a str>,
    /// The client's id for its request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<&'a str>,
    /// The client's address.
    pub address: IpAddr,
    /// The verb, or the kind of the message.
    pub method: &'a str,
    /// The resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<&'static str>,
    /// What the request does.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "name_of")]
    pub action: Option<Action>,
    /// The graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<&'a str>,
    /// The outcome, as HTTP numbers it.
    pub status: u16,
}

/// Writes the name of an action.
#[allow(clippy::ref_option, reason = "the form that serde calls")]
fn name_of<S: serde::Serializer>(action: &Option<Action>, to: S) -> Result<S::Ok, S::Error> {
    action.map(Action::name).serialize(to)
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    #[serde(flatten)]
    entry: &'a Entry<'a>,
}

/// The file of the audit trail.
#[derive(Debug)]
pub struct Audit {
    level: AuditLevel,
    path: PathBuf,
    file: Mutex<File>,
    /// Whether the last line could not be written.
    failing: AtomicBool,
}

impl Audit {
    /// Opens the trail of a server.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(level: AuditLevel, path: &Path) -> std::io::Result<Self> {
        Ok(Self {
            level,
            path: path.to_owned(),
            file: Mutex::new(open(path)?),
            failing: AtomicBool::new(false),
        })
    }

    /// Writes a line if the level includes the request. A line that cannot be written is logged,
    /// and the request goes on.
    pub fn note(&self, entry: &Entry<'_>) {
        if !self.level.has(entry) {
            return;
        }
        let mut line = line(entry);
        line.push(b'\n');
        let written = self.write(&line);
        if let Err(error) = &written
            && !self.failing.load(Ordering::Relaxed)
        {
            tracing::error!(%error, path = %self.path.display(), "the audit trail cannot be written");
        }
        self.failing.store(written.is_err(), Ordering::Relaxed);
    }

    fn write(&self, line: &[u8]) -> std::io::Result<()> {
        let mut file = self.file.lock();
        if !self.path.exists() {
            *file = open(&self.path)?;
        }
        file.write_all(line)
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

/// The name of a login, as the trail shows it: cut to the longest name; of an API token only the
/// id.
pub fn login_name(name: &str) -> String {
    let known = name.strip_prefix(API_TOKEN_PREFIX).map(|rest| {
        let id = rest.split('_').next().unwrap_or_default();
        format!("{API_TOKEN_PREFIX}{id}")
    });
    let mut name = known.unwrap_or_else(|| name.to_owned());
    name.truncate(name.floor_char_boundary(NAME_BYTES_MAX));
    name
}

fn line(entry: &Entry<'_>) -> Vec<u8> {
    let time = jiff::Timestamp::now().to_string();
    let line = serde_json::to_vec(&Line { time, entry });
    line.expect("texts and numbers are JSON")
}

/// The outcome of a request that failed, as HTTP numbers it.
pub const fn status_of(failure: &Failure) -> u16 {
    match failure.kind {
        ErrorKind::Unauthenticated => 401,
        ErrorKind::Denied => 403,
        ErrorKind::NotFound => 404,
        ErrorKind::TooLarge => 413,
        ErrorKind::Elsewhere => 421,
        ErrorKind::Throttled => 429,
        ErrorKind::Storage | ErrorKind::Tombstones | ErrorKind::Internal => 500,
        ErrorKind::Busy
        | ErrorKind::Conflict
        | ErrorKind::Cancelled
        | ErrorKind::OutcomeUnknown => 503,
        ErrorKind::Unwritable => 507,
        _ => 400,
    }
}

/// Whether a status means that the client was not authenticated, not allowed, or throttled.
const fn is_refusal(status: u16) -> bool {
    matches!(status, 401 | 403 | 429)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_logins_are_short_and_hold_no_token() {
        assert_eq!(login_name("ann"), "ann");
        assert_eq!(login_name("varve_a1_secret"), "varve_a1");
        assert_eq!(login_name(&"é".repeat(1_000)).len(), NAME_BYTES_MAX);
    }

    #[test]
    fn a_line_says_who_did_what_and_the_file_is_private_and_may_be_rotated() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.ndjson");
        let audit = Audit::open(AuditLevel::Security, &path).expect("opened");
        let entry = |status| Entry {
            user: Some("ann\n"),
            login: None,
            request: None,
            address: IpAddr::from([127, 0, 0, 1]),
            method: "GET",
            route: None,
            action: None,
            graph: Some("g"),
            status,
        };
        audit.note(&entry(200));
        audit.note(&entry(403));
        let text = std::fs::read_to_string(&path).expect("a file");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains(
            r#""user":"ann\n","address":"127.0.0.1","method":"GET","graph":"g","status":403}"#
        ));
        let mode = std::fs::metadata(&path)
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::rename(&path, folder.path().join("old")).expect("moved");
        audit.note(&entry(401));
        assert_eq!(
            std::fs::read_to_string(&path)
                .expect("a new file")
                .lines()
                .count(),
            1
        );
    }
}
