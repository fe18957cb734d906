//! The algorithms on graphs of a known shape, and at their limits.

use varve_testkit::Random;
use varve_traversal::Node;
use varve_traversal::algorithms::{
    Betweenness, Closeness, LouvainAsk, PageRank, betweenness, closeness, core_numbers, distances,
    eigenvector, hops, label_propagation, louvain, page_rank, sampled, strong, triangles, weak,
};
use varve_view::{CancelToken, Meter, MeterLimits, ViewError};

use super::world::Graph;

#[test]
fn cliques_are_communities() {
    // Five cliques of six vertices in a circle, each joined with the next by one edge.
    let mut edges = Vec::new();
    for clique in 0..5_u32 {
        for a in 0..6 {
            for b in 0..a {
                edges.push((6 * clique + a, 6 * clique + b, 1.0));
            }
        }
        edges.push((6 * clique, (6 * clique + 7) % 30, 1.0));
    }
    let graph = Graph::of(30, edges);
    let [both, ..] = graph.projections();
    let wanted: Vec<Node> = (0..30).map(|node| node / 6 * 6).collect();
    for seed in 0..20 {
        let ask = LouvainAsk {
            times: 20,
            precision: 0.0,
            seed,
        };
        let found = louvain(&both, &ask, &Meter::unlimited()).expect("communities");
        assert_eq!(found.of, wanted);
    }
}

#[test]
fn a_sample_has_different_vertices_and_depends_on_its_seed_alone() {
    let graph = Graph::of(50, Vec::new());
    let [both, ..] = graph.projections();
    let sample = sampled(&both, 10, 3);
    assert!(sample.len() == 10 && sample.is_sorted_by(|a, b| a < b));
    assert_eq!(sample, sampled(&both, 10, 3));
    assert_ne!(sample, sampled(&both, 10, 4));
    assert_eq!(sampled(&both, 99, 3).len(), 50);
}

#[test]
fn every_algorithm_ends_when_it_is_cancelled_and_at_its_memory() {
    let mut random = Random::new(5);
    let edges = (0..400_000).map(|_| {
        (
            random.below(2_000) as Node,
            random.below(2_000) as Node,
            1.0,
        )
    });
    let graph = Graph::of(2_000, edges.collect());
    let [both, ..] = graph.projections();
    let token = CancelToken::default();
    token.cancel();
    let cancelled = || Meter::new(MeterLimits::NONE, token.clone());
    let few_bytes = MeterLimits {
        bytes_max: 1_000,
        ..MeterLimits::NONE
    };
    let little = || Meter::new(few_bytes, CancelToken::default());
    let rank = PageRank {
        alpha: 0.15,
        times: 20,
        precision: 0.0,
        sources: &[],
    };
    let communities = LouvainAsk {
        times: 20,
        precision: 0.0,
        seed: 0,
    };
    let paths = Betweenness {
        sources: None,
        depth: u32::MAX,
    };
    type Run<'a> = Box<dyn Fn(&Meter) -> Option<varve_traversal::TraversalError> + 'a>;
    let runs: Vec<(&str, Run<'_>)> = vec![
        ("weak", Box::new(|meter| weak(&both, meter).err())),
        ("strong", Box::new(|meter| strong(&both, meter).err())),
        (
            "rank",
            Box::new(|meter| page_rank(&both, &rank, meter).err()),
        ),
        (
            "eigenvector",
            Box::new(|meter| eigenvector(&both, 20, 0.0, meter).err()),
        ),
        ("triangles", Box::new(|meter| triangles(&both, meter).err())),
        ("cores", Box::new(|meter| core_numbers(&both, meter).err())),
        (
            "lpa",
            Box::new(|meter| label_propagation(&both, 20, 0.0, meter).err()),
        ),
        (
            "louvain",
            Box::new(|meter| louvain(&both, &communities, meter).err()),
        ),
        (
            "closeness",
            Box::new(|meter| closeness(&both, Closeness::Harmonic, 9, meter).err()),
        ),
        (
            "betweenness",
            Box::new(|meter| betweenness(&both, &paths, meter).err()),
        ),
        ("hops", Box::new(|meter| hops(&both, 0, meter).err())),
        (
            "distances",
            Box::new(|meter| distances(&both, 0, meter).err()),
        ),
    ];
    for (name, run) in runs {
        let ended = run(&cancelled());
        let is_cancelled = |error: &varve_traversal::TraversalError| {
            matches!(
                error,
                varve_traversal::TraversalError::View(ViewError::Cancelled)
            )
        };
        assert!(
            ended.as_ref().is_some_and(is_cancelled),
            "{name}: {ended:?}"
        );
        let ended = run(&little());
        let is_full = |error: &varve_traversal::TraversalError| {
            matches!(
                error,
                varve_traversal::TraversalError::View(ViewError::Memory { .. })
            )
        };
        assert!(ended.as_ref().is_some_and(is_full), "{name}: {ended:?}");
    }
}
