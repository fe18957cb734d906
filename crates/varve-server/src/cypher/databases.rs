//! Commands of Cypher that make and drop graphs.

use varve_cypher::tree::{Command, CreateDatabase, DropDatabase, Existence};
use varve_graph::GraphError;
use varve_graph::registry::GraphLocation;
use varve_graph::schema::SchemaMode;
use varve_session::{Action, Failure, Session};
use varve_view::ErrorKind;

use super::failure::{CypherFailure, SchemaError};
use crate::system_database::SYSTEM;

/// What a command about a database asks for that is not supported.
pub(super) fn unsupported(command: &Command) -> Option<&'static str> {
    match command {
        Command::CreateDatabase(new) if new.options.is_some() => Some("OPTIONS of CREATE DATABASE"),
        Command::CreateDatabase(new) if new.existence == Existence::Replace => {
            Some("CREATE OR REPLACE DATABASE")
        }
        _ => None,
    }
}

/// Checks that a client may make and drop graphs, as REST does.
///
/// # Errors
/// [`ErrorKind::Denied`] if it is no administrator, or uses a restricted token.
pub(super) fn admit(session: &Session) -> Result<(), Failure> {
    let identity = session.identity();
    match identity.is_administrator() && !identity.is_restricted() {
        true => Ok(()),
        false => Err(Failure::new(ErrorKind::Denied, "User not authorized.")),
    }
}

/// # Errors
/// When this server may not change the graph.
fn check(session: &Session, name: &str) -> Result<(), Failure> {
    admit(session)?;
    session.decide(Action::Administer, name)?;
    match session.database().graphs.place(name) {
        GraphLocation::There(leader) => Err(Failure::new(
            ErrorKind::Elsewhere,
            format!("Graph '{name}' is led by the server at {}", leader.address),
        )),
        _ => Ok(()),
    }
}

/// Makes an open graph.
///
/// # Errors
/// As [`varve_graph::Registry::create`], with Neo4j's code for a name that is taken.
pub(super) fn create(
    session: &Session,
    new: &CreateDatabase,
    name: &str,
) -> Result<(), CypherFailure> {
    check(session, name)?;
    let made = match name {
        SYSTEM => Err(GraphError::new(ErrorKind::Existed, "system exists")),
        _ => {
            let graphs = &session.database().graphs;
            graphs.create_with(name, SchemaMode::Open)
        }
    };
    match made {
        Ok(_) => {
            tracing::info!(graph = name, "graph created");
            Ok(())
        }
        Err(error) if error.kind == ErrorKind::Existed => match new.existence {
            Existence::Ignore => Ok(()),
            _ => Err(SchemaError {
                code: "Neo.ClientError.Database.ExistingDatabaseFound",
                message: format!(
                    "Failed to create the specified database '{name}': Database already exists."
                ),
            }
            .into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Drops a graph with all its data.
///
/// # Errors
/// As [`varve_graph::Registry::drop_graph`]; for the graph `current`, on which the command runs.
pub(super) fn remove(
    session: &Session,
    old: &DropDatabase,
    (name, current): (&str, &str),
) -> Result<(), CypherFailure> {
    check(session, name)?;
    if name == current {
        let message = "The database that the command runs on cannot be dropped: choose another";
        return Err(Failure::new(ErrorKind::InvalidArgument, message).into());
    }
    let dropped: Result<(), GraphError> = session.database().graphs.drop_graph(name);
    match dropped {
        Ok(()) => {
            tracing::info!(graph = name, "graph dropped");
            Ok(())
        }
        Err(error) if error.kind == ErrorKind::NotFound => match old.existence {
            Existence::Ignore => Ok(()),
            _ => Err(SchemaError {
                code: "Neo.ClientError.Database.DatabaseNotFound",
                message: format!(
                    "Failed to delete the specified database '{name}': Database does not exist."
                ),
            }
            .into()),
        },
        Err(error) => Err(error.into()),
    }
}
