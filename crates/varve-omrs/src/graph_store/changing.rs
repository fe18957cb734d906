//! Changes the types of a store.
//!
//! First, writes begin to make the entries that follow from the new types. Then the missing entries
//! of stored instances are made. Last, readers and transactions switch to the new types. So no
//! search uses incomplete entries, and no request waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashSet;
use varve_encoding::DecodeError;
use varve_encoding::datum::{Cursor, Token};
use varve_encoding::row::{vertex_label, vertex_parts};
use varve_graph::index::{Deriver, rebuild_derived};
use varve_kv::deadline;
use varve_model::{EdgeLabelId, ElementId, TemporalScope, VertexLabelId};

use super::decode::Parts;
use super::entries::{InstanceDeriver, skip_rest};
use super::former::{self, Former};
use super::indexes::IndexKind;
use super::plan;
use super::presented::PresentingDeriver;
use super::rules::{Changed, Rules};
use super::state::{Keys, TypesInGraph, ensure_labels};
use super::{GraphStore, RULES, StoredRules};
use crate::error::{Message, OmrsError};
use crate::store::Subject;
use crate::types::{Catalogue, TypeIndex};

/// A change of the types that is not published yet.
pub(super) struct TypeChange {
    types: Arc<Catalogue>,
    state: Arc<TypesInGraph>,
    before: Rules,
    /// The types whose entries must be rebuilt.
    missing: Changed,
    /// Whether the stored entries have an earlier form.
    is_of_older_form: bool,
    /// Whether some of `missing` comes from an interrupted change, perhaps one of an earlier form.
    is_resumed: bool,
    /// Whether the stored note lists entries to rebuild.
    is_noted: bool,
    /// Whether all instances have the entries of the new types.
    is_complete: Arc<AtomicBool>,
}

impl TypeChange {
    /// Whether entries must be built.
    pub(super) fn is_to_be_completed(&self) -> bool {
        self.is_of_older_form || !self.missing.is_empty()
    }

    /// Whether these are its new types.
    pub(super) fn is_to(&self, types: &Arc<Catalogue>) -> bool {
        Arc::ptr_eq(&self.types, types)
    }

    pub(super) fn state(&self) -> &Arc<TypesInGraph> {
        &self.state
    }
}

impl GraphStore {
    /// Creates labels for new types. From now on, every write makes the entries that follow from
    /// `types`.
    pub(super) fn begin_change(&self, types: Arc<Catalogue>) -> Result<TypeChange, OmrsError> {
        let labels = ensure_labels(&self.graph, &types)?;
        let keys = Keys::of(&self.graph.schema()).ok_or_else(|| {
            let words = "the graph has other properties of the names that the store needs";
            OmrsError::new(Message::LogicError, &[words])
        })?;
        let kept = StoredRules::read(&**self.graph.space())?;
        let is_first = kept.is_none();
        let (before, mut pending) = match kept {
            Some(kept) => (kept.rules, kept.pending),
            None => (Rules::default(), (Vec::new(), Vec::new())),
        };
        let is_resumed = !(pending.0.is_empty() && pending.1.is_empty());
        let rules = Rules::of(&types, &labels, &before);
        if !is_first {
            self.add_unlisted(&rules, &before, &mut pending)?;
        }
        let is_of_older_form = !is_first && before.form < rules.form;
        let mut missing = if is_first {
            // Existing instances, as from a dump, have no entries.
            rules.all()
        } else {
            rules.changed_since(&before)
        };
        let mut noted = if is_of_older_form {
            // If this is interrupted, the next attempt rebuilds all entries.
            rules.labels()
        } else {
            rules.labels_of(&missing)
        };
        noted.0.extend(&pending.0);
        noted.1.extend(&pending.1);
        let is_noted = !(noted.0.is_empty() && noted.1.is_empty());
        if rules != before {
            let bytes = rules.to_bytes(keys, &noted);
            self.graph.notes().put(RULES, &bytes)?;
        }
        let rules = Arc::new(rules);
        let is_complete = Arc::new(AtomicBool::new(false));
        let deriver = PresentingDeriver {
            entries: InstanceDeriver {
                rules: Arc::clone(&rules),
                keys,
                texts: Some(Arc::clone(&self.texts)),
            },
            types: Arc::clone(&types),
            is_complete: Arc::clone(&is_complete),
        };
        self.graph.set_deriver(Some(Arc::new(deriver)));
        let texts = Arc::clone(&self.texts);
        let state = TypesInGraph::new(Arc::clone(&types), keys, rules, labels, texts);
        if !is_first && !is_of_older_form {
            // The lists of all types with rules were complete before.
            self.leave_out_unused(&state, &mut missing)?;
        }
        missing.entities.extend(pending.0);
        missing.relationships.extend(pending.1);
        Ok(TypeChange {
            types,
            state: Arc::new(state),
            before,
            missing,
            is_of_older_form,
            is_resumed,
            is_noted,
            is_complete,
        })
    }

    /// Adds the labels without rules in `before` that may have instances, by the graph's own lists
    /// of labels. Such instances came with a dump and are in no list of this store.
    fn add_unlisted(
        &self,
        rules: &Rules,
        before: &Rules,
        pending: &mut (Vec<u32>, Vec<u32>),
    ) -> Result<(), OmrsError> {
        let view = self.graph.view(TemporalScope::NOW)?;
        for label in rules.entities.keys() {
            if !before.entities.contains_key(label)
                && view.may_have_had_vertices(VertexLabelId(*label))?
            {
                pending.0.push(*label);
            }
        }
        for label in rules.relationships.keys() {
            if !before.relationships.contains_key(label)
                && view.may_have_had_edges(EdgeLabelId(*label))?
            {
                pending.1.push(*label);
            }
        }
        Ok(())
    }

    /// Makes the missing entries without a deadline: work that stopped at a request's deadline
    /// would start again with the next request, and never end. If the server stops meanwhile, the
    /// work is done when the graph is opened again, by the types that are set then.
    pub(super) fn complete_change(&self, change: &mut TypeChange) -> Result<(), OmrsError> {
        if change.is_to_be_completed() {
            return deadline::without_end(|| self.make_missing(change));
        }
        self.make_missing(change)
    }

    fn make_missing(&self, change: &mut TypeChange) -> Result<(), OmrsError> {
        let state = &change.state;
        let former = Former(InstanceDeriver {
            rules: Arc::new(change.before.with_all_together()),
            keys: state.keys,
            texts: None,
        });
        if change.is_of_older_form {
            rebuild_derived(&self.graph, Some(&former), &|id, content| {
                // Damaged content is reported when its entries are made.
                former::has_other_entries(id, content, state.keys, &change.before).unwrap_or(true)
            })?;
        }
        if !change.missing.is_empty() {
            let wanted = Wanted::of(&change.missing, state.keys);
            // Reading all states of each instance is needed only if entries of an earlier form may
            // exist.
            let has_former = change.is_of_older_form || change.is_resumed;
            let former = has_former.then_some(&former as &dyn Deriver);
            rebuild_derived(&self.graph, former, &|id, content| {
                wanted.has(id, content).unwrap_or(true)
            })?;
        }
        if change.is_noted {
            let none = (Vec::new(), Vec::new());
            let bytes = state.rules.to_bytes(state.keys, &none);
            self.graph.notes().put(RULES, &bytes)?;
        }
        change.missing = Changed::default();
        (change.is_of_older_form, change.is_noted) = (false, false);
        change.is_resumed = false;
        change.is_complete.store(true, Ordering::Release);
        Ok(())
    }

    /// Removes the types that no instance ever had, and the classifications that no entity ever
    /// carried. Costs one look-up for each.
    fn leave_out_unused(
        &self,
        state: &TypesInGraph,
        changed: &mut Changed,
    ) -> Result<(), OmrsError> {
        let mut failure = None;
        let mut is_used = |of: Option<TypeIndex>| match of.map(|of| self.was_ever(state, of)) {
            // A type that is no longer known may still be in use.
            None => true,
            Some(Ok(is_used)) => is_used,
            Some(Err(error)) => {
                failure = Some(error);
                true
            }
        };
        changed
            .entities
            .retain(|label| is_used(state.entity_type(*label)));
        changed
            .relationships
            .retain(|label| is_used(state.relationship_type(*label)));
        changed
            .classifications
            .retain(|name| is_used(state.types.by_name(name)));
        failure.map_or(Ok(()), Err)
    }

    /// Whether any instance has or ever had this type or a subtype, or any entity carries or ever
    /// carried this classification.
    pub(super) fn was_ever(&self, state: &TypesInGraph, of: TypeIndex) -> Result<bool, OmrsError> {
        let view = self.graph.view(TemporalScope::NOW)?;
        let (index, firsts) = plan::listing_of(state, of).ok_or_else(|| {
            let words = "the store does not know the requested type";
            OmrsError::new(Message::LogicError, &[words])
        })?;
        for first in &firsts {
            if view.was_ever_derived(index, first)? {
                return Ok(true);
            }
        }
        // The partitions of a level have the same name in all indexes.
        let proxies = IndexKind::Proxy.number(Subject::Entities);
        let is_entity_type = index == IndexKind::Guid.number(Subject::Entities);
        Ok(is_entity_type && view.was_ever_derived(proxies, &firsts[0])?)
    }
}

/// Selects the elements whose entries must be rebuilt.
struct Wanted<'a> {
    entities: FxHashSet<u32>,
    relationships: FxHashSet<u32>,
    classifications: &'a [String],
    keys: Keys,
}

impl<'a> Wanted<'a> {
    fn of(missing: &'a Changed, keys: Keys) -> Self {
        Self {
            entities: missing.entities.iter().copied().collect(),
            relationships: missing.relationships.iter().copied().collect(),
            classifications: &missing.classifications,
            keys,
        }
    }

    fn has(&self, id: &ElementId, content: &[u8]) -> Result<bool, DecodeError> {
        match id {
            ElementId::Edge(edge) => Ok(self.relationships.contains(&edge.label.0)),
            ElementId::Vertex(_) if self.entities.contains(&vertex_label(content)?.0) => Ok(true),
            ElementId::Vertex(_) if self.classifications.is_empty() => Ok(false),
            ElementId::Vertex(_) => self.carries(content),
        }
    }

    /// Whether an entity carries one of the classifications.
    fn carries(&self, content: &[u8]) -> Result<bool, DecodeError> {
        let parts = Parts::of(vertex_parts(content)?.1, self.keys)?;
        let Some(bytes) = parts.classifications else {
            return Ok(false);
        };
        let mut cursor = Cursor::new(bytes);
        let Token::List(count) = cursor.token()? else {
            return Err(cursor.error());
        };
        for _ in 0..count {
            let Token::Map(members) = cursor.token()? else {
                return Err(cursor.error());
            };
            for _ in 0..members {
                match (cursor.name()?, cursor.token()?) {
                    ("n", Token::Text(name))
                        if self.classifications.iter().any(|of| of == name) =>
                    {
                        return Ok(true);
                    }
                    (_, token) => skip_rest(token, &mut cursor)?,
                }
            }
        }
        Ok(false)
    }
}
