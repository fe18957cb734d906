//! Reads answers. One pass checks the whole answer and keeps what later calls need, without
//! building objects. Bytes that were already checked ([`Checked`]) are not checked again: most of
//! the content of graph walks is the classifications of a few entities, repeated.
//!
//! The checks are those of a client that builds objects:
//! - the document is UTF-8 and JSON,
//! - the classes of the response and of its instances, with their types, properties, values,
//!   classifications and ends,
//! - instances have GUIDs, and relationships two ends.
//!
//! The result is the call's outcome, the number of instances, and the GUIDs that later calls use.

mod instances;

use varve_omrs::json::{Decode as _, JsonError, Limits, RawJson, Reader};

use super::checked::Checked;
use instances::{InstanceKind, count_instances, expect_class, list_instances, pass_instance};

/// The longest answer in bytes: a walk through the whole graph is long.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 30;
/// The limits of an answer.
const LIMITS: Limits = Limits {
    bytes: ANSWER_BYTES_MAX,
    depth: 128,
    values: usize::MAX,
    string_bytes: 64 << 20,
};
/// The default of `relatedHTTPCode`.
const OK: i64 = 200;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The HTTP status that corresponds to the outcome.
    pub(crate) code: i64,
    /// The Java class of the exception.
    pub(crate) exception: Option<String>,
    pub(crate) message: Option<String>,
}

/// The content of an answer.
pub(crate) trait Answer: Default {
    /// The class of the response.
    const CLASS: &'static str;

    /// Reads the value of property `key` if it is kept; otherwise reads nothing and returns
    /// `false`.
    ///
    /// # Errors
    /// When the value violates the contract.
    fn read(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        checked: &mut Checked,
    ) -> Result<bool, JsonError>;

    /// The number of instances in the answer.
    fn instances(&self) -> u64;

    /// Whether it has no instances although it could.
    fn is_empty(&self) -> bool {
        self.instances() == 0
    }
}

/// An answer with a list of instances.
pub(crate) trait Listing: Answer {
    /// The GUIDs of the instances.
    fn guids(&self) -> &Guids;
}

/// Reads a whole answer.
///
/// # Errors
/// When it is not JSON, or not an answer of this kind.
pub(crate) fn read<A: Answer>(
    document: &[u8],
    checked: &mut Checked,
) -> Result<(Envelope, A), JsonError> {
    let mut reader = Reader::new(document, LIMITS)?;
    let mut answer = A::default();
    let mut envelope = Envelope {
        code: OK,
        exception: None,
        message: None,
    };
    let mut has_class = false;
    reader.object(|reader, key| {
        match key {
            "class" => {
                expect_class(reader, &[A::CLASS])?;
                has_class = true;
            }
            "relatedHTTPCode" => envelope.code = reader.integer()?,
            "exceptionClassName" => envelope.exception = Some(reader.string()?.into_owned()),
            "exceptionErrorMessage" => envelope.message = Some(reader.string()?.into_owned()),
            _ if answer.read(key, reader, checked)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    reader.end()?;
    // An answer with an exception needs no class.
    if !has_class && envelope.exception.is_none() {
        return Err(reader.error("the answer has no class"));
    }
    Ok((envelope, answer))
}

/// GUIDs in order, stored in one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Guids {
    text: String,
    ends: Vec<usize>,
}

impl Guids {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let begin = match at {
            0 => 0,
            _ => *self.ends.get(at - 1)?,
        };
        Some(&self.text[begin..*self.ends.get(at)?])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..).map_while(|at| self.get(at))
    }

    pub(crate) fn push(&mut self, guid: &str) {
        self.text.push_str(guid);
        self.ends.push(self.text.len());
    }
}

impl<'a> FromIterator<&'a str> for Guids {
    fn from_iter<I: IntoIterator<Item = &'a str>>(guids: I) -> Self {
        let mut all = Self::default();
        guids.into_iter().for_each(|guid| all.push(guid));
        all
    }
}

/// An answer with an outcome only.
#[derive(Debug, Default)]
pub(crate) struct NothingAnswer;

impl Answer for NothingAnswer {
    const CLASS: &'static str = "VoidResponse";

    fn read(&mut self, _: &str, _: &mut Reader<'_>, _: &mut Checked) -> Result<bool, JsonError> {
        Ok(false)
    }

    fn instances(&self) -> u64 {
        0
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// The identity of the metadata collection.
#[derive(Debug, Default)]
pub(crate) struct CollectionAnswer {
    pub(crate) id: Option<String>,
}

impl Answer for CollectionAnswer {
    const CLASS: &'static str = "MetadataCollectionIdResponse";

    fn read(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        _: &mut Checked,
    ) -> Result<bool, JsonError> {
        let is_it = key == "metadataCollectionId";
        if is_it {
            self.id = Some(reader.string()?.into_owned());
        }
        Ok(is_it)
    }

    fn instances(&self) -> u64 {
        0
    }
}

/// Declares an answer with one instance or none.
macro_rules! one {
    ($(#[$meta:meta])* $name:ident = $class:literal $key:literal $kind:ident) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(crate) struct $name {
            count: u64,
        }

        impl Answer for $name {
            const CLASS: &'static str = $class;

            fn read(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        checked: &mut Checked,
    ) -> Result<bool, JsonError> {
                if key != $key {
                    return Ok(false);
                }
                self.count = 1;
                pass_instance(reader, InstanceKind::$kind, None, checked)?;
                Ok(true)
            }

            fn instances(&self) -> u64 {
                self.count
            }
        }
    };
}

/// Declares an answer with a list of instances.
macro_rules! many {
    ($(#[$meta:meta])* $name:ident = $class:literal $key:literal $kind:ident) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(crate) struct $name {
            guids: Guids,
        }

        impl Answer for $name {
            const CLASS: &'static str = $class;

            fn read(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        checked: &mut Checked,
    ) -> Result<bool, JsonError> {
                if key != $key {
                    return Ok(false);
                }
                list_instances(reader, InstanceKind::$kind, &mut self.guids, checked)?;
                Ok(true)
            }

            fn instances(&self) -> u64 {
                self.guids.len() as u64
            }
        }

        impl Listing for $name {
            fn guids(&self) -> &Guids {
                &self.guids
            }
        }
    };
}

one! {
    /// An entity.
    EntityAnswer = "EntityDetailResponse" "entity" Entity
}
one! {
    /// An entity without its properties.
    SummaryAnswer = "EntitySummaryResponse" "entity" Summary
}
one! {
    /// A relationship.
    RelationshipAnswer = "RelationshipResponse" "relationship" Relationship
}
many! {
    /// Entities.
    EntitiesAnswer = "EntityListResponse" "entities" Entity
}
many! {
    /// Relationships.
    RelationshipsAnswer = "RelationshipListResponse" "relationships" Relationship
}

/// A part of the graph.
#[derive(Debug, Default)]
pub(crate) struct GraphAnswer {
    entities: u64,
    relationships: u64,
}

impl Answer for GraphAnswer {
    const CLASS: &'static str = "InstanceGraphResponse";

    fn read(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        checked: &mut Checked,
    ) -> Result<bool, JsonError> {
        match key {
            "entityElementList" => {
                count_instances(reader, InstanceKind::Entity, &mut self.entities, checked)?;
            }
            "relationshipElementList" => {
                count_instances(
                    reader,
                    InstanceKind::Relationship,
                    &mut self.relationships,
                    checked,
                )?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn instances(&self) -> u64 {
        self.entities + self.relationships
    }
}

/// Entities that are sent back unchanged.
#[derive(Debug, Default)]
pub(crate) struct WholeEntitiesAnswer {
    pub(crate) entities: Vec<RawJson>,
}

impl Answer for WholeEntitiesAnswer {
    const CLASS: &'static str = EntitiesAnswer::CLASS;

    fn read(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        checked: &mut Checked,
    ) -> Result<bool, JsonError> {
        if key != "entities" {
            return Ok(false);
        }
        reader.list(|reader| {
            pass_instance(&mut reader.clone(), InstanceKind::Entity, None, checked)?;
            self.entities.push(RawJson::decode(reader)?);
            Ok(())
        })?;
        Ok(true)
    }

    fn instances(&self) -> u64 {
        self.entities.len() as u64
    }
}

/// The classification `name` of an entity, if it has one.
///
/// # Errors
/// When the entity or one of its classifications violates the contract.
pub(crate) fn classification(entity: &RawJson, name: &str) -> Result<Option<RawJson>, JsonError> {
    let mut found = None;
    let mut reader = Reader::new(entity.text().as_bytes(), LIMITS)?;
    reader.object(|reader, key| match key {
        "classifications" => reader.list(|reader| {
            let mut is_it = false;
            reader.clone().object(|reader, key| {
                if key == "name" {
                    is_it = reader.string()? == name;
                    return Ok(());
                }
                reader.skip()
            })?;
            match is_it {
                true => found = Some(RawJson::decode(reader)?),
                false => reader.skip()?,
            }
            Ok(())
        }),
        _ => reader.skip(),
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests;
