//! `varve changes`: prints what commits change in a graph, through the REST API.
//!
//! Each change is a line of JSON on standard output. An answer of the server has whole commits
//! only. With `--cursor`, the cursor is stored after the lines of an answer were written. So a
//! crash loses no change, but the last lines may be printed again. A program that needs each change
//! exactly once stores the commit's `version` together with the effect of its changes.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::CommandError;
use crate::cli::ChangesArguments;
use crate::rest::{GraphClient, RestError, encode};

/// With `--follow`, how long the server waits for the first change before it answers without one.
const WAIT: &str = "30s";
const NO_CHANGES: &str = "the server's answer is not one of changes";
/// With `--follow`, the pause before an unreachable or overloaded server is tried again.
const AWAY_PAUSE: Duration = Duration::from_secs(1);

/// The cursor, and the graph that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    graph_id: String,
    since: String,
}

impl Cursor {
    /// The version up to which all changes were printed.
    fn version(&self) -> Option<u64> {
        self.since.parse().ok()
    }
}

/// The first line of an answer.
#[derive(Deserialize)]
struct Head {
    graph_id: String,
    since: String,
}

/// The last line of an answer.
#[derive(Deserialize)]
struct End {
    caught_up_to: String,
}

/// Prints the changes that the arguments select. Without `--follow` it ends at the commit that was
/// newest at the start; with it, it ends only with an error.
pub(crate) fn run(arguments: &ChangesArguments) -> Result<ExitCode, CommandError> {
    let client = GraphClient::of(&arguments.target)?;
    let mut cursor = match &arguments.cursor {
        Some(file) => read_cursor(file)?,
        None => None,
    };
    let until = match arguments.follow {
        true => None,
        false => Some(newest(&client, cursor.as_ref())?),
    };
    loop {
        let path = path(arguments, cursor.as_ref(), until);
        let text = match client.send_patiently("GET", &client.of_graph(&path), "") {
            Err(error) if arguments.follow && is_away(&error) => {
                eprintln!("varve: {error}; retrying");
                std::thread::sleep(AWAY_PAUSE);
                continue;
            }
            answer => answer?,
        };
        let (lines, next) = parts(&text).ok_or(NO_CHANGES)?;
        let mut out = io::stdout().lock();
        out.write_all(lines.as_bytes())?;
        out.flush()?;
        let is_new = cursor.as_ref() != Some(&next);
        if let Some(file) = arguments.cursor.as_ref().filter(|_| is_new) {
            write_cursor(file, &next)?;
        }
        let version = next.version().ok_or(NO_CHANGES)?;
        cursor = Some(next);
        if until.is_some_and(|until| version >= until) {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// The newest commit version of the graph. The server refuses the request if there is a cursor, and
/// it belongs to another graph.
fn newest(client: &GraphClient, cursor: Option<&Cursor>) -> Result<u64, CommandError> {
    let mut path = "changes?since=now&limit=1".to_owned();
    if let Some(cursor) = cursor {
        path.push_str(&format!("&graph_id={}", encode(&cursor.graph_id)));
    }
    let text = client.send_patiently("GET", &client.of_graph(&path), "")?;
    let head = text.lines().next().and_then(head).ok_or(NO_CHANGES)?;
    Ok(head.since.parse().map_err(|_| NO_CHANGES)?)
}

/// Whether the server is unreachable or overloaded, so that it may answer later.
fn is_away(error: &RestError) -> bool {
    match error {
        RestError::NoAnswer { .. } | RestError::NoServer { .. } => true,
        RestError::Refused { status, .. } => matches!(status, 429 | 502..=504),
        _ => false,
    }
}

/// The path of the next request: changes up to the version `until`, or with `None` a long poll.
fn path(arguments: &ChangesArguments, cursor: Option<&Cursor>, until: Option<u64>) -> String {
    let since = cursor.map_or(&arguments.since, |cursor| &cursor.since);
    let mut path = format!("changes?since={}&limit={}", encode(since), arguments.batch);
    let mut add = |name: &str, value: &str| {
        path.push_str(&format!("&{name}={}", encode(value)));
    };
    if let Some(cursor) = cursor {
        add("graph_id", &cursor.graph_id);
    }
    for (name, list) in [("labels", &arguments.labels), ("types", &arguments.types)] {
        if let Some(list) = list {
            add(name, list);
        }
    }
    for (name, is_on) in [
        ("before", arguments.before),
        ("effective", arguments.effective),
    ] {
        if is_on {
            add(name, "true");
        }
    }
    match until {
        Some(until) => add("until", &until.to_string()),
        None => add("wait", WAIT),
    }
    path
}

fn head(line: &str) -> Option<Head> {
    serde_json::from_str(line).ok()
}

/// The lines of the changes, and the cursor after them; `None` if the answer is malformed.
fn parts(text: &str) -> Option<(&str, Cursor)> {
    let (head, rest) = text.split_once('\n')?;
    let end = rest.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let (lines, last) = rest.split_at(end);
    let head = self::head(head)?;
    let last: End = serde_json::from_str(last).ok()?;
    let cursor = Cursor {
        graph_id: head.graph_id,
        since: last.caught_up_to,
    };
    Some((lines, cursor))
}

fn read_cursor(file: &Path) -> Result<Option<Cursor>, CommandError> {
    let failed = |reason: String| format!("{}: {reason}", file.display());
    match std::fs::read(file) {
        Ok(bytes) => {
            let cursor = serde_json::from_slice(&bytes);
            let cursor = cursor.map_err(|error| failed(format!("no cursor: {error}")))?;
            Ok(Some(cursor))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error.to_string()).into()),
    }
}

/// Replaces the file atomically: after a crash it has the old cursor or the new one.
fn write_cursor(file: &Path, cursor: &Cursor) -> Result<(), CommandError> {
    let failed = |error: io::Error| format!("{}: {error}", file.display());
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut unnamed = tempfile::Builder::new()
        .prefix(".varve-cursor-")
        .tempfile_in(folder)
        .map_err(failed)?;
    let written = serde_json::to_writer(&mut unnamed, cursor).map_err(io::Error::from);
    written
        .and_then(|()| unnamed.write_all(b"\n"))
        .and_then(|()| unnamed.as_file().sync_all())
        .map_err(failed)?;
    unnamed.persist(file).map_err(|error| failed(error.error))?;
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_head_lines_and_where_to_go_on() {
        let cursor = |since: &str| Cursor {
            graph_id: "7".into(),
            since: since.into(),
        };
        let head = "{\"graph_id\":\"7\",\"since\":\"1\",\"oldest\":\"0\"}\n";
        let none = format!("{head}{{\"caught_up_to\":\"1\"}}\n");
        assert_eq!(parts(&none), Some(("", cursor("1"))));
        let two = format!("{head}{{\"n\":0}}\n{{\"n\":1}}\n{{\"caught_up_to\":\"2\"}}\n");
        assert_eq!(parts(&two), Some(("{\"n\":0}\n{\"n\":1}\n", cursor("2"))));
        let cut = format!("{head}{{\"n\":0}}\n{{\"n\":1}}\n");
        assert_eq!(parts(&cut), None);
        assert_eq!(parts(""), None);
    }

    #[test]
    fn a_cursor_is_stored_and_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cursor");
        assert_eq!(read_cursor(&file).expect("none yet"), None);
        for since in ["1", "22"] {
            let cursor = Cursor {
                graph_id: "7".into(),
                since: since.into(),
            };
            write_cursor(&file, &cursor).expect("stored");
            assert_eq!(read_cursor(&file).expect("one"), Some(cursor));
        }
        std::fs::write(&file, "459").expect("written");
        assert!(read_cursor(&file).is_err());
    }
}
