//! Connected components: weak by union-find, strong by Tarjan's algorithm ("Depth-first search and
//! linear graph algorithms", 1972).

use varve_view::Meter;

use super::pace::{Pace, array};
use crate::{Adjacency, Node, Projection, TraversalError};

/// The component of each vertex, named by its smallest vertex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The component of each vertex.
    pub of: Vec<Node>,
    /// The number of components.
    pub count: usize,
}

impl Components {
    fn new(of: Vec<Node>) -> Self {
        let of_itself = |(at, first): &(usize, &Node)| *at == **first as usize;
        let count = of.iter().enumerate().filter(of_itself).count();
        Self { of, count }
    }
}

/// The weakly connected components: vertices joined by edges of any direction.
///
/// # Errors
///
/// If the memory limit of the meter is exceeded, or its deadline has passed.
pub fn weak(graph: &Projection, meter: &Meter) -> Result<Components, TraversalError> {
    let mut parents = joined(graph, |_| true, meter)?;
    for node in graph.nodes() {
        parents[node as usize] = root(&mut parents, node);
    }
    Ok(Components::new(parents))
}

/// A union-find forest of the wanted vertices and the edges between them, as the parent of each
/// vertex.
fn joined(
    graph: &Projection,
    wanted: impl Fn(Node) -> bool,
    meter: &Meter,
) -> Result<Vec<Node>, TraversalError> {
    let mut parents = array(meter, 0, graph.len())?;
    for node in graph.nodes() {
        parents[node as usize] = node;
    }
    let mut pace = Pace::new(meter);
    for node in graph.nodes().filter(|node| wanted(*node)) {
        let others = graph.first().of_node(node);
        pace.step(others.len() + 1)?;
        for other in others.iter().filter(|other| wanted(**other)) {
            join(&mut parents, node, *other);
        }
    }
    Ok(parents)
}

/// The components of the wanted vertices and the edges between them. Vertices ascend within a
/// component, and components come by their smallest vertex.
///
/// # Errors
/// As [`weak`].
pub fn groups(
    graph: &Projection,
    wanted: &dyn Fn(Node) -> bool,
    meter: &Meter,
) -> Result<Vec<Vec<Node>>, TraversalError> {
    let mut parents = joined(graph, wanted, meter)?;
    let mut groups: Vec<Vec<Node>> = Vec::new();
    let mut numbers = array(meter, usize::MAX, graph.len())?;
    for node in graph.nodes().filter(|node| wanted(*node)) {
        meter.hold(size_of::<Node>())?;
        let number = &mut numbers[root(&mut parents, node) as usize];
        if *number == usize::MAX {
            *number = groups.len();
            groups.push(Vec::new());
        }
        groups[*number].push(node);
    }
    Ok(groups)
}

/// Joins two sets. The smaller root remains, so that a root is the smallest vertex of its set.
fn join(parents: &mut [Node], a: Node, b: Node) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b) as usize] = a.min(b);
}

/// The root of a set, with path halving.
fn root(parents: &mut [Node], mut node: Node) -> Node {
    loop {
        let parent = parents[node as usize];
        if parent == node {
            return node;
        }
        let next = parents[parent as usize];
        parents[node as usize] = next;
        node = next;
    }
}

/// The strongly connected components: vertices that reach each other along the edges.
///
/// # Errors
/// As [`weak`].
pub fn strong(graph: &Projection, meter: &Meter) -> Result<Components, TraversalError> {
    let mut search = Strong {
        order: array(meter, UNSEEN, graph.len())?,
        low: array(meter, 0, graph.len())?,
        of: array(meter, UNSEEN, graph.len())?,
        open: Vec::new(),
        next: 0,
    };
    let mut pace = Pace::new(meter);
    for node in graph.nodes() {
        if search.order[node as usize] == UNSEEN {
            search.from(graph.first(), node, &mut pace)?;
        }
    }
    Ok(Components::new(search.of))
}

const UNSEEN: u32 = u32::MAX;

/// The state of Tarjan's search, with an explicit stack.
struct Strong {
    /// The discovery number of each vertex.
    order: Vec<u32>,
    /// The low-link of each vertex.
    low: Vec<u32>,
    /// The component of each vertex.
    of: Vec<Node>,
    /// Vertices whose component is not complete yet.
    open: Vec<Node>,
    next: u32,
}

impl Strong {
    fn from(
        &mut self,
        side: &Adjacency,
        start: Node,
        pace: &mut Pace<'_>,
    ) -> Result<(), TraversalError> {
        // Each vertex on the current path, and the number of its edges that were walked.
        let mut path: Vec<(Node, u32)> = vec![(start, 0)];
        self.meet(start);
        while let Some((node, walked)) = path.last_mut() {
            let node = *node;
            let Some(other) = side.of_node(node).get(*walked as usize).copied() else {
                path.pop();
                if let Some((parent, _)) = path.last() {
                    let low = self.low[node as usize];
                    let of_parent = &mut self.low[*parent as usize];
                    *of_parent = low.min(*of_parent);
                }
                self.leave(node);
                continue;
            };
            *walked += 1;
            pace.step(1)?;
            if self.order[other as usize] == UNSEEN {
                self.meet(other);
                path.push((other, 0));
            } else if self.of[other as usize] == UNSEEN {
                let order = self.order[other as usize];
                let low = &mut self.low[node as usize];
                *low = order.min(*low);
            }
        }
        Ok(())
    }

    fn meet(&mut self, node: Node) {
        self.order[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.open.push(node);
    }

    /// Closes the component whose first discovered vertex this is.
    fn leave(&mut self, node: Node) {
        if self.low[node as usize] != self.order[node as usize] {
            return;
        }
        let begin = self.open.iter().rposition(|open| *open == node);
        let members = self.open.split_off(begin.unwrap_or_default());
        let first = members.iter().copied().min().unwrap_or(node);
        for member in members {
            self.of[member as usize] = first;
        }
    }
}
