//! The instance that a call names, and the checks before the call has an effect, in this order:
//!
//! 1. the parameters ([`Target::new`], [`Target::of_type`]);
//! 2. the instance is known here;
//! 3. the call's requirements: a list of [`Check`]s, in its order;
//! 4. the call's own values (a status, properties, a type), which the call checks itself.
//!
//! An instance is *own* when this repository may change it, and a *copy* otherwise.

use super::{Repository, checks};
use crate::error::{Exception, Message, OmrsError};
use crate::graph_store::GraphTransaction;
use crate::instances::{EntityDetail, InstanceHeader};
use crate::requests::TypeDefValidationForRequest;
use crate::store::{LifeStatus, StoredEntity, StoredRelationship};
use crate::validate::{expected_type, update_lock};

/// A requirement on the instance that a call names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// The whole instance is known; a proxy is an invalid parameter.
    NotProxy,
    /// The whole instance is known; a proxy counts as unknown.
    Whole,
    /// The instance is not deleted; a deleted one counts as unknown.
    Live,
    /// The instance is deleted.
    Deleted,
    /// The instance is own.
    Own,
    /// The instance is a copy.
    Copy,
    /// The instance is not own; for an own one, the exception and message of the error.
    NotOwn(Exception, Message),
    /// The instance is a copy, or deleted.
    CopyOrDeleted,
    /// The instance has the type that the caller names, if any.
    Type,
}

/// The requirements of a call, in the order in which they are checked.
pub(super) type Checks = &'static [Check];

/// To change status, properties, GUID or type, to undo, or to delete.
pub(super) const CHANGE: Checks = &[Check::NotProxy, Check::Live, Check::Own, Check::Type];
/// To change the home.
pub(super) const RE_HOME: Checks = &[Check::NotProxy, Check::Live, Check::Copy, Check::Type];
/// To add, change or remove classifications, of own entities and of copies.
pub(super) const CLASSIFY: Checks = &[Check::NotProxy, Check::Live];
/// For any entity that is not deleted, a proxy included.
pub(super) const LIVE: Checks = &[Check::Live];
/// To restore a deleted instance.
pub(super) const RESTORE: Checks = &[Check::Whole, Check::Deleted, Check::Own];
/// To purge an instance that was deleted here.
pub(super) const PURGE: Checks = &[Check::Whole, Check::Own, Check::Type, Check::Deleted];
/// To purge a copy by its GUID. A deleted own instance may have been a copy when the caller saw it.
pub(super) const PURGE_COPY: Checks = &[Check::Whole, Check::CopyOrDeleted, Check::Type];
/// To delete or purge a copy that the caller sends.
pub(super) const REMOVE_COPY: Checks = &[Check::NotOwn(
    Exception::HomeEntity,
    Message::LocalReferenceInstance,
)];
/// To save a copy.
pub(super) const SAVE_COPY: Checks =
    &[Check::NotOwn(Exception::EntityConflict, Message::CopyOfOwn)];
/// To request the present state from the home.
pub(super) const REFRESH_COPY: Checks =
    &[Check::NotOwn(Exception::HomeEntity, Message::HomeRefresh)];

/// The two kinds of instances that have a GUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstanceKind {
    Entity,
    Relationship,
}

impl InstanceKind {
    /// The error for an unknown instance.
    pub(super) fn unknown(self, guid: &str) -> OmrsError {
        let message = match self {
            Self::Entity => Message::UnknownEntity,
            Self::Relationship => Message::UnknownRelationship,
        };
        OmrsError::new(message, &[guid])
    }

    /// Checks that an instance is known and not deleted, as reads require.
    ///
    /// # Errors
    /// `EntityNotKnownException`, `RelationshipNotKnownException`.
    pub(super) fn live(
        self,
        guid: &str,
        found: Option<LifeStatus>,
    ) -> Result<LifeStatus, OmrsError> {
        let found = found.ok_or_else(|| self.unknown(guid))?;
        if !found.is_deleted() {
            return Ok(found);
        }
        let message = match self {
            Self::Entity => Message::EntityDeleted,
            Self::Relationship => Message::RelationshipDeleted,
        };
        Err(OmrsError::new(message, &[guid]))
    }

    /// The error for an instance of this kind, from the exception for entities.
    fn error(self, of_entity: Exception, message: Message, guid: &str) -> OmrsError {
        let exception = match (self, of_entity) {
            (Self::Relationship, Exception::EntityNotDeleted) => Exception::RelationshipNotDeleted,
            (Self::Relationship, Exception::HomeEntity) => Exception::HomeRelationship,
            (Self::Relationship, Exception::EntityConflict) => Exception::RelationshipConflict,
            (_, exception) => exception,
        };
        OmrsError::with_exception(exception, message, &[guid])
    }
}

/// An instance from the store.
pub(super) trait Resolvable {
    /// The kind of the instance.
    const KIND: InstanceKind;
    /// The header of the instance.
    fn header(&self) -> &InstanceHeader;
    /// The status of the instance.
    fn life_status(&self) -> LifeStatus;
}

impl Resolvable for StoredEntity {
    const KIND: InstanceKind = InstanceKind::Entity;

    fn header(&self) -> &InstanceHeader {
        self.header()
    }

    fn life_status(&self) -> LifeStatus {
        LifeStatus::from(self)
    }
}

impl Resolvable for StoredRelationship {
    const KIND: InstanceKind = InstanceKind::Relationship;

    fn header(&self) -> &InstanceHeader {
        &self.header
    }

    fn life_status(&self) -> LifeStatus {
        LifeStatus::from(&self.header)
    }
}

/// The instance that a call names: its GUID, the type that the caller expects, and the call's
/// requirements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    guid: &'a str,
    expected: Option<&'a TypeDefValidationForRequest>,
    checks: Checks,
}

impl<'a> Target<'a> {
    /// The target of a user's call.
    ///
    /// # Errors
    /// `UserNotAuthorizedException` without a user, `InvalidParameterException` without a GUID.
    pub(super) fn new(user: &str, guid: &'a str, checks: Checks) -> Result<Self, OmrsError> {
        checks::user(user)?;
        checks::guid(guid, "guid")?;
        Ok(Self::of(guid, checks))
    }

    /// A target whose GUID has been checked.
    pub(super) fn of(guid: &'a str, checks: Checks) -> Self {
        Self {
            guid,
            expected: None,
            checks,
        }
    }

    /// The same target, with the type that the caller expects.
    ///
    /// # Errors
    /// `InvalidParameterException` when the type's GUID or name is missing.
    pub(super) fn of_type(
        self,
        expected: &'a TypeDefValidationForRequest,
    ) -> Result<Self, OmrsError> {
        checks::type_named(expected)?;
        Ok(Self {
            expected: Some(expected),
            ..self
        })
    }

    /// Checks the instance, which must exist in the store.
    ///
    /// # Errors
    /// The error of the first check that fails.
    pub(super) fn resolve<T: Resolvable>(
        &self,
        repository: &Repository,
        found: Option<T>,
    ) -> Result<T, OmrsError> {
        let found = found.ok_or_else(|| T::KIND.unknown(self.guid))?;
        for check in self.checks {
            self.check(repository, *check, &found)?;
        }
        Ok(found)
    }

    /// Checks the instance if it exists in the store.
    ///
    /// # Errors
    /// As [`Self::resolve`], except for an unknown instance.
    pub(super) fn resolve_known<T: Resolvable>(
        &self,
        repository: &Repository,
        found: Option<T>,
    ) -> Result<Option<T>, OmrsError> {
        let resolved = found.map(|found| self.resolve(repository, Some(found)));
        resolved.transpose()
    }

    /// Reads and checks the entity to change. A proxy is not enough.
    ///
    /// # Errors
    /// As [`Self::resolve`], and when the store fails.
    pub(super) fn entity(
        &self,
        repository: &Repository,
        transaction: &GraphTransaction<'_, '_>,
    ) -> Result<EntityDetail, OmrsError> {
        checks::detail(self.resolve(repository, transaction.entity(self.guid)?)?)
    }

    /// Reads and checks the relationship.
    ///
    /// # Errors
    /// As [`Self::resolve`], and when the store fails.
    pub(super) fn relationship(
        &self,
        repository: &Repository,
        transaction: &GraphTransaction<'_, '_>,
    ) -> Result<StoredRelationship, OmrsError> {
        self.resolve(repository, transaction.relationship(self.guid)?)
    }

    fn check<T: Resolvable>(
        &self,
        repository: &Repository,
        check: Check,
        found: &T,
    ) -> Result<(), OmrsError> {
        let (header, life_status) = (found.header(), found.life_status());
        let is_own = || repository.is_own(&header.audit);
        let error = |exception, message| Err(T::KIND.error(exception, message, self.guid));
        match check {
            Check::NotProxy if life_status.is_proxy => {
                let words = [self.guid];
                let message = Message::ProxyNotChanged;
                Err(OmrsError::of_parameter(message, "guid", &words))
            }
            Check::Whole if life_status.is_proxy => {
                error(Exception::EntityNotKnown, Message::ProxyOnly)
            }
            Check::Live => T::KIND.live(self.guid, Some(life_status)).map(|_| ()),
            Check::Deleted if !life_status.is_deleted() => {
                error(Exception::EntityNotDeleted, Message::NotDeleted)
            }
            Check::Own => update_lock(header, repository.get_metadata_collection_id()),
            Check::Copy if is_own() => {
                let words = [self.guid, repository.get_metadata_collection_id()];
                Err(OmrsError::of_parameter(Message::NotHome, "guid", &words))
            }
            Check::NotOwn(exception, message) if is_own() => error(exception, message),
            Check::CopyOrDeleted if is_own() && !life_status.is_deleted() => {
                error(Exception::HomeEntity, Message::LocalReferenceInstance)
            }
            Check::Type => self.expected.map_or(Ok(()), |expected| {
                let (guid, name) = (&expected.type_guid, &expected.type_name);
                expected_type(header, guid.as_deref(), name.as_deref())
            }),
            _ => Ok(()),
        }
    }
}
