//! The types of values.

use std::sync::Arc;

use super::element::{Node, Path, Relationship};
use crate::temporal::{Date, DateTime, Duration, LocalDateTime, LocalTime, Time};

/// A value of Cypher.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`: no value, or an unknown one.
    Null,
    /// BOOLEAN
    Boolean(bool),
    /// INTEGER, 64 bits
    Integer(i64),
    /// FLOAT, a double
    Float(f64),
    /// STRING
    String(Arc<str>),
    /// LIST
    List(Arc<Vec<Value>>),
    /// MAP
    Map(Arc<Map>),
    /// NODE
    Node(Arc<Node>),
    /// RELATIONSHIP
    Relationship(Arc<Relationship>),
    /// PATH
    Path(Arc<Path>),
    /// DATE
    Date(Date),
    /// LOCAL TIME
    LocalTime(LocalTime),
    /// ZONED TIME
    Time(Time),
    /// LOCAL DATETIME
    LocalDateTime(LocalDateTime),
    /// ZONED DATETIME
    DateTime(Box<DateTime>),
    /// DURATION
    Duration(Box<Duration>),
    /// POINT
    Point(Box<Point>),
    /// Bytes, which only parameters and stored properties have.
    Bytes(Arc<[u8]>),
}

/// A point in a coordinate system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// 4326 and 4979: longitude, latitude (and height) of WGS-84; 7203 and 9157: Cartesian.
    pub srid: u32,
    /// x or longitude.
    pub x: f64,
    /// y or latitude.
    pub y: f64,
    /// z or height, in three dimensions.
    pub z: Option<f64>,
}

impl Point {
    /// The name of the coordinate system.
    pub(crate) const fn crs(&self) -> &'static str {
        match self.srid {
            4326 => "wgs-84",
            4979 => "wgs-84-3d",
            9157 => "cartesian-3d",
            _ => "cartesian",
        }
    }
}

/// A map: entries in the order of their keys, each key once.
#[derive(Debug, Clone, Default)]
pub struct Map {
    entries: Vec<(Arc<str>, Value)>,
}

impl Map {
    /// A map without entries.
    #[must_use]
    pub const fn new() -> Map {
        Map {
            entries: Vec::new(),
        }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        let at = self.entries.binary_search_by(|(name, _)| (**name).cmp(key));
        at.ok().map(|at| &self.entries[at].1)
    }

    /// Sets the value of a key. The last value counts.
    pub fn insert(&mut self, key: Arc<str>, value: Value) {
        match self.entries.binary_search_by(|(name, _)| name.cmp(&key)) {
            Ok(at) => self.entries[at].1 = value,
            Err(at) => self.entries.insert(at, (key, value)),
        }
    }

    /// The entries in the order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl FromIterator<(Arc<str>, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(entries: I) -> Map {
        let mut map = Map::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl Value {
    /// A string.
    #[must_use]
    pub fn string(text: impl AsRef<str>) -> Value {
        Value::String(Arc::from(text.as_ref()))
    }

    /// A list.
    #[must_use]
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Arc::new(items))
    }

    /// A map.
    #[must_use]
    pub fn map(map: Map) -> Value {
        Value::Map(Arc::new(map))
    }

    /// The bytes of a text, of the items of a list or of the entries of a map, without what is in
    /// them; zero for a value of few bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(items) => size_of_val(&***items),
            Value::Map(map) => map.len() * size_of::<(Arc<str>, Value)>(),
            _ => 0,
        }
    }

    /// The same, or zero if other values share them.
    pub(crate) fn own_bytes(&self) -> usize {
        let is_shared = match self {
            Value::String(text) => Arc::strong_count(text) > 1,
            Value::Bytes(bytes) => Arc::strong_count(bytes) > 1,
            Value::List(items) => Arc::strong_count(items) > 1,
            Value::Map(map) => Arc::strong_count(map) > 1,
            _ => true,
        };
        if is_shared { 0 } else { self.bytes() }
    }

    /// Whether the value is null.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The name of the value's type, such as `ZONED DATETIME`.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "NULL",
            Value::Boolean(_) => "BOOLEAN",
            Value::Integer(_) => "INTEGER",
            Value::Float(_) => "FLOAT",
            Value::String(_) => "STRING",
            Value::List(_) => "LIST",
            Value::Map(_) => "MAP",
            Value::Node(_) => "NODE",
            Value::Relationship(_) => "RELATIONSHIP",
            Value::Path(_) => "PATH",
            Value::Date(_) => "DATE",
            Value::LocalTime(_) => "LOCAL TIME",
            Value::Time(_) => "ZONED TIME",
            Value::LocalDateTime(_) => "LOCAL DATETIME",
            Value::DateTime(_) => "ZONED DATETIME",
            Value::Duration(_) => "DURATION",
            Value::Point(_) => "POINT",
            Value::Bytes(_) => "BYTES",
        }
    }
}

impl From<Option<bool>> for Value {
    /// A truth value of three-valued logic: unknown is null.
    fn from(truth: Option<bool>) -> Value {
        truth.map_or(Value::Null, Value::Boolean)
    }
}
