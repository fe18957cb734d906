//! The changes of a directory. A refused change gets HugeGraph's message.

mod projects;

use crate::directory::{ADMIN, Change, Directory, Entry, SYSTEM};
use crate::record::{Access, Belong, Credential, Group, Id, Record, RecordKind, Target, User};
use crate::resource::Resource;

/// A change that is refused. Nothing has happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// A value of the request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The change conflicts with an existing record.
    #[error("{0}")]
    Conflict(String),
    /// A record that the change needs does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The client may not make this change.
    #[error("{0}")]
    Denied(String),
}

fn invalid<T>(message: impl Into<String>) -> Result<T, DirectoryError> {
    Err(DirectoryError::Invalid(message.into()))
}

/// Who changes something, and when, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Author<'a> {
    /// The name of the user.
    pub name: &'a str,
    /// The time.
    pub now: i64,
}

impl Author<'_> {
    fn record<T>(self, id: Id, body: T) -> Record<T> {
        Record {
            id,
            creator: self.name.to_owned(),
            created: self.now,
            updated: self.now,
            body,
        }
    }

    fn changed<T: Clone>(self, record: &Record<T>, change: impl FnOnce(&mut T)) -> Record<T> {
        let mut record = record.clone();
        change(&mut record.body);
        record.updated = self.now;
        record
    }
}

/// The outcome of a change: the id of the changed record, and the changed entries.
pub type Made = Result<(Id, Vec<Change>), DirectoryError>;

/// The hash of a new password, and the version of its credential.
#[derive(Clone)]
pub struct NewPassword {
    /// The hash.
    pub hash: String,
    /// A random number.
    pub version: u64,
}

impl std::fmt::Debug for NewPassword {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("NewPassword")
    }
}

impl NewPassword {
    fn of(self, user: &Id) -> Change {
        Change::Put(Entry::Credential(Credential {
            user: user.clone(),
            hash: self.hash,
            version: self.version,
        }))
    }
}

/// The changes of a user; `None` leaves a value unchanged.
#[derive(Debug, Default)]
pub struct UserPatch {
    /// A telephone number.
    pub phone: Option<String>,
    /// A mail address.
    pub email: Option<String>,
    /// The address of a picture.
    pub avatar: Option<String>,
    /// Free text.
    pub description: Option<String>,
    /// A password.
    pub password: Option<NewPassword>,
}

/// Longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// The id of a new record with this name.
fn named(kind: RecordKind, name: &str) -> Result<Id, DirectoryError> {
    if name.is_empty() {
        return invalid("The value of primary key can't be empty");
    }
    if let Err(rule) = check_name(name) {
        return invalid(format!("The name of {} {rule}", kind.name()));
    }
    Ok(kind.id_of(name))
}

/// Checks a new name: people read it in logs and lists.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.len() > NAME_BYTES_MAX {
        return Err(format!("must have at most {NAME_BYTES_MAX} bytes"));
    }
    match name.chars().any(char::is_control) {
        true => Err("must not have control characters".to_owned()),
        false => Ok(()),
    }
}

impl Directory {
    fn refuse_known(&self, kind: RecordKind, id: &Id) -> Result<(), DirectoryError> {
        let is_known = match kind {
            RecordKind::User => self.users.contains_key(id),
            RecordKind::Group => self.groups.contains_key(id),
            RecordKind::Target => self.targets.contains_key(id),
            RecordKind::Belong => self.belongs.contains_key(id),
            RecordKind::Access => self.accesses.contains_key(id),
            RecordKind::Project => self.projects.contains_key(id),
        };
        match is_known {
            true => invalid(format!(
                "Can't save {} '{id}' that already exists",
                kind.name()
            )),
            false => Ok(()),
        }
    }

    /// Makes a user.
    ///
    /// # Errors
    /// When the name is taken, or is the administrator's.
    pub fn add_user(&self, user: User, password: NewPassword, author: Author<'_>) -> Made {
        if user.name == ADMIN {
            return invalid(format!("Invalid user name '{ADMIN}'"));
        }
        let id = named(RecordKind::User, &user.name)?;
        self.refuse_known(RecordKind::User, &id)?;
        let record = author.record(id.clone(), user);
        let password = password.of(&id);
        Ok((id, vec![Change::Put(Entry::User(record)), password]))
    }

    /// Makes the administrator, or gives it another password.
    #[must_use]
    pub fn set_administrator(&self, password: NewPassword, now: i64) -> Vec<Change> {
        let id = RecordKind::User.id_of(ADMIN);
        let mut changes = vec![password.of(&id)];
        if !self.users.contains_key(&id) {
            let user = User {
                name: ADMIN.to_owned(),
                ..User::default()
            };
            let author = Author { name: SYSTEM, now };
            changes.push(Change::Put(Entry::User(author.record(id, user))));
        }
        changes
    }

    /// Changes a user.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn change_user(&self, id: &Id, patch: UserPatch, author: Author<'_>) -> Made {
        let Some(user) = self.users.get(id) else {
            return invalid(format!("Invalid user id: {id}"));
        };
        let record = author.changed(user, |user| {
            user.phone = patch.phone.or(user.phone.take());
            user.email = patch.email.or(user.email.take());
            user.avatar = patch.avatar.or(user.avatar.take());
            user.description = patch.description.or(user.description.take());
        });
        let mut changes = vec![Change::Put(Entry::User(record))];
        changes.extend(patch.password.map(|password| password.of(id)));
        Ok((id.clone(), changes))
    }

    /// Removes a user with its memberships.
    ///
    /// # Errors
    /// When the id is unknown, or is the administrator's.
    pub fn remove_user(&self, id: &Id) -> Made {
        let Some(user) = self.users.get(id) else {
            return invalid(format!("Invalid user id: {id}"));
        };
        if user.body.name == ADMIN {
            return invalid(format!("Can't delete user '{ADMIN}'"));
        }
        let belongs = self.belongs.values().filter(|one| one.body.user == *id);
        let mut changes: Vec<Change> = belongs
            .map(|one| Change::Remove(Entry::Belong((**one).clone())))
            .collect();
        let credential = self.credential(id);
        changes.extend(
            credential.map(|credential| Change::Remove(Entry::Credential((**credential).clone()))),
        );
        changes.extend(self.without_api_tokens(id));
        changes.push(Change::Remove(Entry::User((**user).clone())));
        Ok((id.clone(), changes))
    }

    /// Makes a group.
    ///
    /// # Errors
    /// When the name is taken or empty.
    pub fn add_group(&self, group: Group, author: Author<'_>) -> Made {
        let id = named(RecordKind::Group, &group.name)?;
        self.refuse_known(RecordKind::Group, &id)?;
        let record = author.record(id.clone(), group);
        Ok((id, vec![Change::Put(Entry::Group(record))]))
    }

    /// Changes the description of a group.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn change_group(&self, id: &Id, description: String, author: Author<'_>) -> Made {
        let Some(group) = self.groups.get(id) else {
            return invalid(format!("Invalid group id: {id}"));
        };
        let record = author.changed(group, |group| group.description = Some(description));
        Ok((id.clone(), vec![Change::Put(Entry::Group(record))]))
    }

    /// Removes a group with its memberships and rights.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn remove_group(&self, id: &Id) -> Made {
        let Some(group) = self.groups.get(id) else {
            return invalid(format!("Invalid group id: {id}"));
        };
        let belongs = self.belongs.values().filter(|one| one.body.group == *id);
        let accesses = self.accesses.values().filter(|one| one.body.group == *id);
        let mut changes: Vec<Change> = belongs
            .map(|one| Change::Remove(Entry::Belong((**one).clone())))
            .collect();
        changes.extend(accesses.map(|one| Change::Remove(Entry::Access((**one).clone()))));
        changes.push(Change::Remove(Entry::Group((**group).clone())));
        Ok((id.clone(), changes))
    }

    /// Makes a target.
    ///
    /// # Errors
    /// When the name is taken or empty.
    pub fn add_target(&self, target: Target, author: Author<'_>) -> Made {
        let id = named(RecordKind::Target, &target.name)?;
        self.refuse_known(RecordKind::Target, &id)?;
        let record = author.record(id.clone(), target);
        Ok((id, vec![Change::Put(Entry::Target(record))]))
    }

    /// Changes the URL or the resources of a target.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn change_target(
        &self,
        id: &Id,
        url: Option<String>,
        resources: Option<Vec<Resource>>,
        author: Author<'_>,
    ) -> Made {
        let Some(target) = self.targets.get(id) else {
            return invalid(format!("Invalid target id: {id}"));
        };
        let record = author.changed(target, |target| {
            if let Some(url) = url {
                target.url = url;
            }
            target.resources = resources.or(target.resources.take());
        });
        Ok((id.clone(), vec![Change::Put(Entry::Target(record))]))
    }

    /// Removes a target with the rights on it.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn remove_target(&self, id: &Id) -> Made {
        let Some(target) = self.targets.get(id) else {
            return invalid(format!("Invalid target id: {id}"));
        };
        let accesses = self.accesses.values().filter(|one| one.body.target == *id);
        let mut changes: Vec<Change> = accesses
            .map(|one| Change::Remove(Entry::Access((**one).clone())))
            .collect();
        changes.push(Change::Remove(Entry::Target((**target).clone())));
        Ok((id.clone(), changes))
    }

    /// Takes a user into a group.
    ///
    /// # Errors
    /// When the user or the group does not exist, or the user is already in the group.
    pub fn add_belong(&self, belong: Belong, author: Author<'_>) -> Made {
        if !self.users.contains_key(&belong.user) {
            return invalid(format!("Not exists user '{}'", belong.user));
        }
        if !self.groups.contains_key(&belong.group) {
            return invalid(format!("Not exists group '{}'", belong.group));
        }
        let id = Id::of_belong(&belong.user, &belong.group);
        self.refuse_known(RecordKind::Belong, &id)?;
        let record = author.record(id.clone(), belong);
        Ok((id, vec![Change::Put(Entry::Belong(record))]))
    }

    /// Changes the description of a membership.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn change_belong(&self, id: &Id, description: String, author: Author<'_>) -> Made {
        let Some(belong) = self.belongs.get(id) else {
            return invalid(format!("Invalid belong id: {id}"));
        };
        let record = author.changed(belong, |belong| belong.description = Some(description));
        Ok((id.clone(), vec![Change::Put(Entry::Belong(record))]))
    }

    /// Ends a membership.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn remove_belong(&self, id: &Id) -> Made {
        match self.belongs.get(id) {
            Some(belong) => {
                let change = Change::Remove(Entry::Belong((**belong).clone()));
                Ok((id.clone(), vec![change]))
            }
            None => invalid(format!("Invalid belong id: {id}")),
        }
    }

    /// Gives a group a permission on a target.
    ///
    /// # Errors
    /// When the group or the target does not exist, or the group already has the permission.
    pub fn add_access(&self, access: Access, author: Author<'_>) -> Made {
        if !self.groups.contains_key(&access.group) {
            return invalid(format!("Not exists group '{}'", access.group));
        }
        if !self.targets.contains_key(&access.target) {
            let message = format!("Can't find target with id '{}'", access.target);
            return Err(DirectoryError::NotFound(message));
        }
        let id = Id::of_access(&access.group, access.permission, &access.target);
        self.refuse_known(RecordKind::Access, &id)?;
        let record = author.record(id.clone(), access);
        Ok((id, vec![Change::Put(Entry::Access(record))]))
    }

    /// Changes the description of a right.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn change_access(&self, id: &Id, description: String, author: Author<'_>) -> Made {
        let Some(access) = self.accesses.get(id) else {
            return invalid(format!("Invalid access id: {id}"));
        };
        let record = author.changed(access, |access| access.description = Some(description));
        Ok((id.clone(), vec![Change::Put(Entry::Access(record))]))
    }

    /// Removes a right.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn remove_access(&self, id: &Id) -> Made {
        match self.accesses.get(id) {
            Some(access) => {
                let change = Change::Remove(Entry::Access((**access).clone()));
                Ok((id.clone(), vec![change]))
            }
            None => invalid(format!("Invalid access id: {id}")),
        }
    }
}

#[cfg(test)]
mod tests;
