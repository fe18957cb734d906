//! The scope of consistency: the nodes that must answer requests, agreed by all processes on a list
//! of spaces.
//!
//! Suppose that one process asks a quorum of one datacenter, and another a quorum of all nodes or
//! of another datacenter. Then both may read that a space is not open. So a row beside the list has
//! the scope of all processes, and a process with another scope opens nothing.
//!
//! The row is written by conditional changes that are linearized over all datacenters, whatever
//! scope a process has. Each change also waits for a quorum of *each* datacenter. So a plain read
//! of any process sees every completed change. A process that finds no row has to insert it, and
//! that is linearized. A process reads the row each time after it has taken a lease; `change.rs`
//! explains why.

use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, SerialConsistency};

use crate::cluster::{Cluster, Use};
use crate::config::{self, CassandraConfig};
use crate::failure::{Failure, unreadable};
use crate::schema;
use crate::statements::{applied, quoted};

/// The name of the table, which has one row.
pub(crate) const TABLE: &str = "settings";
/// The name of the row.
const ROW: &str = "consistency";
/// The prefix of a datacenter's name in the row.
const IN: &str = "local_quorum in ";
const QUORUM: &str = "quorum";
/// The separator between the next scope and the attempt that changes it.
const BY: &str = " by ";
/// The most tries of a change, and of the check of one with an unknown outcome.
const TRIES: usize = 5;

/// The nodes of which a quorum must answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The nodes of this datacenter.
    Datacenter(String),
    All,
}

impl Scope {
    pub(crate) fn of(config: &CassandraConfig) -> Self {
        match config.consistency {
            config::Consistency::LocalQuorum => Self::Datacenter(config.datacenter.clone()),
            config::Consistency::Quorum => Self::All,
        }
    }

    /// The consistency that a process uses for this scope.
    pub(crate) fn consistency(&self) -> config::Consistency {
        match self {
            Self::Datacenter(_) => config::Consistency::LocalQuorum,
            Self::All => config::Consistency::Quorum,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix(IN) {
            Some(datacenter) => Some(Self::Datacenter(datacenter.to_owned())),
            None => (text == QUORUM).then_some(Self::All),
        }
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Datacenter(name) => write!(f, "{IN}{name}"),
            Self::All => f.write_str(QUORUM),
        }
    }
}

/// The row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agreed {
    pub(crate) scope: Scope,
    /// The change in progress, during which no process opens a space.
    pub(crate) next: Option<Next>,
}

/// The scope that is to replace the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) scope: Scope,
    /// The unique name of the attempt. An attempt that was overtaken by another cannot end the
    /// other's change.
    pub(crate) by: String,
}

impl Next {
    fn parse(text: &str) -> Option<Self> {
        let (scope, by) = text.rsplit_once(BY)?;
        Some(Self {
            scope: Scope::parse(scope)?,
            by: by.to_owned(),
        })
    }
}

impl Agreed {
    /// The row for this scope without a change in progress.
    pub(crate) fn settled(scope: &Scope) -> Self {
        Self {
            scope: scope.clone(),
            next: None,
        }
    }

    fn parse(value: &str, next: &str) -> Option<Self> {
        let scope = Scope::parse(value)?;
        let next = match next {
            "" => None,
            next => Some(Next::parse(next)?),
        };
        Some(Self { scope, next })
    }

    /// Whether a process with the scope `own` may open spaces.
    fn fits(&self, own: &Scope, keyspace: &str) -> Result<(), Failure> {
        let scope = &self.scope;
        let why = match &self.next {
            None if scope == own => return Ok(()),
            None => format!(
                "this process has consistency {own}, those on the keyspace '{keyspace}' have {scope}: with both, two could write one \
                 graph. Give this one theirs, or stop all of them and run `varve change-consistency` with the new one"
            ),
            Some(Next { scope: next, .. }) => format!(
                "the consistency of those on the keyspace '{keyspace}' is being changed from {scope} to {next}; if nobody is at it, run \
                 `varve change-consistency` again, with either"
            ),
        };
        Err(Failure::Refused(why))
    }

    fn next_text(&self) -> String {
        let next = self.next.as_ref();
        next.map_or(String::new(), |next| {
            format!("{}{BY}{}", next.scope, next.by)
        })
    }
}

/// The error if another process's change is found.
pub(crate) fn overtaken() -> Failure {
    Failure::InUse("another process changes it at the same time".to_owned())
}

/// Returns the statement that creates the table.
pub(crate) fn definition(keyspace: &str) -> String {
    let (table, id) = (quoted(keyspace, TABLE), schema::id(keyspace, TABLE));
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (name text PRIMARY KEY, value text, next text) WITH id = '{id}'"
    )
}

/// The statements on the row.
pub(crate) struct ScopeTable {
    look: PreparedStatement,
    find: PreparedStatement,
    insert: PreparedStatement,
    turn: PreparedStatement,
}

impl ScopeTable {
    /// Prepares the statements. The table exists: opening the list creates it.
    pub(crate) async fn open(cluster: &Cluster) -> Result<Self, Failure> {
        let table = quoted(&cluster.config.keyspace, TABLE);
        let select = format!("SELECT value, next FROM {table} WHERE name = ?");
        let mut find = cluster.prepare(&select, Use::Conditional).await?;
        find.set_consistency(Consistency::Serial);
        let insert =
            format!("INSERT INTO {table} (name, value, next) VALUES (?, ?, '') IF NOT EXISTS");
        let mut insert = cluster.prepare(&insert, Use::Conditional).await?;
        insert.set_serial_consistency(Some(SerialConsistency::Serial));
        let turn = format!(
            "UPDATE {table} SET value = ?, next = ? WHERE name = ? IF value = ? AND next = ?"
        );
        let mut turn = cluster.prepare(&turn, Use::Conditional).await?;
        turn.set_serial_consistency(Some(SerialConsistency::Serial));
        turn.set_consistency(Consistency::EachQuorum);
        Ok(Self {
            look: cluster.prepare(&select, Use::Read).await?,
            find,
            insert,
            turn,
        })
    }

    /// Checks whether this process may open spaces. Inserts its scope if there is no row yet.
    ///
    /// # Errors
    /// [`Failure::Refused`] if other processes have another scope.
    pub(crate) async fn check(&self, cluster: &Cluster) -> Result<(), Failure> {
        let own = Scope::of(&cluster.config);
        let keyspace = &cluster.config.keyspace;
        if let Some(agreed) = self.read(cluster, &self.look).await? {
            return agreed.fits(&own, keyspace);
        }
        for _ in 0..TRIES {
            let said = cluster.run(&self.insert, (ROW, own.to_string())).await;
            match said.and_then(applied) {
                Ok(true) => return Ok(()),
                Ok(false) | Err(Failure::Unknown(_)) => {}
                Err(failure) => return Err(failure),
            }
            if let Some(agreed) = self.find(cluster).await? {
                return agreed.fits(&own, keyspace);
            }
        }
        let open = "it is not known yet whether this process has said which consistency it has";
        Err(Failure::Unknown(open.to_owned()))
    }

    /// Returns the row, linearized with all changes of it.
    pub(crate) async fn find(&self, cluster: &Cluster) -> Result<Option<Agreed>, Failure> {
        self.read(cluster, &self.find).await
    }

    async fn read(
        &self,
        cluster: &Cluster,
        statement: &PreparedStatement,
    ) -> Result<Option<Agreed>, Failure> {
        let result = cluster.run(statement, (ROW,)).await?;
        let rows = result.into_rows_result().map_err(unreadable)?;
        let row = rows.maybe_first_row::<(Option<String>, Option<String>)>();
        let Some((value, next)) = row.map_err(unreadable)? else {
            return Ok(None);
        };
        let (value, next) = (value.unwrap_or_default(), next.unwrap_or_default());
        let agreed = Agreed::parse(&value, &next);
        agreed.map(Some).ok_or_else(|| {
            Failure::Refused(format!(
                "this version does not know the consistency '{value}' ('{next}')"
            ))
        })
    }

    /// Replaces a row by another, which a quorum of each datacenter then has.
    ///
    /// # Errors
    /// [`Failure::InUse`] if the row is neither of the two.
    pub(crate) async fn turn(
        &self,
        cluster: &Cluster,
        from: &Agreed,
        to: &Agreed,
    ) -> Result<(), Failure> {
        let mut from = from;
        let mut failure = None;
        for _ in 0..TRIES {
            let texts = [to, from].map(|row| (row.scope.to_string(), row.next_text()));
            let [(value, next), (if_value, if_next)] = texts;
            let values = (value, next, ROW, if_value, if_next);
            match cluster.run(&self.turn, values).await.and_then(applied) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(refused) if refused.for_good() => return Err(refused),
                // Also if too few nodes are up: that may be noticed only after the change was
                // decided.
                Err(other) => failure = Some(other),
            }
            match self.find(cluster).await? {
                // The change was made, but perhaps on too few nodes: it is repeated to be sure.
                Some(row) if row == *to => from = to,
                Some(row) if row == *from => {}
                _ => return Err(overtaken()),
            }
        }
        Err(failure.unwrap_or(Failure::Unknown("it could not be changed".to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_says_the_same_when_it_is_read() {
        for scope in [Scope::All, Scope::Datacenter("dc 1".to_owned())] {
            assert_eq!(Scope::parse(&scope.to_string()), Some(scope));
        }
        for other in ["", "QUORUM", "local_quorum", "one"] {
            assert_eq!(Scope::parse(other), None, "{other}");
        }
        let agreed = Agreed {
            scope: Scope::All,
            next: Some(Next {
                scope: Scope::Datacenter("a by b".to_owned()),
                by: "1-2-3".to_owned(),
            }),
        };
        let (value, next) = (agreed.scope.to_string(), agreed.next_text());
        assert_eq!(Agreed::parse(&value, &next), Some(agreed));
    }

    #[test]
    fn who_asks_other_nodes_is_refused_and_so_is_everybody_during_a_change() {
        let here = Scope::Datacenter("dc1".to_owned());
        let there = Scope::Datacenter("dc2".to_owned());
        let mut agreed = Agreed {
            scope: here.clone(),
            next: None,
        };
        assert_eq!(agreed.fits(&here, "varve"), Ok(()));
        for other in [&Scope::All, &there] {
            let refused = agreed.fits(other, "varve").unwrap_err();
            let message = refused.text();
            for part in [here.to_string(), other.to_string(), "varve".to_owned()] {
                assert!(message.contains(&part), "{message}");
            }
            assert!(refused.for_good());
        }
        agreed.next = Some(Next {
            scope: Scope::All,
            by: "1-2-3".to_owned(),
        });
        for own in [&Scope::All, &here, &there] {
            assert!(agreed.fits(own, "varve").is_err());
        }
    }
}
