//! The CPU time of graph algorithms on a graph in memory: `algorithm_cost [vertices] [edges]`.
//!
//! The ends of edges are uniformly random, which is the worst case for caches.

#![expect(clippy::print_stdout, reason = "the result of an example")]

use std::time::Duration;

use varve_testkit::Random;
use varve_traversal::algorithms::{PageRank, core_numbers, page_rank, triangles, weak};
use varve_traversal::{Node, Projection};
use varve_view::Meter;

/// CPU time of this process. The example has one thread.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    let nanoseconds = stat.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let began = cpu();
    let made = run();
    println!(
        "{what}: {:.1} ms of CPU",
        (cpu() - began).as_secs_f64() * 1e3
    );
    made
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|text| text.parse().expect("a number"));
    let vertices: usize = arguments.next().unwrap_or(1_000_000);
    let edges: usize = arguments.next().unwrap_or(10_000_000);
    let mut random = Random::new(1);
    let mut end = || random.below(vertices) as Node;
    let edges: Vec<(Node, Node)> = (0..edges).map(|_| (end(), end())).collect();
    let graph = timed("copy", || Projection::unweighted(vertices, edges));
    let meter = Meter::unlimited();
    let rank = |times| PageRank {
        alpha: 0.15,
        times,
        precision: 0.0,
        sources: &[],
    };
    let one = timed("page_rank, 1 iteration", || {
        page_rank(&graph, &rank(1), &meter)
    });
    let many = timed("page_rank, 11 iterations", || {
        page_rank(&graph, &rank(11), &meter)
    });
    let components = timed("wcc", || weak(&graph, &meter)).expect("components");
    let cores = timed("k_core", || core_numbers(&graph, &meter)).expect("cores");
    let found = timed("triangle_count", || triangles(&graph, &meter)).expect("triangles");
    println!(
        "{} components, core {}, {} triangles, ranks change by {:e} and {:e}",
        components.count,
        cores.iter().max().expect("a vertex"),
        found.count(),
        one.expect("ranks").last_change,
        many.expect("ranks").last_change,
    );
}
