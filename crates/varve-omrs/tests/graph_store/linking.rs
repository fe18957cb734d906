//! Paths between entities: rows are kept to save another look at them, and never where there is no
//! room.

use std::sync::Arc;

use varve_kv::MemoryEngine;
use varve_omrs::OmrsError;
use varve_omrs::error::Message;
use varve_omrs::graph_queries::{SubGraph, linking};
use varve_omrs::instances::Primitive;
use varve_omrs::requests::FindRequest;
use varve_omrs::search::Limits;
use varve_testkit::{Looks, NotedEngine};

use crate::world::*;

/// More than any path here takes, in bytes.
const PLENTY: usize = 64 << 20;

/// A world with a path of so many entities, each but the last linked to some more that lead nowhere
/// and are looked at before the path goes on, or after.
struct Path {
    world: World,
    looks: Arc<Looks>,
    length: usize,
}

impl Path {
    /// With `heavy`, the rows of what leads nowhere are large.
    fn new((length, others, aside): (usize, usize, &str), heavy: bool) -> Self {
        let (engine, looks) = NotedEngine::new(Arc::new(MemoryEngine::new()));
        let path = Self {
            world: World::on(Arc::new(engine)),
            looks,
            length,
        };
        for number in 0..length {
            let guid = format!("on-{number:03}");
            path.put(&guid, "description", true);
            if number > 0 {
                path.link(&format!("on-{:03}", number - 1), &guid, true);
            }
            let is_last = number + 1 == length;
            for other in 0..if is_last { 0 } else { others } {
                let aside = format!("{aside}-{number:03}-{other}");
                path.put(&aside, "summary", heavy);
                path.link(&guid, &aside, heavy);
            }
        }
        path
    }

    fn put(&self, guid: &str, name: &str, heavy: bool) {
        let entity = self
            .world
            .entity("GlossaryTerm", guid, &[(name, words(heavy))]);
        self.world.put(&entity);
    }

    fn link(&self, one: &str, two: &str, heavy: bool) {
        let of = "SemanticAssignment";
        let mut link = self
            .world
            .relationship(of, &format!("{one}-{two}"), [one, two]);
        let values = [("description", words(heavy))];
        link.properties = Some(self.world.properties(of, &values));
        self.world.put_relationship(&link);
    }

    /// What lies on the path, and the looks into what it is kept in.
    fn found(&self, held_bytes_max: usize) -> Result<(SubGraph, Vec<String>), OmrsError> {
        let read = self.world.reader(None);
        let ends = [0, self.length - 1].map(|number| {
            let entity = read.rendered_entity(&format!("on-{number:03}"));
            entity.unwrap().expect("an entity")
        });
        let limits = Limits {
            held_bytes_max,
            ..Limits::default()
        };
        self.looks.take();
        let find = FindRequest::default();
        let found = linking(&read, &self.world.types, ends, &find, &limits)?;
        Ok((found, self.looks.take()))
    }

    /// The least that may be held.
    fn least(&self) -> usize {
        let (mut too_little, mut enough) = (0, PLENTY);
        while enough - too_little > 64 {
            let middle = usize::midpoint(too_little, enough);
            match self.found(middle) {
                Ok(_) => enough = middle,
                Err(error) => {
                    assert_eq!(error.message, Message::TooMuchHeld);
                    too_little = middle;
                }
            }
        }
        enough
    }
}

fn words(heavy: bool) -> Primitive {
    Primitive::String("long ".repeat(if heavy { 200 } else { 1 }))
}

/// How often a row of a table was read by its key.
fn gets(looks: &[String], table: &str) -> usize {
    let get = format!("get {table}");
    looks.iter().filter(|look| **look == get).count()
}

#[test]
fn rows_are_kept_only_where_there_is_room() {
    let shapes = [
        (60, 0, ""),
        (12, 12, "before"),
        (12, 30, "past"),
        (2, 300, "past"),
    ];
    for shape in shapes {
        let (length, others, _) = shape;
        let path = Path::new(shape, true);
        let guids = |of: &SubGraph| {
            let entities = of.entities.iter().map(|of| of.guid().to_owned());
            let links = of.relationships.iter().map(|of| of.link.guid.to_string());
            entities.chain(links).collect::<Vec<String>>()
        };
        let (wanted, looks) = path.found(PLENTY).unwrap();
        assert_eq!(wanted.entities.len(), length);
        assert_eq!(wanted.relationships.len(), length - 1);
        // Each entity but the start is looked at once, and relationships come with their entities.
        let entered = gets(&looks, "vertex");
        assert!(
            entered < length + (length - 1) * others,
            "{shape:?}: {entered}"
        );
        assert!(entered >= length - 1, "{shape:?}: {entered}");
        assert_eq!(gets(&looks, "edge"), 0, "{shape:?}");
        // Rows that lead nowhere take no room that is needed.
        let least = Path::new(shape, false).least();
        for more in [100, 102, 105, 110, 120, 150, 200] {
            let (same, looks) = path
                .found(least * more / 100)
                .unwrap_or_else(|error| panic!("{shape:?}, {more} % of {least} bytes: {error}"));
            assert_eq!(guids(&same), guids(&wanted));
            let again = gets(&looks, "vertex") - entered + gets(&looks, "edge");
            // All but the two ends are rendered from rows, which are read again if they are not
            // buffered.
            let most = 2 * length - 3;
            assert!(again <= most, "{shape:?}, {more} %: {again}");
            assert!(more > 100 || again == most, "{shape:?}: {again}");
        }
    }
}
