//! Random queries at random points of both times, on graphs with random histories: as many rows,
//! and the same ones, as a naive evaluator finds in the testkit's model of the history. Some of the
//! history is written by queries with a valid period.

mod naive;
mod query;
mod world;

use varve_graph::schema::SchemaMode;
use varve_testkit::Random;

use naive::Snapshot;
use query::{POINTS, Query};
use varve_testkit::model::Point;
use world::{World, date_time, loses_an_end};

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
            let own = point.map_or_else(|| world.now(), |(_, point)| point);
            let mut states = vec![Snapshot::of(&world, own)];
            let mut points = Vec::new();
            for _ in 0..POINTS {
                let valid = world.instant(&mut random);
                states.push(Snapshot::of(&world, Point { valid, ..own }));
                points.push(date_time(valid));
            }
            let text = query.text(&points);
            let wanted = naive::answer(&query, &states);
            let found = world.ask(&text, point);
            rows += wanted.len();
            empty += usize::from(wanted.is_empty());
            assert_eq!(
                query.in_order(found),
                query.in_order(wanted),
                "seed {seed}, at {point:?}: {text}\n{states:?}"
            );
        }
    }
    let all = usize::try_from(graphs).expect("few") * QUERIES;
    assert!(rows > all && empty < all / 2, "{rows} rows, {empty} empty");
}
