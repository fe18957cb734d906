//! Graph variables: named values that clients store with a graph.

use std::sync::Arc;

use varve_kv::{Batch, ClusteringRange, Durability, Flow, ReaderExt, ScanRequest, Space, TableId};
use varve_model::Datum;

use crate::GraphError;

/// Partition key of variables in the `meta` table.
pub(crate) const PARTITION: &[u8] = b"v";

/// The variables of one graph, in the `meta` table: partition `v`, clustering key = the name, value
/// = a record.
#[derive(Clone)]
pub struct Variables {
    space: Arc<dyn Space>,
    meta: TableId,
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variables").finish_non_exhaustive()
    }
}

impl Variables {
    /// The variables in `space`, in its table `meta`.
    #[must_use]
    pub fn new(space: Arc<dyn Space>, meta: TableId) -> Self {
        Self { space, meta }
    }

    /// Returns the value of a variable.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] when there is no variable with that name.
    pub fn get(&self, name: &str) -> Result<Datum, GraphError> {
        let bytes = self.space.get(self.meta, PARTITION, name.as_bytes())?;
        let bytes = bytes
            .ok_or_else(|| GraphError::not_found(format!("Variable '{name}' does not exist")))?;
        Ok(varve_encoding::datum::decode(&bytes)?)
    }

    /// Sets a variable to a text, number, boolean, or list of these.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`] for null and for maps, also inside lists.
    pub fn set(&self, name: &str, value: &Datum) -> Result<(), GraphError> {
        if *value == Datum::Null {
            return Err(GraphError::invalid("The variable value can't be empty"));
        }
        if !is_plain(value) {
            return Err(GraphError::invalid(format!(
                "Graph variable value of '{name}' is not supported: it must be a string, number, boolean or list"
            )));
        }
        let mut batch = Batch::new();
        let bytes = varve_encoding::datum::to_bytes(value);
        batch.put(self.meta, PARTITION, name.as_bytes(), &bytes);
        Ok(self.space.write(&batch, Durability::Sync)?)
    }

    /// Removes a variable, if it exists.
    ///
    /// # Errors
    /// When the removal cannot be stored.
    pub fn remove(&self, name: &str) -> Result<(), GraphError> {
        let mut batch = Batch::new();
        batch.delete(self.meta, PARTITION, name.as_bytes());
        Ok(self.space.write(&batch, Durability::Sync)?)
    }

    /// Calls `visit` with each variable by ascending name, until it breaks.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn visit(&self, visit: &mut dyn FnMut(&str, Datum) -> Flow) -> Result<(), GraphError> {
        let range = ClusteringRange::all();
        let request = ScanRequest {
            table: self.meta,
            partition: PARTITION,
            range: &range,
            reverse: false,
        };
        let mut damaged = None;
        self.space.scan(request, &mut |name, value| {
            let name = String::from_utf8_lossy(name);
            match varve_encoding::datum::decode(value) {
                Ok(value) => visit(&name, value),
                Err(error) => {
                    damaged = Some(error);
                    Flow::Break(())
                }
            }
        })?;
        damaged.map_or(Ok(()), |error| Err(error.into()))
    }
}

fn is_plain(value: &Datum) -> bool {
    match value {
        Datum::Null | Datum::Map(_) => false,
        Datum::Bool(_) | Datum::Int(_) | Datum::Float(_) | Datum::Text(_) => true,
        Datum::List(items) => items.iter().all(is_plain),
    }
}

#[cfg(test)]
mod tests {
    use varve_kv::{Engine, MemoryEngine};

    use super::*;
    use crate::ErrorKind;

    #[test]
    fn variables_are_set_listed_and_removed() {
        let engine = MemoryEngine::new();
        let tables = varve_encoding::tables::TABLES;
        let space = engine.open("g", tables, true).expect("a space");
        let variables = Variables::new(space, varve_encoding::tables::META);
        let all = || {
            let mut all = Vec::new();
            let mut add = |name: &str, value| {
                all.push((name.to_owned(), value));
                Flow::Continue(())
            };
            variables.visit(&mut add).expect("readable");
            all
        };
        assert_eq!(all(), []);
        let text = Datum::Text("tom".to_owned());
        let list = Datum::List(vec![Datum::Int(1), Datum::Int(2)]);
        variables.set("name", &text).expect("a text");
        variables.set("l", &list).expect("a list");
        variables.set("l", &list).expect("again");
        let both = [("l".to_owned(), list), ("name".to_owned(), text.clone())];
        assert_eq!(all(), both);
        assert_eq!(variables.get("name").expect("tom"), text);
        variables.remove("name").expect("there");
        variables.remove("name").expect("not there is fine");
        let error = variables.get("name").expect_err("gone");
        assert_eq!(error.kind, ErrorKind::NotFound);
        assert_eq!(error.message, "Variable 'name' does not exist");
    }

    #[test]
    fn null_and_maps_are_refused() {
        let engine = MemoryEngine::new();
        let tables = varve_encoding::tables::TABLES;
        let space = engine.open("g", tables, true).expect("a space");
        let variables = Variables::new(space, varve_encoding::tables::META);
        let error = variables.set("x", &Datum::Null).expect_err("null");
        assert_eq!(error.message, "The variable value can't be empty");
        let map = Datum::Map(vec![("a".to_owned(), Datum::Int(1))]);
        for bad in [map.clone(), Datum::List(vec![map])] {
            let error = variables.set("m", &bad).expect_err("a map");
            assert_eq!(error.kind, ErrorKind::InvalidArgument);
        }
    }
}
