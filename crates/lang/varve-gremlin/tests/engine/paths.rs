//! Paths to given vertices: the search from both ends has the results of the loop, a shortest path
//! first.

use crate::generate::Random;
use crate::modern::Modern;
use crate::random::{differs, results};
use crate::rules::answered;

/// The number of graphs. All pairs of vertices of each graph are tested.
const GRAPHS: u64 = 40;

const LOOPS: [&str; 9] = [
    "repeat(both().simplePath()).until(hasId(b))",
    "repeat(out().simplePath()).until(hasId(b))",
    "repeat(__.in('knows','created').simplePath()).until(has(id,b))",
    "repeat(bothE('knows').otherV().simplePath()).until(hasId('b'))",
    "until(hasId(b)).repeat(both('knows').simplePath())",
    "repeat(both().simplePath()).until(hasId(b,a,3))",
    "repeat(both('nothing').simplePath()).until(hasId(b))",
    "as('x').repeat(both().simplePath()).until(hasId(within(b,99)))",
    "out().limit(1).repeat(both().simplePath()).until(hasId(b))",
];

#[test]
fn paths_to_a_vertex_are_those_of_the_loop() {
    let (mut wrong, mut found) = (Vec::new(), 0);
    for seed in 0..GRAPHS {
        let graph = Modern::random(&mut Random::new(seed));
        for pair in 0..81 {
            let own = LOOPS[(seed + pair + pair / 9) as usize % LOOPS.len()];
            let target = (pair % 9).to_string();
            let own = own.replace("(b", &format!("({target}"));
            let own = own.replace("'b'", &format!("'{target}'"));
            let own = own.replace(",b)", &format!(",{target})"));
            let own = own.replace(",a,", &format!(",{},", pair / 9));
            let text = format!("g.V({}).{own}.path()", pair / 9);
            wrong.extend(differs(&text, &graph));
            let shortest = format!("{text}.limit(1).count(local)");
            wrong.extend(differs(&shortest, &graph));
            let Ok(shortest) = results(&shortest, &graph, false) else {
                continue;
            };
            found += shortest.len();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 100, "{found} paths");
}

#[test]
fn a_shortest_path_is_found_from_both_ends() {
    // The rows read for a path from marko to peter in the graph `modern`.
    let rows = |as_written| {
        let text = "g.V(1).repeat(both().simplePath()).until(hasId(6)).path().limit(1)";
        let (results, rows) = answered(text, as_written, 1);
        assert_eq!(results, ["path[v[1], v[3], v[6]]"]);
        rows
    };
    // The source, the target, and the edges of both.
    assert!(rows(false) <= 6, "{} rows", rows(false));
    assert!(rows(false) < rows(true));
}
