//! Layers: readers, spaces and engines that wrap others of their kind. A layer implements
//! [`ReaderLayer`], [`SpaceLayer`] or [`EngineLayer`]: it names the wrapped object, "below" it, and
//! overrides only the methods that it changes. All others forward the call.

use std::path::Path;
use std::sync::Arc;

use crate::{
    Absences, Batch, Capabilities, Durability, Engine, Flow, KvError, Leader, Lease,
    PartitionRange, Reader, Row, ScanRequest, Space, SpaceId, Statistic, TableId, TableSpec,
};

/// Calls a method of the object below a layer.
macro_rules! pass_on {
    (read, $layer:ident, $method:ident($($argument:ident),*)) => {
        $layer.read(|below| below.$method($($argument),*))
    };
    ($below:ident, $layer:ident, $method:ident($($argument:ident),*)) => {
        $layer.$below().$method($($argument),*)
    };
}

/// Declares the trait of layers over a `$base`, with a default for each method, and implements
/// `$base` for all such layers. `$below` is the method that returns the object below.
macro_rules! layer {
    (
        $(#[$doc:meta])*
        trait $layer:ident: $($bound:ident),+ { $($own:tt)* }
        passes on $base:ident by $below:ident {
            $(fn $method:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*
        }
        and { $($more:tt)* }
    ) => {
        $(#[$doc])*
        pub trait $layer: $($bound +)+ 'static {
            $($own)*
            $(
                #[doc = concat!("As [`", stringify!($base), "::", stringify!($method), "`].")]
                #[allow(clippy::type_complexity, reason = "as the method that it stands for")]
                fn $method(&self $(, $argument: $type)*) $(-> $result)? {
                    pass_on!($below, self, $method($($argument),*))
                }
            )*
        }

        impl<L: $layer> $base for L {
            $(
                #[inline]
                fn $method(&self $(, $argument: $type)*) $(-> $result)? {
                    $layer::$method(self $(, $argument)*)
                }
            )*
            $($more)*
        }
    };
}

layer! {
    /// A [`Reader`] over another one.
    trait ReaderLayer: Send, Sync {
        /// The type of the reader below.
        type Below<'a>: Reader + ?Sized;

        /// Reads from the reader below.
        fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T;
    }
    passes on Reader by read {
        fn get_with(
            &self,
            table: TableId,
            partition: &[u8],
            clustering: &[u8],
            found: &mut dyn FnMut(&[u8])
        ) -> Result<bool, KvError>;
        fn get_each(
            &self,
            table: TableId,
            keys: &[(&[u8], &[u8])],
            found: &mut dyn FnMut(usize, &[u8])
        ) -> Result<(), KvError>;
        fn known_absent(&self, rows: &[(TableId, &[u8], &[u8])]) -> Absences;
        fn scan(
            &self,
            request: ScanRequest<'_>,
            visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow
        ) -> Result<(), KvError>;
        fn scan_many(
            &self,
            table: TableId,
            ranges: &[PartitionRange<'_>],
            visit: &mut dyn FnMut(usize, &[u8], &[u8]) -> Flow
        ) -> Result<(), KvError>;
        fn summaries(
            &self,
            table: TableId,
            ranges: &[PartitionRange<'_>],
            visit: &mut dyn FnMut(usize, Option<&[u8]>)
        ) -> Result<(), KvError>;
        fn partition_order(&self, table: TableId, partition: &[u8]) -> Vec<u8>;
        fn cuts(&self, table: TableId) -> Vec<Vec<u8>>;
        fn scan_table(
            &self,
            table: TableId,
            after: Option<(&[u8], &[u8])>,
            visit: &mut dyn FnMut(Row<'_>) -> Flow
        ) -> Result<(), KvError>;
    }
    and {}
}

layer! {
    /// A [`Space`] over another one.
    trait SpaceLayer: Reader {
        /// The space below.
        fn space(&self) -> &dyn Space;

        /// As [`Space::snapshot`]. It has no default, because a layer that changes reads must also
        /// change the reads of snapshots.
        fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>>;
    }
    passes on Space by space {
        fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError>;
        fn write_may_wait(&self) -> bool;
        fn sync(&self) -> Result<(), KvError>;
        fn checkpoint(&self, dir: &Path) -> Result<(), KvError>;
        fn compact(&self) -> Result<(), KvError>;
        fn verify_checksums(&self) -> Result<(), KvError>;
        fn statistics(&self) -> Vec<Statistic>;
        fn layout(&self) -> u64;
        fn lease(&self) -> Lease<'_>;
    }
    and {
        fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
            SpaceLayer::snapshot(self)
        }
    }
}

layer! {
    /// An [`Engine`] over another one.
    trait EngineLayer: Send, Sync {
        /// The engine below.
        fn engine(&self) -> &dyn Engine;
    }
    passes on Engine by engine {
        fn capabilities(&self) -> Capabilities;
        fn statistics(&self) -> Vec<Statistic>;
        fn stop_waiting(&self);
        fn leader(&self, space: &str) -> Result<Option<Leader>, KvError>;
        fn spaces(&self) -> Result<Vec<SpaceId>, KvError>;
        fn clear_begun(&self, is_meant: &dyn Fn(&str) -> bool) -> Result<(), KvError>;
        fn open(
            &self,
            name: &str,
            tables: &'static [TableSpec],
            create: bool
        ) -> Result<Arc<dyn Space>, KvError>;
        fn follow(
            &self,
            space: &SpaceId,
            tables: &'static [TableSpec]
        ) -> Result<Arc<dyn Space>, KvError>;
        fn drop_space(&self, name: &str, incarnation: Option<&str>) -> Result<(), KvError>;
    }
    and {}
}
