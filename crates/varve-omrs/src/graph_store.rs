//! The repository's instances on a graph: entities are vertices, relationships are edges, with their whole history.
//!
//! An entity is the vertex whose id is its GUID and whose label is its type; a relationship is an edge whose label is its
//! type and whose sort values are its GUID, so that there may be several between two entities. What is found by other things
//! than GUIDs is found by derived index entries ([`entries`]), which follow from the types by [`rules`].

mod audit;
mod carried;
mod decode;
mod encode;
mod entries;
mod former;
mod history;
mod indexes;
mod made;
mod plan;
mod properties;
mod read;
mod rules;
mod shown;
mod state;
mod telling;
#[cfg(test)]
mod tests;
mod texts;
mod transaction;

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use varve_graph::index::{Deriver, DeriverSource, rebuild_derived};
use varve_graph::{ErrorKind, Graph, GraphError};
use varve_kv::Reader;
use varve_model::{ElementId, Instant, TemporalScope};

use self::entries::InstanceDeriver;
use self::former::Former;
use self::indexes::Kind;
use self::read::{GraphReader, vertex_of};
use self::rules::Rules;
use self::state::{Keys, State, ensure_labels};
use self::texts::Texts;
use self::transaction::GraphTransaction;
use crate::error::{Message, OmrsError};
use crate::instances::EntityProxy;
use crate::json::{Millis, Shared};
use crate::store::{Read, Store, StoredEntity, StoredRelationship, Subject, Transaction, Version};
use crate::types::{Catalogue, TypeIndex};

/// The name of the note that holds the rules and the ids of the property keys.
const RULES: &str = "open-metadata rules";
/// What the names of the repository's own notes begin with.
const NOTES: &str = "note ";

/// Opens derivers of graphs that hold instances, for whoever opens graphs without the repository.
#[derive(Debug, Clone, Copy, Default)]
pub struct InstanceDerivers;

impl DeriverSource for InstanceDerivers {
    fn deriver(
        &self,
        _: &str,
        stored: &dyn Reader,
    ) -> Result<Option<Arc<dyn Deriver>>, GraphError> {
        let Some(kept) = Kept::read(stored)? else {
            return Ok(None);
        };
        Ok(Some(Arc::new(InstanceDeriver {
            rules: Arc::new(kept.rules),
            keys: kept.keys,
            texts: None,
        })))
    }
}

/// The rules as they are stored.
struct Kept {
    rules: Rules,
    keys: Keys,
    /// Labels of entity and relationship types whose instances' entries are to be made anew.
    pending: (Vec<u32>, Vec<u32>),
}

impl Kept {
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

/// A [`Store`] on a graph.
pub struct GraphStore {
    graph: Arc<Graph>,
    state: RwLock<Option<Arc<State>>>,
    /// Held by whoever changes the types.
    changing: Mutex<()>,
    texts: Arc<Texts>,
}

impl GraphStore {
    /// The instances that `graph` holds. Nothing can be read or changed before the types are told.
    #[must_use]
    pub fn open(graph: Arc<Graph>) -> Self {
        Self {
            texts: Texts::new(&graph),
            graph,
            state: RwLock::new(None),
            changing: Mutex::new(()),
        }
    }

    /// Waits until the texts of all instances are read, which is begun in the background when the types are first told.
    /// Returns whether they are known then: they may be too many.
    pub fn read_texts(&self) -> bool {
        let Some(state) = self.state.read().clone() else {
            return false;
        };
        if state.texts().is_none() {
            self.texts.await_reading();
        }
        state.texts().is_some()
    }

    /// The graph below.
    #[must_use]
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    fn state(&self) -> Result<Arc<State>, OmrsError> {
        let state = self.state.read().clone();
        state.ok_or_else(|| {
            let words = "the store was asked before it knew the types";
            OmrsError::new(Message::LogicError, &[words])
        })
    }

    /// Makes entries anew of instances of types whose rules have changed. If that is because an older form was not brought up
    /// to date to the end, there may be the entries that proxies and what is DELETED had then.
    fn rebuild(
        &self,
        former: &Former,
        (entities, relationships): &(Vec<u32>, Vec<u32>),
    ) -> Result<(), GraphError> {
        let label_of = |content: &[u8]| varve_encoding::row::vertex_label(content).map(|it| it.0);
        rebuild_derived(&self.graph, Some(former), &|id, content| match id {
            ElementId::Vertex(_) => label_of(content).is_ok_and(|label| entities.contains(&label)),
            ElementId::Edge(edge) => relationships.contains(&edge.label.0),
        })
    }

    /// Makes entries anew of instances that have other ones than by the rules of an earlier form.
    fn renew(&self, former: &Former, keys: Keys, before: &Rules) -> Result<(), GraphError> {
        rebuild_derived(&self.graph, Some(former), &|id, content| {
            // What is damaged is told when its entries are made.
            former::has_other_entries(id, content, keys, before).unwrap_or(true)
        })
    }
}

impl From<GraphError> for OmrsError {
    fn from(error: GraphError) -> Self {
        let message = match error.kind {
            ErrorKind::Busy => Message::StoreBusy,
            ErrorKind::LimitExceeded => Message::StoreLimit,
            _ => Message::StoreFailed,
        };
        Self::new(message, &[&error.message])
    }
}

impl Store for GraphStore {
    fn now(&self) -> Millis {
        Millis(self.graph.now().millis())
    }

    fn read(&self, at: Option<Millis>) -> Result<Box<dyn Read + '_>, OmrsError> {
        let scope = match at {
            None => TemporalScope::NOW,
            Some(at) => TemporalScope {
                valid: Some(last_of(at)),
                transaction: None,
            },
        };
        Ok(Box::new(GraphReader {
            view: self.graph.view(scope)?,
            state: self.state()?,
        }))
    }

    fn entity_history(&self, guid: &str) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
        let view = self.graph.view(TemporalScope::NOW)?;
        history::of_entity(&view, &*self.state()?, guid)
    }

    fn relationship_history(
        &self,
        guid: &str,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
        let view = self.graph.view(TemporalScope::NOW)?;
        history::of_relationship(&view, &*self.state()?, guid)
    }

    fn proxies_at(
        &self,
        asked: &[(&str, &[Millis])],
    ) -> Result<Vec<Vec<Option<Shared<EntityProxy>>>>, OmrsError> {
        let view = self.graph.view(TemporalScope::NOW)?;
        let instants =
            |times: &[Millis]| -> Vec<Instant> { times.iter().map(|at| last_of(*at)).collect() };
        let asked: Vec<(&str, Vec<Instant>)> = asked
            .iter()
            .map(|(guid, times)| (*guid, instants(times)))
            .collect();
        history::proxies_at(&view, &*self.state()?, &asked)
    }

    fn has_ever(&self, of: TypeIndex) -> Result<bool, OmrsError> {
        let state = self.state()?;
        let view = self.graph.view(TemporalScope::NOW)?;
        let (index, firsts) = plan::listing_of(&state, of).ok_or_else(|| {
            let words = "the store was asked for a type that it does not know";
            OmrsError::new(Message::LogicError, &[words])
        })?;
        for first in &firsts {
            if view.was_ever_derived(index, first)? {
                return Ok(true);
            }
        }
        // Levels are called alike in all indexes.
        let proxies = Kind::Proxy.number(Subject::Entities);
        let is_entity_type = index == Kind::Guid.number(Subject::Entities);
        Ok(is_entity_type && view.was_ever_derived(proxies, &firsts[0])?)
    }

    fn transact(
        &self,
        guids: &[&str],
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), OmrsError>,
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
            // Under the latches: whoever changes the types waits for what began before.
            let state = self.state()?;
            work(&mut GraphTransaction::new(inner, state))
        })
    }

    fn set_types(&self, types: Arc<Catalogue>) -> Result<(), OmrsError> {
        let _one_at_a_time = self.changing.lock();
        let labels = ensure_labels(&self.graph, &types)?;
        let keys = Keys::of(&self.graph.schema()).ok_or_else(|| {
            let words = "the graph has other properties of the names that the store needs";
            OmrsError::new(Message::LogicError, &[words])
        })?;
        let notes = self.graph.notes();
        let kept = Kept::read(&**self.graph.space())?;
        let is_first = kept.is_none();
        let (before, mut pending) = match kept {
            Some(kept) => (kept.rules, kept.pending),
            None => (Rules::default(), (Vec::new(), Vec::new())),
        };
        let rules = Rules::of(&types, &labels, &before);
        let is_older = !is_first && before.form < rules.form;
        let changed = if is_first {
            // What is there already, as from a dump, came without entries.
            rules.labels()
        } else {
            rules.changed_since(&before)
        };
        pending.0.extend(changed.0);
        pending.1.extend(changed.1);
        if rules != before {
            // If it is interrupted, an older form is brought up to date by making everything anew.
            let of_older = is_older.then(|| rules.labels());
            notes.put(
                RULES,
                &rules.to_bytes(keys, of_older.as_ref().unwrap_or(&pending)),
            )?;
        }
        let rules = Arc::new(rules);
        let deriver = InstanceDeriver {
            rules: Arc::clone(&rules),
            keys,
            texts: Some(Arc::clone(&self.texts)),
        };
        self.graph.set_deriver(Some(Arc::new(deriver)));
        let texts = Arc::clone(&self.texts);
        let state = State::new(types, keys, Arc::clone(&rules), labels, texts);
        let state = Arc::new(state);
        let had_types = self.state.write().replace(Arc::clone(&state)).is_some();
        if !had_types {
            state.begin_texts();
        }
        let former = Former(InstanceDeriver {
            rules: Arc::new(before.with_all_together()),
            keys,
            texts: None,
        });
        if is_older {
            self.renew(&former, keys, &before)?;
        }
        let is_pending = !(pending.0.is_empty() && pending.1.is_empty());
        if is_pending {
            self.rebuild(&former, &pending)?;
        }
        if is_pending || is_older {
            notes.put(RULES, &rules.to_bytes(keys, &(Vec::new(), Vec::new())))?;
        }
        Ok(())
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, OmrsError> {
        Ok(self.graph.notes().get(&format!("{NOTES}{name}"))?)
    }

    fn put_note(&self, name: &str, content: &[u8]) -> Result<(), OmrsError> {
        Ok(self.graph.notes().put(&format!("{NOTES}{name}"), content)?)
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
