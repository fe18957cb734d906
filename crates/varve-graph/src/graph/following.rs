//! Graphs that another server leads, and what a leader states for servers that follow its graphs.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use varve_kv::{Space, SpaceId, has_snapshots};
use varve_model::{CommitVersion, Instant};

use super::{Graph, GraphOptions};
use crate::changes::KeptChanges;
use crate::commit::{AskLeader, Commits, Followed, Latches, Position, Standing, Waited, elsewhere};
use crate::deadline;
use crate::error::{ErrorKind, GraphError};
use crate::maintenance::LastLook;
use crate::numbers::VertexNumbers;
use crate::schema::{Catalogue, SchemaTables};
use crate::snowflake::Snowflake;
use crate::tasks::Tasks;

impl Graph {
    /// The graph that another server leads, as of `position`. It is only read; what needs the
    /// leader fails with [`ErrorKind::Elsewhere`]. `space` follows the leader's and was opened
    /// after the leader told its position. `before` is an earlier such graph of the same leader's
    /// term, whose schema is used if it has not changed.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn follow(
        name: &str,
        space: Arc<dyn Space>,
        options: &GraphOptions,
        (position, leader): (Position, Arc<dyn AskLeader>),
        before: Option<&Self>,
    ) -> Result<Arc<Self>, GraphError> {
        let same_schema = |before: &&Self| {
            let followed = before.commits.followed();
            followed.is_some_and(|followed| followed.position().schema == position.schema)
        };
        let catalogue = match before.filter(same_schema) {
            Some(before) => Arc::clone(&before.catalogue),
            None => {
                let clock = Arc::clone(&options.clock);
                let tasks = Tasks::followed(Arc::clone(&space), Arc::clone(&clock));
                let tables = SchemaTables::default();
                let read =
                    Catalogue::open(Arc::clone(&space), tables, name, clock, Arc::new(tasks))?;
                if let Some(source) = &options.derivers
                    && let Some(deriver) = source.deriver(name, &*space)?
                {
                    read.present(deriver.presentation(&read.current()));
                }
                Arc::new(read)
            }
        };
        Ok(Arc::new(Self {
            name: name.to_owned(),
            commits: Commits::Followed(Arc::new(Followed::new(name, Arc::new(position), leader))),
            latches: Latches::new(),
            catalogue,
            has_states: has_snapshots(&space),
            space,
            recorded: None,
            clock: Arc::clone(&options.clock),
            limits: options.limits,
            known: Arc::default(),
            snowflake: Snowflake::after(Instant(0)),
            numbers: VertexNumbers::default(),
            deriver: ArcSwapOption::empty(),
            changes: KeptChanges::off(),
            last_look: LastLook::default(),
        }))
    }

    /// The same followed graph for one more request, so that [`Graph::standing`] is about that
    /// request alone; `None` if this server leads the graph.
    #[must_use]
    pub fn for_request(&self) -> Option<Arc<Self>> {
        let followed = self.commits.followed()?.again();
        Some(Arc::new(Self {
            name: self.name.clone(),
            commits: Commits::Followed(Arc::new(followed)),
            latches: Arc::clone(&self.latches),
            catalogue: Arc::clone(&self.catalogue),
            space: Arc::clone(&self.space),
            recorded: None,
            has_states: self.has_states,
            clock: Arc::clone(&self.clock),
            limits: self.limits,
            known: Arc::clone(&self.known),
            snowflake: Snowflake::after(Instant(0)),
            numbers: VertexNumbers::default(),
            deriver: ArcSwapOption::empty(),
            changes: KeptChanges::off(),
            last_look: LastLook::default(),
        }))
    }

    /// Whether another server's graph is followed here. It is then never changed.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.commits.followed().is_some()
    }

    /// Refuses what changes the graph where it is only followed.
    ///
    /// # Errors
    /// [`ErrorKind::Elsewhere`] in that case.
    pub fn check_led(&self) -> Result<(), GraphError> {
        self.commits
            .followed()
            .map_or(Ok(()), |followed| Err(followed.elsewhere()))
    }

    /// The position of this server's commits, for servers that follow the graph: every commit that
    /// was running has ended. `space` is the identity of the graph's space.
    ///
    /// # Errors
    /// [`ErrorKind::Elsewhere`] when this server does not lead the graph for certain;
    /// [`ErrorKind::Busy`] when a commit does not end before this thread's deadline, or its outcome
    /// is unknown.
    pub fn position(&self, space: SpaceId) -> Result<Position, GraphError> {
        self.check_led()?;
        let progress = self.commits.progress();
        let numbered = self.commits.numbered();
        match progress.wait(numbered.0) {
            Waited::Stored => {}
            Waited::TooLong => return Err(deadline::too_late()),
            _ => {
                let message = format!("A commit of the graph '{}' has not ended", self.name);
                return Err(GraphError::new(ErrorKind::Busy, message));
            }
        }
        let position = Position {
            space,
            term: self.space.lease().term,
            version: numbered.max(self.published()),
            schema: self.catalogue.version(),
            layout: self.space.layout(),
        };
        match self.is_led() {
            true => Ok(position),
            false => Err(elsewhere(&self.name)),
        }
    }

    /// Whether the answer to the request that this graph is for may be used: always, where this
    /// server leads the graph. `None` if the leader must be asked ([`Graph::ask_standing`]).
    #[must_use]
    pub fn standing(&self) -> Option<Standing> {
        self.commits
            .followed()
            .map_or(Some(Standing::Holds), |followed| followed.standing())
    }

    /// As [`Graph::standing`]; asks the leader if need be. Blocks.
    #[must_use]
    pub fn ask_standing(&self) -> Standing {
        self.commits
            .followed()
            .map_or(Standing::Holds, |followed| followed.ask_standing())
    }

    /// The newest version that a read which ends now may have shown.
    #[must_use]
    pub fn newest_shown(&self) -> CommitVersion {
        self.commits.numbered()
    }
}
