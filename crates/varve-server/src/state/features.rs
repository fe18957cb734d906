//! What the resources of a server keep for as long as it runs: limits, slots, lists.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

/// The features of a server, each known by its type. A module adds its own when the server is set
/// up; the state knows none of them.
#[derive(Default)]
pub(crate) struct Features(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl Features {
    /// Adds a feature, or replaces the one of the same type.
    pub(crate) fn add<T: Send + Sync + 'static>(&mut self, feature: T) {
        self.0.insert(TypeId::of::<T>(), Box::new(feature));
    }

    /// The feature of this type, if the server has it.
    pub(crate) fn find<T: 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.keys()).finish()
    }
}
