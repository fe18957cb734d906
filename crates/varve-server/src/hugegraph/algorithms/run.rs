//! The algorithms by name: the parameters, the computation and the answer of each.

use std::sync::Arc;
use std::time::Instant;

use varve_graph::optimistic::PartCheck;
use varve_graph::read::View;
use varve_graph::schema::Schema;
use varve_graph::tasks::TaskProgress;
use varve_graph::{Graph, GraphError};
use varve_model::{Direction, VertexId};
use varve_traversal::algorithms::{self, Betweenness, Closeness, LouvainAsk, PageRank, Rings};
use varve_traversal::{Node, Projection, ProjectionAsk};
use varve_view::{Flow, Meter};

use super::answer::{Scores, ids, object, text};
use super::failed;
use super::parameters::{DEFAULTS, Formula, Parameters};
use super::write::Written;
use crate::errors::ApiError;
use crate::json::JsonWriter;

/// One algorithm.
#[derive(Debug)]
pub(super) struct Algorithm {
    pub(super) name: &'static str,
    /// A shorter name that other tools use.
    pub(super) alias: Option<&'static str>,
    /// Parameters that the client must send.
    pub(super) needs: &'static [&'static str],
    /// Parameters that the client may send. Some have no effect on this algorithm.
    pub(super) takes: &'static [&'static str],
    pub(super) defaults: fn() -> Parameters,
    pub(super) run: fn(&Job<'_>) -> Result<String, GraphError>,
}

/// One run of an algorithm.
pub(super) struct Job<'a> {
    pub(super) graph: &'a Arc<Graph>,
    pub(super) schema: &'a Schema,
    pub(super) view: &'a View,
    pub(super) parameters: &'a Parameters,
    pub(super) meter: &'a Meter,
    pub(super) progress: &'a TaskProgress,
    /// Called before each commit of results. Returns an error when the task's owner may not run the
    /// algorithm any more.
    pub(super) check: Option<&'a PartCheck>,
}

/// Declares the algorithms.
macro_rules! algorithms {
    ($( $name:literal $(| $alias:literal)?: $run:ident, $defaults:expr,
        [$($takes:literal),*] $(needs $needs:literal)?; )*) => {
        /// Every algorithm.
        pub(super) static ALGORITHMS: &[Algorithm] = &[$( Algorithm {
            name: $name,
            alias: [$(Some($alias),)? None][0],
            needs: &[$($needs)?],
            takes: &[$($takes),*],
            defaults: || $defaults,
            run: $run,
        } ),*];
    };
}

algorithms! {
    "count_vertex": count_vertex, DEFAULTS, [];
    "count_edge": count_edge, DEFAULTS, [];
    "degree_centrality" | "degree": degree, DEFAULTS,
        ["direction", "label", "source_label", "top", "write_property"];
    "closeness_centrality" | "closeness": closeness, DEFAULTS,
        ["direction", "label", "source_label", "depth", "formula", "top", "write_property"];
    "betweenness_centrality" | "betweenness": betweenness, DEFAULTS,
        ["direction", "label", "source_label", "depth", "source_sample", "seed", "top", "write_property"];
    "stress_centrality" | "stress": stress, DEFAULTS,
        ["direction", "label", "source_label", "depth", "source_sample", "seed", "top", "write_property"];
    "eigenvector_centrality" | "eigenvector": eigenvector, eigenvector_defaults(),
        ["direction", "label", "source_label", "weight", "times", "precision", "depth", "top", "write_property"];
    "triangle_count": triangle_count, DEFAULTS,
        ["direction", "label", "source_label", "write_property"];
    "cluster_coefficient": cluster_coefficient, DEFAULTS,
        ["direction", "label", "source_label", "write_property"];
    "lpa": lpa, DEFAULTS,
        ["direction", "label", "source_label", "weight", "times", "precision", "write_property"];
    "louvain": louvain, DEFAULTS,
        ["label", "source_label", "weight", "times", "precision", "seed", "write_property"];
    "weak_connected_component" | "wcc": weak, DEFAULTS,
        ["direction", "label", "source_label", "times", "precision", "write_property"];
    "strong_connected_component" | "scc": strong, DEFAULTS,
        ["label", "source_label", "write_property"];
    "k_core" | "kcore": k_core, DEFAULTS,
        ["k", "label", "source_label", "write_property"];
    "rings": rings, DEFAULTS,
        ["direction", "label", "source_label", "depth", "limit", "count_only"] needs "depth";
    "page_rank" | "pagerank": page_rank, page_rank_defaults(),
        ["label", "source_label", "weight", "alpha", "times", "precision", "top", "write_property"];
    "personalized_page_rank" | "ppr": page_rank, page_rank_defaults(),
        ["label", "source_label", "weight", "alpha", "times", "precision", "top", "sources", "write_property"] needs "sources";
    "single_source_shortest_path" | "sssp": shortest, DEFAULTS,
        ["source", "direction", "label", "source_label", "weight", "top", "write_property"] needs "source";
}

fn page_rank_defaults() -> Parameters {
    Parameters {
        precision: 1e-5,
        ..DEFAULTS
    }
}

fn eigenvector_defaults() -> Parameters {
    Parameters {
        times: 100,
        precision: 1e-6,
        ..DEFAULTS
    }
}

impl Job<'_> {
    /// Copies the part of the graph that the parameters select into memory, with edges in this
    /// direction; `None` = both.
    fn copy(&self, direction: Option<Direction>) -> Result<Projection, GraphError> {
        let wrong = |error: ApiError| GraphError::invalid(error.message().to_owned());
        let parameters = self.parameters;
        let ask = ProjectionAsk {
            labels: &parameters.edge_label(self.schema).map_err(wrong)?,
            vertex_labels: &parameters.vertex_label(self.schema).map_err(wrong)?,
            direction,
            weight: parameters.weight_key(self.schema).map_err(wrong)?,
        };
        let began = Instant::now();
        let graph = Projection::new(self.view, &ask, self.meter).map_err(failed)?;
        tracing::info!(
            graph = self.graph.name(),
            vertices = graph.len(),
            edges = graph.edges(),
            bytes = graph.bytes(),
            milliseconds = began.elapsed().as_millis() as u64,
            "copied a graph for an algorithm"
        );
        self.progress.set(graph.len() as u64);
        Ok(graph)
    }

    /// As [`Job::copy`], in the direction that the client requests.
    fn copy_as_asked(&self) -> Result<Projection, GraphError> {
        self.copy(self.parameters.direction)
    }

    fn node(&self, graph: &Projection, id: &VertexId) -> Result<Node, GraphError> {
        let unknown =
            || GraphError::invalid(format!("The source vertex with id '{id}' does not exist"));
        graph.node(self.view, id).ok_or_else(unknown)
    }

    /// Returns the `top` greatest scores, or all, as the answer. First writes all scores to the
    /// vertices if the client names a property for them.
    fn scores(&self, graph: &Projection, scores: &Scores<'_>) -> Result<String, GraphError> {
        self.write(graph, &Written::of(scores))?;
        let mut json = JsonWriter::with_capacity(256);
        scores.write(&mut json, self.view, graph, self.parameters.top)?;
        text(json)
    }

    fn paths_from(&self, graph: &Projection) -> Option<Vec<Node>> {
        let parameters = self.parameters;
        let size = parameters.source_sample?;
        Some(algorithms::sampled(graph, size, parameters.seed))
    }
}

fn count_vertex(job: &Job<'_>) -> Result<String, GraphError> {
    let mut report_progress = |counted| job.progress.set(counted);
    let counts =
        algorithms::count_vertices(job.view, job.meter, &mut report_progress).map_err(failed)?;
    let named = counts.iter().map(|(label, count)| {
        let name = job
            .schema
            .vertex_label(*label)
            .map(|label| label.name.as_str());
        (name.unwrap_or("~undefined"), *count)
    });
    counted(&named.collect::<Vec<_>>())
}

fn count_edge(job: &Job<'_>) -> Result<String, GraphError> {
    let mut report_progress = |counted| job.progress.set(counted);
    let counts =
        algorithms::count_edges(job.view, job.meter, &mut report_progress).map_err(failed)?;
    let named = counts.iter().map(|(label, count)| {
        let name = job
            .schema
            .edge_label(*label)
            .map(|label| label.name.as_str());
        (name.unwrap_or("~undefined"), *count)
    });
    counted(&named.collect::<Vec<_>>())
}

fn counted(counts: &[(&str, u64)]) -> Result<String, GraphError> {
    object(|json| {
        for (label, count) in counts {
            json.key(label).unsigned(*count);
        }
        json.key("*")
            .unsigned(counts.iter().map(|(_, count)| count).sum());
        Ok(())
    })
}

fn degree(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy_as_asked()?;
    let degrees = algorithms::degree(&graph);
    job.scores(&graph, &Scores::Counts(&degrees))
}

fn closeness(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy_as_asked()?;
    let kind = match job.parameters.formula {
        Formula::Harmonic => Closeness::Harmonic,
        Formula::Classic => Closeness::Classic,
    };
    let scores = algorithms::closeness(&graph, kind, job.parameters.depth, job.meter);
    job.scores(&graph, &Scores::Numbers(&scores.map_err(failed)?))
}

fn betweenness(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy_as_asked()?;
    let sources = job.paths_from(&graph);
    let ask = Betweenness {
        sources: sources.as_deref(),
        depth: job.parameters.depth,
    };
    let scores = algorithms::betweenness(&graph, &ask, job.meter).map_err(failed)?;
    job.scores(&graph, &Scores::Numbers(&scores))
}

fn stress(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy_as_asked()?;
    let sources = job.paths_from(&graph);
    let ask = Betweenness {
        sources: sources.as_deref(),
        depth: job.parameters.depth,
    };
    let scores = algorithms::stress(&graph, &ask, job.meter).map_err(failed)?;
    job.scores(&graph, &Scores::Numbers(&scores))
}

fn eigenvector(job: &Job<'_>) -> Result<String, GraphError> {
    // The algorithm computes the value of a vertex from the other ends of the edges in the copy. So
    // the copy has the opposite of the requested direction.
    let graph = job.copy(job.parameters.direction.map(Direction::opposite))?;
    let (times, precision) = (job.parameters.times, job.parameters.precision);
    let ranks = algorithms::eigenvector(&graph, times, precision, job.meter).map_err(failed)?;
    job.scores(&graph, &Scores::Numbers(&ranks.ranks))
}

fn triangle_count(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy(None)?;
    let found = algorithms::triangles(&graph, job.meter).map_err(failed)?;
    job.write(&graph, &Written::of(&Scores::Counts(&found.of)))?;
    let (way, side) = match job.parameters.direction {
        Some(Direction::Out) => ("out", Some(graph.first())),
        Some(Direction::In) => ("in", graph.back()),
        None => ("both", None),
    };
    let has_edges = |node: &Node| match side {
        Some(side) => side.degree(*node) > 0,
        None => graph.sides().iter().any(|side| side.degree(*node) > 0),
    };
    object(|json| {
        json.key(&format!("edges_{way}"))
            .unsigned(graph.edges() as u64);
        let vertices = graph.nodes().filter(has_edges).count();
        json.key(&format!("vertices_{way}"))
            .unsigned(vertices as u64);
        json.key("triangles").unsigned(found.count());
        Ok(())
    })
}

fn cluster_coefficient(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy(None)?;
    let found = algorithms::triangles(&graph, job.meter).map_err(failed)?;
    let local: Vec<f64> = graph
        .nodes()
        .map(|node| found.local_coefficient(node))
        .collect();
    job.write(&graph, &Written::of(&Scores::Numbers(&local)))?;
    object(|json| {
        json.key("edges").unsigned(graph.edges() as u64);
        json.key("vertices").unsigned(graph.len() as u64);
        json.key("cluster_coefficient").double(found.coefficient());
        Ok(())
    })
}

fn lpa(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy_as_asked()?;
    let (times, precision) = (job.parameters.times, job.parameters.precision);
    let found = algorithms::label_propagation(&graph, times, precision, job.meter);
    let found = found.map_err(failed)?;
    job.write(&graph, &Written::Groups(&found.of))?;
    object(|json| {
        json.key("iteration_times")
            .unsigned(u64::from(found.rounds));
        json.key("last_precision").double(found.last_change);
        json.key("times").unsigned(u64::from(times));
        json.key("communities").unsigned(found.count as u64);
        Ok(())
    })
}

fn louvain(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy(None)?;
    let ask = LouvainAsk {
        times: job.parameters.times,
        precision: job.parameters.precision,
        seed: job.parameters.seed,
    };
    let found = algorithms::louvain(&graph, &ask, job.meter).map_err(failed)?;
    job.write(&graph, &Written::Groups(&found.of))?;
    object(|json| {
        json.key("pass_times").unsigned(u64::from(found.passes));
        json.key("phase1_times").unsigned(u64::from(found.rounds));
        json.key("last_precision").double(found.last_change);
        json.key("times").unsigned(u64::from(ask.times));
        json.key("communities").unsigned(found.count as u64);
        json.key("modularity").double(found.modularity);
        Ok(())
    })
}

fn weak(job: &Job<'_>) -> Result<String, GraphError> {
    // Weak components do not depend on the direction of edges, so a copy of one direction is
    // enough.
    let graph = job.copy(Some(Direction::Out))?;
    let found = algorithms::weak(&graph, job.meter).map_err(failed)?;
    job.write(&graph, &Written::Groups(&found.of))?;
    object(|json| {
        json.key("components").unsigned(found.count as u64);
        json.key("iteration_times").unsigned(1);
        json.key("times").unsigned(u64::from(job.parameters.times));
        Ok(())
    })
}

fn strong(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy(Some(Direction::Out))?;
    let found = algorithms::strong(&graph, job.meter).map_err(failed)?;
    job.write(&graph, &Written::Groups(&found.of))?;
    object(|json| {
        json.key("components").unsigned(found.count as u64);
        Ok(())
    })
}

fn k_core(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy(None)?;
    let cores = algorithms::core_numbers(&graph, job.meter).map_err(failed)?;
    let counts: Vec<u64> = cores.iter().map(|core| u64::from(*core)).collect();
    job.write(&graph, &Written::of(&Scores::Counts(&counts)))?;
    let wanted = |node: Node| cores[node as usize] >= job.parameters.k;
    let groups = algorithms::groups(&graph, &wanted, job.meter).map_err(failed)?;
    object(|json| {
        json.key("kcores").begin_array();
        for group in &groups {
            ids(json, job.view, &graph, group)?;
        }
        json.end_array();
        Ok(())
    })
}

fn rings(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy_as_asked()?;
    let limit = job.parameters.limit.unwrap_or(u64::MAX);
    let ask = Rings {
        depth: job.parameters.depth,
    };
    let mut found: Vec<Vec<Node>> = Vec::new();
    let (mut shown, mut full) = (0, Ok(()));
    let count = algorithms::rings(&graph, &ask, job.meter, &mut |ring| {
        shown += 1;
        if !job.parameters.count_only {
            full = job
                .meter
                .hold(std::mem::size_of_val(ring) + size_of::<Vec<Node>>());
            found.push(ring.to_vec());
        }
        match shown < limit && full.is_ok() {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    });
    full.map_err(|error| failed(error.into()))?;
    let count = count.map_err(failed)?;
    object(|json| {
        if job.parameters.count_only {
            json.key("rings_count").unsigned(count);
            return Ok(());
        }
        json.key("rings").begin_array();
        for ring in &mut found {
            // A ring is closed: it ends where it begins.
            ring.extend(ring.first().copied());
            ids(json, job.view, &graph, ring)?;
        }
        json.end_array();
        Ok(())
    })
}

fn page_rank(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy(Some(Direction::In))?;
    let parameters = job.parameters;
    let sources = parameters.sources.iter().map(|id| job.node(&graph, id));
    let ask = PageRank {
        alpha: parameters.alpha,
        times: parameters.times,
        precision: parameters.precision,
        sources: &sources.collect::<Result<Vec<_>, _>>()?,
    };
    let ranks = algorithms::page_rank(&graph, &ask, job.meter).map_err(failed)?;
    let scores = Scores::Numbers(&ranks.ranks);
    job.write(&graph, &Written::of(&scores))?;
    object(|json| {
        json.key("alpha").double(ask.alpha);
        json.key("iteration_times")
            .unsigned(u64::from(ranks.iterations));
        json.key("last_changed_rank").double(ranks.last_change);
        json.key("times").unsigned(u64::from(ask.times));
        json.key("top");
        scores.write(json, job.view, &graph, parameters.top)
    })
}

fn shortest(job: &Job<'_>) -> Result<String, GraphError> {
    let graph = job.copy_as_asked()?;
    let [source] = job.parameters.sources.as_slice() else {
        return Err(GraphError::invalid("The 'source vertex id' can't be null"));
    };
    let from = job.node(&graph, source)?;
    let distances = match job.parameters.weight {
        Some(_) => algorithms::distances(&graph, from, job.meter).map_err(failed)?,
        None => {
            let hops = algorithms::hops(&graph, from, job.meter).map_err(failed)?;
            let distance = |hops: u32| match hops {
                algorithms::UNREACHED => f64::INFINITY,
                hops => f64::from(hops),
            };
            hops.into_iter().map(distance).collect()
        }
    };
    job.write(&graph, &Written::Numbers(&distances))?;
    let mut nearest: Vec<Node> = graph.nodes().collect();
    nearest.retain(|node| distances[*node as usize].is_finite());
    nearest.sort_by(|a, b| {
        let distance = |node: &Node| distances[*node as usize];
        distance(a).total_cmp(&distance(b)).then(a.cmp(b))
    });
    object(|json| {
        json.key("source");
        ids_one(json, source);
        json.key("reached").unsigned(nearest.len() as u64);
        json.key("distances").begin_object();
        for node in nearest
            .iter()
            .take(job.parameters.top.unwrap_or(usize::MAX))
        {
            json.key(&super::answer::id_text(job.view, &graph, *node)?);
            json.double(distances[*node as usize]);
        }
        json.end_object();
        Ok(())
    })
}

fn ids_one(json: &mut JsonWriter, id: &VertexId) {
    crate::wire::output::vertex_id(json, id);
}
