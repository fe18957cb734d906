//! Paths between entities: rows are kept to save another look at them, and never where there is no
//! room.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use varve_omrs::OmrsError;
use varve_omrs::error::Message;
use varve_omrs::graph_queries::{SubGraph, linking};
use varve_omrs::instances::Primitive;
use varve_omrs::requests::FindRequest;
use varve_omrs::search::Limits;
use varve_omrs::store::*;
use varve_omrs::types::{Catalogue, TypeIndex};

use crate::world::*;

/// A reader that gives rows to be kept, or does not.
struct Rows<'a> {
    inner: Box<dyn Read + 'a>,
    are_given: bool,
    /// How many instances were rendered from rows that were kept.
    rendered: Cell<usize>,
}

impl Read for Rows<'_> {
    fn types(&self) -> Arc<Catalogue> {
        self.inner.types()
    }

    fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        self.inner.entity(guid)
    }

    fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        self.inner.relationship(guid)
    }

    fn rendered_entity(&self, guid: &str) -> Result<Option<RenderedEntity>, OmrsError> {
        self.inner.rendered_entity(guid)
    }

    fn rendered_relationship(
        &self,
        link: &Link,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        self.inner.rendered_relationship(link)
    }

    fn relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.inner.relationships_of(entity, of, visit)
    }

    fn links_of(&self, entity: &str, visit: VisitLink<'_>) -> Result<(), OmrsError> {
        self.inner.links_of(entity, &mut |link, content| {
            visit(link, content.filter(|_| self.are_given))
        })
    }

    fn links_at_once(&self) -> usize {
        match self.are_given {
            true => self.inner.links_at_once(),
            false => 1,
        }
    }

    fn links_of_each(&self, entities: &[&str], visit: VisitLinkAt<'_>) -> Result<(), OmrsError> {
        self.inner.links_of_each(entities, visit)
    }

    fn rendered_link(
        &self,
        link: &Link,
        content: &[u8],
    ) -> Result<RenderedRelationship, OmrsError> {
        self.rendered.set(self.rendered.get() + 1);
        self.inner.rendered_link(link, content)
    }

    fn glance(&self, guid: &str) -> Result<Option<(LifeStatus, Option<CandidateRow>)>, OmrsError> {
        let found = self.inner.glance(guid)?;
        Ok(found.map(|(life_status, row)| (life_status, row.filter(|_| self.are_given))))
    }

    fn rendered_kept(&self, kept: &CandidateRow) -> Result<RenderedEntity, OmrsError> {
        self.rendered.set(self.rendered.get() + 1);
        self.inner.rendered_kept(kept)
    }

    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError> {
        self.inner.walk(walk, visit)
    }

    fn can_walk(&self, walk: &Walk<'_>) -> bool {
        self.inner.can_walk(walk)
    }
}

/// A world with a path of so many entities, each but the last linked to some more that lead nowhere
/// and are looked at before the path goes on, or after.
fn path(length: usize, others: usize, aside: &str) -> World {
    let world = World::new();
    let long = |name: &'static str| (name, Primitive::String("long ".repeat(200)));
    let link = |one: &str, two: &str| {
        let guid = format!("{one}-{two}");
        let mut link = world.relationship("SemanticAssignment", &guid, [one, two]);
        let properties = world.properties("SemanticAssignment", &[long("description")]);
        link.properties = Some(properties);
        world.put_relationship(&link);
    };
    for number in 0..length {
        let guid = format!("on-{number:03}");
        world.put(&world.entity("GlossaryTerm", &guid, &[long("description")]));
        if number > 0 {
            link(&format!("on-{:03}", number - 1), &guid);
        }
        let is_last = number + 1 == length;
        for other in 0..if is_last { 0 } else { others } {
            let aside = format!("{aside}-{number:03}-{other}");
            world.put(&world.entity("GlossaryTerm", &aside, &[long("summary")]));
            link(&guid, &aside);
        }
    }
    world
}

/// What lies on the path, and how much of it was rendered from rows that were kept.
fn found(
    world: &World,
    are_given: bool,
    held_bytes_max: usize,
    length: usize,
) -> Result<(SubGraph, usize), OmrsError> {
    let read = Rows {
        inner: world.reader(None),
        are_given,
        rendered: Cell::new(0),
    };
    let ends = [0, length - 1].map(|number| {
        let entity = read.rendered_entity(&format!("on-{number:03}"));
        entity.unwrap().expect("an entity")
    });
    let limits = Limits {
        held_bytes_max,
        ..Limits::default()
    };
    let find = FindRequest::default();
    let found = linking(&read, &world.types, ends, &find, &limits)?;
    Ok((found, read.rendered.get()))
}

/// The least that may be held for what is found without rows.
fn least(world: &World, length: usize) -> usize {
    let (mut too_little, mut enough) = (0, 64 << 20);
    while enough - too_little > 64 {
        let middle = usize::midpoint(too_little, enough);
        match found(world, false, middle, length) {
            Ok(_) => enough = middle,
            Err(error) => {
                assert_eq!(error.message, Message::TooMuchHeld);
                too_little = middle;
            }
        }
    }
    enough
}

#[test]
fn rows_are_kept_only_where_there_is_room() {
    let worlds = [
        (60, 0, ""),
        (12, 12, "before"),
        (12, 30, "past"),
        (2, 300, "past"),
    ];
    for (length, others, aside) in worlds {
        let world = path(length, others, aside);
        let guids = |of: &SubGraph| {
            let entities = of.entities.iter().map(|of| of.guid().to_owned());
            let links = of.relationships.iter().map(|of| of.link.guid.to_string());
            entities.chain(links).collect::<Vec<String>>()
        };
        let (wanted, rendered) = found(&world, false, 64 << 20, length).unwrap();
        assert_eq!(wanted.entities.len(), length);
        assert_eq!(wanted.relationships.len(), length - 1);
        assert_eq!(rendered, 0);
        let (same, rendered) = found(&world, true, 64 << 20, length).unwrap();
        assert_eq!(guids(&same), guids(&wanted));
        // All but the two ends.
        assert_eq!(rendered, 2 * length - 3);
        let least = least(&world, length);
        for more in [100, 102, 105, 110, 120, 150, 200] {
            let found = found(&world, true, least * more / 100, length);
            let (same, _) = found.unwrap_or_else(|error| {
                panic!("{length} entities, {more} % of {least} bytes: {error}")
            });
            assert_eq!(guids(&same), guids(&wanted));
        }
    }
}
