//! Groups, targets, memberships, accesses and projects; and listing, reading and removing users.

use http::StatusCode;
use serde_json::{Value as Json, json};
use varve_auth::{
    Access, Belong, Directory, DirectoryError, Group, Id, Permission, Project, RecordKind, Rights,
    Target,
};

use super::fields::Fields;
use super::{Call, changed};
use crate::errors::ApiError;
use crate::respond::{HandlerResult, Response};

/// Records of a list, unless the request names a limit.
const LIMIT: i64 = 100;

pub(super) fn list(call: &Call<'_>, kind: RecordKind) -> HandlerResult {
    let query = call.context.query()?;
    let limit = match query.integer("limit", LIMIT)? {
        -1 => usize::MAX,
        limit => usize::try_from(limit)
            .map_err(|_| ApiError::illegal_argument(format!("Invalid limit {limit}")))?,
    };
    let directory = call.directory()?;
    let selected = |name: &str| query.get(name).filter(|id| !id.is_empty()).map(Id::new);
    let (user, group, target) = (selected("user"), selected("group"), selected("target"));
    let both = match kind {
        RecordKind::Belong => user.is_some() && group.is_some(),
        RecordKind::Access => group.is_some() && target.is_some(),
        _ => false,
    };
    if both {
        let first = if kind == RecordKind::Belong {
            "user"
        } else {
            "group"
        };
        let second = if kind == RecordKind::Belong {
            "group"
        } else {
            "target"
        };
        return Err(ApiError::illegal_argument(format!(
            "Can't pass both {first} and {second} at the same time"
        )));
    }
    let is = |wanted: &Option<Id>, id: &Id| wanted.as_ref().is_none_or(|wanted| wanted == id);
    let ids: Vec<&Id> = match kind {
        RecordKind::User => directory.users().map(|one| &one.id).collect(),
        RecordKind::Group => directory.groups().map(|one| &one.id).collect(),
        RecordKind::Target => directory.targets().map(|one| &one.id).collect(),
        RecordKind::Belong => directory
            .belongs()
            .filter(|one| is(&user, &one.body.user) && is(&group, &one.body.group))
            .map(|one| &one.id)
            .collect(),
        RecordKind::Access => directory
            .accesses()
            .filter(|one| is(&group, &one.body.group) && is(&target, &one.body.target))
            .map(|one| &one.id)
            .collect(),
        RecordKind::Project => directory.projects().map(|one| &one.id).collect(),
    };
    let sees_all = call.may(Permission::Read, kind);
    let visible = ids
        .into_iter()
        .filter(|id| sees_all || **id == call.user.id);
    let shown: Vec<Json> = visible
        .filter_map(|id| call.shown(&directory, kind, id))
        .take(limit)
        .collect();
    Ok(Response::of(
        StatusCode::OK,
        &json!({ kind.plural(): shown }),
    ))
}

pub(super) fn get(call: &Call<'_>, kind: RecordKind) -> HandlerResult {
    let (id, directory) = (call.id(), call.directory()?);
    if call.user.id != id {
        call.check(Permission::Read, kind, &operated(&directory, kind, &id))?;
    }
    match call.shown(&directory, kind, &id) {
        Some(shown) => Ok(Response::of(StatusCode::OK, &shown)),
        None if kind == RecordKind::Project => Err(ApiError::illegal_argument(format!(
            "Invalid project id: {id}"
        ))),
        None => Err(ApiError::not_found(format!(
            "Can't find {} with id '{id}'",
            kind.name()
        ))),
    }
}

/// The record's name in error messages.
fn operated(directory: &Directory, kind: RecordKind, id: &Id) -> String {
    let name = match kind {
        RecordKind::User => directory.user(id).map(|one| one.body.name.clone()),
        RecordKind::Group => directory.group(id).map(|one| one.body.name.clone()),
        RecordKind::Target => directory.target(id).map(|one| one.body.name.clone()),
        RecordKind::Project => directory.project(id).map(|one| one.body.name.clone()),
        RecordKind::Belong | RecordKind::Access => None,
    };
    format!(
        "{}({})",
        kind.name(),
        name.as_deref().unwrap_or(id.as_str())
    )
}

pub(super) fn create(call: &Call<'_>, kind: RecordKind, fields: &Fields) -> HandlerResult {
    let (auth, author) = (call.auth, call.author());
    let may = |operated: &str| call.check(Permission::Write, kind, operated);
    let id = match kind {
        RecordKind::User => return Err(ApiError::unknown_path()),
        RecordKind::Group => {
            let name = fields.required("group_name", "name")?;
            let description = fields.text("group_description")?;
            may(&format!("group({name})"))?;
            auth.change(|all| all.add_group(Group { name, description }, author))?
        }
        RecordKind::Target => {
            let target = Target {
                name: fields.required("target_name", "name")?,
                graph: fields.required("target_graph", "graph")?,
                url: fields.required("target_url", "url")?,
                resources: fields.resources()?,
            };
            may(&format!("target({})", target.name))?;
            auth.change(|all| all.add_target(target, author))?
        }
        RecordKind::Belong => {
            let belong = Belong {
                user: Id::new(&fields.required("user", "user")?),
                group: Id::new(&fields.required("group", "group")?),
                description: fields.text("belong_description")?,
            };
            let operated = format!("belong({}->{})", belong.user, belong.group);
            may(&operated)?;
            auth.change(|all| {
                let gift = all.rights_of_group(&belong.group);
                call.check_gift((Permission::Write, kind, &operated), &gift)?;
                all.add_belong(belong, author)
            })?
        }
        RecordKind::Access => {
            let access = Access {
                group: Id::new(&fields.required("group", "group")?),
                target: Id::new(&fields.required("target", "target")?),
                permission: permission(fields)?,
                description: fields.text("access_description")?,
            };
            let operated = format!("access({}->{})", access.group, access.target);
            may(&operated)?;
            auth.change(|all| {
                let gift = all.rights_of_access(&access);
                call.check_gift((Permission::Write, kind, &operated), &gift)?;
                all.add_access(access, author)
            })?
        }
        RecordKind::Project => {
            let name = project_name(fields)?;
            may(&format!("project({name})"))?;
            let description = fields.text("project_description")?;
            auth.change(|all| all.add_project(&name, description, author))?
        }
    };
    tracing::info!(record = %id, by = author.name, "record of the directory made");
    changed(call, StatusCode::CREATED, kind, &id)
}

/// Returns the name of a new project; 400 if the body names graphs, which a new project cannot
/// have.
fn project_name(fields: &Fields) -> Result<String, ApiError> {
    let name = fields.required("project_name", "name")?;
    if name.is_empty() {
        return Err(ApiError::illegal_argument(
            "The name of project can't be null or empty",
        ));
    }
    if let Some(graphs) = fields.texts("project_graphs")? {
        return Err(ApiError::illegal_argument(format!(
            "The graphs '[{}]' of project can't be added when creating the project '{name}'",
            graphs.join(", ")
        )));
    }
    Ok(name)
}

fn permission(fields: &Fields) -> Result<Permission, ApiError> {
    let name = fields.required("access_permission", "permission")?;
    Permission::from_name(&name).ok_or_else(|| {
        ApiError::malformed_json(format!(
            "Cannot deserialize value of type `org.apache.hugegraph.auth.HugePermission` from String \"{name}\": not \
             one of the values accepted for Enum class: [EXECUTE, READ, NONE, DELETE, ANY, WRITE]"
        ))
    })
}

pub(super) fn change(call: &Call<'_>, kind: RecordKind, fields: &Fields) -> HandlerResult {
    let (id, author, auth) = (call.id(), call.author(), call.auth);
    let directory = auth.directory();
    let operated = operated(&directory, kind, &id);
    call.check(Permission::Write, kind, &operated)?;
    let unknown = || ApiError::illegal_argument(format!("Invalid {} id: {id}", kind.name()));
    let description = |field| fields.required(field, "description");
    match kind {
        RecordKind::User => return Err(ApiError::unknown_path()),
        RecordKind::Group => {
            let group = directory.group(&id).ok_or_else(unknown)?;
            fields.stays("group_name", "name", &group.body.name)?;
            let description = description("group_description")?;
            auth.change(|all| all.change_group(&id, description, author))?;
        }
        RecordKind::Target => {
            let target = directory.target(&id).ok_or_else(unknown)?;
            fields.stays("target_name", "name", &target.body.name)?;
            fields.stays("target_graph", "graph", &target.body.graph)?;
            let (url, resources) = (fields.text("target_url")?, fields.resources()?);
            if url.is_none() && resources.is_none() {
                return Err(ApiError::illegal_argument(
                    "Expect one of target url/resources",
                ));
            }
            auth.change(|all| {
                let what = (Permission::Write, kind, operated.as_str());
                call.check_gift(what, &all.rights_through_target(&id, None))?;
                if let Some(resources) = &resources {
                    call.check_gift(what, &all.rights_through_target(&id, Some(resources)))?;
                }
                all.change_target(&id, url, resources, author)
            })?;
        }
        RecordKind::Belong => {
            let belong = directory.belong(&id).ok_or_else(unknown)?;
            fields.stays("user", "user", belong.body.user.as_str())?;
            fields.stays("group", "group", belong.body.group.as_str())?;
            let description = description("belong_description")?;
            auth.change(|all| all.change_belong(&id, description, author))?;
        }
        RecordKind::Access => {
            let access = directory.access(&id).ok_or_else(unknown)?;
            fields.stays("group", "group", access.body.group.as_str())?;
            fields.stays("target", "target", access.body.target.as_str())?;
            fields.stays(
                "access_permission",
                "permission",
                access.body.permission.name(),
            )?;
            let description = description("access_description")?;
            auth.change(|all| all.change_access(&id, description, author))?;
        }
        RecordKind::Project => {
            let project = directory.project(&id).ok_or_else(unknown)?;
            fields.stays("project_name", "name", &project.body.name)?;
            let change = ProjectChange::of(call, fields)?;
            auth.change(|all| {
                all.change_project(&id, author, |project| change.apply(&id, project))
            })?;
        }
    }
    tracing::info!(record = %id, by = author.name, "record of the directory changed");
    changed(call, StatusCode::OK, kind, &id)
}

/// A change of a project.
enum ProjectChange {
    Description(String),
    Add(Vec<String>),
    Remove(Vec<String>),
}

impl ProjectChange {
    fn of(call: &Call<'_>, fields: &Fields) -> Result<Self, ApiError> {
        let action = call.context.query()?.get("action").unwrap_or_default();
        let graphs = fields.texts("project_graphs")?;
        let description = fields.text("project_description")?;
        if graphs.is_none() && description.is_none() {
            return Err(ApiError::illegal_argument(
                "Must specify 'graphs' or 'description' field that need to be updated",
            ));
        }
        match (action, graphs, description) {
            ("add_graph", Some(graphs), _) => Ok(Self::Add(graphs)),
            ("remove_graph", Some(graphs), _) => Ok(Self::Remove(graphs)),
            ("add_graph" | "remove_graph", None, _) => Err(fields.is_null("graphs")),
            ("", Some(_), _) => Err(ApiError::illegal_argument(
                "The graphs of project can't be updated",
            )),
            ("", None, Some(description)) => Ok(Self::Description(description)),
            (other, ..) => Err(ApiError::illegal_argument(format!(
                "The action parameter can only be either add_graph or remove_graph or '', but got '{other}'"
            ))),
        }
    }

    fn apply(self, id: &Id, project: &mut Project) -> Result<(), DirectoryError> {
        match self {
            Self::Description(description) => project.description = Some(description),
            Self::Add(graphs) => {
                let known = graphs.iter().filter(|graph| project.graphs.contains(graph));
                let known: Vec<&str> = known.map(String::as_str).collect();
                if !known.is_empty() {
                    return Err(DirectoryError::Invalid(format!(
                        "There are graphs '[{}]' of project '{id}' that have been added in the graph collection",
                        known.join(", ")
                    )));
                }
                project.graphs.extend(graphs);
            }
            Self::Remove(graphs) => project.graphs.retain(|graph| !graphs.contains(graph)),
        }
        Ok(())
    }
}

pub(super) fn remove(call: &Call<'_>, kind: RecordKind) -> HandlerResult {
    let (id, auth) = (call.id(), call.auth);
    let operated = operated(&auth.directory(), kind, &id);
    call.check(Permission::Delete, kind, &operated)?;
    auth.change(|all| {
        call.check_gift(
            (Permission::Delete, kind, &operated),
            &given_by(all, kind, &id),
        )?;
        match kind {
            RecordKind::User => all.remove_user(&id),
            RecordKind::Group => all.remove_group(&id),
            RecordKind::Target => all.remove_target(&id),
            RecordKind::Belong => all.remove_belong(&id),
            RecordKind::Access => all.remove_access(&id),
            RecordKind::Project => all.remove_project(&id),
        }
    })?;
    tracing::info!(record = %id, by = call.user.name, "record of the directory removed");
    Ok(Response::no_content())
}

/// The rights that a record gives, and that its removal takes away.
fn given_by(directory: &Directory, kind: RecordKind, id: &Id) -> Rights {
    let found = match kind {
        RecordKind::User => directory.user(id).map(|user| directory.rights_of(user)),
        RecordKind::Group => Some(directory.rights_of_group(id)),
        RecordKind::Target => Some(directory.rights_through_target(id, None)),
        RecordKind::Belong => directory
            .belong(id)
            .map(|belong| directory.rights_of_group(&belong.body.group)),
        RecordKind::Access => directory
            .access(id)
            .map(|access| directory.rights_of_access(&access.body)),
        RecordKind::Project => None,
    };
    found.unwrap_or_default()
}
