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
use instances::{InstanceKind, expect_class, pass_instance};

/// The longest answer in bytes: a walk through the whole graph is long.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 30;
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

/// A kind of answers: its class, and where the instances are.
#[derive(Debug)]
pub(crate) struct Form {
    class: &'static str,
    /// The properties with instances.
    instances: &'static [(&'static str, InstanceKind)],
    keep: Keep,
}

/// What is kept of an answer besides the number of its instances.
#[derive(Debug, PartialEq, Eq)]
enum Keep {
    Nothing,
    /// The GUIDs of a list.
    Guids,
    /// The instances of a list, to be sent back unchanged.
    Whole,
}

use InstanceKind::{Entity, Relationship, Summary};

/// An answer with an outcome only.
pub(crate) const NOTHING: Form = Form::new("VoidResponse", &[], Keep::Nothing);
/// The identity of the metadata collection.
pub(crate) const COLLECTION: Form = Form::new("MetadataCollectionIdResponse", &[], Keep::Nothing);
pub(crate) const ENTITY: Form =
    Form::new("EntityDetailResponse", &[("entity", Entity)], Keep::Nothing);
/// An entity without its properties.
pub(crate) const SUMMARY: Form = Form::new(
    "EntitySummaryResponse",
    &[("entity", Summary)],
    Keep::Nothing,
);
pub(crate) const RELATIONSHIP: Form = Form::new(
    "RelationshipResponse",
    &[("relationship", Relationship)],
    Keep::Nothing,
);
pub(crate) const ENTITIES: Form =
    Form::new("EntityListResponse", &[("entities", Entity)], Keep::Guids);
/// Entities that are sent back.
pub(crate) const WHOLE_ENTITIES: Form = Form {
    keep: Keep::Whole,
    ..ENTITIES
};
pub(crate) const RELATIONSHIPS: Form = Form::new(
    "RelationshipListResponse",
    &[("relationships", Relationship)],
    Keep::Guids,
);
/// A part of the graph.
pub(crate) const GRAPH: Form = Form::new(
    "InstanceGraphResponse",
    &[
        ("entityElementList", Entity),
        ("relationshipElementList", Relationship),
    ],
    Keep::Nothing,
);

impl Form {
    const fn new(
        class: &'static str,
        instances: &'static [(&'static str, InstanceKind)],
        keep: Keep,
    ) -> Self {
        Self {
            class,
            instances,
            keep,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The number of instances.
    pub(crate) instances: u64,
    /// Whether it has no instances although it could.
    pub(crate) is_empty: bool,
    pub(crate) guids: Guids,
    pub(crate) whole: Vec<RawJson>,
    /// The id of the metadata collection.
    pub(crate) collection: Option<String>,
}

impl Answer {
    /// Reads an instance, or one of a list.
    fn add(
        &mut self,
        (form, kind): (&Form, InstanceKind),
        reader: &mut Reader<'_>,
        checked: &mut Checked,
    ) -> Result<(), JsonError> {
        self.instances += 1;
        match form.keep {
            Keep::Nothing => pass_instance(reader, kind, None, checked),
            Keep::Guids => pass_instance(reader, kind, Some(&mut self.guids), checked),
            Keep::Whole => {
                pass_instance(&mut reader.clone(), kind, None, checked)?;
                self.whole.push(RawJson::decode(reader)?);
                Ok(())
            }
        }
    }
}

/// Reads a whole answer.
///
/// # Errors
/// When it is not JSON, or not an answer of this form.
pub(crate) fn read(
    document: &[u8],
    form: &Form,
    checked: &mut Checked,
) -> Result<(Envelope, Answer), JsonError> {
    let mut reader = Reader::new(document, LIMITS)?;
    let mut answer = Answer::default();
    let mut envelope = Envelope {
        code: OK,
        exception: None,
        message: None,
    };
    let mut has_class = false;
    reader.object(|reader, key| {
        match key {
            "class" => {
                expect_class(reader, &[form.class])?;
                has_class = true;
            }
            "relatedHTTPCode" => envelope.code = reader.integer()?,
            "exceptionClassName" => envelope.exception = Some(reader.string()?.into_owned()),
            "exceptionErrorMessage" => envelope.message = Some(reader.string()?.into_owned()),
            "metadataCollectionId" => answer.collection = Some(reader.string()?.into_owned()),
            _ => match form.instances.iter().find(|(name, _)| *name == key) {
                Some((_, kind)) if matches!(key, "entity" | "relationship") => {
                    answer.add((form, *kind), reader, checked)?;
                }
                Some((_, kind)) => {
                    reader.list(|reader| answer.add((form, *kind), reader, checked))?;
                }
                None => reader.skip()?,
            },
        }
        Ok(())
    })?;
    reader.end()?;
    // An answer with an exception needs no class.
    if !has_class && envelope.exception.is_none() {
        return Err(reader.error("the answer has no class"));
    }
    answer.is_empty = answer.instances == 0 && !form.instances.is_empty();
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
