//! The classes of the contract's exceptions.

/// Java package of every OMRS exception.
const PACKAGE: &str = "org.odpi.openmetadata.repositoryservices.ffdc.exception";

macro_rules! exceptions {
    ($($(#[$meta:meta])* $variant:ident = $class:literal,)*) => {
        /// An exception that a client throws: the only part of an error that it acts on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Exception {
            $($(#[$meta])* $variant,)*
        }

        impl Exception {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The simple name of the Java class.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $class,)*
                }
            }
        }
    };
}

exceptions! {
    /// A parameter is missing, malformed or contradicts another.
    InvalidParameter = "InvalidParameterException",
    /// The repository cannot do its work.
    RepositoryError = "RepositoryErrorException",
    /// The user may not do this.
    UserNotAuthorized = "UserNotAuthorizedException",
    /// A type is not known, or not usable here.
    TypeError = "TypeErrorException",
    /// A property does not fit its type.
    PropertyError = "PropertyErrorException",
    /// Offset or page size make no sense.
    PagingError = "PagingErrorException",
    /// A classification is not known, not allowed for the entity, or not there.
    ClassificationError = "ClassificationErrorException",
    /// The status is not one of the type's.
    StatusNotSupported = "StatusNotSupportedException",
    /// No such entity, or it is deleted.
    EntityNotKnown = "EntityNotKnownException",
    /// No such relationship, or it is deleted.
    RelationshipNotKnown = "RelationshipNotKnownException",
    /// Only a proxy of the entity is here.
    EntityProxyOnly = "EntityProxyOnlyException",
    /// The entity must be deleted before it can be purged or restored.
    EntityNotDeleted = "EntityNotDeletedException",
    /// The relationship must be deleted before it can be purged or restored.
    RelationshipNotDeleted = "RelationshipNotDeletedException",
    /// The entity's home is this repository.
    HomeEntity = "HomeEntityException",
    /// The relationship's home is this repository.
    HomeRelationship = "HomeRelationshipException",
    /// The entity contradicts the one that is here.
    EntityConflict = "EntityConflictException",
    /// The relationship contradicts the one that is here.
    RelationshipConflict = "RelationshipConflictException",
    /// The entity is malformed.
    InvalidEntity = "InvalidEntityException",
    /// The relationship is malformed.
    InvalidRelationship = "InvalidRelationshipException",
    /// The repository does not do this.
    FunctionNotSupported = "FunctionNotSupportedException",
    /// No such type definition.
    TypeDefNotKnown = "TypeDefNotKnownException",
    /// The repository refuses this type definition.
    TypeDefNotSupported = "TypeDefNotSupportedException",
    /// The type definition is here already.
    TypeDefKnown = "TypeDefKnownException",
    /// The type definition contradicts the one that is here.
    TypeDefConflict = "TypeDefConflictException",
    /// The type definition is malformed.
    InvalidTypeDef = "InvalidTypeDefException",
    /// The type definition is still used.
    TypeDefInUse = "TypeDefInUseException",
    /// The patch does not fit the type definition.
    PatchError = "PatchErrorException",
}

impl Exception {
    /// The full name of the Java class.
    #[must_use]
    pub fn class_name(self) -> String {
        format!("{PACKAGE}.{}", self.name())
    }
}
