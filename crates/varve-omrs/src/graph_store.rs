//! The repository's instances on a graph: entities are vertices, relationships are edges, with
//! their whole history.
//!
//! An entity is the vertex whose id is its GUID and whose label is its type. A relationship is an
//! edge whose label is its type and whose sort values are its GUID, so two entities may have
//! several relationships. Everything that is searched for other than by GUID has derived index
//! entries ([`entries`]), which follow from the types by [`rules`].

mod audit;
mod carried;
mod changing;
mod decided;
mod decode;
mod encode;
mod entries;
mod former;
mod history;
mod indexes;
mod made;
mod plan;
mod presented;
mod properties;
mod read;
mod reader;
mod rendering;
mod row;
mod rules;
mod state;
#[cfg(test)]
mod tests;
mod texts;
mod transaction;

pub use reader::GraphReader;
pub use row::{Row, Step, Visit};
pub use transaction::GraphTransaction;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::{Mutex, RwLock};
use varve_graph::index::{Deriver, DeriverSource};
use varve_graph::read::View;
use varve_graph::{ErrorKind, Graph, GraphError};
use varve_kv::Reader;
use varve_model::{Instant, TemporalScope};

use self::changing::TypeChange;
use self::entries::InstanceDeriver;
use self::presented::PresentingDeriver;
use self::read::vertex_of;
use self::rules::Rules;
use self::state::{Keys, TypesInGraph};
use self::texts::Texts;
use crate::error::{Message, OmrsError};
use crate::instances::EntityProxy;
use crate::json::{Millis, Shared};
use crate::store::{Choice, Cost, StoredEntity, StoredRelationship, Version};
use crate::types::{Catalogue, TypeIndex, kept};

/// The name of the note that holds the rules and the ids of the property keys.
const RULES: &str = "open-metadata rules";
/// The prefix of the names of the repository's own notes.
const NOTES: &str = "note ";

/// Opens the derivers of graphs that store instances, for programs that open graphs without the
/// repository.
#[derive(Debug, Clone, Copy, Default)]
pub struct InstanceDerivers;

impl DeriverSource for InstanceDerivers {
    fn deriver(
        &self,
        _: &str,
        stored: &dyn Reader,
    ) -> Result<Option<Arc<dyn Deriver>>, GraphError> {
        let Some(kept) = StoredRules::read(stored)? else {
            return Ok(None);
        };
        let entries = InstanceDeriver {
            rules: Arc::new(kept.rules),
            keys: kept.keys,
            texts: None,
        };
        let note = |name: &str| Ok(varve_graph::notes::read(stored, &format!("{NOTES}{name}"))?);
        Ok(Some(match kept::read(&note) {
            Ok(known) => Arc::new(PresentingDeriver {
                entries,
                types: Arc::new(known.types),
                is_complete: Arc::new(AtomicBool::new(
                    kept.pending.0.is_empty() && kept.pending.1.is_empty(),
                )),
            }),
            // A graph with damaged types can still be read as it is stored.
            Err(_) => Arc::new(entries),
        }))
    }
}

/// The rules as they are stored.
struct StoredRules {
    rules: Rules,
    keys: Keys,
    /// The labels of entity and relationship types whose index entries must be rebuilt.
    pending: (Vec<u32>, Vec<u32>),
}

impl StoredRules {
    fn read(stored: &dyn Reader) -> Result<Option<Self>, GraphError> {
        let Some(bytes) = varve_graph::notes::read(stored, RULES)? else {
            return Ok(None);
        };
        let (rules, keys, pending) = Rules::decode(&bytes)?;
        Ok(Some(Self {
            rules,
            keys,
            pending,
        }))
    }
}

/// The store of the repository's instances. It keeps every state of an instance until the
/// instance is purged.
pub struct GraphStore {
    graph: Arc<Graph>,
    state: RwLock<Option<Arc<TypesInGraph>>>,
    /// The change of the types that has begun and is not published. Locked while the types change.
    changing: Mutex<Option<TypeChange>>,
    texts: Arc<Texts>,
}

impl GraphStore {
    /// Opens the store of the instances in `graph`. [`Self::set_types`] must be called before
    /// anything is read or changed.
    #[must_use]
    pub fn open(graph: Arc<Graph>) -> Self {
        Self {
            texts: Texts::new(&graph),
            graph,
            state: RwLock::new(None),
            changing: Mutex::new(None),
        }
    }

    /// Waits until the texts of all instances are read, which starts in the background when the
    /// types are first set. Returns whether all texts are known then; there may be too many.
    pub fn read_texts(&self) -> bool {
        let Some(state) = self.state.read().clone() else {
            return false;
        };
        if state.texts().is_none() {
            self.texts.await_reading();
        }
        state.texts().is_some()
    }

    /// The underlying graph.
    #[must_use]
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    fn state(&self) -> Result<Arc<TypesInGraph>, OmrsError> {
        let state = self.state.read().clone();
        state.ok_or_else(|| {
            let words = "the store was asked before it knew the types";
            OmrsError::new(Message::LogicError, &[words])
        })
    }

    /// A view, and the types that were set when it was made. Older types may lack types of
    /// instances in the view; newer types would search by entries that the view does not have yet.
    fn view_by_types(&self, scope: TemporalScope) -> Result<(View, Arc<TypesInGraph>), OmrsError> {
        loop {
            let state = self.state()?;
            let view = self.graph.view(scope)?;
            let now = self.state.read();
            if now.as_ref().is_some_and(|now| Arc::ptr_eq(now, &state)) {
                return Ok((view, state));
            }
        }
    }

    /// The time by the store's clock.
    pub fn now(&self) -> Millis {
        Millis(self.graph.now().millis())
    }

    /// Opens a reader of now, or of the end of the millisecond `at`.
    ///
    /// # Errors
    /// When the store fails.
    pub fn read(&self, at: Option<Millis>) -> Result<GraphReader, OmrsError> {
        let scope = match at {
            None => TemporalScope::NOW,
            Some(at) => TemporalScope {
                valid: Some(last_of(at)),
                transaction: None,
            },
        };
        let (view, state) = self.view_by_types(scope)?;
        Ok(GraphReader { view, state })
    }

    /// The states of an entity that `choice` selects, in its order.
    ///
    /// # Errors
    /// When the store fails; what `choice` returns.
    pub fn entity_states(
        &self,
        guid: &str,
        choice: &mut dyn Choice,
    ) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
        let (view, state) = self.view_by_types(TemporalScope::NOW)?;
        history::of_entity(&view, &state, guid, choice)
    }

    /// The same for a relationship.
    ///
    /// # Errors
    /// As [`Self::entity_states`].
    pub fn relationship_states(
        &self,
        guid: &str,
        choice: &mut dyn Choice,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
        let (view, state) = self.view_by_types(TemporalScope::NOW)?;
        history::of_relationship(&view, &state, guid, choice)
    }

    /// The proxies of entities, for the ends of relationships. Returns one list for each entity,
    /// with its proxy at each of its times, both in the given order.
    ///
    /// # Errors
    /// When the store fails; what `cost` returns.
    pub fn proxies_at(
        &self,
        asked: &[(&str, &[Millis])],
        cost: &mut dyn Cost,
    ) -> Result<Vec<Vec<Option<Shared<EntityProxy>>>>, OmrsError> {
        let (view, state) = self.view_by_types(TemporalScope::NOW)?;
        let instants =
            |times: &[Millis]| -> Vec<Instant> { times.iter().map(|at| last_of(*at)).collect() };
        let asked: Vec<(&str, Vec<Instant>)> = asked
            .iter()
            .map(|(guid, times)| (*guid, instants(times)))
            .collect();
        history::proxies_at(&view, &state, &asked, cost)
    }

    /// Whether any instance that is not purged has, or ever had, this type or a subtype. For a
    /// classification: whether any entity carries it, or ever did. The store must know the type.
    ///
    /// # Errors
    /// When the store fails.
    pub fn has_ever(&self, of: TypeIndex) -> Result<bool, OmrsError> {
        self.was_ever(&*self.state()?, of)
    }

    /// Runs `work` and commits its changes, which are durable when this returns. Until then,
    /// instances that `work` read by GUID, and lists of relationships that it read, do not change.
    /// `work` may be called again after a conflict; naming the GUIDs that it surely touches in
    /// `guids` avoids that. When `work` fails, nothing changes.
    ///
    /// # Errors
    /// What `work` returns, or when the store fails.
    pub fn transact(
        &self,
        guids: &[&str],
        work: &mut dyn FnMut(&mut GraphTransaction<'_, '_>) -> Result<(), OmrsError>,
    ) -> Result<(), OmrsError> {
        let ids: Vec<_> = guids.iter().map(|guid| vertex_of(guid)).collect();
        let names: Vec<_> = guids
            .iter()
            .map(|guid| transaction::held_name(guid))
            .collect();
        let mut touched = Vec::with_capacity(2 * guids.len());
        touched.extend(ids.iter().map(varve_graph::write::Touch::Read));
        touched.extend(
            names
                .iter()
                .map(|name| varve_graph::write::Touch::Name(name)),
        );
        self.graph.transact(&touched, &mut |inner| {
            // Taken under the latches: a change of the types waits for transactions that began
            // before it.
            let state = self.state()?;
            work(&mut GraphTransaction::new(inner, state))
        })
    }

    /// Begins a change to other types. From now on, writes still follow the present types, but
    /// searches by `types` find them too. Returns whether [`Self::complete_types`] has work to do.
    /// [`Self::set_types`] ends the change if called with the same `types`, and gives it up if
    /// called with others.
    ///
    /// # Errors
    /// When the store fails.
    pub fn begin_types(&self, types: Arc<Catalogue>) -> Result<bool, OmrsError> {
        let mut changing = self.changing.lock();
        *changing = None;
        let change = changing.insert(self.begin_change(types)?);
        Ok(change.is_to_be_completed())
    }

    /// Prepares the instances written before [`Self::begin_types`] for the new types, so that
    /// searches find them too. Its time grows with their number; reads and writes continue
    /// meanwhile.
    ///
    /// # Errors
    /// When the store fails.
    pub fn complete_types(&self) -> Result<(), OmrsError> {
        let mut changing = self.changing.lock();
        let change = changing.as_mut();
        change.map_or(Ok(()), |change| self.complete_change(change))
    }

    /// Sets the types by which instances are stored and found. The repository reports every change
    /// of the types before it writes an instance of the new types. The store updates its entries,
    /// as far as [`Self::complete_types`] has not done so.
    ///
    /// # Errors
    /// When the store fails.
    pub fn set_types(&self, types: Arc<Catalogue>) -> Result<(), OmrsError> {
        let mut changing = self.changing.lock();
        let begun = changing.take().filter(|change| change.is_to(&types));
        let mut change = begun.map_or_else(|| self.begin_change(types), Ok)?;
        self.complete_change(&mut change)?;
        let state = change.state();
        if self.state.write().replace(Arc::clone(state)).is_none() {
            state.begin_texts();
        }
        Ok(())
    }

    /// Reads a note of the repository itself (its id, its types), by name.
    ///
    /// # Errors
    /// When the store fails.
    pub fn note(&self, name: &str) -> Result<Option<Vec<u8>>, OmrsError> {
        Ok(self.graph.notes().get(&format!("{NOTES}{name}"))?)
    }

    /// Stores a note, durably.
    ///
    /// # Errors
    /// When the store fails.
    pub fn put_note(&self, name: &str, content: &[u8]) -> Result<(), OmrsError> {
        Ok(self.graph.notes().put(&format!("{NOTES}{name}"), content)?)
    }
}

impl From<GraphError> for OmrsError {
    fn from(error: GraphError) -> Self {
        let message = match error.kind {
            ErrorKind::Busy => Message::StoreBusy,
            ErrorKind::Unwritable => Message::StoreUnwritable,
            ErrorKind::OutcomeUnknown => Message::OutcomeUnknown,
            ErrorKind::LimitExceeded => Message::StoreLimit,
            _ => Message::StoreFailed,
        };
        Self::new(message, &[&error.message])
    }
}

impl Drop for GraphStore {
    fn drop(&mut self) {
        self.texts.close();
    }
}

/// The last instant of a millisecond.
fn last_of(at: Millis) -> Instant {
    Instant::from_millis(at.0).plus_micros(999)
}
