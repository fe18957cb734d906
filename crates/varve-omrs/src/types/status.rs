//! The enums of types.

use crate::json::json_enum;

json_enum! {
    /// The category of a type.
    pub enum TypeDefCategory {
        Unknown = "UNKNOWN_DEF",
        Classification = "CLASSIFICATION_DEF",
        Entity = "ENTITY_DEF",
        Relationship = "RELATIONSHIP_DEF",
    }
}

json_enum! {
    /// Whether a type is current, renamed or deprecated.
    pub enum TypeDefStatus {
        Active = "ACTIVE_TYPEDEF",
        Renamed = "RENAMED_TYPEDEF",
        Deprecated = "DEPRECATED_TYPEDEF",
    }
}

json_enum! {
    /// Whether an attribute is current, renamed or deprecated.
    pub enum TypeDefAttributeStatus {
        Active = "ACTIVE_ATTRIBUTE",
        Renamed = "RENAMED_ATTRIBUTE",
        Deprecated = "DEPRECATED_ATTRIBUTE",
    }
}

json_enum! {
    /// The category of an attribute type.
    pub enum AttributeTypeDefCategory {
        Unknown = "UNKNOWN_DEF",
        Primitive = "PRIMITIVE",
        Collection = "COLLECTION",
        Enum = "ENUM_DEF",
    }
}

json_enum! {
    /// The number of values of an attribute.
    pub enum AttributeCardinality {
        Unknown = "UNKNOWN",
        AtMostOne = "AT_MOST_ONE",
        OneOnly = "ONE_ONLY",
        AtLeastOneOrdered = "AT_LEAST_ONE_ORDERED",
        AtLeastOneUnordered = "AT_LEAST_ONE_UNORDERED",
        AnyNumberOrdered = "ANY_NUMBER_ORDERED",
        AnyNumberUnordered = "ANY_NUMBER_UNORDERED",
    }
}

json_enum! {
    /// The number of relationships that an entity may have at one end.
    pub enum RelationshipEndCardinality {
        Unknown = "UNKNOWN",
        AtMostOne = "AT_MOST_ONE",
        AnyNumber = "ANY_NUMBER",
    }
}

json_enum! {
    /// The direction in which classifications propagate along a relationship.
    pub enum ClassificationPropagationRule {
        None = "NONE",
        OneToTwo = "ONE_TO_TWO",
        TwoToOne = "TWO_TO_ONE",
        Both = "BOTH",
    }
}

json_enum! {
    /// The kind of a collection.
    pub enum CollectionDefCategory {
        Unknown = "OM_COLLECTION_UNKNOWN",
        Map = "OM_COLLECTION_MAP",
        Array = "OM_COLLECTION_ARRAY",
        Struct = "OM_COLLECTION_STRUCT",
    }
}

json_enum! {
    /// The kind of a primitive value.
    pub enum PrimitiveDefCategory {
        /// Any value: the standard type `object`.
        Unknown = "OM_PRIMITIVE_TYPE_UNKNOWN",
        Boolean = "OM_PRIMITIVE_TYPE_BOOLEAN",
        Byte = "OM_PRIMITIVE_TYPE_BYTE",
        Char = "OM_PRIMITIVE_TYPE_CHAR",
        Short = "OM_PRIMITIVE_TYPE_SHORT",
        Int = "OM_PRIMITIVE_TYPE_INT",
        Long = "OM_PRIMITIVE_TYPE_LONG",
        Float = "OM_PRIMITIVE_TYPE_FLOAT",
        Double = "OM_PRIMITIVE_TYPE_DOUBLE",
        BigInteger = "OM_PRIMITIVE_TYPE_BIGINTEGER",
        BigDecimal = "OM_PRIMITIVE_TYPE_BIGDECIMAL",
        String = "OM_PRIMITIVE_TYPE_STRING",
        Date = "OM_PRIMITIVE_TYPE_DATE",
    }
}

json_enum! {
    /// The status of an instance.
    pub enum InstanceStatus {
        Unknown = "UNKNOWN",
        Draft = "DRAFT",
        Prepared = "PREPARED",
        Proposed = "PROPOSED",
        Approved = "APPROVED",
        Rejected = "REJECTED",
        ApprovedConcept = "APPROVED_CONCEPT",
        UnderDevelopment = "UNDER_DEVELOPMENT",
        DevelopmentComplete = "DEVELOPMENT_COMPLETE",
        ApprovedForDeployment = "APPROVED_FOR_DEPLOYMENT",
        Standby = "STANDBY",
        Active = "ACTIVE",
        Failed = "FAILED",
        Disabled = "DISABLED",
        Complete = "COMPLETE",
        Deprecated = "DEPRECATED",
        Other = "OTHER",
        Deleted = "DELETED",
    }
}
