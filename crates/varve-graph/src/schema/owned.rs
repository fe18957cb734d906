//! Changes of the schema whose tasks belong to a user.

use std::sync::Arc;

use varve_model::{IndexLabel, IndexLabelId, PropertyKey};

use super::catalogue::Catalogue;
use super::definition::{Definition, NewDefinition};
use super::draft::Draft;
use super::kind::SchemaKind;
use super::request::{NewIndexLabel, NewPropertyKey, WithTask};
use super::{definition, index_label, property_key, removal};
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
    /// As [`Catalogue::change_property_key`].
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
        self.change(|draft| index_label::create(draft, new, false))
    }

    /// Creates an index label, and keeps those that it makes superfluous.
    ///
    /// # Errors
    /// As [`Catalogue::create_index_label`].
    pub fn add_index_label(&self, new: NewIndexLabel) -> Result<WithTask<IndexLabel>, GraphError> {
        self.change(|draft| index_label::create(draft, new, true))
    }

    /// Creates a definition, and its parts for the labels that exist. Returns the tasks that build
    /// them; until they have ended, queries do not use the parts.
    ///
    /// # Errors
    /// As [`Catalogue::create_property_key`]; [`ErrorKind::Existed`](crate::ErrorKind::Existed)
    /// for a name that another definition or an index label has, and for the label and keys of
    /// another definition of that kind, where a rule counts as `Range`;
    /// [`ErrorKind::NotAllowed`](crate::ErrorKind::NotAllowed) if the schema is declared.
    pub fn create_definition(
        &self,
        new: NewDefinition,
    ) -> Result<(Arc<Definition>, Vec<TaskId>), GraphError> {
        self.change(|draft| definition::create(draft, new))
    }

    /// Records that the elements that were stored before a rule are checked against it.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if it was removed.
    pub(crate) fn set_checked(&self, id: IndexLabelId) -> Result<(), GraphError> {
        self.change(|draft| definition::set_checked(draft, id))
    }

    /// Removes a definition; tasks remove its parts.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if no definition has that name.
    pub fn remove_definition(&self, name: &str) -> Result<Arc<Definition>, GraphError> {
        self.change(|draft| definition::remove(draft, name))
    }

    /// Removes an element of this kind: a property key that no label has at once, the others by a
    /// task. A label goes with its elements and index labels. The task fails while an edge label
    /// links the vertex label, and for a PARENT that has SUB labels.
    ///
    /// # Errors
    /// As [`Catalogue::change_property_key`];
    /// [`ErrorKind::NotAllowed`](crate::ErrorKind::NotAllowed) while a label has the property key.
    pub fn remove(&self, kind: SchemaKind, name: &str) -> Result<TaskId, GraphError> {
        self.change(|draft| match kind {
            SchemaKind::PropertyKey => property_key::remove(draft, name),
            _ => removal::request(draft, kind, name),
        })
    }

    /// Rebuilds, by a task, an index label or all index labels of a vertex or edge label.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) when there is no element with that name,
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a property key.
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
