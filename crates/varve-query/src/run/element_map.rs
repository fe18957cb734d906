//! Maps of elements: `valueMap`, `propertyMap`, `elementMap`.

use std::sync::Arc;

use compact_str::CompactString;

use super::build::Builder;
use super::child::{Child, Key, Reader};
use super::context::Context;
use super::map::{is_element, values};
use super::{BoxedOperator, element};
use crate::plan::{ElementMap, MapOf};
use crate::value::{Token, ValueMap};
use crate::{QueryError, Value};

/// Makes a map of an element.
struct Mapping {
    of: MapOf,
    ids: bool,
    labels: bool,
    keys: Vec<Key>,
    reader: Option<Reader>,
    visible: Option<Child>,
}

/// Builds a step that makes a map of each element. `keys`: the properties; empty = all.
pub(crate) fn operator(
    plan: &ElementMap,
    keys: Vec<Key>,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let is_whole = plan.of == MapOf::Whole;
    let reader = plan.by.as_ref().map(|by| Reader::new(by, builder));
    let visible = plan.visible.as_ref();
    let visible = visible.map(|plan| Child::local(plan, builder));
    let mut mapping = Mapping {
        of: plan.of,
        ids: is_whole || plan.tokens.ids,
        labels: is_whole || plan.tokens.labels,
        keys,
        reader: reader.transpose()?,
        visible: visible.transpose()?,
    };
    Ok(values(input, true, move |cx, value| {
        is_element(value)?;
        mapping.map(cx, value).map(Some)
    }))
}

impl Mapping {
    fn map(&mut self, cx: &mut Context<'_>, value: &Value) -> Result<Value, QueryError> {
        let mut map = ValueMap::default();
        self.add_tokens(cx, value, &mut map)?;
        if let (MapOf::Whole, Value::Edge(edge, _)) = (self.of, value) {
            for (token, direction) in [
                (Token::In, varve_model::Direction::In),
                (Token::Out, varve_model::Direction::Out),
            ] {
                map.insert(Value::Token(token), end(cx, &edge.end(direction))?);
            }
        }
        let lists = self.of != MapOf::Whole && matches!(value, Value::Vertex(_));
        for (name, own) in self.shown(cx, value)? {
            match lists {
                true => add_to_list(&mut map, name, own),
                false => drop(map.insert(Value::Text(name), own)),
            }
        }
        let Some(reader) = &mut self.reader else {
            return Ok(Value::Map(Arc::new(map)));
        };
        let mut read = ValueMap::default();
        for (name, own) in map {
            let own = reader.read_value(cx, &own)?;
            read.extend(own.map(|own| (name, own)));
        }
        Ok(Value::Map(Arc::new(read)))
    }

    fn add_tokens(
        &self,
        cx: &Context<'_>,
        value: &Value,
        map: &mut ValueMap,
    ) -> Result<(), QueryError> {
        let labels: &[Token] = match value {
            Value::VertexProperty(_) => &[Token::Key, Token::Value],
            _ => &[Token::Label],
        };
        for (wanted, all) in [(self.ids, &[Token::Id][..]), (self.labels, labels)] {
            for token in all.iter().filter(|_| wanted) {
                if let Some(own) = element::token(cx, value, *token)? {
                    map.insert(Value::Token(*token), own);
                }
            }
        }
        Ok(())
    }

    /// The properties with their names; or their values, if the map is of values.
    fn shown(
        &mut self,
        cx: &mut Context<'_>,
        value: &Value,
    ) -> Result<Vec<(CompactString, Value)>, QueryError> {
        let properties = self.of == MapOf::Properties;
        if let (Some(visible), Value::Vertex(_)) = (&mut self.visible, value) {
            let shown = element::visible_properties(cx, value, &self.keys, visible)?;
            let each = shown.into_iter();
            let pair = |(name, property, value)| (name, if properties { property } else { value });
            return Ok(each.map(pair).collect());
        }
        if !properties {
            return Ok(element::pairs(cx, value, &self.keys));
        }
        let each = element::property_values(cx, value, &self.keys).into_iter();
        let named = each.filter_map(|property| match &property {
            Value::VertexProperty(own) => Some((own.name.clone(), property)),
            Value::Property(own) => Some((own.name.clone(), property)),
            _ => None,
        });
        Ok(named.collect())
    }
}

/// The id and the label of a vertex.
fn end(cx: &Context<'_>, vertex: &Value) -> Result<Value, QueryError> {
    let mut own = ValueMap::default();
    for part in [Token::Id, Token::Label] {
        if let Some(value) = element::token(cx, vertex, part)? {
            own.insert(Value::Token(part), value);
        }
    }
    Ok(Value::Map(Arc::new(own)))
}

/// Adds a value to the list of a name in a map.
fn add_to_list(map: &mut ValueMap, name: CompactString, value: Value) {
    let list = map.entry(Value::Text(name));
    match list.or_insert_with(|| Value::list(Vec::new())) {
        Value::List(items) => Arc::make_mut(items).push(value),
        other => *other = value,
    }
}
