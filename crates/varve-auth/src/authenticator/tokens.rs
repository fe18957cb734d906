//! Issues and ends the tokens of logins. Checks these tokens and API tokens.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Auth, AuthError, Principal, random, unix_seconds};
use crate::api_token::{API_TOKEN_PREFIX, ApiToken};
use crate::directory::{Change, EndedToken, Entry};
use crate::record::Id;
use crate::token::Claims;

impl Auth {
    /// Issues a token to an authenticated client. It is valid for `seconds`, at most for
    /// `AuthOptions::token_seconds`. The maximum is also the default, and replaces a number that is
    /// not positive.
    ///
    /// # Errors
    /// When the system gives no random bytes, or the token cannot be signed.
    pub fn token(&self, principal: &Principal, seconds: Option<i64>) -> Result<String, AuthError> {
        let most = self.options.token_seconds;
        let now = unix_seconds();
        let claims = Claims {
            user_name: principal.name.clone(),
            user_id: principal.id.to_string(),
            exp: now
                + seconds
                    .filter(|wanted| *wanted > 0)
                    .unwrap_or(most)
                    .min(most),
            iat: now,
            jti: format!("{:032x}", u128::from_ne_bytes(random()?)),
            ver: principal.version,
        };
        let token = self.state.load().signer.sign(&claims);
        token.ok_or(AuthError::Failed)
    }

    /// The user of a login's token or an API token; `None` if the token is not valid.
    #[must_use]
    pub fn check(&self, token: &str) -> Option<Arc<Principal>> {
        match token.starts_with(API_TOKEN_PREFIX) {
            true => self.check_api_token(token),
            false => self.check_token(token).map(|(principal, _)| principal),
        }
    }

    pub(super) fn check_api_token(&self, text: &str) -> Option<Arc<Principal>> {
        let state = self.state.load();
        let id = ApiToken::id_in(text)?;
        let token = state.directory.api_token(id)?;
        let principal = token.is(text).then(|| state.principal_of_token(id))?;
        principal.map(Arc::clone)
    }

    /// The user and the claims of a login's token; `None` if the token is not valid or has ended.
    #[must_use]
    pub fn check_token(&self, token: &str) -> Option<(Arc<Principal>, Claims)> {
        let state = self.state.load();
        let claims = state.signer.check(token)?;
        let principal = state.principal(&Id::new(&claims.user_id))?;
        let counts = principal.version == claims.ver && !state.directory.is_ended(&claims.jti);
        counts.then(|| (Arc::clone(principal), claims))
    }

    /// Ends a login's token. Also forgets the ended tokens that have expired.
    ///
    /// # Errors
    /// [`AuthError::Failed`] when the token is not valid. Also when the store fails.
    pub fn logout(&self, token: &str) -> Result<(), AuthError> {
        let (principal, claims) = self.check_token(token).ok_or(AuthError::Failed)?;
        self.change(|directory| {
            let over = directory.ended_before(unix_seconds());
            let mut changes: Vec<Change> = over
                .map(|token| Change::Remove(Entry::EndedToken(token)))
                .collect();
            changes.push(Change::Put(Entry::EndedToken(EndedToken {
                id: claims.jti,
                expires: claims.exp,
            })));
            Ok((principal.id.clone(), changes))
        })?;
        Ok(())
    }

    /// When an API token was last used, in milliseconds since 1970; `None` = never.
    pub(crate) fn use_of(&self, token: &ApiToken) -> Option<i64> {
        let state = self.state.load();
        let kept = state.api_tokens.get(&token.id);
        let used = kept.map_or(0, |kept| kept.used.load(Ordering::Relaxed));
        token.used.max((used != 0).then_some(used))
    }
}
