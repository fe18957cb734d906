//! Stores the types, so that they survive a restart.
//!
//! One note has all definitions. It does not exist while all are those of the standard. Changes go
//! to notes of their own, numbered from 0, so that a change does not rewrite all definitions: a
//! platform that connects completes some hundred definitions one by one. After many changes the
//! first note is written again with a higher generation. Changes of lower generations are ignored.

use std::sync::Arc;

use crate::error::OmrsError;
use crate::graph_store::GraphStore;
use crate::json::encode;
use crate::types::kept::{self, ALL_NOTE, Note, change_note};
use crate::types::{AttributeType, AttributeTypeDef, Catalogue, TypeDef, TypeDefGallery};

/// The number of changes after which all types are written again.
const CHANGES_MAX: usize = 64;

/// The position of the next change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeptTypes {
    generation: i64,
    changes: usize,
}

impl KeptTypes {
    /// Reads the stored types; those of the standard if none are stored.
    ///
    /// # Errors
    /// When the store fails, or a note cannot be read.
    pub(super) fn open(store: &GraphStore) -> Result<(Self, Catalogue), OmrsError> {
        let kept = kept::read(&|name| store.note(name))?;
        let position = Self {
            generation: kept.generation,
            changes: kept.changes,
        };
        Ok((position, kept.types))
    }

    /// Stores the differences between `old` and `new`.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn keep(
        &mut self,
        store: &GraphStore,
        old: &Catalogue,
        new: &Catalogue,
    ) -> Result<(), OmrsError> {
        let gallery = match difference(old, new) {
            Some(changed) if changed == TypeDefGallery::default() => return Ok(()),
            Some(changed) if self.changes < CHANGES_MAX => {
                let note = Note {
                    gallery: changed,
                    generation: self.generation,
                };
                store.put_note(&change_note(self.changes), &encode(&note))?;
                self.changes += 1;
                return Ok(());
            }
            _ => gallery_of(new),
        };
        let note = Note {
            gallery,
            generation: self.generation + 1,
        };
        store.put_note(ALL_NOTE, &encode(&note))?;
        self.generation += 1;
        self.changes = 0;
        Ok(())
    }
}

/// All definitions. An attribute refers to its type by name if that is the catalogue's own.
fn gallery_of(types: &Catalogue) -> TypeDefGallery {
    TypeDefGallery {
        attribute_types: types
            .attribute_types()
            .map(|def| AttributeTypeDef::clone(def))
            .collect(),
        types: types
            .types()
            .map(|(_, of)| with_names(types, of.def()))
            .collect(),
    }
}

fn with_names(types: &Catalogue, def: &TypeDef) -> TypeDef {
    let mut def = def.clone();
    for attribute in &mut def.body.attributes {
        if let Some(AttributeType::Whole(whole)) = &attribute.attribute_type
            && types
                .attribute_type_by_name(whole.name())
                .is_some_and(|known| Arc::ptr_eq(known, whole) || known == whole)
        {
            attribute.attribute_type = Some(AttributeType::Named(whole.name().to_owned()));
        }
    }
    def
}

/// The definitions that are new or changed in `new`; `None` if any were removed. Each definition
/// includes its attribute types in full, since they may change later.
fn difference(old: &Catalogue, new: &Catalogue) -> Option<TypeDefGallery> {
    let is_gone = old.types().any(|(_, of)| new.by_guid(of.guid()).is_none());
    let mut attribute_types = old.attribute_types();
    if is_gone || attribute_types.any(|def| new.attribute_type_by_guid(def.guid()).is_none()) {
        return None;
    }
    let is_new = |def: &Arc<TypeDef>| {
        let known = old.by_guid(def.guid()).map(|index| old.get(index).def());
        known.is_none_or(|known| !Arc::ptr_eq(known, def))
    };
    let is_new_attribute = |def: &Arc<AttributeTypeDef>| {
        let known = old.attribute_type_by_guid(def.guid());
        known.is_none_or(|known| !Arc::ptr_eq(known, def))
    };
    Some(TypeDefGallery {
        attribute_types: new
            .attribute_types()
            .filter(|def| is_new_attribute(def))
            .map(|def| AttributeTypeDef::clone(def))
            .collect(),
        types: new
            .types()
            .filter(|(_, of)| is_new(of.def()))
            .map(|(_, of)| TypeDef::clone(of.def()))
            .collect(),
    })
}
