//! Exports as Parquet and Arrow IPC: the columns of CSV, each with its type.

use varve_files::{Cell, CellKind, TableColumn, TableFormat, TableWriter};
use varve_graph::schema::Schema;
use varve_model::value::{Cardinality, DataType};
use varve_model::{Element, Instant, PropertyKeyId, Value};

use super::super::output::{self, element_ref, vertex_ref};
use super::super::state::State;
use super::format::{COLUMNS, EDGE_COLUMNS, value_text};
use crate::errors::ApiError;

/// A table that is being written.
pub(super) struct Table {
    writer: TableWriter,
    keys: Vec<(PropertyKeyId, CellKind)>,
}

/// The type of the cells of a property: values that a table has no type for are texts.
fn kind(data_type: DataType) -> CellKind {
    match data_type {
        DataType::Boolean => CellKind::Boolean,
        DataType::Byte | DataType::Int => CellKind::Int,
        DataType::Long => CellKind::Long,
        DataType::Float => CellKind::Float,
        DataType::Double => CellKind::Double,
        DataType::Date => CellKind::Millis,
        DataType::Text | DataType::Uuid | DataType::Blob | DataType::Object => CellKind::Text,
    }
}

impl Table {
    /// A table of edges, or of vertices, with columns for these properties.
    pub(super) fn new(
        format: TableFormat,
        is_edges: bool,
        schema: &Schema,
        keys: &[PropertyKeyId],
    ) -> Result<Self, ApiError> {
        let of_edges: &[&str] = if is_edges { &EDGE_COLUMNS } else { &[] };
        let fixed = COLUMNS.iter().chain(of_edges).map(|name| TableColumn {
            name: (*name).to_owned(),
            kind: match *name {
                "~valid_from" | "~valid_to" | "~recorded_at" => CellKind::Micros,
                _ => CellKind::Text,
            },
            is_list: false,
        });
        let mut columns: Vec<TableColumn> = fixed.collect();
        let mut kinds = Vec::new();
        for key in keys {
            let Some(definition) = schema.property_key(*key) else {
                continue;
            };
            let kind = kind(definition.data_type);
            kinds.push((*key, kind));
            columns.push(TableColumn {
                name: definition.name.clone(),
                kind,
                is_list: definition.cardinality != Cardinality::Single,
            });
        }
        let writer = TableWriter::new(format, columns).map_err(ApiError::internal)?;
        Ok(Self {
            writer,
            keys: kinds,
        })
    }

    /// Writes an element.
    pub(super) fn row(&mut self, schema: &Schema, state: &State) -> Result<(), String> {
        let text = |text: String| Cell::Text(text);
        let bound = |instant: Instant| match instant {
            Instant::MIN | Instant::FOREVER => Cell::Null,
            Instant(micros) => Cell::Whole(micros),
        };
        let mut cells = vec![
            text(element_ref(&state.element.id())),
            text(output::label_name(schema, &state.element).to_owned()),
            bound(state.period.from),
            bound(state.period.to),
            text(state.version.to_string()),
            bound(state.version.instant()),
        ];
        if let Element::Edge(edge) = &state.element {
            let label = |id| text(schema.vertex_label_name(id).to_owned());
            cells.push(text(vertex_ref(&edge.id.source)));
            cells.push(label(edge.source_label));
            cells.push(text(vertex_ref(&edge.id.target)));
            cells.push(label(edge.target_label));
        }
        for (key, kind) in &self.keys {
            let value = state.element.properties().get(*key);
            cells.push(value.map_or(Cell::Null, |value| cell(value, *kind)));
        }
        self.writer.row(cells)
    }

    /// Takes the bytes written since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.writer.take()
    }

    /// Writes the end of the file.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.writer.end()
    }
}

fn cell(value: &Value, kind: CellKind) -> Cell {
    match value {
        Value::List(members) | Value::Set(members) => {
            Cell::List(members.iter().map(|member| cell(member, kind)).collect())
        }
        _ if kind == CellKind::Text => Cell::Text(value_text(value)),
        Value::Boolean(value) => Cell::Boolean(*value),
        Value::Byte(number) => Cell::Whole(i64::from(*number)),
        Value::Int(number) => Cell::Whole(i64::from(*number)),
        Value::Long(number) | Value::Date(number) => Cell::Whole(*number),
        Value::Float(number) => Cell::Float(*number),
        Value::Double(number) => Cell::Double(*number),
        _ => Cell::Null,
    }
}
