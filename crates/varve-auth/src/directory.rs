//! The directory: all users, groups, targets and rights, in memory.
//!
//! A directory is a value. A change makes a new one, so readers keep the one that they began with.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::api_token::ApiToken;
use crate::record::{Access, Belong, Credential, Group, Id, Project, Record, Target, User};
use crate::rights::{Grant, Rights};
use crate::white_list::WhiteList;

/// The name of the administrator.
pub const ADMIN: &str = "admin";

/// The creator of the administrator's record.
pub const SYSTEM: &str = "system";

/// A token that was logged out before it expired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedToken {
    /// Its id.
    pub id: String,
    /// When it expires, in seconds since 1970.
    pub expires: i64,
}

/// The secret that signs tokens: random, and unique to this installation.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenSecret {
    /// The bytes, in base 64.
    pub secret: String,
}

impl std::fmt::Debug for TokenSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TokenSecret")
    }
}

/// An entry of the directory, as the system graph stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A user.
    User(Record<User>),
    /// A group.
    Group(Record<Group>),
    /// A target.
    Target(Record<Target>),
    /// A membership.
    Belong(Record<Belong>),
    /// A right.
    Access(Record<Access>),
    /// A project.
    Project(Record<Project>),
    /// A hashed password.
    Credential(Credential),
    /// An API token.
    ApiToken(ApiToken),
    /// A token that was logged out.
    EndedToken(EndedToken),
    /// The white list.
    WhiteList(WhiteList),
    /// The secret that signs tokens.
    TokenSecret(TokenSecret),
}

impl Entry {
    /// The key under which it is stored, unique among all entries.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::User(one) => one.id.to_string(),
            Self::Group(one) => one.id.to_string(),
            Self::Target(one) => one.id.to_string(),
            Self::Belong(one) => one.id.to_string(),
            Self::Access(one) => one.id.to_string(),
            Self::Project(one) => one.id.to_string(),
            Self::Credential(one) => credential_key(&one.user),
            Self::ApiToken(one) => format!("api-token:{}", one.id),
            Self::EndedToken(one) => format!("ended-token:{}", one.id),
            Self::WhiteList(_) => "white-list".to_owned(),
            Self::TokenSecret(_) => "token-secret".to_owned(),
        }
    }

    /// Whether it is a secret, which is stored without history.
    #[must_use]
    pub const fn is_secret(&self) -> bool {
        matches!(
            self,
            Self::Credential(_) | Self::ApiToken(_) | Self::TokenSecret(_)
        )
    }
}

fn credential_key(user: &Id) -> String {
    format!("credential:{user}")
}

/// A change of the directory.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes an entry; replaces one with the same key.
    Put(Entry),
    /// Removes an entry.
    Remove(Entry),
}

/// All records.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    pub(crate) users: BTreeMap<Id, Arc<Record<User>>>,
    pub(crate) groups: BTreeMap<Id, Arc<Record<Group>>>,
    pub(crate) targets: BTreeMap<Id, Arc<Record<Target>>>,
    pub(crate) belongs: BTreeMap<Id, Arc<Record<Belong>>>,
    pub(crate) accesses: BTreeMap<Id, Arc<Record<Access>>>,
    pub(crate) projects: BTreeMap<Id, Arc<Record<Project>>>,
    credentials: HashMap<Id, Arc<Credential>>,
    api_tokens: BTreeMap<String, Arc<ApiToken>>,
    ended: HashMap<String, i64>,
    white_list: WhiteList,
    token_secret: Option<TokenSecret>,
}

/// The entries of one kind.
fn each<'d, T: Clone + 'd>(
    all: impl Iterator<Item = &'d Arc<T>>,
    entry: fn(T) -> Entry,
) -> impl Iterator<Item = Entry> {
    all.map(move |one| entry((**one).clone()))
}

impl Directory {
    /// The directory of these entries.
    #[must_use]
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut directory = Self::default();
        for entry in entries {
            directory.put(entry);
        }
        directory
    }

    /// All entries; [`Directory::of`] rebuilds the directory from them.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        let records = each(self.users.values(), Entry::User)
            .chain(each(self.groups.values(), Entry::Group))
            .chain(each(self.targets.values(), Entry::Target))
            .chain(each(self.belongs.values(), Entry::Belong))
            .chain(each(self.accesses.values(), Entry::Access))
            .chain(each(self.projects.values(), Entry::Project));
        let ended = self.ended.iter().map(|(id, expires)| {
            Entry::EndedToken(EndedToken {
                id: id.clone(),
                expires: *expires,
            })
        });
        records
            .chain(each(self.credentials.values(), Entry::Credential))
            .chain(each(self.api_tokens.values(), Entry::ApiToken))
            .chain(ended)
            .chain([Entry::WhiteList(self.white_list.clone())])
            .chain(self.token_secret.clone().map(Entry::TokenSecret))
    }

    /// The directory after these changes.
    #[must_use]
    pub fn after(&self, changes: &[Change]) -> Self {
        let mut directory = self.clone();
        for change in changes {
            match change {
                Change::Put(entry) => directory.put(entry.clone()),
                Change::Remove(entry) => directory.remove(entry),
            }
        }
        directory
    }

    fn put(&mut self, entry: Entry) {
        match entry {
            Entry::User(one) => drop(self.users.insert(one.id.clone(), one.into())),
            Entry::Group(one) => drop(self.groups.insert(one.id.clone(), one.into())),
            Entry::Target(one) => drop(self.targets.insert(one.id.clone(), one.into())),
            Entry::Belong(one) => drop(self.belongs.insert(one.id.clone(), one.into())),
            Entry::Access(one) => drop(self.accesses.insert(one.id.clone(), one.into())),
            Entry::Project(one) => drop(self.projects.insert(one.id.clone(), one.into())),
            Entry::Credential(one) => {
                drop(self.credentials.insert(one.user.clone(), one.into()));
            }
            Entry::ApiToken(one) => {
                drop(self.api_tokens.insert(one.id.clone(), one.into()));
            }
            Entry::EndedToken(one) => drop(self.ended.insert(one.id, one.expires)),
            Entry::WhiteList(one) => self.white_list = one,
            Entry::TokenSecret(one) => self.token_secret = Some(one),
        }
    }

    fn remove(&mut self, entry: &Entry) {
        match entry {
            Entry::User(one) => drop(self.users.remove(&one.id)),
            Entry::Group(one) => drop(self.groups.remove(&one.id)),
            Entry::Target(one) => drop(self.targets.remove(&one.id)),
            Entry::Belong(one) => drop(self.belongs.remove(&one.id)),
            Entry::Access(one) => drop(self.accesses.remove(&one.id)),
            Entry::Project(one) => drop(self.projects.remove(&one.id)),
            Entry::Credential(one) => drop(self.credentials.remove(&one.user)),
            Entry::ApiToken(one) => drop(self.api_tokens.remove(&one.id)),
            Entry::EndedToken(one) => drop(self.ended.remove(&one.id)),
            Entry::WhiteList(_) => self.white_list = WhiteList::default(),
            Entry::TokenSecret(_) => self.token_secret = None,
        }
    }

    /// The user with this id.
    #[must_use]
    pub fn user(&self, id: &Id) -> Option<&Arc<Record<User>>> {
        self.users.get(id)
    }

    /// The users, in the order of their ids. The other listings have the same order.
    pub fn users(&self) -> impl Iterator<Item = &Arc<Record<User>>> {
        self.users.values()
    }

    /// The group with this id.
    #[must_use]
    pub fn group(&self, id: &Id) -> Option<&Arc<Record<Group>>> {
        self.groups.get(id)
    }

    /// The groups.
    pub fn groups(&self) -> impl Iterator<Item = &Arc<Record<Group>>> {
        self.groups.values()
    }

    /// The target with this id.
    #[must_use]
    pub fn target(&self, id: &Id) -> Option<&Arc<Record<Target>>> {
        self.targets.get(id)
    }

    /// The targets.
    pub fn targets(&self) -> impl Iterator<Item = &Arc<Record<Target>>> {
        self.targets.values()
    }

    /// The membership with this id.
    #[must_use]
    pub fn belong(&self, id: &Id) -> Option<&Arc<Record<Belong>>> {
        self.belongs.get(id)
    }

    /// The memberships.
    pub fn belongs(&self) -> impl Iterator<Item = &Arc<Record<Belong>>> {
        self.belongs.values()
    }

    /// The access with this id.
    #[must_use]
    pub fn access(&self, id: &Id) -> Option<&Arc<Record<Access>>> {
        self.accesses.get(id)
    }

    /// The accesses.
    pub fn accesses(&self) -> impl Iterator<Item = &Arc<Record<Access>>> {
        self.accesses.values()
    }

    /// The project with this id.
    #[must_use]
    pub fn project(&self, id: &Id) -> Option<&Arc<Record<Project>>> {
        self.projects.get(id)
    }

    /// The projects.
    pub fn projects(&self) -> impl Iterator<Item = &Arc<Record<Project>>> {
        self.projects.values()
    }

    /// The credential of a user.
    #[must_use]
    pub fn credential(&self, user: &Id) -> Option<&Arc<Credential>> {
        self.credentials.get(user)
    }

    /// The API token with this id.
    #[must_use]
    pub fn api_token(&self, id: &str) -> Option<&Arc<ApiToken>> {
        self.api_tokens.get(id)
    }

    /// All API tokens.
    pub fn api_tokens(&self) -> impl Iterator<Item = &Arc<ApiToken>> {
        self.api_tokens.values()
    }

    /// The API tokens of a user.
    pub fn api_tokens_of(&self, user: &Id) -> impl Iterator<Item = &Arc<ApiToken>> {
        self.api_tokens().filter(move |token| token.user == *user)
    }

    pub(crate) const fn white_list(&self) -> &WhiteList {
        &self.white_list
    }

    pub(crate) const fn token_secret(&self) -> Option<&TokenSecret> {
        self.token_secret.as_ref()
    }

    /// Whether a token was logged out.
    #[must_use]
    pub fn is_ended(&self, token: &str) -> bool {
        self.ended.contains_key(token)
    }

    /// The logged-out tokens that expired before `now`.
    pub(crate) fn ended_before(&self, now: i64) -> impl Iterator<Item = EndedToken> {
        let over = self
            .ended
            .iter()
            .filter(move |(_, expires)| **expires < now);
        over.map(|(id, expires)| EndedToken {
            id: id.clone(),
            expires: *expires,
        })
    }

    /// The rights of a user.
    #[must_use]
    pub fn rights_of(&self, user: &Record<User>) -> Rights {
        if user.body.name == ADMIN {
            return Rights::administrator();
        }
        let groups = self.belongs.values().filter(|one| one.body.user == user.id);
        let accesses = groups.flat_map(|belong| {
            let accesses = self.accesses.values();
            accesses.filter(|access| access.body.group == belong.body.group)
        });
        let grants = accesses.filter_map(|access| {
            let target = self.targets.get(&access.body.target)?;
            Some(Grant {
                graph: target.body.graph.clone(),
                permission: access.body.permission,
                resources: target.body.resources.clone().unwrap_or_default(),
            })
        });
        Rights::of(grants.collect())
    }
}
