//! Reads elements and property values straight from the JSON of a request. Texts without escapes
//! are borrowed, and only values that are lists or objects become trees. The JSON reader bounds the
//! nesting (128).
//!
//! Unknown members are refused, `type` is ignored, and of several members with one name the last
//! counts.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use varve_graph::element::{EdgeInput, RawProperty, RawValue, UpdateStrategy, VertexInput};

use super::periods::Given;
use crate::config::BATCH_ELEMENTS_MAX;
use crate::errors::ApiError;
use crate::json::quick;
use crate::request::RequestContext;
use crate::wire::raw::{Properties, Raw, Text};

/// An object that is read member by member.
pub(super) trait Members<'de>: Default {
    /// The names of all members, for the error about an unknown one.
    const NAMES: &'static [&'static str];

    /// Clears the members.
    fn clear(&mut self) {
        *self = Self::default();
    }

    /// Reads the value of the member `name`. `false` if there is no such member; then the value has
    /// not been read.
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// Reads an object by its [`Members`] into an existing value, which it clears first.
struct Fill<'t, T>(&'t mut T);

impl<'de, T: Members<'de>> Visitor<'de> for Fill<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.clear();
        while let Some(Text(name)) = map.next_key()? {
            if !self.0.take(&name, &mut map)? {
                return Err(de::Error::unknown_field(&name, T::NAMES));
            }
        }
        Ok(())
    }
}

/// Reads an object by the visitor, or null; returns whether it was an object.
struct OrNull<V>(V);

impl<'de, V: Visitor<'de, Value = ()>> DeserializeSeed<'de> for OrNull<V> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, V: Visitor<'de, Value = ()>> Visitor<'de> for OrNull<V> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }
    fn visit_none<E: de::Error>(self) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_map(self.0).map(|()| true)
    }
}

/// Reads the body, an object. An empty body or one of another shape is a 400; for JSON's `null`,
/// the error is what `null` returns.
pub(super) fn body<'a, T: Members<'a>>(
    context: &'a RequestContext,
    null: fn() -> ApiError,
) -> Result<T, ApiError> {
    let mut object = T::default();
    let is_there = match quick::read(context.body(), OrNull(Fill(&mut object))) {
        Some(is_there) => is_there,
        None => context.json_seed(OrNull(Fill(&mut object)))?,
    };
    match is_there {
        true => Ok(object),
        false => Err(null()),
    }
}

/// Reads an object by its [`Members`].
fn object<'de, T: Members<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let mut object = T::default();
    deserializer.deserialize_map(Fill(&mut object))?;
    Ok(object)
}

macro_rules! object {
    ($name:ident) => {
        impl<'de> Deserialize<'de> for $name<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                object(deserializer)
            }
        }
    };
}

/// Reads the next value; `None` for null.
fn optional<'de, T, A>(map: &mut A) -> Result<Option<T>, A::Error>
where
    T: Deserialize<'de>,
    A: MapAccess<'de>,
{
    map.next_value::<Option<T>>()
}

/// Reads a name: a text, or a scalar, which is converted to its text; `None` for null.
#[inline]
fn name_of<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    match map.next_value::<Raw<'de>>()?.0 {
        RawValue::Text(text) => Ok(Some(text)),
        RawValue::Null => Ok(None),
        RawValue::List(_) | RawValue::Map(_) => Err(de::Error::custom(
            "Cannot deserialize value of type `java.lang.String` from Array or Object value",
        )),
        scalar => Ok(Some(Cow::Owned(scalar.to_string()))),
    }
}

#[inline]
fn raw<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<RawValue<'de>>, A::Error> {
    let Raw(value) = map.next_value()?;
    Ok((!value.is_null()).then_some(value))
}

/// Reads properties into the allocation of `spare`.
fn properties<'de, A: MapAccess<'de>>(
    map: &mut A,
    spare: &mut Vec<RawProperty<'de>>,
) -> Result<Option<Vec<RawProperty<'de>>>, A::Error> {
    spare.clear();
    let is_there = map.next_value_seed(OrNull(Properties(spare)))?;
    Ok(is_there.then(|| std::mem::take(spare)))
}

/// The input of one kind of element, vertices or edges.
pub(super) trait Input<'de>: Default {
    const NAMES: &'static [&'static str];

    fn properties(&mut self) -> &mut Option<Vec<RawProperty<'de>>>;

    /// [`Members::take`] of the members that only this kind of element has.
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// An element.
#[derive(Debug, Default)]
pub(super) struct ElementJson<'a, I> {
    pub(super) input: I,
    pub(super) given: Given<'a>,
    /// The allocation of the last element's properties, for the next one.
    spare: Vec<RawProperty<'a>>,
}

/// A vertex.
pub(super) type VertexJson<'a> = ElementJson<'a, VertexInput<'a>>;
/// An edge.
pub(super) type EdgeJson<'a> = ElementJson<'a, EdgeInput<'a>>;

impl<'de, I: Input<'de>> Members<'de> for ElementJson<'de, I> {
    const NAMES: &'static [&'static str] = I::NAMES;

    fn clear(&mut self) {
        let properties = self.input.properties().take();
        *self = Self {
            spare: properties.unwrap_or_default(),
            ..Self::default()
        };
    }

    #[inline]
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "properties" => *self.input.properties() = properties(map, &mut self.spare)?,
            "valid_from" => self.given.from = Some(map.next_value::<Raw<'de>>()?.0),
            "valid_to" => self.given.to = Some(map.next_value::<Raw<'de>>()?.0),
            "type" => drop(map.next_value::<IgnoredAny>()?),
            _ => return self.input.take(name, map),
        }
        Ok(true)
    }
}

impl<'de, I: Input<'de>> Deserialize<'de> for ElementJson<'de, I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object(deserializer)
    }
}

impl<'de> Input<'de> for VertexInput<'de> {
    const NAMES: &'static [&'static str] = &["id", "label", "properties", "valid_from", "valid_to"];

    fn properties(&mut self) -> &mut Option<Vec<RawProperty<'de>>> {
        &mut self.properties
    }

    #[inline]
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "label" => self.label = name_of(map)?,
            "id" => self.id = raw(map)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'de> Input<'de> for EdgeInput<'de> {
    const NAMES: &'static [&'static str] = &[
        "id",
        "label",
        "outV",
        "outVLabel",
        "inV",
        "inVLabel",
        "properties",
        "valid_from",
        "valid_to",
    ];

    fn properties(&mut self) -> &mut Option<Vec<RawProperty<'de>>> {
        &mut self.properties
    }

    #[inline]
    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "label" => self.label = name_of(map)?,
            "outV" => self.source = raw(map)?,
            "outVLabel" => self.source_label = name_of(map)?,
            "inV" => self.target = raw(map)?,
            "inVLabel" => self.target_label = name_of(map)?,
            "id" => self.id = name_of(map)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Calls `each` with each element of an array as it is read, with `None` for null. Elements over
/// `limit` are only counted. Returns the number of elements.
pub(super) struct EachOf<T, F> {
    limit: usize,
    each: F,
    /// The element that was read last, which the next one reuses.
    item: T,
}

impl<T: Default, F: FnMut(Option<&mut T>)> EachOf<T, F> {
    pub(super) fn new(limit: usize, each: F) -> Self {
        let item = T::default();
        Self { limit, each, item }
    }
}

impl<'de, T: Members<'de>, F: FnMut(Option<&mut T>)> DeserializeSeed<'de> for EachOf<T, F> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Members<'de>, F: FnMut(Option<&mut T>)> Visitor<'de> for EachOf<T, F> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<usize, A::Error> {
        let mut count = 0;
        while count < self.limit {
            let item = OrNull(Fill(&mut self.item));
            let is_there = items.next_element_seed(item).map_err(|error| {
                // `serde_json` parses the position at the end of this message again.
                de::Error::custom(format_args!("element {count}: {error}"))
            })?;
            let Some(is_there) = is_there else {
                return Ok(count);
            };
            (self.each)(is_there.then_some(&mut self.item));
            count += 1;
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}

/// The elements of an array, up to [`BATCH_ELEMENTS_MAX`]; `None` for null.
#[derive(Debug)]
pub(super) struct Listed<T> {
    /// The elements.
    pub(super) items: Vec<Option<T>>,
    /// The number of elements, including those over the limit.
    pub(super) count: usize,
}

impl<'de, T: Members<'de>> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut items = Vec::new();
        let push = |item: Option<&mut T>| items.push(item.map(std::mem::take));
        let count = EachOf::new(BATCH_ELEMENTS_MAX, push).deserialize(deserializer)?;
        Ok(Self { items, count })
    }
}

/// The name of an update strategy.
struct StrategyJson(UpdateStrategy);

impl<'de> Deserialize<'de> for StrategyJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(name) = Text::deserialize(deserializer)?;
        UpdateStrategy::from_name(&name).map(Self).ok_or_else(|| {
            de::Error::custom(format_args!(
                "Cannot deserialize value of type `org.apache.hugegraph.define.UpdateStrategy` from String \"{name}\": not one of the values accepted for Enum class: [ELIMINATE, BIGGER, INTERSECTION, APPEND, SUM, OVERRIDE, UNION, SMALLER]"
            ))
        })
    }
}

/// The body of a batch update of vertices or edges.
#[derive(Debug)]
pub(super) struct UpdateJson<'a, T> {
    /// The elements; `None` when the member is missing.
    pub(super) elements: Option<Listed<T>>,
    /// The update strategy of each property.
    pub(super) strategies: Vec<(Cow<'a, str>, UpdateStrategy)>,
    /// Whether elements that do not exist are created.
    pub(super) create_if_not_exist: bool,
    /// Whether both ends of an edge must exist.
    pub(super) check_vertex: bool,
}

impl<T> Default for UpdateJson<'_, T> {
    fn default() -> Self {
        Self {
            elements: None,
            strategies: Vec::new(),
            create_if_not_exist: true,
            check_vertex: false,
        }
    }
}

struct StrategiesJson<'a>(Vec<(Cow<'a, str>, UpdateStrategy)>);

impl<'de> Deserialize<'de> for StrategiesJson<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrategiesVisitor;
        impl<'de> Visitor<'de> for StrategiesVisitor {
            type Value = StrategiesJson<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strategies")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut strategies = Vec::new();
                while let Some((Text(name), StrategyJson(strategy))) = map.next_entry()? {
                    strategies.push((name, strategy));
                }
                Ok(StrategiesJson(strategies))
            }
        }
        deserializer.deserialize_map(StrategiesVisitor)
    }
}

impl<'de, T> UpdateJson<'de, T> {
    fn take_common<A: MapAccess<'de>>(
        &mut self,
        name: &str,
        map: &mut A,
    ) -> Result<bool, A::Error> {
        match name {
            "update_strategies" => {
                self.strategies =
                    optional::<StrategiesJson<'de>, A>(map)?.map_or(Vec::new(), |s| s.0);
            }
            "create_if_not_exist" => {
                self.create_if_not_exist = optional(map)?.unwrap_or(false);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The body of a batch update of vertices.
#[derive(Debug, Default)]
pub(super) struct VertexUpdateJson<'a>(pub(super) UpdateJson<'a, VertexJson<'a>>);

impl<'de> Members<'de> for VertexUpdateJson<'de> {
    const NAMES: &'static [&'static str] =
        &["vertices", "update_strategies", "create_if_not_exist"];

    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        if name == "vertices" {
            self.0.elements = optional(map)?;
            return Ok(true);
        }
        self.0.take_common(name, map)
    }
}
object!(VertexUpdateJson);

/// The body of a batch update of edges.
#[derive(Debug, Default)]
pub(super) struct EdgeUpdateJson<'a>(pub(super) UpdateJson<'a, EdgeJson<'a>>);

impl<'de> Members<'de> for EdgeUpdateJson<'de> {
    const NAMES: &'static [&'static str] = &[
        "edges",
        "update_strategies",
        "check_vertex",
        "create_if_not_exist",
    ];

    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "edges" => self.0.elements = optional(map)?,
            "check_vertex" => self.0.check_vertex = map.next_value()?,
            _ => return self.0.take_common(name, map),
        }
        Ok(true)
    }
}
object!(EdgeUpdateJson);

/// The body of a batch of vertices and edges that are stored together.
#[derive(Debug, Default)]
pub(super) struct GraphBatchJson<'a> {
    /// The vertices.
    pub(super) vertices: Option<Listed<VertexJson<'a>>>,
    /// The edges, which may run between these vertices.
    pub(super) edges: Option<Listed<EdgeJson<'a>>>,
}

impl<'de> Members<'de> for GraphBatchJson<'de> {
    const NAMES: &'static [&'static str] = &["vertices", "edges"];

    fn take<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "vertices" => self.vertices = optional(map)?,
            "edges" => self.edges = optional(map)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
object!(GraphBatchJson);
