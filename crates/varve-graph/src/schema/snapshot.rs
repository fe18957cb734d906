//! An immutable snapshot of a graph's schema, cheap to share, with fast look-ups.

use std::borrow::Cow;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rpds::{HashTrieMapSync, RedBlackTreeMapSync, VectorSync};
use varve_model::schema::IndexBase;
use varve_model::{
    EdgeLabel, EdgeLabelId, IndexLabel, IndexLabelId, PropertyKey, PropertyKeyId, VertexLabel,
    VertexLabelId,
};

use super::definition::Definition;
use super::kind::SchemaElement;
use super::mode::{ReadMode, SchemaMode};
use super::presentation::Presentation;
use crate::GraphError;

/// Ids below this are looked up by position. Greater ids, which only restored schemas have, are in
/// a tree.
const DENSE_IDS: u32 = 1 << 16;

/// A persistent map: a copy shares everything but the path to what was changed, so the cost of a
/// change hardly depends on the size of the map. Seeded, since clients choose names.
type Map<K, V> = HashTrieMapSync<K, V, RandomState>;
/// Index labels by their base, those of one base by ascending id. A base has few, since each write
/// must update all of them.
type IndexLists = Map<IndexBase, Vec<Arc<IndexLabel>>>;

/// The elements of one kind, by id (including removed ones) and by name (visible ones only).
/// Copying it is as cheap as copying a [`Map`].
#[derive(Debug, Clone)]
pub(super) struct Elements<T> {
    dense: VectorSync<Option<Arc<T>>>,
    sparse: RedBlackTreeMapSync<u32, Arc<T>>,
    names: Map<Box<str>, Arc<T>>,
}

impl<T> Default for Elements<T> {
    fn default() -> Self {
        Self {
            dense: VectorSync::default(),
            sparse: RedBlackTreeMapSync::default(),
            names: Map::default(),
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

    /// Adds an element, or replaces the one with its id.
    fn put(&mut self, element: Arc<T>) {
        let number = element.number();
        if let Some(old) = self.get(number).cloned()
            && old.is_visible()
        {
            self.names.remove_mut(old.name());
        }
        if element.is_visible() {
            self.names
                .insert_mut(element.name().into(), Arc::clone(&element));
        }
        if number < DENSE_IDS {
            while self.dense.len() <= number as usize {
                self.dense.push_back_mut(None);
            }
            self.dense.set_mut(number as usize, Some(element));
        } else {
            self.sparse.insert_mut(number, element);
        }
    }

    /// All elements, including removed ones, by ascending id.
    fn all(&self) -> impl Iterator<Item = &Arc<T>> {
        self.dense.iter().flatten().chain(self.sparse.values())
    }

    fn visible(&self) -> impl Iterator<Item = &Arc<T>> {
        self.all().filter(|element| element.is_visible())
    }
}

/// One state of a graph's schema. Look-ups take a few nanoseconds and do not allocate.
///
/// Removed elements stay resolvable by id, with status REMOVED, so that history can be read with
/// names. They are neither in lists nor found by name.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    version: u64,
    mode: SchemaMode,
    read_mode: ReadMode,
    /// The OLAP property keys, including removed ones, by ascending id.
    olap_keys: Vec<PropertyKeyId>,
    property_keys: Elements<PropertyKey>,
    vertex_labels: Elements<VertexLabel>,
    edge_labels: Elements<EdgeLabel>,
    index_labels: Elements<IndexLabel>,
    /// Visible index labels of each base.
    shown: IndexLists,
    /// The index labels that writers must keep up to date.
    kept: IndexLists,
    /// The SUB labels of each PARENT label, including removed ones.
    subs: Map<EdgeLabelId, RedBlackTreeMapSync<EdgeLabelId, Arc<EdgeLabel>>>,
    /// How queries see the elements; `None` = as they are stored.
    presentation: Option<Arc<Presentation>>,
    /// By ascending id.
    definitions: Arc<Vec<Arc<Definition>>>,
    /// The rules of each label that has any: [`super::definition::DefinitionKind::is_rule`].
    rules: Map<IndexBase, Vec<Arc<Definition>>>,
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
        /// [`crate::ErrorKind::InvalidArgument`], "Undefined …: 'name'", when there is none or it
        /// is being removed.
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
        stored_property_key,
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

    /// The definitions of indexes and constraints of an open graph, by ascending id.
    #[must_use]
    pub fn definitions(&self) -> &[Arc<Definition>] {
        &self.definitions
    }

    /// The definition that an index label serves; the first one, if it serves several.
    #[must_use]
    pub fn definition_of(&self, index: IndexLabelId) -> Option<&Arc<Definition>> {
        let mut all = self.definitions.iter();
        all.find(|definition| definition.parts.contains(&index))
    }

    /// The name of an index label in messages: that of the definition that it serves, if any.
    pub(crate) fn told_name<'s>(&'s self, index: &'s IndexLabel) -> &'s str {
        match self.definition_of(index.id) {
            Some(definition) => &definition.of.name,
            None => &index.name,
        }
    }

    pub(super) fn put_definition(&mut self, definition: Definition) {
        self.remove_definition(definition.id);
        let all = Arc::make_mut(&mut self.definitions);
        let at = all.partition_point(|one| one.id < definition.id);
        let is_rule = definition.of.kind.is_rule();
        all.insert(at, Arc::new(definition));
        if is_rule {
            self.set_all_rules();
        }
    }

    pub(super) fn remove_definition(&mut self, id: IndexLabelId) {
        let all = Arc::make_mut(&mut self.definitions);
        let had = all.iter().any(|one| one.id == id && one.of.kind.is_rule());
        all.retain(|one| one.id != id);
        if had {
            self.set_all_rules();
        }
    }

    /// The rules that each state of an element on `base` must keep, by ascending id.
    pub(crate) fn rules_of(&self, base: IndexBase) -> &[Arc<Definition>] {
        self.rules.get(&base).map_or(&[], |rules| rules)
    }

    /// Whether any label has rules.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    fn set_all_rules(&mut self) {
        self.rules = Map::default();
        let vertices = self.vertex_labels.all();
        let vertices = vertices.map(|label| IndexBase::Vertex(label.id));
        let edges = self.edge_labels.all();
        let edges = edges.map(|label| IndexBase::Edge(label.id));
        for base in vertices.chain(edges).collect::<Vec<_>>() {
            self.set_rules(base);
        }
    }

    fn set_rules(&mut self, base: IndexBase) {
        let all = self.definitions.iter();
        let rules = all.filter(|one| one.of.kind.is_rule() && one.covers(self, base));
        let rules: Vec<_> = rules.cloned().collect();
        if !rules.is_empty() {
            self.rules.insert_mut(base, rules);
        }
    }

    /// The index labels that a write of an element on `base` must keep up to date.
    pub(crate) fn kept_on(&self, base: IndexBase) -> &[Arc<IndexLabel>] {
        self.kept.get(&base).map_or(&[], |l| l)
    }

    /// Every vertex label, including removed ones, by ascending id.
    pub fn vertex_labels_ever(&self) -> impl Iterator<Item = &Arc<VertexLabel>> {
        self.vertex_labels.all()
    }

    /// Every edge label, including removed ones, by ascending id.
    pub fn edge_labels_ever(&self) -> impl Iterator<Item = &Arc<EdgeLabel>> {
        self.edge_labels.all()
    }

    /// The number of changes since the graph was opened: equal numbers mean equal schemas.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Returns the index labels that a write of a vertex of this label must keep up to date: those
    /// that are in use, being built or being rebuilt, by ascending id. [`is_queryable`] returns
    /// whether a query may use one.
    #[must_use]
    pub fn indexes_of_vertex_label(&self, id: VertexLabelId) -> &[Arc<IndexLabel>] {
        self.kept.get(&IndexBase::Vertex(id)).map_or(&[], |l| l)
    }

    /// Returns the index labels that a write of an edge of this label must keep up to date, as
    /// [`Schema::indexes_of_vertex_label`].
    #[must_use]
    pub fn indexes_of_edge_label(&self, id: EdgeLabelId) -> &[Arc<IndexLabel>] {
        self.kept.get(&IndexBase::Edge(id)).map_or(&[], |l| l)
    }

    /// Returns every index label on `base` that is not removed, with any status, by ascending id.
    #[must_use]
    pub fn indexes_on(&self, base: IndexBase) -> &[Arc<IndexLabel>] {
        self.shown.get(&base).map_or(&[], |l| l)
    }

    /// The SUB labels of a PARENT label, by ascending id.
    pub fn sub_labels(&self, parent: EdgeLabelId) -> impl Iterator<Item = &Arc<EdgeLabel>> {
        let subs = self.sub_labels_ever(parent);
        subs.filter(|label| label.is_visible())
    }

    /// Returns the SUB labels that a PARENT label has or had, including removed ones, by ascending
    /// id.
    pub fn sub_labels_ever(&self, parent: EdgeLabelId) -> impl Iterator<Item = &Arc<EdgeLabel>> {
        let subs = self.subs.get(&parent);
        subs.into_iter().flat_map(RedBlackTreeMapSync::values)
    }

    /// Returns the name of a property key, for messages and answers; `~undefined` if no key ever
    /// had that id.
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

    /// The property key of that id, even when it was removed, or the property that is presented
    /// under that id.
    #[must_use]
    pub fn property_key(&self, id: PropertyKeyId) -> Option<&Arc<PropertyKey>> {
        match &self.presentation {
            Some(presentation) if Presentation::has_id(id) => presentation.key(id),
            _ => self.stored_property_key(id),
        }
    }

    /// How queries see the elements; `None` = as they are stored.
    #[must_use]
    pub fn presentation(&self) -> Option<&Presentation> {
        self.presentation.as_deref()
    }

    /// The properties that queries see in vertices of a label.
    #[must_use]
    pub fn seen_in_vertices(&self, label: &VertexLabel) -> Vec<PropertyKeyId> {
        let presented = |it: &Presentation| it.vertex_keys(label.id).to_vec();
        self.seen(&label.properties, presented)
    }

    /// The properties that queries see in edges of a label.
    #[must_use]
    pub fn seen_in_edges(&self, label: &EdgeLabel) -> Vec<PropertyKeyId> {
        let presented = |it: &Presentation| it.edge_keys(label.id).to_vec();
        self.seen(&label.properties, presented)
    }

    fn seen(
        &self,
        declared: &[PropertyKeyId],
        presented: impl FnOnce(&Presentation) -> Vec<PropertyKeyId>,
    ) -> Vec<PropertyKeyId> {
        let Some(presentation) = self.presentation() else {
            return declared.to_vec();
        };
        let stored = declared.iter().copied();
        let stored = stored.filter(|key| !presentation.replaces(*key));
        stored.chain(presented(presentation)).collect()
    }

    pub(super) fn present(&mut self, presentation: Option<Arc<Presentation>>) {
        self.presentation = presentation;
    }

    /// The names of property keys, in the order of `ids`.
    #[must_use]
    pub fn property_key_names(&self, ids: &[PropertyKeyId]) -> Vec<&str> {
        ids.iter().map(|id| self.property_key_name(*id)).collect()
    }

    /// How the schema is made.
    #[must_use]
    pub const fn mode(&self) -> SchemaMode {
        self.mode
    }

    /// Whether labels and keys are created on first use.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.mode, SchemaMode::Open)
    }

    /// Which properties are visible to queries.
    #[must_use]
    pub const fn read_mode(&self) -> ReadMode {
        self.read_mode
    }

    /// Whether this property is hidden from queries: it is an OLAP property, and the read mode is
    /// OLTP_ONLY.
    #[must_use]
    pub fn hides(&self, key: PropertyKeyId) -> bool {
        self.read_mode == ReadMode::OltpOnly && self.is_olap_key(key)
    }

    /// Returns the property keys that are visible to queries.
    pub(crate) fn shown<'k>(&self, keys: &'k [PropertyKeyId]) -> Cow<'k, [PropertyKeyId]> {
        match keys.iter().any(|key| self.hides(*key)) {
            false => Cow::Borrowed(keys),
            true => keys
                .iter()
                .copied()
                .filter(|key| !self.hides(*key))
                .collect(),
        }
    }

    /// Whether any OLAP property key exists or existed.
    #[must_use]
    pub(crate) const fn has_olap_keys(&self) -> bool {
        !self.olap_keys.is_empty()
    }

    pub(crate) fn is_olap_key(&self, key: PropertyKeyId) -> bool {
        self.olap_keys.binary_search(&key).is_ok()
    }

    pub(super) fn set_read_mode(&mut self, mode: ReadMode) {
        self.read_mode = mode;
    }

    pub(super) fn set_mode(&mut self, mode: SchemaMode) {
        self.mode = mode;
    }

    pub(super) fn next_version(&mut self) {
        self.version += 1;
    }

    pub(crate) fn put_property_key(&mut self, element: PropertyKey) -> Arc<PropertyKey> {
        let element = Arc::new(element);
        if element.write_type.is_olap()
            && let Err(at) = self.olap_keys.binary_search(&element.id)
        {
            self.olap_keys.insert(at, element.id);
        }
        self.property_keys.put(Arc::clone(&element));
        element
    }

    pub(crate) fn put_vertex_label(&mut self, element: VertexLabel) -> Arc<VertexLabel> {
        let element = Arc::new(element);
        let base = IndexBase::Vertex(element.id);
        for index in self.kept.get(&IndexBase::Olap).cloned().unwrap_or_default() {
            place(&mut self.kept, base, &index, true);
        }
        self.vertex_labels.put(Arc::clone(&element));
        self.set_rules(base);
        element
    }

    pub(crate) fn put_edge_label(&mut self, element: EdgeLabel) -> Arc<EdgeLabel> {
        let element = Arc::new(element);
        if let Some(parent) = element.parent {
            let mut subs = self.subs.get(&parent).cloned().unwrap_or_default();
            subs.insert_mut(element.id, Arc::clone(&element));
            self.subs.insert_mut(parent, subs);
        }
        self.edge_labels.put(Arc::clone(&element));
        self.set_rules(IndexBase::Edge(element.id));
        element
    }

    pub(crate) fn put_index_label(&mut self, element: IndexLabel) -> Arc<IndexLabel> {
        let element = Arc::new(element);
        let (base, usable) = (element.base, element.is_usable());
        place(&mut self.shown, base, &element, element.is_visible());
        place(&mut self.kept, base, &element, usable);
        // Vertices of any label may have OLAP properties.
        if base == IndexBase::Olap {
            let labels: Vec<_> = self.vertex_labels.all().map(|label| label.id).collect();
            for label in labels {
                place(&mut self.kept, IndexBase::Vertex(label), &element, usable);
            }
        }
        self.index_labels.put(Arc::clone(&element));
        element
    }
}

/// Puts `element` into the list of `base`, or removes it if it does not belong there.
fn place(lists: &mut IndexLists, base: IndexBase, element: &Arc<IndexLabel>, belongs: bool) {
    let mut list = lists.get(&base).cloned().unwrap_or_default();
    match list.binary_search_by_key(&element.id, |each| each.id) {
        Ok(at) if belongs => list[at] = Arc::clone(element),
        Ok(at) => drop(list.remove(at)),
        Err(at) if belongs => list.insert(at, Arc::clone(element)),
        Err(_) => return,
    }
    lists.insert_mut(base, list);
}

/// Whether queries may use an index label: only if it is complete, not while it is being built or
/// rebuilt.
#[must_use]
pub fn is_queryable(index: &IndexLabel) -> bool {
    index.status == varve_model::schema::SchemaStatus::Created
}
