//! `varve serve`: opens the data, starts the listeners, runs until a signal.
//!
//! With a store on the network, the server listens before the store is reachable, answers 503, and
//! keeps trying. Its sockets then pass to the real server, and no connection is lost.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use varve_backup::Location;
use varve_graph::Registry;
use varve_graph::maintenance::{Finding, Maintenance};
use varve_graph::registry::{Change, GraphLocation, SYSTEM_GRAPH, Tending};
use varve_kv::{Engine, KvError};
use varve_server::{AppState, Listeners, Metadata, RunningServer, version};

use crate::CommandError;
use crate::cli::ServeArguments;
use crate::config::Config;
use crate::{data, logging, metadata, users};

/// How long a stop waits for backups and verifications to notice it.
const JOBS_END: Duration = Duration::from_secs(10);
/// The pause between two attempts to open an unreachable store.
const STORE_AGAIN: Duration = Duration::from_secs(2);
/// The server keeps freed memory up to the memory budget divided by this: enough for one front
/// table and its index, so that the next table uses the memory of a flushed one. Returning that
/// memory would split the huge pages of live data beside it.
#[cfg(feature = "jemalloc")]
const DIRTY_SHARE: u64 = 4;

/// Serves until SIGTERM or SIGINT, then finishes the running requests and closes the data.
pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode, CommandError> {
    let mut config = arguments.load()?;
    logging::start(&config.log);
    tracing::info!(
        version = version::VERSION,
        commit = version::commit(),
        "starting"
    );
    if config.storage.engine == "cassandra"
        && let Some(warning) = config.unreachable_by_others()
    {
        tracing::warn!("{warning}");
    }
    check_reach(&config)?;
    #[cfg(feature = "jemalloc")]
    crate::allocator::return_over(data::memory_bytes(&config) / DIRTY_SHARE);
    let early = Early::listen(&mut config)?;
    let Data {
        engine,
        graphs,
        metadata,
    } = match &early {
        Some(_) => Data::open_once_there(&config)?,
        None => Data::open(&config)?,
    };
    log_changes(&graphs);
    let maintenance = maintain(&graphs, &config)?;
    let tending = tend(&graphs)?;
    let mut server_config = config.whole_server();
    if server_config.backup_root.as_os_str().is_empty() && config.storage.engine != "memory" {
        server_config.backup_root = config.storage.data_dir.join("backups");
    }
    if config.storage.engine == "cassandra" && !server_config.backup.to.is_empty() {
        // Each server backs up the graphs that it leads.
        let to = Location::of_writer(&server_config.backup.to, &config.advertised()?);
        server_config.backup.to = to;
    }
    let identity = metadata.as_ref().and_then(|metadata| {
        // If another server leads the graph, that server announces the repository.
        let repository = metadata.repository.get(&graphs, &metadata.graph).ok()?;
        Some(repository.get_metadata_collection_id().to_owned())
    });
    let locked = metadata::locked(&config, &graphs)?;
    let graphs_of = Arc::clone(&graphs);
    let state = AppState::with_metadata(server_config, graphs_of, &[], metadata, locked)?;
    let password = match state.auth() {
        // If another server leads the users, the administrator exists already.
        Some(auth) if auth.leads() => users::make_administrator(auth)?,
        _ => None,
    };
    let server = match early {
        Some(early) => early.hand_over(&state)?,
        None => varve_server::start(&state)?,
    };
    varve_server::schedule_backups(&state)?;
    server.run_until_signal(|server| {
        announce(&config, &server.address().to_string(), &graphs);
        announce_more(&config, server, password, identity);
    })?;
    engine.stop_waiting();
    varve_server::end_jobs(&state, JOBS_END);
    drop((tending, maintenance));
    sync_all(&graphs)?;
    // Gives up the leadership of the users, so that another server can take it at once.
    if let Some(auth) = state.auth() {
        auth.follow();
    }
    drop(state);
    graphs.close();
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Starts the background maintenance and logs its findings.
fn maintain(graphs: &Arc<Registry>, config: &Config) -> Result<Maintenance, CommandError> {
    let maintenance = Maintenance::start(
        Arc::clone(graphs),
        config.maintenance.options(),
        |finding| match finding {
            Finding::Failed { graph, error } => {
                tracing::warn!(graph, %error, "maintenance failed; it is retried");
            }
            Finding::AheadOfClock { graph, detail } => {
                tracing::warn!(graph, detail, "the graph is ahead of the clock");
            }
            Finding::ClockJumped { detail } => tracing::warn!(detail, "the clock jumped"),
        },
    )?;
    Ok(maintenance)
}

/// Prints what the server offers besides the main listener.
fn announce_more(
    config: &Config,
    server: &RunningServer,
    password: Option<String>,
    identity: Option<String>,
) {
    if let Some(password) = password {
        println!("  admin user  made; its password, which is not shown again: {password}");
    }
    if let Some(address) = server.admin_address() {
        println!("  admin       {}://{address}", scheme(config, "http"));
    }
    if let Some(address) = server.gremlin_address() {
        println!("  gremlin     {}://{address}/gremlin", scheme(config, "ws"));
    }
    if let Some(address) = server.bolt_address() {
        let scheme = if config.whole_server().tls.is_on() {
            "bolt+s"
        } else {
            "bolt"
        };
        println!("  bolt        {scheme}://{address}");
    }
    if let Some(identity) = identity {
        let name = config.omrs.server_names.first();
        let name = name.map_or("<any name>", String::as_str);
        println!("  metadata    /servers/{name}, metadata collection {identity}");
    }
}

/// Syncs the writes that were acknowledged before they were on stable storage.
fn sync_all(graphs: &Registry) -> Result<(), CommandError> {
    for name in graphs.open_names() {
        graphs.get(&name)?.space().sync()?;
    }
    if let GraphLocation::Here(system) = graphs.place(SYSTEM_GRAPH) {
        system.space().sync()?;
    }
    Ok(())
}

/// The opened engine, graphs and metadata repository.
struct Data {
    engine: Arc<dyn Engine>,
    graphs: Arc<Registry>,
    metadata: Option<Metadata>,
}

impl Data {
    fn open(config: &Config) -> Result<Self, CommandError> {
        let engine = data::open_server_engine(config)?;
        let ahead_max = config.storage.clock_ahead_max();
        let graphs = data::open_graphs(config, Arc::clone(&engine), ahead_max)?;
        let unopened = graphs.unopened();
        for (graph, reason) in &unopened {
            tracing::error!(%graph, %reason,
                "the graph cannot be opened; others are served"
            );
        }
        if let Some((graph, reason)) = unopened.first()
            && graphs.open_names().is_empty()
            && !graphs.is_shared()
        {
            return Err(format!("graph '{graph}' cannot be opened: {reason}").into());
        }
        let metadata = metadata::open(config, &graphs)?;
        Ok(Self {
            engine,
            graphs,
            metadata,
        })
    }

    /// As [`Data::open`], retried while the store is unreachable.
    fn open_once_there(config: &Config) -> Result<Self, CommandError> {
        loop {
            match Self::open(config) {
                Err(error) if is_away(&*error) => {
                    tracing::warn!(%error, "the store cannot be reached; waiting for it");
                    std::thread::sleep(STORE_AGAIN);
                }
                opened => return opened,
            }
        }
    }
}

/// Whether an error or one of its causes means that the store may become available.
fn is_away(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let error_of_store = error.downcast_ref::<KvError>();
        if let Some(KvError::Away { .. } | KvError::Busy { .. }) = error_of_store {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A server that answers 503 until the data is open.
struct Early {
    listeners: Listeners,
    server: RunningServer,
}

impl Early {
    /// Listens early if the store is on the network. Sets the port in the configuration to the
    /// bound one.
    fn listen(config: &mut Config) -> Result<Option<Self>, CommandError> {
        if config.storage.engine != "cassandra" {
            return Ok(None);
        }
        let listeners = Listeners::bind(&config.server)?;
        config.server.port = listeners.address().port();
        let state = AppState::waiting(&config.server)?;
        let server = varve_server::start_on(listeners.share()?, &state)?;
        println!(
            "varve {} listens on {}://{} and waits for its store",
            env!("CARGO_PKG_VERSION"),
            scheme(config, "http"),
            listeners.address()
        );
        Ok(Some(Self { listeners, server }))
    }

    /// Passes the sockets to a server of `state`. The early server finishes its own requests.
    fn hand_over(self, state: &Arc<AppState>) -> Result<RunningServer, CommandError> {
        self.server.stop_accepting()?;
        Ok(varve_server::start_on(self.listeners, state)?)
    }
}

/// Logs when this server gains or loses the lead of a graph, and spaces that could not be removed.
fn log_changes(graphs: &Registry) {
    graphs.observe(|graph, change| match change {
        Change::Leads { term } => tracing::info!(graph, term, "this server leads the graph now"),
        Change::Lost => tracing::warn!(
            graph,
            "this server no longer leads the graph: another server has taken it over, or it must be reopened"
        ),
        Change::NotRemoved { detail } => {
            tracing::warn!(
                graph,
                detail,
                "a dropped or cleared graph's space could not be removed; it is retried"
            );
        }
    });
}

/// Refuses a listener that other machines can reach without authentication, unless the options
/// explicitly allow it.
fn check_reach(config: &Config) -> Result<(), CommandError> {
    let server = config.whole_server();
    let listeners = [
        ("server.host", Some(server.host)),
        (
            "server.admin_listen",
            server.admin_address()?.map(|address| address.ip()),
        ),
        (
            "gremlin.listen",
            server.gremlin_address()?.map(|address| address.ip()),
        ),
        (
            "bolt.listen",
            server.bolt_address()?.map(|address| address.ip()),
        ),
    ];
    for (option, address) in listeners {
        let Some(address) = address.filter(|address| !address.is_loopback()) else {
            continue;
        };
        if server.auth.enabled && server.tls.is_on() {
            continue;
        }
        if server.auth.enabled {
            tracing::warn!(
                option, %address,
                "the server listens on a non-loopback address without TLS: passwords and tokens can be read on the way; \
                 set tls.certificate_file, or put a proxy with TLS in front"
            );
        } else if server.allow_anonymous {
            tracing::warn!(
                option, %address,
                "the server listens on a non-loopback address without authentication: everyone who reaches it can \
                 read and change everything"
            );
        } else {
            return Err(format!(
                "{option} is {address}, which others reach, and authentication is off: set auth.enabled=true, or \
                 server.allow_anonymous=true if everyone who reaches it may read and change everything"
            )
            .into());
        }
    }
    Ok(())
}

/// The interval at which a server checks who leads the graphs that it does not lead.
const TEND_EVERY: Duration = Duration::from_millis(500);

/// Starts to watch the leaders of the graphs, if the store is shared by several servers.
fn tend(graphs: &Arc<Registry>) -> Result<Option<Tending>, CommandError> {
    if !graphs.is_shared() {
        return Ok(None);
    }
    let tending = Tending::start(Arc::clone(graphs), TEND_EVERY, |graph, error| {
        tracing::warn!(graph, %error, "the leader is unknown, or the graph cannot be taken over; it is retried");
    })?;
    Ok(Some(tending))
}

/// The scheme of an address: `plain`, with an `s` appended if TLS is on.
fn scheme(config: &Config, plain: &str) -> String {
    match config.tls.is_on() {
        true => format!("{plain}s"),
        false => plain.to_owned(),
    }
}

/// Prints the addresses and the engine. The line with the address goes to standard output, so that
/// a program that starts the server with port 0 can read the port.
fn announce(config: &Config, address: &str, graphs: &Registry) {
    let memory_mib = data::memory_bytes(config) >> 20;
    let embedded = !matches!(&*config.storage.engine, "memory" | "cassandra");
    let folder = match config.storage.engine.as_str() {
        "memory" => "in memory: lost when the server stops".to_owned(),
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
        "varve {} serves on {}://{address}",
        env!("CARGO_PKG_VERSION"),
        scheme(config, "http")
    );
    println!("  engine      {}", config.storage.engine);
    println!("  data        {folder}");
    match config.storage.engine.as_str() {
        "cassandra" => println!("  durability  a quorum of replicas, as the cluster syncs them"),
        _ => println!("  durability  {}", config.storage.durability),
    }
    if embedded {
        println!("  memory      {memory_mib} MiB for caches and write buffers");
    }
    println!("  graphs      {}", graphs.names().join(", "));
    for (graph, reason) in graphs.unopened() {
        println!("  not served  {graph}: {reason}");
    }
}
