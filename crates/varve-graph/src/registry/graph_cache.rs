//! A look-up of graphs for one serving thread. While its result is valid, it only reads memory that
//! is shared between threads.
//!
//! A look-up in the registry takes a lock and increments the reference counts of the graph and its
//! schema. Each of these is a cache line that every request of every core writes. At some hundred
//! thousand requests a second the cores wait for each other. A graph cache keeps the last result
//! behind a reference count of its own. Two numbers that rarely change show whether the result is
//! still valid: how often graphs were replaced or removed, and the version of the graph's schema.
//!
//! When a graph is cleared or dropped, or the registry is closed, all caches are emptied at once,
//! so that no idle thread keeps a graph open.

use std::sync::Arc;

use parking_lot::Mutex;

use super::Registry;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::schema::Schema;

/// A graph and its schema, for one request.
pub struct ServedGraph {
    /// The graph.
    pub graph: Arc<Graph>,
    /// Its schema.
    pub schema: Arc<Schema>,
}

impl std::fmt::Debug for ServedGraph {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("ServedGraph")
            .field(&self.graph.name())
            .finish()
    }
}

/// The cache of one thread: the last graph that it looked up. Several threads may share a cache,
/// but then it is no faster than the registry.
#[derive(Default)]
pub struct GraphCache {
    kept: Mutex<Option<CachedGraph>>,
}

struct CachedGraph {
    name: Box<str>,
    /// The registry's count of changes, read before the look-up.
    changes: u64,
    served: Arc<ServedGraph>,
}

impl GraphCache {
    /// Returns the graph with that name, with its current schema.
    ///
    /// # Errors
    /// As [`Registry::get`].
    pub fn get(&self, registry: &Registry, name: &str) -> Result<Arc<ServedGraph>, GraphError> {
        // Read before the look-up, so that the next call notices a change during the look-up.
        let changes = registry.changes();
        let mut kept = self.kept.lock();
        if let Some(kept) = &*kept
            && kept.changes == changes
            && *kept.name == *name
            && kept.served.schema.version() == kept.served.graph.catalogue().version()
        {
            return Ok(Arc::clone(&kept.served));
        }
        let graph = registry.get(name)?;
        let schema = graph.schema();
        let served = Arc::new(ServedGraph { graph, schema });
        *kept = Some(CachedGraph {
            name: name.into(),
            changes,
            served: Arc::clone(&served),
        });
        Ok(served)
    }

    /// Empties the cache.
    pub(super) fn end(&self) {
        let kept = self.kept.lock().take();
        drop(kept);
    }
}

impl std::fmt::Debug for GraphCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GraphCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::graph::GraphOptions;
    use crate::schema::NewPropertyKey;
    use varve_kv::{Engine, EngineExt, MemoryEngine};
    use varve_model::time::SystemClock;

    fn registry() -> (Arc<MemoryEngine>, Registry) {
        let engine = Arc::new(MemoryEngine::new());
        let shared: Arc<dyn Engine> = Arc::<MemoryEngine>::clone(&engine);
        let options = GraphOptions::new(Arc::new(SystemClock));
        (engine, Registry::open(shared, options).unwrap())
    }

    #[test]
    fn the_newest_schema_is_served() {
        let (_, registry) = registry();
        let cache = registry.graph_cache();
        let graph = registry.create("g").unwrap();
        let before = cache.get(&registry, "g").unwrap();
        assert!(Arc::ptr_eq(&before, &cache.get(&registry, "g").unwrap()));
        let key = NewPropertyKey::named("name");
        graph.catalogue().create_property_key(key).unwrap();
        let after = cache.get(&registry, "g").unwrap();
        assert!(after.schema.property_key_by_name("name").is_some());
        assert!(before.schema.property_key_by_name("name").is_none());
    }

    #[test]
    fn one_cache_serves_several_graphs() {
        let (_, registry) = registry();
        let cache = registry.graph_cache();
        let error = cache.get(&registry, "a").err().unwrap();
        assert_eq!(error.kind, ErrorKind::NotFound);
        for name in ["a", "b"] {
            registry.create(name).unwrap();
        }
        for name in ["a", "b", "a"] {
            assert_eq!(cache.get(&registry, name).unwrap().graph.name(), name);
        }
    }

    #[test]
    fn a_graph_that_went_is_not_kept() {
        let (engine, registry) = registry();
        let cache = registry.graph_cache();
        let old = registry.create("g").unwrap();
        cache.get(&registry, "g").unwrap();
        drop(old);
        let new = registry.clear("g").unwrap();
        assert_eq!(
            engine.space_names().unwrap(),
            ["_1_g"],
            "nobody keeps the old one"
        );
        let served = cache.get(&registry, "g").unwrap();
        assert!(Arc::ptr_eq(&served.graph, &new));
        drop((served, new));
        registry.drop_graph("g").unwrap();
        assert!(engine.space_names().unwrap().is_empty());
        assert!(cache.get(&registry, "g").is_err());
    }
}
