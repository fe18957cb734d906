//! HugeGraph's API of users, groups, targets, rights and logins: under `graphs/{graph}/auth` in the
//! form of 1.5, under `auth` in the form of 1.7. The server has one directory, so the graph in the
//! path does not matter.
//!
//! A user reads and changes its own record without a right. Other records need rights on the
//! server's users, targets or accesses, and a client gives or takes only rights that it has itself.
//! If authentication is off, all of these requests get HugeGraph's error for that. Requests about
//! raft always get HugeGraph's error.

mod fields;
mod login;
mod managers;
mod records;
pub(crate) mod session;
mod shown;
mod tokens;
mod users;
mod white_list;

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value as Json;
use varve_auth::{
    ADMIN, Auth, Author, Directory, DirectoryError, Permission, Principal, Reach, RecordKind,
    ResourceType, Rights,
};

use self::fields::Fields;
use crate::access::SERVER;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::rights::Needs;
use crate::route::{Class, Handler, Parameter, Route, Scope, Verb};
use crate::router::PathForm;
use crate::wire::time::scope as graph_scope;

type Answered = fn(&RequestContext) -> HandlerResult;

const KIND_OF_GRAPH: &str = "graphs/{graph}/auth/{kind}";
const ID_OF_GRAPH: &str = "graphs/{graph}/auth/{kind}/{id}";
const ROLE_OF_GRAPH: &str = "graphs/{graph}/auth/{kind}/{id}/role";
const KIND: &str = "auth/{kind}";
const ID: &str = "auth/{kind}/{id}";
const ROLE: &str = "auth/{kind}/{id}/role";
const MANAGERS: &str = "auth/managers";

/// The routes of this module.
pub(crate) static ROUTES: &[Route] = &[
    reads(KIND_OF_GRAPH, Scope::Graph, get_all).with(SELECTION),
    changes(Verb::Post, KIND_OF_GRAPH, Scope::Graph, post),
    changes(Verb::Delete, KIND_OF_GRAPH, Scope::Graph, delete_all),
    reads(ID_OF_GRAPH, Scope::Graph, get).with(POINT),
    changes(Verb::Put, ID_OF_GRAPH, Scope::Graph, put).with(ACTION),
    changes(Verb::Delete, ID_OF_GRAPH, Scope::Graph, delete),
    reads(ROLE_OF_GRAPH, Scope::Graph, role).with(POINT),
    logs_in("graphs/{graph}/auth/login", Scope::Graph),
    reads(KIND, Scope::Server, get_all).with(SELECTION),
    changes(Verb::Post, KIND, Scope::Server, post),
    changes(Verb::Delete, KIND, Scope::Server, delete_all),
    reads(ID, Scope::Server, get).with(POINT),
    changes(Verb::Put, ID, Scope::Server, put).with(ACTION),
    changes(Verb::Delete, ID, Scope::Server, delete),
    reads(ROLE, Scope::Server, role).with(POINT),
    logs_in("auth/login", Scope::Server),
    reads("ui/session", Scope::Server, session::read).needs(Needs::Nothing),
    begins_session(),
    changes(Verb::Delete, "ui/session", Scope::Server, session::end).needs(Needs::Nothing),
    reads("auth/tokens", Scope::Server, tokens::list).with(&[Parameter::text("user")]),
    changes(Verb::Post, "auth/tokens", Scope::Server, tokens::create),
    changes(
        Verb::Delete,
        "auth/tokens/{id}",
        Scope::Server,
        tokens::revoke,
    ),
    reads(MANAGERS, Scope::Server, managers::list).with(MANAGER),
    changes(Verb::Post, MANAGERS, Scope::Server, managers::create),
    changes(Verb::Delete, MANAGERS, Scope::Server, managers::delete).with(MANAGER),
    reads("auth/managers/check", Scope::Server, managers::check).with(MANAGER),
    reads("auth/managers/role", Scope::Server, managers::role).with(MANAGER),
    changes(Verb::Get, "whiteiplist", Scope::Server, white_list::get).needs(Needs::Administrator),
    changes(Verb::Post, "whiteiplist", Scope::Server, white_list::change)
        .needs(Needs::Administrator),
    changes(Verb::Put, "whiteiplist", Scope::Server, white_list::switch)
        .needs(Needs::Administrator)
        .with(&[Parameter::text("status")]),
    unconfigured(
        Verb::Get,
        "graphs/{graph}/raft/{operation}",
        refuse_raft,
        Scope::Graph,
    ),
    unconfigured(
        Verb::Post,
        "graphs/{graph}/raft/{operation}",
        refuse_raft,
        Scope::Graph,
    ),
];

/// The query parameters that select records of a list, and the point of both times.
const SELECTION: &[Parameter] = &[
    Parameter::new("limit", "long", "100"),
    Parameter::text("user"),
    Parameter::text("group"),
    Parameter::text("target"),
    Parameter::text("as_of"),
    Parameter::text("as_of_tx"),
];

/// The query parameters that name a manager.
const MANAGER: &[Parameter] = &[Parameter::text("user"), Parameter::text("type")];

/// The point of both times at which a record is read.
const POINT: &[Parameter] = &[Parameter::text("as_of"), Parameter::text("as_of_tx")];

/// The action of a change of a project.
const ACTION: &[Parameter] = &[Parameter::text("action")];

const fn reads(pattern: &'static str, scope: Scope, handler: Answered) -> Route {
    of_auth(Route::get(pattern, Handler::Pooled(handler)).reads(scope))
}

const fn changes(verb: Verb, pattern: &'static str, scope: Scope, handler: Answered) -> Route {
    of_auth(Route::new(verb, pattern, Handler::Pooled(handler)).administers(scope))
}

const fn logs_in(pattern: &'static str, scope: Scope) -> Route {
    let handler = Handler::Async(|context| Box::pin(login::login(context)));
    of_auth(Route::post(pattern, handler).administers(scope)).needs(Needs::Nothing)
}

const fn begins_session() -> Route {
    let handler = Handler::Async(|context| Box::pin(session::begin(context)));
    of_auth(Route::post("ui/session", handler).administers(Scope::Server)).needs(Needs::Nothing)
}

const fn of_auth(route: Route) -> Route {
    route
        .needs(Needs::User)
        .keeps_content()
        .of_users()
        .of("auth", "AuthAPI")
        .any_query()
}

const fn unconfigured(verb: Verb, pattern: &'static str, refuse: Answered, scope: Scope) -> Route {
    Route::new(verb, pattern, Handler::Inline(refuse))
        .administers(scope)
        .keeps_content()
        .of("auth", "AuthAPI")
        .any_query()
        .class(Class::Control)
}

/// A request about the directory.
struct Call<'a> {
    context: &'a RequestContext,
    auth: &'a Arc<Auth>,
    user: &'a Arc<Principal>,
}

impl<'a> Call<'a> {
    /// # Errors
    /// As [`fn@auth`]; and when the request has no user.
    fn of(context: &'a RequestContext) -> Result<Self, ApiError> {
        let auth = auth(context)?;
        let user = context
            .identity()
            .user()
            .ok_or_else(|| ApiError::not_authorized("Authentication credentials are required"))?;
        Ok(Self {
            context,
            auth,
            user,
        })
    }

    /// The kind of record that the path names.
    fn kind(&self) -> Result<RecordKind, ApiError> {
        let plural = self.context.path_parameter("kind");
        RecordKind::of_plural(plural).ok_or_else(ApiError::unknown_path)
    }

    fn id(&self) -> varve_auth::Id {
        varve_auth::Id::new(self.context.path_parameter("id"))
    }

    /// The record as JSON, in the form of HugeGraph 1.7 if the path has no graph.
    fn shown(&self, directory: &Directory, kind: RecordKind, id: &varve_auth::Id) -> Option<Json> {
        let shown = shown::one(directory, kind, id)?;
        match self.context.graph_in_path() {
            Some(_) => Some(shown),
            None => Some(shown::newer(directory, (kind, id), shown)),
        }
    }

    /// The directory at the point of both times that the request names.
    fn directory(&self) -> Result<Arc<Directory>, ApiError> {
        Ok(self
            .auth
            .directory_at(graph_scope(self.context.query()?)?)?)
    }

    fn author(&self) -> Author<'a> {
        Author {
            name: &self.user.name,
            now: jiff::Timestamp::now().as_millisecond(),
        }
    }

    /// Returns 403 if the client lacks the permission on this kind of record. `operated` names the
    /// record in the message, as in `user(ann)`.
    fn check(
        &self,
        permission: Permission,
        kind: RecordKind,
        operated: &str,
    ) -> Result<(), ApiError> {
        match self.may(permission, kind) {
            true => Ok(()),
            false => Err(ApiError::forbidden(self.denial(permission, kind, operated))),
        }
    }

    /// Refuses a change that gives or takes rights that the client does not have.
    fn check_gift(
        &self,
        (permission, kind, operated): (Permission, RecordKind, &str),
        gift: &Rights,
    ) -> Result<(), DirectoryError> {
        match self.user.rights.contain(gift) {
            true => Ok(()),
            false => Err(DirectoryError::Denied(format!(
                "{}: it is about rights that the user does not have",
                self.denial(permission, kind, operated)
            ))),
        }
    }

    /// Whether the client has the permission on this kind of record. Only an administrator has any
    /// on projects.
    fn may(&self, permission: Permission, kind: RecordKind) -> bool {
        let rights = &self.user.rights;
        let has = || rights.reach(SERVER, permission, resource_type(kind)) == Reach::All;
        rights.is_administrator() || (kind != RecordKind::Project && has())
    }

    fn denial(&self, permission: Permission, kind: RecordKind, operated: &str) -> String {
        let graph = self.context.graph_in_path().unwrap_or("*");
        let doing = permission.name().to_ascii_lowercase();
        let resource = resource_type(kind).name();
        format!(
            "Permission denied: {doing} Resource{{graph={graph},type={resource},operated={operated}}}"
        )
    }
}

const fn resource_type(kind: RecordKind) -> ResourceType {
    match kind {
        RecordKind::User | RecordKind::Group => ResourceType::UserGroup,
        RecordKind::Target => ResourceType::Target,
        RecordKind::Belong | RecordKind::Access => ResourceType::Grant,
        RecordKind::Project => ResourceType::Project,
    }
}

/// Returns the users of the server.
///
/// # Errors
/// When authentication is off: 404 if the graph in the path does not exist, otherwise HugeGraph's
/// error.
fn auth(context: &RequestContext) -> Result<&Arc<Auth>, ApiError> {
    if let Some(auth) = context.state().auth() {
        // Not every client may know whether the graph exists, and it does not matter here.
        return Ok(auth);
    }
    if context.graph_in_path().is_some() {
        context.graph()?;
    }
    Err(not_configured())
}

/// If authentication is off, returns 404 where HugeGraph has no route: for unknown kinds of records
/// and, without a graph in the path, for all but logins.
fn known_kind(context: &RequestContext) -> Result<(), ApiError> {
    let kind = context.path_parameter("kind");
    let is_of_graph = context.graph_in_path().is_some();
    let is_of_space = context.path_form() == PathForm::GraphSpace;
    let is_known = ["login", "verify", "logout"].contains(&kind)
        || ((is_of_graph || is_of_space) && RecordKind::of_plural(kind).is_some());
    if is_known || context.state().auth().is_some() {
        return Ok(());
    }
    if is_of_graph {
        context.graph()?;
    }
    Err(ApiError::unknown_path())
}

fn get_all(context: &RequestContext) -> HandlerResult {
    known_kind(context)?;
    if context.path_parameter("kind") == "verify" {
        return login::verify(context);
    }
    let call = Call::of(context)?;
    records::list(&call, call.kind()?)
}

fn post(context: &RequestContext) -> HandlerResult {
    known_kind(context)?;
    let call = Call::of(context)?;
    let kind = call.kind()?;
    let fields = Fields::parse(context, kind)?;
    match kind {
        RecordKind::User => users::create(&call, &fields),
        _ => records::create(&call, kind, &fields),
    }
}

fn delete_all(context: &RequestContext) -> HandlerResult {
    known_kind(context)?;
    match context.path_parameter("kind") {
        "logout" => login::logout(context),
        _ => {
            auth(context)?;
            Err(ApiError::wrong_verb())
        }
    }
}

fn get(context: &RequestContext) -> HandlerResult {
    known_kind(context)?;
    let call = Call::of(context)?;
    records::get(&call, call.kind()?)
}

fn put(context: &RequestContext) -> HandlerResult {
    known_kind(context)?;
    let call = Call::of(context)?;
    let kind = call.kind()?;
    let fields = Fields::parse(context, kind)?;
    match kind {
        RecordKind::User => users::change(&call, &fields),
        _ => records::change(&call, kind, &fields),
    }
}

fn delete(context: &RequestContext) -> HandlerResult {
    known_kind(context)?;
    let call = Call::of(context)?;
    records::remove(&call, call.kind()?)
}

fn role(context: &RequestContext) -> HandlerResult {
    known_kind(context)?;
    let call = Call::of(context)?;
    if call.kind()? != RecordKind::User {
        return Err(ApiError::unknown_path());
    }
    users::role(&call)
}

/// The answer to a change: the record as it is now.
fn changed(
    call: &Call<'_>,
    status: StatusCode,
    kind: RecordKind,
    id: &varve_auth::Id,
) -> HandlerResult {
    let shown = call.shown(&call.auth.directory(), kind, id);
    let shown = shown.ok_or_else(|| ApiError::internal("The record was removed meanwhile"))?;
    Ok(Response::of(status, &shown))
}

fn not_configured() -> ApiError {
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "java.lang.IllegalStateException",
        "Unconfigured authenticator, please config auth.authenticator option in rest-server.properties",
    )
    .by_design()
}

fn refuse_raft(context: &RequestContext) -> HandlerResult {
    context.graph()?;
    let operation = context.path_parameter("operation");
    Err(ApiError::huge(format!(
        "Allowed {operation} operation only when working on raft mode"
    )))
}

/// Whether this is the name of the administrator.
fn is_admin(name: &str) -> bool {
    name == ADMIN
}
