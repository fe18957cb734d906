//! Reads at one point of both times: rows, resolution over events, adjacency, history.

mod adjacency;
mod derived;
mod events;
mod ever;
mod graph_view;
mod guard;
mod history;
mod listed;
mod lookup;
mod many;
mod metered;
mod ordered;
mod presented;
mod queried;
mod remembered;
mod resolve;
mod sight;
mod timeline;
mod view;

pub use adjacency::Adjacent;
pub(crate) use derived::derived_elements;
pub use derived::{DerivedStep, DerivedWalk};
pub use events::Event;
pub(crate) use events::{visit_events, visit_events_of};
pub use ever::{EVER_ROWS_MAX, EverPage};
pub(crate) use graph_view::edge_ranges;
pub use history::{HistoryPage, StoredHistories, Version, VersionKind};
pub(crate) use ordered::Ordered;
pub(crate) use resolve::{Resolved, covers, resolve, scan_events};
pub(crate) use sight::Sight;
pub(crate) use timeline::{Events, Span};
pub use timeline::{Spell, Timeline};
pub use view::View;
pub(crate) use view::{Point, read_element};
