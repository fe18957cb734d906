//! Steps from elements to elements and to what they have.

use varve_model::{Direction, Edge, EdgeId, Properties, Value as Stored, VertexId};

use super::super::step::{Argument, Step};
use super::super::value::Value;
use super::{Naive, Walker};
use crate::history::{EDGE_LABELS, KEYS, VERTEX_LABELS};

/// The value of a stored property.
fn value_of(stored: &Stored) -> Value {
    match stored {
        Stored::Int(number) => Value::Int(i64::from(*number)),
        Stored::Text(text) => Value::text(text),
        other => panic!("no history has {other:?}"),
    }
}

fn edge_label(id: &EdgeId) -> &'static str {
    EDGE_LABELS[id.label.0 as usize - 1]
}

/// The direction in the name of a step: `None` is both.
fn direction(step: &Step) -> Option<Direction> {
    let word = match step.arguments.first() {
        Some(Argument::Word(word)) => word,
        _ => step.name,
    };
    match word {
        "OUT" | "out" | "outE" | "outV" => Some(Direction::Out),
        "IN" | "in" | "inE" | "inV" => Some(Direction::In),
        _ => None,
    }
}

/// The vertices that an edge joins.
fn ends(edge: &Value, step: &Step) -> Vec<Value> {
    let Value::Edge(id, from) = edge else {
        panic!("ends of {edge:?}")
    };
    let ends = match (step.name, direction(step)) {
        ("otherV", _) => match from {
            Some(from) if *from == id.source => vec![&id.target],
            _ => vec![&id.source],
        },
        (_, Some(Direction::Out)) => vec![&id.source],
        (_, Some(Direction::In)) => vec![&id.target],
        (_, None) => vec![&id.source, &id.target],
    };
    ends.into_iter().cloned().map(Value::Vertex).collect()
}

impl Naive<'_> {
    /// `None`: the step is none of these.
    pub(super) fn elements_of(&self, step: &Step, walker: &Walker) -> Option<Vec<Value>> {
        let value = &walker.value;
        Some(match step.name {
            "V" => self.vertices(step),
            "E" => self.edges(),
            "inject" => unreachable!("it begins"),
            "out" | "in" | "both" | "to" => {
                let hops = self.hops(value, step).into_iter();
                hops.map(|(_, other)| Value::Vertex(other)).collect()
            }
            "outE" | "inE" | "bothE" | "toE" => {
                let Value::Vertex(from) = value else {
                    panic!("edges of {value:?}")
                };
                let hops = self.hops(value, step).into_iter();
                hops.map(|(edge, _)| Value::Edge(edge, Some(from.clone())))
                    .collect()
            }
            "inV" | "outV" | "bothV" | "otherV" | "toV" => ends(value, step),
            "id" => vec![self.id(value)],
            "label" => vec![self.label(value)],
            "values" => self.properties(value, &step.names(), |property| own_value(&property)),
            "properties" => self.properties(value, &step.names(), |property| property),
            "element" => vec![owner(value)],
            "key" => vec![Value::text(own_key(value))],
            "value" => vec![own_value(value)],
            "valueMap" | "propertyMap" | "elementMap" => vec![self.map_of(step, value)],
            _ => return None,
        })
    }

    fn vertices(&self, step: &Step) -> Vec<Value> {
        let ids: Vec<i64> = (0..step.arguments.len())
            .map(|at| step.number(at))
            .collect();
        let all = self.view.all_vertices().iter().map(|vertex| &vertex.id);
        let wanted =
            |id: &&VertexId| ids.is_empty() || ids.iter().any(|own| **id == VertexId::Number(*own));
        all.filter(wanted).cloned().map(Value::Vertex).collect()
    }

    fn edges(&self) -> Vec<Value> {
        let all = self.view.all_edges().iter();
        all.map(|edge| Value::Edge(edge.id.clone(), None)).collect()
    }

    /// The edges of a vertex with their other ends; a self-loop both ways twice.
    fn hops(&self, from: &Value, step: &Step) -> Vec<(EdgeId, VertexId)> {
        let Value::Vertex(from) = from else {
            panic!("edges of {from:?}")
        };
        let (way, labels) = (direction(step), step.names());
        let mut found = Vec::new();
        for edge in self.view.all_edges() {
            if !labels.is_empty() && !labels.contains(&edge_label(&edge.id)) {
                continue;
            }
            if way != Some(Direction::In) && edge.id.source == *from {
                found.push((edge.id.clone(), edge.id.target.clone()));
            }
            if way != Some(Direction::Out) && edge.id.target == *from {
                found.push((edge.id.clone(), edge.id.source.clone()));
            }
        }
        found
    }

    fn stored(&self, element: &Value) -> &Properties {
        match element {
            Value::Vertex(id) => {
                let mut all = self.view.all_vertices().iter();
                let vertex = all.find(|vertex| vertex.id == *id);
                &vertex.expect("no edge leads nowhere").properties
            }
            Value::Edge(id, _) => {
                let mut all = self.view.all_edges().iter();
                let edge: Option<&Edge> = all.find(|edge| edge.id == *id);
                &edge.expect("it was found before").properties
            }
            other => panic!("{other:?} is no element"),
        }
    }

    /// The value of a property; the value of a property's own keys is none.
    pub(super) fn property(&self, element: &Value, key: &str) -> Option<Value> {
        let (id, _) = KEYS.iter().find(|(_, name)| *name == key)?;
        self.stored(element).get(*id).map(value_of)
    }

    /// The properties with these keys, without keys all.
    fn properties<T>(&self, element: &Value, keys: &[&str], make: impl Fn(Value) -> T) -> Vec<T> {
        let wanted = |name: &str| keys.is_empty() || keys.contains(&name);
        let names = KEYS.iter().map(|(_, name)| *name);
        let found = names.filter(|name| wanted(name)).filter_map(|name| {
            let value = Box::new(self.property(element, name)?);
            Some(match element {
                Value::Vertex(id) => Value::VertexProperty(id.clone(), name, value),
                Value::Edge(id, _) => Value::Property(id.clone(), name, value),
                other => panic!("{other:?} is no element"),
            })
        });
        found.map(make).collect()
    }

    pub(super) fn id(&self, element: &Value) -> Value {
        match element {
            Value::Vertex(VertexId::Number(id)) => Value::Long(*id),
            Value::Edge(id, _) => Value::Text(id.to_string()),
            Value::VertexProperty(id, key, _) => Value::Text(format!("{id}>{key}")),
            other => panic!("no id of {other:?}"),
        }
    }

    pub(super) fn label(&self, element: &Value) -> Value {
        Value::text(match element {
            Value::Vertex(id) => {
                let mut all = self.view.all_vertices().iter();
                let vertex = all.find(|vertex| vertex.id == *id);
                let label = vertex.expect("no edge leads nowhere").label;
                VERTEX_LABELS[label.0 as usize - 1]
            }
            Value::Edge(id, _) => edge_label(id),
            Value::VertexProperty(_, key, _) => key,
            other => panic!("{other:?} has no label"),
        })
    }

    fn map_of(&self, step: &Step, element: &Value) -> Value {
        let is_vertex = matches!(element, Value::Vertex(_));
        let mut map = Vec::new();
        if step.name == "elementMap" || !step.behind.is_empty() || step.says("true") {
            map.push((Value::Token("id"), self.id(element)));
            map.push((Value::Token("label"), self.label(element)));
        }
        if let ("elementMap", Value::Edge(id, _)) = (step.name, element) {
            for (token, end) in [("IN", &id.target), ("OUT", &id.source)] {
                let end = Value::Vertex(end.clone());
                let of_end = vec![
                    (Value::Token("id"), self.id(&end)),
                    (Value::Token("label"), self.label(&end)),
                ];
                map.push((Value::Token(token), Value::Map(of_end)));
            }
        }
        for property in self.properties(element, &step.names(), |property| property) {
            let key = Value::text(own_key(&property));
            let value = match step.name {
                "propertyMap" => property,
                _ => own_value(&property),
            };
            let listed = is_vertex && step.name != "elementMap";
            map.push((
                key,
                if listed {
                    Value::List(vec![value])
                } else {
                    value
                },
            ));
        }
        Value::Map(map)
    }
}

pub(super) fn own_key(property: &Value) -> &'static str {
    match property {
        Value::VertexProperty(_, key, _) | Value::Property(_, key, _) => key,
        other => panic!("{other:?} is no property"),
    }
}

pub(super) fn own_value(property: &Value) -> Value {
    match property {
        Value::VertexProperty(.., value) | Value::Property(.., value) => (**value).clone(),
        other => panic!("{other:?} is no property"),
    }
}

fn owner(property: &Value) -> Value {
    match property {
        Value::VertexProperty(id, ..) => Value::Vertex(id.clone()),
        Value::Property(id, ..) => Value::Edge(id.clone(), None),
        other => panic!("{other:?} is no property"),
    }
}
