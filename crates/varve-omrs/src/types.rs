//! Types: their definitions ([`TypeDef`], [`AttributeTypeDef`]), and all those of a repository
//! ([`Catalogue`]).

mod attribute;
mod attribute_type;
mod built_in;
mod catalogue;
mod change;
mod check;
mod find;
pub(crate) mod kept;
mod patch;
mod prose;
mod resolved;
mod status;
mod type_def;

pub use attribute::{AttributeType, TypeDefAttribute};
pub use attribute_type::{
    AttributeTypeDef, AttributeTypeHeader, AttributeTypeKind, CollectionDef, EnumDef,
    EnumElementDef, PrimitiveDef,
};
pub use catalogue::{Catalogue, TypeIndex};
pub use change::Outcome;
pub use patch::TypeDefPatch;
pub use resolved::{DefinedProperty, ResolvedType};
pub use status::{
    AttributeCardinality, AttributeTypeDefCategory, ClassificationPropagationRule,
    CollectionDefCategory, InstanceStatus, PrimitiveDefCategory, RelationshipEndCardinality,
    TypeDefAttributeStatus, TypeDefCategory, TypeDefStatus,
};
pub use type_def::{
    ClassificationKind, ExternalStandardMapping, RelationshipEndDef, RelationshipKind, TypeDef,
    TypeDefBody, TypeDefGallery, TypeDefKind, TypeDefLink, TypeDefSummary,
};
