//! The list of spaces and their keyspaces.
//!
//! The list is a table in a keyspace of the engine's own. Its rows are changed only by lightweight
//! transactions. A space exists from the moment its row is `ready` until the row is `dropping`. A
//! crash before or after that may leave a row and its keyspace. They are removed when the name is
//! used next, and those of a creation also by [`clear_begun`](varve_kv::Engine::clear_begun).
//!
//! A keyspace's name ends in unique digits. A keyspace is removed only if a row of this list names
//! it and that row can no longer become `ready`. So the keyspace of an existing space, or of
//! another installation, is never removed, whatever its name is.

use std::hash::{BuildHasher, RandomState};

use scylla::serialize::row::SerializeRow;
use scylla::statement::prepared::PreparedStatement;
use varve_kv::TableSpec;

use crate::clock;
use crate::cluster::{Cluster, Use};
use crate::failure::{Failure, unreadable};
use crate::lease::{self, LeaseTable};
use crate::log;
use crate::schema::{add_tables, create_keyspace, drop_keyspace, id, tables};
use crate::scope;
use crate::servers;
use crate::statements::{applied, quoted};

/// A keyspace's name contains up to this number of characters of the space's name, so that people
/// recognize it.
const NAME_CHARS: usize = 16;
/// Hexadecimal digits at the end of a keyspace's name. The whole name (engine's name, `_`, start of
/// the space's name, `_`, digits) has at most 48 bytes, Cassandra's limit.
const DIGITS: usize = 12;

/// The name of the list's table.
const LIST: &str = "spaces";

const READY: &str = "ready";
const CREATING: &str = "creating";
const DROPPING: &str = "dropping";

/// The list of spaces.
pub(crate) struct Directory {
    list: PreparedStatement,
    find: PreparedStatement,
    insert: PreparedStatement,
    turn: PreparedStatement,
    remove: PreparedStatement,
}

/// One row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) space: String,
    pub(crate) keyspace: String,
    state: String,
}

impl Entry {
    pub(crate) fn ready(&self) -> bool {
        self.state == READY
    }

    /// Whether the space can still become ready.
    pub(crate) fn begun(&self) -> bool {
        self.state == CREATING
    }
}

impl Directory {
    /// As [`Directory::open`], but requires an existing list, so that a misspelt keyspace name does
    /// not create an empty list.
    ///
    /// # Errors
    /// [`Failure::NoList`] if there is none.
    pub(crate) async fn open_existing(cluster: &Cluster) -> Result<Self, Failure> {
        let keyspace = &cluster.config.keyspace;
        let present = tables(cluster, keyspace).await?;
        if !present.iter().any(|name| name == LIST) {
            let none = format!("there is no keyspace '{keyspace}' with a list of spaces");
            return Err(Failure::NoList(none));
        }
        Self::open(cluster).await
    }

    /// Opens the list. Creates it, and the tables beside it, if they are missing.
    pub(crate) async fn open(cluster: &Cluster) -> Result<Self, Failure> {
        let keyspace = cluster.config.keyspace.clone();
        let table = quoted(&keyspace, LIST);
        let present = tables(cluster, &keyspace).await?;
        if !known(cluster, &keyspace, LIST, &present).await {
            create_keyspace(cluster, "IF NOT EXISTS ", &keyspace).await?;
            cluster.agree().await;
            cluster.define(list_definition(&keyspace)).await?;
        }
        if !known(cluster, &keyspace, scope::TABLE, &present).await {
            cluster.define(scope::definition(&keyspace)).await?;
        }
        if !known(cluster, &keyspace, servers::TABLE, &present).await {
            cluster.define(servers::definition(&keyspace)).await?;
        }
        cluster.agree().await;
        let list = format!("SELECT space, keyspace_name, state FROM {table}");
        let find = format!("{list} WHERE space = ?");
        let insert = format!(
            "INSERT INTO {table} (space, keyspace_name, state) VALUES (?, ?, ?) IF NOT EXISTS"
        );
        let turn = format!(
            "UPDATE {table} SET state = ? WHERE space = ? IF keyspace_name = ? AND state = ?"
        );
        let remove =
            format!("DELETE FROM {table} WHERE space = ? IF keyspace_name = ? AND state = ?");
        let mut find = cluster.prepare(&find, Use::Conditional).await?;
        find.set_consistency(cluster.in_order());
        let directory = Self {
            list: cluster.prepare(&list, Use::Read).await?,
            find,
            insert: cluster.prepare(&insert, Use::Conditional).await?,
            turn: cluster.prepare(&turn, Use::Conditional).await?,
            remove: cluster.prepare(&remove, Use::Conditional).await?,
        };
        // A lack of rights to read the list is reported here.
        directory.entries(cluster).await?;
        Ok(directory)
    }

    /// Returns all spaces, including unfinished ones, in the order of their names.
    pub(crate) async fn entries(&self, cluster: &Cluster) -> Result<Vec<Entry>, Failure> {
        let mut entries = self.rows(cluster, &self.list, ()).await?;
        entries.sort_by(|a, b| a.space.cmp(&b.space));
        Ok(entries)
    }

    /// Returns the current row of one space, linearized with all changes.
    pub(crate) async fn find(
        &self,
        cluster: &Cluster,
        space: &str,
    ) -> Result<Option<Entry>, Failure> {
        let rows = self.rows(cluster, &self.find, (space,)).await?;
        Ok(rows.into_iter().next())
    }

    async fn rows(
        &self,
        cluster: &Cluster,
        statement: &PreparedStatement,
        values: impl SerializeRow + Sync,
    ) -> Result<Vec<Entry>, Failure> {
        let result = cluster.run(statement, values).await?;
        let rows = result.into_rows_result().map_err(unreadable)?;
        let rows = rows
            .rows::<(String, String, String)>()
            .map_err(unreadable)?;
        let rows = rows.map(|row| {
            let (space, keyspace, state) = row.map_err(unreadable)?;
            Ok(Entry {
                space,
                keyspace,
                state,
            })
        });
        rows.collect()
    }

    /// Creates the keyspace and the tables of a space that is not ready, and lists it.
    ///
    /// # Errors
    /// [`Failure::InUse`] when another process is creating it.
    pub(crate) async fn create(
        &self,
        cluster: &Cluster,
        space: &str,
        specs: &[TableSpec],
    ) -> Result<Entry, Failure> {
        match self.find(cluster, space).await? {
            // Another process has created it since the caller's check.
            Some(made) if made.ready() => return Ok(made),
            Some(left) => self.remove(cluster, &left).await?,
            None => {}
        }
        let keyspace = keyspace_name(&cluster.config.keyspace, space, random());
        let values = (space, &keyspace, CREATING);
        let listed = cluster.run(&self.insert, values).await.and_then(applied);
        if !self
            .settled(cluster, listed, space, &keyspace, CREATING)
            .await?
        {
            return Err(in_another_process(space));
        }
        if let Err(failure) = define_all(cluster, &keyspace, specs).await {
            let listed = self.find(cluster, space).await?;
            return Err(match listed {
                Some(row) if row.keyspace == keyspace && row.state == CREATING => failure,
                // Definitions fail if another process has removed the keyspace.
                _ => in_another_process(space),
            });
        }
        let mut entry = Entry {
            space: space.to_owned(),
            keyspace,
            state: CREATING.to_owned(),
        };
        if !self.turn(cluster, &mut entry, READY).await? {
            // Another process has removed the row or taken the name, so this keyspace can never
            // become ready.
            drop_keyspace(cluster, &entry.keyspace).await?;
            return Err(in_another_process(space));
        }
        Ok(entry)
    }

    /// Removes a space with its keyspace.
    ///
    /// # Errors
    /// [`Failure::InUse`] if the space's row has changed since `entry` was read. A change to
    /// `dropping` is no error.
    pub(crate) async fn remove(&self, cluster: &Cluster, entry: &Entry) -> Result<(), Failure> {
        let mut entry = entry.clone();
        if entry.state != DROPPING && !self.turn(cluster, &mut entry, DROPPING).await? {
            return Err(in_another_process(&entry.space));
        }
        // The state `dropping` is final, so no process opens the space now.
        drop_keyspace(cluster, &entry.keyspace).await?;
        let values = (&entry.space, &entry.keyspace, DROPPING);
        // If the row is gone, another process has removed it; that is no error.
        cluster.run(&self.remove, values).await.map(drop)
    }

    /// Changes the state in the list and in `entry`, if the list still has the state of `entry`.
    /// Returns whether it did so.
    async fn turn(&self, cluster: &Cluster, entry: &mut Entry, to: &str) -> Result<bool, Failure> {
        let Entry {
            space,
            keyspace,
            state,
        } = &*entry;
        let values = (to, space, keyspace, state);
        let turned = cluster.run(&self.turn, values).await.and_then(applied);
        let turned = self.settled(cluster, turned, space, keyspace, to).await?;
        if turned {
            to.clone_into(&mut entry.state);
        }
        Ok(turned)
    }

    /// Returns whether a change to `state` was made, even if its answer was lost.
    async fn settled(
        &self,
        cluster: &Cluster,
        answer: Result<bool, Failure>,
        space: &str,
        keyspace: &str,
        state: &str,
    ) -> Result<bool, Failure> {
        match answer {
            Ok(true) => Ok(true),
            Ok(false) | Err(Failure::Unknown(_)) => {
                // The keyspace's name is unique, so a row with it shows if the change was made.
                match self.find(cluster, space).await? {
                    Some(row) if row.keyspace != keyspace || row.state == DROPPING => {
                        Ok(row.keyspace == keyspace && state == DROPPING)
                    }
                    Some(row) if row.state == state => Ok(true),
                    // A change whose answer was lost may still be made.
                    _ => answer,
                }
            }
            Err(failure) => Err(failure),
        }
    }
}

fn in_another_process(space: &str) -> Failure {
    Failure::InUse(format!(
        "'{space}' is being made or removed by another process; try again when that has ended"
    ))
}

/// Creates the keyspace of a space with all its tables.
async fn define_all(cluster: &Cluster, keyspace: &str, specs: &[TableSpec]) -> Result<(), Failure> {
    // Without "if not exists": an existing keyspace is not ours.
    create_keyspace(cluster, "", keyspace).await?;
    add_tables(cluster, keyspace, specs, &[]).await?;
    cluster.define(log::definition(keyspace)).await?;
    cluster.define(lease::definition(keyspace)).await?;
    cluster.learn().await?;
    // An existing space without this row is not served: its keyspace was made anew.
    cluster.agree().await;
    let table = LeaseTable::open(cluster, keyspace).await?;
    table.create(cluster).await
}

/// Whether statements on a table can be prepared. While another server's definition is under way, a
/// node lists a table shortly before it knows it; a definition by this server waits for that one.
async fn known(cluster: &Cluster, keyspace: &str, name: &str, present: &[String]) -> bool {
    let any = format!("SELECT * FROM {} LIMIT 1", quoted(keyspace, name));
    present.iter().any(|listed| listed == name) && cluster.prepare(&any, Use::Read).await.is_ok()
}

fn list_definition(keyspace: &str) -> String {
    let (table, id) = (quoted(keyspace, LIST), id(keyspace, LIST));
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (space text PRIMARY KEY, keyspace_name text, state text) WITH id = '{id}'"
    )
}

/// Returns the name of a new space's keyspace.
fn keyspace_name(engine: &str, space: &str, random: u64) -> String {
    let start: String = space.chars().take(NAME_CHARS).collect();
    let digits = random & ((1 << (4 * DIGITS)) - 1);
    format!("{engine}_{start}_{digits:0DIGITS$x}")
}

/// A random number, seeded by the operating system.
fn random() -> u64 {
    RandomState::new().hash_one(clock::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_space_has_a_keyspace_of_its_own() {
        assert_eq!(
            keyspace_name("varve", "hugegraph", 0xab),
            "varve_hugegraph_0000000000ab"
        );
        let longest = keyspace_name(&"e".repeat(16), &"a".repeat(48), u64::MAX);
        assert!(longest.len() <= 48, "{longest}");
        assert_ne!(random(), random());
        // The keyspace of a space never has the name of another installation's own keyspace.
        assert_ne!(keyspace_name("varve", "a", random()), "varve_a");
        assert_ne!(
            keyspace_name("varve", "a_b", random()),
            keyspace_name("varve_a", "b", random())
        );
    }
}
