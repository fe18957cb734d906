//! The records of the directory, with the ids that HugeGraph 1.5 gives them.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::resource::{Permission, Resource};

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// A person or program that logs in.
    User,
    /// Users that have the same rights.
    Group,
    /// Resources of one graph to which rights apply.
    Target,
    /// A membership: a user is in a group.
    Belong,
    /// A right: a group has a permission on a target.
    Access,
    /// Graphs that are managed together.
    Project,
}

impl RecordKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::User,
        Self::Group,
        Self::Target,
        Self::Belong,
        Self::Access,
        Self::Project,
    ];

    /// The singular, as in `user_name`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Target => "target",
            Self::Belong => "belong",
            Self::Access => "access",
            Self::Project => "project",
        }
    }

    /// The plural, as in paths and answers.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::User => "users",
            Self::Group => "groups",
            Self::Target => "targets",
            Self::Belong => "belongs",
            Self::Access => "accesses",
            Self::Project => "projects",
        }
    }

    /// The kind with this plural.
    #[must_use]
    pub fn of_plural(plural: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.plural() == plural)
    }

    /// The id of a named record: the label's number in HugeGraph 1.5 and the name, with colons
    /// escaped.
    #[must_use]
    pub fn id_of(self, name: &str) -> Id {
        let label = match self {
            Self::User => -30,
            Self::Group => -36,
            Self::Target => -44,
            Self::Belong => -49,
            Self::Access => -55,
            Self::Project => -65,
        };
        Id(format!("{label}:{}", name.replace(':', "`:")))
    }
}

/// The id of a record. Ids order by length, then by bytes, as HugeGraph lists them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Id(String);

impl Id {
    /// The id with this text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The id of a membership.
    #[must_use]
    pub fn of_belong(user: &Self, group: &Self) -> Self {
        Self(format!("S{user}>-49>-49>>S{group}"))
    }

    /// The id of an access.
    #[must_use]
    pub fn of_access(group: &Self, permission: Permission, target: &Self) -> Self {
        let code = permission.code();
        Self(format!("S{group}>-55>-55>{code}>S{target}"))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A record: its content, its creator and its times, in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<T> {
    /// Its id.
    pub id: Id,
    /// The name of the user that made it.
    pub creator: String,
    /// When it was made.
    pub created: i64,
    /// When it was changed last.
    pub updated: i64,
    /// The content.
    #[serde(flatten)]
    pub body: T,
}

/// A user. Its [`Credential`] is stored separately.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The name to log in with.
    pub name: String,
    /// A telephone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// A mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The address of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The name of the graph; empty = the server.
    pub graph: String,
    /// Stored for HugeGraph's clients, and not used.
    pub url: String,
    /// The resources of the graph; `None` = not given, which means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<Resource>>,
}

/// A membership.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Belong {
    /// The user.
    pub user: Id,
    /// The group.
    pub group: Id,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The group that has the right.
    pub group: Id,
    /// The target of the right.
    pub target: Id,
    /// The permission on the target.
    pub permission: Permission,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A project. It has two groups and a target of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The names of its graphs, in the order added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub graphs: Vec<String>,
    /// The group whose members may change the project.
    pub admin_group: Id,
    /// The group whose members may read the project.
    pub op_group: Id,
    /// The target whose resource is the project.
    pub target: Id,
}

/// The hashed password of a user.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// The user's id.
    pub user: Id,
    /// The hash of the password, in the PHC string format.
    pub hash: String,
    /// A random number, drawn again with each change of the password: earlier logins and tokens are
    /// no longer valid then.
    pub version: u64,
}

impl Credential {
    /// The text shown in place of the password. Sent back by a client, it leaves the password
    /// unchanged.
    #[must_use]
    pub fn stamp(&self) -> String {
        // A hash, since the version itself is part of tokens.
        let digest = <sha2::Sha256 as sha2::Digest>::digest(self.version.to_be_bytes());
        let [a, b, c, d] = [digest[0], digest[1], digest[2], digest[3]];
        format!("*{:08x}", u32::from_be_bytes([a, b, c, d]))
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Credential")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
