//! Placeholder until the catalogue lands: an empty schema. Delete this file in favour of `schema/mod.rs`.
mod kind;
mod snapshot;
use crate::error::GraphError;
pub use snapshot::Schema;
use std::sync::Arc;
use varve_kv::Space;
use varve_model::Clock;
/// stub
pub struct Catalogue(parking_lot::Mutex<Arc<Schema>>);
impl Catalogue {
    /// stub
    pub fn open(_s: Arc<dyn Space>, _n: &str, _c: Arc<dyn Clock>) -> Result<Self, GraphError> {
        Ok(Self(parking_lot::Mutex::new(Arc::new(Schema::default()))))
    }
    /// stub
    pub fn current(&self) -> Arc<Schema> {
        self.0.lock().clone()
    }
}
