//! Changes of the schema whose tasks belong to a user.

use varve_model::{IndexLabel, PropertyKey};

use super::catalogue::Catalogue;
use super::draft::Draft;
use super::kind::SchemaKind;
use super::request::{NewIndexLabel, NewPropertyKey, WithTask};
use super::{index_label, property_key, removal};
use crate::GraphError;
use crate::tasks::TaskId;

/// The catalogue for one user: the tasks of a change are stored with their owner, in the same write
/// as the change.
#[derive(Debug)]
pub struct OwnedChanges<'c> {
    catalogue: &'c Catalogue,
    owner: Option<String>,
}

impl Catalogue {
    /// Returns an interface for changes whose tasks belong to `owner`, or to nobody.
    #[must_use]
    pub fn owned_by(&self, owner: Option<String>) -> OwnedChanges<'_> {
        OwnedChanges {
            catalogue: self,
            owner,
        }
    }
}

impl OwnedChanges<'_> {
    /// Creates a property key.
    ///
    /// # Errors
    /// As [`Catalogue::create_property_key`].
    pub fn create_property_key(
        &self,
        new: NewPropertyKey,
    ) -> Result<WithTask<PropertyKey>, GraphError> {
        self.change(|draft| property_key::create(draft, new))
    }

    /// Clears the values of an OLAP property key.
    ///
    /// # Errors
    /// As [`Catalogue::clear_property_key`].
    pub fn clear_property_key(&self, name: &str) -> Result<WithTask<PropertyKey>, GraphError> {
        self.change(|draft| property_key::clear(draft, name))
    }

    /// Creates an index label.
    ///
    /// # Errors
    /// As [`Catalogue::create_index_label`].
    pub fn create_index_label(
        &self,
        new: NewIndexLabel,
    ) -> Result<WithTask<IndexLabel>, GraphError> {
        self.change(|draft| index_label::create(draft, new))
    }

    /// Removes an element of this kind.
    ///
    /// # Errors
    /// As [`Catalogue::remove_property_key`] and [`Catalogue::remove_vertex_label`].
    pub fn remove(&self, kind: SchemaKind, name: &str) -> Result<TaskId, GraphError> {
        self.change(|draft| match kind {
            SchemaKind::PropertyKey => property_key::remove(draft, name),
            _ => removal::request(draft, kind, name),
        })
    }

    /// Rebuilds, by a task, an index label or all index labels of a vertex or edge label.
    ///
    /// # Errors
    /// As [`Catalogue::rebuild`].
    pub fn rebuild(&self, kind: SchemaKind, name: &str) -> Result<TaskId, GraphError> {
        self.change(|draft| removal::rebuild(draft, kind, name))
    }

    fn change<T>(
        &self,
        apply: impl FnOnce(&mut Draft<'_>) -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        self.catalogue.change_by(self.owner.as_deref(), apply)
    }
}
