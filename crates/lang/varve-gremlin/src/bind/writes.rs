//! Steps that change the graph.

use varve_model::Cardinality;
use varve_query::plan::write::{EdgeEnd, Given, Merge, Property, PropertyName, Write};
use varve_query::plan::{Name, Op};
use varve_query::value::Token;
use varve_query::{QueryError, Value};

use super::Binder;
use super::arguments::{first, token_of};
use crate::tree::{self, Argument, Step, StepName};

/// The modulators of steps that change the graph, by step.
pub(super) const ADD_VERTEX: &[StepName] = &[StepName::Property, StepName::With];
pub(super) const ADD_EDGE: &[StepName] = &[
    StepName::From,
    StepName::To,
    StepName::Property,
    StepName::With,
];
pub(super) const MERGE: &[StepName] = &[StepName::Option, StepName::With];
pub(super) const SET: &[StepName] = &[StepName::With];

impl Binder<'_> {
    /// Binds a step that changes the graph ([`StepName::writes`]), with its modulators `behind`.
    /// `property()` modulators that cannot be part of an addition become steps of their own.
    pub(super) fn write(&self, step: &Step, behind: &[Step]) -> Result<Vec<Op>, QueryError> {
        let write = |write| Op::Write(Box::new(write));
        Ok(match step.name {
            StepName::AddV => {
                let label = step.arguments.first();
                let label = label.map(|label| self.given(label)).transpose()?;
                let (properties, later) = self.folded(behind, false)?;
                let mut ops = vec![write(Write::AddVertex { label, properties })];
                ops.extend(later);
                ops
            }
            StepName::AddE => {
                let (properties, later) = self.folded(behind, true)?;
                let end = |name: StepName| -> Result<Option<EdgeEnd>, QueryError> {
                    let step = behind.iter().rfind(|step| step.name == name);
                    step.map(|step| self.edge_end(first(step)?)).transpose()
                };
                let mut ops = vec![write(Write::AddEdge {
                    label: self.given(first(step)?)?,
                    source: end(StepName::From)?,
                    target: end(StepName::To)?,
                    properties,
                })];
                ops.extend(later);
                ops
            }
            StepName::Property => vec![write(Write::Set(self.properties(step)?))],
            StepName::Drop => vec![write(Write::Drop)],
            StepName::MergeV => vec![write(Write::MergeVertex(self.merge(step, behind)?))],
            StepName::MergeE => vec![write(Write::MergeEdge(self.merge(step, behind)?))],
            other => return Err(QueryError::Unsupported(format!("The step {other}()"))),
        })
    }

    /// Splits the `property()` modulators of an addition at the first one with a cardinality or
    /// meta-properties. Those before it are part of the addition; it and the later ones become
    /// steps.
    ///
    /// # Errors
    /// When a property of an edge has meta-properties.
    fn folded(
        &self,
        behind: &[Step],
        of_edge: bool,
    ) -> Result<(Vec<Property>, Vec<Op>), QueryError> {
        let mut folded = Vec::new();
        let mut later = Vec::new();
        for step in behind.iter().filter(|step| step.name == StepName::Property) {
            let properties = self.properties(step)?;
            let with_meta = properties.iter().find(|one| !one.meta.is_empty());
            if let (true, Some(property)) = (of_edge, with_meta) {
                return Err(QueryError::meta_property(
                    "Edge",
                    &property.name.to_string(),
                ));
            }
            let is_plain = |one: &Property| one.cardinality.is_none() && one.meta.is_empty();
            match later.is_empty() && properties.iter().all(is_plain) {
                true => folded.extend(properties),
                false => later.push(Op::Write(Box::new(Write::Set(properties)))),
            }
        }
        Ok((folded, later))
    }

    /// The properties of a `property()` step: one, or each entry of a map.
    fn properties(&self, step: &Step) -> Result<Vec<Property>, QueryError> {
        let (cardinality, arguments) = match step.arguments.split_first() {
            Some((Argument::Cardinality(cardinality), rest)) => {
                (Some(cardinality_of(*cardinality)), rest)
            }
            // A null cardinality counts as none.
            Some((Argument::Null, rest)) if rest.len() >= 2 => (None, rest),
            _ => (None, step.arguments.as_slice()),
        };
        let (key, rest) = match arguments {
            [map] => return self.properties_of_map(cardinality, map),
            [key, rest @ ..] => (key, rest),
            [] => return Err(QueryError::invalid("property() needs a key and a value")),
        };
        let (value, meta) = match rest {
            [value, meta @ ..] if meta.len() % 2 == 0 => (value, meta),
            _ => {
                return Err(QueryError::invalid(
                    "The provided key/value array length must be a multiple of two",
                ));
            }
        };
        let meta = meta
            .chunks_exact(2)
            .map(|pair| Ok((self.name(&pair[0])?, self.given(&pair[1])?)));
        Ok(vec![Property {
            cardinality,
            name: match key {
                Argument::T(token) => PropertyName::Token(token_of(*token)),
                Argument::Traversal(child) => PropertyName::Child(self.plan(&child.steps)?),
                key => property_name(self.value(key)?)?,
            },
            value: self.given(value)?,
            meta: meta.collect::<Result<_, QueryError>>()?,
            partition: None,
        }])
    }

    fn properties_of_map(
        &self,
        cardinality: Option<Cardinality>,
        map: &Argument,
    ) -> Result<Vec<Property>, QueryError> {
        let map = match self.value(map)? {
            Value::Map(map) => map,
            Value::Null => return Ok(Vec::new()),
            _ => return Err(QueryError::invalid("property() needs a key and a value")),
        };
        let each = map.iter().map(|(key, value)| {
            Ok(Property {
                cardinality,
                name: property_name(key.clone())?,
                value: Given::Value(value.clone()),
                meta: Vec::new(),
                partition: None,
            })
        });
        each.collect()
    }

    fn given(&self, argument: &Argument) -> Result<Given, QueryError> {
        Ok(match argument {
            Argument::Traversal(child) => Given::Child(self.plan(&child.steps)?),
            other => Given::Value(self.value(other)?),
        })
    }

    /// The end in `from()` or `to()`: a step label, or a vertex.
    fn edge_end(&self, argument: &Argument) -> Result<EdgeEnd, QueryError> {
        Ok(match self.given(argument)? {
            Given::Value(Value::Text(label)) => EdgeEnd::Label(label),
            given => EdgeEnd::Given(given),
        })
    }

    fn merge(&self, step: &Step, behind: &[Step]) -> Result<Merge, QueryError> {
        let known = |step: &Step| {
            let merges = matches!(
                &step.arguments[..],
                [Argument::Merge(_), _] | [Argument::Merge(_), _, Argument::Cardinality(_)]
            );
            step.name != StepName::Option || merges
        };
        if !behind.iter().all(known) {
            return Err(QueryError::invalid(format!(
                "{}() takes options for onCreate, onMatch, outV and inV",
                step.name
            )));
        }
        let option = |wanted: tree::Merge| self.merge_option(behind, wanted);
        let search = step.arguments.first();
        Ok(Merge {
            search: search.map(|search| self.given(search)).transpose()?,
            also: Vec::new(),
            on_create: option(tree::Merge::OnCreate)?,
            on_match: option(tree::Merge::OnMatch)?,
            source: option(tree::Merge::OutV)?,
            target: option(tree::Merge::InV)?,
        })
    }

    /// The argument of an option of a merge; `None` if the option is absent. The last of several
    /// equal options counts. If the option has a cardinality, the values of the map get it, except
    /// values that have their own and values of tokens.
    ///
    /// # Errors
    /// When the option has a cardinality and its argument is no constant map.
    fn merge_option(
        &self,
        behind: &[Step],
        wanted: tree::Merge,
    ) -> Result<Option<Given>, QueryError> {
        let mut options = behind.iter().rev();
        let found = options.find_map(|step| match &step.arguments[..] {
            [Argument::Merge(own), map] if *own == wanted => Some((map, None)),
            [
                Argument::Merge(own),
                map,
                Argument::Cardinality(cardinality),
            ] if *own == wanted => Some((map, Some(*cardinality))),
            _ => None,
        });
        let Some((map, cardinality)) = found else {
            return Ok(None);
        };
        let given = self.given(map)?;
        let Some(cardinality) = cardinality else {
            return Ok(Some(given));
        };
        let Given::Value(Value::Map(map)) = given else {
            return Err(QueryError::Unsupported(
                "A cardinality for a map that is computed".to_owned(),
            ));
        };
        let each = map.iter().map(|(key, value)| {
            let own = match (key, value) {
                (Value::Text(_), Value::Entry(_)) | (Value::Token(_), _) => value.clone(),
                _ => with_own(cardinality, value.clone()),
            };
            (key.clone(), own)
        });
        Ok(Some(Given::Value(Value::map(each))))
    }
}

/// A value paired with the cardinality with which it is written.
pub(super) fn with_own(cardinality: tree::Cardinality, value: Value) -> Value {
    let token = match cardinality {
        tree::Cardinality::Single => Token::Single,
        tree::Cardinality::List => Token::List,
        tree::Cardinality::Set => Token::Set,
    };
    Value::Entry(std::sync::Arc::new((Value::Token(token), value)))
}

const fn cardinality_of(cardinality: tree::Cardinality) -> Cardinality {
    match cardinality {
        tree::Cardinality::Single => Cardinality::Single,
        tree::Cardinality::List => Cardinality::List,
        tree::Cardinality::Set => Cardinality::Set,
    }
}

fn property_name(key: Value) -> Result<PropertyName, QueryError> {
    match key {
        Value::Text(name) => Ok(PropertyName::Key(Name::from(name))),
        Value::Token(token @ (Token::Id | Token::Label)) => Ok(PropertyName::Token(token)),
        other => Err(QueryError::invalid(format!(
            "A property key is expected here, but got {}",
            other.shown()
        ))),
    }
}
