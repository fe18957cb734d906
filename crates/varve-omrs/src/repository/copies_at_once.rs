//! Saves copies of many instances in one call: all of them or none, if they fit in one transaction.
//!
//! A transaction has a bounded number of instances and of bytes, and one state of each instance. A
//! larger call is saved in several transactions, in the order of the call, after the whole call has
//! been checked. So a later transaction is refused only because of changes in the meantime, or
//! because the store fails.

use std::collections::{HashMap, HashSet};

use super::reference_copies::guids_of;
use super::target::{SAVE_COPY, Target};
use super::{Repository, checks};
use crate::error::{Message, OmrsError};
use crate::graph_store::GraphReader;
use crate::instances::{EntityDetail, EntityProxy, InstanceHeader, Relationship};
use crate::json::encode;
use crate::requests::InstanceGraphRequest;
use crate::types::Catalogue;
use crate::validate::{entity_copy, relationship_copy};

/// The most copies in one transaction.
const COPIES_MAX: usize = 5_000;
/// The most bytes of copies, as JSON, in one transaction. A single copy may be larger.
const BYTES_MAX: usize = 16 << 20;

/// One of the copies of a call.
#[derive(Debug, Clone, Copy)]
enum Copied<'a> {
    Entity(&'a EntityDetail),
    Relationship(&'a Relationship),
}

impl<'a> Copied<'a> {
    fn header(self) -> &'a InstanceHeader {
        match self {
            Self::Entity(entity) => &entity.header,
            Self::Relationship(relationship) => &relationship.header,
        }
    }

    /// The GUIDs of the instances that saving this copy touches: its own and, for a relationship,
    /// those of its ends.
    fn guids(self) -> impl Iterator<Item = &'a str> {
        let (one, more) = match self {
            Self::Entity(entity) => (Some(entity.header.guid()), None),
            Self::Relationship(relationship) => (None, Some(guids_of(relationship))),
        };
        one.into_iter().chain(more.into_iter().flatten())
    }

    /// Its size as JSON, in bytes.
    fn bytes(self) -> usize {
        match self {
            Self::Entity(entity) => encode(entity).len(),
            Self::Relationship(relationship) => encode(relationship).len(),
        }
    }
}

/// Saves each part in a transaction of its own, up to the first failure. The error of a later part
/// must not report that nothing happened: if the store is busy, over a limit or not writable, it
/// becomes [`Message::OutcomeUnknown`].
fn one_after_another<P>(
    parts: impl IntoIterator<Item = P>,
    mut keep: impl FnMut(P) -> Result<(), OmrsError>,
) -> Result<(), OmrsError> {
    for (number, part) in parts.into_iter().enumerate() {
        keep(part).map_err(|error| match error.message {
            Message::StoreBusy | Message::StoreLimit | Message::StoreUnwritable if number > 0 => {
                let words = format!("the first copies of the call are stored, then: {error}");
                OmrsError::new(Message::OutcomeUnknown, &[&words])
            }
            _ => error,
        })?;
    }
    Ok(())
}

impl Repository {
    /// Saves copies of many instances, entities first, then relationships. One transaction has up
    /// to 5,000 copies and 16 MiB, and each instance once. A call that fits in one is saved as a
    /// whole or, if any copy is refused, not at all. A larger call, or one with several copies
    /// (successive states) of an instance, is checked as a whole before anything is saved. Then it
    /// is saved in several transactions, in the order of the call.
    ///
    /// # Errors
    /// Those of the contract for `saveInstanceReferenceCopies`, for the first copy that is refused.
    /// [`Message::OutcomeUnknown`] when the store fails after the first transaction.
    pub fn save_instance_reference_copies(
        &self,
        user: &str,
        request: InstanceGraphRequest,
    ) -> Result<(), OmrsError> {
        checks::user(user)?;
        let entities = request.entities.iter().map(Copied::Entity);
        let relationships = request.relationships.iter().map(Copied::Relationship);
        let all: Vec<Copied<'_>> = entities.chain(relationships).collect();
        let parts = transactions_of(&all);
        if parts.len() > 1 {
            self.check_copies(&all)?;
        }
        one_after_another(parts, |part| {
            let guids: Vec<&str> = part.iter().flat_map(|copy| copy.guids()).collect();
            self.write(&guids, |transaction, types| {
                part.iter().try_for_each(|copy| match copy {
                    Copied::Entity(entity) => self.save_entity(transaction, types, entity),
                    Copied::Relationship(of) => self.save_relationship(transaction, types, of),
                })
            })
        })
    }

    /// Makes the checks that saving the copies will make.
    fn check_copies(&self, all: &[Copied<'_>]) -> Result<(), OmrsError> {
        let (types, known) = (self.types(), self.reader(None)?);
        let (mut entities, mut newest) = (HashSet::new(), HashMap::new());
        for copy in all {
            match copy {
                Copied::Entity(entity) => {
                    self.check_entity(&types, &known, entity)?;
                    entities.insert(entity.header.guid());
                }
                Copied::Relationship(relationship) => {
                    let is_newest = self.is_to_be_kept(&types, &known, relationship)?;
                    let (guid, version) = (
                        relationship.header.guid(),
                        relationship.header.audit.version,
                    );
                    let before = newest.get(guid).copied().unwrap_or(i64::MIN);
                    if !is_newest || version < before {
                        continue;
                    }
                    newest.insert(guid, version);
                    for end in [&relationship.entity_one, &relationship.entity_two] {
                        self.check_end(&types, &known, &mut entities, end.as_deref())?;
                    }
                }
            }
        }
        Ok(())
    }

    fn check_entity(
        &self,
        types: &Catalogue,
        known: &GraphReader,
        entity: &EntityDetail,
    ) -> Result<(), OmrsError> {
        entity_copy(types, entity, &self.metadata_collection_id)?;
        let guid = entity.header.guid();
        let target = Target::of(guid, SAVE_COPY);
        target.resolve_known(self, known.entity(guid)?).map(|_| ())
    }

    /// Checks a relationship; of its ends only GUIDs and types. Returns whether no newer copy is
    /// stored: only then the copy is saved, and its ends are looked up.
    fn is_to_be_kept(
        &self,
        types: &Catalogue,
        known: &GraphReader,
        relationship: &Relationship,
    ) -> Result<bool, OmrsError> {
        relationship_copy(types, relationship, &self.metadata_collection_id)?;
        let header = &relationship.header;
        let target = Target::of(header.guid(), SAVE_COPY);
        let known = known.relationship(header.guid())?;
        let known = target.resolve_known(self, known)?;
        Ok(known.is_none_or(|known| known.header.audit.version <= header.audit.version))
    }

    /// Checks an end of a relationship. An end whose home is this repository must be stored
    /// already, or come earlier in the call. An unknown end of another repository will be saved as
    /// a proxy, and is known to the following copies.
    fn check_end<'a>(
        &self,
        types: &Catalogue,
        known: &GraphReader,
        entities: &mut HashSet<&'a str>,
        end: Option<&'a EntityProxy>,
    ) -> Result<(), OmrsError> {
        let Some(end) = end else {
            return Ok(());
        };
        let guid = end.header.guid();
        if !entities.contains(guid) && known.entity(guid)?.is_none() {
            self.unknown_entity(types, end)?;
        }
        entities.insert(guid);
        Ok(())
    }
}

/// Splits the copies into one part for each transaction, in their order.
fn transactions_of<'a, 'b>(all: &'b [Copied<'a>]) -> Vec<&'b [Copied<'a>]> {
    let mut parts = Vec::new();
    let (mut begin, mut bytes) = (0, 0);
    let mut here = HashSet::new();
    for (at, copy) in all.iter().enumerate() {
        let length = copy.bytes();
        let is_entity = matches!(copy, Copied::Entity(_));
        let name = (is_entity, copy.header().guid());
        let is_full = at - begin >= COPIES_MAX || bytes + length > BYTES_MAX;
        if at > begin && (is_full || here.contains(&name)) {
            parts.push(&all[begin..at]);
            (begin, bytes) = (at, 0);
            here.clear();
        }
        here.insert(name);
        bytes += length;
    }
    if begin < all.len() {
        parts.push(&all[begin..]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(guid: &str) -> EntityDetail {
        EntityDetail {
            header: InstanceHeader {
                guid: Some(guid.to_owned()),
                ..InstanceHeader::default()
            },
            ..EntityDetail::default()
        }
    }

    fn lengths(all: &[EntityDetail]) -> Vec<usize> {
        let all: Vec<Copied<'_>> = all.iter().map(Copied::Entity).collect();
        transactions_of(&all)
            .iter()
            .map(|part| part.len())
            .collect()
    }

    #[test]
    fn a_transaction_keeps_so_many_and_each_instance_once() {
        let many = |count: usize| -> Vec<EntityDetail> {
            (0..count)
                .map(|number| entity(&number.to_string()))
                .collect()
        };
        assert_eq!(lengths(&[]), [0; 0]);
        assert_eq!(lengths(&many(COPIES_MAX)), [COPIES_MAX]);
        assert_eq!(lengths(&many(COPIES_MAX + 1)), [COPIES_MAX, 1]);
        let twice = ["a", "b", "a", "c", "c", "a"].map(entity);
        assert_eq!(lengths(&twice), [2, 2, 2]);
    }

    #[test]
    fn a_transaction_keeps_so_many_bytes() {
        let mut large = ["a", "b", "c"].map(entity);
        for of in &mut large {
            of.header.instance_url = Some("x".repeat(BYTES_MAX / 2 - 10_000));
        }
        assert_eq!(lengths(&large), [2, 1]);
        large[0].header.instance_url = Some("x".repeat(BYTES_MAX));
        assert_eq!(lengths(&large), [1, 2]);
    }

    #[test]
    fn a_failure_after_the_first_copies_does_not_say_that_nothing_happened() {
        for message in [Message::StoreBusy, Message::StoreUnwritable] {
            let failing_at = |at: usize| {
                let failure = OmrsError::new(message, &["too late"]);
                let keep = |part| {
                    if part == at {
                        Err(failure.clone())
                    } else {
                        Ok(())
                    }
                };
                one_after_another(0..3, keep).map_err(|error| error.message)
            };
            assert_eq!(failing_at(0), Err(message));
            assert_eq!(failing_at(1), Err(Message::OutcomeUnknown));
            assert_eq!(failing_at(3), Ok(()));
        }
    }
}
