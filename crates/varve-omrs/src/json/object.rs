//! Macros that declare the contract's objects and enums.

use super::{JsonError, Reader, Writer};

/// The properties of an object, or of an object from which others inherit.
pub(crate) trait Fields {
    /// Reads the value of the property `key` if it is one of these. Otherwise reads nothing and
    /// returns false.
    fn read_field(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<bool, JsonError>;

    /// Writes the properties that are present.
    fn write_fields(&self, writer: &mut Writer);
}

/// Declares a struct whose fields are the properties of an object.
///
/// `@base part: Part;` before the fields includes the object from which this one inherits.
/// `@class "A" | "B";` before that declares the classes of the object: the first one is written,
/// and a class that is read must be one of them. With `if part.field` after the classes, the second
/// one is written if that field is present. Without `@class`, no `class` is written or checked.
macro_rules! json_object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(@class $class:literal $(| $other:literal)* $(if $($historical:ident).+)?;)?
            $(@base $(#[$base_meta:meta])* $base:ident: $base_type:ty;)?
            $($(#[$field_meta:meta])* $field:ident: $type:ty = $key:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name {
            $($(#[$base_meta])* pub $base: $base_type,)?
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $crate::json::Fields for $name {
            fn read_field(
                &mut self,
                key: &str,
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<bool, $crate::json::JsonError> {
                match key {
                    $($key => {
                        self.$field = $crate::json::Field::read(reader)?;
                        return Ok(true);
                    })*
                    _ => {}
                }
                let is_inherited = false
                    $(|| $crate::json::Fields::read_field(&mut self.$base, key, reader)?)?;
                let _ = reader;
                Ok(is_inherited)
            }

            fn write_fields(&self, writer: &mut $crate::json::Writer) {
                $($crate::json::Fields::write_fields(&self.$base, writer);)?
                $(if !$crate::json::Field::is_absent(&self.$field) {
                    writer.known_key(concat!("\"", $key, "\":"));
                    $crate::json::Field::write(&self.$field, writer);
                })*
                let _ = writer;
            }
        }

        impl $crate::json::Decode for $name {
            fn decode(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Self, $crate::json::JsonError> {
                let mut object = Self::default();
                reader.object(|reader, key| {
                    $(if key == "class" {
                        let class = reader.string()?;
                        let known = [$class $(, $other)*];
                        if !known.contains(&class.as_ref()) {
                            let message = format!("class {class} where {} was expected", known[0]);
                            return Err(reader.error(message));
                        }
                        return Ok(());
                    })?
                    if !$crate::json::Fields::read_field(&mut object, key, reader)? {
                        reader.skip()?;
                    }
                    Ok(())
                })?;
                Ok(object)
            }
        }

        impl $crate::json::Encode for $name {
            fn encode(&self, writer: &mut $crate::json::Writer) {
                writer.object(|writer| {
                    $(
                        let classes = [$class $(, $other)*];
                        let is_other = false $(|| self.$($historical).+.is_some())?;
                        writer.class(classes[usize::from(is_other)]);
                    )?
                    $crate::json::Fields::write_fields(self, writer);
                });
            }
        }
    };
}

/// Declares an enum that is written by name.
macro_rules! json_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`.")] $(#[$variant_meta])* $variant,)*
        }

        impl $name {
            /// All values, in the contract's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The contract's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The value with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::json::Decode for $name {
            fn decode(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Self, $crate::json::JsonError> {
                let name = reader.string()?;
                Self::from_name(&name).ok_or_else(|| {
                    let known = Self::ALL.iter().map(|known| known.name());
                    let known: Vec<&str> = known.collect();
                    reader.error(format!("one of {} was expected", known.join(", ")))
                })
            }
        }

        impl $crate::json::Encode for $name {
            fn encode(&self, writer: &mut $crate::json::Writer) {
                writer.string(self.name());
            }
        }
    };
}

pub(crate) use {json_enum, json_object};
