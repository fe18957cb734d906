//! An instance as a walk visits it: a stored row whose parts are decoded when they are needed.
//! Searches need only the header or one property of most instances.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::ControlFlow;

use varve_encoding::datum::Cursor;
use varve_encoding::row::{edge_parts, vertex_parts};
use varve_graph::GraphError;
use varve_model::ElementId;

use super::audit::{Audit, Head};
use super::carried;
use super::decode::{Decoded, Decoder, Parts, classifications_named, header};
use super::properties::{properties_of, property_of};
use super::read::guid_of;
use super::state::TypesInGraph;
use crate::error::OmrsError;
use crate::instances::{
    Classification, InstanceAuditHeader, InstanceHeader, InstanceProperties, InstancePropertyValue,
    Primitive,
};
use crate::json::{Millis, Shared};
use crate::matching::{Carried, Facts, FieldValue, header_field};
use crate::store::{Candidate, LifeStatus};
use crate::types::{Catalogue, ResolvedType, TypeIndex};

/// An entity or relationship as a walk visits it: the content of its row.
pub struct Row<'a> {
    decoder: Decoder<'a>,
    id: &'a ElementId,
    guid: &'a str,
    content: &'a [u8],
    of: Option<TypeIndex>,
    parts: Parts<'a>,
    head: Head<'a>,
    header: OnceCell<InstanceHeader>,
    properties: OnceCell<Option<InstanceProperties>>,
    classifications: OnceCell<Shared<Vec<Classification>>>,
    /// The error of a part that could not be decoded. The getter returned an empty value instead.
    failed: Cell<Option<GraphError>>,
}

impl TypesInGraph {
    /// The row of an element's content.
    pub(super) fn row<'a>(
        &'a self,
        id: &'a ElementId,
        content: &'a [u8],
    ) -> Result<Row<'a>, GraphError> {
        let (of, properties) = match id {
            ElementId::Vertex(_) => {
                let (label, properties) = vertex_parts(content)?;
                (self.entity_type(label.0), properties)
            }
            ElementId::Edge(id) => {
                let (_, _, properties) = edge_parts(content)?;
                (self.relationship_type(id.label.0), properties)
            }
        };
        let parts = Parts::of(properties, self.keys)?;
        Row::new(self.decoder(), (id, content), of, parts)
    }
}

/// One instance of a walk.
pub struct Step<'a> {
    /// Its position, for [`Walk::after`](crate::store::Walk::after).
    pub place: &'a [u8],
    /// The known part of the value that orders the instance, if the index has only the start of the
    /// value. Instances with the same known part are adjacent, in no order. `None` = the order is
    /// fully known.
    pub alike: Option<&'a [u8]>,
    /// The instance, as it is at the reader's point of time.
    pub instance: &'a Row<'a>,
}

/// Called with each instance; `Break` ends the walk.
pub type Visit<'v> = &'v mut dyn FnMut(Step<'_>) -> Result<ControlFlow<()>, OmrsError>;

impl<'a> Row<'a> {
    /// Its GUID.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.guid
    }

    /// Its type.
    pub(crate) fn of(&self) -> Option<TypeIndex> {
        self.of
    }

    /// Its status.
    #[must_use]
    pub fn life_status(&self) -> LifeStatus {
        LifeStatus {
            is_proxy: self.head.is_proxy,
            status: self.head().status(),
        }
    }

    /// The candidate for this instance, which can be rendered after the walk.
    #[must_use]
    pub fn to_candidate(&self) -> Candidate {
        Candidate {
            id: self.id.clone(),
            content: self.content.into(),
        }
    }

    /// The row of an element's content with these parts, of an instance of the type `of`.
    pub(super) fn new(
        decoder: Decoder<'a>,
        (id, content): (&'a ElementId, &'a [u8]),
        of: Option<TypeIndex>,
        parts: Parts<'a>,
    ) -> Result<Self, GraphError> {
        let guid = match id {
            ElementId::Vertex(id) => guid_of(id)?,
            ElementId::Edge(id) => &id.sort_values,
        };
        Ok(Self {
            decoder,
            id,
            guid,
            content,
            of,
            head: Head::read(parts.header)?,
            parts,
            header: OnceCell::new(),
            properties: OnceCell::new(),
            classifications: OnceCell::new(),
            failed: Cell::new(None),
        })
    }

    /// The audit header.
    pub(super) fn head(&self) -> &Audit<'a> {
        &self.head.audit
    }

    /// Fails if any part that was needed could not be decoded.
    pub(super) fn checked(&self) -> Result<(), GraphError> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn resolved(&self) -> Option<&'a ResolvedType> {
        let types: &'a Catalogue = self.decoder.types;
        self.of.map(|of| types.get(of))
    }

    /// Takes a decoded part, or an empty one and the error.
    fn made<T: Default>(&self, read: Decoded<T>) -> T {
        read.unwrap_or_else(|error| {
            self.failed.set(Some(error.into()));
            T::default()
        })
    }

    fn made_header(&self) -> &InstanceHeader {
        self.header.get_or_init(|| {
            let header = header(self.guid, self.resolved(), self.parts.header);
            self.made(header.map(|(header, _)| header))
        })
    }
}

impl Facts for Row<'_> {
    fn audit(&self) -> &InstanceAuditHeader {
        &self.made_header().audit
    }

    fn header(&self) -> Option<&InstanceHeader> {
        Some(self.made_header())
    }

    fn properties(&self) -> Option<&InstanceProperties> {
        let all = self
            .properties
            .get_or_init(|| self.made(properties_of(&self.parts, self.resolved())));
        all.as_ref()
    }

    fn classifications(&self) -> Carried<'_> {
        let Some(bytes) = self.parts.classifications else {
            return Carried::NONE;
        };
        Carried::these(self.classifications.get_or_init(|| {
            self.made(carried::shared(
                self.decoder.types,
                self.decoder.made,
                bytes,
            ))
        }))
    }

    fn property(&self, name: &str) -> Option<Cow<'_, InstancePropertyValue>> {
        if let Some(all) = self.properties.get() {
            return all.as_ref()?.get(name).map(Cow::Borrowed);
        }
        let bytes = self.parts.properties?;
        let found = property_of(&mut Cursor::new(bytes), self.resolved(), name);
        self.made(found).map(Cow::Owned)
    }

    fn field(&self, name: &str) -> Option<FieldValue<'_>> {
        let time = |time: Option<Millis>| {
            let time = time?;
            Some(FieldValue::Number(Primitive::Date(time)))
        };
        let head = self.head();
        match name {
            "metadataCollectionId" => head.home().map(FieldValue::Text),
            "version" => Some(FieldValue::Number(Primitive::Long(head.version()))),
            "status" => head.status().map(|of| FieldValue::Text(of.name())),
            "createTime" => time(head.create_time()),
            "updateTime" => time(head.update_time()),
            "guid" => Some(FieldValue::Text(self.guid)),
            _ => header_field(self, name),
        }
    }

    fn create_time(&self) -> Option<Millis> {
        self.head().create_time()
    }

    fn update_time(&self) -> Option<Millis> {
        self.head().update_time()
    }

    fn any_classification(
        &self,
        name: &str,
        test: &mut dyn FnMut(&Classification) -> bool,
    ) -> bool {
        if self.classifications.get().is_some() {
            return self.classifications().any_named(name, test);
        }
        let Some(bytes) = self.parts.classifications else {
            return false;
        };
        let named = self.made(classifications_named(self.decoder.types, bytes, name));
        named.iter().any(test)
    }
}
