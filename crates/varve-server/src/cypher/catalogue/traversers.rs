//! Traversers as procedures: they read the graph of the query, with its rights, its point of both
//! times, its deadline and its limits.

use std::collections::HashMap;
use std::sync::Arc;

use varve_cypher::{CypherError, Graph, Node, Path, Relationship, Value};
use varve_model::{Direction, EdgeId, PropertyKeyId, VertexId, VertexLabelId};
use varve_traversal::neighbourhood::{self, KOut};
use varve_traversal::paths::{SimplePaths, simple_paths};
use varve_traversal::rings::{self, Rings};
use varve_traversal::shortest::{Shortest, shortest_paths};
use varve_traversal::similarity;
use varve_traversal::weighted::{Lightest, lightest_paths};
use varve_traversal::{Capacity, Parallel, Search, Step, VertexNumber, edges_of};

use super::config::{Config, error};
use super::{Catalogue, Rows, invalid};

/// The longest paths unless the client names another length.
const DEPTH: u64 = 10;
/// What a row of a path holds for each of its nodes.
const NODE_BYTES: usize = 256;

/// The vertices at `depth` steps.
pub(super) fn k_out(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut ask = Ask::new(arguments, 2, graph)?;
    let depth = depth(arguments, 1)?;
    let nearest = ask.config.flag("nearest", true)?;
    let limit = ask.config.number("limit")?.unwrap_or(u64::MAX);
    ask.config.finished()?;
    let Some(source) = ask.node(arguments, 0)? else {
        return Ok(Vec::new());
    };
    let asked = KOut {
        depth,
        nearest,
        capacity: Capacity::NONE,
        counts_all: false,
        limit,
    };
    let found = neighbourhood::k_out(&mut ask.search, source, &ask.step, &asked);
    let tree = found.map_err(error)?;
    // A tree that ended early has no vertex so far away.
    let is_whole = tree.layers.len() as u64 > depth;
    let last = tree.last().iter().map(|reached| reached.vertex);
    let last: Vec<VertexNumber> = last.filter(|_| is_whole).collect();
    let nodes = ask.nodes(&last)?;
    ask.rows(last.iter().filter_map(|number| nodes.get(number)), |node| {
        vec![node]
    })
}

/// The vertices at 1 to `depth` steps, nearest first.
pub(super) fn k_neighbor(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut ask = Ask::new(arguments, 2, graph)?;
    let depth = depth(arguments, 1)?;
    let limit = ask.config.number("limit")?.unwrap_or(u64::MAX);
    ask.config.finished()?;
    let Some(source) = ask.node(arguments, 0)? else {
        return Ok(Vec::new());
    };
    let (search, step) = (&mut ask.search, &ask.step);
    let tree = neighbourhood::k_neighbor(search, source, step, depth, limit).map_err(error)?;
    let all: Vec<VertexNumber> = tree.reached().collect();
    let nodes = ask.nodes(&all)?;
    let mut rows = Vec::new();
    for (distance, layer) in tree.layers.iter().enumerate().skip(1) {
        let found = layer.iter().filter_map(|one| nodes.get(&one.vertex));
        rows.extend(ask.rows(found, |node| vec![node, integer(distance)])?);
    }
    Ok(rows)
}

/// One path with the fewest relationships, or all of them.
pub(super) fn shortest_path(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut ask = Ask::new(arguments, 2, graph)?;
    let depth = ask.config.number("maxDepth")?.unwrap_or(DEPTH);
    let all = ask.config.flag("all", false)?;
    ask.config.finished()?;
    let Some((source, target)) = ask.ends(arguments)? else {
        return Ok(Vec::new());
    };
    let asked = Shortest {
        depth,
        capacity: Capacity::NONE,
        all,
    };
    let (search, step) = (&mut ask.search, &ask.step);
    let paths = shortest_paths(search, source, target, step, &asked).map_err(error)?;
    ask.paths(&paths, |_, path, length| vec![path, length])
}

/// The path whose relationships have the least sum of a property.
pub(super) fn lightest_path(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut ask = Ask::new(arguments, 3, graph)?;
    ask.config.finished()?;
    let weight = match arguments.get(2) {
        Some(Value::String(name)) => graph.schema.property_key_named(name).map(|key| key.id),
        _ => return Err(invalid("weight is the name of a property")),
    };
    let Some((source, target)) = ask.ends(arguments)? else {
        return Ok(Vec::new());
    };
    let asked = Lightest {
        // A property that no element has: every relationship weighs 1.
        weight: weight.or(Some(PropertyKeyId(u32::MAX))),
        capacity: Capacity::NONE,
        target: Some(target),
        limit: u64::MAX,
    };
    let (search, step) = (&mut ask.search, &ask.step);
    let found = lightest_paths(search, source, step, &asked).map_err(error)?;
    let (paths, weights): (Vec<_>, Vec<f64>) =
        found.into_iter().map(|one| (one.path, one.weight)).unzip();
    ask.paths(&paths, |at, path, _| vec![path, Value::Float(weights[at])])
}

/// All paths that visit no vertex twice, shortest first.
pub(super) fn paths(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut ask = Ask::new(arguments, 3, graph)?;
    let depth = depth(arguments, 2)?;
    let nearest = ask.config.flag("nearest", false)?;
    let limit = ask.config.number("limit")?.unwrap_or(u64::MAX);
    ask.config.finished()?;
    let Some((source, target)) = ask.ends(arguments)? else {
        return Ok(Vec::new());
    };
    let asked = SimplePaths {
        depth,
        capacity: Capacity::NONE,
        limit,
        nearest,
    };
    let (search, step) = (&mut ask.search, &ask.step);
    let paths = simple_paths(search, source, target, step, &asked).map_err(error)?;
    ask.paths(&paths, |_, path, length| vec![path, length])
}

/// Walks from a vertex that end at a vertex of theirs.
pub(super) fn rings(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut ask = Ask::new(arguments, 2, graph)?;
    let depth = depth(arguments, 1)?;
    let source_in_ring = ask.config.flag("sourceInRing", true)?;
    let limit = ask.config.number("limit")?.unwrap_or(u64::MAX);
    ask.config.finished()?;
    let Some(source) = ask.node(arguments, 0)? else {
        return Ok(Vec::new());
    };
    let asked = Rings {
        depth,
        source_in_ring,
        capacity: Capacity::NONE,
        limit,
    };
    let paths = rings::rings(&mut ask.search, source, &ask.step, &asked).map_err(error)?;
    ask.paths(&paths, |_, path, length| vec![path, length])
}

/// The common neighbours of two vertices.
pub(super) fn same_neighbors(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut ask = Ask::new(arguments, 2, graph)?;
    let limit = ask.config.number("limit")?.unwrap_or(u64::MAX);
    ask.config.finished()?;
    let Some((one, other)) = ask.ends(arguments)? else {
        return Ok(Vec::new());
    };
    let (search, step) = (&mut ask.search, &ask.step);
    let found = similarity::same_neighbours(search, &[one, other], step, limit).map_err(error)?;
    let nodes = ask.nodes(&found)?;
    let found = found.iter().filter_map(|number| nodes.get(number));
    ask.rows(found, |node| vec![node])
}

/// How much of their neighbours two vertices share.
pub(super) fn jaccard(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut ask = Ask::new(arguments, 2, graph)?;
    ask.config.finished()?;
    let Some((one, other)) = ask.ends(arguments)? else {
        return Ok(Vec::new());
    };
    let found = similarity::jaccard(&mut ask.search, one, other, &ask.step);
    Ok(vec![vec![Value::Float(found.map_err(error)?)]])
}

fn integer(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn depth(arguments: &[Value], at: usize) -> Result<u64, CypherError> {
    match arguments.get(at) {
        Some(Value::Integer(depth)) if *depth > 0 => Ok(depth.unsigned_abs()),
        _ => Err(invalid("the depth is a whole number greater than 0")),
    }
}

/// What a call asks for.
struct Ask<'g> {
    graph: &'g Graph<'g>,
    search: Search<'g>,
    step: Step,
    config: Config,
    /// Whether no relationship has one of the types.
    is_empty: bool,
}

impl<'g> Ask<'g> {
    /// The step of a call, whose configuration is the argument `config`.
    fn new(arguments: &[Value], config: usize, graph: &'g Graph<'g>) -> Result<Self, CypherError> {
        let mut config = Config::of(arguments, config)?;
        let types = config.types(graph)?;
        let step = Step {
            direction: config.direction()?,
            max_degree: config.number("maxDegree")?,
            skip_degree: config.number("skipDegree")?,
            ..Step::default()
        };
        Ok(Self {
            graph,
            search: Search::new(graph.view, graph.meter),
            config,
            is_empty: types.is_empty(),
            step: Step {
                labels: types.list(),
                ..step
            },
        })
    }

    /// The vertex of an argument; `None` if nothing is to be found from it: the argument is null,
    /// or the vertex is not there.
    fn node(
        &mut self,
        arguments: &[Value],
        at: usize,
    ) -> Result<Option<VertexNumber>, CypherError> {
        let node = match arguments.get(at) {
            Some(Value::Node(node)) => node,
            Some(Value::Null) => return Ok(None),
            _ => return Err(invalid(format!("argument {} is a node", at + 1))),
        };
        if self.is_empty {
            return Ok(None);
        }
        let id = self.graph.view.vertex_id(&node.key)?;
        let number = self.search.number(&id).map_err(error)?;
        let exists = self.search.exists(number).map_err(error)?;
        Ok(exists.then_some(number))
    }

    fn ends(
        &mut self,
        arguments: &[Value],
    ) -> Result<Option<(VertexNumber, VertexNumber)>, CypherError> {
        let ends = (self.node(arguments, 0)?, self.node(arguments, 1)?);
        Ok(ends.0.zip(ends.1))
    }

    /// The nodes of vertices that exist.
    fn nodes(
        &self,
        numbers: &[VertexNumber],
    ) -> Result<HashMap<VertexNumber, Arc<Node>>, CypherError> {
        let mut all = numbers.to_vec();
        all.sort_unstable();
        all.dedup();
        let keys: Vec<Vec<u8>> = all.iter().map(|number| self.search.key(*number)).collect();
        let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let mut found = HashMap::with_capacity(all.len());
        let (view, meter) = (self.graph.view, self.graph.meter);
        view.vertices(
            &slices,
            &[],
            meter,
            &mut |at: usize, label: VertexLabelId, _| {
                found.insert(all[at], Arc::new(Node::new(slices[at], label)));
            },
        )?;
        Ok(found)
    }

    /// A row of each node.
    fn rows<'n>(
        &self,
        nodes: impl Iterator<Item = &'n Arc<Node>>,
        row: impl Fn(Value) -> Vec<Value>,
    ) -> Rows {
        let mut rows = Vec::new();
        for node in nodes {
            self.graph.meter.row()?;
            self.graph.meter.hold(NODE_BYTES)?;
            rows.push(row(Value::Node(Arc::clone(node))));
        }
        Ok(rows)
    }

    /// A row of each path, with its number and its length.
    fn paths(
        &mut self,
        paths: &[varve_traversal::Path],
        row: impl Fn(usize, Value, Value) -> Vec<Value>,
    ) -> Rows {
        let all = paths.iter().flat_map(|path| path.vertices.iter().copied());
        let nodes = self.nodes(&all.collect::<Vec<_>>())?;
        let edges = edges_of(&mut self.search, paths, &self.step, Parallel::First);
        let mut between: HashMap<(VertexId, VertexId), EdgeId> = HashMap::new();
        for edge in edges.map_err(error)? {
            let out = (edge.source.clone(), edge.target.clone());
            let back = (edge.target.clone(), edge.source.clone());
            if self.step.direction != Some(Direction::In) {
                between.entry(out).or_insert_with(|| edge.clone());
            }
            if self.step.direction != Some(Direction::Out) {
                between.entry(back).or_insert(edge);
            }
        }
        let mut rows = Vec::with_capacity(paths.len());
        for (at, path) in paths.iter().enumerate() {
            self.graph.meter.row()?;
            self.graph
                .meter
                .hold(2 * NODE_BYTES * path.vertices.len())?;
            let Some(walked) = self.walked(path, &nodes, &between)? else {
                continue;
            };
            let length = integer(walked.relationships.len());
            rows.push(row(at, Value::Path(Arc::new(walked)), length));
        }
        Ok(rows)
    }

    /// A path with its relationships; `None` if a part of it is not there.
    fn walked(
        &self,
        path: &varve_traversal::Path,
        nodes: &HashMap<VertexNumber, Arc<Node>>,
        between: &HashMap<(VertexId, VertexId), EdgeId>,
    ) -> Result<Option<Path>, CypherError> {
        let each = path
            .vertices
            .iter()
            .map(|number| nodes.get(number).cloned());
        let Some(nodes) = each.collect::<Option<Vec<Arc<Node>>>>() else {
            return Ok(None);
        };
        let ids = path.vertices.iter().map(|number| self.search.id(*number));
        let ids: Vec<VertexId> = ids.collect::<Result<_, _>>().map_err(error)?;
        let mut relationships = Vec::with_capacity(nodes.len());
        for (ids, ends) in ids.windows(2).zip(nodes.windows(2)) {
            let Some(edge) = between.get(&(ids[0].clone(), ids[1].clone())) else {
                return Ok(None);
            };
            let (start, end) = match edge.source == ids[0] {
                true => (&ends[0], &ends[1]),
                false => (&ends[1], &ends[0]),
            };
            let one = Relationship::new(edge.clone(), Arc::clone(start), Arc::clone(end));
            relationships.push(Arc::new(one));
        }
        Ok(Some(Path {
            nodes,
            relationships,
        }))
    }
}
