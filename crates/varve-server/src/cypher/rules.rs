//! The indexes and constraints of a graph by the terms of Cypher.

use std::collections::HashSet;

use varve_graph::schema::{DefinitionKind, DefinitionState, NewDefinition, Schema, SchemaElement};
use varve_model::IndexLabel;
use varve_model::schema::{IndexBase, IndexType, SchemaStatus};

use crate::hugegraph::SchemaSight;

/// The kinds of indexes; a constraint has an index of kind RANGE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleKind {
    Range,
    Text,
    Point,
    FullText,
    /// A constraint: values are unique.
    Unique,
}

/// An index, or a constraint with the index that it owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) kind: RuleKind,
    pub(super) is_of_relationships: bool,
    /// One label of a definition; of an index of one vertex label, all labels of its set.
    pub(super) labels: Vec<String>,
    pub(super) properties: Vec<String>,
    pub(super) state: DefinitionState,
    /// Whether it is a definition of the graph, not an index of one vertex or edge label.
    pub(super) is_defined: bool,
}

impl RuleKind {
    pub(super) const fn of(kind: DefinitionKind) -> Self {
        match kind {
            DefinitionKind::Range => Self::Range,
            DefinitionKind::Text => Self::Text,
            DefinitionKind::Point => Self::Point,
            DefinitionKind::Unique => Self::Unique,
        }
    }

    /// The type of the index.
    pub(super) const fn index(self) -> &'static str {
        match self {
            Self::Range | Self::Unique => "RANGE",
            Self::Text => "TEXT",
            Self::Point => "POINT",
            Self::FullText => "FULLTEXT",
        }
    }
}

impl Rule {
    /// All rules, by their ids.
    pub(super) fn all(schema: &Schema) -> Vec<Self> {
        Self::seen(schema, None)
    }

    /// The rules that a client may see.
    pub(super) fn seen(schema: &Schema, sight: Option<&SchemaSight>) -> Vec<Self> {
        let shows = |index: &IndexLabel| sight.is_none_or(|sight| sight.shows(index));
        let mut all: Vec<Self> = Vec::new();
        for definition in schema.definitions() {
            let mut parts = definition.parts.iter();
            let is_seen = sight.is_none_or(SchemaSight::is_whole)
                || parts.any(|id| schema.index_label(*id).is_some_and(|part| shows(part)));
            if is_seen {
                let state = definition.state(schema);
                all.push(Self::defined(definition.id.0, &definition.of, state));
            }
        }
        let parts = schema.definitions().iter().flat_map(|one| &one.parts);
        let parts: HashSet<_> = parts.collect();
        let own = schema.all_index_labels();
        let own = own.filter(|index| !parts.contains(&index.id) && shows(index));
        all.extend(own.filter_map(|index| Self::of_label(schema, index)));
        all.sort_by_key(|rule| rule.id);
        all
    }

    pub(super) fn defined(id: u32, of: &NewDefinition, state: DefinitionState) -> Self {
        Self {
            id,
            name: of.name.clone(),
            kind: RuleKind::of(of.kind),
            is_of_relationships: of.is_of_edges,
            labels: vec![of.label.clone()],
            properties: of.keys.clone(),
            state,
            is_defined: true,
        }
    }

    fn of_label(schema: &Schema, index: &IndexLabel) -> Option<Self> {
        let (is_of_relationships, label) = match index.base {
            IndexBase::Vertex(id) => (false, schema.vertex_label_name(id)),
            IndexBase::Edge(id) => (true, schema.edge_label_name(id)),
            IndexBase::Olap => return None,
        };
        // One that a definition has given up.
        if index.status == SchemaStatus::Deleting && index.name().starts_with('*') {
            return None;
        }
        let properties = schema.property_key_names(&index.fields);
        Some(Self {
            id: index.id.0,
            name: index.name.clone(),
            kind: match index.index_type {
                IndexType::Unique => RuleKind::Unique,
                IndexType::Search => RuleKind::FullText,
                IndexType::Secondary | IndexType::Range | IndexType::Shard => RuleKind::Range,
            },
            is_of_relationships,
            labels: label.split("::").map(str::to_owned).collect(),
            properties: properties.into_iter().map(str::to_owned).collect(),
            state: match index.status {
                SchemaStatus::Created => DefinitionState::Complete,
                SchemaStatus::Undeleted | SchemaStatus::Invalid => DefinitionState::Failed,
                _ => DefinitionState::Building,
            },
            is_defined: false,
        })
    }

    pub(super) const fn is_constraint(&self) -> bool {
        matches!(self.kind, RuleKind::Unique)
    }

    /// Whether both are about the same labels and properties.
    pub(super) fn has_schema_of(&self, other: &Self) -> bool {
        self.is_of_relationships == other.is_of_relationships
            && self.labels == other.labels
            && self.properties == other.properties
    }

    /// `(:A {x, y})` or `()-[:T {x}]-()`, as Neo4j writes it.
    pub(super) fn schema_text(&self) -> String {
        let inner = format!(
            ":{} {{{}}}",
            self.labels.join(":"),
            self.properties.join(", ")
        );
        match self.is_of_relationships {
            false => format!("({inner})"),
            true => format!("()-[{inner}]-()"),
        }
    }

    /// The command that makes it.
    pub(super) fn statement(&self) -> String {
        let quoted = super::catalogue::quoted;
        let name = quoted(&self.name);
        let labels: Vec<String> = self.labels.iter().map(|label| quoted(label)).collect();
        let labels = labels.join(":");
        let (target, variable) = match self.is_of_relationships {
            false => (format!("(n:{labels})"), "n"),
            true => (format!("()-[r:{labels}]-()"), "r"),
        };
        let properties = self.properties.iter();
        let properties: Vec<String> = properties
            .map(|property| format!("{variable}.{}", quoted(property)))
            .collect();
        let properties = properties.join(", ");
        match self.kind {
            RuleKind::Unique => {
                format!("CREATE CONSTRAINT {name} FOR {target} REQUIRE ({properties}) IS UNIQUE")
            }
            RuleKind::FullText => {
                format!("CREATE FULLTEXT INDEX {name} FOR {target} ON EACH [{properties}]")
            }
            kind => {
                let kind = kind.index();
                format!("CREATE {kind} INDEX {name} FOR {target} ON ({properties})")
            }
        }
    }
}
