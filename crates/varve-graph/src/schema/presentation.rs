//! How queries see elements whose content the program that opens the graph encodes.
//!
//! Such a program stores few properties with nested values, and presents what they contain as
//! properties of their own. The names of presented properties are in no stored schema: they have
//! ids above all stored ones. A label may have supertypes, which the program knows.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use parking_lot::Mutex;
use varve_model::schema::{AggregateType, SchemaStatus, WriteType};
use varve_model::value::{Cardinality, DataType};
use varve_model::{
    Condition, Datum, EdgeLabelId, ElementId, Properties, PropertyKey, PropertyKeyId, VertexId,
    VertexLabelId,
};

use crate::GraphError;

/// The id of the first presented property.
const FIRST: u32 = 1 << 31;

/// An element whose content is presented.
#[derive(Clone, Copy)]
pub struct PresentedElement<'a> {
    /// Its id.
    pub id: &'a dyn Fn() -> Result<ElementId, GraphError>,
    /// Whether it is a vertex, and the number of its label.
    pub label: PresentedLabel,
    /// Those of the stored properties that were asked for.
    pub stored: &'a Properties,
}

/// The label of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresentedLabel {
    /// Of a vertex.
    Vertex(VertexLabelId),
    /// Of an edge.
    Edge(EdgeLabelId),
}

/// Where elements with a value are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entries {
    /// Entries of a derived index.
    Derived {
        /// The number of the index.
        index: u32,
        /// The first values of its partitions.
        firsts: Vec<Vec<u8>>,
        /// What the clustering keys begin with.
        prefix: Vec<u8>,
    },
    /// The vertex with this id.
    Vertex(VertexId),
}

/// Presents the elements of a graph.
pub trait Presenter: Send + Sync {
    /// The labels, and the names of their properties.
    fn names(&self) -> PresentedNames;

    /// The stored properties to read: for the contents of elements, or only to know which elements
    /// are hidden. Ascending.
    fn stored_keys(&self, contents: bool) -> &[PropertyKeyId];

    /// Calls `give` with the names and values of an element's presented properties, in any order,
    /// if `contents` are asked for. Returns false if queries do not see the element.
    ///
    /// # Errors
    /// When the stored content is damaged.
    fn present(
        &self,
        element: &PresentedElement<'_>,
        contents: bool,
        give: &mut dyn FnMut(&str, varve_model::Value),
    ) -> Result<bool, GraphError>;

    /// Entries that name every vertex, or edge, of these labels (empty = all) for which the
    /// condition on the presented property `name` holds, and perhaps others; no element has two of
    /// them. `None` if no index serves it.
    fn entries(
        &self,
        labels: &[PresentedLabel],
        is_vertices: bool,
        name: &str,
        condition: &Condition,
    ) -> Option<Vec<Entries>>;
}

/// The names of a presentation.
#[derive(Debug, Clone, Default)]
pub struct PresentedNames {
    /// The vertex labels.
    pub vertices: Vec<PresentedType<VertexLabelId>>,
    /// The edge labels.
    pub edges: Vec<PresentedType<EdgeLabelId>>,
}

/// A label whose elements are presented.
#[derive(Debug, Clone)]
pub struct PresentedType<L> {
    /// The label.
    pub label: L,
    /// Its supertypes, nearest first.
    pub supertypes: Vec<L>,
    /// The names of the properties that its elements may have.
    pub properties: Vec<String>,
}

/// The presented properties and the supertypes of labels, and the program that presents elements.
pub struct Presentation {
    presenter: Arc<dyn Presenter>,
    /// The ids that this presentation and those before it have given.
    ids: Arc<Mutex<Ids>>,
    named: OnceLock<Named>,
}

/// Presented properties. The id of each is [`FIRST`] and its position.
#[derive(Clone, Default)]
struct Ids {
    keys: Vec<Arc<PropertyKey>>,
    names: HashMap<String, PropertyKeyId, RandomState>,
}

/// The names of a presentation.
struct Named {
    ids: Ids,
    vertices: Types<VertexLabelId>,
    edges: Types<EdgeLabelId>,
}

/// The supertypes, the subtypes and the properties of labels.
struct Types<L> {
    supertypes: HashMap<L, Vec<L>, RandomState>,
    subtypes: HashMap<L, Vec<L>, RandomState>,
    properties: HashMap<L, Vec<PropertyKeyId>, RandomState>,
}

impl<L: Copy + Eq + std::hash::Hash> Types<L> {
    fn new(of: Vec<PresentedType<L>>, ids: &mut Ids) -> Self {
        let mut made = Self {
            supertypes: HashMap::default(),
            subtypes: HashMap::default(),
            properties: HashMap::default(),
        };
        for of in of {
            for supertype in &of.supertypes {
                let subtypes = made.subtypes.entry(*supertype).or_default();
                subtypes.push(of.label);
            }
            made.supertypes.insert(of.label, of.supertypes);
            let keys = of.properties.into_iter().map(|name| ids.of(name));
            let mut keys: Vec<PropertyKeyId> = keys.collect();
            keys.sort_unstable();
            made.properties.insert(of.label, keys);
        }
        made
    }

    fn supertypes(&self, label: L) -> &[L] {
        self.supertypes.get(&label).map_or(&[], Vec::as_slice)
    }

    fn subtypes(&self, label: L) -> &[L] {
        self.subtypes.get(&label).map_or(&[], Vec::as_slice)
    }

    fn properties(&self, label: L) -> &[PropertyKeyId] {
        self.properties.get(&label).map_or(&[], Vec::as_slice)
    }
}

impl Ids {
    /// The id of a property, which may be new.
    fn of(&mut self, name: String) -> PropertyKeyId {
        if let Some(id) = self.names.get(&name) {
            return *id;
        }
        let position = u32::try_from(self.keys.len()).unwrap_or(FIRST - 1);
        let id = PropertyKeyId(FIRST | position);
        self.names.insert(name.clone(), id);
        self.keys.push(Arc::new(key_of(id, name)));
        id
    }
}

impl Presentation {
    /// What `presenter` presents. Properties keep the ids that they had in `before`, since answers
    /// may be rendered with the names of another time than they were read with.
    #[must_use]
    pub fn new(presenter: Arc<dyn Presenter>, before: Option<&Self>) -> Self {
        Self {
            presenter,
            ids: before.map_or_else(Arc::default, |before| Arc::clone(&before.ids)),
            named: OnceLock::new(),
        }
    }

    /// The names. They are made at first use: the types of a repository may change many times
    /// before a query comes.
    fn named(&self) -> &Named {
        self.named.get_or_init(|| {
            let names = self.presenter.names();
            let mut ids = self.ids.lock();
            let vertices = Types::new(names.vertices, &mut ids);
            let edges = Types::new(names.edges, &mut ids);
            Named {
                ids: ids.clone(),
                vertices,
                edges,
            }
        })
    }

    /// The program that presents elements.
    #[must_use]
    pub fn presenter(&self) -> &dyn Presenter {
        &*self.presenter
    }

    /// The presented property with this id.
    #[must_use]
    pub fn key(&self, id: PropertyKeyId) -> Option<&Arc<PropertyKey>> {
        self.named().ids.keys.get(id.0.checked_sub(FIRST)? as usize)
    }

    /// The presented property with this name.
    #[must_use]
    pub fn key_named(&self, name: &str) -> Option<&Arc<PropertyKey>> {
        self.key(*self.named().ids.names.get(name)?)
    }

    /// The ids of the presented properties, ascending.
    pub fn keys(&self) -> impl Iterator<Item = PropertyKeyId> {
        self.named().ids.keys.iter().map(|key| key.id)
    }

    /// Whether queries see the parts of this stored property instead of it.
    #[must_use]
    pub fn replaces(&self, stored: PropertyKeyId) -> bool {
        self.presenter.stored_keys(true).contains(&stored)
    }

    /// Whether this is the id of a presented property.
    pub(crate) const fn has_id(key: PropertyKeyId) -> bool {
        key.0 >= FIRST
    }

    /// The supertypes of a vertex label, nearest first.
    #[must_use]
    pub fn vertex_supertypes(&self, label: VertexLabelId) -> &[VertexLabelId] {
        self.named().vertices.supertypes(label)
    }

    /// The supertypes of an edge label, nearest first.
    #[must_use]
    pub fn edge_supertypes(&self, label: EdgeLabelId) -> &[EdgeLabelId] {
        self.named().edges.supertypes(label)
    }

    /// The presented properties that vertices of a label may have, ascending.
    #[must_use]
    pub fn vertex_keys(&self, label: VertexLabelId) -> &[PropertyKeyId] {
        self.named().vertices.properties(label)
    }

    /// The presented properties that edges of a label may have, ascending.
    #[must_use]
    pub fn edge_keys(&self, label: EdgeLabelId) -> &[PropertyKeyId] {
        self.named().edges.properties(label)
    }

    /// The subtypes of a vertex label, in any order.
    #[must_use]
    pub fn vertex_subtypes(&self, label: VertexLabelId) -> &[VertexLabelId] {
        self.named().vertices.subtypes(label)
    }

    /// The subtypes of an edge label, in any order.
    #[must_use]
    pub fn edge_subtypes(&self, label: EdgeLabelId) -> &[EdgeLabelId] {
        self.named().edges.subtypes(label)
    }
}

impl fmt::Debug for Presentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presentation").finish_non_exhaustive()
    }
}

/// The values of a presented property may have any type.
fn key_of(id: PropertyKeyId, name: String) -> PropertyKey {
    PropertyKey {
        id,
        name,
        data_type: DataType::Object,
        cardinality: Cardinality::Single,
        aggregate_type: AggregateType::None,
        write_type: WriteType::Oltp,
        status: SchemaStatus::Created,
        user_data: Datum::Map(Vec::new()),
    }
}
