//! The seam between the repository and the store of its instances.
//!
//! [`Store`] opens readers at a point of time and runs transactions; [`Read`] has the look-ups of
//! both. The rules of the contract are above this seam, bytes and indexes below it. A store keeps
//! every state of an instance until the instance is purged.

mod choice;
mod instance;
mod rendered;
mod stored;
mod walk;

use std::ops::ControlFlow;
use std::sync::Arc;

pub use choice::{Choice, Cost, Everything};
pub use instance::{Candidate, CandidateRow, Instance};
pub(crate) use rendered::EntityJson;
pub use rendered::{RenderedEntity, RenderedRelationship};
pub use stored::{LifeStatus, Link, StoredEntity, StoredInstance, StoredRelationship, Version};
pub use walk::{
    Listing, Step, Subject, TestText, TextHint, Visit, VisitHead, VisitLink, VisitLinkAt, Walk,
    WalkBy,
};

use crate::error::{Message, OmrsError};
use crate::instances::{EntityDetail, EntityProxy};
use crate::json::{Millis, Shared};
use crate::types::{Catalogue, TypeIndex};

/// Looks up instances at one point of time, in one committed state. Deleted instances (status
/// DELETED) are found too; purged ones are not.
pub trait Read {
    /// The types by which the reader resolves every [`TypeIndex`] in its arguments. They may be
    /// newer than those that the repository knew when it opened the reader.
    fn types(&self) -> Arc<Catalogue>;

    /// The entity with this GUID.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the store fails, as with every method here.
    fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError>;

    /// The relationship with this GUID.
    ///
    /// # Errors
    /// As above.
    fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError>;

    /// The header of the entity with this GUID, for callers that destroy the entity. Properties,
    /// classifications and mapping properties may be missing.
    ///
    /// # Errors
    /// As above.
    fn entity_head(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        self.entity(guid)
    }

    /// The same for the relationship with this GUID.
    ///
    /// # Errors
    /// As above.
    fn relationship_head(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        self.relationship(guid)
    }

    /// The entity with this GUID, rendered.
    ///
    /// # Errors
    /// As above.
    fn rendered_entity(&self, guid: &str) -> Result<Option<RenderedEntity>, OmrsError> {
        let entity = self.entity(guid)?;
        Ok(entity.map(|entity| RenderedEntity::new(&self.types(), entity)))
    }

    /// The proxy of the entity with this GUID, rendered, for the end of a relationship.
    ///
    /// # Errors
    /// As above.
    fn rendered_proxy(&self, guid: &str) -> Result<Option<Shared<EntityProxy>>, OmrsError> {
        let entity = self.rendered_entity(guid)?;
        Ok(entity.map(|entity| entity.proxy().clone()))
    }

    /// Calls `show` with the proxy of each of these entities that exists, and its position in
    /// `guids`, in no order.
    ///
    /// # Errors
    /// As above.
    fn rendered_proxies(
        &self,
        guids: &[&str],
        show: &mut dyn FnMut(usize, Shared<EntityProxy>),
    ) -> Result<(), OmrsError> {
        for (at, guid) in guids.iter().enumerate() {
            if let Some(proxy) = self.rendered_proxy(guid)? {
                show(at, proxy);
            }
        }
        Ok(())
    }

    /// The relationship of a link that this reader has visited, rendered.
    ///
    /// # Errors
    /// As above.
    fn rendered_relationship(
        &self,
        link: &Link,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        let relationship = self.relationship(&link.guid)?;
        Ok(relationship.map(|found| RenderedRelationship::new(&self.types(), found)))
    }

    /// The candidate for the instance with this GUID.
    ///
    /// # Errors
    /// As above.
    fn kept(&self, subject: Subject, guid: &str) -> Result<Option<Candidate>, OmrsError> {
        let found = match subject {
            Subject::Entities => self.entity(guid)?.map(StoredInstance::Entity),
            Subject::Relationships => self.relationship(guid)?.map(StoredInstance::Relationship),
        };
        Ok(found.map(|found| Candidate::Object(Box::new(found))))
    }

    /// The entity of a candidate row, rendered; `None` if only a proxy of it is known. The row
    /// comes from this reader, or from another one at the same point of time.
    ///
    /// # Errors
    /// As above.
    fn candidate_entity(
        &self,
        _kept: &CandidateRow,
    ) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        Err(not_its_own())
    }

    /// The same for a relationship.
    ///
    /// # Errors
    /// As above.
    fn candidate_relationship(
        &self,
        _kept: CandidateRow,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        Err(not_its_own())
    }

    /// Visits the relationships with this entity at either end, in a stable order, limited to one
    /// type if `of` is given. A relationship with the entity at both ends is visited once.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    fn relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError>;

    /// The same, rendered, without the relationships whose GUIDs `is_known` accepts.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    fn rendered_relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        is_known: &dyn Fn(&str) -> bool,
        visit: &mut dyn FnMut(RenderedRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        let types = self.types();
        self.relationships_of(entity, of, &mut |relationship| {
            if is_known(relationship.header.guid()) {
                return Ok(ControlFlow::Continue(()));
            }
            visit(RenderedRelationship::new(&types, relationship))
        })
    }

    /// Visits the relationships of [`Read::relationships_of`] of any type, in the same order, as
    /// links. A store with rows also passes the content of each row, which [`Read::rendered_link`]
    /// renders without another read.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    fn links_of(&self, entity: &str, visit: VisitLink<'_>) -> Result<(), OmrsError> {
        let types = self.types();
        self.relationships_of(entity, None, &mut |relationship| {
            visit(Link::of(&types, &relationship), None)
        })
    }

    /// The best number of entities for one call of [`Read::links_of_each`].
    fn links_at_once(&self) -> usize {
        1
    }

    /// [`Read::links_of`] for several entities. Each link comes with the position of its entity;
    /// the links of one entity come together. A break ends the visits of that entity only.
    ///
    /// # Errors
    /// As [`Read::links_of`].
    fn links_of_each(&self, entities: &[&str], visit: VisitLinkAt<'_>) -> Result<(), OmrsError> {
        for (at, entity) in entities.iter().enumerate() {
            self.links_of(entity, &mut |link, content| visit(at, link, content))?;
        }
        Ok(())
    }

    /// The relationship of a link that was visited with this content, rendered.
    ///
    /// # Errors
    /// As above.
    fn rendered_link(
        &self,
        _link: &Link,
        _content: &[u8],
    ) -> Result<RenderedRelationship, OmrsError> {
        Err(not_its_own())
    }

    /// The entity's status.
    ///
    /// # Errors
    /// As above.
    fn life_status(&self, guid: &str) -> Result<Option<LifeStatus>, OmrsError> {
        let entity = self.entity(guid)?;
        Ok(entity.map(|entity| LifeStatus::from(&entity)))
    }

    /// The entity's status and, if the store has rows, its candidate row, which
    /// [`Read::rendered_kept`] renders without another read.
    ///
    /// # Errors
    /// As above.
    fn glance(&self, guid: &str) -> Result<Option<(LifeStatus, Option<CandidateRow>)>, OmrsError> {
        Ok(self
            .life_status(guid)?
            .map(|life_status| (life_status, None)))
    }

    /// The entity of a candidate row, rendered. Unlike [`Read::candidate_entity`], it includes the
    /// proxy.
    ///
    /// # Errors
    /// As above.
    fn rendered_kept(&self, _kept: &CandidateRow) -> Result<RenderedEntity, OmrsError> {
        Err(not_its_own())
    }

    /// Visits the instances of a walk, each in its state at the point of time. Never visits an
    /// instance that does not satisfy the walk. Proxies may be left out: no search finds them.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError>;

    /// The number of texts that [`Read::matching_texts`] would test; `None` when the reader does
    /// not know all texts, yet or ever. Texts are those of [`WalkBy::Text`].
    fn texts(&self) -> Option<usize> {
        None
    }

    /// All texts that pass a test, and the starts of texts that may pass. Some may belong to no
    /// instance at the point of time. `None` when more than `most` are found, or when the reader
    /// does not know all texts.
    ///
    /// # Errors
    /// What the test returns, which ends it.
    fn matching_texts(
        &self,
        _matches: TestText<'_>,
        _most: usize,
    ) -> Result<Option<Vec<TextHint>>, OmrsError> {
        Ok(None)
    }

    /// In a walk by a property: a position for [`Walk::after`] that follows all instances with the
    /// same value as the instance at `place`. `None` = not known.
    fn behind_same_value(&self, _place: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Whether an index serves this walk. [`Read::walk`] refuses a walk that none serves.
    fn can_walk(&self, walk: &Walk<'_>) -> bool;

    /// A number for the committed state that is read. Two readers of now, or two of the same point
    /// of time, with the same number show the same instances at the same positions of every walk,
    /// so a walk can continue in another reader. `None` = not known. That is always correct, but
    /// then each page of a search starts from the beginning.
    ///
    /// For a point of time in the past, only changes of the past need to change the number: purges,
    /// and writes with an earlier time.
    fn state(&self) -> Option<u64> {
        None
    }
}

fn not_its_own() -> OmrsError {
    let words = "a reader that keeps no rows was asked for one";
    OmrsError::new(Message::LogicError, &[words])
}

/// Changes instances. Its reads see its own changes. Either all changes are committed or none.
pub trait Transaction: Read {
    /// The time that is now for the whole transaction. In the store's finer time it is later than
    /// the start of the latest state of every instance that the transaction reads; in milliseconds
    /// the two may be equal.
    fn now(&self) -> Millis;

    /// The newest state of an entity with a version below `version` in which it was not deleted.
    ///
    /// # Errors
    /// As [`Read::entity`].
    fn earlier_entity(&self, guid: &str, version: i64) -> Result<Option<EntityDetail>, OmrsError>;

    /// The newest state of a relationship with a version below `version` in which it was not
    /// deleted.
    ///
    /// # Errors
    /// As [`Read::entity`].
    fn earlier_relationship(
        &self,
        guid: &str,
        version: i64,
    ) -> Result<Option<StoredRelationship>, OmrsError>;

    /// The start of an entity's present state; `None` = the entity is not known.
    ///
    /// # Errors
    /// As [`Read::entity`].
    fn entity_start(&self, guid: &str) -> Result<Option<Millis>, OmrsError>;

    /// The start of a relationship's present state; `None` = the relationship is not known.
    ///
    /// # Errors
    /// As [`Read::entity`].
    fn relationship_start(&self, guid: &str) -> Result<Option<Millis>, OmrsError>;

    /// Visits the headers of the relationships of an entity, as [`Read::relationship_head`], for
    /// callers that need few of them in full.
    ///
    /// # Errors
    /// As [`Read::relationships_of`].
    fn relationship_heads_of(&self, entity: &str, visit: VisitHead<'_>) -> Result<(), OmrsError> {
        self.relationships_of(entity, None, &mut |relationship| {
            visit(&relationship, &|| Ok(relationship.clone()))
        })
    }

    /// Writes a new state of an entity, valid from `since` (not after now), or from now.
    ///
    /// # Errors
    /// When it is too large, or the store fails.
    fn put_entity(&mut self, entity: StoredEntity, since: Option<Millis>) -> Result<(), OmrsError>;

    /// Writes a new state of a relationship. Its ends may differ from the previous ones.
    ///
    /// # Errors
    /// As [`Transaction::put_entity`].
    fn put_relationship(
        &mut self,
        relationship: StoredRelationship,
        since: Option<Millis>,
    ) -> Result<(), OmrsError>;

    /// Destroys an entity with its history, and every relationship that it has or had, with its
    /// history. If a relationship has other ends now, only its states with this entity at an end
    /// are destroyed.
    ///
    /// # Errors
    /// When the store fails.
    fn purge_entity(&mut self, guid: &str) -> Result<(), OmrsError>;

    /// Destroys a relationship with its history.
    ///
    /// # Errors
    /// When the store fails.
    fn purge_relationship(&mut self, guid: &str) -> Result<(), OmrsError>;
}

/// A store of instances.
pub trait Store: Send + Sync {
    /// The time by the store's clock.
    fn now(&self) -> Millis;

    /// Opens a reader of now, or of the end of the millisecond `at`.
    ///
    /// # Errors
    /// When the store fails.
    fn read(&self, at: Option<Millis>) -> Result<Box<dyn Read + '_>, OmrsError>;

    /// All states that an entity ever had, oldest first; empty when it is not known.
    ///
    /// # Errors
    /// When the store fails.
    fn entity_history(&self, guid: &str) -> Result<Vec<Version<StoredEntity>>, OmrsError>;

    /// All states that a relationship ever had, oldest first; empty when it is not known.
    ///
    /// # Errors
    /// When the store fails.
    fn relationship_history(
        &self,
        guid: &str,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError>;

    /// The states of an entity that `choice` selects, in its order.
    ///
    /// # Errors
    /// When the store fails; what `choice` returns.
    fn entity_states(
        &self,
        guid: &str,
        choice: &mut dyn Choice,
    ) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
        let life_status = |entity: &StoredEntity| LifeStatus::from(entity);
        choice::chosen(self.entity_history(guid)?, life_status, choice)
    }

    /// The same for a relationship.
    ///
    /// # Errors
    /// As [`Store::entity_states`].
    fn relationship_states(
        &self,
        guid: &str,
        choice: &mut dyn Choice,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
        let life_status =
            |relationship: &StoredRelationship| LifeStatus::from(&relationship.header);
        choice::chosen(self.relationship_history(guid)?, life_status, choice)
    }

    /// The proxies of entities, for the ends of relationships. Returns one list for each entity,
    /// with its proxy at each of its times, both in the given order.
    ///
    /// # Errors
    /// When the store fails; what `cost` returns.
    fn proxies_at(
        &self,
        asked: &[(&str, &[Millis])],
        _cost: &mut dyn Cost,
    ) -> Result<Vec<Vec<Option<Shared<EntityProxy>>>>, OmrsError> {
        let of_each = |(guid, times): &(&str, &[Millis])| {
            let at = |at: &Millis| self.read(Some(*at))?.rendered_proxy(guid);
            times.iter().map(at).collect()
        };
        asked.iter().map(of_each).collect()
    }

    /// Whether any instance that is not purged has, or ever had, this type or a subtype. For a
    /// classification: whether any entity carries it, or ever did. The store must know the type.
    ///
    /// # Errors
    /// When the store fails.
    fn has_ever(&self, of: TypeIndex) -> Result<bool, OmrsError>;

    /// Runs `work` and commits its changes, which are durable when this returns. Until then,
    /// instances that `work` read by GUID, and lists of relationships that it read, do not change.
    /// `work` may be called again after a conflict; naming the GUIDs that it surely touches in
    /// `guids` avoids that. When `work` fails, nothing changes.
    ///
    /// # Errors
    /// What `work` returns, or when the store fails.
    fn transact(
        &self,
        guids: &[&str],
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), OmrsError>,
    ) -> Result<(), OmrsError>;

    /// Begins a change to other types. From now on, writes still follow the present types, but
    /// searches by `types` find them too. Returns whether [`Store::complete_types`] has work to do.
    /// [`Store::set_types`] ends the change if called with the same `types`, and gives it up if
    /// called with others.
    ///
    /// # Errors
    /// When the store fails.
    fn begin_types(&self, _types: Arc<Catalogue>) -> Result<bool, OmrsError> {
        Ok(false)
    }

    /// Prepares the instances written before [`Store::begin_types`] for the new types, so that
    /// searches find them too. Its time grows with their number; reads and writes continue
    /// meanwhile.
    ///
    /// # Errors
    /// When the store fails.
    fn complete_types(&self) -> Result<(), OmrsError> {
        Ok(())
    }

    /// Sets the types by which instances are stored and found. The repository reports every change
    /// of the types before it writes an instance of the new types. The store updates its entries,
    /// as far as [`Store::complete_types`] has not done so.
    ///
    /// # Errors
    /// When the store fails.
    fn set_types(&self, types: Arc<Catalogue>) -> Result<(), OmrsError>;

    /// Reads a note of the repository itself (its id, its types), by name.
    ///
    /// # Errors
    /// When the store fails.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, OmrsError>;

    /// Stores a note, durably.
    ///
    /// # Errors
    /// When the store fails.
    fn put_note(&self, name: &str, content: &[u8]) -> Result<(), OmrsError>;
}
