//! The fast path of ordinary inserts: encodes rows directly from the input, without building
//! elements.
//!
//! It accepts most inserts, and only those that [`Rules`](super::Rules) would accept: known and
//! usable labels, ids in the input or from primary keys, scalar properties. For all other input it
//! returns `None`; then [`Inserts`](super::Inserts) applies the rules, which cover every case and
//! report errors. So the fast path has no error messages.

use varve_encoding::{key, value};
use varve_model::id::VERTEX_ID_BYTES_MAX;
use varve_model::schema::{AggregateType, Frequency, IdStrategy};
use varve_model::sortable::JoinedKey;
use varve_model::value::{Cardinality, DataType, parse_date};
use varve_model::{
    EdgeId, EdgeLabel, ElementId, PropertyKey, Value, VertexId, VertexLabel, VertexLabelId,
};

use super::convert::{convert, narrowed};
use super::edge::{EdgeForm, check_link};
use super::input::{EdgeInput, RawProperty, RawValue, VertexInput};
use super::vertex::id_of_key;
use crate::schema::{Schema, SchemaElement};
use crate::write::{Content, EndCheck, Mutation};

/// Elements with more properties take the slow path.
const PROPERTIES_MAX: usize = 32;

/// Converts inserts to mutations. Caches the schema elements of the last insert, since the next one
/// is mostly of the same kind.
pub(super) struct Direct<'s> {
    schema: &'s Schema,
    vertex_label: Option<&'s VertexLabel>,
    edge_label: Option<Link<'s>>,
    /// The property keys of the last element, in the order sent.
    keys: Vec<&'s PropertyKey>,
    content: Vec<u8>,
}

/// An edge label, and the labels of its ends as an edge named them.
#[derive(Clone, Copy)]
struct Link<'s> {
    label: &'s EdgeLabel,
    ends: Option<(&'s VertexLabel, &'s VertexLabel)>,
    form: EdgeForm,
}

impl<'s> Direct<'s> {
    /// Creates the fast path for elements under `schema`.
    pub(super) const fn new(schema: &'s Schema) -> Self {
        Self {
            schema,
            vertex_label: None,
            edge_label: None,
            keys: Vec::new(),
            content: Vec::new(),
        }
    }

    /// The mutation for a vertex, the same as by [`Rules::vertex`](super::Rules::vertex); `None`:
    /// only the rules can decide.
    pub(super) fn vertex(&mut self, input: &VertexInput<'_>) -> Option<Mutation> {
        // If values of offline analyses may be stored, the vertex must keep them.
        if self.schema.has_olap_keys() {
            return None;
        }
        let name = input.label.as_deref()?;
        let label = match self.vertex_label {
            Some(label) if label.name == name => label,
            _ => usable(self.schema.vertex_label_by_name(name)?)?,
        };
        self.vertex_label = Some(label);
        let properties = input.properties.as_deref()?;
        self.content.clear();
        key::put_schema_id(label.id.0, &mut self.content);
        self.put_properties(label, properties)?;
        let id = match (label.id_strategy, &input.id) {
            (IdStrategy::CustomizeString, Some(id @ RawValue::Text(_)))
            | (IdStrategy::CustomizeNumber, Some(id @ RawValue::Integer(_))) => end_id(id)?,
            (IdStrategy::PrimaryKey, None) => self.key_id(label, properties)?,
            _ => return None,
        };
        Some(Mutation::PutRow {
            id: ElementId::Vertex(id),
            content: Content::new(&self.content),
            fresh: false,
            ends: EndCheck::Skip,
        })
    }

    /// The id of a vertex from its primary keys, after all its properties were put.
    fn key_id(&self, label: &VertexLabel, properties: &[RawProperty<'_>]) -> Option<VertexId> {
        let mut joined = JoinedKey::default();
        for id in &label.primary_keys {
            let at = self.keys.iter().position(|key| key.id == *id)?;
            match (self.keys[at].data_type, &properties.get(at)?.1) {
                (DataType::Text, RawValue::Text(text)) => joined.push_text(text),
                (_, raw) => joined.push(&convert(self.keys[at], raw.clone()).ok()?),
            }
        }
        let id = id_of_key(label.id, joined).ok()?;
        (id.text_bytes() <= VERTEX_ID_BYTES_MAX).then_some(id)
    }

    /// The mutation for an edge, the same as by [`Rules::edge`](super::Rules::edge); `None`: only
    /// the rules can decide.
    pub(super) fn edge(&mut self, input: &EdgeInput<'_>, form: EdgeForm) -> Option<Mutation> {
        let Link { label, ends, .. } = self.link(input, form)?;
        let source = end_id(input.source.as_ref()?)?;
        let target = end_id(input.target.as_ref()?)?;
        let labels = match ends {
            Some((source, target)) => (source.id, target.id),
            None => label.link.unwrap_or((VertexLabelId(0), VertexLabelId(0))),
        };
        if ends.is_none() && (self.has_uuids(labels.0) || self.has_uuids(labels.1)) {
            return None;
        }
        self.content.clear();
        key::put_schema_id(labels.0.0, &mut self.content);
        key::put_schema_id(labels.1.0, &mut self.content);
        self.put_properties(label, input.properties.as_deref()?)?;
        let id = EdgeId {
            source,
            parent: label.parent.unwrap_or(label.id),
            label: label.id,
            sort_values: "".into(),
            target,
        };
        let ends = match (form.ends_checked, ends) {
            (true, ends) => EndCheck::Exist {
                labels_given: ends.is_some(),
            },
            (false, _) => EndCheck::Skip,
        };
        Some(Mutation::PutRow {
            id: ElementId::Edge(id),
            content: Content::new(&self.content),
            fresh: false,
            ends,
        })
    }

    /// The label of an edge, and the labels of its ends if they are named.
    fn link(&mut self, input: &EdgeInput<'_>, form: EdgeForm) -> Option<Link<'s>> {
        let name = input.label.as_deref()?;
        let named = match (&input.source_label, &input.target_label) {
            (Some(source), Some(target)) => Some((source.as_ref(), target.as_ref())),
            (None, None) if form.ends_checked && !form.labels_required => None,
            _ => return None,
        };
        if let Some(link) = &self.edge_label {
            let ends = link.ends.map(|(s, t)| (s.name.as_str(), t.name.as_str()));
            if link.label.name == name && ends == named && link.form == form {
                return Some(*link);
            }
        }
        let label = usable(self.schema.edge_label_by_name(name)?)?;
        let ends = match named {
            None => None,
            Some((source, target)) => Some((
                usable(self.schema.vertex_label_by_name(source)?)?,
                usable(self.schema.vertex_label_by_name(target)?)?,
            )),
        };
        if let Some((source, target)) = ends {
            let uuids = |label: &VertexLabel| label.id_strategy == IdStrategy::CustomizeUuid;
            if uuids(source) || uuids(target) {
                return None;
            }
            if !form.ends_checked {
                check_link(self.schema, label.id, (source.id, target.id)).ok()?;
            }
        }
        // It has sort keys, or a hidden sort value.
        if label.frequency == Frequency::Multiple {
            return None;
        }
        self.edge_label = Some(Link { label, ends, form });
        self.edge_label
    }

    fn has_uuids(&self, label: VertexLabelId) -> bool {
        let label = self.schema.vertex_label(label);
        label.is_some_and(|label| label.id_strategy == IdStrategy::CustomizeUuid)
    }

    /// Appends the properties to the content. `None` if `label` requires further ones or does not
    /// allow one.
    fn put_properties<L: super::properties::Label>(
        &mut self,
        label: &L,
        properties: &[RawProperty<'_>],
    ) -> Option<()> {
        let count = properties.len();
        if count > PROPERTIES_MAX {
            return None;
        }
        let mut order = [0_u8; PROPERTIES_MAX];
        let mut ascending = true;
        for (at, (name, _)) in properties.iter().enumerate() {
            let key = match self.keys.get(at) {
                Some(key) if key.name == **name => key,
                _ => self.look_up(name, at)?,
            };
            if !label.allows(key.id) {
                return None;
            }
            order[at] = at as u8;
            ascending &= at == 0 || self.keys[at - 1].id < self.keys[at].id;
        }
        let order = &mut order[..count];
        if !ascending {
            order.sort_unstable_by_key(|at| self.keys[usize::from(*at)].id);
            let same = |pair: &[u8]| {
                self.keys[usize::from(pair[0])].id == self.keys[usize::from(pair[1])].id
            };
            if order.windows(2).any(same) {
                return None;
            }
        }
        // The keys are distinct and allowed, so if their count is that of the label, none is
        // missing.
        let complete = count == label.properties().len()
            || label.properties().iter().all(|key| {
                label.nullable_keys().contains(key)
                    || self.keys[..count].iter().any(|sent| sent.id == *key)
            });
        if !complete {
            return None;
        }
        key::put_schema_id(count as u32, &mut self.content);
        for at in order {
            let at = usize::from(*at);
            key::put_schema_id(self.keys[at].id.0, &mut self.content);
            put_value(
                self.keys[at].data_type,
                &properties[at].1,
                &mut self.content,
            )?;
        }
        Some(())
    }

    /// Looks up a property key by name and caches it for position `at`.
    fn look_up(&mut self, name: &str, at: usize) -> Option<&'s PropertyKey> {
        let key = usable(self.schema.property_key_by_name(name)?)?;
        let storable = key.cardinality == Cardinality::Single
            && key.aggregate_type == AggregateType::None
            && !key.write_type.is_olap();
        if !storable {
            return None;
        }
        self.keys.truncate(at);
        self.keys.push(key);
        Some(key)
    }
}

fn usable<T: SchemaElement>(element: &std::sync::Arc<T>) -> Option<&T> {
    element.is_usable().then_some(&**element)
}

/// Converts a vertex id from a body.
fn end_id(raw: &RawValue<'_>) -> Option<VertexId> {
    match raw {
        RawValue::Integer(number) => Some(VertexId::Number(*number)),
        RawValue::Text(text) if (1..=VERTEX_ID_BYTES_MAX).contains(&text.len()) => {
            Some(VertexId::text(text))
        }
        _ => None,
    }
}

/// Appends one value of a data type, for the simple cases of [`convert`](fn@super::convert).
#[expect(
    clippy::cast_precision_loss,
    reason = "a FLOAT or DOUBLE takes the nearest value of its width"
)]
fn put_value(data_type: DataType, raw: &RawValue<'_>, out: &mut Vec<u8>) -> Option<()> {
    let converted = match (data_type, raw) {
        (DataType::Text, RawValue::Text(text)) => {
            value::put_text(text, out);
            return Some(());
        }
        (DataType::Boolean, RawValue::Boolean(flag)) => Value::Boolean(*flag),
        (DataType::Byte, RawValue::Integer(number)) => Value::Byte((*number).try_into().ok()?),
        (DataType::Int, RawValue::Integer(number)) => Value::Int((*number).try_into().ok()?),
        (DataType::Long, RawValue::Integer(number)) => Value::Long(*number),
        (DataType::Date, RawValue::Integer(millis)) => Value::Date(*millis),
        (DataType::Date, RawValue::Text(text)) => Value::Date(parse_date(text)?),
        (DataType::Float, RawValue::Double(number)) => Value::Float(narrowed(*number)?),
        (DataType::Float, RawValue::Integer(number)) => Value::Float(*number as f32),
        (DataType::Double, RawValue::Double(number)) => Value::Double(*number),
        (DataType::Double, RawValue::Integer(number)) => Value::Double(*number as f64),
        _ => return None,
    };
    value::put_value(&converted, out);
    Some(())
}
