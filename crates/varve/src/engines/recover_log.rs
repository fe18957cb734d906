//! `varve recover-log`: repairs graphs whose write-ahead log is damaged, missing or of another
//! store.

use std::process::ExitCode;

use varve_encoding::tables::TABLES;
use varve_graph::registry::graph_of_space;
use varve_kv::EngineExt as _;
use varve_kv_rocksdb::{LogRecovery, RocksEngine};

use super::stored::rocksdb_options;
use crate::cli::RecoverLogArguments;
use crate::{CommandError, logging};

pub(crate) fn recover_log(arguments: &RecoverLogArguments) -> Result<ExitCode, CommandError> {
    let config = arguments.options.load()?;
    if config.storage.engine != "rocksdb" {
        return Err(format!("engine {} has no such log", config.storage.engine).into());
    }
    logging::start_for_command(&config.log);
    let engine = RocksEngine::open_existing(&rocksdb_options(&config))?;
    let (mut is_known, mut failed) = (false, 0_usize);
    for space in engine.space_names()? {
        let graph = graph_of_space(&space).unwrap_or(&space);
        if arguments.graph.as_deref().is_some_and(|only| only != graph) {
            continue;
        }
        is_known = true;
        match engine.recover_log(&space, TABLES) {
            Err(error) => {
                failed += 1;
                println!("{space}: not recovered: {error}");
            }
            Ok(LogRecovery::Sound) => println!("{space}: the log is sound, nothing was changed"),
            Ok(LogRecovery::Recovered {
                damage,
                salvaged,
                aside,
            }) => {
                println!("{space}: {damage}");
                let until = salvaged.end.map_or_else(String::new, |(file, byte)| {
                    format!(", up to byte {byte} of {}", file.display())
                });
                println!(
                    "{space}: {} records of its log were stored{until}; later records are not in the graph. \
                     The log is kept in {}",
                    salvaged.payloads,
                    aside.display()
                );
            }
        }
    }
    match &arguments.graph {
        Some(graph) if !is_known => Err(format!("there is no graph '{graph}'").into()),
        _ if failed > 0 => Err(format!("{failed} logs could not be recovered").into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
