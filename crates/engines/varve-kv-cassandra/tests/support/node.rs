//! The node that tests use, and engines that remove everything they created in it.

#![allow(dead_code, reason = "each test binary uses some of it")]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use varve_kv::{Engine, EngineExt, EngineLayer, KvError};
use varve_kv_cassandra::{CassandraConfig, CassandraEngine};

static ENGINES: AtomicU32 = AtomicU32::new(0);

/// The node's address; `None` if none is configured.
fn node() -> Option<&'static str> {
    static ADDRESS: OnceLock<Option<String>> = OnceLock::new();
    ADDRESS
        .get_or_init(|| {
            let given = std::env::var("VARVE_TEST_CASSANDRA").ok();
            if given.is_none() {
                eprintln!("skipped: VARVE_TEST_CASSANDRA names no node");
            }
            given
        })
        .as_deref()
}

/// An engine without spaces; removes what it has created when it is dropped.
pub(crate) struct Scratch {
    engine: CassandraEngine,
    config: CassandraConfig,
    first: bool,
}

impl Scratch {
    /// Creates an engine; `None` if no node is configured.
    pub(crate) fn new() -> Option<Self> {
        Self::configured(|_| {})
    }

    /// Creates an engine with a changed configuration; `None` if no node is configured.
    pub(crate) fn configured(change: impl FnOnce(&mut CassandraConfig)) -> Option<Self> {
        let number = ENGINES.fetch_add(1, Ordering::Relaxed);
        let keyspace = format!("t{}_{number}", std::process::id());
        let mut config = Self::usual(&keyspace)?;
        change(&mut config);
        Some(Self::with(config, true))
    }

    /// Creates an engine on the keyspace of another process, which also removes it. `None` if no
    /// node is configured.
    pub(crate) fn of_keyspace(keyspace: &str) -> Option<Self> {
        Some(Self::with(Self::usual(keyspace)?, false))
    }

    fn usual(keyspace: &str) -> Option<CassandraConfig> {
        let mut config = CassandraConfig::new(node()?);
        keyspace.clone_into(&mut config.keyspace);
        config.lease = Duration::from_secs(10);
        config.request_timeout = Duration::from_secs(20);
        Some(config)
    }

    /// The configuration of its connection.
    pub(crate) fn config(&self) -> &CassandraConfig {
        &self.config
    }

    /// The node given by `VARVE_TEST_CASSANDRA`.
    pub(crate) fn node(&self) -> &str {
        &self.config.contact_points[0]
    }

    /// The keyspace of the list, which distinguishes this engine's spaces from others'.
    pub(crate) fn keyspace(&self) -> &str {
        &self.config.keyspace
    }

    /// [`CassandraEngine::remove_list`].
    pub(crate) fn remove_list(&self) -> Result<(), KvError> {
        self.engine.remove_list()
    }

    fn with(config: CassandraConfig, first: bool) -> Self {
        let engine = CassandraEngine::connect(config.clone()).unwrap();
        Self {
            engine,
            config,
            first,
        }
    }

    /// Creates another engine on the same spaces, as another process would.
    pub(crate) fn again(&self) -> Self {
        Self::with(self.config.clone(), false)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.first && !std::thread::panicking() {
            for space in self.engine.space_names().unwrap() {
                self.engine.drop_space(&space, None).unwrap();
            }
            self.engine.remove_list().unwrap();
        }
    }
}

impl EngineLayer for Scratch {
    fn engine(&self) -> &dyn Engine {
        &self.engine
    }
}

/// Runs statements on the node, bypassing the engine, and returns the first column of the results,
/// as text or as a number.
pub(crate) fn asked<T>(engine: &Scratch, statements: &[String]) -> Vec<T>
where
    T: for<'frame, 'metadata> scylla::deserialize::value::DeserializeValue<'frame, 'metadata>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let session = scylla::client::session_builder::SessionBuilder::new()
            .known_node(engine.node())
            .build()
            .await
            .unwrap();
        let mut found = Vec::new();
        for statement in statements {
            let answer = session.query_unpaged(&**statement, ()).await.unwrap();
            if let Ok(answer) = answer.into_rows_result() {
                let rows = answer.rows::<(T,)>();
                found = rows.map_or(Vec::new(), |rows| rows.map(|row| row.unwrap().0).collect());
            }
        }
        found
    })
}
