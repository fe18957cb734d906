//! Elements as they are sent to clients: ids, names of labels, and properties by name.

use std::sync::Arc;

use varve_model::{EdgeId, VertexId};

use super::{Content, Graph, Node, Relationship, Value};
use crate::error::CypherError;
use crate::labels;

/// The properties of an element by their names, in the order of their keys.
pub type Properties = Vec<(Arc<str>, Value)>;

/// A node as clients see it. A deleted one has its id alone.
#[derive(Debug, Clone)]
pub struct ShownNode {
    /// Its id.
    pub id: VertexId,
    /// Its labels, sorted.
    pub labels: Vec<Arc<str>>,
    /// Its properties.
    pub properties: Properties,
}

/// A relationship as clients see it. A deleted one has no properties.
#[derive(Debug, Clone)]
pub struct ShownRelationship {
    /// Its id.
    pub id: EdgeId,
    /// Its type.
    pub label: Arc<str>,
    /// Its properties.
    pub properties: Properties,
}

impl Graph<'_> {
    /// Reads the contents of all elements in these values in a few batches.
    ///
    /// # Errors
    /// When a limit is exceeded or the store fails.
    pub fn prefetch<'v>(
        &self,
        values: impl IntoIterator<Item = &'v Value>,
    ) -> Result<(), CypherError> {
        let (mut nodes, mut relationships) = (Vec::new(), Vec::new());
        for value in values {
            collect(value, &mut nodes, &mut relationships);
        }
        let keys = self.keys();
        self.fetch(nodes.iter().collect(), &keys)?;
        self.fetch_relationships(relationships.iter().collect(), &keys)
    }

    /// A node as clients see it.
    ///
    /// # Errors
    /// When a limit is exceeded or the store fails.
    pub fn shown_node(&self, node: &Arc<Node>) -> Result<ShownNode, CypherError> {
        let content = node.content(self)?;
        let label = content.as_ref().and_then(|content| content.label);
        Ok(ShownNode {
            id: self.view.vertex_id(&node.key)?,
            labels: label.map_or_else(Vec::new, |label| labels::names(self.schema, label)),
            properties: self.named(content.as_deref()),
        })
    }

    /// A relationship as clients see it.
    ///
    /// # Errors
    /// When a limit is exceeded or the store fails.
    pub fn shown_relationship(
        &self,
        relationship: &Arc<Relationship>,
    ) -> Result<ShownRelationship, CypherError> {
        let content = relationship.content(self)?;
        let id = relationship.id.clone();
        let label = self.schema.edge_label(id.label);
        Ok(ShownRelationship {
            label: Arc::from(label.map_or("", |label| &*label.name)),
            properties: self.named(content.as_deref()),
            id,
        })
    }

    fn named(&self, content: Option<&Content>) -> Properties {
        let stored = content
            .into_iter()
            .flat_map(|content| content.properties.iter());
        let named = stored.filter_map(|(key, value)| {
            let key = self.schema.property_key(key)?;
            Some((Arc::from(&*key.name), Value::from_stored(value)))
        });
        named.collect()
    }
}

fn collect(value: &Value, nodes: &mut Vec<Arc<Node>>, all: &mut Vec<Arc<Relationship>>) {
    match value {
        Value::Node(node) => nodes.push(Arc::clone(node)),
        Value::Relationship(one) => all.push(Arc::clone(one)),
        Value::Path(path) => {
            nodes.extend(path.nodes.iter().cloned());
            all.extend(path.relationships.iter().cloned());
        }
        Value::List(items) => items.iter().for_each(|item| collect(item, nodes, all)),
        Value::Map(map) => map.iter().for_each(|(_, value)| collect(value, nodes, all)),
        _ => {}
    }
}
