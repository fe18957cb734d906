//! Bookmarks: texts that name a commit of a graph, which later reads must see.

use std::time::Duration;

use varve_graph::Graph;
use varve_model::CommitVersion;
use varve_session::budget::lanes::aside;
use varve_session::{Failure, Session};
use varve_view::ErrorKind;

use crate::system_database::SYSTEM;

/// What every bookmark begins with.
const PREFIX: &str = "varve:";
/// The longest wait for a commit, which another server may have made.
const WAIT_MAX: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(5);

/// The bookmark of a commit, or of all commits so far.
pub(crate) fn of(graph: &Graph, version: Option<CommitVersion>) -> String {
    let version = version.unwrap_or_else(|| graph.published());
    format!("{PREFIX}{}:{}", graph.name(), version.0)
}

/// The bookmark of the database `system`, for which nothing waits.
pub(super) fn of_system() -> String {
    format!("{PREFIX}{SYSTEM}:0")
}

/// The newest commit of a graph that these bookmarks name.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] for a text that is no bookmark.
pub(crate) fn newest(graph: &str, sent: &[String]) -> Result<CommitVersion, Failure> {
    let mut newest = 0;
    for bookmark in sent {
        let parts = bookmark
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.rsplit_once(':'))
            .and_then(|(name, version)| Some((name, version.parse::<u64>().ok()?)));
        let Some((name, version)) = parts else {
            let message = format!("'{bookmark}' is no bookmark of this server");
            return Err(Failure::new(ErrorKind::InvalidArgument, message));
        };
        if name == graph {
            newest = newest.max(version);
        }
    }
    Ok(CommitVersion(newest))
}

/// Waits until the commits of a graph that these bookmarks name are visible. Bookmarks of other
/// graphs do not matter.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] for a text that is no bookmark, or one of a state that was never;
/// [`ErrorKind::Busy`] when a commit does not become visible in time.
pub(crate) fn wait(graph: &Graph, sent: &[String], session: &Session) -> Result<(), Failure> {
    let newest = newest(graph.name(), sent)?;
    if graph.published() >= newest {
        return Ok(());
    }
    // A followed graph stays as it is.
    graph.check_led()?;
    // All commits of a graph have passed through its leader, whose clock is ahead of them.
    if graph.is_led() && newest > CommitVersion::last_at(graph.now()) {
        let message = "A bookmark names a state that the graph has never had";
        return Err(Failure::new(ErrorKind::InvalidArgument, message));
    }
    let waited = aside(|| wait_for(graph, newest, session));
    waited.unwrap_or_else(|| {
        let message = "Too many queries wait for the states that bookmarks name: try again later";
        Err(Failure::new(ErrorKind::Busy, message))
    })
}

fn wait_for(graph: &Graph, newest: CommitVersion, session: &Session) -> Result<(), Failure> {
    let mut waited = Duration::ZERO;
    while graph.published() < newest {
        session.check_deadline()?;
        if waited >= WAIT_MAX {
            let message = "The state that a bookmark names is not visible yet: try again";
            return Err(Failure::new(ErrorKind::Busy, message));
        }
        std::thread::sleep(STEP);
        waited += STEP;
    }
    Ok(())
}
