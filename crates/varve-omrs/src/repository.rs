//! The operations of the repository: one method for each call of the contract.
//!
//! A [`Repository`] stands on a [`Store`]. Its methods are named like the contract's, take what the
//! call's path, parameters and body hold, and return what its response carries. Calls with a
//! historical twin are one method: either their body has an `asOfTime`, or they take an optional
//! [`HistoryRequest`](crate::requests::HistoryRequest).

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
pub(crate) use rendering::with_ends;

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use varve_kv::deadline;

use self::kept_types::KeptTypes;
use crate::error::{Message, OmrsError};
use crate::json::Millis;
use crate::search::Searcher;
use crate::store::{Read, Store, Transaction};
use crate::types::Catalogue;

/// A metadata repository: the member of a cohort that this server is.
pub struct Repository {
    store: Arc<dyn Store>,
    /// What counts as the types now. Operations take it once and stay with it.
    types: ArcSwap<Catalogue>,
    /// Held exclusively while the types are exchanged, shared by whoever makes instances of them.
    kept_types: RwLock<KeptTypes>,
    /// Held by whoever changes the types, from what they are before to what they are then.
    changing_types: Mutex<()>,
    metadata_collection_id: String,
    options: Options,
    searcher: Searcher,
}

impl Repository {
    /// The types that are known now.
    #[must_use]
    pub fn types(&self) -> Arc<Catalogue> {
        self.types.load_full()
    }

    /// The place that instances are kept in.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The name of the metadata collection, which the repository is called by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.options.metadata_collection_name
    }

    /// `getMetadataCollectionId`: the identity of the metadata collection.
    #[must_use]
    pub fn get_metadata_collection_id(&self) -> &str {
        &self.metadata_collection_id
    }

    fn reader(&self, at: Option<Millis>) -> Result<Box<dyn Read + '_>, OmrsError> {
        self.store.read(at)
    }

    /// Runs `work` as one transaction, with types that do not change meanwhile. `guids` are those
    /// it is sure to touch.
    fn write<T>(
        &self,
        guids: &[&str],
        mut work: impl FnMut(&mut dyn Transaction, &Catalogue) -> Result<T, OmrsError>,
    ) -> Result<T, OmrsError> {
        let unchanged = match deadline::current() {
            None => Some(self.kept_types.read()),
            Some(deadline) => self.kept_types.try_read_until(deadline),
        };
        let _unchanged = unchanged.ok_or_else(|| {
            let words = "the request's time was over while the types changed";
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

/// What a call that the repository does not offer fails with.
fn not_supported(method: &str) -> OmrsError {
    OmrsError::new(Message::MethodNotImplemented, &[method])
}
