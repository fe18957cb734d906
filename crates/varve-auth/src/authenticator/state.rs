//! A version of the directory, with the values that each request needs, derived once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Principal, unix_milliseconds};
use crate::directory::Directory;
use crate::record::Id;
use crate::token::Signer;
use crate::white_list::Network;

pub(super) struct LiveDirectory {
    pub(super) directory: Arc<Directory>,
    pub(super) signer: Signer,
    principals: HashMap<Id, OnceLock<Option<Arc<Principal>>>>,
    pub(super) api_tokens: HashMap<String, UsedToken>,
    /// The networks from which clients may connect; `None` = all.
    pub(super) networks: Option<Vec<Network>>,
}

/// The state of an API token while the server runs.
#[derive(Default)]
pub(super) struct UsedToken {
    principal: OnceLock<Option<Arc<Principal>>>,
    /// When it was used last, in milliseconds since 1970; 0 = not since the start.
    pub(super) used: Arc<AtomicI64>,
}

impl LiveDirectory {
    /// `before`: the version that this one replaces.
    pub(super) fn of(directory: Directory, before: Option<&Self>) -> Self {
        let secret = directory.token_secret().map(|one| one.secret.as_str());
        let secret = STANDARD
            .decode(secret.unwrap_or_default())
            .unwrap_or_default();
        Self {
            signer: Signer::new(&secret),
            principals: directory
                .users()
                .map(|user| (user.id.clone(), OnceLock::new()))
                .collect(),
            api_tokens: directory
                .api_tokens()
                .map(|token| {
                    let before = before.and_then(|before| before.api_tokens.get(&token.id));
                    let used = before.map(|before| Arc::clone(&before.used));
                    let used = UsedToken {
                        used: used.unwrap_or_default(),
                        ..UsedToken::default()
                    };
                    (token.id.clone(), used)
                })
                .collect(),
            networks: {
                let list = directory.white_list();
                let networks = list.networks.iter();
                let parsed = networks.filter_map(|text| Network::parse(text));
                list.is_on.then(|| parsed.collect())
            },
            directory: Arc::new(directory),
        }
    }

    /// The user with this id, if it can log in.
    pub(super) fn principal(&self, id: &Id) -> Option<&Arc<Principal>> {
        let made = self.principals.get(id)?.get_or_init(|| {
            let user = self.directory.user(id)?;
            let version = self.directory.credential(id)?.version;
            Some(Arc::new(Principal {
                id: id.clone(),
                name: user.body.name.clone(),
                created: user.created,
                rights: self.directory.rights_of(user),
                api_token: None,
                is_restricted: false,
                version,
            }))
        });
        made.as_ref()
    }

    /// The user of the API token with this id, if the token is valid.
    pub(super) fn principal_of_token(&self, id: &str) -> Option<&Arc<Principal>> {
        let now = unix_milliseconds();
        let token = self.directory.api_token(id)?;
        if token.is_over(now) {
            return None;
        }
        let kept = self.api_tokens.get(id)?;
        kept.used.store(now, Ordering::Relaxed);
        let made = kept.principal.get_or_init(|| {
            let user = self.principal(&token.user)?;
            Some(Arc::new(Principal {
                rights: token.restriction.of(&user.rights),
                api_token: Some(id.to_owned()),
                is_restricted: !token.restriction.is_none(),
                ..(**user).clone()
            }))
        });
        made.as_ref()
    }
}
