//! Instances in an answer: each is checked and skipped, and its GUID is added to a list if the
//! caller wants one.

use std::borrow::Cow;

use varve_omrs::json::{JsonError, Reader};

use super::super::checked::Checked;
use super::Guids;

/// The kind of an instance, which determines its classes and the content besides its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstanceKind {
    Entity,
    Summary,
    Proxy,
    Relationship,
    Classification,
}

impl InstanceKind {
    const fn classes(self) -> &'static [&'static str] {
        match self {
            Self::Entity => &["EntityDetail"],
            Self::Summary => &["EntitySummary", "EntityDetail", "EntityProxy"],
            Self::Proxy => &["EntityProxy"],
            Self::Relationship => &["Relationship"],
            Self::Classification => &["Classification"],
        }
    }
}

const TYPE_CLASSES: &[&str] = &["InstanceType"];

const PROPERTIES_CLASSES: &[&str] = &["InstanceProperties"];

const VALUE_CLASSES: &[&str] = &[
    "PrimitivePropertyValue",
    "EnumPropertyValue",
    "StructPropertyValue",
    "MapPropertyValue",
    "ArrayPropertyValue",
];

pub(super) fn expect_class(reader: &mut Reader<'_>, classes: &[&str]) -> Result<(), JsonError> {
    let class = reader.string()?;
    match classes.contains(&class.as_ref()) {
        true => Ok(()),
        false => {
            let message = format!("class {class} where {} was expected", classes[0]);
            Err(reader.error(message))
        }
    }
}

/// Skips an object of one of these classes.
fn pass(reader: &mut Reader<'_>, classes: &[&str]) -> Result<(), JsonError> {
    match reader.class()? {
        Some(class) if classes.contains(&class.as_ref()) => reader.skip(),
        Some(class) => {
            let message = format!("class {class} where {} was expected", classes[0]);
            Err(reader.error(message))
        }
        None => Err(reader.error(format!("{} was expected, without a class", classes[0]))),
    }
}

/// Skips properties, whose values must be of known classes.
fn pass_properties(reader: &mut Reader<'_>) -> Result<(), JsonError> {
    let mut has_class = false;
    reader.object(|reader, key| match key {
        "class" => {
            has_class = true;
            expect_class(reader, PROPERTIES_CLASSES)
        }
        "instanceProperties" => reader.object(|reader, _| pass(reader, VALUE_CLASSES)),
        _ => reader.skip(),
    })?;
    match has_class {
        true => Ok(()),
        false => Err(reader.error("properties without a class")),
    }
}

/// Skips an instance. Its GUID is added to `guids`, if given; classifications have none.
pub(super) fn pass_instance(
    reader: &mut Reader<'_>,
    kind: InstanceKind,
    mut guids: Option<&mut Guids>,
    checked: &mut Checked,
) -> Result<(), JsonError> {
    let (mut has_class, mut guid) = (false, Cow::Borrowed(""));
    let mut has_ends = [kind != InstanceKind::Relationship; 2];
    reader.object(|reader, key| match key {
        "class" => {
            has_class = true;
            expect_class(reader, kind.classes())
        }
        "guid" => {
            guid = reader.string()?;
            if let Some(guids) = &mut guids {
                guids.push(&guid);
            }
            Ok(())
        }
        "type" => pass(reader, TYPE_CLASSES),
        "properties" | "uniqueProperties" => pass_properties(reader),
        "classifications" => checked.pass(&guid, reader, |reader, checked| {
            reader.list(|reader| pass_instance(reader, InstanceKind::Classification, None, checked))
        }),
        "entityOneProxy" | "entityTwoProxy" => {
            has_ends[usize::from(key == "entityTwoProxy")] = true;
            pass_instance(reader, InstanceKind::Proxy, None, checked)
        }
        _ => reader.skip(),
    })?;
    let has_guid = kind == InstanceKind::Classification || !guid.is_empty();
    match (has_class, has_guid, has_ends) {
        (true, true, [true, true]) => Ok(()),
        (false, ..) => Err(reader.error("an instance without a class")),
        (_, false, _) => Err(reader.error("an instance without a GUID")),
        _ => Err(reader.error("a relationship without an end")),
    }
}
