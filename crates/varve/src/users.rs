//! `varve user`: users in a data folder that no server uses; and the administrator of a new server.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use varve_auth::{ADMIN, Auth, Author, RecordKind, Store, User, UserPatch};

use crate::cli::{UserAction, UserArguments};
use crate::{CommandError, data};

/// The variable with the administrator's first password.
const ADMIN_PASSWORD: &str = "VARVE_ADMIN_PASSWORD";

pub(crate) fn run(arguments: &UserArguments) -> Result<ExitCode, CommandError> {
    let config = arguments.options.load()?;
    let graphs = data::open_stored(&config)?;
    if arguments.action == UserAction::List && graphs.system()?.is_none() {
        println!("there are no users");
        return Ok(ExitCode::SUCCESS);
    }
    let auth = Auth::open(Store::open(graphs.make_system()?)?, config.auth.options())?;
    let name = arguments.name.as_deref().unwrap_or_default();
    let id = RecordKind::User.id_of(name);
    match arguments.action {
        UserAction::List => {
            for user in auth.directory().users() {
                println!("{}", user.body.name);
            }
        }
        UserAction::Add => {
            let password = auth.new_password(&read_password()?)?;
            let user = User {
                name: name.to_owned(),
                ..User::default()
            };
            auth.change(|directory| directory.add_user(user, password, author()))?;
            println!("user {name} made; it has no rights yet");
        }
        UserAction::Password => {
            let password = Some(auth.new_password(&read_password()?)?);
            auth.change(|directory| match (directory.user(&id), password) {
                (None, Some(password)) if name == ADMIN => Ok((
                    id.clone(),
                    directory.set_administrator(password, author().now),
                )),
                (_, password) => {
                    let patch = UserPatch {
                        password,
                        ..UserPatch::default()
                    };
                    directory.change_user(&id, patch, author())
                }
            })?;
            println!("user {name} has a new password; its tokens are no longer valid");
        }
        UserAction::Remove => {
            auth.change(|directory| directory.remove_user(&id))?;
            println!("user {name} removed");
        }
    }
    drop(auth);
    graphs.close();
    Ok(ExitCode::SUCCESS)
}

/// Creates the administrator if the server has none, with the password from the environment or a
/// random one. Returns a random password.
pub(crate) fn make_administrator(auth: &Arc<Auth>) -> Result<Option<String>, CommandError> {
    let id = RecordKind::User.id_of(ADMIN);
    if auth.directory().user(&id).is_some() {
        return Ok(None);
    }
    let given = std::env::var(ADMIN_PASSWORD).ok();
    let password = match &given {
        Some(password) => password.clone(),
        None => auth.random_password()?,
    };
    let hashed = auth.new_password(&password)?;
    auth.change(|directory| {
        Ok((
            id.clone(),
            directory.set_administrator(hashed, author().now),
        ))
    })?;
    if given.is_some() {
        tracing::info!("the user {ADMIN} was made with the password of {ADMIN_PASSWORD}");
        return Ok(None);
    }
    Ok(Some(password))
}

fn author() -> Author<'static> {
    Author {
        name: varve_auth::SYSTEM,
        now: jiff::Timestamp::now().as_millisecond(),
    }
}

/// Reads the password: the first line of standard input.
fn read_password() -> Result<String, CommandError> {
    let input = std::io::stdin().lock();
    if input.is_terminal() {
        eprintln!("Password (it is shown as you type):");
    }
    let line = input.lines().next();
    let line = line.ok_or("no password on standard input")??;
    Ok(line.trim_end_matches('\r').to_owned())
}
