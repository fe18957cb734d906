//! Graph queries: traverse relationships from entity to entity, at one point of time.
//!
//! Their cost is proportional to the instances that they touch, and bounded by the [`Limits`] of
//! searches: each relationship and each entity examined counts, and so does the memory of those
//! that are held.

mod incident;
mod linking;
mod neighbourhood;

pub use incident::relationships_of_entity;
pub use linking::linking;
pub use neighbourhood::{RelatedQuery, SubGraph, WalkLimits, neighbourhood, related};

use std::cell::Cell;
use std::ops::ControlFlow;

use crate::error::{Message, OmrsError};
use crate::graph_store::GraphReader;
use crate::matching::Target;
use crate::search::{
    Limits, Meter, guid_bytes, rendered_entity_bytes, rendered_relationship_bytes,
};
use crate::store::{Candidate, Link, RenderedEntity, RenderedRelationship, StoredEntity};
use crate::types::{Catalogue, InstanceStatus, TypeIndex};

/// Decides which entities and relationships a traversal may enter.
#[derive(Clone, Copy)]
struct Step<'a> {
    types: &'a Catalogue,
    limits: &'a WalkLimits,
}

impl<'a> Step<'a> {
    fn new(types: &'a Catalogue, limits: &'a WalkLimits) -> Self {
        Self { types, limits }
    }

    fn takes_entity(&self, read: &GraphReader, entity: &RenderedEntity) -> Result<bool, OmrsError> {
        let is_right = self.takes_status(entity.life_status().status)
            && self.takes_type(entity.of(), &self.limits.entity_types);
        let names = &self.limits.classifications;
        if !is_right || names.is_empty() {
            return Ok(is_right);
        }
        let carries_one = |entity: StoredEntity| {
            let target = Target::from(&entity);
            let mut names = names.iter();
            names.any(|name| target.any_classification(name, |_| true))
        };
        Ok(read.entity(entity.guid())?.is_some_and(carries_one))
    }

    fn takes_relationship(&self, link: &Link) -> bool {
        self.takes_status(link.status) && self.takes_type(link.of, &self.limits.relationship_types)
    }

    fn takes_type(&self, own: Option<TypeIndex>, of: &[TypeIndex]) -> bool {
        let is_of = |own| of.iter().any(|of| self.types.is_a(own, *of));
        of.is_empty() || own.is_some_and(is_of)
    }

    fn takes_status(&self, status: Option<InstanceStatus>) -> bool {
        let status = status.unwrap_or(InstanceStatus::Unknown);
        self.limits.find.takes(status)
    }
}

/// Reads the neighbours of entities, and counts the cost.
struct Stepper<'a> {
    read: &'a GraphReader,
    step: Step<'a>,
    meter: Meter,
    /// Whether rows are cached. Set to false once memory is short; from then on, rows are read
    /// again when they are needed.
    keeps_rows: Cell<bool>,
}

impl<'a> Stepper<'a> {
    fn new(
        read: &'a GraphReader,
        types: &'a Catalogue,
        walked: &'a WalkLimits,
        limits: &Limits,
    ) -> Self {
        Self {
            read,
            step: Step::new(types, walked),
            meter: Meter::new(limits),
            keeps_rows: Cell::new(true),
        }
    }

    /// The relationships of an entity that may be followed, in a stable order, without the known
    /// ones.
    fn relationships(
        &self,
        from: &str,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<RenderedRelationship>, OmrsError> {
        let of = match self.step.limits.relationship_types[..] {
            [only] => Some(only),
            _ => None,
        };
        let mut found = Vec::new();
        let (meter, step) = (&self.meter, self.step);
        let mut visit = |relationship: RenderedRelationship| {
            meter.examine()?;
            if step.takes_relationship(&relationship.link) {
                meter.hold(rendered_relationship_bytes(&relationship))?;
                found.push(relationship);
            }
            Ok(ControlFlow::Continue(()))
        };
        self.read
            .rendered_relationships_of(from, of, is_known, &mut visit)?;
        Ok(found)
    }

    /// The links of an entity with a status that may be followed, of any type, in a stable order.
    fn links(&self, from: &str, keep: Keep) -> Result<Vec<Way>, OmrsError> {
        let mut found = Vec::new();
        let done = self.read.links_of(from, &mut |link, content| {
            self.meter.examine()?;
            if self.step.takes_status(link.status) {
                let content = (keep == Keep::Rows).then_some(content);
                found.push(self.kept_way(link, content)?);
            }
            Ok(ControlFlow::Continue(()))
        });
        if done.is_err() {
            found.iter().for_each(|way| self.let_go_way(way));
        }
        done.map(|()| found)
    }

    /// The same for several entities, with their rows as long as there is room.
    fn ways_of_each(&self, from: &[&str]) -> Result<Vec<Vec<Way>>, OmrsError> {
        let mut found: Vec<Vec<Way>> = from.iter().map(|_| Vec::new()).collect();
        let done = self.read.links_of_each(from, &mut |at, link, content| {
            self.meter.examine()?;
            if self.step.takes_status(link.status) {
                found[at].push(self.kept_way(link, Some(content))?);
            }
            Ok(ControlFlow::Continue(()))
        });
        if done.is_err() {
            let found = found.iter().flatten();
            found.for_each(|way| self.let_go_way(way));
        }
        done.map(|()| found)
    }

    /// Counts and returns a way, with its row if there is room for it.
    fn kept_way(&self, link: Link, content: Option<&[u8]>) -> Result<Way, OmrsError> {
        let content = content.filter(|content| self.has_room_for_row(content.len()));
        let content = content.map(Box::from);
        let way = Way { link, content };
        let held = self.meter.hold(way.bytes());
        if held.is_err() {
            self.let_go_way(&way);
        }
        held.map(|()| way)
    }

    /// Whether there is room to cache a row of this size.
    fn has_room_for_row(&self, bytes: usize) -> bool {
        self.keeps_rows.get() && self.meter.is_half_empty_with(bytes)
    }

    /// Whether cached rows must be dropped. Returns true only once; from then on no rows are
    /// cached.
    fn must_let_go_rows(&self) -> bool {
        self.keeps_rows.get() && !self.meter.is_half_empty() && self.keeps_rows.replace(false)
    }

    /// Whether a failed step may succeed without the cached rows. Returns true only once; from then
    /// on no rows are cached.
    fn may_go_without_rows(&self, error: &OmrsError) -> bool {
        error.message == Message::TooMuchHeld && self.keeps_rows.replace(false)
    }

    /// Drops the row of a way.
    fn let_go_row_of(&self, way: &mut Way) {
        let content = way.content.take();
        self.meter
            .release(content.map_or(0, |content| content.len()));
    }

    /// Drops the row of an entity.
    fn let_go_row(&self, entered: &mut Entered) {
        let row = entered.row.take();
        self.meter.release(row.as_ref().map_or(0, Candidate::bytes));
    }

    /// Counts a way as no longer held.
    fn let_go_way(&self, way: &Way) {
        self.meter.release(way.bytes());
    }

    /// Renders the relationship of a way. The way is no longer held.
    fn rendered_way(&self, way: Way) -> Result<RenderedRelationship, OmrsError> {
        self.meter.examine()?;
        let rendered = match &way.content {
            Some(content) => Some(self.read.rendered_link(&way.link, content)?),
            None => self.read.rendered_relationship(&way.link)?,
        };
        let rendered = rendered.ok_or_else(|| {
            let words = format!("the relationship {} was lost on the way", way.link.guid);
            OmrsError::new(Message::LogicError, &[&words])
        })?;
        self.let_go_way(&way);
        self.meter.hold(rendered_relationship_bytes(&rendered))?;
        Ok(rendered)
    }

    /// The entity, if its status allows to enter it. Type and classifications are not checked.
    fn enter(&self, guid: &str) -> Result<Option<Entered>, OmrsError> {
        self.meter.examine()?;
        // The caller holds the GUID of each entity that it has requested.
        self.meter.hold(guid_bytes(guid))?;
        let Some((life_status, row)) = self.read.glance(guid)? else {
            return Ok(None);
        };
        if life_status.is_proxy || !self.step.takes_status(life_status.status) {
            return Ok(None);
        }
        // If there is little room, the row is read again later.
        let row = Some(row).filter(|row| self.has_room_for_row(row.bytes()));
        self.meter.hold(row.as_ref().map_or(0, Candidate::bytes))?;
        Ok(Some(Entered { row }))
    }

    /// Counts a relationship as no longer held.
    fn let_go(&self, relationship: &RenderedRelationship) {
        self.meter
            .release(rendered_relationship_bytes(relationship));
    }

    /// Counts an entity as no longer held.
    fn let_go_entity(&self, entity: &RenderedEntity) {
        self.meter.release(rendered_entity_bytes(entity));
    }

    /// The entity, if it may be entered. An entity of which only a proxy is known cannot be
    /// rendered.
    fn entity(&self, guid: &str) -> Result<Option<RenderedEntity>, OmrsError> {
        self.meter.examine()?;
        // The caller holds the GUID of each entity that it has requested.
        self.meter.hold(guid_bytes(guid))?;
        let entity = self.read.rendered_entity(guid)?;
        self.taken(entity)
    }

    /// Renders an entity that was entered, if it satisfies the limits.
    fn entered(&self, guid: &str, entered: Entered) -> Result<Option<RenderedEntity>, OmrsError> {
        let Some(row) = entered.row else {
            return self.entity(guid);
        };
        let entity = self.read.rendered_kept(&row)?;
        self.meter.release(row.bytes());
        self.taken(Some(entity))
    }

    fn taken(&self, entity: Option<RenderedEntity>) -> Result<Option<RenderedEntity>, OmrsError> {
        let Some(entity) = entity.filter(|entity| entity.detail().is_some()) else {
            return Ok(None);
        };
        if !self.step.takes_entity(self.read, &entity)? {
            return Ok(None);
        }
        self.meter.hold(rendered_entity_bytes(&entity))?;
        Ok(Some(entity))
    }
}

/// The parts of links that are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Links,
    /// The rows too, since they may have to be rendered.
    Rows,
}

/// A link that may be followed, with its row if that is cached.
struct Way {
    link: Link,
    content: Option<Box<[u8]>>,
}

impl Way {
    fn bytes(&self) -> usize {
        let [one, two] = &self.link.ends;
        let content = self.content.as_ref().map_or(0, |content| content.len());
        guid_bytes(&self.link.guid) + guid_bytes(one) + guid_bytes(two) + content
    }
}

/// An entity that was entered, with its row if that is cached.
#[derive(Default)]
struct Entered {
    row: Option<Candidate>,
}
