//! Users, groups and their rights, as in HugeGraph, and the authentication of clients.
//!
//! Knows no HTTP. [`Directory`] holds all records, [`Rights`] the permissions of one user, and
//! [`Auth`] authenticates clients. The records are stored in a graph that no client can name, so
//! that rights can be read as of any time.

mod account;
mod api_token;
mod authenticator;
mod changes;
mod delegation;
mod directory;
mod header;
pub mod password;
mod record;
mod resource;
mod rights;
mod store;
mod throttle;
mod token;
mod white_list;

pub use account::{Account, NoAccount};
pub use api_token::{API_TOKEN_PREFIX, API_TOKENS_MAX, ApiToken, NewApiToken, Restriction};
pub use authenticator::{
    Auth, AuthError, AuthOptions, ClusterKey, DirectoryCopy, Login, Principal, Proved,
};
pub use changes::{Author, DirectoryError, Made, NAME_BYTES_MAX, NewPassword, UserPatch};
pub use directory::{ADMIN, Change, Directory, Entry, SYSTEM};
pub use header::{AUTHORIZATION_BYTES_MAX, HeaderError, Proof};
pub use record::{
    Access, Belong, Credential, Group, Id, Project, Record, RecordKind, Target, User,
};
pub use resource::{Permission, Resource, ResourceType};
pub use rights::{Grant, Names, Reach, Rights};
pub use store::Store;
pub use token::Claims;
pub use white_list::{Network, WhiteList, WhiteListChange};
