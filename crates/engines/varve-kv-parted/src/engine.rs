//! The layer as an engine. It opens each space with one more table, the list of split partitions.

use std::sync::Arc;

use parking_lot::Mutex;
use varve_kv::{Engine, EngineLayer, KvError, Space, SpaceId, TableSpec};

use crate::directory::Directory;
use crate::space::PartedSpace;
use crate::{PartOptions, PartRule, TABLE};

/// A layer that bounds the size of an engine's partitions. The engine below must distinguish
/// partitions whatever their keys are. An engine that joins a partition key and a clustering key
/// into one key does not.
pub struct PartedEngine {
    inner: Arc<dyn Engine>,
    rules: Vec<PartRule>,
    options: PartOptions,
}

impl PartedEngine {
    /// Creates the layer. It splits the partitions of the tables that `rules` names.
    #[must_use]
    pub fn new(inner: Arc<dyn Engine>, rules: &[PartRule], options: PartOptions) -> Self {
        Self {
            inner,
            rules: rules.to_vec(),
            options,
        }
    }
}

/// Returns `tables` and, after them, [`TABLE`]. Each such list is created once and never freed:
/// lists of tables are few, and live as long as the process.
fn with_records(tables: &'static [TableSpec]) -> &'static [TableSpec] {
    type Made = (&'static [TableSpec], &'static [TableSpec]);
    static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());
    let mut made = MADE.lock();
    let known = made.iter().find(|(of, _)| std::ptr::eq(*of, tables));
    if let Some((_, with)) = known {
        return with;
    }
    let mut with = tables.to_vec();
    with.push(TableSpec {
        name: TABLE,
        partition_len: |key| (!key.is_empty()).then_some(1),
        point_reads: false,
        probed: None,
        cold: false,
        summarize: None,
    });
    let with: &'static [TableSpec] = with.leak();
    made.push((tables, with));
    with
}

impl EngineLayer for PartedEngine {
    fn engine(&self) -> &dyn Engine {
        &*self.inner
    }

    fn open(
        &self,
        name: &str,
        tables: &'static [TableSpec],
        create: bool,
    ) -> Result<Arc<dyn Space>, KvError> {
        let specs = with_records(tables);
        let inner = self.inner.open(name, specs, create)?;
        let directory = Directory::load(name, &*inner, specs, &self.rules, self.options)?;
        Ok(Arc::new(PartedSpace {
            inner,
            directory,
            is_followed: false,
        }))
    }

    fn follow(
        &self,
        space: &SpaceId,
        tables: &'static [TableSpec],
    ) -> Result<Arc<dyn Space>, KvError> {
        let specs = with_records(tables);
        let inner = self.inner.follow(space, specs)?;
        let (name, rules) = (&space.name, &self.rules);
        let directory = Directory::load(name, &*inner, specs, rules, self.options)?;
        Ok(Arc::new(PartedSpace {
            inner,
            directory,
            is_followed: true,
        }))
    }
}
