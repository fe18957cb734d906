//! Types of values.

use super::Parser;
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::tree::{TypeKind, TypeName, ValueType};

impl Parser<'_> {
    pub(super) fn value_type(&mut self) -> Result<ValueType> {
        self.deeper(|parser| {
            let mut types = vec![parser.simple_type()?];
            while parser.take(TokenKind::Bar) {
                types.push(parser.simple_type()?);
            }
            Ok(union(types))
        })
    }

    fn simple_type(&mut self) -> Result<ValueType> {
        let kind = if self.at_word("ANY") && self.kind(1) == TokenKind::Less {
            self.place += 2;
            self.in_angles()?.kind
        } else if (self.at_word("LIST") || self.at_word("ARRAY")) && self.kind(1) == TokenKind::Less
        {
            self.place += 2;
            TypeKind::List(Box::new(self.in_angles()?))
        } else {
            TypeKind::Named(self.type_name()?)
        };
        let mut value_type = self.with_null(kind);
        while self.take_word("LIST") || self.take_word("ARRAY") {
            self.node_above()?;
            value_type = self.with_null(TypeKind::List(Box::new(value_type)));
        }
        Ok(value_type)
    }

    fn with_null(&mut self, kind: TypeKind) -> ValueType {
        let not_null = self.take_words(&["NOT", "NULL"]) || self.take(TokenKind::Bang);
        ValueType { kind, not_null }
    }

    fn in_angles(&mut self) -> Result<ValueType> {
        let inner = self.value_type()?;
        self.node_above()?;
        self.expect(TokenKind::Greater, "'|' or '>'")?;
        Ok(inner)
    }

    fn type_name(&mut self) -> Result<TypeName> {
        let fits = |spelling: &str| {
            let words = spelling.split(' ');
            (0..)
                .zip(words)
                .all(|(ahead, word)| self.is_word(ahead, word))
        };
        let fitting = TypeName::SPELLINGS
            .iter()
            .filter(|(spelling, _)| fits(spelling));
        let Some((spelling, name)) = fitting.max_by_key(|(spelling, _)| spelling.len()) else {
            return Err(self.unexpected("a type, such as INTEGER or LIST<STRING>"));
        };
        self.place += spelling.split(' ').count();
        Ok(*name)
    }
}

/// The only type, or the union of all.
fn union(mut types: Vec<ValueType>) -> ValueType {
    match types.pop() {
        Some(only) if types.is_empty() => only,
        last => {
            types.extend(last);
            ValueType {
                kind: TypeKind::Union(types),
                not_null: false,
            }
        }
    }
}
