//! Reads at one point of both times: rows, resolution over events, adjacency, history.

mod adjacency;
mod history;
mod resolve;
mod view;

pub use history::{HistoryPage, Version, VersionKind};
pub(crate) use resolve::{Resolved, newest_event, resolve, scan_events};
pub use view::View;
