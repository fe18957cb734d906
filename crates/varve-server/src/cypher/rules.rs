//! The indexes and constraints of a graph by the terms of Cypher.

use std::collections::HashSet;

use varve_cypher::tree::{ConstraintKind, TypeKind, ValueType};
use varve_graph::schema::{
    DefinitionKind, DefinitionState, NewDefinition, PropertyType, ScalarType, Schema,
    SchemaElement, types_text,
};
use varve_model::IndexLabel;
use varve_model::schema::{IndexBase, IndexType, SchemaStatus};

use crate::hugegraph::SchemaSight;

/// The kinds of indexes and constraints. Constraints of unique values have an index of kind RANGE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleKind {
    Range,
    Text,
    Point,
    FullText,
    /// A constraint: values are unique.
    Unique,
    /// A constraint: values are unique, and no property is missing.
    Key,
    /// A constraint: the property is not missing.
    Exists,
    /// A constraint: values have one of some types.
    Type,
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
    /// The types that a constraint allows.
    pub(super) types: Vec<PropertyType>,
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
            DefinitionKind::Key => Self::Key,
            DefinitionKind::Exists => Self::Exists,
            DefinitionKind::Type => Self::Type,
        }
    }

    /// The type of the index, if there is one.
    pub(super) const fn index(self) -> Option<&'static str> {
        Some(match self {
            Self::Range | Self::Unique | Self::Key => "RANGE",
            Self::Text => "TEXT",
            Self::Point => "POINT",
            Self::FullText => "FULLTEXT",
            Self::Exists | Self::Type => return None,
        })
    }

    /// Whether each element keeps the constraint by itself.
    pub(super) const fn is_checked_alone(self) -> bool {
        matches!(self, Self::Key | Self::Exists | Self::Type)
    }

    /// Whether a graph cannot have both on the same properties.
    pub(super) fn excludes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Exists, other) => other == Self::Exists,
            (Self::Type, other) => other == Self::Type,
            (one, other) => other.index() == one.index(),
        }
    }

    /// The kind of the constraint, if it is one.
    pub(super) const fn constraint(self) -> Option<ConstraintKind> {
        Some(match self {
            Self::Unique => ConstraintKind::Unique,
            Self::Key => ConstraintKind::Key,
            Self::Exists => ConstraintKind::Exists,
            Self::Type => ConstraintKind::Type,
            Self::Range | Self::Text | Self::Point | Self::FullText => return None,
        })
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
            types: of.types.clone(),
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
            types: Vec::new(),
            state: match index.status {
                SchemaStatus::Created => DefinitionState::Complete,
                SchemaStatus::Undeleted | SchemaStatus::Invalid => DefinitionState::Failed,
                _ => DefinitionState::Building,
            },
            is_defined: false,
        })
    }

    pub(super) const fn is_constraint(&self) -> bool {
        self.kind.constraint().is_some()
    }

    /// The type of the constraint, as Neo4j writes it.
    pub(super) const fn constraint_type(&self) -> &'static str {
        match (self.kind, self.is_of_relationships) {
            (RuleKind::Key, false) => "NODE_KEY",
            (RuleKind::Key, true) => "RELATIONSHIP_KEY",
            (RuleKind::Exists, false) => "NODE_PROPERTY_EXISTENCE",
            (RuleKind::Exists, true) => "RELATIONSHIP_PROPERTY_EXISTENCE",
            (RuleKind::Type, false) => "NODE_PROPERTY_TYPE",
            (RuleKind::Type, true) => "RELATIONSHIP_PROPERTY_TYPE",
            (_, false) => "UNIQUENESS",
            (_, true) => "RELATIONSHIP_UNIQUENESS",
        }
    }

    /// The types that a constraint allows, as Cypher writes them.
    pub(super) fn types(&self) -> Option<String> {
        (!self.types.is_empty()).then(|| types_text(&self.types))
    }

    /// Whether both are about the same labels and properties.
    pub(super) fn has_schema_of(&self, other: &Self) -> bool {
        self.is_of_relationships == other.is_of_relationships
            && self.labels == other.labels
            && self.properties == other.properties
    }

    /// The constraint in messages.
    pub(super) fn constraint_text(&self) -> String {
        let types = self.types();
        let types = types.map(|types| format!(", propertyType={types}"));
        format!(
            "Constraint( name='{}', type='{}', schema={}{} )",
            self.name,
            self.constraint_type(),
            self.schema_text(),
            types.unwrap_or_default()
        )
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
        let rule = match self.kind {
            RuleKind::Unique => "IS UNIQUE".to_owned(),
            RuleKind::Key if self.is_of_relationships => "IS RELATIONSHIP KEY".to_owned(),
            RuleKind::Key => "IS NODE KEY".to_owned(),
            RuleKind::Exists => "IS NOT NULL".to_owned(),
            RuleKind::Type => format!("IS :: {}", types_text(&self.types)),
            RuleKind::FullText => {
                return format!("CREATE FULLTEXT INDEX {name} FOR {target} ON EACH [{properties}]");
            }
            kind => {
                let kind = kind.index().unwrap_or_default();
                return format!("CREATE {kind} INDEX {name} FOR {target} ON ({properties})");
            }
        };
        format!("CREATE CONSTRAINT {name} FOR {target} REQUIRE ({properties}) {rule}")
    }
}

/// The types of a constraint.
///
/// # Errors
/// What no property has, or no constraint may say.
pub(super) fn property_types(wanted: &ValueType) -> Result<Vec<PropertyType>, String> {
    if wanted.not_null {
        return Err(format!(
            "the constraint IS :: {wanted} (write {} and a constraint IS NOT NULL)",
            ValueType {
                not_null: false,
                ..wanted.clone()
            }
        ));
    }
    match &wanted.kind {
        TypeKind::Union(types) => {
            let types = types.iter().map(property_types);
            Ok(types.collect::<Result<Vec<_>, _>>()?.concat())
        }
        TypeKind::Named(_) => scalar(wanted).map(|one| vec![PropertyType::One(one)]),
        TypeKind::List(items) => {
            let items = match &items.kind {
                TypeKind::Union(items) => items.iter().map(scalar).collect(),
                _ => scalar(items).map(|one| vec![one]),
            };
            items.map(|items| vec![PropertyType::ListOf(items)])
        }
    }
}

fn scalar(wanted: &ValueType) -> Result<ScalarType, String> {
    let found = match &wanted.kind {
        TypeKind::Named(name) => ScalarType::from_name(name.text()),
        TypeKind::List(_) | TypeKind::Union(_) => None,
    };
    found.ok_or_else(|| format!("the type {wanted} in a constraint"))
}
