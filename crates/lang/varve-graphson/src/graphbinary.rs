//! GraphBinary 1.0: type code, flag, value; big-endian.

mod elements;
mod read;
mod temporal;
mod write;

use crate::budget::VALUES_MAX;
use crate::error::{Result, WireError};
use crate::value::Value;

pub(crate) use read::Reader;
pub use write::write;
pub(crate) use write::{put_i32, put_list_start, put_map, put_string};

/// Reads one fully qualified value, which must be all of the bytes.
///
/// # Errors
///
/// If the bytes are not GraphBinary, contain an unknown type, or exceed a limit.
pub fn read(bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(bytes, VALUES_MAX);
    let value = reader.value()?;
    reader.end()?;
    Ok(value)
}

/// Type codes. Those of enum tokens are in `TokenClass`.
mod code {
    pub(super) const INT: u8 = 0x01;
    pub(super) const LONG: u8 = 0x02;
    pub(super) const STRING: u8 = 0x03;
    pub(super) const DATE: u8 = 0x04;
    pub(super) const TIMESTAMP: u8 = 0x05;
    pub(super) const CLASS: u8 = 0x06;
    pub(super) const DOUBLE: u8 = 0x07;
    pub(super) const FLOAT: u8 = 0x08;
    pub(super) const LIST: u8 = 0x09;
    pub(super) const MAP: u8 = 0x0A;
    pub(super) const SET: u8 = 0x0B;
    pub(super) const UUID: u8 = 0x0C;
    pub(super) const EDGE: u8 = 0x0D;
    pub(super) const PATH: u8 = 0x0E;
    pub(super) const PROPERTY: u8 = 0x0F;
    pub(super) const GRAPH: u8 = 0x10;
    pub(super) const VERTEX: u8 = 0x11;
    pub(super) const VERTEX_PROPERTY: u8 = 0x12;
    pub(super) const BINDING: u8 = 0x14;
    pub(super) const BYTECODE: u8 = 0x15;
    pub(super) const LAMBDA: u8 = 0x1D;
    pub(super) const P: u8 = 0x1E;
    pub(super) const TRAVERSER: u8 = 0x21;
    pub(super) const BIG_DECIMAL: u8 = 0x22;
    pub(super) const BIG_INTEGER: u8 = 0x23;
    pub(super) const BYTE: u8 = 0x24;
    pub(super) const BYTE_BUFFER: u8 = 0x25;
    pub(super) const SHORT: u8 = 0x26;
    pub(super) const BOOLEAN: u8 = 0x27;
    pub(super) const TEXT_P: u8 = 0x28;
    pub(super) const STRATEGY: u8 = 0x29;
    pub(super) const BULK_SET: u8 = 0x2A;
    pub(super) const TREE: u8 = 0x2B;
    pub(super) const METRICS: u8 = 0x2C;
    pub(super) const TRAVERSAL_METRICS: u8 = 0x2D;
    pub(super) const CHAR: u8 = 0x80;
    pub(super) const DURATION: u8 = 0x81;
    pub(super) const ADDRESS: u8 = 0x82;
    pub(super) const INSTANT: u8 = 0x83;
    pub(super) const LOCAL_DATE: u8 = 0x84;
    pub(super) const LOCAL_DATE_TIME: u8 = 0x85;
    pub(super) const LOCAL_TIME: u8 = 0x86;
    pub(super) const MONTH_DAY: u8 = 0x87;
    pub(super) const OFFSET_DATE_TIME: u8 = 0x88;
    pub(super) const OFFSET_TIME: u8 = 0x89;
    pub(super) const PERIOD: u8 = 0x8A;
    pub(super) const YEAR: u8 = 0x8B;
    pub(super) const YEAR_MONTH: u8 = 0x8C;
    pub(super) const ZONED_DATE_TIME: u8 = 0x8D;
    pub(super) const ZONE_OFFSET: u8 = 0x8E;
    /// A null of unknown type.
    pub(super) const UNSPECIFIED: u8 = 0xFE;
}

/// The flag of a value that is not null.
const PRESENT: u8 = 0;
/// The flag of null.
const NULL: u8 = 1;

fn wrong(kind: &str, message: &str) -> WireError {
    WireError::value(kind, message)
}
