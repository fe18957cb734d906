//! The classes of the contract's exceptions.

/// The Java package of the exceptions.
const PACKAGE: &str = "org.odpi.openmetadata.repositoryservices.ffdc.exception";

macro_rules! exceptions {
    ($($(#[$meta:meta])* $variant:ident = $class:literal,)*) => {
        /// An exception that a client throws for an answer. Clients act on its class, not on the
        /// message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Exception {
            $($(#[$meta])* $variant,)*
        }

        impl Exception {
            /// All exceptions.
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
    /// A parameter is missing, is malformed, or contradicts another.
    InvalidParameter = "InvalidParameterException",
    /// The repository failed.
    RepositoryError = "RepositoryErrorException",
    /// The user lacks the right.
    UserNotAuthorized = "UserNotAuthorizedException",
    /// A type is not known, or cannot be used here.
    TypeError = "TypeErrorException",
    /// A property does not fit its type.
    PropertyError = "PropertyErrorException",
    /// The offset or the page size is not valid.
    PagingError = "PagingErrorException",
    /// A classification is not known, not allowed for the entity, or not present.
    ClassificationError = "ClassificationErrorException",
    /// The type of the instance does not allow the status.
    StatusNotSupported = "StatusNotSupportedException",
    /// The entity is not known, or is deleted.
    EntityNotKnown = "EntityNotKnownException",
    /// The relationship is not known, or is deleted.
    RelationshipNotKnown = "RelationshipNotKnownException",
    /// Only a proxy of the entity is known.
    EntityProxyOnly = "EntityProxyOnlyException",
    /// The entity must be deleted before it can be purged or restored.
    EntityNotDeleted = "EntityNotDeletedException",
    /// The relationship must be deleted before it can be purged or restored.
    RelationshipNotDeleted = "RelationshipNotDeletedException",
    /// The entity's home is this repository.
    HomeEntity = "HomeEntityException",
    /// The relationship's home is this repository.
    HomeRelationship = "HomeRelationshipException",
    /// The entity contradicts the stored one.
    EntityConflict = "EntityConflictException",
    /// The relationship contradicts the stored one.
    RelationshipConflict = "RelationshipConflictException",
    /// The entity is malformed.
    InvalidEntity = "InvalidEntityException",
    /// The relationship is malformed.
    InvalidRelationship = "InvalidRelationshipException",
    /// The repository does not support the request.
    FunctionNotSupported = "FunctionNotSupportedException",
    /// The type definition is not known.
    TypeDefNotKnown = "TypeDefNotKnownException",
    /// The repository refuses this type definition.
    TypeDefNotSupported = "TypeDefNotSupportedException",
    /// The type definition is known already.
    TypeDefKnown = "TypeDefKnownException",
    /// The type definition contradicts the known one.
    TypeDefConflict = "TypeDefConflictException",
    /// The type definition is malformed.
    InvalidTypeDef = "InvalidTypeDefException",
    /// The type definition is in use.
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
