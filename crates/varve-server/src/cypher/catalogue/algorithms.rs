//! Graph algorithms as procedures: a row for each node. They read the graph of the statement, with
//! its rights, its point of both times, its deadline and its limits; tasks run longer ones.

use std::sync::Arc;

use varve_cypher::{CypherError, Graph, Node, Value};
use varve_model::{Direction, EdgeLabelId, PropertyKeyId, VertexLabelId};
use varve_traversal::algorithms::{
    self, Betweenness, Closeness, LouvainAsk, PageRank, UNREACHED, sampled,
};
use varve_traversal::{Node as Number, Projection, ProjectionAsk};

use super::config::{Config, error};
use super::{Catalogue, Rows, invalid};
use crate::hugegraph::TIMES_MAX;

/// What a row holds for its node.
const ROW_BYTES: usize = 256;

/// The number of a node's relationships.
pub(super) fn degree(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    let direction = call.config.direction()?;
    let Some(copy) = call.copy(direction)? else {
        return Ok(Vec::new());
    };
    let degrees = algorithms::degree(&copy);
    call.rows(&copy, |node| Some(vec![count(degrees[node])]))
}

/// How near a node is to the others.
pub(super) fn closeness(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    let direction = call.config.direction()?;
    let depth = call.depth()?;
    let kind = match call.config.text("formula")?.as_deref() {
        None | Some("harmonic") => Closeness::Harmonic,
        Some("classic") => Closeness::Classic,
        Some(_) => return Err(invalid("formula is 'harmonic' or 'classic'")),
    };
    let Some(copy) = call.copy(direction)? else {
        return Ok(Vec::new());
    };
    let scores = algorithms::closeness(&copy, kind, depth, graph.meter).map_err(error)?;
    call.scores(&copy, &scores)
}

/// The shares of shortest paths that lead through a node.
pub(super) fn betweenness(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    through(arguments, graph, algorithms::betweenness)
}

/// The number of shortest paths that lead through a node.
pub(super) fn stress(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    through(arguments, graph, algorithms::stress)
}

type Through = fn(
    &Projection,
    &Betweenness<'_>,
    &varve_view::Meter,
) -> Result<Vec<f64>, varve_traversal::TraversalError>;

fn through(arguments: &[Value], graph: &Graph<'_>, algorithm: Through) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    let direction = call.config.direction()?;
    let depth = call.depth()?;
    let sample = call.config.number("sourceSample")?;
    let seed = call.config.number("seed")?.unwrap_or(0);
    let Some(copy) = call.copy(direction)? else {
        return Ok(Vec::new());
    };
    let size = |size| usize::try_from(size).unwrap_or(usize::MAX);
    let sources = sample.map(|sample| sampled(&copy, size(sample), seed));
    let ask = Betweenness {
        sources: sources.as_deref(),
        depth,
    };
    let scores = algorithm(&copy, &ask, graph.meter).map_err(error)?;
    call.scores(&copy, &scores)
}

/// The eigenvector of the adjacency matrix.
pub(super) fn eigenvector(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    let direction = call.config.direction()?;
    call.weight()?;
    let times = call.times(100)?;
    let precision = call.config.float("precision", PRECISION, 1e-6)?;
    // The value of a node comes from the other ends of the relationships that are copied with it.
    let Some(copy) = call.copy(direction.map(Direction::opposite))? else {
        return Ok(Vec::new());
    };
    let ranks = algorithms::eigenvector(&copy, times, precision, graph.meter);
    call.scores(&copy, &ranks.map_err(error)?.ranks)
}

/// PageRank; with `sources`, jumps lead to them only.
pub(super) fn page_rank(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    call.weight()?;
    let alpha = call.config.float("alpha", (f64::MIN_POSITIVE, 1.0), 0.15)?;
    let times = call.times(20)?;
    let precision = call.config.float("precision", PRECISION, 1e-5)?;
    let sources = match call.config.take("sources") {
        None => None,
        Some(Value::List(list)) if list.iter().all(|one| matches!(one, Value::Node(_))) => {
            Some(list)
        }
        Some(_) => return Err(invalid("sources are a list of nodes")),
    };
    let Some(part) = call.part()? else {
        return Ok(Vec::new());
    };
    if sources.as_ref().is_some_and(|sources| sources.is_empty()) {
        return Ok(Vec::new());
    }
    let copy = call.copied(&part, Some(Direction::In))?;
    let sources = sources.iter().flat_map(|sources| sources.iter());
    let sources = sources.map(|node| numbered(&copy, node));
    let sources: Vec<Number> = sources.collect::<Result<_, _>>()?;
    let ask = PageRank {
        alpha,
        times,
        precision,
        sources: &sources,
    };
    let ranks = algorithms::page_rank(&copy, &ask, graph.meter).map_err(error)?;
    call.scores(&copy, &ranks.ranks)
}

/// The parts that relationships of any direction connect.
pub(super) fn weak_components(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    // They do not depend on the direction, so one is enough.
    let Some(copy) = call.copy(Some(Direction::Out))? else {
        return Ok(Vec::new());
    };
    let found = algorithms::weak(&copy, graph.meter).map_err(error)?;
    call.groups(&copy, &found.of)
}

/// The parts whose nodes reach each other along the relationships.
pub(super) fn strong_components(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    let Some(copy) = call.copy(Some(Direction::Out))? else {
        return Ok(Vec::new());
    };
    let found = algorithms::strong(&copy, graph.meter).map_err(error)?;
    call.groups(&copy, &found.of)
}

/// Communities by propagation of labels.
pub(super) fn label_propagation(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    let direction = call.config.direction()?;
    call.weight()?;
    let times = call.times(20)?;
    let precision = call.config.float("precision", PRECISION, 0.001)?;
    let Some(copy) = call.copy(direction)? else {
        return Ok(Vec::new());
    };
    let found = algorithms::label_propagation(&copy, times, precision, graph.meter);
    call.groups(&copy, &found.map_err(error)?.of)
}

/// Communities by greedy modularity.
pub(super) fn louvain(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    call.weight()?;
    let ask = LouvainAsk {
        times: call.times(20)?,
        precision: call.config.float("precision", PRECISION, 0.001)?,
        seed: call.config.number("seed")?.unwrap_or(0),
    };
    let Some(copy) = call.copy(None)? else {
        return Ok(Vec::new());
    };
    let found = algorithms::louvain(&copy, &ask, graph.meter).map_err(error)?;
    call.groups(&copy, &found.of)
}

/// The triangles of a node, and the share of pairs of its neighbours that are neighbours.
pub(super) fn triangles(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    let Some(copy) = call.copy(None)? else {
        return Ok(Vec::new());
    };
    let found = algorithms::triangles(&copy, graph.meter).map_err(error)?;
    call.rows(&copy, |node| {
        let coefficient = found.local_coefficient(node as Number);
        Some(vec![count(found.of[node]), Value::Float(coefficient)])
    })
}

/// The greatest k so that a node is in a part where each node has k neighbours.
pub(super) fn core_numbers(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut call = Call::new(arguments, graph)?;
    let Some(copy) = call.copy(None)? else {
        return Ok(Vec::new());
    };
    let cores = algorithms::core_numbers(&copy, graph.meter).map_err(error)?;
    call.rows(&copy, |node| Some(vec![count(u64::from(cores[node]))]))
}

/// The nodes that are reached from a node, with the lengths of the shortest paths to them.
pub(super) fn distances(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let source = arguments.first().unwrap_or(&Value::Null);
    let mut call = Call::of(arguments, 1, graph)?;
    let direction = call.config.direction()?;
    let is_weighted = call.weight()?;
    let part = call.part()?;
    let is_node = matches!(source, Value::Node(_));
    let part = match (source, part) {
        (Value::Null, _) | (_, None) => return Ok(Vec::new()),
        (_, Some(part)) if is_node => part,
        _ => return Err(invalid("source is a node")),
    };
    let copy = call.copied(&part, direction)?;
    let source = numbered(&copy, source)?;
    if is_weighted {
        let found = algorithms::distances(&copy, source, graph.meter).map_err(error)?;
        return call.rows(&copy, |node| {
            let distance = found[node];
            distance.is_finite().then(|| vec![Value::Float(distance)])
        });
    }
    let hops = algorithms::hops(&copy, source, graph.meter).map_err(error)?;
    call.rows(&copy, |node| {
        let hops = hops[node];
        (hops != UNREACHED).then(|| vec![Value::Float(f64::from(hops))])
    })
}

/// The bounds of `precision`.
const PRECISION: (f64, f64) = (0.0, 1.0);

fn count(count: u64) -> Value {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The number of a node in a copy.
fn numbered(copy: &Projection, node: &Value) -> Result<Number, CypherError> {
    let missing = || invalid("a node to begin at is not among the nodes with the given labels");
    let number = match node {
        Value::Node(node) => copy.vertices().find(&node.key),
        _ => None,
    };
    number.ok_or_else(missing)
}

/// A part of a graph.
struct Part {
    types: Vec<EdgeLabelId>,
    labels: Vec<VertexLabelId>,
}

/// A call of an algorithm.
struct Call<'g> {
    graph: &'g Graph<'g>,
    config: Config,
    weight: Option<PropertyKeyId>,
}

impl<'g> Call<'g> {
    fn new(arguments: &[Value], graph: &'g Graph<'g>) -> Result<Self, CypherError> {
        Self::of(arguments, 0, graph)
    }

    /// A call whose argument `config` is its configuration.
    fn of(arguments: &[Value], config: usize, graph: &'g Graph<'g>) -> Result<Self, CypherError> {
        Ok(Self {
            graph,
            config: Config::of(arguments, config)?,
            weight: None,
        })
    }

    fn times(&mut self, default: u32) -> Result<u32, CypherError> {
        match self.config.number("times")? {
            None => Ok(default),
            Some(times) if times <= TIMES_MAX => Ok(times as u32),
            Some(_) => Err(invalid(format!("times are at most {TIMES_MAX}"))),
        }
    }

    fn depth(&mut self) -> Result<u32, CypherError> {
        let depth = self.config.number("depth")?;
        Ok(depth.map_or(u32::MAX, |depth| u32::try_from(depth).unwrap_or(u32::MAX)))
    }

    /// Takes the property with the weights; whether there is one.
    fn weight(&mut self) -> Result<bool, CypherError> {
        let Some(name) = self.config.text("weight")? else {
            return Ok(false);
        };
        let key = self.graph.schema.property_key_named(&name);
        // A property that no relationship has: each weighs 1.
        self.weight = key.map(|key| key.id);
        Ok(true)
    }

    /// The part of the graph that the call names, after which nothing may be left in `config`;
    /// `None` if it names labels of which there are none.
    fn part(&mut self) -> Result<Option<Part>, CypherError> {
        let types = self.config.types(self.graph)?;
        let labels = self.config.labels(self.graph.schema)?;
        self.config.finished()?;
        if labels.is_empty() {
            return Ok(None);
        }
        let no_types = types.is_empty();
        let mut types = types.list();
        if no_types {
            // An empty list would be all.
            types.push(EdgeLabelId(u32::MAX));
        }
        let labels = labels.list();
        Ok(Some(Part { types, labels }))
    }

    /// A copy of a part, with relationships in this direction or both.
    fn copied(&self, part: &Part, direction: Option<Direction>) -> Result<Projection, CypherError> {
        let ask = ProjectionAsk {
            labels: &part.types,
            vertex_labels: &part.labels,
            direction,
            weight: self.weight,
        };
        Projection::new(self.graph.view, &ask, self.graph.meter).map_err(error)
    }

    /// A copy of the part of the graph that the call names.
    fn copy(&mut self, direction: Option<Direction>) -> Result<Option<Projection>, CypherError> {
        let part = self.part()?;
        let copy = part.map(|part| self.copied(&part, direction));
        copy.transpose()
    }

    /// A row for each node with a value.
    fn rows(&self, copy: &Projection, values: impl Fn(usize) -> Option<Vec<Value>>) -> Rows {
        let mut rows = Vec::new();
        for number in copy.nodes() {
            let Some(values) = values(number as usize) else {
                continue;
            };
            self.graph.meter.row()?;
            self.graph.meter.hold(ROW_BYTES)?;
            let vertices = copy.vertices();
            let node = Node::new(vertices.key(number), vertices.label(number));
            let node = std::iter::once(Value::Node(Arc::new(node)));
            rows.push(node.chain(values).collect());
        }
        Ok(rows)
    }

    fn scores(&self, copy: &Projection, scores: &[f64]) -> Rows {
        self.rows(copy, |node| Some(vec![Value::Float(scores[node])]))
    }

    /// Groups by the number of one of their nodes.
    fn groups(&self, copy: &Projection, of: &[Number]) -> Rows {
        self.rows(copy, |node| Some(vec![count(u64::from(of[node]))]))
    }
}
