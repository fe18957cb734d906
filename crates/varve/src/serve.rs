//! `varve serve`: opens the data, starts the listeners, runs until a signal.

use std::process::ExitCode;
use std::sync::Arc;

use varve_graph::maintenance::Maintenance;
use varve_server::AppState;

use crate::CommandError;
use crate::cli::ServeArguments;
use crate::config::Config;
use crate::{data, logging, metadata};

/// Serves until SIGTERM or SIGINT, then answers what is in work and closes the data.
pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode, CommandError> {
    let config = arguments.load()?;
    logging::start(&config.log.level);
    let engine = data::open_engine(&config)?;
    let graphs = data::open_graphs(&config, Arc::clone(&engine))?;
    let metadata = metadata::open(&config, &graphs)?;
    let maintenance = Maintenance::start(
        Arc::clone(&graphs),
        config.maintenance.options(),
        |graph, error| tracing::warn!(graph, %error, "upkeep failed and is tried again"),
    )?;
    let mut server_config = config.server.clone();
    if server_config.backup_root.as_os_str().is_empty() && config.storage.engine != "memory" {
        server_config.backup_root = config.storage.data_dir.join("backups");
    }
    let identity = metadata.as_ref().map(|metadata| {
        let repository = &metadata.repository;
        repository.get_metadata_collection_id().to_owned()
    });
    let locked = metadata::locked(&config, &graphs)?;
    let graphs_of = Arc::clone(&graphs);
    let state = AppState::with_metadata(server_config, graphs_of, &[], metadata, locked)?;
    let server = varve_server::start(&state)?;
    announce(&config, &server.address().to_string(), &graphs.names());
    if let Some(identity) = identity {
        let name = config.omrs.server_names.first();
        let name = name.map_or("<any name>", String::as_str);
        println!("  metadata    /servers/{name}, metadata collection {identity}");
    }
    server.run_until_signal()?;
    engine.stop_waiting();
    drop(maintenance);
    for name in graphs.names() {
        graphs.get(&name)?.space().sync()?;
    }
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Says what runs where. The address line is on standard output, so that a program that starts the server with port 0
/// can read it.
fn announce(config: &Config, address: &str, graphs: &[String]) {
    let memory_mib = data::memory_bytes(config) >> 20;
    let embedded = !matches!(&*config.storage.engine, "memory" | "cassandra");
    let folder = match config.storage.engine.as_str() {
        "memory" => "nowhere: gone when the server stops".to_owned(),
        "cassandra" => {
            let cluster = &config.storage.cassandra;
            let nodes = cluster.contact_points.join(", ");
            format!("keyspaces {}_* of the cluster at {nodes}", cluster.keyspace)
        }
        _ => {
            let folder = &config.storage.data_dir;
            std::fs::canonicalize(folder)
                .unwrap_or_else(|_| folder.clone())
                .display()
                .to_string()
        }
    };
    println!(
        "varve {} serves on http://{address}",
        env!("CARGO_PKG_VERSION")
    );
    println!("  engine      {}", config.storage.engine);
    println!("  data        {folder}");
    match config.storage.engine.as_str() {
        "cassandra" => println!("  durability  most replicas have it, as the cluster syncs them"),
        _ => println!("  durability  {}", config.storage.durability),
    }
    if embedded {
        println!("  memory      {memory_mib} MiB for caches and write buffers");
    }
    println!("  graphs      {}", graphs.join(", "));
}
