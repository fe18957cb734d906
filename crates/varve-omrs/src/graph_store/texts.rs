//! The distinct texts of all instances, in memory. Searches for ends and parts of texts test these
//! texts instead of the instances, which are far more numerous.
//!
//! The texts are hints. A text remains when its last instance is gone, so each instance that a text
//! leads to is checked. But no text may be missing when a search uses them. A text is added when
//! the index entries of its instance are made, before any reader can see the instance. The texts of
//! instances that were written before the store was opened are read once, in the background. In an
//! empty graph all texts are known from the start.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use varve_graph::Graph;
use varve_graph::index::{DerivedEntries, Deriver, visit_states};
use varve_kv::Flow;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::error::OmrsError;
use crate::store::{TestText, TextHint};

/// The limit of the estimated memory for texts, in bytes. Above it, no texts are stored.
const BYTES_MAX: usize = 64 << 20;
/// The estimated memory of a text in addition to its own bytes.
const TEXT_BYTES: usize = 36;
/// The longest text that is stored whole, in bytes.
const WHOLE_BYTES_MAX: usize = 4 << 10;
/// The longest start of a longer text that is stored, in bytes.
const START_BYTES: usize = 64;
/// The size from which a chunk is full, in bytes. Full chunks are shared with searches, not copied.
const CHUNK_BYTES: usize = 64 << 10;

/// Texts in one buffer.
#[derive(Debug, Clone, Default)]
struct Chunk {
    text: String,
    ends: Vec<u32>,
}

#[derive(Debug, Default)]
struct Known {
    hashes: FxHashSet<u128>,
    /// The full chunks.
    chunks: Vec<Arc<Chunk>>,
    last: Chunk,
    /// The starts of texts that are too long to store whole.
    starts: Vec<Arc<str>>,
    bytes: usize,
    stage: Stage,
    reading: Option<JoinHandle<()>>,
}

/// Which texts are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Those of instances written since the store was opened.
    #[default]
    Noted,
    /// The same, while older instances are being read.
    Reading,
    /// All.
    Whole,
    /// None: they took too much memory.
    TooMuch,
    /// Those of instances written since the store was opened: older instances could not be read.
    /// Reading is not retried before the store is opened again.
    Failed,
}

/// The texts of a graph's instances.
#[derive(Debug)]
pub(super) struct Texts {
    graph: Weak<Graph>,
    bytes_max: usize,
    /// The random seed of the hashes. Of two texts with the same hash, only the first is stored,
    /// and searches miss the other. So a client must not be able to choose such texts.
    seed: u64,
    known: Mutex<Known>,
    is_too_much: AtomicBool,
    is_over: AtomicBool,
}

impl Chunk {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let text = &self.text[start..*end as usize];
            start = *end as usize;
            text
        })
    }
}

impl Known {
    fn add(&mut self, text: &str, hash: u128) {
        if !self.hashes.insert(hash) {
            return;
        }
        self.bytes += text.len().min(START_BYTES) + TEXT_BYTES;
        if text.len() > WHOLE_BYTES_MAX {
            self.starts.push(start(text).into());
            return;
        }
        self.bytes += text.len().saturating_sub(START_BYTES);
        self.last.text.push_str(text);
        let end = self.last.text.len();
        self.last.ends.push(u32::try_from(end).unwrap_or(u32::MAX));
        if end >= CHUNK_BYTES {
            self.chunks.push(Arc::new(std::mem::take(&mut self.last)));
        }
    }
}

/// The start of a text that is not stored whole.
fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(START_BYTES)]
}

impl Texts {
    /// The texts of the instances in `graph`; none are known yet.
    pub(super) fn new(graph: &Arc<Graph>) -> Arc<Self> {
        Self::with_room(Arc::downgrade(graph), BYTES_MAX)
    }

    fn with_room(graph: Weak<Graph>, bytes_max: usize) -> Arc<Self> {
        Arc::new(Self {
            graph,
            bytes_max,
            seed: RandomState::new().hash_one(()),
            known: Mutex::default(),
            is_too_much: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        })
    }

    /// Adds a text of an instance. Drops all texts, and stores no further ones, if they then take
    /// too much memory.
    pub(super) fn note(&self, text: &str) {
        if self.is_too_much.load(Ordering::Relaxed) {
            return;
        }
        // Long texts with the same start are stored once.
        let hash = match text.len() > WHOLE_BYTES_MAX {
            true => xxh3_128_with_seed(start(text).as_bytes(), self.seed) ^ 1,
            false => xxh3_128_with_seed(text.as_bytes(), self.seed),
        };
        let mut known = self.known.lock();
        if known.stage == Stage::TooMuch {
            return;
        }
        known.add(text, hash);
        if known.bytes > self.bytes_max {
            let reading = known.reading.take();
            *known = Known {
                stage: Stage::TooMuch,
                reading,
                ..Known::default()
            };
            self.is_too_much.store(true, Ordering::Relaxed);
        }
    }

    /// The number of distinct texts; `None` when not all are known. In that case a background
    /// thread starts to read all instances with `deriver`, which must add their texts here. No
    /// thread starts while one is running, after reading failed, after the texts took too much
    /// memory, or while the store is being closed.
    pub(super) fn count(
        self: &Arc<Self>,
        deriver: impl FnOnce() -> Box<dyn Deriver>,
    ) -> Option<usize> {
        let mut known = self.known.lock();
        match known.stage {
            Stage::Whole => return Some(known.hashes.len()),
            Stage::Reading | Stage::TooMuch | Stage::Failed => return None,
            Stage::Noted => {}
        }
        if self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        known.stage = Stage::Reading;
        let (texts, deriver) = (Arc::clone(self), deriver());
        let work = move || texts.read_all(&*deriver);
        let thread = std::thread::Builder::new().name("omrs-texts".to_owned());
        match thread.spawn(work) {
            Ok(reading) => known.reading = Some(reading),
            // Searches do without texts.
            Err(_) => known.stage = Stage::Noted,
        }
        None
    }

    /// Starts to collect all texts. Must be called before anything is written: in an empty graph,
    /// all texts are then known.
    pub(super) fn begin(self: &Arc<Self>, deriver: impl FnOnce() -> Box<dyn Deriver>) {
        if self.is_empty_graph() {
            let mut known = self.known.lock();
            if known.stage == Stage::Noted {
                known.stage = Stage::Whole;
            }
        } else {
            let _ = self.count(deriver);
        }
    }

    /// Whether no state of an element is stored. False if the graph is closed or cannot be read.
    fn is_empty_graph(&self) -> bool {
        let mut is_empty = true;
        let visited = self.graph.upgrade().map(|graph| {
            visit_states(&graph, &mut |_, _| {
                is_empty = false;
                Flow::Break(())
            })
        });
        is_empty && matches!(visited, Some(Ok(())))
    }

    /// Reads all stored states of instances, present, planned and past. The stage becomes `Whole`,
    /// or `Failed` if the graph cannot be read, or `Noted` again if reading was ended early.
    fn read_all(&self, deriver: &dyn Deriver) {
        let Some(graph) = self.graph.upgrade() else {
            return;
        };
        let mut is_whole = true;
        let read = visit_states(&graph, &mut |id, content| {
            if self.is_over.load(Ordering::Relaxed) || self.is_too_much.load(Ordering::Relaxed) {
                is_whole = false;
                return Flow::Break(());
            }
            // Damaged content is reported to the request that reads it.
            let _ = deriver.derive(id, content, &mut DerivedEntries::default());
            Flow::Continue(())
        });
        let mut known = self.known.lock();
        if known.stage == Stage::Reading {
            known.stage = match read {
                Ok(()) if is_whole => Stage::Whole,
                Ok(()) => Stage::Noted,
                Err(_) => Stage::Failed,
            };
        }
    }

    /// Waits for the thread that reads the instances. Returns at once if there is none, or if
    /// another caller is waiting for it.
    pub(super) fn await_reading(&self) {
        let reading = self.known.lock().reading.take();
        // After a panic of the thread, texts stay incomplete, and searches do without them.
        let _ = reading.map(JoinHandle::join);
    }

    /// Stops the thread that reads the instances, and waits for it: the store is being closed.
    pub(super) fn close(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.await_reading();
    }

    /// The texts that pass a test, and the starts of all texts that are not stored whole, since
    /// these may pass. `None` when not all texts are known, or when there are more than `most` of
    /// both.
    ///
    /// # Errors
    /// The first error that the test returns. It ends the search.
    pub(super) fn matching(
        &self,
        matches: TestText<'_>,
        most: usize,
    ) -> Result<Option<Vec<TextHint>>, OmrsError> {
        let (chunks, last, starts) = {
            let known = self.known.lock();
            if known.stage != Stage::Whole {
                return Ok(None);
            }
            (
                known.chunks.clone(),
                known.last.clone(),
                known.starts.clone(),
            )
        };
        let mut found: Vec<TextHint> = Vec::new();
        if starts.len() > most {
            return Ok(None);
        }
        found.extend(
            starts
                .iter()
                .map(|start| TextHint::Starts(start.to_string())),
        );
        for chunk in chunks.iter().map(|chunk| &**chunk).chain([&last]) {
            for text in chunk.iter() {
                if !matches(text)? {
                    continue;
                }
                if found.len() == most {
                    return Ok(None);
                }
                found.push(TextHint::Is(text.to_owned()));
            }
        }
        Ok(Some(found))
    }
}

#[cfg(test)]
mod tests {
    use varve_encoding::key;
    use varve_encoding::tables::{EVENT, TABLES};
    use varve_graph::{GraphError, GraphOptions};
    use varve_kv::{Batch, Durability, Engine as _, MemoryEngine};
    use varve_model::time::SystemClock;
    use varve_model::{CommitVersion, ElementId, VertexId};

    use super::*;
    use crate::graph_store::GraphStore;
    use crate::instances::{EntityDetail, InstanceAuditHeader, InstanceHeader};
    use crate::store::StoredEntity;
    use crate::types::Catalogue;

    /// A graph with two entities and, in the table that is read last, a row that cannot be read.
    fn damaged_graph() -> Arc<Graph> {
        let space = MemoryEngine::new().open("g", TABLES, true).unwrap();
        let options = GraphOptions::new(Arc::new(SystemClock));
        let graph = Graph::open("g", space, &options).unwrap();
        let types = Arc::new(Catalogue::built_in());
        let of = types.by_name("Database").unwrap();
        let audit = InstanceAuditHeader {
            instance_type: Some(types.get(of).instance_type().clone()),
            ..InstanceAuditHeader::default()
        };
        let store = GraphStore::open(Arc::clone(&graph));
        store.set_types(types).unwrap();
        for guid in ["a", "b"] {
            let entity = EntityDetail {
                header: InstanceHeader {
                    audit: audit.clone(),
                    guid: Some(guid.to_owned()),
                    ..InstanceHeader::default()
                },
                ..EntityDetail::default()
            };
            let put = store.transact(&[guid], &mut |transaction| {
                transaction.put_entity(StoredEntity::Detail(entity.clone()), None)
            });
            put.unwrap();
        }
        let mut batch = Batch::new();
        let partition = key::vertex_id(&VertexId::text("a"));
        let clustering = key::event_clustering(key::VERTEX_CLUSTERING, CommitVersion(1));
        batch.put(EVENT, &partition, &clustering, b"");
        graph.space().write(&batch, Durability::Buffered).unwrap();
        graph
    }

    /// Runs a function for each state.
    struct Seen<F>(F);

    impl<F: Fn() + Send + Sync> Deriver for Seen<F> {
        fn derive(
            &self,
            _: &ElementId,
            _: &[u8],
            _: &mut DerivedEntries,
        ) -> Result<(), GraphError> {
            (self.0)();
            Ok(())
        }
    }

    #[test]
    fn what_could_not_be_read_is_not_read_again() {
        let graph = damaged_graph();
        let texts = Texts::new(&graph);
        assert_eq!(texts.count(|| Box::new(Seen(|| ()))), None);
        texts.await_reading();
        let none = || unreachable!("nothing is read");
        assert_eq!(texts.count(none), None);
        assert_eq!(found(&texts), None);
    }

    #[test]
    fn reading_ends_at_once_when_it_is_of_no_use() {
        let graph = damaged_graph();
        for is_over in [true, false] {
            let texts = Texts::with_room(Arc::downgrade(&graph), 10);
            let own = Arc::clone(&texts);
            let stop = move || match is_over {
                true => own.is_over.store(true, Ordering::Relaxed),
                false => own.is_too_much.store(true, Ordering::Relaxed),
            };
            assert_eq!(texts.count(|| Box::new(Seen(stop))), None);
            texts.await_reading();
            // The stage would be `Failed` if reading had reached the damaged row.
            assert_eq!(texts.known.lock().stage, Stage::Noted);
        }
    }

    fn all_known(texts: &Texts) {
        texts.known.lock().stage = Stage::Whole;
    }

    fn found(texts: &Texts) -> Option<usize> {
        let found = texts.matching(&mut |text| Ok(text.ends_with('7')), usize::MAX);
        found.unwrap().map(|found| found.len())
    }

    #[test]
    fn each_text_is_kept_once() {
        let texts = Texts::with_room(Weak::new(), BYTES_MAX);
        for number in 0..20_000 {
            texts.note(&format!("some text {}", number % 5_000));
        }
        assert_eq!(found(&texts), None);
        all_known(&texts);
        assert_eq!(found(&texts), Some(500));
        assert!(!texts.known.lock().chunks.is_empty());
    }

    #[test]
    fn nobody_can_choose_texts_of_one_hash() {
        let hashes = || -> FxHashSet<u128> {
            let texts = Texts::with_room(Weak::new(), BYTES_MAX);
            texts.note("a text");
            texts.note(&"x".repeat(WHOLE_BYTES_MAX + 1));
            std::mem::take(&mut texts.known.lock().hashes)
        };
        assert!(hashes().is_disjoint(&hashes()));
    }

    #[test]
    fn of_too_many_none_are_kept() {
        let texts = Texts::with_room(Weak::new(), 10_000);
        all_known(&texts);
        for number in 0..1_000 {
            texts.note(&format!("some text {number}"));
        }
        assert_eq!(found(&texts), None);
        assert_eq!(texts.known.lock().hashes.len(), 0);
        let none = || unreachable!("nothing is read");
        assert_eq!(texts.count(none), None);
    }
}
