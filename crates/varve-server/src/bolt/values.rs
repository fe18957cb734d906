//! Values of Cypher as PackStream, and parameters from it.

use std::sync::Arc;

use varve_bolt::packstream::Value as Packed;
use varve_bolt::structures::{self, Identity};
use varve_bolt::{Map, Version};
use varve_cypher::temporal::{Date, DateTime, Duration, LocalDateTime, LocalTime, Time};
use varve_cypher::value::{Graph, Node, Path, Point, Properties, Relationship};
use varve_cypher::{CypherError, Value, numbers};
use varve_session::Failure;
use varve_view::ErrorKind;

/// Nanoseconds of a day.
const DAY_NANOS: i64 = 86_400_000_000_000;
/// Offsets are within ±18 hours, in seconds.
const OFFSET_MAX: i64 = 18 * 3_600;

/// Renders the values of one graph for one connection.
#[derive(Clone, Copy)]
pub(super) struct Renderer<'g> {
    pub(super) graph: Graph<'g>,
    pub(super) version: Version,
}

impl Renderer<'_> {
    /// The value as PackStream.
    ///
    /// # Errors
    /// When the contents of an element cannot be read.
    pub(super) fn value(&self, value: &Value) -> Result<Packed, CypherError> {
        Ok(match value {
            Value::Null => Packed::Null,
            Value::Boolean(truth) => Packed::Bool(*truth),
            Value::Integer(number) => Packed::Int(*number),
            Value::Float(number) => Packed::Float(*number),
            Value::String(text) => Packed::String(text.to_string()),
            Value::Bytes(bytes) => Packed::Bytes(bytes.to_vec()),
            Value::List(items) => {
                let items = items.iter().map(|item| self.value(item));
                Packed::List(items.collect::<Result<_, _>>()?)
            }
            Value::Map(map) => self.entries(map.iter())?.into(),
            Value::Node(node) => self.node(node)?,
            Value::Relationship(relationship) => self.relationship(relationship)?,
            Value::Path(path) => self.path(path)?,
            Value::Date(date) => structures::date(date.days),
            Value::LocalTime(time) => structures::local_time(time.nanos),
            Value::Time(time) => structures::time(time.nanos, time.offset.into()),
            Value::LocalDateTime(at) => structures::local_date_time(at.seconds, at.nanos.into()),
            Value::DateTime(at) => self.date_time(at),
            Value::Duration(it) => {
                structures::duration(it.months, it.days, it.seconds, it.nanos.into())
            }
            Value::Point(point) => packed_point(point),
        })
    }

    fn date_time(&self, at: &DateTime) -> Packed {
        let (offset, nanos) = (i64::from(at.offset), i64::from(at.local.nanos));
        let seconds = at.local.seconds.saturating_sub(offset);
        match &at.zone {
            None => structures::date_time(self.version, seconds, nanos, offset),
            Some(zone) => {
                let zone = zone.to_string();
                structures::zoned_date_time(self.version, seconds, nanos, offset, zone)
            }
        }
    }

    fn entries<'v>(
        &self,
        entries: impl Iterator<Item = (&'v Arc<str>, &'v Value)>,
    ) -> Result<Map, CypherError> {
        let entries = entries.map(|(key, value)| Ok((key.to_string(), self.value(value)?)));
        entries.collect()
    }

    fn properties(&self, properties: &Properties) -> Result<Map, CypherError> {
        self.entries(properties.iter().map(|(key, value)| (key, value)))
    }

    fn identity(&self, node: &Node) -> Result<Identity, CypherError> {
        let id = self.graph.view.vertex_id(&node.key)?;
        Ok(Identity {
            id: numbers::of_vertex(&id),
            element_id: id.to_string(),
        })
    }

    fn node(&self, node: &Arc<Node>) -> Result<Packed, CypherError> {
        let shown = self.graph.shown_node(node)?;
        let labels = shown.labels.iter().map(ToString::to_string).collect();
        let properties = self.properties(&shown.properties)?;
        let identity = self.identity(node)?;
        Ok(structures::node(self.version, identity, labels, properties))
    }

    /// The identity, type and properties of a relationship.
    fn parts(&self, it: &Arc<Relationship>) -> Result<(Identity, String, Map), CypherError> {
        let shown = self.graph.shown_relationship(it)?;
        let identity = Identity {
            id: numbers::of_edge(&shown.id),
            element_id: shown.id.to_string(),
        };
        let properties = self.properties(&shown.properties)?;
        Ok((identity, shown.label.to_string(), properties))
    }

    fn relationship(&self, it: &Arc<Relationship>) -> Result<Packed, CypherError> {
        let (identity, label, properties) = self.parts(it)?;
        let (start, end) = (self.identity(&it.start)?, self.identity(&it.end)?);
        Ok(structures::relationship(
            self.version,
            identity,
            start,
            end,
            label,
            properties,
        ))
    }

    fn path(&self, path: &Path) -> Result<Packed, CypherError> {
        let mut nodes: Vec<&Arc<Node>> = Vec::new();
        let mut relationships: Vec<&Arc<Relationship>> = Vec::new();
        let mut indices = Vec::new();
        fn place<'v, T: PartialEq>(all: &mut Vec<&'v Arc<T>>, one: &'v Arc<T>) -> i64 {
            let known = all.iter().position(|known| **known == *one);
            let at = known.unwrap_or_else(|| {
                all.push(one);
                all.len() - 1
            });
            i64::try_from(at).unwrap_or(i64::MAX)
        }
        if let Some(first) = path.nodes.first() {
            place(&mut nodes, first);
        }
        let steps = path.relationships.iter().zip(path.nodes.windows(2));
        for (relationship, ends) in steps {
            let [from, to] = ends else { continue };
            let number = place(&mut relationships, relationship) + 1;
            let is_forward = relationship.start == *from;
            indices.push(if is_forward { number } else { -number });
            indices.push(place(&mut nodes, to));
        }
        let nodes = nodes.into_iter().map(|node| self.node(node));
        let relationships = relationships.into_iter().map(|it| {
            let (identity, label, properties) = self.parts(it)?;
            let version = self.version;
            Ok(structures::unbound_relationship(
                version, identity, label, properties,
            ))
        });
        Ok(structures::path(
            nodes.collect::<Result<_, CypherError>>()?,
            relationships.collect::<Result<_, CypherError>>()?,
            indices,
        ))
    }
}

fn packed_point(point: &Point) -> Packed {
    let mut fields = vec![
        Packed::Int(point.srid.into()),
        Packed::Float(point.x),
        Packed::Float(point.y),
    ];
    fields.extend(point.z.map(Packed::Float));
    let tag = if point.z.is_some() { b'Y' } else { b'X' };
    Packed::Structure { tag, fields }
}

/// The parameters of a query.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] for a value that parameters cannot have.
pub(super) fn parameters(sent: &Map) -> Result<varve_cypher::Map, Failure> {
    let read = sent.iter().map(|(name, value)| match unpacked(value) {
        Ok(value) => Ok((Arc::from(name.as_str()), value)),
        Err(reason) => Err(Failure::new(
            ErrorKind::InvalidArgument,
            format!("The parameter '{name}' cannot be read: {reason}"),
        )),
    });
    read.collect()
}

fn unpacked(value: &Packed) -> Result<Value, String> {
    Ok(match value {
        Packed::Null => Value::Null,
        Packed::Bool(truth) => Value::Boolean(*truth),
        Packed::Int(number) => Value::Integer(*number),
        Packed::Float(number) => Value::Float(*number),
        Packed::Bytes(bytes) => Value::Bytes(Arc::from(bytes.as_slice())),
        Packed::String(text) => Value::string(text),
        Packed::List(items) => {
            let items = items.iter().map(unpacked);
            Value::list(items.collect::<Result<_, _>>()?)
        }
        Packed::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Ok((Arc::from(key.as_str()), unpacked(value)?)));
            Value::map(entries.collect::<Result<_, String>>()?)
        }
        Packed::Structure { tag, fields } => structure(*tag, fields)?,
    })
}

fn structure(tag: u8, fields: &[Packed]) -> Result<Value, String> {
    use Packed::{Float, Int, String as Text};
    let value = match (tag, fields) {
        (b'D', [Int(days)]) => Some(Value::Date(Date { days: *days })),
        (b't', [Int(nanos)]) => time_of_day(*nanos).map(Value::LocalTime),
        (b'T', [Int(nanos), Int(offset)]) => time_of_day(*nanos).and_then(|time| {
            let offset = offset_of(*offset)?;
            let nanos = time.nanos;
            Some(Value::Time(Time { nanos, offset }))
        }),
        (b'd', [Int(seconds), Int(nanos)]) => local(*seconds, *nanos).map(Value::LocalDateTime),
        (b'I', [Int(seconds), Int(nanos), Int(offset)]) => {
            let seconds = seconds.checked_add(*offset);
            seconds.and_then(|seconds| at_offset(seconds, *nanos, *offset))
        }
        (b'F', [Int(seconds), Int(nanos), Int(offset)]) => at_offset(*seconds, *nanos, *offset),
        (b'i', [Int(seconds), Int(nanos), Text(zone)]) => {
            let utc = local(*seconds, *nanos);
            let at = utc.and_then(|utc| DateTime::in_zone(utc, zone));
            Some(Value::DateTime(Box::new(at.ok_or_else(|| {
                format!("the time zone '{zone}' is not known")
            })?)))
        }
        (b'E', [Int(months), Int(days), Int(seconds), Int(nanos)]) => {
            let whole = seconds.checked_add(nanos.div_euclid(1_000_000_000));
            let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000)).ok();
            let parts = whole.zip(nanos);
            parts.map(|(seconds, nanos)| {
                Value::Duration(Box::new(Duration {
                    months: *months,
                    days: *days,
                    seconds,
                    nanos,
                }))
            })
        }
        (b'X', [Int(srid), Float(x), Float(y)]) => point(*srid, (*x, *y), None),
        (b'Y', [Int(srid), Float(x), Float(y), Float(z)]) => point(*srid, (*x, *y), Some(*z)),
        (b'N' | b'R' | b'r' | b'P', _) => {
            return Err("nodes, relationships and paths are not parameters".to_owned());
        }
        _ => None,
    };
    value.ok_or_else(|| format!("a structure 0x{tag:02X} with values that it cannot have"))
}

fn time_of_day(nanos: i64) -> Option<LocalTime> {
    (0..DAY_NANOS)
        .contains(&nanos)
        .then_some(LocalTime { nanos })
}

fn offset_of(seconds: i64) -> Option<i32> {
    let is_offset = (-OFFSET_MAX..=OFFSET_MAX).contains(&seconds);
    i32::try_from(seconds).ok().filter(|_| is_offset)
}

fn local(seconds: i64, nanos: i64) -> Option<LocalDateTime> {
    let nanos = u32::try_from(nanos).ok()?;
    (nanos < 1_000_000_000).then_some(LocalDateTime { seconds, nanos })
}

fn at_offset(seconds: i64, nanos: i64, offset: i64) -> Option<Value> {
    let at = DateTime {
        local: local(seconds, nanos)?,
        offset: offset_of(offset)?,
        zone: None,
    };
    Some(Value::DateTime(Box::new(at)))
}

fn point(srid: i64, (x, y): (f64, f64), z: Option<f64>) -> Option<Value> {
    let srid = u32::try_from(srid).ok()?;
    let fits = match z {
        None => matches!(srid, 4326 | 7203),
        Some(_) => matches!(srid, 4979 | 9157),
    };
    fits.then(|| Value::Point(Box::new(Point { srid, x, y, z })))
}
