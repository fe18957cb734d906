//! The identity of a user in records that outlive the user.

use std::fmt;
use std::str::FromStr;

use crate::record::Id;

/// Separates the id from the time in the text. A name may contain this character, since a time
/// never does: the last one separates.
const BETWEEN: char = '@';

/// A user's id, which contains the name, and the time at which the user was made. So a later user
/// of the same name is another account.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Account {
    /// The user's id.
    pub id: Id,
    /// When the user was made, in milliseconds since 1970.
    pub created: i64,
}

impl fmt::Display for Account {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{BETWEEN}{}", self.id, self.created)
    }
}

/// A text that is no account.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' names no user")]
pub struct NoAccount(String);

impl FromStr for Account {
    type Err = NoAccount;

    fn from_str(text: &str) -> Result<Self, NoAccount> {
        let parts = text.rsplit_once(BETWEEN);
        let account = parts.and_then(|(id, created)| {
            Some(Self {
                id: Id::new(id),
                created: created.parse().ok()?,
            })
        });
        account.ok_or_else(|| NoAccount(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordKind;

    #[test]
    fn an_account_is_read_as_it_is_written() {
        for name in ["ann", "a@b", "a:b@1"] {
            let account = Account {
                id: RecordKind::User.id_of(name),
                created: 1_790_000_000_000,
            };
            assert_eq!(account.to_string().parse().ok(), Some(account));
        }
        assert!("-30:ann".parse::<Account>().is_err());
        assert!("-30:ann@x".parse::<Account>().is_err());
    }
}
