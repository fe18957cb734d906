//! Compares definitions without their prose.
//!
//! The built-in definitions have no descriptions; a platform that connects sends them. A definition
//! that differs only in prose replaces the known one, so that the platform gets its own definition
//! back.

use std::sync::Arc;

use super::{
    AttributeType, AttributeTypeDef, AttributeTypeKind, EnumElementDef, RelationshipEndDef,
    TypeDef, TypeDefAttribute, TypeDefKind,
};

/// A definition with prose: descriptions, and the terms that describe it.
pub(super) trait Prose: Clone + PartialEq {
    /// Removes the prose. Returns the number of texts removed.
    fn strip(&mut self) -> usize;

    /// Whether two definitions are equal apart from prose.
    fn equals_but_for_prose(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self.clone(), other.clone());
        left.strip();
        right.strip();
        left == right
    }

    /// The number of texts of prose.
    fn prose(&self) -> usize {
        self.clone().strip()
    }
}

fn take(text: &mut Option<String>) -> usize {
    usize::from(text.take().is_some())
}

impl Prose for EnumElementDef {
    fn strip(&mut self) -> usize {
        take(&mut self.description) + take(&mut self.description_guid)
    }
}

impl Prose for AttributeTypeDef {
    fn strip(&mut self) -> usize {
        let own = take(&mut self.header.description) + take(&mut self.header.description_guid);
        let AttributeTypeKind::Enum(kind) = &mut self.kind else {
            return own;
        };
        let elements = kind.elements.iter_mut().chain(&mut kind.default_value);
        own + elements.map(Prose::strip).sum::<usize>()
    }
}

impl Prose for TypeDefAttribute {
    fn strip(&mut self) -> usize {
        let own = take(&mut self.description) + take(&mut self.description_guid);
        match &mut self.attribute_type {
            Some(AttributeType::Whole(def)) => own + Arc::make_mut(def).strip(),
            _ => own,
        }
    }
}

impl Prose for RelationshipEndDef {
    fn strip(&mut self) -> usize {
        take(&mut self.attribute_description) + take(&mut self.attribute_description_guid)
    }
}

impl Prose for TypeDef {
    fn strip(&mut self) -> usize {
        let body = &mut self.body;
        let mut pieces = take(&mut body.description) + take(&mut body.description_guid);
        pieces += body.attributes.iter_mut().map(Prose::strip).sum::<usize>();
        if let TypeDefKind::Relationship(kind) = &mut self.kind {
            let ends = kind.end_1.iter_mut().chain(&mut kind.end_2);
            pieces += ends.map(Prose::strip).sum::<usize>();
        }
        pieces
    }
}
