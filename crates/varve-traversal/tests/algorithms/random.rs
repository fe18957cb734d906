//! The algorithms on random graphs.

use varve_traversal::Node;
use varve_traversal::algorithms::{
    Betweenness, Closeness, LouvainAsk, PageRank, Rings, UNREACHED, betweenness, closeness,
    core_numbers, degree, distances, eigenvector, hops, label_propagation, louvain, modularity,
    page_rank, rings, sampled, stress, strong, triangles, weak,
};
use varve_view::{Flow, Meter};

use super::definitions;
use super::world::{Graph, each_graph};

/// The largest difference between sums of floating-point numbers that are added in different
/// orders.
const ROUNDING: f64 = 1e-9;

fn close(a: &[f64], b: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= ROUNDING * (1.0 + b.abs());
    a.len() == b.len() && a.iter().zip(b).all(near)
}

fn free() -> Meter {
    Meter::unlimited()
}

#[test]
fn components_are_the_classes_of_reaching_each_other() {
    each_graph(|graph, _| {
        for one in graph.projections() {
            let weak = weak(&one, &free()).expect("components");
            assert_eq!(weak.of, definitions::weak(graph));
            assert_eq!(weak.count, definitions::classes(&weak.of));
            let strong = strong(&one, &free()).expect("components");
            assert_eq!(strong.of, definitions::strong(graph));
            assert_eq!(strong.count, definitions::classes(&strong.of));
        }
    });
}

#[test]
fn degrees_count_every_edge_in_the_directions_asked_for() {
    each_graph(|graph, _| {
        let [both, out, into] = graph.projections();
        let (mut from, mut to) = (vec![0; graph.vertices], vec![0; graph.vertices]);
        for (source, target, _) in &graph.edges {
            from[*source as usize] += 1;
            to[*target as usize] += 1;
        }
        let sum: Vec<u64> = from.iter().zip(&to).map(|(a, b)| a + b).collect();
        assert_eq!(degree(&out), from);
        assert_eq!(degree(&into), to);
        assert_eq!(degree(&both), sum);
    });
}

#[test]
fn page_rank_is_the_fixed_point_of_its_equation() {
    each_graph(|graph, random| {
        let alpha = [0.15, 0.5, 1.0][random.below(3)];
        let sources: Vec<Node> = match random.below(2) {
            0 => Vec::new(),
            _ => (0..1 + random.below(2))
                .map(|_| random.below(graph.vertices) as Node)
                .collect(),
        };
        let ask = PageRank {
            alpha,
            times: 10_000,
            precision: 1e-13,
            sources: &sources,
        };
        let [both, _, into] = graph.projections();
        let ranks = page_rank(&both, &ask, &free()).expect("ranks");
        assert!((ranks.ranks.iter().sum::<f64>() - 1.0).abs() < ROUNDING);
        let next = definitions::page_rank_step(graph, &ranks.ranks, alpha, &sources);
        assert!(close(&ranks.ranks, &next), "{ranks:?} {next:?}");
        // A projection with the edges from their targets suffices.
        assert_eq!(ranks, page_rank(&into, &ask, &free()).expect("ranks"));
        let few = PageRank { times: 3, ..ask };
        let few = page_rank(&both, &few, &free()).expect("ranks");
        assert!(few.iterations <= 3);
    });
}

#[test]
fn eigenvector_centrality_is_an_eigenvector() {
    each_graph(|graph, _| {
        // A ring through all vertices makes the vector unique.
        let vertices = graph.vertices as Node;
        let ring = (0..vertices).map(|a| (a, (a + 1) % vertices, 1.0));
        let edges = graph.edges.iter().copied().chain(ring);
        let graph = Graph::of(graph.vertices, edges.collect());
        let [_, _, into] = graph.projections();
        let found = eigenvector(&into, 100_000, 1e-14, &free()).expect("ranks");
        let turned = definitions::turned(&graph, &found.ranks);
        let factor = turned.iter().map(|value| value * value).sum::<f64>().sqrt();
        let wanted: Vec<f64> = turned.iter().map(|value| value / factor).collect();
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6;
        assert!(
            found.ranks.iter().zip(&wanted).all(near),
            "{found:?} {wanted:?}"
        );
    });
}

#[test]
fn triangles_and_coefficients_are_those_of_all_triples() {
    each_graph(|graph, _| {
        let [both, ..] = graph.projections();
        let found = triangles(&both, &free()).expect("triangles");
        let (of, pairs) = definitions::triangles(graph);
        assert_eq!(found.of, of);
        assert_eq!(found.count(), of.iter().sum::<u64>() / 3);
        let all: u64 = pairs.iter().sum();
        let wanted = match all {
            0 => 0.0,
            all => of.iter().sum::<u64>() as f64 / all as f64,
        };
        assert!(close(&[found.coefficient()], &[wanted]));
        for node in 0..graph.vertices {
            let wanted = match pairs[node] {
                0 => 0.0,
                pairs => of[node] as f64 / pairs as f64,
            };
            assert!(close(&[found.local_coefficient(node as Node)], &[wanted]));
        }
    });
}

#[test]
fn core_numbers_are_what_peeling_leaves() {
    each_graph(|graph, _| {
        let [both, ..] = graph.projections();
        let found = core_numbers(&both, &free()).expect("cores");
        assert_eq!(found, definitions::core_numbers(graph));
    });
}

#[test]
fn label_propagation_follows_its_rounds() {
    each_graph(|graph, random| {
        let times = 1 + random.below(6) as u32;
        let precision = [0.0, 0.2][random.below(2)];
        let [both, ..] = graph.projections();
        let found = label_propagation(&both, times, precision, &free()).expect("communities");
        let (of, rounds) = definitions::label_propagation(graph, times, precision);
        assert_eq!((found.of.clone(), found.rounds), (of, rounds));
        assert_eq!(found.count, definitions::classes(&found.of));
    });
}

#[test]
fn louvain_finds_communities_that_no_vertex_would_leave_at_first_and_says_their_modularity() {
    each_graph(|graph, random| {
        let ask = LouvainAsk {
            times: 100,
            precision: 0.0,
            seed: random.below(1_000) as u64,
        };
        let [both, ..] = graph.projections();
        let found = louvain(&both, &ask, &free()).expect("communities");
        let wanted = definitions::modularity(graph, &found.of);
        assert!(close(&[found.modularity], &[wanted]), "{found:?} {wanted}");
        assert!(close(
            &[modularity(&both, &found.of, &free()).expect("value")],
            &[wanted]
        ));
        let alone: Vec<Node> = (0..graph.vertices as Node).collect();
        assert!(wanted >= definitions::modularity(graph, &alone) - ROUNDING);
        assert_eq!(found.count, definitions::classes(&found.of));
        assert_eq!(found, louvain(&both, &ask, &free()).expect("communities"));
        // Joining two communities gains nothing.
        for a in &found.of {
            for b in &found.of {
                let joined = found.of.iter().map(|of| if of == b { *a } else { *of });
                let joined: Vec<Node> = joined.collect();
                assert!(definitions::modularity(graph, &joined) <= wanted + ROUNDING);
            }
        }
    });
}

#[test]
fn closeness_and_paths_follow_all_shortest_paths() {
    each_graph(|graph, random| {
        let depth = [u32::MAX, 2][random.below(2)];
        for one in graph.projections() {
            let away = definitions::hops(&one);
            for (source, wanted) in away.iter().enumerate() {
                let found = hops(&one, source as Node, &free()).expect("hops");
                assert_eq!(found, *wanted);
            }
            let within = |hops: &u32| *hops != UNREACHED && *hops > 0 && *hops <= depth;
            let harmonic = away.iter().map(|hops| {
                let reached = hops.iter().filter(|hops| within(hops));
                reached.map(|hops| 1.0 / f64::from(*hops)).sum()
            });
            let found = closeness(&one, Closeness::Harmonic, depth, &free()).expect("scores");
            assert!(close(&found, &harmonic.collect::<Vec<f64>>()));
            assert!(found.iter().all(|score| score.is_sign_positive()), "-0.0");
            let classic = away.iter().map(|hops| {
                let reached: Vec<f64> = (hops.iter().filter(|hops| within(hops)))
                    .map(|hops| f64::from(*hops))
                    .collect();
                let count = reached.len() as f64;
                match reached.is_empty() {
                    true => 0.0,
                    false => {
                        count / reached.iter().sum::<f64>() * count / (away.len() as f64 - 1.0)
                    }
                }
            });
            let found = closeness(&one, Closeness::Classic, depth, &free()).expect("scores");
            assert!(close(&found, &classic.collect::<Vec<f64>>()));
        }
    });
}

#[test]
fn betweenness_and_stress_count_the_shortest_paths_of_all_pairs() {
    each_graph(|graph, random| {
        let depth = [u32::MAX, 2][random.below(2)];
        for one in graph.projections() {
            let all: Vec<Node> = one.nodes().collect();
            let some = sampled(&one, 1 + random.below(graph.vertices), 7);
            for sources in [None, Some(some.as_slice())] {
                let ask = Betweenness { sources, depth };
                let from = sources.unwrap_or(&all);
                let scale = all.len() as f64 / from.len() as f64;
                let (shares, paths) = definitions::between(&one, from, depth);
                let scaled = |values: Vec<f64>| -> Vec<f64> {
                    values.into_iter().map(|value| value * scale).collect()
                };
                let found = betweenness(&one, &ask, &free()).expect("scores");
                assert!(close(&found, &scaled(shares)));
                let found = stress(&one, &ask, &free()).expect("scores");
                assert!(close(&found, &scaled(paths)));
            }
        }
    });
}

#[test]
fn distances_are_the_least_sums_of_weights() {
    each_graph(|graph, _| {
        for one in graph.projections() {
            let wanted = definitions::distances(&one);
            for source in one.nodes() {
                let found = distances(&one, source, &free()).expect("distances");
                let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() < ROUNDING;
                assert!(found.iter().zip(&wanted[source as usize]).all(near));
            }
        }
    });
}

#[test]
fn rings_are_all_closed_paths_once() {
    each_graph(|graph, random| {
        let ask = Rings {
            depth: 1 + random.below(5) as u32,
        };
        for (one, direction) in graph.projections().iter().zip(["both", "out", "in"]) {
            let mut found: Vec<Vec<Node>> = Vec::new();
            let count = rings(one, &ask, &free(), &mut |ring| {
                found.push(ring.to_vec());
                Flow::Continue(())
            });
            found.sort();
            let wanted = definitions::rings(graph, ask.depth as usize, direction);
            assert_eq!(count.expect("rings"), wanted.len() as u64);
            assert_eq!(found, wanted, "{direction} {ask:?}");
        }
    });
}
