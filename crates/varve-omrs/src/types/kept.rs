//! Reads the types that a repository stores. `repository::kept_types` writes them, and describes
//! the notes.

use std::collections::HashMap;

use super::{AttributeTypeDef, Catalogue, TypeDef, TypeDefGallery};
use crate::error::{Message, OmrsError};
use crate::json::{Limits, decode, json_object};

/// The name of the note that holds all types.
pub(crate) const ALL_NOTE: &str = "types";

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

/// Reads a note of the repository by its name.
pub(crate) type ReadNote<'a> = &'a dyn Fn(&str) -> Result<Option<Vec<u8>>, OmrsError>;

/// The stored types.
pub(crate) struct Kept {
    /// The number of times that all types had been written.
    pub(crate) generation: i64,
    /// The number of changes since.
    pub(crate) changes: usize,
    /// The types.
    pub(crate) types: Catalogue,
}

/// The stored types; those of the standard if none are stored.
///
/// # Errors
/// When the store fails, or a note cannot be read.
pub(crate) fn read(note: ReadNote<'_>) -> Result<Kept, OmrsError> {
    let all = read_note(note, ALL_NOTE)?;
    let generation = all.as_ref().map_or(0, |note| note.generation);
    let mut changes = Vec::new();
    while let Some(note) = read_note(note, &change_note(changes.len()))?
        && note.generation == generation
    {
        changes.push(note.gallery);
    }
    let kept = |types, changes| Kept {
        generation,
        changes,
        types,
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
        return Ok(kept(types, 0));
    }
    let count = changes.len();
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
    Ok(kept(types, count))
}

/// The name of the note with the change of this number.
pub(crate) fn change_note(number: usize) -> String {
    format!("{ALL_NOTE}/{number}")
}

fn fault(words: &str) -> OmrsError {
    let words = format!("the stored types cannot be read: {words}");
    OmrsError::new(Message::LogicError, &[&words])
}

fn read_note(note: ReadNote<'_>, name: &str) -> Result<Option<Note>, OmrsError> {
    let note = note(name)?;
    note.map(|note| decode(&note, Limits::KEPT).map_err(|error| fault(&error.to_string())))
        .transpose()
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
