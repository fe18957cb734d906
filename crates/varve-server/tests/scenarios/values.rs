//! Values of scenarios as arguments and as values of the wire, and back.

use std::sync::Arc;

use varve_graphson::{self as wire, TokenClass};
use varve_gremlin::bytecode;
use varve_gremlin::tree::{self, Argument, ElementLiteral};
use varve_model::sortable::given_sort_value;
use varve_model::{EdgeId, EdgeLabelId, Properties, PropertyKeyId, VertexId, VertexLabelId};
use varve_query::Value;
use varve_query::value::{
    DateTime, EdgeHandle, NewerEdge, Owner, Path, Property, Subgraph, Token, Tree, VertexHandle,
    VertexProperty, Walked,
};

use crate::encode;

/// A value of a scenario as an argument of a step.
pub(crate) fn argument(value: &Value) -> Option<Argument> {
    let all = |items: &mut dyn Iterator<Item = &Value>| items.map(argument).collect::<Option<_>>();
    Some(match value {
        Value::Null => Argument::Null,
        Value::Bool(value) => Argument::Bool(*value),
        Value::Byte(value) => Argument::Byte(*value),
        Value::Short(value) => Argument::Short(*value),
        Value::Int(value) => Argument::Int(*value),
        Value::Long(value) => Argument::Long(*value),
        Value::BigInt(value) => Argument::BigInt(Box::new(value.as_ref().clone())),
        Value::Float(value) => Argument::Float(*value),
        Value::Double(value) => Argument::Double(*value),
        Value::BigDecimal(value) => Argument::BigDecimal(Box::new(value.as_ref().clone())),
        Value::Text(text) => Argument::String(text.clone()),
        Value::Uuid(value) => Argument::Uuid(*value),
        Value::DateTime(instant) => Argument::DateTime(tree::DateTime {
            seconds: instant.seconds().0,
            nanoseconds: instant.seconds().1,
            offset: instant.offset(),
        }),
        Value::List(items) => Argument::List(all(&mut items.iter())?),
        Value::Set(items) => Argument::Set(all(&mut items.iter())?),
        Value::Map(map) => {
            let entry = |(key, of): (&Value, &Value)| Some((argument(key)?, argument(of)?));
            Argument::Map(map.iter().map(entry).collect::<Option<_>>()?)
        }
        // The label is not looked at.
        Value::Vertex(vertex) => element(ElementLiteral::Vertex {
            id: argument(&Value::of_id(vertex.id()))?,
            label: Argument::String("vertex".into()),
        }),
        Value::Edge(edge, _) => element(ElementLiteral::Edge {
            id: argument(&edge.id_value())?,
            label: Argument::String("edge".into()),
        }),
        Value::Token(token) => token_argument(*token)?,
        _ => return None,
    })
}

fn element(element: ElementLiteral) -> Argument {
    Argument::Element(Box::new(element))
}

fn token_argument(token: Token) -> Option<Argument> {
    let name = token.to_string();
    Some(match token {
        Token::Out | Token::In => Argument::Direction(tree::Direction::from_text(&name)?),
        Token::OutV | Token::InV => Argument::Merge(tree::Merge::from_text(&name)?),
        Token::Single | Token::List | Token::Set => {
            Argument::Cardinality(tree::Cardinality::from_text(&name)?)
        }
        Token::Id | Token::Label | Token::Key | Token::Value => {
            Argument::T(tree::T::from_text(&name)?)
        }
    })
}

/// An argument as it goes over the wire.
pub(crate) fn sent(argument: &Argument) -> Option<wire::Value> {
    of_code(&encode::value(argument)?)
}

fn all_of_code(values: &[bytecode::Value]) -> Option<Vec<wire::Value>> {
    values.iter().map(of_code).collect()
}

fn of_code(value: &bytecode::Value) -> Option<wire::Value> {
    use bytecode::Value as From;
    use wire::Value as To;
    Some(match value {
        From::Plain(argument) => of_plain(argument)?,
        From::List(members) => To::List(all_of_code(members)?),
        From::Set(members) => To::Set(all_of_code(members)?),
        From::Map(entries) => {
            let entry = |(key, of): &(From, From)| Some((of_code(key)?, of_code(of)?));
            To::Map(entries.iter().map(entry).collect::<Option<_>>()?)
        }
        From::Bytecode(code) => To::Bytecode(wire_code(code)?),
        From::Predicate { name, operands } => To::Predicate {
            name: name.clone(),
            operands: all_of_code(operands)?,
        },
        From::Token { class, name } => To::Token {
            class: TokenClass::from_name(class)?,
            name: name.clone(),
        },
        From::Strategy {
            class,
            configuration,
        } => {
            let entry = |(key, of): &(_, From)| Some((Clone::clone(key), of_code(of)?));
            To::Strategy {
                class: class.clone(),
                configuration: configuration.iter().map(entry).collect::<Option<_>>()?,
            }
        }
        From::Class(name) => To::Class(name.clone()),
        From::Binding(value) => of_code(value)?,
        From::Lambda => return None,
    })
}

/// Bytecode as it goes over the wire.
pub(crate) fn wire_code(code: &bytecode::Bytecode) -> Option<wire::Bytecode> {
    let instruction = |instruction: &bytecode::Instruction| {
        Some(wire::Instruction {
            name: instruction.name.clone(),
            arguments: all_of_code(&instruction.arguments)?,
        })
    };
    Some(wire::Bytecode {
        steps: code.steps.iter().map(instruction).collect::<Option<_>>()?,
        source: code.source.iter().map(instruction).collect::<Option<_>>()?,
    })
}

fn of_plain(argument: &Argument) -> Option<wire::Value> {
    use wire::Value as To;
    Some(match argument {
        Argument::Null => To::Null,
        Argument::Bool(value) => To::Bool(*value),
        Argument::Byte(value) => To::Byte(*value),
        Argument::Short(value) => To::Short(*value),
        Argument::Int(value) => To::Int(*value),
        Argument::Long(value) => To::Long(*value),
        Argument::BigInt(value) => To::BigInt(value.clone()),
        Argument::Float(value) => To::Float(*value),
        Argument::Double(value) => To::Double(*value),
        Argument::BigDecimal(value) => To::BigDecimal(value.clone()),
        Argument::String(text) => To::String(text.clone()),
        Argument::Uuid(value) => To::Uuid(*value),
        // A driver draws it.
        Argument::RandomUuid => To::Uuid(0x7b0b_96b8_6c0f_4d2f_8a07_9e5b_2f3d_1c4a),
        Argument::DateTime(instant) => To::DateTime(*instant),
        Argument::Element(element) => match element.as_ref() {
            ElementLiteral::Vertex { id, label } => To::Vertex(Box::new(wire::Vertex {
                id: of_plain(id)?,
                label: text_of(label)?,
                properties: Vec::new(),
            })),
            ElementLiteral::Edge { id, label } => To::Edge(Box::new(wire::Edge {
                id: of_plain(id)?,
                label: text_of(label)?,
                in_id: To::Null,
                in_label: wire::Text::default(),
                out_id: To::Null,
                out_label: wire::Text::default(),
                properties: Vec::new(),
            })),
            _ => return None,
        },
        _ => return None,
    })
}

fn text_of(argument: &Argument) -> Option<wire::Text> {
    match argument {
        Argument::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn all_received(values: Vec<wire::Value>) -> Result<Vec<Value>, String> {
    values.into_iter().map(received).collect()
}

/// A value that the server sent, of exactly the type that it had on the wire.
pub(crate) fn received(value: wire::Value) -> Result<Value, String> {
    use wire::Value as From;
    Ok(match value {
        From::Null => Value::Null,
        From::Bool(value) => Value::Bool(value),
        From::Byte(value) => Value::Byte(value),
        From::Short(value) => Value::Short(value),
        From::Int(value) => Value::Int(value),
        From::Long(value) => Value::Long(value),
        From::BigInt(value) => Value::BigInt(Arc::new(*value)),
        From::Float(value) => Value::Float(value),
        From::Double(value) => Value::Double(value),
        From::BigDecimal(value) => Value::BigDecimal(Arc::new(*value)),
        From::String(text) => Value::Text(text),
        From::Uuid(value) => Value::Uuid(value),
        From::DateTime(instant) => {
            let (seconds, nanoseconds) = (instant.seconds, instant.nanoseconds);
            let instant = DateTime::of_seconds(seconds, nanoseconds, instant.offset);
            Value::DateTime(instant.ok_or("a date out of range")?)
        }
        From::List(items) => Value::list(all_received(items)?),
        From::Set(items) => {
            let items = all_received(items)?;
            let set = Value::set(items.iter().cloned());
            match &set {
                Value::Set(members) if members.len() == items.len() => set,
                _ => return Err(format!("a set of equal members: {items:?}")),
            }
        }
        From::Map(entries) => {
            let each = entries.into_iter();
            let entries = each.map(|(key, of)| Ok((received(key)?, received(of)?)));
            let entries = entries.collect::<Result<Vec<_>, String>>()?;
            let map = Value::map(entries.iter().cloned());
            match &map {
                Value::Map(members) if members.len() == entries.len() => map,
                _ => return Err(format!("a map with equal keys: {entries:?}")),
            }
        }
        From::Path(path) => Value::Path(Arc::new(Path {
            objects: all_received(path.objects)?,
            labels: path.labels,
        })),
        From::Tree(tree) => Value::Tree(Arc::new(received_tree(tree)?)),
        From::Graph(graph) => Value::Graph(Arc::new(received_graph(*graph)?)),
        From::Token { class, name } => Value::Token(received_token(class, &name)?),
        other => received_element(other)?,
    })
}

fn received_element(value: wire::Value) -> Result<Value, String> {
    use wire::Value as From;
    Ok(match value {
        From::Vertex(vertex) if !vertex.label.is_empty() => {
            let id = received(vertex.id)?;
            let id = id.as_vertex_id().ok_or("a vertex without an id")?;
            Value::Vertex(Arc::new(VertexHandle::new(id, None)))
        }
        From::Edge(edge) if !edge.label.is_empty() => {
            let ends = [(edge.out_id, &edge.out_label), (edge.in_id, &edge.in_label)];
            let [source, target] = ends.map(|(end, label)| {
                let end = received(end)?.as_vertex_id();
                let end = end.filter(|_| !label.is_empty());
                end.ok_or_else(|| "an edge without an end".to_owned())
            });
            let (source, target) = (source?, target?);
            // An id that the server made contains the ends, a given one does not.
            let own = received(edge.id)?;
            let made = match &own {
                Value::Text(text) => EdgeId::parse(text).ok(),
                _ => None,
            };
            let is_given = made.is_none();
            let id = match (made, own.as_vertex_id()) {
                (Some(made), _) if made.source == source && made.target == target => made,
                (None, Some(given)) => EdgeId {
                    source,
                    parent: EdgeLabelId(1),
                    label: EdgeLabelId(1),
                    sort_values: given_sort_value(&given),
                    target,
                },
                _ => {
                    let own = own.shown();
                    return Err(format!("an edge {own} from {source} to {target}"));
                }
            };
            let handle = EdgeHandle {
                source_label: VertexLabelId(1),
                target_label: VertexLabelId(1),
                properties: Properties::new(),
                newer: NewerEdge::default(),
                label_name: edge.label,
                is_given,
                id,
            };
            Value::Edge(Arc::new(handle), Walked::No)
        }
        From::VertexProperty(property) => {
            let From::String(id) = property.id else {
                return Err(format!("a vertex property with the id {:?}", property.id));
            };
            // Its own id makes it equal to itself alone.
            Value::VertexProperty(Arc::new(VertexProperty {
                vertex: Arc::new(VertexHandle::new(VertexId::Text(id), None)),
                key: PropertyKeyId(1),
                name: property.label,
                number: 0,
                value: received(property.value)?,
                meta: Properties::new(),
            }))
        }
        From::Property(property) => {
            let owner = VertexProperty {
                vertex: Arc::new(VertexHandle::new(VertexId::Number(0), None)),
                key: PropertyKeyId(1),
                name: property.key.clone(),
                number: 0,
                value: Value::Null,
                meta: Properties::new(),
            };
            Value::Property(Arc::new(Property {
                owner: Owner::VertexProperty(Arc::new(owner)),
                name: property.key,
                value: received(property.value)?,
            }))
        }
        other => return Err(format!("the server sent {other:?}")),
    })
}

/// A subgraph, whose vertices and edges must each come once.
fn received_graph(mut graph: wire::Graph) -> Result<Subgraph, String> {
    // GraphBinary leaves the labels of ends to the vertices, which must be there.
    let vertices = &graph.vertices;
    for edge in &mut graph.edges {
        let label_of = |end: &wire::Value| {
            let vertex = vertices.iter().find(|vertex| vertex.id == *end);
            let label = vertex.map(|vertex| vertex.label.clone());
            label.ok_or_else(|| format!("a subgraph without the end {end:?} of an edge"))
        };
        edge.out_label = label_of(&edge.out_id)?;
        edge.in_label = label_of(&edge.in_id)?;
    }
    let vertices = graph.vertices.into_iter().map(Box::new);
    let edges = graph.edges.into_iter().map(Box::new);
    let counts = (vertices.len(), edges.len());
    let read = Subgraph {
        vertices: vertices
            .map(|vertex| received(wire::Value::Vertex(vertex)))
            .collect::<Result<_, String>>()?,
        edges: edges
            .map(|edge| received(wire::Value::Edge(edge)))
            .collect::<Result<_, String>>()?,
    };
    match (read.vertices.len(), read.edges.len()) == counts {
        true => Ok(read),
        false => Err("a subgraph with equal members".to_owned()),
    }
}

fn received_tree(tree: wire::Tree) -> Result<Tree, String> {
    let mut read = Tree::default();
    for (key, below) in tree.branches {
        let (key, below) = (received(key)?, received_tree(below)?);
        if read.0.insert(key, below).is_some() {
            return Err("a tree with equal keys".to_owned());
        }
    }
    Ok(read)
}

fn received_token(class: TokenClass, name: &str) -> Result<Token, String> {
    Ok(match (class, name) {
        (TokenClass::T, "id") => Token::Id,
        (TokenClass::T, "label") => Token::Label,
        (TokenClass::T, "key") => Token::Key,
        (TokenClass::T, "value") => Token::Value,
        (TokenClass::Direction, "OUT") => Token::Out,
        (TokenClass::Direction, "IN") => Token::In,
        (TokenClass::Merge, "outV") => Token::OutV,
        (TokenClass::Merge, "inV") => Token::InV,
        _ => return Err(format!("the token {name} of {class:?}")),
    })
}
