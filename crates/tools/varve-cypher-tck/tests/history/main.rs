//! Random queries at random points of both times, on graphs with random histories: as many rows,
//! and the same ones, as a naive evaluator finds in the testkit's model of the history. Some of the
//! history is written by queries with a valid period.

mod naive;
mod query;
mod world;

use varve_graph::schema::SchemaMode;
use varve_testkit::Random;

use naive::Snapshot;
use query::Query;
use world::{World, loses_an_end};

const GRAPHS: u64 = 64;
const QUERIES: usize = 150;

#[test]
fn queries_at_a_point_of_both_times_find_what_the_history_says() {
    let rounds = std::env::var("VARVE_TEST_CYPHER_HISTORIES").ok();
    let graphs = rounds.map_or(GRAPHS, |rounds| rounds.parse().expect("a number"));
    let (mut rows, mut empty) = (0, 0);
    for seed in 0..graphs {
        let mut random = Random::new(seed);
        let mode = match seed % 2 {
            0 => SchemaMode::Open,
            _ => SchemaMode::Declared,
        };
        let world = World::random(mode, &mut random);
        world.check_histories();
        assert!(!loses_an_end(&world.model), "seed {seed}");
        for _ in 0..QUERIES {
            let query = Query::random(&mut random);
            let point = world.point(&mut random);
            let state = Snapshot::of(&world, point.map(|(_, point)| point));
            let text = query.text();
            let wanted = naive::answer(&query, &state);
            let found = world.ask(&text, point);
            rows += wanted.len();
            empty += usize::from(wanted.is_empty());
            assert_eq!(
                query.in_order(found),
                query.in_order(wanted),
                "seed {seed}, at {point:?}: {text}\n{state:?}"
            );
        }
    }
    let all = usize::try_from(graphs).expect("few") * QUERIES;
    assert!(rows > all && empty < all / 2, "{rows} rows, {empty} empty");
}
