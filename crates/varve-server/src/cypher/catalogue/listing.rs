//! What the server says about itself, and the rows of `SHOW`.

use varve_cypher::tree::ConstraintKind;
use varve_cypher::{FunctionShown, Graph, Value};
use varve_graph::schema::DefinitionState;

use super::table::TABLE;
use super::{Catalogue, Rows, strings};
use crate::cypher::rules::Rule;
use crate::version;

type Fields = &'static [(&'static str, &'static str)];

pub(super) fn components(_: &Catalogue, _: &[Value], _: &Graph<'_>) -> Rows {
    let name = Value::string("Neo4j Kernel");
    Ok(vec![vec![
        name,
        strings([version::NEO4J]),
        Value::string("community"),
    ]])
}

pub(super) fn info(catalogue: &Catalogue, _: &[Value], _: &Graph<'_>) -> Rows {
    let name = || Value::string(&catalogue.graph);
    Ok(vec![vec![name(), name(), Value::Null]])
}

pub(super) fn ping(_: &Catalogue, _: &[Value], _: &Graph<'_>) -> Rows {
    Ok(vec![vec![Value::Boolean(true)]])
}

/// The settings that clients ask for at their start.
pub(super) fn client_config(catalogue: &Catalogue, _: &[Value], _: &Graph<'_>) -> Rows {
    let row = |name: &str, description: &str, value: String| {
        vec![
            Value::string(name),
            Value::string(description),
            Value::string(value),
            Value::Boolean(false),
        ]
    };
    Ok(vec![
        row(
            "dbms.security.auth_enabled",
            "Whether clients log in.",
            (!catalogue.user.is_empty()).to_string(),
        ),
        row(
            "initial.dbms.default_database",
            "The graph of this connection.",
            match catalogue.graphs.contains(&catalogue.home) {
                true => catalogue.home.clone(),
                false => catalogue.graph.clone(),
            },
        ),
    ])
}

pub(super) const PROCEDURES: Fields = &[
    ("name", "STRING"),
    ("description", "STRING"),
    ("mode", "STRING"),
    ("worksOnSystem", "BOOLEAN"),
    ("signature", "STRING"),
    ("argumentDescription", "LIST<MAP>"),
    ("returnDescription", "LIST<MAP>"),
    ("admin", "BOOLEAN"),
    ("rolesExecution", "LIST<STRING>"),
    ("rolesBoostedExecution", "LIST<STRING>"),
    ("isDeprecated", "BOOLEAN"),
    ("deprecatedBy", "STRING"),
    ("option", "MAP"),
];

pub(super) fn procedures(_: &Catalogue, _: &[Value], _: &Graph<'_>) -> Rows {
    let shown = TABLE.iter().filter(|one| !one.description.is_empty());
    let row = |one: &super::Procedure| {
        let arguments: Vec<_> = one
            .arguments
            .iter()
            .enumerate()
            .map(|(at, (name, typed))| Field {
                name: (*name).to_owned(),
                typed: (*typed).to_owned(),
                is_required: at < one.required,
            })
            .collect();
        let columns: Vec<_> = one.columns.iter().map(Field::column).collect();
        let signature = match columns.is_empty() {
            true => format!("{}({})", one.name, listed(&arguments)),
            false => format!(
                "{}({}) :: ({})",
                one.name,
                listed(&arguments),
                listed(&columns)
            ),
        };
        vec![
            Value::string(one.name),
            Value::string(one.description),
            Value::string(match (one.writes, one.name.starts_with("dbms.")) {
                (true, _) => "WRITE",
                (false, true) => "DBMS",
                (false, false) => "READ",
            }),
            Value::Boolean(one.works_on_system()),
            Value::string(signature),
            described(&arguments),
            described(&columns),
            Value::Boolean(false),
            Value::Null,
            Value::Null,
            Value::Boolean(false),
            Value::Null,
            super::map([("deprecated", Value::Boolean(false))]),
        ]
    };
    let mut rows: Vec<_> = shown.map(row).collect();
    rows.sort_by_key(|row| row.first().map(ToString::to_string));
    Ok(rows)
}

/// An argument or a column.
struct Field {
    name: String,
    typed: String,
    is_required: bool,
}

impl Field {
    fn column((name, typed): &(&str, &str)) -> Self {
        Self {
            name: (*name).to_owned(),
            typed: (*typed).to_owned(),
            is_required: true,
        }
    }

    /// The value of an argument that a call may leave out.
    fn default(&self) -> Option<&'static str> {
        match (self.is_required, &*self.typed) {
            (true, _) => None,
            (false, "MAP") => Some("{}"),
            (false, _) => Some("null"),
        }
    }

    fn text(&self) -> String {
        let Self { name, typed, .. } = self;
        match self.default() {
            Some(default) => format!("{name} = {default} :: {typed}"),
            None => format!("{name} :: {typed}"),
        }
    }
}

fn listed(fields: &[Field]) -> String {
    let each: Vec<String> = fields.iter().map(Field::text).collect();
    each.join(", ")
}

fn described(fields: &[Field]) -> Value {
    let each = fields.iter().map(|field| {
        let mut entries = vec![
            ("name", Value::string(&field.name)),
            ("type", Value::string(&field.typed)),
            ("description", Value::string(field.text())),
            ("isDeprecated", Value::Boolean(false)),
        ];
        if let Some(default) = field.default() {
            let text = format!(
                "DefaultParameterValue{{value={default}, type={}}}",
                field.typed
            );
            entries.push(("default", Value::string(text)));
        }
        super::map(entries)
    });
    Value::list(each.collect())
}

pub(super) const FUNCTIONS: Fields = &[
    ("name", "STRING"),
    ("category", "STRING"),
    ("description", "STRING"),
    ("signature", "STRING"),
    ("isBuiltIn", "BOOLEAN"),
    ("argumentDescription", "LIST<MAP>"),
    ("returnDescription", "STRING"),
    ("aggregating", "BOOLEAN"),
    ("rolesExecution", "LIST<STRING>"),
    ("rolesBoostedExecution", "LIST<STRING>"),
    ("isDeprecated", "BOOLEAN"),
    ("deprecatedBy", "STRING"),
];

pub(super) fn functions(_: &Catalogue, _: &[Value], _: &Graph<'_>) -> Rows {
    let row = |one: FunctionShown| {
        let category = match one.aggregates {
            true => "Aggregating",
            false => "Scalar",
        };
        let is_alone = one.parameters.len() == 1;
        let arguments: Vec<_> = (1..)
            .zip(one.parameters)
            .map(|(number, typed)| Field {
                name: match is_alone {
                    true => "input".to_owned(),
                    false => format!("input{number}"),
                },
                typed,
                is_required: number <= one.required,
            })
            .collect();
        let signature = format!("{}({}) :: {}", one.name, listed(&arguments), one.returns);
        vec![
            Value::string(one.name),
            Value::string(category),
            Value::string(""),
            Value::string(signature),
            Value::Boolean(true),
            described(&arguments),
            Value::string(one.returns),
            Value::Boolean(one.aggregates),
            Value::Null,
            Value::Null,
            Value::Boolean(false),
            Value::Null,
        ]
    };
    let mut all: Vec<_> = varve_cypher::functions_shown().collect();
    all.sort_unstable_by_key(|one| (one.name, one.aggregates));
    Ok(all.into_iter().map(row).collect())
}

pub(super) const INDEXES: Fields = &[
    ("id", "INTEGER"),
    ("name", "STRING"),
    ("state", "STRING"),
    ("populationPercent", "FLOAT"),
    ("type", "STRING"),
    ("entityType", "STRING"),
    ("labelsOrTypes", "LIST<STRING>"),
    ("properties", "LIST<STRING>"),
    ("indexProvider", "STRING"),
    ("owningConstraint", "STRING"),
    ("lastRead", "ZONED DATETIME"),
    ("readCount", "INTEGER"),
    ("trackedSince", "ZONED DATETIME"),
    ("options", "MAP"),
    ("failureMessage", "STRING"),
    ("createStatement", "STRING"),
];

/// The indexes, of one kind (`RANGE`, …) or all.
pub(super) fn indexes(catalogue: &Catalogue, arguments: &[Value], _: &Graph<'_>) -> Rows {
    let wanted = match arguments.first() {
        Some(Value::String(kind)) => Some(&**kind),
        _ => None,
    };
    let rules = Rule::seen(&catalogue.schema, Some(&catalogue.sight));
    let rules = rules.iter().filter_map(|rule| {
        let kind = rule.kind.index()?;
        wanted
            .is_none_or(|wanted| wanted == kind)
            .then_some((rule, kind))
    });
    let row = |(rule, kind): (&Rule, &str)| {
        let (state, percent) = match rule.state {
            DefinitionState::Complete => ("ONLINE", 100.0),
            DefinitionState::Building => ("POPULATING", 0.0),
            DefinitionState::Failed => ("FAILED", 0.0),
        };
        let provider = format!("{}-1.0", kind.to_lowercase());
        let options = [
            ("indexProvider", Value::string(&provider)),
            ("indexConfig", super::map([])),
        ];
        let owner = match rule.is_constraint() {
            true => Value::string(&rule.name),
            false => Value::Null,
        };
        vec![
            Value::Integer(rule.id.into()),
            Value::string(&rule.name),
            Value::string(state),
            Value::Float(percent),
            Value::string(kind),
            Value::string(entity(rule)),
            strings(rule.labels.iter().map(String::as_str)),
            strings(rule.properties.iter().map(String::as_str)),
            Value::string(&provider),
            owner,
            Value::Null,
            Value::Null,
            Value::Null,
            super::map(options),
            Value::string(""),
            Value::string(rule.statement()),
        ]
    };
    Ok(rules.map(row).collect())
}

const fn entity(rule: &Rule) -> &'static str {
    match rule.is_of_relationships {
        false => "NODE",
        true => "RELATIONSHIP",
    }
}

pub(super) const CONSTRAINTS: Fields = &[
    ("id", "INTEGER"),
    ("name", "STRING"),
    ("type", "STRING"),
    ("entityType", "STRING"),
    ("labelsOrTypes", "LIST<STRING>"),
    ("properties", "LIST<STRING>"),
    ("ownedIndex", "STRING"),
    ("propertyType", "STRING"),
    ("options", "MAP"),
    ("createStatement", "STRING"),
];

/// The constraints: of one kind (`UNIQUENESS`, …) or all, of relationships (true), nodes (false) or
/// both.
pub(super) fn constraints(catalogue: &Catalogue, arguments: &[Value], _: &Graph<'_>) -> Rows {
    let wanted = match arguments.first() {
        Some(Value::String(kind)) => Some(&**kind),
        _ => None,
    };
    let of_relationships = match arguments.get(1) {
        Some(Value::Boolean(of_relationships)) => Some(*of_relationships),
        _ => None,
    };
    let rules = Rule::seen(&catalogue.schema, Some(&catalogue.sight));
    let rules = rules.iter().filter(|rule| {
        let kind = rule.kind.constraint().map(ConstraintKind::text);
        kind.is_some_and(|kind| wanted.is_none_or(|wanted| wanted == kind))
            && of_relationships.is_none_or(|wanted| wanted == rule.is_of_relationships)
    });
    let row = |rule: &Rule| {
        let (owned, options) = match rule.kind.index() {
            None => (Value::Null, Value::Null),
            Some(_) => (
                Value::string(&rule.name),
                super::map([
                    ("indexProvider", Value::string("range-1.0")),
                    ("indexConfig", super::map([])),
                ]),
            ),
        };
        vec![
            Value::Integer(rule.id.into()),
            Value::string(&rule.name),
            Value::string(rule.constraint_type()),
            Value::string(entity(rule)),
            strings(rule.labels.iter().map(String::as_str)),
            strings(rule.properties.iter().map(String::as_str)),
            owned,
            rule.types().map_or(Value::Null, Value::string),
            options,
            Value::string(rule.statement()),
        ]
    };
    Ok(rules.map(row).collect())
}

pub(super) const DATABASES: Fields = &[
    ("name", "STRING"),
    ("type", "STRING"),
    ("aliases", "LIST<STRING>"),
    ("access", "STRING"),
    ("address", "STRING"),
    ("role", "STRING"),
    ("writer", "BOOLEAN"),
    ("requestedStatus", "STRING"),
    ("currentStatus", "STRING"),
    ("statusMessage", "STRING"),
    ("default", "BOOLEAN"),
    ("home", "BOOLEAN"),
    ("constituents", "LIST<STRING>"),
    ("databaseID", "STRING"),
    ("serverID", "STRING"),
    ("store", "STRING"),
    ("lastCommittedTxn", "INTEGER"),
    ("replicationLag", "INTEGER"),
];

/// The graphs, or one: the empty text stands for the graph of the connection.
pub(super) fn databases(catalogue: &Catalogue, arguments: &[Value], _: &Graph<'_>) -> Rows {
    let wanted = match arguments.first() {
        Some(Value::String(name)) if name.is_empty() => Some(catalogue.home.as_str()),
        Some(Value::String(name)) => Some(&**name),
        _ => None,
    };
    let names = catalogue.graphs.iter();
    let names = names.filter(|name| wanted.is_none_or(|wanted| wanted == name.as_str()));
    let row = |name: &String| {
        let is_default = Value::Boolean(*name == catalogue.home);
        vec![
            Value::string(name),
            Value::string("standard"),
            Value::list(Vec::new()),
            Value::string("read-write"),
            Value::string(""),
            Value::string("primary"),
            Value::Boolean(true),
            Value::string("online"),
            Value::string("online"),
            Value::string(""),
            is_default.clone(),
            is_default,
            Value::list(Vec::new()),
            Value::string(name),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Integer(0),
        ]
    };
    Ok(names.map(row).collect())
}

pub(super) const CURRENT_USER: Fields = &[
    ("user", "STRING"),
    ("roles", "LIST<STRING>"),
    ("passwordChangeRequired", "BOOLEAN"),
    ("suspended", "BOOLEAN"),
    ("home", "STRING"),
];

pub(super) fn current_user(catalogue: &Catalogue, _: &[Value], _: &Graph<'_>) -> Rows {
    Ok(vec![vec![
        Value::string(&catalogue.user),
        Value::Null,
        Value::Boolean(false),
        Value::Boolean(false),
        Value::Null,
    ]])
}
