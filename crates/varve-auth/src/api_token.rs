//! API tokens: programs authenticate with them in place of a user's password.
//!
//! A token is `varve_<id>_<32 random bytes>`. Only its SHA-256 is stored: nobody guesses 32 random
//! bytes, so no slower hash is needed.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::authenticator::{Auth, AuthError, random};
use crate::changes::{DirectoryError, Made, check_name};
use crate::directory::{ADMIN, Change, Directory, Entry};
use crate::record::Id;
use crate::resource::{Permission, Resource, ResourceType};
use crate::rights::{Grant, Rights};

/// The prefix of all API tokens.
pub const API_TOKEN_PREFIX: &str = "varve_";

/// API tokens that one user may have.
pub const API_TOKENS_MAX: usize = 100;

/// Graphs that one API token may name.
const API_TOKEN_GRAPHS_MAX: usize = 1_000;

/// How long a token is listed after its end, in milliseconds.
const OVER_KEPT: i64 = 7 * 24 * 3_600 * 1_000;

/// Random bytes of the secret part.
pub(crate) const SECRET_BYTES: usize = 32;

/// Random bytes of the id.
pub(crate) const ID_BYTES: usize = 8;

/// The restriction of an API token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restriction {
    /// The graphs; `None` = all that its user may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graphs: Option<Vec<String>>,
    /// Whether the token only allows reading.
    #[serde(default)]
    pub reads_only: bool,
}

impl Restriction {
    /// Whether the token has all rights of its user.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.graphs.is_none() && !self.reads_only
    }

    /// The part of these rights that the restriction allows.
    #[must_use]
    pub fn of(&self, rights: &Rights) -> Rights {
        if self.is_none() {
            return rights.clone();
        }
        let names = self.graphs.as_deref().unwrap_or_default();
        if rights.is_administrator() {
            // Graphs are named here: `add_api_token` ensures it.
            let all = |name: &String| {
                let name = name.clone();
                self.kept(Permission::Any).map(move |permission| Grant {
                    graph: name.clone(),
                    permission,
                    resources: vec![Resource {
                        kind: ResourceType::Root,
                        label: "*".to_owned(),
                        properties: None,
                    }],
                })
            };
            return Rights::of(names.iter().flat_map(all).collect());
        }
        let is_named = |graph: &String| self.graphs.is_none() || names.contains(graph);
        let grants = rights.grants().iter().filter(|one| is_named(&one.graph));
        let kept = grants.flat_map(|grant| {
            self.kept(grant.permission).map(|permission| Grant {
                permission,
                ..grant.clone()
            })
        });
        Rights::of(kept.collect())
    }

    /// The part of a permission that the restriction allows. A script needs EXECUTE, and also the
    /// permissions for its reads and writes.
    fn kept(&self, permission: Permission) -> impl Iterator<Item = Permission> + use<> {
        let kept: &[Permission] = match (self.reads_only, permission) {
            (false, Permission::Any) => &[Permission::Any],
            (true, Permission::Any) => &[Permission::Read, Permission::Execute],
            (_, Permission::Read) => &[Permission::Read],
            (_, Permission::Execute) => &[Permission::Execute],
            (false, Permission::Write) => &[Permission::Write],
            (false, Permission::Delete) => &[Permission::Delete],
            (true, Permission::Write | Permission::Delete) => &[],
            (_, Permission::None) => &[],
        };
        kept.iter().copied()
    }
}

/// An API token, without its secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiToken {
    /// Its id, which is a part of its text.
    pub id: String,
    /// The user's id.
    pub user: Id,
    /// The name that the user gave it.
    pub name: String,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// When it ends, in milliseconds since 1970; `None` = when it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// Its restriction.
    #[serde(default)]
    pub restriction: Restriction,
    /// The last use that is stored, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<i64>,
    hash: String,
}

impl std::fmt::Debug for ApiToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ApiToken")
            .field("id", &self.id)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// The properties of a new API token.
#[derive(Debug, Clone)]
pub struct NewApiToken {
    /// The user's id.
    pub user: Id,
    /// The name that the user gives it.
    pub name: String,
    /// When it ends, in milliseconds since 1970.
    pub expires: Option<i64>,
    /// Its restriction.
    pub restriction: Restriction,
}

impl ApiToken {
    /// Creates a token from these random bytes. Returns it and its text, which is not stored.
    pub(crate) fn make(
        wanted: NewApiToken,
        now: i64,
        id: [u8; ID_BYTES],
        secret: [u8; SECRET_BYTES],
    ) -> (Self, String) {
        let id = format!("{:016x}", u64::from_be_bytes(id));
        let text = format!("{API_TOKEN_PREFIX}{id}_{}", URL_SAFE_NO_PAD.encode(secret));
        let token = Self {
            hash: hash(&text),
            id,
            user: wanted.user,
            name: wanted.name,
            created: now,
            expires: wanted.expires,
            restriction: wanted.restriction,
            used: None,
        };
        (token, text)
    }

    /// The id in the text of a token.
    pub(crate) fn id_in(text: &str) -> Option<&str> {
        let rest = text.strip_prefix(API_TOKEN_PREFIX)?;
        rest.split_once('_').map(|(id, _)| id)
    }

    /// Whether this is its text.
    pub(crate) fn is(&self, text: &str) -> bool {
        let (own, given) = (self.hash.as_bytes(), hash(text));
        let pairs = own.iter().zip(given.as_bytes());
        // All bytes are compared, so that the time reveals nothing.
        own.len() == given.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }

    /// Whether it has expired.
    pub(crate) fn is_over(&self, now: i64) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

impl Directory {
    fn add_api_token(&self, token: ApiToken, now: i64) -> Made {
        let invalid = |message: String| Err(DirectoryError::Invalid(message));
        let Some(user) = self.user(&token.user) else {
            return invalid(format!("Invalid user id: {}", token.user));
        };
        if token.name.is_empty() {
            return invalid("The name of token must not be empty".to_owned());
        }
        if let Err(rule) = check_name(&token.name) {
            return invalid(format!("The name of token {rule}"));
        }
        if token.is_over(now) {
            return invalid("The token would have ended already".to_owned());
        }
        let graphs = token.restriction.graphs.as_ref();
        if graphs.is_some_and(|graphs| graphs.len() > API_TOKEN_GRAPHS_MAX) {
            return invalid(format!(
                "A token must not name more than {API_TOKEN_GRAPHS_MAX} graphs"
            ));
        }
        if user.body.name == ADMIN && token.restriction.reads_only && graphs.is_none() {
            return invalid(
                "A token of the administrator that only reads must name its graphs".to_owned(),
            );
        }
        if self.api_tokens_of(&token.user).count() >= API_TOKENS_MAX {
            return invalid(format!(
                "A user may have {API_TOKENS_MAX} tokens: revoke one first"
            ));
        }
        let id = Id::new(&token.id);
        Ok((id, vec![Change::Put(Entry::ApiToken(token))]))
    }

    /// The changes that revoke an API token.
    ///
    /// # Errors
    /// When the id is unknown.
    pub fn remove_api_token(&self, id: &str) -> Made {
        match self.api_token(id) {
            Some(token) => {
                let change = Change::Remove(Entry::ApiToken((**token).clone()));
                Ok((Id::new(id), vec![change]))
            }
            None => Err(DirectoryError::no_token(id)),
        }
    }

    /// The changes that remove the API tokens of a user.
    pub(crate) fn without_api_tokens(&self, user: &Id) -> impl Iterator<Item = Change> {
        let tokens = self.api_tokens_of(user);
        tokens.map(|token| Change::Remove(Entry::ApiToken((**token).clone())))
    }
}

impl DirectoryError {
    /// There is no API token with this id.
    #[must_use]
    pub fn no_token(id: &str) -> Self {
        Self::NotFound(format!("Can't find token with id '{id}'"))
    }
}

impl Auth {
    /// Creates an API token; its text is returned only here.
    ///
    /// # Errors
    /// When the user does not exist or has too many tokens, or a property of the token is invalid.
    pub fn make_api_token(
        &self,
        wanted: NewApiToken,
        now: i64,
    ) -> Result<(ApiToken, String), AuthError> {
        let (token, text) = ApiToken::make(wanted, now, random()?, random()?);
        let made = token.clone();
        self.change(|directory| directory.add_api_token(token, now))?;
        Ok((made, text))
    }

    /// The API tokens of a user with when they were used last, the newest first.
    #[must_use]
    pub fn api_tokens_of(&self, user: &Id) -> Vec<ApiToken> {
        let directory = self.directory();
        let tokens = directory.api_tokens_of(user).map(|token| ApiToken {
            used: self.use_of(token),
            ..(**token).clone()
        });
        let mut tokens: Vec<ApiToken> = tokens.collect();
        tokens.sort_by(|a, b| (b.created, &b.id).cmp(&(a.created, &a.id)));
        tokens
    }

    /// Stores the last uses of API tokens, and removes tokens that expired more than a week ago.
    ///
    /// # Errors
    /// When the store fails.
    pub fn store_uses(&self, now: i64) -> Result<(), AuthError> {
        let directory = self.directory();
        let changes = directory.api_tokens().filter_map(|token| {
            let entry = |token| Entry::ApiToken(token);
            if token.is_over(now.saturating_sub(OVER_KEPT)) {
                return Some(Change::Remove(entry((**token).clone())));
            }
            let used = self.use_of(token);
            (used != token.used).then(|| {
                Change::Put(entry(ApiToken {
                    used,
                    ..(**token).clone()
                }))
            })
        });
        let changes: Vec<Change> = changes.collect();
        // Other servers report their uses to the leader ([`Auth::uses`]).
        if changes.is_empty() || !self.leads() {
            return Ok(());
        }
        // A token that was revoked meanwhile must not come back.
        self.change(|directory| {
            let is_there = |change: &Change| match change {
                Change::Put(Entry::ApiToken(token)) | Change::Remove(Entry::ApiToken(token)) => {
                    directory.api_token(&token.id).is_some()
                }
                _ => false,
            };
            let changes = changes.into_iter().filter(is_there).collect();
            Ok((Id::new(""), changes))
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(restriction: Restriction) -> NewApiToken {
        NewApiToken {
            user: Id::new("-30:ann"),
            name: "load".to_owned(),
            expires: Some(10),
            restriction,
        }
    }

    #[test]
    fn a_token_is_known_by_its_text_alone() {
        let (token, text) = ApiToken::make(wanted(Restriction::default()), 1, [1; 8], [255; 32]);
        assert_eq!(ApiToken::id_in(&text), Some(token.id.as_str()));
        assert!(text.starts_with("varve_0101010101010101___"), "{text}");
        assert!(token.is(&text) && !token.is(&text[..text.len() - 1]));
        assert!(!token.is_over(9) && token.is_over(10));
        let stored = serde_json::to_string(&token).expect("JSON");
        assert!(!stored.contains(&text[24..]), "{stored}");
        for none in ["", "varve_", "varve_abc", "other_abc_def"] {
            assert_eq!(ApiToken::id_in(none), None, "{none}");
        }
    }

    #[test]
    fn a_restriction_leaves_the_named_graphs_and_reading() {
        let grant = |graph: &str, permission| Grant {
            graph: graph.to_owned(),
            permission,
            resources: vec![Resource {
                kind: ResourceType::All,
                label: "*".to_owned(),
                properties: None,
            }],
        };
        let rights = Rights::of(vec![
            grant("g", Permission::Any),
            grant("h", Permission::Write),
            grant("h", Permission::Read),
        ]);
        let restriction = |graphs: Option<&str>, reads_only| Restriction {
            graphs: graphs.map(|name| vec![name.to_owned()]),
            reads_only,
        };
        let may = |rights: &Rights, graph, permission| {
            rights.reach(graph, permission, ResourceType::Vertex) == crate::rights::Reach::All
        };
        let reads = restriction(None, true).of(&rights);
        assert!(may(&reads, "g", Permission::Read) && may(&reads, "h", Permission::Read));
        assert!(!may(&reads, "g", Permission::Write) && !may(&reads, "h", Permission::Write));
        assert!(!may(&reads, "g", Permission::Delete));
        let one = restriction(Some("h"), false).of(&rights);
        assert!(may(&one, "h", Permission::Write) && !may(&one, "g", Permission::Read));
        let admin = restriction(Some("g"), true).of(&Rights::administrator());
        assert!(!admin.is_administrator() && may(&admin, "g", Permission::Read));
        assert!(!may(&admin, "g", Permission::Write) && !may(&admin, "h", Permission::Read));
        assert!(
            Restriction::default()
                .of(&Rights::administrator())
                .is_administrator()
        );
    }
}
