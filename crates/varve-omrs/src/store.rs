//! What the repository needs of the place that its instances are kept in.
//!
//! [`Store`] opens readers at a point of time and runs transactions; [`Read`] is what both of them
//! can look up. The rules of the contract are above this seam, bytes and indexes below it. A store
//! keeps every state that an instance ever had until the instance is purged.

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

/// Looks up instances at one point of time, in one committed state. Deleted ones (status DELETED)
/// are there too; purged ones are not.
pub trait Read {
    /// The types as the reader knows them: what is asked of it is said in their indexes. They may
    /// be newer than those that the repository knew when it opened the reader.
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

    /// What the header of the entity with this GUID says, for whoever destroys it: neither its
    /// properties, nor its classifications, nor what it is called elsewhere need be there.
    ///
    /// # Errors
    /// As above.
    fn entity_head(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        self.entity(guid)
    }

    /// The same of the relationship with this GUID.
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

    /// What stands for the entity with this GUID at the end of a relationship.
    ///
    /// # Errors
    /// As above.
    fn rendered_proxy(&self, guid: &str) -> Result<Option<Shared<EntityProxy>>, OmrsError> {
        let entity = self.rendered_entity(guid)?;
        Ok(entity.map(|entity| entity.proxy().clone()))
    }

    /// The same of several entities: `show` is called with the position of each that there is, in
    /// no order.
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

    /// What a search holds of the instance with this GUID.
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

    /// The entity of a candidate row of this reader, or of another one at the same point of time,
    /// rendered; `None` of one of which only a proxy is known.
    ///
    /// # Errors
    /// As above.
    fn candidate_entity(
        &self,
        _kept: &CandidateRow,
    ) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        Err(not_its_own())
    }

    /// The same of a relationship.
    ///
    /// # Errors
    /// As above.
    fn candidate_relationship(
        &self,
        _kept: CandidateRow,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        Err(not_its_own())
    }

    /// Shows the relationships with this entity at either end (once, if it is at both), limited to
    /// one type if `of` says so, in a stable order.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    fn relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError>;

    /// The same, rendered, without those that `is_known` says to be known, by their GUIDs.
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

    /// The same relationships as [`Read::relationships_of`] of any type, in the same order, as no
    /// more than links, each with the content of its row where the store has rows:
    /// [`Read::rendered_link`] renders it without another look.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    fn links_of(&self, entity: &str, visit: VisitLink<'_>) -> Result<(), OmrsError> {
        let types = self.types();
        self.relationships_of(entity, None, &mut |relationship| {
            visit(Link::of(&types, &relationship), None)
        })
    }

    /// Of how many entities links are best asked for at once.
    fn links_at_once(&self) -> usize {
        1
    }

    /// [`Read::links_of`] of several entities, each link with the position of its entity; those of
    /// one come together. A break ends the visits of that entity only.
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

    /// How it stands with the entity with this GUID.
    ///
    /// # Errors
    /// As above.
    fn life_status(&self, guid: &str) -> Result<Option<LifeStatus>, OmrsError> {
        let entity = self.entity(guid)?;
        Ok(entity.map(|entity| LifeStatus::from(&entity)))
    }

    /// The same, and what to keep of it where the store has rows: [`Read::rendered_kept`] renders
    /// it without another look.
    ///
    /// # Errors
    /// As above.
    fn glance(&self, guid: &str) -> Result<Option<(LifeStatus, Option<CandidateRow>)>, OmrsError> {
        Ok(self
            .life_status(guid)?
            .map(|life_status| (life_status, None)))
    }

    /// The entity of a candidate, rendered.
    ///
    /// # Errors
    /// As above.
    fn rendered_kept(&self, _kept: &CandidateRow) -> Result<RenderedEntity, OmrsError> {
        Err(not_its_own())
    }

    /// Shows the instances of a walk, each exactly as it is at the point of time. Never shows one
    /// that the walk does not describe. Proxies need not be shown: no search finds them.
    ///
    /// # Errors
    /// As above, and what `visit` returns.
    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError>;

    /// How many texts [`Read::matching_texts`] would look at; `None` when it cannot tell which
    /// there are, now or ever. Texts are those of [`WalkBy::Text`].
    fn texts(&self) -> Option<usize> {
        None
    }

    /// All texts that pass a test, and what is known of those that may; some may be those of no
    /// instance at the point of time. `None` when they are more than `most`, or it cannot tell.
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

    /// A place for [`Walk::after`] behind all that have the same value as the instance at `place`
    /// has, in a walk by a property. `None` = not known.
    fn behind_same_value(&self, _place: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Whether such a walk is served by an index; one that is not is refused by [`Read::walk`].
    fn can_walk(&self, walk: &Walk<'_>) -> bool;

    /// A number for the committed state that is read: two readers of now, or two of the same point
    /// of time, which tell the same number show the same instances at the same places of every
    /// walk. So a walk can go on in another reader. `None` = not known, which is always right and
    /// makes each page of a search begin at the start.
    ///
    /// For a point of time in the past, only what changes the past need change the number: a purge,
    /// and what is written with an earlier time.
    fn state(&self) -> Option<u64> {
        None
    }
}

fn not_its_own() -> OmrsError {
    let words = "a reader that keeps no rows was asked for one";
    OmrsError::new(Message::LogicError, &[words])
}

/// Changes instances; reads see what it has changed. All of it is committed or nothing.
pub trait Transaction: Read {
    /// The time that counts as now for all of the transaction. Later than the latest state of every
    /// instance that the transaction reads, in the store's own finer time; equal to it at most in
    /// milliseconds.
    fn now(&self) -> Millis;

    /// The newest state of an entity with a version lower than `version` in which it was not
    /// deleted.
    ///
    /// # Errors
    /// As [`Read::entity`].
    fn earlier_entity(&self, guid: &str, version: i64) -> Result<Option<EntityDetail>, OmrsError>;

    /// The newest state of a relationship with a version lower than `version` in which it was not
    /// deleted.
    ///
    /// # Errors
    /// As [`Read::entity`].
    fn earlier_relationship(
        &self,
        guid: &str,
        version: i64,
    ) -> Result<Option<StoredRelationship>, OmrsError>;

    /// From when on the present state of an entity holds; `None` = it is not known.
    ///
    /// # Errors
    /// As [`Read::entity`].
    fn entity_start(&self, guid: &str) -> Result<Option<Millis>, OmrsError>;

    /// From when on the present state of a relationship holds; `None` = it is not known.
    ///
    /// # Errors
    /// As [`Read::entity`].
    fn relationship_start(&self, guid: &str) -> Result<Option<Millis>, OmrsError>;

    /// Shows what the headers of the relationships of an entity say, as
    /// [`Read::relationship_head`], for whoever needs few of them in full.
    ///
    /// # Errors
    /// As [`Read::relationships_of`].
    fn relationship_heads_of(&self, entity: &str, visit: VisitHead<'_>) -> Result<(), OmrsError> {
        self.relationships_of(entity, None, &mut |relationship| {
            visit(&relationship, &|| Ok(relationship.clone()))
        })
    }

    /// Gives an entity a new state, from `since` on (which is not after now), or from now on.
    ///
    /// # Errors
    /// When it is too large, or the store fails.
    fn put_entity(&mut self, entity: StoredEntity, since: Option<Millis>) -> Result<(), OmrsError>;

    /// Gives a relationship a new state. Its ends may differ from those it had.
    ///
    /// # Errors
    /// As [`Transaction::put_entity`].
    fn put_relationship(
        &mut self,
        relationship: StoredRelationship,
        since: Option<Millis>,
    ) -> Result<(), OmrsError>;

    /// Destroys an entity with its history, and every relationship that has it at an end, with all
    /// its history. Of a relationship that has other ends now, the states in which it had this one.
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

/// Where instances are kept.
pub trait Store: Send + Sync {
    /// The time by the store's clock.
    fn now(&self) -> Millis;

    /// A reader of what is now, or of what was at the end of the millisecond `at`.
    ///
    /// # Errors
    /// When the store fails.
    fn read(&self, at: Option<Millis>) -> Result<Box<dyn Read + '_>, OmrsError>;

    /// All states that an entity ever had, oldest first; none when it is not known.
    ///
    /// # Errors
    /// When the store fails.
    fn entity_history(&self, guid: &str) -> Result<Vec<Version<StoredEntity>>, OmrsError>;

    /// All states that a relationship ever had, oldest first; none when it is not known.
    ///
    /// # Errors
    /// When the store fails.
    fn relationship_history(
        &self,
        guid: &str,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError>;

    /// Those states of an entity that `choice` asks for, in its order.
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

    /// The same of a relationship.
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

    /// What stands for entities at the ends of relationships: for each of them, in their order, as
    /// a reader of each of its times shows it, in theirs.
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

    /// Whether any instance that is not purged is, or ever was, of this type or of a subtype; of a
    /// classification, whether any entity carries, or ever carried, it. The type is one of those
    /// that the store knows.
    ///
    /// # Errors
    /// When the store fails.
    fn has_ever(&self, of: TypeIndex) -> Result<bool, OmrsError>;

    /// Runs `work` and commits what it changed, durable when this returns. What `work` reads by
    /// GUID, and the relationships of an entity that it lists, do not change until then. `work` may
    /// be called again after a conflict; `guids` are those it is sure to touch, known beforehand to
    /// spare that. When `work` fails, nothing is changed.
    ///
    /// # Errors
    /// What `work` returns, or when the store fails.
    fn transact(
        &self,
        guids: &[&str],
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), OmrsError>,
    ) -> Result<(), OmrsError>;

    /// Begins to go over to other types: what is written from now on, still by the types until now,
    /// is kept so that searches by `types` find it. Returns whether [`Store::complete_types`] has
    /// work to do. [`Store::set_types`] with the same `types` ends it, with others it gives it up.
    ///
    /// # Errors
    /// When the store fails.
    fn begin_types(&self, _types: Arc<Catalogue>) -> Result<bool, OmrsError> {
        Ok(false)
    }

    /// Does the same to what was written before. That takes as long as there are instances; reads
    /// and writes go on meanwhile.
    ///
    /// # Errors
    /// When the store fails.
    fn complete_types(&self) -> Result<(), OmrsError> {
        Ok(())
    }

    /// The types that instances are kept and found by. The repository reports every change before
    /// an instance of the new types comes; the store brings what it keeps into line with them, as
    /// far as that was not done beforehand.
    ///
    /// # Errors
    /// When the store fails.
    fn set_types(&self, types: Arc<Catalogue>) -> Result<(), OmrsError>;

    /// A note of the repository's own (its id, its types), by name.
    ///
    /// # Errors
    /// When the store fails.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, OmrsError>;

    /// Keeps a note, durably.
    ///
    /// # Errors
    /// When the store fails.
    fn put_note(&self, name: &str, content: &[u8]) -> Result<(), OmrsError>;
}
