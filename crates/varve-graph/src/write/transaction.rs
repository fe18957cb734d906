//! Transactions that find out what they read and change as they run, and commit it together.
//!
//! A transaction latches what it reads, so that it does not change until the commit: transactions
//! that touch the same elements are serialized. While a transaction holds latches, it never waits
//! for another latch. Instead it releases all, acquires all latches needed so far in order, and
//! runs its work again. So there are no deadlocks.
//!
//! **Time.** The transaction has one instant of now, and its changes are valid from that instant on
//! (or from an earlier one). Now must be after the start of every state that the transaction reads
//! of the elements that it touches. If one of them was written meanwhile, the work runs again with
//! a later now. So successive states of an element have growing starts, whatever the clock does.

mod reading;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::RowKind;
use varve_kv::{Flow, Reader};
use varve_model::{EdgeId, ElementId, Instant, VertexId};

use super::destruction::{destroy, record_purge};
use super::emit::{Change, EmitContext, Emitter, EventPeriod};
use super::held::HeldRows;
use super::incident::OwnEvents;
use super::keys::edge_latch;
use crate::commit::{Additions, Commit, LatchKey, LatchSet, Ticket, ticket};
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::hash::IdMap;
use crate::index::Deriver;
use crate::schema::Schema;

/// How often the work of a transaction runs at most.
const ATTEMPTS_MAX: usize = 64;

/// What a transaction will access.
#[derive(Debug, Clone, Copy)]
pub enum Touch<'a> {
    /// A vertex that is read.
    Read(&'a VertexId),
    /// A vertex that is changed, or whose edges are listed.
    Change(&'a VertexId),
    /// A name that only the program knows ([`Transaction::hold`]).
    Name(&'a [u8]),
}

/// Called with an edge and the content of its row; a break ends the visits.
pub type EdgeVisit<'v, E> = &'v mut dyn FnMut(&EdgeId, &[u8]) -> Result<Flow, E>;

/// The new state of an element.
enum Outcome {
    Put {
        content: Vec<u8>,
        from: Option<Instant>,
    },
    Delete {
        from: Option<Instant>,
    },
    /// The element is only purged.
    Gone,
}

struct Changed {
    id: ElementId,
    purge: bool,
    outcome: Outcome,
}

/// Why the work must run again.
#[derive(Debug, Clone, Copy)]
enum Retry {
    /// Another commit held this latch.
    Latch(LatchKey),
    /// The transaction read a state that starts at this instant, not before now.
    Later(Instant),
}

/// Reads elements in the present and collects changes of them.
pub struct Transaction<'g> {
    graph: &'g Arc<Graph>,
    schema: Arc<Schema>,
    deriver: Option<Arc<dyn Deriver>>,
    latches: RefCell<LatchSet>,
    retry: Cell<Option<Retry>>,
    now: Instant,
    changed: Vec<Changed>,
    places: IdMap<ElementId, usize>,
    /// Edges that were purged with vertices.
    purged_edges: usize,
    /// The committed edges that latched vertices ever had.
    incident: RefCell<IdMap<VertexId, Vec<EdgeId>>>,
    /// The cached events of these vertices.
    own_events: RefCell<OwnEvents>,
    /// The cached current rows of latched elements.
    rows: RefCell<HeldRows>,
}

/// See [`Graph::transact`].
pub(crate) fn transact<T, E: From<GraphError>>(
    graph: &Arc<Graph>,
    touched: &[Touch<'_>],
    work: &mut dyn FnMut(&mut Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let mut wanted = vec![LatchKey::SCHEMA];
    wanted.extend(touched.iter().map(|touch| match touch {
        Touch::Read(id) => LatchKey::shared(&key::vertex_id(id)),
        Touch::Change(id) => LatchKey::exclusive(&key::vertex_id(id)),
        Touch::Name(name) => LatchKey::exclusive(name),
    }));
    let mut floor = Instant::MIN;
    for _ in 0..ATTEMPTS_MAX {
        let latches = graph.latches.acquire(wanted.clone())?;
        let mut transaction = Transaction::begin(graph, latches, floor);
        let done = work(&mut transaction);
        let retry = match transaction.retry.take() {
            Some(retry) => retry,
            None => {
                let value = done?;
                match transaction.commit()? {
                    Ok(ticket) => {
                        ticket.wait()?;
                        return Ok(value);
                    }
                    Err(retry) => retry,
                }
            }
        };
        wanted.extend_from_slice(transaction.latches.borrow().held());
        match retry {
            Retry::Latch(key) => wanted.push(key),
            Retry::Later(seen) => floor = floor.max(seen.plus_micros(1)),
        }
    }
    Err(GraphError::new(
        ErrorKind::Busy,
        "Other writes kept changing the same elements",
    )
    .into())
}

impl<'g> Transaction<'g> {
    fn begin(graph: &'g Arc<Graph>, latches: LatchSet, floor: Instant) -> Self {
        Self {
            graph,
            schema: graph.schema(),
            deriver: graph.deriver(),
            latches: RefCell::new(latches),
            retry: Cell::new(None),
            now: graph.now().max(floor),
            changed: Vec::new(),
            places: IdMap::default(),
            purged_edges: 0,
            incident: RefCell::default(),
            own_events: RefCell::default(),
            rows: RefCell::default(),
        }
    }

    /// The instant of now, from which on changes are valid.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Excludes other transactions that hold the same name until this one has ended.
    ///
    /// # Errors
    /// When the work must run again; then its result is ignored. This holds for all methods below.
    pub fn hold(&self, name: &[u8]) -> Result<(), GraphError> {
        self.latch(LatchKey::exclusive(name))
    }

    fn latch(&self, key: LatchKey) -> Result<(), GraphError> {
        if self.latches.borrow_mut().try_hold(key) {
            return Ok(());
        }
        Err(self.again(Retry::Latch(key)))
    }

    fn again(&self, retry: Retry) -> GraphError {
        if self.retry.get().is_none() {
            self.retry.set(Some(retry));
        }
        GraphError::new(ErrorKind::Busy, "The transaction runs again")
    }

    fn reader(&self) -> &dyn Reader {
        self.graph.reader()
    }

    fn latch_vertex(&self, id: &VertexId, exclusively: bool) -> Result<(), GraphError> {
        let partition = key::vertex_id(id);
        self.latch(if exclusively {
            LatchKey::exclusive(&partition)
        } else {
            LatchKey::shared(&partition)
        })
    }

    fn latch_change(&self, id: &ElementId) -> Result<(), GraphError> {
        match id {
            ElementId::Vertex(id) => self.latch_vertex(id, true),
            ElementId::Edge(id) => {
                self.latch_vertex(&id.source, false)?;
                self.latch_vertex(&id.target, false)?;
                self.latch(edge_latch(id))
            }
        }
    }

    fn change(&mut self, id: &ElementId, outcome: Outcome) {
        match self.places.get(id) {
            Some(at) => self.changed[*at].outcome = outcome,
            None => {
                self.places.insert(id.clone(), self.changed.len());
                self.changed.push(Changed {
                    id: id.clone(),
                    purge: false,
                    outcome,
                });
            }
        }
    }

    /// Gives an element a new state from `from` on, or from now on. `from` must not be after now.
    /// If a transaction gives an element several states, the last one is stored. Neither the
    /// content nor the ends of an edge are checked.
    ///
    /// # Errors
    /// As [`Transaction::with_vertex`]; [`ErrorKind::InvalidArgument`] when `from` is in the
    /// future.
    pub fn put(
        &mut self,
        id: &ElementId,
        content: Vec<u8>,
        from: Option<Instant>,
    ) -> Result<(), GraphError> {
        self.latch_change(id)?;
        self.check_not_future(from)?;
        self.change(id, Outcome::Put { content, from });
        Ok(())
    }

    fn check_not_future(&self, from: Option<Instant>) -> Result<(), GraphError> {
        if from.is_some_and(|from| from > self.now) {
            let message = "A transaction cannot write states of the future";
            return Err(GraphError::invalid(message));
        }
        Ok(())
    }

    /// Deletes an element from `from` on, or from now on. The edges of a vertex are not changed.
    ///
    /// # Errors
    /// As [`Transaction::put`].
    pub fn delete(&mut self, id: &ElementId, from: Option<Instant>) -> Result<(), GraphError> {
        self.latch_change(id)?;
        self.check_not_future(from)?;
        self.change(id, Outcome::Delete { from });
        Ok(())
    }

    /// Destroys an element with all its versions, and with a vertex every edge that it ever had.
    ///
    /// # Errors
    /// As [`Transaction::ever_incident`].
    pub fn purge(&mut self, id: &ElementId) -> Result<(), GraphError> {
        self.latch_change(id)?;
        if let ElementId::Vertex(vertex) = id {
            for edge in self.ever_incident(vertex)? {
                self.purge(&ElementId::Edge(edge))?;
                self.purged_edges += 1;
            }
        }
        self.change(id, Outcome::Gone);
        let at = self.places[id];
        self.changed[at].purge = true;
        Ok(())
    }

    /// Builds the batch and submits it with the latches, or returns why the work must run again.
    fn commit(&mut self) -> Result<Result<Ticket, Retry>, GraphError> {
        if self.changed.is_empty() {
            return Ok(Ok(Ticket::done(self.graph.published())));
        }
        let pairs = self.graph.pairs();
        let known = |hash| pairs.contain(hash);
        let mut emitter = Emitter::new(EmitContext {
            reader: self.graph.reader(),
            schema: &self.schema,
            deriver: self.deriver.as_deref(),
            now: self.now,
            known_pair: &known,
            keeps_changes: self.graph.keeps_changes(),
        });
        for changed in &self.changed {
            if let Some(retry) = self.emit(&mut emitter, changed)? {
                return Ok(Err(retry));
            }
        }
        let purged: Vec<ElementId> = self.purged().cloned().collect();
        if !purged.is_empty() {
            record_purge(self.graph, &mut emitter, &purged, self.purged_edges);
        }
        let additions = Additions {
            pairs: std::mem::take(&mut emitter.new_pairs),
            ..Additions::default()
        };
        let (batch, stamps) = emitter.finish();
        if batch.is_empty() {
            return Ok(Ok(Ticket::done(self.graph.published())));
        }
        let (ticket, completer) = ticket();
        let latches = self.latches.replace(self.graph.latches.none());
        self.graph.submit(Commit {
            now: self.now,
            end: None,
            batch,
            stamps,
            latches,
            completer,
            may_wait: false,
            additions,
        })?;
        Ok(Ok(ticket))
    }

    /// The purged elements, without edges if edges were purged with vertices.
    fn purged(&self) -> impl Iterator<Item = &ElementId> {
        let vertices = self.purged_edges > 0;
        let named = move |changed: &&Changed| {
            changed.purge && !(vertices && matches!(changed.id, ElementId::Edge(_)))
        };
        self.changed.iter().filter(named).map(|changed| &changed.id)
    }

    fn emit(
        &self,
        emitter: &mut Emitter<'_>,
        changed: &Changed,
    ) -> Result<Option<Retry>, GraphError> {
        let id = &changed.id;
        let mut current = self.current(id)?;
        if changed.purge {
            let own = match id {
                ElementId::Vertex(vertex) => self.own_events.borrow_mut().take(vertex),
                ElementId::Edge(_) => None,
            };
            destroy(self.graph, emitter, id, current.take(), own)?;
        }
        if let Some(current) = &current
            && current.header.kind == RowKind::Put
            && current.header.period().from >= self.now
        {
            return Ok(Some(Retry::Later(current.header.period().from)));
        }
        let period = |from: Option<Instant>| EventPeriod {
            from: Some(from.unwrap_or(self.now)),
            to: Instant::FOREVER,
        };
        match &changed.outcome {
            Outcome::Put { content, from } => {
                emitter.emit(id, current, &Change::Put(content), period(*from))?;
            }
            Outcome::Delete { from } if current.is_some() => {
                emitter.emit(id, current, &Change::Delete, period(*from))?;
            }
            Outcome::Delete { .. } | Outcome::Gone => {}
        }
        Ok(None)
    }
}
