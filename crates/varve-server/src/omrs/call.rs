//! A call: its request, and the rendering of its answer or failure.

use std::sync::Arc;

use http::StatusCode;
use varve_omrs::error::Message;
use varve_omrs::json::{Decode, decode, encode, encode_within};
use varve_omrs::repository::Repository;
use varve_omrs::requests::{
    EntityFindRequest, EntityNeighborhoodFindRequest, EntityPropertyFindRequest, FindRequest,
    InstanceFindRequest, PropertyMatchFindRequest, RelatedEntitiesFindRequest,
    Response as OmrsResponse, TypeLimitedFindRequest,
};
use varve_omrs::{Exception, OmrsError};

use super::Metadata;
use crate::errors::{ApiError, without_folders};
use crate::health::Trouble;
use crate::request::RequestContext;
use crate::respond::{Body, ContentType, HandlerResult, Response};
use crate::route::Action;
use crate::router::PathForm;
use crate::state::AppState;

/// The name of the repository in messages when there is none.
const NO_REPOSITORY: &str = "none";

/// A line of a table of calls:
/// `call!("method", verb "path below the user", Kind, Response, |call| …)`.
///
/// - `Read` runs in place, all other kinds on the pool.
/// - `Search` is a read that may take long. A read of the past is one, since it may read many
///   states.
/// - `Past` is a `Search` whose body must have a time.
/// - `Write` changes instances.
/// - `Types` changes types and has the longer time limit.
///
/// After `anonymous`, the path has no user.
macro_rules! call {
    (anonymous $method:literal, $verb:ident $path:literal, $kind:ident, $response:ident, $work:expr) => {
        $crate::omrs::call::call!(
            @at concat!("servers/{serverName}/open-metadata/repository-services/", $path),
            false, $method, $verb, $kind, $response, $work
        )
    };
    ($method:literal, $verb:ident $path:literal, $kind:ident, $response:ident, $work:expr) => {
        $crate::omrs::call::call!(
            @at concat!("servers/{serverName}/open-metadata/repository-services/users/{userId}/", $path),
            true, $method, $verb, $kind, $response, $work
        )
    };
    (@at $pattern:expr, $names_user:literal, $method:literal, $verb:ident, $kind:ident, $response:ident, $work:expr) => {{
        const FORM: $crate::omrs::call::Form = $crate::omrs::call::Form {
            method: $method,
            names_user: $names_user,
            needs_time: $crate::omrs::call::call!(@needs_time $kind),
        };
        let route = $crate::route::Route::$verb(
            $pattern,
            $crate::omrs::call::call!(@handler $kind, |context| {
                $crate::omrs::call::answer::<varve_omrs::requests::$response>(context, &FORM, $work)
            }),
        );
        $crate::omrs::call::call!(@access $kind, route)
            .of("metadata", $method)
            .any_query()
            .refusing($crate::route::Refusal {
                method: $method,
                encode: $crate::omrs::call::refuse::<varve_omrs::requests::$response>,
            })
    }};
    (@handler Read, $handler:expr) => { $crate::route::Handler::Inline($handler) };
    (@handler $pooled:ident, $handler:expr) => { $crate::route::Handler::Pooled($handler) };
    (@access Write, $route:expr) => { $route.writes($crate::route::Scope::Metadata).needs($crate::rights::REPOSITORY_WRITES) };
    (@access Types, $route:expr) => { $route.changes_schema($crate::route::Scope::Metadata).needs($crate::rights::REPOSITORY_CHANGES_TYPES).lengthy() };
    (@access $read:ident, $route:expr) => { $route.reads($crate::route::Scope::Metadata).needs($crate::rights::REPOSITORY_READS) };
    (@needs_time Past) => { true };
    (@needs_time $kind:ident) => { false };
}

pub(super) use call;

/// The constant part of a line of a table.
pub(super) struct Form {
    /// The contract's name of the method.
    pub(super) method: &'static str,
    /// Whether the path has `{userId}`.
    pub(super) names_user: bool,
    /// Whether the body must have a time.
    pub(super) needs_time: bool,
}

/// A call with its repository.
pub(super) struct Call<'a> {
    context: &'a RequestContext,
    form: &'static Form,
    metadata: &'a Metadata,
    repository: Arc<Repository>,
}

/// The reason why a call did not get its repository.
enum Refused {
    /// The client gets this error.
    Answered(OmrsError),
    /// Another server leads the repository's graph, or another call is opening the repository. This
    /// call has changed nothing, and the request runs again where the repository is open.
    TurnedAway(ApiError),
}

impl From<OmrsError> for Refused {
    fn from(error: OmrsError) -> Self {
        Self::Answered(error)
    }
}

/// Refuses an authenticated client that calls in the name of another user, unless `auth.act_for`
/// has the client. Without authentication, or without a user in the path, nothing is refused.
fn check_user(context: &RequestContext, form: &Form) -> Result<(), OmrsError> {
    let Some(client) = context.identity().user().filter(|_| form.names_user) else {
        return Ok(());
    };
    let user = context.path_parameter("userId");
    let may_act_for = &context.state().config().auth.act_for;
    if user == client.name || may_act_for.contains(&client.name) {
        return Ok(());
    }
    let reason = format!(
        "The user {} may not call in the name of the user {user} (auth.act_for)",
        client.name
    );
    Err(OmrsError::new(Message::Forbidden, &[&reason]))
}

impl<'a> Call<'a> {
    fn of(context: &'a RequestContext, form: &'static Form) -> Result<Self, Refused> {
        if context.path_form() == PathForm::Enterprise {
            return Err(OmrsError::new(Message::NoEnterpriseRepository, &[]).into());
        }
        let Some(metadata) = context.state().find_feature::<Metadata>() else {
            return Err(OmrsError::new(Message::NoLocalRepository, &[]).into());
        };
        let server = context.path_parameter("serverName");
        if !metadata.is_called(server) {
            let words = OmrsError::of_parameter(Message::UnknownServer, "serverName", &[server]);
            return Err(words.into());
        }
        if form.names_user && context.path_parameter("userId").trim().is_empty() {
            return Err(OmrsError::new(Message::NullUser, &[]).into());
        }
        check_user(context, form)?;
        let graphs = context.state().graphs();
        let repository = metadata.repository.get(graphs, &metadata.graph);
        let repository = repository.map_err(|error| match error.status() {
            StatusCode::MISDIRECTED_REQUEST => Refused::TurnedAway(error),
            _ => Refused::Answered(exception_of(&error)),
        })?;
        Ok(Self {
            context,
            form,
            metadata,
            repository,
        })
    }

    /// The repository.
    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The user in the path.
    pub(super) fn user(&self) -> &'a str {
        self.context.path_parameter("userId")
    }

    /// A value of the path.
    pub(super) fn path(&self, name: &str) -> &'a str {
        self.context.path_parameter(name)
    }

    /// The GUID in the path.
    pub(super) fn guid(&self) -> &'a str {
        self.path("guid")
    }

    /// A parameter of the query, if present; an empty one counts as present.
    pub(super) fn query(&self, name: &str) -> Result<Option<&'a str>, OmrsError> {
        match self.context.query() {
            Ok(query) => Ok(query.get(name)),
            Err(error) => Err(exception_of(&error)),
        }
    }

    /// A text of the query; empty if it is absent, which the repository refuses with its own
    /// message.
    pub(super) fn text(&self, name: &str) -> Result<&'a str, OmrsError> {
        Ok(self.query(name)?.unwrap_or_default())
    }

    /// A whole number of the query, which must be present and not empty.
    pub(super) fn integer(&self, name: &str) -> Result<i32, OmrsError> {
        let Some(text) = self.query(name)?.filter(|text| !text.is_empty()) else {
            return Err(missing(name));
        };
        text.trim()
            .parse()
            .map_err(|_| OmrsError::of_parameter(Message::BadNumber, name, &[name, text]))
    }

    /// The body; absent if there is none or it is `null`.
    pub(super) fn optional_body<T: Decode>(&self) -> Result<Option<T>, OmrsError> {
        let body = self.context.body().trim_ascii();
        if body.is_empty() || body == b"null" {
            return Ok(None);
        }
        Ok(Some(decode(body, self.metadata.limits)?))
    }

    /// The body of a request; a missing body is an empty request.
    pub(super) fn body<T: Decode + Default>(&self) -> Result<T, OmrsError> {
        Ok(self.optional_body()?.unwrap_or_default())
    }

    /// A body that must be present; `name` names it in the error.
    pub(super) fn needed_body<T: Decode>(&self, name: &str) -> Result<T, OmrsError> {
        self.optional_body()?.ok_or_else(|| missing(name))
    }

    /// The body of a call that takes a bare instance; `message` is the error if there is none.
    pub(super) fn instance<T: Decode>(&self, message: Message) -> Result<T, OmrsError> {
        let missing = || OmrsError::of_parameter(message, "instance", &["the body"]);
        self.optional_body()?.ok_or_else(missing)
    }

    /// The body of a search. An error if the call needs a time and the body has none.
    pub(super) fn search<T: Decode + Default + Search>(&self) -> Result<T, OmrsError> {
        let request: T = self.body()?;
        if self.form.needs_time {
            request.find().check_historical()?;
        }
        Ok(request)
    }
}

fn missing(parameter: &str) -> OmrsError {
    OmrsError::of_parameter(Message::MissingParameter, parameter, &[parameter])
}

/// A body of a search, with the common members of all searches.
pub(super) trait Search {
    /// Status and time.
    fn find(&self) -> &FindRequest;
}

macro_rules! search {
    ($($request:ident: $($part:ident).*;)*) => {$(
        impl Search for $request {
            fn find(&self) -> &FindRequest {
                &self$(.$part)*
            }
        }
    )*};
}

search! {
    FindRequest: ;
    EntityNeighborhoodFindRequest: find;
    RelatedEntitiesFindRequest: paged.find;
    TypeLimitedFindRequest: paged.find;
    PropertyMatchFindRequest: of_type.paged.find;
    EntityPropertyFindRequest: matching.of_type.paged.find;
    InstanceFindRequest: of_subtypes.of_type.paged.find;
    EntityFindRequest: instances.of_subtypes.of_type.paged.find;
}

/// Answers a call with the result of `work`, or with its failure in the same response class. Both
/// have the HTTP status 200. An error only if the repository is not open here
/// ([`Refused::TurnedAway`]).
pub(super) fn answer<R: OmrsResponse>(
    context: &RequestContext,
    form: &'static Form,
    work: impl FnOnce(&Call<'_>) -> Result<R, OmrsError>,
) -> HandlerResult {
    let response = match Call::of(context, form) {
        Ok(call) => work(&call),
        Err(Refused::Answered(error)) => Err(error),
        Err(Refused::TurnedAway(error)) => return Err(error),
    };
    let failed = |error: &OmrsError| {
        if let Some(trouble) = trouble(error) {
            let state = context.state();
            state.note_trouble(trouble, context.uri(), &error.to_string());
        }
        encode(&R::failed(
            error,
            form.method,
            repository_name(context.state()),
        ))
    };
    let body: Body = match response {
        Err(error) => failed(&error).into(),
        Ok(response) => {
            let most = answer_bytes_max(context);
            match encode_within(&response, most) {
                Some(pieces) => Vec::from(pieces).into_iter().collect(),
                None => {
                    let words = most.to_string();
                    failed(&OmrsError::new(Message::AnswerTooLong, &[&words])).into()
                }
            }
        }
    };
    Ok(Response::ok(body).content_type(ContentType::JsonBare))
}

/// The kind of server error of a failure; `None` for other failures, such as invalid requests.
fn trouble(error: &OmrsError) -> Option<Trouble> {
    match error.message {
        Message::StoreUnwritable => Some(Trouble::Unwritable),
        Message::OutcomeUnknown => Some(Trouble::OutcomeUnknown),
        Message::StoreBusy | Message::Unavailable => Some(Trouble::Busy),
        // Messages with code 500 are also used for invalid requests.
        _ if error.exception == Exception::RepositoryError && error.related_http_code() == 500 => {
            Some(Trouble::Failed)
        }
        _ => None,
    }
}

/// The length limit of an answer, in bytes. The answer of a write has no limit, since it contains
/// only what the client sent.
fn answer_bytes_max(context: &RequestContext) -> usize {
    match (
        context.state().find_feature::<Metadata>(),
        context.route().access.action,
    ) {
        (Some(metadata), Action::Read) => metadata.repository.answer_bytes_max(),
        _ => usize::MAX,
    }
}

/// Renders a failure that arose outside of the repository, such as an exceeded time limit.
pub(super) fn refuse<R: OmrsResponse>(
    state: &AppState,
    method: &'static str,
    error: &ApiError,
) -> Vec<u8> {
    encode(&R::failed(
        &exception_of(error),
        method,
        repository_name(state),
    ))
}

fn repository_name(state: &AppState) -> &str {
    let metadata = state.find_feature::<Metadata>();
    metadata.map_or(NO_REPOSITORY, |metadata| metadata.repository.name())
}

fn exception_of(error: &ApiError) -> OmrsError {
    let message = match error.status().is_server_error() {
        true => without_folders(error.message()),
        false => error.message().into(),
    };
    let words = [&*message];
    match error.status() {
        StatusCode::FORBIDDEN => OmrsError::new(Message::Forbidden, &words),
        _ if error.is_outcome_unknown() => OmrsError::new(Message::OutcomeUnknown, &words),
        StatusCode::INSUFFICIENT_STORAGE => OmrsError::new(Message::StoreUnwritable, &words),
        StatusCode::SERVICE_UNAVAILABLE => OmrsError::new(Message::Unavailable, &words),
        status if status.is_client_error() => {
            OmrsError::of_parameter(Message::BadRequest, "request", &words)
        }
        _ => OmrsError::new(Message::ServerFailure, &words),
    }
}
