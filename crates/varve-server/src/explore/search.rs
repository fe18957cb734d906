//! `…/explore/search`: elements by id or by a text, without a query language.
//!
//! All elements of a small label are searched, for the text anywhere in a value. A larger label is
//! searched by its indexes only, and the answer names the properties that were not searched.

use std::collections::HashSet;

use varve_graph::schema::is_queryable;
use varve_model::schema::{IdStrategy, IndexType, VertexLabel};
use varve_model::value::DataType;
use varve_model::{
    Condition, EdgeId, ElementId, Predicate, Properties, PropertyKeyId, Value, VertexId,
};
use varve_view::{Elements, Flow, ScanAsk, ScannedElement, ViewError};

use super::bodies::limit_of_query;
use super::output::{self, Answer};
use super::read_request::ReadRequest;
use super::state::State;
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::HandlerResult;
use crate::wire::ids::{OldForm, parse_edge_id, parse_vertex_id};
use crate::wire::output as plain;

/// Elements shown unless another number is asked for.
const LIMIT: usize = 50;

/// A property, and the means by which it was searched.
struct Searched {
    label: String,
    property: String,
    by: &'static str,
}

/// What a search has found so far.
struct Search<'g> {
    request: &'g ReadRequest<'g>,
    text: &'g str,
    /// The text in lower case.
    folded: String,
    limit: usize,
    found: Vec<(State, Vec<String>)>,
    seen: HashSet<ElementId>,
    searched: Vec<Searched>,
    not_searched: Vec<Searched>,
    truncated: bool,
}

/// Answers with the elements that a text finds.
pub(super) fn search(context: &RequestContext) -> HandlerResult {
    let request = ReadRequest::of(context)?;
    let query = context.query()?;
    let text = query.required("q")?.trim();
    let most = request.limits().search_max;
    let limit = limit_of_query(&request, LIMIT, most, "search_max")?;
    let schema = request.schema();
    let named = query.get("labels").unwrap_or_default().split(',');
    let named: Vec<&str> = named.filter(|name| !name.is_empty()).collect();
    let mut labels = Vec::new();
    for name in &named {
        labels.push(schema.require_vertex_label(name)?.clone());
    }
    if named.is_empty() {
        labels.extend(schema.all_vertex_labels().cloned());
    }
    let mut search = Search {
        request: &request,
        text,
        folded: text.to_lowercase(),
        limit,
        found: Vec::new(),
        seen: HashSet::new(),
        searched: Vec::new(),
        not_searched: Vec::new(),
        truncated: false,
    };
    request.or_refuse(search.by_id(&labels))?;
    for label in &labels {
        request.or_refuse(search.label(label))?;
    }
    search.answer()
}

impl Search<'_> {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// Adds an element if it exists; one that was found before is not added again.
    fn add(&mut self, id: ElementId, matched: Vec<String>) -> Result<(), ViewError> {
        if self.seen.contains(&id) {
            return Ok(());
        }
        if self.is_full() {
            self.truncated = true;
            return Ok(());
        }
        if let Some(state) = self.request.snapshot.state(&id, &self.request.meter)? {
            self.seen.insert(id);
            self.found.push((state, matched));
        }
        Ok(())
    }

    /// Adds the elements that have the text as their id, in any of its possible forms.
    fn by_id(&mut self, labels: &[std::sync::Arc<VertexLabel>]) -> Result<(), ViewError> {
        let mut ids: Vec<VertexId> = Vec::new();
        ids.extend(parse_vertex_id(self.text).ok());
        if !self.text.is_empty() {
            ids.push(VertexId::text(self.text));
        }
        for label in labels {
            if label.id_strategy == IdStrategy::PrimaryKey && label.primary_keys.len() == 1 {
                ids.push(VertexId::text(&format!("{}:{}", label.id.0, self.text)));
            }
        }
        for id in ids {
            self.add(ElementId::Vertex(id), vec!["id".to_owned()])?;
        }
        let edge: Option<EdgeId> = parse_edge_id(self.text, OldForm::Accepted).ok();
        match edge {
            Some(id) => self.add(ElementId::Edge(id), vec!["id".to_owned()]),
            None => Ok(()),
        }
    }

    /// Adds the vertices of a label that have the text in one of their values.
    fn label(&mut self, label: &VertexLabel) -> Result<(), ViewError> {
        let schema = self.request.schema();
        let ascending = |mut keys: Vec<PropertyKeyId>| {
            keys.retain(|key| !schema.hides(*key));
            keys.sort_unstable();
            keys
        };
        let seen = ascending(schema.seen_in_vertices(label));
        let is_whole = self.scan(label, &seen)?;
        // Presented properties are named by what they are stored in: a type has very many.
        for key in ascending(label.properties.clone()) {
            let property = schema.property_key_name(key).to_owned();
            let name = label.name.clone();
            let by = match is_whole {
                true => "scan",
                false => self.by_index(label, key)?.unwrap_or_default(),
            };
            let searched = Searched {
                label: name,
                property,
                by,
            };
            match by {
                "" => self.not_searched.push(searched),
                _ => self.searched.push(searched),
            }
        }
        Ok(())
    }

    /// Reads the first vertices of a label. Returns whether the label has no more.
    fn scan(&mut self, label: &VertexLabel, keys: &[PropertyKeyId]) -> Result<bool, ViewError> {
        let (view, most) = (self.request.snapshot.view(), self.request.limits().scan_max);
        let labels = [label.id];
        let ask = ScanAsk {
            elements: Elements::Vertices(&labels),
            conditions: &[],
            order: None,
            properties: keys,
        };
        let (mut looked_at, mut matches) = (0, Vec::new());
        let room = self.limit + 1;
        view.scan(&ask, None, most + 1, &self.request.meter, &mut |found| {
            looked_at += 1;
            if looked_at > most {
                return Flow::Break(());
            }
            if let ScannedElement::Vertex { key, vertex } = found {
                let matched = self.matching(vertex.properties);
                if !matched.is_empty() && matches.len() < room {
                    matches.push((key.to_vec(), matched));
                }
            }
            Flow::Continue(())
        })?;
        for (key, matched) in matches {
            self.add(ElementId::Vertex(view.vertex_id(&key)?), matched)?;
        }
        Ok(looked_at <= most)
    }

    /// The names of the properties whose values have the text.
    fn matching(&self, properties: &Properties) -> Vec<String> {
        let has = |value: &Value| match value {
            Value::Text(text) => text.to_lowercase().contains(&self.folded),
            other => {
                let mut json = JsonWriter::default();
                plain::value(&mut json, other);
                let text = String::from_utf8(json.finish()).unwrap_or_default();
                text.to_lowercase().contains(&self.folded)
            }
        };
        let schema = self.request.schema();
        let matching = properties.iter().filter(|(_, value)| has(value));
        matching
            .map(|(key, _)| schema.property_key_name(key).to_owned())
            .collect()
    }

    /// Adds the vertices that an index on a property finds. Returns the kind of the index; `None`
    /// without a usable one.
    fn by_index(
        &mut self,
        label: &VertexLabel,
        key: PropertyKeyId,
    ) -> Result<Option<&'static str>, ViewError> {
        let schema = self.request.schema();
        let is_text = schema
            .property_key(key)
            .is_some_and(|key| key.data_type == DataType::Text);
        let mut indexes = schema.indexes_of_vertex_label(label.id).iter();
        let index = indexes.find(|index| {
            let serves = !matches!(index.index_type, IndexType::Range | IndexType::Unique);
            serves && is_text && is_queryable(index) && index.fields.first() == Some(&key)
        });
        let (predicate, by) = match index.map(|index| index.index_type) {
            Some(IndexType::Search) => (Predicate::TextContains(self.text.to_owned()), "SEARCH"),
            Some(IndexType::Secondary | IndexType::Shard) => {
                (Predicate::Eq(Value::Text(self.text.into())), "SECONDARY")
            }
            _ => return Ok(None),
        };
        let view = self.request.snapshot.view();
        let (labels, conditions) = ([label.id], [Condition { key, predicate }]);
        let ask = ScanAsk {
            elements: Elements::Vertices(&labels),
            conditions: &conditions,
            order: None,
            properties: &[key],
        };
        let (mut keys, room) = (Vec::new(), self.limit + 1);
        view.scan(&ask, None, room, &self.request.meter, &mut |found| {
            if let ScannedElement::Vertex { key, .. } = found {
                keys.push(key.to_vec());
            }
            Flow::Continue(())
        })?;
        let name = schema.property_key_name(key);
        for vertex in keys {
            let id = ElementId::Vertex(view.vertex_id(&vertex)?);
            self.add(id, vec![name.to_owned()])?;
        }
        Ok(Some(by))
    }

    fn answer(self) -> HandlerResult {
        let mut answer = Answer::start(self.request);
        answer.json().key("found").begin_array();
        for (state, matched) in &self.found {
            answer.json().begin_object();
            answer.texts("matched", matched.iter().cloned());
            answer.json().key("element");
            output::state(answer.json(), self.request.schema(), state);
            answer.json().end_object();
            answer.growing.check()?;
        }
        answer.json().end_array();
        let why = format!(
            "more than {} elements, and no index",
            self.request.limits().scan_max
        );
        write_searched(&mut answer, "searched", &self.searched, None)?;
        write_searched(&mut answer, "not_searched", &self.not_searched, Some(&why))?;
        Ok(answer.finish(self.truncated))
    }
}

fn write_searched(
    answer: &mut Answer<'_>,
    key: &str,
    all: &[Searched],
    why: Option<&str>,
) -> Result<(), ApiError> {
    answer.json().key(key).begin_array();
    for each in all {
        let json = answer.json();
        json.begin_object().key("label").string(&each.label);
        json.key("property").string(&each.property);
        match why {
            None => json.key("by").string(each.by),
            Some(why) => json.key("why").string(why),
        };
        json.end_object();
        answer.growing.check()?;
    }
    answer.json().end_array();
    Ok(())
}
