//! The state of an element at a point of both times, and how long it holds.

use varve_model::{CommitVersion, Element, ElementId, Instant, Period};
use varve_view::{Flow, GraphView, Meter, ViewError};

/// A state, the period in which it holds, and the commit that recorded it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub(super) element: Element,
    /// The part of valid time around the requested instant in which its version decides.
    pub(super) period: Period,
    /// The commit that recorded it.
    pub(super) version: CommitVersion,
}

/// The state of an element at `valid`, read from a view of all valid times; `None` if it does not
/// exist then. Reads a row for each version that is newer than the deciding one.
pub(super) fn state(
    view: &dyn GraphView,
    id: &ElementId,
    valid: Instant,
    meter: &Meter,
) -> Result<Option<State>, ViewError> {
    let mut around = Period {
        from: Instant::MIN,
        to: Instant::FOREVER,
    };
    let mut found = None;
    view.versions(id, meter, &mut |past| {
        let own = past.period;
        if own.covers(valid) {
            let period = Period {
                from: around.from.max(own.from),
                to: around.to.min(own.to),
            };
            found = past.element.map(|element| State {
                element,
                period,
                version: past.version,
            });
            return Flow::Break(());
        }
        // A newer version bounds the older ones on its side of the instant.
        if own.from >= own.to {
            return Flow::Continue(());
        }
        match own.from > valid {
            true => around.to = around.to.min(own.from),
            false => around.from = around.from.max(own.to),
        }
        Flow::Continue(())
    })?;
    Ok(found)
}
