//! The operations of the repository: one method for each call of the contract.
//!
//! A [`Repository`] uses a [`GraphStore`]. Its methods have the names of the contract's calls; they
//! take the values of the call's path, parameters and body, and return the content of its response.
//! A call and its historical variant are one method: either the body has an `asOfTime`, or the
//! method takes an optional [`HistoryRequest`](crate::requests::HistoryRequest).

mod answer;
mod checks;
mod classifying;
mod copies_at_once;
mod entities;
mod graph;
mod guid;
mod headers;
mod history;
mod identity;
mod kept_types;
mod options;
mod reading;
mod reference_copies;
mod relationships;
mod rendering;
mod searching;
mod target;
mod types;

pub use options::Options;
pub use reading::InstanceGraph;
use rendering::with_ends;

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use varve_kv::deadline;

use self::kept_types::KeptTypes;
use crate::error::{Message, OmrsError};
use crate::graph_store::{GraphReader, GraphStore, GraphTransaction};
use crate::json::Millis;
use crate::search::Searcher;
use crate::types::Catalogue;

/// A metadata repository: a member of a cohort.
pub struct Repository {
    store: Arc<GraphStore>,
    /// The present types. An operation loads them once and uses them to its end.
    types: ArcSwap<Catalogue>,
    /// Locked exclusively while the types are replaced, and shared while instances are written.
    kept_types: RwLock<KeptTypes>,
    /// Locked from the start to the end of a change of the types.
    changing_types: Mutex<()>,
    metadata_collection_id: String,
    options: Options,
    searcher: Searcher,
}

impl Repository {
    /// The present types.
    #[must_use]
    pub fn types(&self) -> Arc<Catalogue> {
        self.types.load_full()
    }

    /// The store of the instances.
    #[must_use]
    pub fn store(&self) -> &Arc<GraphStore> {
        &self.store
    }

    /// The name of the metadata collection, which is also the repository's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.options.metadata_collection_name
    }

    /// `getMetadataCollectionId`: the id of the metadata collection.
    #[must_use]
    pub fn get_metadata_collection_id(&self) -> &str {
        &self.metadata_collection_id
    }

    fn reader(&self, at: Option<Millis>) -> Result<GraphReader, OmrsError> {
        self.store.read(at)
    }

    /// Runs `work` as one transaction, with types that do not change meanwhile. `guids` names
    /// instances that it surely touches.
    fn write<T>(
        &self,
        guids: &[&str],
        mut work: impl FnMut(&mut GraphTransaction<'_, '_>, &Catalogue) -> Result<T, OmrsError>,
    ) -> Result<T, OmrsError> {
        let unchanged = match deadline::current() {
            None => Some(self.kept_types.read()),
            Some(deadline) => self.kept_types.try_read_until(deadline),
        };
        let _unchanged = unchanged.ok_or_else(|| {
            let words = "the deadline passed while another request changed the types";
            OmrsError::new(Message::StoreBusy, &[words])
        })?;
        let types = self.types();
        let mut done = None;
        self.store.transact(guids, &mut |transaction| {
            done = Some(work(transaction, &types)?);
            Ok(())
        })?;
        let words = ["a transaction was committed that was never run"];
        done.ok_or_else(|| OmrsError::new(Message::LogicError, &words))
    }
}

/// The error of a call that the repository does not support.
fn not_supported(method: &str) -> OmrsError {
    OmrsError::new(Message::MethodNotImplemented, &[method])
}
