//! An immutable state of a graph's schema, cheap to share and quick to look up in.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use varve_model::schema::IndexBase;
use varve_model::{
    EdgeLabel, EdgeLabelId, IndexLabel, IndexLabelId, PropertyKey, PropertyKeyId, VertexLabel,
    VertexLabelId,
};

use super::kind::SchemaElement;
use crate::GraphError;

/// Ids below this are looked up by position; greater ones, which only restored schemas have, by hash.
const DENSE_IDS: u32 = 4096;

/// The elements of one kind, by id (removed ones too) and by name (visible ones only).
#[derive(Debug, Clone)]
pub(super) struct Elements<T> {
    dense: Vec<Option<Arc<T>>>,
    sparse: FxHashMap<u32, Arc<T>>,
    names: FxHashMap<Box<str>, Arc<T>>,
}

impl<T> Default for Elements<T> {
    fn default() -> Self {
        Self {
            dense: Vec::new(),
            sparse: FxHashMap::default(),
            names: FxHashMap::default(),
        }
    }
}

impl<T: SchemaElement> Elements<T> {
    fn get(&self, number: u32) -> Option<&Arc<T>> {
        if number < DENSE_IDS {
            self.dense.get(number as usize)?.as_ref()
        } else {
            self.sparse.get(&number)
        }
    }

    /// Adds an element or puts a new state in its place.
    fn put(&mut self, element: Arc<T>) {
        let number = element.number();
        if let Some(old) = self.get(number).cloned()
            && old.is_visible()
        {
            self.names.remove(old.name());
        }
        if element.is_visible() {
            self.names
                .insert(element.name().into(), Arc::clone(&element));
        }
        if number < DENSE_IDS {
            let at = number as usize;
            if self.dense.len() <= at {
                self.dense.resize(at + 1, None);
            }
            self.dense[at] = Some(element);
        } else {
            self.sparse.insert(number, element);
        }
    }

    /// All elements, removed ones too, by ascending id.
    fn all(&self) -> impl Iterator<Item = &Arc<T>> {
        let mut sparse: Vec<&Arc<T>> = self.sparse.values().collect();
        sparse.sort_unstable_by_key(|element| element.number());
        self.dense.iter().flatten().chain(sparse)
    }

    fn visible(&self) -> impl Iterator<Item = &Arc<T>> {
        self.all().filter(|element| element.is_visible())
    }
}

/// One state of a graph's schema. Look-ups cost a few nanoseconds and allocate nothing.
///
/// Elements that were removed stay resolvable by id, with status REMOVED, so that history can be read by name; lists
/// and look-ups by name do not show them.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    version: u64,
    property_keys: Arc<Elements<PropertyKey>>,
    vertex_labels: Arc<Elements<VertexLabel>>,
    edge_labels: Arc<Elements<EdgeLabel>>,
    index_labels: Arc<Elements<IndexLabel>>,
    /// Visible index labels of each base, by ascending id.
    shown: Arc<FxHashMap<IndexBase, Vec<Arc<IndexLabel>>>>,
    /// Those of them that writers must keep up to date.
    kept: Arc<FxHashMap<IndexBase, Vec<Arc<IndexLabel>>>>,
}

macro_rules! look_ups {
    ($type:ident, $id:ident, $field:ident, $by_id:ident, $by_name:ident, $require:ident, $list:ident, $what:literal) => {
        #[doc = concat!("The ", $what, " of that id, even when it was removed.")]
        #[must_use]
        pub fn $by_id(&self, id: $id) -> Option<&Arc<$type>> {
            self.$field.get(id.0)
        }

        #[doc = concat!("The ", $what, " of that name, in whatever status but REMOVED.")]
        #[must_use]
        pub fn $by_name(&self, name: &str) -> Option<&Arc<$type>> {
            self.$field.names.get(name)
        }

        #[doc = concat!("The usable ", $what, " of that name.")]
        ///
        /// # Errors
        /// [`crate::ErrorKind::InvalidArgument`], "Undefined …: 'name'", when there is none or it is being removed.
        pub fn $require(&self, name: &str) -> Result<&Arc<$type>, GraphError> {
            self.$by_name(name)
                .filter(|element| element.is_usable())
                .ok_or_else(|| <$type as SchemaElement>::KIND.undefined(name))
        }

        #[doc = concat!("Every ", $what, " that is not removed, by ascending id.")]
        pub fn $list(&self) -> impl Iterator<Item = &Arc<$type>> {
            self.$field.visible()
        }
    };
}

impl Schema {
    look_ups!(
        PropertyKey,
        PropertyKeyId,
        property_keys,
        property_key,
        property_key_by_name,
        require_property_key,
        all_property_keys,
        "property key"
    );
    look_ups!(
        VertexLabel,
        VertexLabelId,
        vertex_labels,
        vertex_label,
        vertex_label_by_name,
        require_vertex_label,
        all_vertex_labels,
        "vertex label"
    );
    look_ups!(
        EdgeLabel,
        EdgeLabelId,
        edge_labels,
        edge_label,
        edge_label_by_name,
        require_edge_label,
        all_edge_labels,
        "edge label"
    );
    look_ups!(
        IndexLabel,
        IndexLabelId,
        index_labels,
        index_label,
        index_label_by_name,
        require_index_label,
        all_index_labels,
        "index label"
    );

    /// How many changes led to this state since the graph was opened: equal numbers mean equal schemas.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The index labels that a write to a vertex of this label must keep up to date: those in use, being built or being
    /// rebuilt, by ascending id. Whether a query may use one is [`is_queryable`].
    #[must_use]
    pub fn indexes_of_vertex_label(&self, id: VertexLabelId) -> &[Arc<IndexLabel>] {
        self.kept.get(&IndexBase::Vertex(id)).map_or(&[], |l| l)
    }

    /// The index labels that a write to an edge of this label must keep up to date, as
    /// [`Schema::indexes_of_vertex_label`].
    #[must_use]
    pub fn indexes_of_edge_label(&self, id: EdgeLabelId) -> &[Arc<IndexLabel>] {
        self.kept.get(&IndexBase::Edge(id)).map_or(&[], |l| l)
    }

    /// Every index label on `base` that is not removed, in whatever status, by ascending id.
    #[must_use]
    pub fn indexes_on(&self, base: IndexBase) -> &[Arc<IndexLabel>] {
        self.shown.get(&base).map_or(&[], |l| l)
    }

    /// The SUB labels of a PARENT label, by ascending id.
    pub fn sub_labels(&self, parent: EdgeLabelId) -> impl Iterator<Item = &Arc<EdgeLabel>> {
        self.all_edge_labels()
            .filter(move |label| label.parent == Some(parent))
    }

    /// The SUB labels that a PARENT label has or had, removed ones too, by ascending id.
    pub fn sub_labels_ever(&self, parent: EdgeLabelId) -> impl Iterator<Item = &Arc<EdgeLabel>> {
        self.edge_labels
            .all()
            .filter(move |label| label.parent == Some(parent))
    }

    /// The name of a property key, for messages and answers; `~undefined` when there never was one of that id.
    #[must_use]
    pub fn property_key_name(&self, id: PropertyKeyId) -> &str {
        self.property_key(id).map_or("~undefined", |key| &key.name)
    }

    /// The name of a vertex label, as [`Schema::property_key_name`].
    #[must_use]
    pub fn vertex_label_name(&self, id: VertexLabelId) -> &str {
        self.vertex_label(id).map_or("~undefined", |l| &l.name)
    }

    /// The name of an edge label, as [`Schema::property_key_name`].
    #[must_use]
    pub fn edge_label_name(&self, id: EdgeLabelId) -> &str {
        self.edge_label(id).map_or("~undefined", |l| &l.name)
    }

    /// The names of property keys, in the order of `ids`.
    #[must_use]
    pub fn property_key_names(&self, ids: &[PropertyKeyId]) -> Vec<&str> {
        ids.iter().map(|id| self.property_key_name(*id)).collect()
    }

    pub(super) fn next_version(&mut self) {
        self.version += 1;
    }

    pub(crate) fn put_property_key(&mut self, element: PropertyKey) -> Arc<PropertyKey> {
        let element = Arc::new(element);
        Arc::make_mut(&mut self.property_keys).put(Arc::clone(&element));
        element
    }

    pub(crate) fn put_vertex_label(&mut self, element: VertexLabel) -> Arc<VertexLabel> {
        let element = Arc::new(element);
        Arc::make_mut(&mut self.vertex_labels).put(Arc::clone(&element));
        element
    }

    pub(crate) fn put_edge_label(&mut self, element: EdgeLabel) -> Arc<EdgeLabel> {
        let element = Arc::new(element);
        Arc::make_mut(&mut self.edge_labels).put(Arc::clone(&element));
        element
    }

    pub(crate) fn put_index_label(&mut self, element: IndexLabel) -> Arc<IndexLabel> {
        let element = Arc::new(element);
        place(
            Arc::make_mut(&mut self.shown),
            &element,
            element.is_visible(),
        );
        place(Arc::make_mut(&mut self.kept), &element, element.is_usable());
        Arc::make_mut(&mut self.index_labels).put(Arc::clone(&element));
        element
    }
}

/// Puts `element` into the list of its base, or takes it out when it does not belong.
fn place(
    lists: &mut FxHashMap<IndexBase, Vec<Arc<IndexLabel>>>,
    element: &Arc<IndexLabel>,
    belongs: bool,
) {
    let list = lists.entry(element.base).or_default();
    match list.binary_search_by_key(&element.id, |each| each.id) {
        Ok(at) if belongs => list[at] = Arc::clone(element),
        Ok(at) => drop(list.remove(at)),
        Err(at) if belongs => list.insert(at, Arc::clone(element)),
        Err(_) => {}
    }
}

/// Whether queries may rely on an index label: it is complete. One that is being built or rebuilt is not.
#[must_use]
pub fn is_queryable(index: &IndexLabel) -> bool {
    index.status == varve_model::schema::SchemaStatus::Created
}
