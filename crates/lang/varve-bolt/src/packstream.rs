//! PackStream 1: the values of Bolt and their bytes.

mod read;
mod write;

pub use read::read;
pub use write::Writer;

/// The most levels of lists, maps and structures within one another.
pub const DEPTH_MAX: usize = 128;

/// The entries of a map in their order on the wire. No key occurs twice in a map that was read.
pub type Map = Vec<(String, Value)>;

/// A value of PackStream.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A double.
    Float(f64),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// A text.
    String(String),
    /// Values of any types.
    List(Vec<Value>),
    /// A dictionary.
    Map(Map),
    /// A message, or a value of a type that [`structures`](crate::structures) lists.
    Structure {
        /// Says what the structure is.
        tag: u8,
        /// At most 15 values.
        fields: Vec<Value>,
    },
}

impl Value {
    /// The name of the value's type in Bolt's specification.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "Boolean",
            Value::Int(_) => "Integer",
            Value::Float(_) => "Float",
            Value::Bytes(_) => "Bytes",
            Value::String(_) => "String",
            Value::List(_) => "List",
            Value::Map(_) => "Dictionary",
            Value::Structure { .. } => "Structure",
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),*) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Value {
                Value::$variant(value.into())
            }
        })*
    };
}

from!(bool => Bool, i64 => Int, f64 => Float, &str => String, String => String, Map => Map);

impl<V: Into<Value>> FromIterator<V> for Value {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Value {
        Value::List(values.into_iter().map(Into::into).collect())
    }
}

/// The first bytes of values. A marker that ends in `_TINY` has a length below 16 in its low bits;
/// one that ends in `_8` is followed by a length of one byte, and the next two by one of two and of
/// four bytes.
mod marker {
    pub(super) const NULL: u8 = 0xC0;
    pub(super) const FLOAT: u8 = 0xC1;
    pub(super) const FALSE: u8 = 0xC2;
    pub(super) const TRUE: u8 = 0xC3;
    pub(super) const INT_8: u8 = 0xC8;
    pub(super) const INT_16: u8 = 0xC9;
    pub(super) const INT_32: u8 = 0xCA;
    pub(super) const INT_64: u8 = 0xCB;
    pub(super) const BYTES_8: u8 = 0xCC;
    pub(super) const STRING_TINY: u8 = 0x80;
    pub(super) const STRING_8: u8 = 0xD0;
    pub(super) const LIST_TINY: u8 = 0x90;
    pub(super) const LIST_8: u8 = 0xD4;
    pub(super) const MAP_TINY: u8 = 0xA0;
    pub(super) const MAP_8: u8 = 0xD8;
    pub(super) const STRUCTURE_TINY: u8 = 0xB0;
}
