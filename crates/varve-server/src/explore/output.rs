//! Elements as the explorer shows them.

use std::fmt::Write as _;

use varve_graph::schema::Schema;
use varve_model::value::Uuid;
use varve_model::{EdgeId, Element, ElementId, VertexId};

use super::read_request::{ReadRequest, write_instant};
use super::state::State;
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::respond::{Growing, Response};
use crate::wire::output;

/// A vertex id in the form of paths.
pub(super) fn vertex_ref(id: &VertexId) -> String {
    match id {
        VertexId::Number(number) => number.to_string(),
        VertexId::Text(text) => quoted(text),
        VertexId::Uuid(uuid) => format!("U\"{}\"", Uuid(*uuid)),
    }
}

fn quoted(text: &str) -> String {
    let mut json = JsonWriter::with_capacity(text.len() + 2);
    json.string(text);
    String::from_utf8(json.finish()).unwrap_or_default()
}

/// An edge id in the form of paths.
pub(super) fn edge_ref(id: &EdgeId) -> String {
    let mut text = String::new();
    let _ = write!(text, "{id}");
    text
}

/// An element's id in the form of paths.
pub(super) fn element_ref(id: &ElementId) -> String {
    match id {
        ElementId::Vertex(id) => vertex_ref(id),
        ElementId::Edge(id) => edge_ref(id),
    }
}

/// The name of an element's label.
pub(super) fn label_name<'s>(schema: &'s Schema, element: &Element) -> &'s str {
    match element {
        Element::Vertex(vertex) => schema.vertex_label_name(vertex.label),
        Element::Edge(edge) => schema.edge_label_name(edge.id.label),
    }
}

/// Writes a state as an object.
pub(super) fn state(json: &mut JsonWriter, schema: &Schema, state: &State) {
    json.begin_object();
    element_members(json, schema, &state.element);
    write_instant(json, "valid_from", state.period.from);
    write_instant(json, "valid_to", state.period.to);
    json.key("version").string(&state.version.to_string());
    write_instant(json, "recorded_at", state.version.instant());
    json.end_object();
}

/// Writes an element, without its times, as members of the open object.
pub(super) fn element_members(json: &mut JsonWriter, schema: &Schema, element: &Element) {
    head(json, schema, element);
    if let Element::Edge(edge) = element {
        json.key("source").string(&vertex_ref(&edge.id.source));
        json.key("target").string(&vertex_ref(&edge.id.target));
        json.key("source_label")
            .string(schema.vertex_label_name(edge.source_label));
        json.key("target_label")
            .string(schema.vertex_label_name(edge.target_label));
    }
    json.key("properties");
    output::properties(json, schema, element);
}

/// Writes the id, type and label of an element, as members of the open object.
pub(super) fn head(json: &mut JsonWriter, schema: &Schema, element: &Element) {
    json.key("ref").string(&element_ref(&element.id()));
    json.key("type").string(match element {
        Element::Vertex(_) => "vertex",
        Element::Edge(_) => "edge",
    });
    json.key("label").string(label_name(schema, element));
}

/// An answer that begins with the times of its view.
pub(super) struct Answer<'g> {
    request: &'g ReadRequest<'g>,
    pub(super) growing: Growing<'g>,
}

impl<'g> Answer<'g> {
    pub(super) fn start(request: &'g ReadRequest<'g>) -> Self {
        let mut growing = Growing::with_capacity(request.context, 1_024);
        growing.json.begin_object().key("times");
        request.snapshot.write(&mut growing.json);
        Self { request, growing }
    }

    /// The writer, for small members.
    pub(super) fn json(&mut self) -> &mut JsonWriter {
        &mut self.growing.json
    }

    /// A list of states.
    pub(super) fn states<'s>(
        &mut self,
        key: &str,
        states: impl IntoIterator<Item = &'s State>,
    ) -> Result<(), ApiError> {
        self.json().key(key).begin_array();
        for each in states {
            state(&mut self.growing.json, self.request.schema(), each);
            self.growing.check()?;
        }
        self.json().end_array();
        Ok(())
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &str, texts: impl IntoIterator<Item = String>) {
        let json = self.json();
        json.key(key).begin_array();
        for text in texts {
            json.string(&text);
        }
        json.end_array();
    }

    /// Ends the answer, with whether it is truncated.
    pub(super) fn finish(mut self, truncated: bool) -> Response {
        self.json().key("truncated").boolean(truncated).end_object();
        self.growing.finish()
    }
}
