//! Which spaces there are, and which keyspace is whose.
//!
//! A keyspace of the engine's own lists them. A space is there from the moment that its row says `ready` until it says
//! `dropping`; what a crash leaves between is removed when the name is used next, or asked for.

use scylla::statement::prepared::PreparedStatement;
use varve_kv::TableSpec;

use crate::cluster::{Cluster, Use};
use crate::failure::Failure;
use crate::lease;
use crate::log;
use crate::statements::quoted;

/// The most bytes of a keyspace's name.
const KEYSPACE_BYTES_MAX: usize = 48;
/// Bytes of a long space's name that its keyspace's name begins with.
const SHORTENED_BYTES: usize = 16;

const READY: &str = "ready";
const CREATING: &str = "creating";
const DROPPING: &str = "dropping";

/// The list of spaces.
pub(crate) struct Directory {
    list: PreparedStatement,
    put: PreparedStatement,
    remove: PreparedStatement,
}

/// One row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) space: String,
    pub(crate) keyspace: String,
    pub(crate) ready: bool,
}

impl Directory {
    /// Makes the list if there is none.
    pub(crate) async fn open(cluster: &Cluster) -> Result<Self, Failure> {
        let keyspace = cluster.config.keyspace.clone();
        let table = quoted(&keyspace, "spaces");
        create_keyspace(cluster, &keyspace).await?;
        cluster
            .define(format!(
                "CREATE TABLE IF NOT EXISTS {table} (space text PRIMARY KEY, keyspace_name text, state text)"
            ))
            .await?;
        let list = format!("SELECT space, keyspace_name, state FROM {table}");
        let put = format!("INSERT INTO {table} (space, keyspace_name, state) VALUES (?, ?, ?)");
        let remove = format!("DELETE FROM {table} WHERE space = ?");
        Ok(Self {
            list: cluster.prepare(&list, Use::Read).await?,
            put: cluster.prepare(&put, Use::Write).await?,
            remove: cluster.prepare(&remove, Use::Write).await?,
        })
    }

    /// All spaces by name, those that are not whole too.
    pub(crate) async fn entries(&self, cluster: &Cluster) -> Result<Vec<Entry>, Failure> {
        let result = cluster.run(&self.list, ()).await?;
        let failed = |error: &dyn std::fmt::Display| Failure::Unknown(error.to_string());
        let rows = result.into_rows_result().map_err(|error| failed(&error))?;
        let rows = rows
            .rows::<(String, String, String)>()
            .map_err(|error| failed(&error))?;
        let mut entries = Vec::new();
        for row in rows {
            let (space, keyspace, state) = row.map_err(|error| failed(&error))?;
            let ready = state == READY;
            entries.push(Entry {
                space,
                keyspace,
                ready,
            });
        }
        entries.sort_by(|a, b| a.space.cmp(&b.space));
        Ok(entries)
    }

    /// Makes the keyspace of a new space, with its tables, and lists it.
    pub(crate) async fn create(
        &self,
        cluster: &Cluster,
        space: &str,
        entries: &[Entry],
        specs: &[TableSpec],
    ) -> Result<Entry, Failure> {
        let keyspace = keyspace_name(&cluster.config.keyspace, space, entries);
        cluster.run(&self.put, (space, &keyspace, CREATING)).await?;
        // What a crash may have left has rows.
        drop_keyspace(cluster, &keyspace).await?;
        create_keyspace(cluster, &keyspace).await?;
        add_tables(cluster, &keyspace, specs, &[]).await?;
        cluster.define(log::definition(&keyspace)).await?;
        cluster.define(lease::definition(&keyspace)).await?;
        cluster.learn().await?;
        cluster.run(&self.put, (space, &keyspace, READY)).await?;
        Ok(Entry {
            space: space.to_owned(),
            keyspace,
            ready: true,
        })
    }

    /// Removes a space with its keyspace.
    pub(crate) async fn remove(&self, cluster: &Cluster, entry: &Entry) -> Result<(), Failure> {
        cluster
            .run(&self.put, (&entry.space, &entry.keyspace, DROPPING))
            .await?;
        drop_keyspace(cluster, &entry.keyspace).await?;
        cluster.run(&self.remove, (&entry.space,)).await?;
        Ok(())
    }
}

async fn create_keyspace(cluster: &Cluster, keyspace: &str) -> Result<(), Failure> {
    let (datacenter, copies) = (&cluster.config.datacenter, cluster.config.replication);
    let nodes = cluster.node_count();
    if usize::from(copies) > nodes {
        return Err(Failure::Refused(format!(
            "each row is to be kept by {copies} nodes, but datacenter '{datacenter}' has {nodes}"
        )));
    }
    cluster
        .define(format!(
            "CREATE KEYSPACE IF NOT EXISTS \"{keyspace}\" WITH replication = \
             {{'class': 'NetworkTopologyStrategy', '{datacenter}': {copies}}}"
        ))
        .await
}

/// Removes a keyspace with all in it, if it is there.
pub(crate) async fn drop_keyspace(cluster: &Cluster, keyspace: &str) -> Result<(), Failure> {
    cluster
        .define(format!("DROP KEYSPACE IF EXISTS \"{keyspace}\""))
        .await
}

/// Makes the tables of `specs` that are not among `present`.
pub(crate) async fn add_tables(
    cluster: &Cluster,
    keyspace: &str,
    specs: &[TableSpec],
    present: &[String],
) -> Result<(), Failure> {
    let missing = specs
        .iter()
        .filter(|spec| !present.iter().any(|name| name == spec.name));
    for spec in missing {
        cluster.define(table_definition(keyspace, spec)).await?;
    }
    Ok(())
}

fn table_definition(keyspace: &str, spec: &TableSpec) -> String {
    let table = quoted(keyspace, spec.name);
    let (chunk_kib, compressor) = match spec.cold {
        true => (64, "ZstdCompressor"),
        false => (16, "LZ4Compressor"),
    };
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (p blob, c blob, v blob, PRIMARY KEY (p, c)) WITH compression = \
         {{'class': '{compressor}', 'chunk_length_in_kb': {chunk_kib}}}"
    )
}

/// The tables that a keyspace has.
pub(crate) async fn tables(cluster: &Cluster, keyspace: &str) -> Result<Vec<String>, Failure> {
    let statement = cluster
        .prepare(
            "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?",
            Use::Read,
        )
        .await?;
    let result = cluster.run(&statement, (keyspace,)).await?;
    let failed = |error: &dyn std::fmt::Display| Failure::Unknown(error.to_string());
    let rows = result.into_rows_result().map_err(|error| failed(&error))?;
    let rows = rows.rows::<(String,)>().map_err(|error| failed(&error))?;
    rows.map(|row| row.map(|(name,)| name).map_err(|error| failed(&error)))
        .collect()
}

/// The keyspace of a new space: its own name behind the engine's, shortened and numbered if that is too long.
fn keyspace_name(engine: &str, space: &str, entries: &[Entry]) -> String {
    if let Some(known) = entries.iter().find(|entry| entry.space == space) {
        return known.keyspace.clone();
    }
    let whole = format!("{engine}_{space}");
    if whole.len() <= KEYSPACE_BYTES_MAX {
        return whole;
    }
    let start = &space[..SHORTENED_BYTES];
    let numbered = (1..).map(|number| format!("{engine}_{start}_{number}"));
    let taken = |name: &String| entries.iter().any(|entry| entry.keyspace == *name);
    numbered
        .into_iter()
        .find(|name| !taken(name))
        .expect("there are more numbers than spaces")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_space_has_a_keyspace_of_its_own() {
        assert_eq!(keyspace_name("varve", "hugegraph", &[]), "varve_hugegraph");
        let long = "a".repeat(48);
        let first = keyspace_name("varve", &long, &[]);
        assert!(first.len() <= KEYSPACE_BYTES_MAX, "{first}");
        let entry = Entry {
            space: long.clone(),
            keyspace: first.clone(),
            ready: true,
        };
        assert_eq!(
            keyspace_name("varve", &long, std::slice::from_ref(&entry)),
            first
        );
        let other = format!("{}b", "a".repeat(47));
        assert_ne!(keyspace_name("varve", &other, &[entry]), first);
    }
}
