//! Users: their records, passwords and roles.

use http::StatusCode;
use varve_auth::{Permission, RecordKind, User, UserPatch};

use super::fields::Fields;
use super::{Call, changed, is_admin, shown};
use crate::errors::ApiError;
use crate::respond::{HandlerResult, Response};

pub(super) fn create(call: &Call<'_>, fields: &Fields) -> HandlerResult {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let name = given(fields.text("user_name")?).ok_or_else(|| fields.is_null("name"))?;
    let password = given(fields.text("user_password")?);
    let password = password.ok_or_else(|| fields.is_null("password"))?;
    call.check(
        Permission::Write,
        RecordKind::User,
        &format!("user({name})"),
    )?;
    if is_admin(&name) {
        return Err(ApiError::illegal_argument(format!(
            "Invalid user name '{name}'"
        )));
    }
    let user = User {
        name,
        phone: fields.text("user_phone")?,
        email: fields.text("user_email")?,
        avatar: fields.text("user_avatar")?,
        description: fields.text("user_description")?,
    };
    let password = call.auth.new_password(&password)?;
    let author = call.author();
    let id = call
        .auth
        .change(|directory| directory.add_user(user, password, author))?;
    tracing::info!(user = %id, by = author.name, "user made");
    changed(call, StatusCode::CREATED, RecordKind::User, &id)
}

pub(super) fn change(call: &Call<'_>, fields: &Fields) -> HandlerResult {
    let (id, directory) = (call.id(), call.auth.directory());
    let user = directory.user(&id);
    let name = user.map_or(id.as_str(), |user| &user.body.name);
    let operated = format!("user({name})");
    if call.user.id != id {
        call.check(Permission::Write, RecordKind::User, &operated)?;
    }
    let user = user.ok_or_else(|| ApiError::illegal_argument(format!("Invalid user id: {id}")))?;
    fields.stays("user_name", "name", &user.body.name)?;
    let given = |field| Ok::<_, ApiError>(fields.text(field)?.filter(|text| !text.is_empty()));
    let (phone, email, avatar) = (
        given("user_phone")?,
        given("user_email")?,
        given("user_avatar")?,
    );
    let password = given("user_password")?;
    if phone.is_none() && email.is_none() && avatar.is_none() && password.is_none() {
        return Err(ApiError::illegal_argument(
            "Expect one of user password/phone/email/avatar]",
        ));
    }
    // Otherwise a client with a leaked token could set a password, and keep its access after the
    // token is revoked.
    if password.is_some() && call.user.api_token.is_some() {
        return Err(ApiError::forbidden(
            "An API token can't set a password: log in with the old one",
        ));
    }
    // Records have a stamp in place of the password. A client that sends it back does not change
    // the password.
    let stamp = directory
        .credential(&id)
        .map(|credential| credential.stamp());
    let password = password.filter(|password| stamp.as_ref() != Some(password));
    let password = password.map(|password| call.auth.new_password(&password));
    let patch = UserPatch {
        phone,
        email,
        avatar,
        description: fields.text("user_description")?,
        password: password.transpose()?,
    };
    let author = call.author();
    call.auth.change(|directory| {
        // A client that sets the password of a user gains the rights of that user.
        if let Some(other) = directory.user(&id).filter(|_| call.user.id != id) {
            let what = (Permission::Write, RecordKind::User, operated.as_str());
            call.check_gift(what, &directory.rights_of(other))?;
        }
        directory.change_user(&id, patch, author)
    })?;
    tracing::info!(user = %id, by = author.name, "user changed");
    changed(call, StatusCode::OK, RecordKind::User, &id)
}

/// Returns the rights of a user.
pub(super) fn role(call: &Call<'_>) -> HandlerResult {
    let (id, directory) = (call.id(), call.directory()?);
    let user = directory.user(&id);
    if call.user.id != id {
        let name = user.map_or(id.as_str(), |user| &user.body.name);
        call.check(Permission::Read, RecordKind::User, &format!("user({name})"))?;
    }
    let user =
        user.ok_or_else(|| ApiError::not_found(format!("Can't find user with id '{id}'")))?;
    let is_newer = call.context.graph_in_path().is_none();
    let shown = shown::roles(&directory.rights_of(user), is_newer);
    Ok(Response::ok(shown.finish()))
}
