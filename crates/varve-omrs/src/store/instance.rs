//! Instances as walks visit them, and the candidates that searches buffer. A search needs few
//! fields of most instances, and of its results only their JSON: building objects would be wasted
//! work.

use varve_model::{ElementId, VertexId};

use super::{LifeStatus, Read, RenderedRelationship, StoredEntity, StoredInstance};
use crate::error::OmrsError;
use crate::instances::{EntityDetail, InstanceHeader};
use crate::json::Shared;
use crate::matching::Facts;
use crate::types::{Catalogue, TypeIndex};

/// An entity or relationship as a walk visits it.
pub trait Instance: Facts {
    /// Its GUID.
    fn guid(&self) -> &str;

    /// Its type.
    fn of(&self, types: &Catalogue) -> Option<TypeIndex>;

    /// Its status.
    fn life_status(&self) -> LifeStatus;

    /// The candidate for this instance, which can be rendered after the walk.
    fn to_candidate(&self) -> Candidate;
}

/// An instance as a search buffers it.
#[derive(Debug, Clone)]
pub enum Candidate {
    /// The decoded instance.
    Object(Box<StoredInstance>),
    /// The stored row, which only the store can decode.
    Row(CandidateRow),
}

/// An element of a store on a graph: its id and the content of its row.
#[derive(Debug, Clone)]
pub struct CandidateRow {
    pub(crate) id: ElementId,
    pub(crate) content: Box<[u8]>,
}

impl Candidate {
    /// The instance's GUID.
    #[must_use]
    pub fn guid(&self) -> &str {
        match self {
            Self::Object(instance) => header_of(instance).guid(),
            Self::Row(row) => row.guid(),
        }
    }

    /// Renders the entity; `None` if this is no entity, or only a proxy of it is known. `read` is
    /// the reader that visited it.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the stored row is damaged.
    pub fn entity(self, read: &dyn Read) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        match self {
            Self::Row(row) => read.candidate_entity(&row),
            Self::Object(instance) => Ok(match *instance {
                StoredInstance::Entity(StoredEntity::Detail(entity)) => Some(entity.into()),
                _ => None,
            }),
        }
    }

    /// Renders the relationship; `None` if this is no relationship. `read` is the reader that
    /// visited it.
    ///
    /// # Errors
    /// As [`Candidate::entity`].
    pub fn relationship(self, read: &dyn Read) -> Result<Option<RenderedRelationship>, OmrsError> {
        match self {
            Self::Row(row) => read.candidate_relationship(row),
            Self::Object(instance) => Ok(match *instance {
                StoredInstance::Relationship(found) => {
                    Some(RenderedRelationship::new(&read.types(), found))
                }
                StoredInstance::Entity(_) => None,
            }),
        }
    }
}

impl CandidateRow {
    /// The size of the content, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.content.len()
    }

    fn guid(&self) -> &str {
        match &self.id {
            ElementId::Vertex(VertexId::Text(guid)) => guid,
            ElementId::Vertex(_) => "",
            ElementId::Edge(id) => &id.sort_values,
        }
    }
}

impl Instance for StoredInstance {
    fn guid(&self) -> &str {
        header_of(self).guid()
    }

    fn of(&self, types: &Catalogue) -> Option<TypeIndex> {
        types.by_name(header_of(self).audit.type_name())
    }

    fn life_status(&self) -> LifeStatus {
        LifeStatus {
            is_proxy: matches!(self, Self::Entity(StoredEntity::Proxy(_))),
            status: header_of(self).audit.status,
        }
    }

    fn to_candidate(&self) -> Candidate {
        Candidate::Object(Box::new(self.clone()))
    }
}

fn header_of(instance: &StoredInstance) -> &InstanceHeader {
    match instance {
        StoredInstance::Entity(entity) => entity.header(),
        StoredInstance::Relationship(relationship) => &relationship.header,
    }
}
