//! Elements, paths, trees, graphs and metrics in GraphBinary.

use super::read::Reader;
use super::{code, wrong};
use crate::error::{Result, WireError};
use crate::graphson::path;
use crate::value::{
    Edge, Graph, Metrics, Path, Property, Text, Tree, Value, Vertex, VertexProperty, named,
};

impl Reader<'_> {
    /// Reads an element, or a value made of elements, without type code and flag.
    pub(super) fn element(&mut self, code: u8) -> Result<Value> {
        Ok(match code {
            code::VERTEX => Value::Vertex(Box::new(self.vertex()?)),
            code::EDGE => Value::Edge(Box::new(self.edge()?)),
            code::VERTEX_PROPERTY => Value::VertexProperty(Box::new(self.vertex_property()?)),
            code::PROPERTY => Value::Property(Box::new(self.property()?)),
            code::PATH => Value::Path(self.path()?),
            code::TREE => Value::Tree(self.tree()?),
            code::GRAPH => Value::Graph(Box::new(self.graph()?)),
            code::METRICS => Value::Metrics(Box::new(self.metrics()?)),
            code::TRAVERSAL_METRICS => Value::TraversalMetrics {
                nanoseconds: self.i64()?,
                metrics: self.all_metrics()?,
            },
            _ => return Err(WireError::Unsupported(format!("0x{code:02X}"))),
        })
    }

    /// Reads a list that may be null.
    fn members(&mut self, kind: &str) -> Result<Vec<Value>> {
        match self.value()? {
            Value::Null => Ok(Vec::new()),
            Value::List(members) => Ok(members),
            _ => Err(wrong(kind, "its properties are no List")),
        }
    }

    fn properties(&mut self, kind: &str) -> Result<Vec<Property>> {
        let members = self.members(kind)?;
        properties(kind, members)
    }

    fn vertex(&mut self) -> Result<Vertex> {
        let id = self.value()?;
        let label = self.string()?;
        let property = |member| match member {
            Value::VertexProperty(property) => Ok(*property),
            _ => Err(wrong("Vertex", "a property is no VertexProperty")),
        };
        let members = self.members("Vertex")?;
        let properties = members.into_iter().map(property).collect::<Result<_>>()?;
        Ok(Vertex {
            id,
            label,
            properties,
        })
    }

    fn edge(&mut self) -> Result<Edge> {
        let id = self.value()?;
        let label = self.string()?;
        let (in_id, in_label) = (self.value()?, self.string()?);
        let (out_id, out_label) = (self.value()?, self.string()?);
        self.parent()?;
        Ok(Edge {
            id,
            label,
            in_id,
            in_label,
            out_id,
            out_label,
            properties: self.properties("Edge")?,
        })
    }

    /// Reads the parent of an element or property, which is always null.
    fn parent(&mut self) -> Result<()> {
        self.value().map(|_| ())
    }

    fn vertex_property(&mut self) -> Result<VertexProperty> {
        let id = self.value()?;
        let label = self.string()?;
        let value = self.value()?;
        self.parent()?;
        Ok(VertexProperty {
            id,
            label,
            value,
            properties: self.properties("VertexProperty")?,
        })
    }

    fn property(&mut self) -> Result<Property> {
        let key = self.string()?;
        let value = self.value()?;
        self.parent()?;
        Ok(Property { key, value })
    }

    fn path(&mut self) -> Result<Path> {
        let (labels, objects) = (self.value()?, self.value()?);
        path(labels, objects).ok_or_else(|| wrong("Path", "its labels or objects are no lists"))
    }

    fn tree(&mut self) -> Result<Tree> {
        self.budget.enter()?;
        let mut tree = Tree::default();
        for _ in 0..self.length("Tree")? {
            let key = self.value()?;
            tree.branches.push((key, self.tree()?));
        }
        self.budget.leave();
        Ok(tree)
    }

    fn graph(&mut self) -> Result<Graph> {
        let mut graph = Graph::default();
        for _ in 0..self.length("Graph")? {
            let id = self.value()?;
            let label = self.string()?;
            let mut properties = Vec::new();
            for _ in 0..self.length("Graph")? {
                properties.push(self.graph_property()?);
            }
            graph.vertices.push(Vertex {
                id,
                label,
                properties,
            });
        }
        for _ in 0..self.length("Graph")? {
            graph.edges.push(self.graph_edge()?);
        }
        Ok(graph)
    }

    fn graph_property(&mut self) -> Result<VertexProperty> {
        let id = self.value()?;
        let label = self.string()?;
        let value = self.value()?;
        self.parent()?;
        let members = self.list("Graph")?;
        Ok(VertexProperty {
            id,
            label,
            value,
            properties: properties("Graph", members)?,
        })
    }

    /// Reads an edge of a graph. The labels of its ends are null there: the graph's vertices have
    /// them.
    fn graph_edge(&mut self) -> Result<Edge> {
        let id = self.value()?;
        let label = self.string()?;
        let in_id = self.value()?;
        self.parent()?;
        let out_id = self.value()?;
        self.parent()?;
        self.parent()?;
        let members = self.list("Graph")?;
        Ok(Edge {
            id,
            label,
            in_id,
            in_label: Text::default(),
            out_id,
            out_label: Text::default(),
            properties: properties("Graph", members)?,
        })
    }

    fn all_metrics(&mut self) -> Result<Vec<Metrics>> {
        let member = |member| match member {
            Value::Metrics(metrics) => Ok(*metrics),
            _ => Err(wrong("Metrics", "a member is no Metrics")),
        };
        self.list("Metrics")?.into_iter().map(member).collect()
    }

    fn metrics(&mut self) -> Result<Metrics> {
        let not_named = || wrong("Metrics", "a key is no String");
        let id = self.string()?;
        let name = self.string()?;
        let nanoseconds = self.i64()?;
        let count = |(name, count)| match count {
            Value::Long(count) => Ok((name, count)),
            _ => Err(wrong("Metrics", "a count is no Long")),
        };
        let counts = named(self.map()?).ok_or_else(not_named)?;
        Ok(Metrics {
            id,
            name,
            nanoseconds,
            counts: counts.into_iter().map(count).collect::<Result<_>>()?,
            annotations: named(self.map()?).ok_or_else(not_named)?,
            nested: self.all_metrics()?,
        })
    }
}

fn properties(kind: &str, members: Vec<Value>) -> Result<Vec<Property>> {
    let property = |member| match member {
        Value::Property(property) => Ok(*property),
        _ => Err(wrong(kind, "a property is no Property")),
    };
    members.into_iter().map(property).collect()
}
