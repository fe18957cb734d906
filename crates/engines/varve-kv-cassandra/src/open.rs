//! The spaces that this process has open, and the names under which it is registered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::clock::now;
use crate::core::Core;
use crate::process;

/// Distinguishes the openings, and the names, of one process.
static OPENINGS: AtomicU64 = AtomicU64::new(0);

/// The spaces that this process has open or is opening, by name: the number of the opening, and the
/// space once it is open.
pub(crate) type OpenSpaces = HashMap<String, (u64, Weak<Core>)>;

/// The entry of a space in `OpenSpaces`. Dropping it removes the entry.
pub(crate) struct OpenSpace {
    name: String,
    opening: u64,
    open: Arc<Mutex<OpenSpaces>>,
}

impl OpenSpace {
    /// Enters a space, unless a space of that name is open or being opened here. A space that has
    /// lost its lease is replaced even if it is still referenced, since it can never write or lead
    /// again.
    pub(crate) fn begin(name: &str, open: &Arc<Mutex<OpenSpaces>>) -> Option<Self> {
        let opening = OPENINGS.fetch_add(1, Ordering::Relaxed);
        let mut spaces = open.lock();
        if let Some((_, core)) = spaces.get(name) {
            core.upgrade()
                .filter(|core| core.lease.lost_to().is_some())?;
        }
        spaces.insert(name.to_owned(), (opening, Weak::new()));
        Some(Self {
            name: name.to_owned(),
            opening,
            open: Arc::clone(open),
        })
    }

    /// Notes the space of this entry, which is open now.
    pub(crate) fn opened(&self, core: &Arc<Core>) {
        let mut spaces = self.open.lock();
        spaces.insert(self.name.clone(), (self.opening, Arc::downgrade(core)));
    }
}

impl Drop for OpenSpace {
    fn drop(&mut self) {
        let mut spaces = self.open.lock();
        if spaces
            .get(&self.name)
            .is_some_and(|(opening, _)| *opening == self.opening)
        {
            spaces.remove(&self.name);
        }
    }
}

/// Returns a name that no other process and no other call has. It tells on this machine whether
/// this process has ended.
pub(crate) fn unique_name() -> String {
    let number = OPENINGS.fetch_add(1, Ordering::Relaxed);
    process::named(&format!("{}-{number}", now()))
}
