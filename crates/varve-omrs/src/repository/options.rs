//! Options of a repository, and opening one.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};

use super::kept_types::KeptTypes;
use super::{Repository, guid};
use crate::error::{Message, OmrsError};
use crate::graph_store::GraphStore;
use crate::search::Searcher;

/// The name of the note that holds the metadata collection's id.
const ID_NOTE: &str = "metadata-collection-id";

/// The options with which a repository is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The metadata collection's id; `None`: the stored one, which is generated when the store is
    /// first opened.
    pub metadata_collection_id: Option<String>,
    /// The metadata collection's name.
    pub metadata_collection_name: String,
    /// The part of the instances' URLs before `/open-metadata/repository-services`, without a slash
    /// at the end.
    pub base_url: String,
}

impl Repository {
    /// Opens the repository in `store`. If the store has no types, the repository has those of the
    /// standard. If it has no metadata collection id, the one of the options, or a random one, is
    /// stored.
    ///
    /// # Errors
    /// When the store fails, has types that cannot be read, or belongs to a metadata collection
    /// other than the one in the options.
    pub fn open(store: Arc<GraphStore>, options: Options) -> Result<Self, OmrsError> {
        let metadata_collection_id = kept_id(&store, options.metadata_collection_id.as_deref())?;
        let (kept_types, types) = KeptTypes::open(&store)?;
        let types = Arc::new(types);
        store.set_types(Arc::clone(&types))?;
        Ok(Self {
            store,
            types: ArcSwap::new(types),
            kept_types: RwLock::new(kept_types),
            changing_types: Mutex::new(()),
            metadata_collection_id,
            options,
            searcher: Searcher::default(),
        })
    }
}

fn kept_id(store: &GraphStore, asked: Option<&str>) -> Result<String, OmrsError> {
    let fault = |words: &str| OmrsError::new(Message::LogicError, &[words]);
    if let Some(kept) = store.note(ID_NOTE)? {
        let kept = String::from_utf8(kept)
            .map_err(|_| fault("the note of the metadata collection's id is not text"))?;
        return match asked {
            Some(asked) if asked != kept => {
                let words = format!("the store belongs to metadata collection {kept}, not {asked}");
                Err(fault(&words))
            }
            _ => Ok(kept),
        };
    }
    let id = asked.map_or_else(guid::random, str::to_owned);
    store.put_note(ID_NOTE, id.as_bytes())?;
    Ok(id)
}
