//! All texts are known, whenever they came, and lead to what has or had them.

use varve_omrs::OmrsError;
use varve_omrs::error::Message;
use varve_omrs::json::Millis;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::EntityPropertyFindRequest;
use varve_omrs::store::*;

use crate::world::*;

const LONG: usize = 5_000;

fn hints(world: &World, matches: &dyn Fn(&str) -> bool) -> Option<Vec<TextHint>> {
    let reader = world.reader(None);
    let found = reader.matching_texts(&mut |text| Ok(matches(text)), 10);
    let mut found = found.expect("a test that cannot fail")?;
    found.sort_by_key(|hint| format!("{hint:?}"));
    Some(found)
}

fn is(text: &str) -> TextHint {
    TextHint::Is(text.to_owned())
}

#[test]
fn texts_are_known_whenever_they_came() {
    let mut world = World::new();
    let mut entity = world.entity("Database", "a", &[("name", text("one"))]);
    world.put(&entity);
    world.clock.advance(5_000);
    entity.properties = Some(world.properties("Database", &[("name", text("two"))]));
    entity.header.audit.version = 2;
    world.put(&entity);
    world.put(&world.entity("Person", "b", &[("fullName", text("none"))]));
    let mut link = world.relationship("SemanticAssignment", "r", ["a", "b"]);
    link.properties =
        Some(world.properties("SemanticAssignment", &[("description", text("gone"))]));
    world.put_relationship(&link);
    let ends = |text: &str| text.ends_with("ne");
    // Of an empty graph all are known from the beginning, of others when they were read.
    let found = hints(&world, &ends);
    assert_eq!(found, Some(vec![is("gone"), is("none"), is("one")]));
    for _ in 0..2 {
        assert!(world.store.read_texts());
        let found = hints(&world, &ends);
        assert_eq!(found, Some(vec![is("gone"), is("none"), is("one")]));
        world.restart();
    }
    assert!(world.store.read_texts());
    world.put(&world.entity("Person", "c", &[("fullName", text("Anne"))]));
    let found = hints(&world, &|text| text.ends_with("nne"));
    assert_eq!(found, Some(vec![is("Anne")]));
    let reader = world.reader(None);
    let three = reader.matching_texts(&mut |text| Ok(ends(text)), 3);
    assert_eq!(three, Ok(None), "they are too many");
    assert_eq!(reader.texts(), Some(5));
}

#[test]
fn a_test_of_texts_can_end_it() {
    let world = World::new();
    world.put(&world.entity("Database", "a", &[("name", text("one"))]));
    world.put(&world.entity("Database", "b", &[("name", text("two"))]));
    let mut asked = 0;
    let stop = OmrsError::new(Message::TookTooLong, &["0"]);
    let reader = world.reader(None);
    let ended = reader.matching_texts(
        &mut |_| {
            asked += 1;
            Err(stop.clone())
        },
        10,
    );
    assert_eq!((ended, asked), (Err(stop), 1));
}

#[test]
fn of_very_long_texts_the_start_is_known() {
    let world = World::new();
    let long = format!("{}{}!", "ä".repeat(40), "z".repeat(LONG));
    world.put(&world.entity("Database", "a", &[("name", text(&long))]));
    assert!(world.store.read_texts());
    let start = TextHint::Starts("ä".repeat(32));
    assert_eq!(hints(&world, &|_| false), Some(vec![start]));
}

/// A search for what few of many have finds it by the texts, now and as of then.
#[test]
fn what_few_have_is_found() {
    let world = World::new();
    let long = format!("{}needle", "z".repeat(LONG));
    for number in 0..150 {
        let name = match number {
            70 => "a needle in it".to_owned(),
            80 => long.clone(),
            _ => format!("hay {number}"),
        };
        world.clock.advance(1_000);
        world.put(&world.entity(
            "Database",
            &format!("g{number:03}"),
            &[("name", text(&name))],
        ));
    }
    let before = world.store.now();
    world.clock.advance(5_000);
    let mut changed = world.entity("Database", "g070", &[("name", text("hay"))]);
    changed.header.audit.version = 2;
    world.put(&changed);
    assert!(world.store.read_texts());
    let options = Options {
        metadata_collection_id: Some("home".to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://here.example".to_owned(),
    };
    let repository = Repository::open(std::sync::Arc::new(world.store), options).expect("opened");
    let find = |pattern: &str, at: Option<Millis>| {
        let mut request = EntityPropertyFindRequest::default();
        request.matching.of_type.paged.page_size = 5;
        request.matching.of_type.paged.find.as_of_time = at;
        let found = repository
            .find_entities_by_property_value(pattern, &request)
            .expect("an answer");
        let guids = found.iter().map(|entity| entity.header.guid().to_owned());
        guids.collect::<Vec<_>>()
    };
    for pattern in [r".*\Qneedle\E.*", "(?i).*NEEDLE.*", ".*n.edle( in it)?"] {
        assert_eq!(find(pattern, None), ["g080"], "{pattern}");
        assert_eq!(find(pattern, Some(before)), ["g070", "g080"], "{pattern}");
    }
    assert_eq!(find(r".*\Qno such\E", None), [""; 0]);
}
