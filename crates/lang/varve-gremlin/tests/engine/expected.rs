//! Expected values, in the notation of the feature files.

use std::sync::Arc;

use serde_json::Value as Json;
use varve_model::Decimal;
use varve_query::Value;
use varve_query::value::{DateTime, Token};

use crate::modern::Modern;

/// An expected value.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// This value: elements by id, all other values by type and value.
    Value(Value),
    /// A property of a vertex or an edge with this key and text.
    Property(String, String),
    List(Vec<Wanted>),
    Set(Vec<Wanted>),
    Map(Vec<(Wanted, Wanted)>),
    /// A path of these objects.
    Path(Vec<Wanted>),
    /// These values, each with the tree below it.
    Tree(Vec<(Wanted, Wanted)>),
}

impl Wanted {
    /// The tree of these nodes, each with its depth.
    pub(crate) fn tree(nodes: &[(usize, String)], graph: &Modern) -> Option<Self> {
        let mut below = Vec::new();
        let mut rest = nodes;
        while let Some(((level, name), others)) = rest.split_first() {
            let own = others.iter().take_while(|(other, _)| other > level);
            let (own, others) = others.split_at(own.count());
            below.push((Self::read(name, graph)?, Self::tree(own, graph)?));
            rest = others;
        }
        Some(Self::Tree(below))
    }

    /// Parses a cell or a member.
    pub(crate) fn read(text: &str, graph: &Modern) -> Option<Self> {
        let text = text.trim();
        let inside = |prefix: &str| text.strip_prefix(prefix)?.strip_suffix(']');
        let each = |inner: &str| -> Option<Vec<Self>> {
            split(inner)
                .into_iter()
                .map(|item| Self::read(item, graph))
                .collect()
        };
        let value = |value: Value| Some(Self::Value(value));
        if let Some(inner) = inside("l[") {
            return Some(Self::List(each(inner)?));
        }
        if let Some(inner) = inside("s[") {
            return Some(Self::Set(each(inner)?));
        }
        if let Some(inner) = inside("p[") {
            return Some(Self::Path(each(inner)?));
        }
        if let Some(inner) = inside("m[") {
            return Self::of_json(&serde_json::from_str(inner).ok()?, graph);
        }
        if let Some(inner) = inside("str[") {
            return value(Value::text(inner));
        }
        if let Some(rest) = text.strip_prefix("v[") {
            let (name, part) = rest.split_once(']')?;
            let vertex = graph.vertex(name)?;
            return value(match part {
                ".id" => Value::of_id(&vertex.as_vertex_id()?),
                ".sid" => Value::text(&vertex.as_vertex_id()?.to_string()),
                _ => vertex,
            });
        }
        if let Some(rest) = text.strip_prefix("e[") {
            let (name, part) = rest.rsplit_once(']')?;
            let edge = graph.edge(name)?;
            return value(match (part, &edge) {
                (".id", Value::Edge(edge, _)) => edge.id_value(),
                (".sid", Value::Edge(edge, _)) => Value::text(&edge.id_value().shown().to_string()),
                _ => edge,
            });
        }
        if let Some(inner) = inside("vp[") {
            let (key, own) = inner.split_once("->")?;
            let (_, key) = key.split_once('-')?;
            return Some(Self::Property(key.to_owned(), own.to_owned()));
        }
        if let Some(inner) = inside("t[") {
            return value(Value::Token(match inner {
                "id" => Token::Id,
                "label" => Token::Label,
                "key" => Token::Key,
                _ => Token::Value,
            }));
        }
        if let Some(inner) = inside("D[") {
            return value(Value::Token(match inner {
                "OUT" | "from" => Token::Out,
                _ => Token::In,
            }));
        }
        if let Some(inner) = inside("M[") {
            return value(Value::Token(match inner {
                "outV" => Token::OutV,
                _ => Token::InV,
            }));
        }
        if let Some(inner) = inside("dt[") {
            let instant: jiff::Timestamp = inner.parse().ok()?;
            return value(Value::DateTime(DateTime::of_micros(
                instant.as_microsecond(),
                0,
            )));
        }
        if let Some(inner) = inside("uuid[") {
            return value(Value::Uuid(varve_model::value::Uuid::parse(inner)?.0));
        }
        if let Some(rest) = text.strip_prefix("d[") {
            let (digits, kind) = rest.split_once(']')?;
            return value(number(digits, kind)?);
        }
        value(match text {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => Value::text(text),
        })
    }

    fn of_json(json: &Json, graph: &Modern) -> Option<Self> {
        Some(match json {
            Json::Null => Self::Value(Value::Null),
            Json::Bool(truth) => Self::Value(Value::Bool(*truth)),
            Json::Number(number) => Self::Value(match number.as_i64() {
                Some(number) => Value::Int(i32::try_from(number).ok()?),
                None => Value::Double(number.as_f64()?),
            }),
            Json::String(text) => Self::read(text, graph)?,
            Json::Array(items) => {
                let each = items.iter().map(|item| Self::of_json(item, graph));
                Self::List(each.collect::<Option<_>>()?)
            }
            Json::Object(members) => {
                let entry = |(key, value): (&String, &Json)| {
                    Some((Self::read(key, graph)?, Self::of_json(value, graph)?))
                };
                Self::Map(members.iter().map(entry).collect::<Option<_>>()?)
            }
        })
    }

    /// The value, for use as a parameter.
    pub(crate) fn value(&self) -> Option<Value> {
        let each = |items: &[Self]| items.iter().map(Self::value).collect::<Option<Vec<_>>>();
        Some(match self {
            Self::Value(value) => value.clone(),
            Self::List(items) => Value::list(each(items)?),
            Self::Set(items) => Value::set(each(items)?),
            Self::Map(entries) => {
                let entry = |(key, value): &(Self, Self)| Some((key.value()?, value.value()?));
                Value::map(entries.iter().map(entry).collect::<Option<Vec<_>>>()?)
            }
            Self::Path(_) | Self::Property(..) | Self::Tree(_) => return None,
        })
    }
}

fn number(digits: &str, kind: &str) -> Option<Value> {
    Some(match kind {
        ".b" => Value::Byte(digits.parse().ok()?),
        ".s" => Value::Short(digits.parse().ok()?),
        ".i" => Value::Int(digits.parse().ok()?),
        ".l" => Value::Long(digits.parse().ok()?),
        ".n" => Value::BigInt(Arc::new(digits.parse().ok()?)),
        ".f" => Value::Float(digits.parse().ok()?),
        ".d" => Value::Double(digits.parse().ok()?),
        ".m" => Value::BigDecimal(Arc::new(Decimal::parse(digits)?)),
        _ => match digits {
            "NaN" => Value::Double(f64::NAN),
            "Infinity" => Value::Double(f64::INFINITY),
            "-Infinity" => Value::Double(f64::NEG_INFINITY),
            _ => return None,
        },
    })
}

/// Splits at commas outside brackets.
fn split(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        items.push(&text[start..]);
    }
    items
}

/// Whether a value is the expected one.
pub(crate) fn matches(value: &Value, wanted: &Wanted) -> bool {
    match (value, wanted) {
        (value, Wanted::Value(wanted)) => value == wanted,
        (Value::VertexProperty(own), Wanted::Property(key, text)) => {
            own.name == key.as_str() && own.value.shown().to_string() == *text
        }
        (Value::Property(own), Wanted::Property(key, text)) => {
            own.name == key.as_str() && own.value.shown().to_string() == *text
        }
        (Value::List(items), Wanted::List(wanted)) => in_order(items, wanted),
        (Value::Path(path), Wanted::Path(wanted)) => in_order(&path.objects, wanted),
        (Value::Set(items), Wanted::Set(wanted)) => {
            items.len() == wanted.len()
                && items
                    .iter()
                    .all(|item| wanted.iter().any(|wanted| matches(item, wanted)))
        }
        (Value::Tree(tree), Wanted::Tree(wanted)) => {
            tree.0.len() == wanted.len()
                && tree.0.iter().all(|(own, below)| {
                    let below = Value::Tree(Arc::new(below.clone()));
                    let mut nodes = wanted.iter();
                    nodes.any(|(node, rest)| matches(own, node) && matches(&below, rest))
                })
        }
        (Value::Map(map), Wanted::Map(wanted)) => {
            map.len() == wanted.len()
                && map.iter().all(|(key, value)| {
                    wanted
                        .iter()
                        .any(|(k, v)| matches(key, k) && matches(value, v))
                })
        }
        (Value::Entry(entry), Wanted::Map(wanted)) => {
            wanted.len() == 1 && matches(&entry.0, &wanted[0].0) && matches(&entry.1, &wanted[0].1)
        }
        _ => false,
    }
}

fn in_order(items: &[Value], wanted: &[Wanted]) -> bool {
    items.len() == wanted.len()
        && items
            .iter()
            .zip(wanted)
            .all(|(item, wanted)| matches(item, wanted))
}
