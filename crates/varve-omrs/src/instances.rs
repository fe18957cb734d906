//! Instances: entities, relationships, classifications, and the values of their properties.

mod header;
mod instance;
mod number;
mod primitive;
mod properties;

pub use header::{
    ClassificationOrigin, InstanceAuditHeader, InstanceHeader, InstanceProvenanceType, InstanceType,
};
pub use instance::{Classification, EntityDetail, EntityProxy, EntitySummary, Relationship};
pub use number::{BigDecimal, BigInteger};
pub use primitive::{Primitive, PrimitivePropertyValue};
pub use properties::{
    ArrayPropertyValue, EnumPropertyValue, InstanceProperties, InstancePropertyValue,
    MapPropertyValue, PropertyValueHeader, StructPropertyValue,
};
