//! The instance that a call is about, and the checks that come before the call's effect, in one
//! order:
//!
//! 1. the parameters ([`Target::new`], [`Target::of_type`]);
//! 2. the instance is known here;
//! 3. what the call demands of it: a list of [`Check`]s, in its order;
//! 4. what the call brings (a status, properties, a type), which the call checks itself.
//!
//! An instance is *own* when this repository may change it, and a *copy* otherwise.

use super::{Repository, checks};
use crate::error::{Exception, Message, OmrsError};
use crate::instances::{EntityDetail, InstanceHeader};
use crate::requests::TypeDefValidationForRequest;
use crate::store::{LifeStatus, Read, StoredEntity, StoredRelationship};
use crate::validate::{expected_type, update_lock};

/// One demand on the instance that a call is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// More than a proxy is known; a proxy is an invalid parameter.
    NotProxy,
    /// More than a proxy is known; a proxy counts as unknown.
    Whole,
    /// It is not deleted; a deleted one counts as unknown.
    Live,
    /// It is deleted.
    Deleted,
    /// It is own.
    Own,
    /// It is a copy.
    Copy,
    /// It is not own; an own one fails with this exception and message.
    NotOwn(Exception, Message),
    /// It is a copy, or deleted.
    CopyOrDeleted,
    /// It is of the type that the caller names, if the call names one.
    Type,
}

/// What a call demands of its target, in this order.
pub(super) type Checks = &'static [Check];

/// Status, properties, undo, delete, another GUID, another type.
pub(super) const CHANGE: Checks = &[Check::NotProxy, Check::Live, Check::Own, Check::Type];
/// Another home.
pub(super) const RE_HOME: Checks = &[Check::NotProxy, Check::Live, Check::Copy, Check::Type];
/// Giving, changing and taking classifications: own and copied entities alike.
pub(super) const CLASSIFY: Checks = &[Check::NotProxy, Check::Live];
/// Any entity that is not deleted, a proxy included.
pub(super) const LIVE: Checks = &[Check::Live];
/// Taking a deletion back.
pub(super) const RESTORE: Checks = &[Check::Whole, Check::Deleted, Check::Own];
/// Destroying what was deleted here.
pub(super) const PURGE: Checks = &[Check::Whole, Check::Own, Check::Type, Check::Deleted];
/// Destroying a copy by its GUID. A deleted own instance may have been a copy when the caller saw
/// it.
pub(super) const PURGE_COPY: Checks = &[Check::Whole, Check::CopyOrDeleted, Check::Type];
/// Deleting and destroying a copy that the caller sends.
pub(super) const REMOVE_COPY: Checks = &[Check::NotOwn(
    Exception::HomeEntity,
    Message::LocalReferenceInstance,
)];
/// Keeping a copy.
pub(super) const SAVE_COPY: Checks =
    &[Check::NotOwn(Exception::EntityConflict, Message::CopyOfOwn)];
/// Asking the home for the present state.
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

    /// Whether an instance is known and not deleted: what readers ask for.
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

    /// An error about one instance, with the exception that it has for entities.
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

/// An instance as the store holds it.
pub(super) trait Resolvable {
    /// Which kind it is of.
    const KIND: InstanceKind;
    /// Its header.
    fn header(&self) -> &InstanceHeader;
    /// Whether only a proxy is known, and its status.
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

/// The instance that a call is about: its GUID, the type that the caller takes it for, and what the
/// call demands of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    guid: &'a str,
    expected: Option<&'a TypeDefValidationForRequest>,
    checks: Checks,
}

impl<'a> Target<'a> {
    /// The target of a call that a user makes.
    ///
    /// # Errors
    /// `UserNotAuthorizedException` without a user, `InvalidParameterException` without a GUID.
    pub(super) fn new(user: &str, guid: &'a str, checks: Checks) -> Result<Self, OmrsError> {
        checks::user(user)?;
        checks::guid(guid, "guid")?;
        Ok(Self::of(guid, checks))
    }

    /// A target whose GUID is known to be given.
    pub(super) fn of(guid: &'a str, checks: Checks) -> Self {
        Self {
            guid,
            expected: None,
            checks,
        }
    }

    /// The same, which the caller takes for an instance of this type.
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

    /// The instance, which the store must hold.
    ///
    /// # Errors
    /// That of the first check that fails.
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

    /// The instance, if the store holds it.
    ///
    /// # Errors
    /// As [`Self::resolve`], but for an unknown one.
    pub(super) fn resolve_known<T: Resolvable>(
        &self,
        repository: &Repository,
        found: Option<T>,
    ) -> Result<Option<T>, OmrsError> {
        let resolved = found.map(|found| self.resolve(repository, Some(found)));
        resolved.transpose()
    }

    /// The entity, of which more than a proxy is known.
    ///
    /// # Errors
    /// As [`Self::resolve`]; when the store fails.
    pub(super) fn entity(
        &self,
        repository: &Repository,
        read: &dyn Read,
    ) -> Result<EntityDetail, OmrsError> {
        checks::detail(self.resolve(repository, read.entity(self.guid)?)?)
    }

    /// The relationship.
    ///
    /// # Errors
    /// As [`Self::resolve`]; when the store fails.
    pub(super) fn relationship(
        &self,
        repository: &Repository,
        read: &dyn Read,
    ) -> Result<StoredRelationship, OmrsError> {
        self.resolve(repository, read.relationship(self.guid)?)
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
