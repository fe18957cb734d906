//! Stores the types, so that they survive a restart.
//!
//! One note has all definitions. It does not exist while all are those of the standard. Changes go
//! to notes of their own, numbered from 0, so that a change does not rewrite all definitions: a
//! platform that connects completes some hundred definitions one by one. After many changes the
//! first note is written again with a higher generation. Changes of lower generations are ignored.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Message, OmrsError};
use crate::graph_store::GraphStore;
use crate::json::{Limits, decode, encode, json_object};
use crate::types::{AttributeType, AttributeTypeDef, Catalogue, TypeDef, TypeDefGallery};

/// The name of the note that holds all types.
const ALL_NOTE: &str = "types";
/// The number of changes after which all types are written again.
const CHANGES_MAX: usize = 64;
json_object! {
    /// Definitions in a note.
    #[expect(unreachable_pub, reason = "the macro declares public structs")]
    pub struct Note {
        @base
        /// The definitions.
        gallery: TypeDefGallery;
        /// The generation: the number of times that all types had been written when this note was
        /// written.
        generation: i64 = "generation",
    }
}

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
        let all = read(store, ALL_NOTE)?;
        let generation = all.as_ref().map_or(0, |note| note.generation);
        let mut changes = Vec::new();
        while let Some(note) = read(store, &change_note(changes.len()))?
            && note.generation == generation
        {
            changes.push(note.gallery);
        }
        let kept = Self {
            generation,
            changes: changes.len(),
        };
        let invalid = |error: OmrsError| fault(&error.to_string());
        let types = match all {
            None => Catalogue::built_in(),
            Some(all) => {
                let mut types = Catalogue::empty();
                types.add_gallery(all.gallery).map_err(invalid)?;
                types
            }
        };
        if changes.is_empty() {
            return Ok((kept, types));
        }
        let mut gallery = types.find_by_name(|_| true);
        put_all(
            &mut gallery.attribute_types,
            changes.iter_mut().map(|change| &mut change.attribute_types),
            AttributeTypeDef::guid,
        );
        put_all(
            &mut gallery.types,
            changes.iter_mut().map(|change| &mut change.types),
            TypeDef::guid,
        );
        let mut types = Catalogue::empty();
        types
            .add_gallery(gallery)
            .map_err(|error| fault(&error.to_string()))?;
        Ok((kept, types))
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

fn change_note(number: usize) -> String {
    format!("{ALL_NOTE}/{number}")
}

fn fault(words: &str) -> OmrsError {
    let words = format!("the stored types cannot be read: {words}");
    OmrsError::new(Message::LogicError, &[&words])
}

fn read(store: &GraphStore, name: &str) -> Result<Option<Note>, OmrsError> {
    let note = store.note(name)?;
    note.map(|note| decode(&note, Limits::KEPT).map_err(|error| fault(&error.to_string())))
        .transpose()
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

/// Appends definitions to a list, or replaces those with the same GUIDs.
fn put_all<'a, T: 'a>(
    list: &mut Vec<T>,
    changes: impl Iterator<Item = &'a mut Vec<T>>,
    guid: impl Fn(&T) -> &str,
) {
    let places = list.iter().enumerate();
    let mut places: HashMap<String, usize> = places
        .map(|(place, def)| (guid(def).to_owned(), place))
        .collect();
    for def in changes.flat_map(std::mem::take) {
        match places.get(guid(&def)) {
            Some(place) => list[*place] = def,
            None => {
                places.insert(guid(&def).to_owned(), list.len());
                list.push(def);
            }
        }
    }
}
