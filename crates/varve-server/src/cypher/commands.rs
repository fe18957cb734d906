//! Commands of Cypher: indexes and constraints of a graph, and the graphs themselves.
//!
//! In an open graph an index or constraint is a definition, which covers the label sets and keys
//! that come later. In a graph with a declared schema it is an index label.

mod waiting;

use std::sync::Arc;

use varve_cypher::tree::{
    Command, ConstraintRule, CreateConstraint, CreateIndex, DropNamed, Existence, IndexKind,
    IndexedBy, NamedKind, SchemaName, SchemaTarget,
};
use varve_cypher::{Counters, Map, Value, numbers};
use varve_graph::Graph;
use varve_graph::registry::GRAPH_NAME_BYTES_MAX;
use varve_graph::schema::{
    BaseType, DefinitionKind, DefinitionState, NewDefinition, NewIndexLabel, OwnedChanges,
    PropertyType, SchemaKind,
};
use varve_graph::tasks::{TaskId, TaskStatus};
use varve_model::schema::IndexType;
use varve_model::value::Cardinality;
use varve_session::{Action, Failure, Session};
use varve_view::ErrorKind;

use super::databases;
use super::failure::{CypherFailure, SchemaError};
use super::rules::{Rule, RuleKind, property_types};

/// What a command asks for that is not supported; `None` if it can be carried out.
pub(super) fn unsupported(command: &Command) -> Option<String> {
    let of_labels = |target: &SchemaTarget| {
        (target.labels.len() > 1).then(|| "an index or constraint of several labels".to_owned())
    };
    match command {
        Command::CreateIndex(index) => match index.kind {
            IndexKind::FullText | IndexKind::Vector => {
                Some(format!("CREATE {} INDEX", index.kind.text()))
            }
            _ if index.options.is_some() => Some("OPTIONS of CREATE INDEX".to_owned()),
            _ => of_labels(&index.target),
        },
        Command::CreateConstraint(constraint) => match &constraint.rule {
            _ if constraint.options.is_some() => Some("OPTIONS of CREATE CONSTRAINT".to_owned()),
            ConstraintRule::NotNull | ConstraintRule::Type(_)
                if constraint.properties.len() > 1 =>
            {
                Some("a constraint of existence or type of several properties".to_owned())
            }
            ConstraintRule::Type(wanted) => property_types(wanted)
                .err()
                .or_else(|| of_labels(&constraint.target)),
            _ => of_labels(&constraint.target),
        },
        Command::Drop(_) => None,
        Command::CreateDatabase(_) | Command::DropDatabase(_) => {
            databases::unsupported(command).map(str::to_owned)
        }
    }
}

/// Carries out a command. It takes effect at once, also within a transaction.
///
/// # Errors
/// With Neo4j's codes, for names that are taken or missing and for data that violates a
/// constraint; those of the catalogue.
pub(super) fn run(
    command: &Command,
    (session, graph): (&Session, &Arc<Graph>),
    parameters: &Map,
) -> Result<Counters, CypherFailure> {
    let owner = session.identity().owner();
    let changes = graph.catalogue().owned_by(owner);
    let own = Change {
        session,
        graph,
        changes,
        parameters,
    };
    match command {
        Command::CreateIndex(index) => own.create_index(index),
        Command::CreateConstraint(constraint) => own.create_constraint(constraint),
        Command::Drop(named) => own.drop_named(named),
        Command::CreateDatabase(_) | Command::DropDatabase(_) => {
            run_on_databases(command, (session, graph.name()), parameters)?;
            Ok(Counters::default())
        }
    }
}

/// Carries out a command about a database, on this one. Other commands do nothing.
///
/// # Errors
/// As [`run`].
pub(super) fn run_on_databases(
    command: &Command,
    (session, current): (&Session, &str),
    parameters: &Map,
) -> Result<(), CypherFailure> {
    match command {
        Command::CreateDatabase(new) => {
            databases::create(session, new, &named(&new.name, parameters)?)
        }
        Command::DropDatabase(old) => {
            let name = named(&old.name, parameters)?;
            databases::remove(session, old, (&*name, current))
        }
        Command::CreateIndex(_) | Command::CreateConstraint(_) | Command::Drop(_) => Ok(()),
    }
}

/// What a command changes.
pub(super) const fn action(command: &Command) -> Action {
    match command {
        Command::CreateDatabase(_) | Command::DropDatabase(_) => Action::Administer,
        Command::CreateIndex(_) | Command::CreateConstraint(_) | Command::Drop(_) => Action::Schema,
    }
}

/// The graph that a command makes or drops; `None` for other commands.
pub(super) fn database(command: &Command, parameters: &Map) -> Option<String> {
    let name = match command {
        Command::CreateDatabase(new) => &new.name,
        Command::DropDatabase(old) => &old.name,
        Command::CreateIndex(_) | Command::CreateConstraint(_) | Command::Drop(_) => return None,
    };
    // No graph has a longer one.
    named(name, parameters)
        .ok()
        .filter(|name| name.len() <= GRAPH_NAME_BYTES_MAX)
}

/// A name of the text or of a parameter.
fn named(name: &SchemaName, parameters: &Map) -> Result<String, CypherFailure> {
    let parameter = match name {
        SchemaName::Name(name) => return Ok(name.text.to_string()),
        SchemaName::Parameter(parameter) => &parameter.text,
    };
    match parameters.get(parameter) {
        Some(Value::String(name)) => Ok(name.to_string()),
        Some(other) => Err(refused(
            "Neo.ClientError.Statement.TypeError",
            format!(
                "the name in the parameter '{parameter}' is a STRING, but got {}",
                other.type_name()
            ),
        )),
        None => Err(refused(
            "Neo.ClientError.Statement.ParameterMissing",
            format!("the parameter '{parameter}' is missing"),
        )),
    }
}

/// Checks that the client may run a command on a graph.
///
/// # Errors
/// [`ErrorKind::Denied`] otherwise.
pub(super) fn admit(command: &Command, session: &Session, graph: &str) -> Result<(), Failure> {
    match action(command) {
        Action::Administer => databases::admit(session),
        action => session.decide(action, graph),
    }
}

struct Change<'c> {
    session: &'c Session,
    graph: &'c Arc<Graph>,
    changes: OwnedChanges<'c>,
    parameters: &'c Map,
}

fn refused(code: &'static str, message: String) -> CypherFailure {
    SchemaError { code, message }.into()
}

impl Change<'_> {
    fn create_index(&self, index: &CreateIndex) -> Result<Counters, CypherFailure> {
        let kind = match index.kind {
            IndexKind::Text => DefinitionKind::Text,
            IndexKind::Point => DefinitionKind::Point,
            _ => DefinitionKind::Range,
        };
        let IndexedBy::Properties(properties) = &index.by else {
            return lookup(index);
        };
        let keys = properties.iter().map(|name| name.text.to_string());
        let named = (index.name.as_ref(), &index.target);
        let (new, rule) = self.meant((kind, Vec::new()), named, keys.collect())?;
        let is_optional = index.existence == Existence::Ignore;
        let all = Rule::all(&self.graph.schema());
        let is_open = self.graph.schema().is_open();
        // In a declared graph, queries do not use the index of a constraint.
        let same = |one: &&Rule| {
            self.covers_as(one, &rule)
                && one.kind.index() == rule.kind.index()
                && (is_open || !one.is_constraint())
        };
        if let Some(same) = all.iter().find(same) {
            return match is_optional {
                true => Ok(Counters::default()),
                false => Err(index_exists(same, &rule)),
            };
        }
        if let Some(taken) = all.iter().find(|one| one.name == rule.name) {
            return match is_optional {
                true => Ok(Counters::default()),
                false => Err(name_exists(taken)),
            };
        }
        match self.create(new) {
            // By a command that ran at the same time.
            Err(CypherFailure::Refused(failure)) if failure.kind == ErrorKind::Existed => {
                return match is_optional {
                    true => Ok(Counters::default()),
                    false => Err(index_exists(&rule, &rule)),
                };
            }
            created => created.map(drop)?,
        }
        Ok(Counters {
            indexes_added: 1,
            ..Counters::default()
        })
    }

    fn create_constraint(&self, constraint: &CreateConstraint) -> Result<Counters, CypherFailure> {
        let keys = constraint.properties.iter();
        let keys = keys.map(|name| name.text.to_string()).collect();
        let kind = match &constraint.rule {
            ConstraintRule::Unique => (DefinitionKind::Unique, Vec::new()),
            ConstraintRule::Key => (DefinitionKind::Key, Vec::new()),
            ConstraintRule::NotNull => (DefinitionKind::Exists, Vec::new()),
            ConstraintRule::Type(wanted) => {
                let types = property_types(wanted).unwrap_or_default();
                (DefinitionKind::Type, types)
            }
        };
        if kind.0.is_rule() && !self.graph.schema().is_open() {
            return Err(refused(
                "Neo.ClientError.Statement.UnsupportedOperationError",
                format!(
                    "the schema of graph '{}' is declared: it says itself which properties its \
                     labels have, of which types, and which may be missing",
                    self.graph.name()
                ),
            ));
        }
        let named = (constraint.name.as_ref(), &constraint.target);
        let (new, rule) = self.meant(kind, named, keys)?;
        let is_optional = constraint.existence == Existence::Ignore;
        loop {
            if !self.is_free(&rule, is_optional)? {
                return Ok(Counters::default());
            }
            match self.create(new.clone()) {
                // By a command that ran at the same time.
                Err(CypherFailure::Refused(failure)) if failure.kind == ErrorKind::Existed => {
                    if !is_optional {
                        return Err(constraint_exists(&rule, &rule));
                    }
                    self.pause(&rule)?;
                }
                made => {
                    let (id, tasks) = made?;
                    self.built(&rule, id, &tasks)?;
                    return Ok(Counters {
                        constraints_added: 1,
                        ..Counters::default()
                    });
                }
            }
        }
    }

    /// Whether a constraint is to be created; `false` if it is there. With IF NOT EXISTS, waits for
    /// one that is being built, checks one that is not checked, and removes one that could not be
    /// built.
    fn is_free(&self, rule: &Rule, is_optional: bool) -> Result<bool, CypherFailure> {
        loop {
            let all = Rule::all(&self.graph.schema());
            let same = all.iter().filter(|one| self.covers_as(one, rule));
            let mut same = same.filter(|one| one.kind.excludes(rule.kind));
            if let Some(one) = same.clone().find(|one| one.is_constraint()) {
                let is_equal = one.kind == rule.kind && one.types == rule.types;
                match one.state {
                    _ if !is_optional || !is_equal => return Err(constraint_exists(one, rule)),
                    DefinitionState::Complete => return Ok(false),
                    DefinitionState::Building if self.is_unchecked(one) => {
                        self.built(rule, one.id, &[])?;
                    }
                    DefinitionState::Building => {}
                    DefinitionState::Failed => self.remove_failed(one)?,
                }
                self.pause(rule)?;
                continue;
            }
            if same.any(|one| one.kind == RuleKind::Range && one.is_defined) {
                let message = format!(
                    "There already exists an index {}. A constraint cannot be created until the \
                     index has been dropped.",
                    rule.schema_text()
                );
                let code = "Neo.ClientError.Schema.IndexAlreadyExists";
                return Err(refused(code, message));
            }
            return match all.iter().find(|one| one.name == rule.name) {
                None => Ok(true),
                Some(taken) if is_optional && taken.is_constraint() => Ok(false),
                Some(taken) => Err(name_exists(taken)),
            };
        }
    }

    /// Whether only the check of existing elements is missing.
    fn is_unchecked(&self, rule: &Rule) -> bool {
        let schema = self.graph.schema();
        let mut all = schema.definitions().iter();
        all.find(|one| one.id.0 == rule.id).is_some_and(|one| {
            !one.is_checked && one.parts_state(&schema) == DefinitionState::Complete
        })
    }

    /// Whether a rule covers the elements that a new one would. In an open graph, an index label of
    /// one set of labels does not.
    fn covers_as(&self, one: &Rule, new: &Rule) -> bool {
        one.has_schema_of(new) && one.is_defined == self.graph.schema().is_open()
    }

    /// What a command defines, and the rule that it makes.
    fn meant(
        &self,
        (kind, types): (DefinitionKind, Vec<PropertyType>),
        (name, target): (Option<&SchemaName>, &SchemaTarget),
        keys: Vec<String>,
    ) -> Result<(NewDefinition, Rule), CypherFailure> {
        let label = target.labels.first().map(|label| label.text.to_string());
        let mut new = NewDefinition {
            name: String::new(),
            kind,
            is_of_edges: target.relationships,
            label: label.unwrap_or_default(),
            keys,
            types,
        };
        new.name = match name {
            Some(name) => named(name, self.parameters)?,
            None => generated(&new),
        };
        let rule = Rule::defined(0, &new, DefinitionState::Building);
        Ok((new, rule))
    }

    /// Returns its id and the tasks that build it.
    fn create(&self, new: NewDefinition) -> Result<(u32, Vec<TaskId>), CypherFailure> {
        if self.graph.schema().is_open() {
            let (made, tasks) = self.changes.create_definition(new)?;
            return Ok((made.id.0, tasks));
        }
        let base = match new.is_of_edges {
            false => BaseType::VertexLabel,
            true => BaseType::EdgeLabel,
        };
        let keys: Vec<&str> = new.keys.iter().map(String::as_str).collect();
        let index_type = match new.kind {
            DefinitionKind::Unique => IndexType::Unique,
            _ => self.declared_type(&keys),
        };
        let index = NewIndexLabel::on(&new.name, base, &new.label, index_type, &keys);
        let made = self.changes.add_index_label(index)?;
        Ok((made.element.id.0, vec![made.task]))
    }

    /// The type of index that answers most on these keys.
    fn declared_type(&self, keys: &[&str]) -> IndexType {
        let schema = self.graph.schema();
        let [key] = keys else {
            return IndexType::Secondary;
        };
        match schema.property_key_by_name(key) {
            Some(key) if key.data_type.is_rangeable() && key.cardinality == Cardinality::Single => {
                IndexType::Range
            }
            _ => IndexType::Secondary,
        }
    }

    /// Removes a constraint that could not be built, unless another command did.
    fn remove_failed(&self, rule: &Rule) -> Result<(), CypherFailure> {
        match self.remove(&rule.name, rule.is_defined) {
            Err(CypherFailure::Refused(failure)) if failure.kind == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn remove(&self, name: &str, is_defined: bool) -> Result<(), CypherFailure> {
        match is_defined {
            true => self.changes.remove_definition(name).map(drop)?,
            false => {
                let task = self.changes.remove(SchemaKind::IndexLabel, name)?;
                // Writes keep the index until its task begins.
                let check = || self.session.check_deadline();
                let may_wait = || check().map_err(CypherFailure::Refused);
                if self.final_status(task, &may_wait)? != TaskStatus::Success {
                    let message = format!("The task {task} that removes '{name}' has failed");
                    let code = "Neo.DatabaseError.Schema.IndexDropFailed";
                    return Err(refused(code, message));
                }
            }
        }
        Ok(())
    }

    fn drop_named(&self, dropped: &DropNamed) -> Result<Counters, CypherFailure> {
        let name = named(&dropped.name, self.parameters)?;
        let all = Rule::all(&self.graph.schema());
        let found = all.iter().find(|rule| rule.name == name);
        let (code, what) = match dropped.kind {
            NamedKind::Index => ("Neo.DatabaseError.Schema.IndexDropFailed", "index"),
            NamedKind::Constraint => (
                "Neo.DatabaseError.Schema.ConstraintDropFailed",
                "constraint",
            ),
        };
        match (dropped.kind, found) {
            (NamedKind::Index, Some(rule)) if rule.is_constraint() => {
                let message =
                    format!("Unable to drop index: Index belongs to constraint: `{name}`");
                Err(refused(code, message))
            }
            (NamedKind::Index, Some(rule)) => {
                self.remove(&name, rule.is_defined)?;
                Ok(Counters {
                    indexes_removed: 1,
                    ..Counters::default()
                })
            }
            (NamedKind::Constraint, Some(rule)) if rule.is_constraint() => {
                self.remove(&name, rule.is_defined)?;
                Ok(Counters {
                    constraints_removed: 1,
                    ..Counters::default()
                })
            }
            _ if dropped.existence == Existence::Ignore => Ok(Counters::default()),
            _ => Err(refused(
                code,
                format!("Unable to drop {what} called `{name}`. There is no such {what}."),
            )),
        }
    }
}

/// Labels and types always have an index, as in a new database of Neo4j.
fn lookup(index: &CreateIndex) -> Result<Counters, CypherFailure> {
    if index.existence == Existence::Ignore {
        return Ok(Counters::default());
    }
    let schema = match index.target.relationships {
        false => "(:<any-labels>)",
        true => "()-[:<any-types>]-()",
    };
    let message = format!("There already exists an index {schema}.");
    Err(refused(
        "Neo.ClientError.Schema.IndexAlreadyExists",
        message,
    ))
}

fn index_exists(same: &Rule, new: &Rule) -> CypherFailure {
    let schema = new.schema_text();
    if same.is_constraint() {
        let what = match same.kind {
            RuleKind::Key => "key",
            _ => "uniqueness",
        };
        let message = format!(
            "There is a {what} constraint on {schema}, so an index is already created that \
             matches this."
        );
        return refused("Neo.ClientError.Schema.ConstraintAlreadyExists", message);
    }
    if same.name == new.name {
        let message = format!(
            "An equivalent index already exists, 'Index( name='{}', type='{}', schema={schema} )'.",
            same.name,
            same.kind.index().unwrap_or_default()
        );
        let code = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists";
        return refused(code, message);
    }
    let message = format!("There already exists an index {schema}.");
    refused("Neo.ClientError.Schema.IndexAlreadyExists", message)
}

fn constraint_exists(same: &Rule, new: &Rule) -> CypherFailure {
    let text = same.constraint_text();
    match same.name == new.name && same.kind == new.kind && same.types == new.types {
        true => refused(
            "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
            format!("An equivalent constraint already exists, '{text}'."),
        ),
        false => refused(
            "Neo.ClientError.Schema.ConstraintAlreadyExists",
            format!("Constraint already exists: {text}"),
        ),
    }
}

fn name_exists(taken: &Rule) -> CypherFailure {
    let (code, what) = match taken.is_constraint() {
        false => (
            "Neo.ClientError.Schema.IndexWithNameAlreadyExists",
            "an index",
        ),
        true => (
            "Neo.ClientError.Schema.ConstraintWithNameAlreadyExists",
            "a constraint",
        ),
    };
    let message = format!("There already exists {what} called '{}'.", taken.name);
    refused(code, message)
}

/// A name of Neo4j's form for what has none, by a hash of its kind, label and keys.
fn generated(new: &NewDefinition) -> String {
    let elements = match new.is_of_edges {
        false => "nodes",
        true => "relationships",
    };
    let parts = [new.kind.name(), elements, new.label.as_str()].into_iter();
    let parts = parts.chain(new.keys.iter().map(String::as_str));
    let bytes: Vec<u8> = parts.flat_map(|part| part.bytes().chain([0])).collect();
    let hash = numbers::hash(&bytes) & 0xFFFF_FFFF;
    let what = match new.kind {
        DefinitionKind::Range | DefinitionKind::Text | DefinitionKind::Point => "index",
        _ => "constraint",
    };
    format!("{what}_{hash:08x}")
}
