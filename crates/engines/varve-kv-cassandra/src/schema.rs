//! The keyspaces and tables of the cluster: what defines, lists and removes them.

use varve_kv::TableSpec;

use crate::cluster::{Cluster, Use};
use crate::failure::{Failure, unreadable};
use crate::statements::quoted;

/// Creates a keyspace; `condition` is empty or `IF NOT EXISTS `.
pub(crate) async fn create_keyspace(
    cluster: &Cluster,
    condition: &str,
    keyspace: &str,
) -> Result<(), Failure> {
    let config = &cluster.config;
    let copies = config.replication;
    let mut replication = "'class': 'NetworkTopologyStrategy'".to_owned();
    for datacenter in std::iter::once(&config.datacenter).chain(&config.further_datacenters) {
        let nodes = cluster.node_count_settled(datacenter, usize::from(copies));
        let nodes = nodes.await;
        if usize::from(copies) > nodes {
            return Err(Failure::Refused(format!(
                "each row is to be kept by {copies} nodes, but datacenter '{datacenter}' has {nodes}"
            )));
        }
        replication.push_str(&format!(", '{datacenter}': {copies}"));
    }
    cluster
        .define(format!(
            "CREATE KEYSPACE {condition}\"{keyspace}\" WITH replication = {{{replication}}}"
        ))
        .await
}

/// Removes a keyspace with its content, if it exists.
pub(crate) async fn drop_keyspace(cluster: &Cluster, keyspace: &str) -> Result<(), Failure> {
    cluster
        .define(format!("DROP KEYSPACE IF EXISTS \"{keyspace}\""))
        .await
}

/// Removes a table with its content, if it exists.
pub(crate) async fn drop_table(
    cluster: &Cluster,
    keyspace: &str,
    table: &str,
) -> Result<(), Failure> {
    let table = quoted(keyspace, table);
    cluster
        .define(format!("DROP TABLE IF EXISTS {table}"))
        .await
}

/// Creates the tables of `specs` that are not in `present`.
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
    let (table, id) = (quoted(keyspace, spec.name), id(keyspace, spec.name));
    let (chunk_kib, compressor) = match spec.cold {
        true => (64, "ZstdCompressor"),
        false => (16, "LZ4Compressor"),
    };
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (p blob, c blob, v blob, PRIMARY KEY (p, c)) WITH id = '{id}' AND compression = \
         {{'class': '{compressor}', 'chunk_length_in_kb': {chunk_kib}}}"
    )
}

/// Returns a table's id, which its definition contains. Two servers may create a table at the same
/// time, through nodes that do not know each other's definition yet. With random ids, one of the
/// two tables would be lost with its rows; equal ids make it the same table.
///
/// A table that is dropped and created again should have another id. The tables of spaces do, since
/// the names of spaces' keyspaces are never reused.
pub(crate) fn id(keyspace: &str, table: &str) -> String {
    let hash = xxhash_rust::xxh3::xxh3_128(quoted(keyspace, table).as_bytes());
    // Version 8 of UUIDs: custom.
    let hash = hash & !(0xf << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62;
    let part = |from: u32, digits: u32| (hash >> from) & ((1 << (4 * digits)) - 1);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        part(96, 8),
        part(80, 4),
        part(64, 4),
        part(48, 4),
        part(0, 12)
    )
}

/// Returns the tables of a keyspace.
pub(crate) async fn tables(cluster: &Cluster, keyspace: &str) -> Result<Vec<String>, Failure> {
    let statement = cluster
        .prepare(
            "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?",
            Use::Read,
        )
        .await?;
    let result = cluster.run(&statement, (keyspace,)).await?;
    let rows = result.into_rows_result().map_err(unreadable)?;
    let rows = rows.rows::<(String,)>().map_err(unreadable)?;
    rows.map(|row| row.map(|(name,)| name).map_err(unreadable))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_the_same_id_whoever_makes_it() {
        let of = id("varve_hugegraph_0000000000ab", "vertices");
        assert_eq!(of, id("varve_hugegraph_0000000000ab", "vertices"));
        assert_ne!(of, id("varve_hugegraph_0000000000ab", "edges"));
        assert_ne!(of, id("varve_hugegraph_0000000000ac", "vertices"));
        let parts: Vec<usize> = of.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{of}");
        assert_eq!(of.as_bytes()[14], b'8', "{of}");
        assert!(b"89ab".contains(&of.as_bytes()[19]), "{of}");
    }
}
