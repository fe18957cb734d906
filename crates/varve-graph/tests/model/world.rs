//! A graph and the model, given the same operations.

use std::sync::Arc;
use std::time::Duration;

use varve_encoding::tables::TABLES;
use varve_graph::maintenance::{purge, sweep, tidy};
use varve_graph::schema::{NewIndexLabel, SchemaKind};
use varve_graph::tasks::{TaskId, TaskStatus};
use varve_graph::write::{Mutation, WritePeriod, WriteRequest};
use varve_graph::{DurabilityMode, ErrorKind, Graph, GraphError, GraphOptions};
use varve_kv::Engine;
use varve_model::schema::{IndexBase, IndexType, Retention};
use varve_model::{
    Clock, CommitVersion, Element, ElementId, Instant, Properties, Vertex, VertexId,
};
use varve_testkit::generate::{Case, Operation, SchemaPlan, labels};
use varve_testkit::model::{Change, Model, Plan, Point, Request};
use varve_testkit::{Fault, Faults, FaultyEngine, ManualClock};

use crate::engines::{Below, KeepAlive, engine};
use crate::{requests, schema};

/// Longest wait for a task; only a task that hangs takes so long.
const TASK_TIMEOUT: Duration = Duration::from_secs(60);
/// Where the clock starts: 2023-11-14.
const START: Instant = Instant(1_700_000_000_000_000);

pub(crate) struct World {
    pub(crate) plan: SchemaPlan,
    below: Below,
    engine: FaultyEngine,
    faults: Arc<Faults>,
    failing: Option<Fault>,
    pub(crate) clock: Arc<ManualClock>,
    graph: Option<Arc<Graph>>,
    /// After the graph, which must be closed before.
    _kept: KeepAlive,
    pub(crate) model: Model,
    /// Every element that the case names.
    pub(crate) ids: Vec<ElementId>,
    /// The labels that were removed.
    removed: Vec<IndexBase>,
}

impl World {
    pub(crate) fn new(case: &Case, below: Below) -> Self {
        let (engine, kept) = engine(below);
        let (engine, faults) = FaultyEngine::new(engine);
        let mut world = Self {
            below,
            plan: case.schema.clone(),
            engine,
            faults,
            failing: None,
            clock: Arc::new(ManualClock::new(START)),
            graph: None,
            _kept: kept,
            model: Model::new(case.schema.model.clone()),
            ids: case.ids(),
            removed: Vec::new(),
        };
        world.open();
        schema::create(world.graph().catalogue(), &case.schema);
        world
    }

    pub(crate) fn graph(&self) -> &Arc<Graph> {
        self.graph.as_ref().expect("open")
    }

    /// What counts as now: never before a version that was given out, be it to a commit that
    /// failed.
    pub(crate) fn now(&self) -> Instant {
        let now = self.graph().now();
        assert!(now >= self.clock.now() && now >= self.graph().published().instant());
        now
    }

    fn open(&mut self) {
        let clock: Arc<dyn Clock> = self.clock.clone();
        let space = self.engine.open("g", TABLES, true).expect("a space");
        let mut options = GraphOptions::new(clock);
        options.durability = DurabilityMode::None;
        self.graph = Some(Graph::open("g", space, &options).expect("a graph"));
    }

    pub(crate) fn apply(&mut self, operation: &Operation) -> Result<(), String> {
        match operation {
            Operation::Clock(micros) => self.clock.step(*micros),
            Operation::Reopen => {
                self.graph = None;
                self.open();
            }
            Operation::Tidy => {
                let done = tidy(self.graph(), usize::MAX).and_then(|_| sweep(self.graph()));
                done.map_err(|error| error.to_string())?;
            }
            Operation::FailNext(_) if self.below.keeps_versions_ahead() => {}
            Operation::FailNext(fault) => self.failing = Some(*fault),
            Operation::ToggleIndex(at) => return self.toggle_index(*at),
            Operation::RemoveVertexLabel(label) => {
                return self.remove_label(IndexBase::Vertex(*label));
            }
            Operation::RemoveEdgeLabel(label) => return self.remove_label(IndexBase::Edge(*label)),
            Operation::Purge(id) => {
                let done = purge(self.graph(), id).and_then(|ticket| ticket.wait());
                done.map_err(|error| error.to_string())?;
                self.model.purge(id);
            }
            Operation::Write { changes, .. }
                if changes.iter().any(|change| self.is_removed(change)) => {}
            Operation::Write {
                changes,
                from,
                to,
                skip_unchanged,
            } => {
                let now = self.now();
                // What a request reads of a past that was not kept is not promised.
                let from = from.map(|offset| {
                    if self.forgets() {
                        offset.max(0)
                    } else {
                        offset
                    }
                });
                let at = |offset: &Option<i64>| offset.map(|micros| now.plus_micros(micros));
                let request = Request {
                    changes: changes.clone(),
                    from: at(&from),
                    to: at(to),
                    skip_unchanged: *skip_unchanged,
                };
                return self.write(&request, now);
            }
        }
        Ok(())
    }

    /// Whether there are elements of labels that do not keep all history.
    fn forgets(&self) -> bool {
        let mut states = self
            .model
            .events
            .iter()
            .filter_map(|event| event.state.as_ref());
        states.any(|state| self.model.schema.rules(state).retention != Retention::All)
    }

    /// Removes an index label, or creates it and has it built from what is stored. The unique one
    /// is rebuilt instead.
    fn toggle_index(&mut self, at: usize) -> Result<(), String> {
        let catalogue = Arc::clone(self.graph().catalogue());
        let label = &self.plan.model.index_labels[at];
        if self.removed.contains(&label.base) {
            return Ok(());
        }
        let task = if label.index_type == IndexType::Unique {
            catalogue
                .owned_by(None)
                .rebuild(SchemaKind::IndexLabel, &label.name)
        } else if self
            .graph()
            .schema()
            .index_label_by_name(&label.name)
            .is_some()
        {
            catalogue
                .owned_by(None)
                .remove(SchemaKind::IndexLabel, &label.name)
        } else {
            let new = NewIndexLabel {
                rebuild: true,
                ..schema::new_index(&self.plan, label)
            };
            catalogue.create_index_label(new).map(|made| made.task)
        };
        self.finish(task)
    }

    /// Whether a change writes an element of a label that was removed, which only the checks above
    /// the graph refuse.
    fn is_removed(&self, change: &Change) -> bool {
        match change {
            Change::Put { element, .. } | Change::Combine { element, .. } => {
                self.removed.contains(&base_of(element))
            }
            _ => false,
        }
    }

    fn remove_label(&mut self, base: IndexBase) -> Result<(), String> {
        if self.removed.contains(&base) {
            return Ok(());
        }
        let catalogue = Arc::clone(self.graph().catalogue());
        let schema = self.graph().schema();
        let (now, before) = (self.now(), self.graph().published());
        let task = match base {
            IndexBase::Vertex(id) => catalogue
                .owned_by(None)
                .remove(SchemaKind::VertexLabel, schema.vertex_label_name(id)),
            IndexBase::Edge(id) => catalogue
                .owned_by(None)
                .remove(SchemaKind::EdgeLabel, schema.edge_label_name(id)),
            IndexBase::Olap => unreachable!("no case removes it"),
        };
        self.finish(task)?;
        self.removed.push(base);
        let version = self.graph().published();
        let doomed = self
            .model
            .ids()
            .into_iter()
            .filter(|id| self.will_be(id, base, now));
        let delete = |id| Change::Delete {
            id,
            refuse_missing: false,
        };
        let request = Request {
            changes: doomed.map(delete).collect(),
            from: None,
            to: None,
            skip_unchanged: false,
        };
        let plan = self
            .model
            .plan(&request, now)
            .expect("a deletion is not refused");
        match plan.events.iter().all(|event| event.idle) {
            true => Ok(()),
            false if version == before => Err("nothing was deleted with the label".to_owned()),
            false => {
                self.model.commit(&plan, version);
                Ok(())
            }
        }
    }

    /// Whether an element is of a label now or at some later instant.
    fn will_be(&self, id: &ElementId, base: IndexBase, now: Instant) -> bool {
        let own = self.model.events.iter().filter(|event| event.id == *id);
        let boundaries = own.flat_map(|event| [event.period.from, event.period.to]);
        let later = boundaries.filter(|instant| *instant > now);
        std::iter::once(now).chain(later).any(|valid| {
            let state = self.model.state(
                id,
                Point {
                    valid,
                    version: CommitVersion::MAX,
                },
            );
            state.is_some_and(|state| base_of(state) == base)
        })
    }

    fn finish(&self, task: Result<TaskId, GraphError>) -> Result<(), String> {
        let task = task.map_err(|error| error.to_string())?;
        let catalogue = self.graph().catalogue();
        let done = catalogue
            .tasks()
            .wait_until_done(task, TASK_TIMEOUT)
            .map_err(|error| error.to_string())?;
        if done.status != TaskStatus::Success {
            return Err(format!("{done:?}"));
        }
        Ok(())
    }

    /// A request that could not be stored is there as a whole or not at all, and later ones work:
    /// at once, or, if it is unknown what was stored, after the graph was opened again.
    fn failed(&mut self, fault: Fault, plan: &Plan) -> Result<(), String> {
        if let Fault::IoStored | Fault::IoLost = fault {
            let refused = self
                .graph()
                .write_now(&WriteRequest::now(vec![Mutation::PutVertex {
                    vertex: Vertex {
                        id: VertexId::text("1:a"),
                        label: labels::PERSON,
                        properties: Properties::new(),
                    },
                    fresh: false,
                }]));
            if !refused.is_err_and(|error| error.kind == ErrorKind::Storage) {
                return Err("a write was acknowledged after one that failed".to_owned());
            }
            self.graph = None;
            self.open();
        }
        if fault == Fault::IoStored {
            let version = self.graph().published();
            self.model.commit(plan, version);
        }
        Ok(())
    }

    fn write(&mut self, request: &Request, now: Instant) -> Result<(), String> {
        let planned = self.model.plan(request, now);
        let mutations = request
            .changes
            .iter()
            .map(|change| {
                let fresh = |id: &ElementId| !self.model.ids().contains(id);
                requests::mutation(self.graph(), &self.plan, change, &fresh)
            })
            .collect::<Result<Vec<_>, _>>();
        let period = WritePeriod {
            from: request.from,
            to: request.to,
        };
        let before = self.graph().published();
        let failing = self.failing.take();
        if let Some(fault) = failing {
            self.faults.fail_write(1, fault);
        }
        let written = mutations.and_then(|mutations| {
            self.graph().write_now(&WriteRequest {
                mutations,
                period,
                skip_unchanged: request.skip_unchanged,
                ..WriteRequest::default()
            })
        });
        self.faults.heal();
        if let (Some(fault), Ok(plan), Err(error)) = (failing, &planned, &written)
            && [ErrorKind::Unwritable, ErrorKind::Storage].contains(&error.kind)
        {
            return self.failed(fault, plan);
        }
        match (planned, written) {
            (Ok(plan), Ok(version)) => {
                if version == before {
                    // Nothing was worth a commit.
                    let idle = plan.events.iter().all(|event| event.idle);
                    return if idle {
                        Ok(())
                    } else {
                        Err(format!("nothing was stored of {plan:?}"))
                    };
                }
                if version < CommitVersion::first_at(now) {
                    return Err(format!("commit {version} lies before now"));
                }
                self.model.commit(&plan, version);
                Ok(())
            }
            (Err(_), Err(error)) => match error.kind {
                ErrorKind::InvalidArgument | ErrorKind::Unique | ErrorKind::NotFound => Ok(()),
                kind => Err(format!("{kind:?}: {error}")),
            },
            (Err(refusal), Ok(_)) => Err(format!("not refused for {refusal:?}")),
            (Ok(_), Err(error)) => Err(format!("refused: {error}")),
        }
    }
}

fn base_of(element: &Element) -> IndexBase {
    match element {
        Element::Vertex(vertex) => IndexBase::Vertex(vertex.label),
        Element::Edge(edge) => IndexBase::Edge(edge.id.label),
    }
}
