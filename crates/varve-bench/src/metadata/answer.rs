//! Answers: each is read whole, in one pass that checks it and keeps what later calls need, without building what it holds.
//! What is the same, byte by byte, as what was checked before ([`Checked`]) is not checked again: most of what walks through
//! the graph tell are the classifications of a few entities, over and over.
//!
//! What is checked: that the document is UTF-8 and JSON; the class of the response, of every instance in it and of their
//! types, properties, values, classifications and ends, as a client that builds objects needs them; that instances have
//! GUIDs, and relationships two ends. What is kept: how the call went, how many instances came, and the GUIDs of those that are asked for next.

use std::borrow::Cow;

use varve_omrs::json::{Decode as _, JsonError, Limits, RawJson, Reader};

use super::checked::Checked;

/// The longest answer: a walk through the whole graph is long.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 30;
/// What answers may be.
const LIMITS: Limits = Limits {
    bytes: ANSWER_BYTES_MAX,
    depth: 128,
    values: usize::MAX,
    string_bytes: 64 << 20,
};
/// What `relatedHTTPCode` is where it is not written.
const OK: i64 = 200;

/// How a call went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// What an HTTP status would say of it.
    pub(crate) code: i64,
    /// The Java class of the exception.
    pub(crate) exception: Option<String>,
    pub(crate) message: Option<String>,
}

/// What a call gives.
pub(crate) trait Answer: Default {
    /// The class of its response.
    const CLASS: &'static str;

    /// Reads the value of property `key`, if it is one that is kept; otherwise reads nothing and says `false`.
    ///
    /// # Errors
    /// When the value is not what stands there by the contract.
    fn read(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        checked: &mut Checked,
    ) -> Result<bool, JsonError>;

    /// Instances that it holds.
    fn instances(&self) -> u64;

    /// Whether it holds none although it could.
    fn is_empty(&self) -> bool {
        self.instances() == 0
    }
}

/// An answer with a list of instances.
pub(crate) trait Listing: Answer {
    /// The GUIDs of what is in it.
    fn guids(&self) -> &Guids;
}

/// Reads an answer to its end.
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
    // A failure tells enough without.
    if !has_class && envelope.exception.is_none() {
        return Err(reader.error("the answer has no class"));
    }
    Ok((envelope, answer))
}

/// GUIDs in order, one text after another.
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

/// What kind an instance is of: its classes, and what it holds beside its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InstanceKind {
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

fn expect_class(reader: &mut Reader<'_>, classes: &[&str]) -> Result<(), JsonError> {
    let class = reader.string()?;
    match classes.contains(&class.as_ref()) {
        true => Ok(()),
        false => {
            let message = format!("class {class} where {} was expected", classes[0]);
            Err(reader.error(message))
        }
    }
}

/// Passes over an object of one of these classes.
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

/// Passes over properties, whose values must be of known classes.
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

/// Passes over an instance, whose GUID is added to those of the list, if there is one. Classifications have none.
fn pass_instance(
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

fn count_instances(
    reader: &mut Reader<'_>,
    kind: InstanceKind,
    count: &mut u64,
    checked: &mut Checked,
) -> Result<(), JsonError> {
    reader.list(|reader| {
        *count += 1;
        pass_instance(reader, kind, None, checked)
    })
}

fn list_instances(
    reader: &mut Reader<'_>,
    kind: InstanceKind,
    guids: &mut Guids,
    checked: &mut Checked,
) -> Result<(), JsonError> {
    reader.list(|reader| pass_instance(reader, kind, Some(guids), checked))
}

/// Nothing but how it went.
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

/// Entities that are sent back as they came.
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

/// The classification called `name` of an entity, if it carries it.
///
/// # Errors
/// When the entity or one of its classifications is not as it is by the contract.
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
mod tests {
    use super::*;

    /// Reads an answer before which there was none.
    fn read_alone<A: Answer>(text: &str) -> Result<(Envelope, A), JsonError> {
        read(text.as_bytes(), &mut Checked::default())
    }

    const TYPE: &str = r#""type":{"class":"InstanceType","typeDefName":"Asset"}"#;

    fn entity(guid: &str) -> String {
        let value = r#"{"class":"PrimitivePropertyValue","primitiveValue":1}"#;
        let properties =
            format!(r#"{{"class":"InstanceProperties","instanceProperties":{{"a":{value}}}}}"#);
        let classification =
            format!(r#"{{"class":"Classification",{TYPE},"name":"C","properties":{properties}}}"#);
        format!(
            r#"{{"class":"EntityDetail",{TYPE},"guid":"{guid}","classifications":[{classification}],"properties":{properties}}}"#
        )
    }

    fn answer(class: &str, rest: &str) -> String {
        format!(r#"{{"class":"{class}","relatedHTTPCode":200,{rest}}}"#)
    }

    fn list(entities: &[String]) -> String {
        let rest = format!(r#""offset":0,"entities":[{}]"#, entities.join(","));
        answer("EntityListResponse", &rest)
    }

    #[test]
    fn guids_come_in_order() {
        let text = list(&[entity("first"), entity("2"), entity("third")]);
        let (envelope, found) = read_alone::<EntitiesAnswer>(&text).expect("an answer");
        assert_eq!((envelope.code, envelope.exception), (200, None));
        let guids: Vec<&str> = found.guids().iter().collect();
        assert_eq!(guids, ["first", "2", "third"]);
        assert_eq!((found.instances(), found.guids().get(3)), (3, None));
        let again: Guids = guids.iter().copied().collect();
        assert_eq!(&again, found.guids());
    }

    #[test]
    fn both_lists_of_a_graph_are_counted() {
        let proxy = format!(r#"{{"class":"EntityProxy",{TYPE},"guid":"e"}}"#);
        let relationship = format!(
            r#"{{"class":"Relationship",{TYPE},"guid":"r","entityOneProxy":{proxy},"entityTwoProxy":{proxy}}}"#
        );
        let rest = format!(
            r#""entityElementList":[{}],"relationshipElementList":[{relationship},{relationship}]"#,
            entity("e")
        );
        let text = answer("InstanceGraphResponse", &rest);
        let (_, found) = read_alone::<GraphAnswer>(&text).expect("an answer");
        assert_eq!(found.instances(), 3);
        let wrong = text.replacen("EntityProxy", "EntityDetail", 1);
        read_alone::<GraphAnswer>(&wrong).expect_err("an end is a proxy");
        for end in ["One", "Two"] {
            let wrong = text.replacen(&format!(r#","entity{end}Proxy":{proxy}"#), "", 1);
            let error = read_alone::<GraphAnswer>(&wrong).expect_err("an end is missing");
            assert!(error.message().contains("end"), "{error}");
        }
    }

    #[test]
    fn an_exception_is_told_whatever_the_class() {
        let text =
            r#"{"relatedHTTPCode":404,"exceptionClassName":"a.B","exceptionErrorMessage":"no"}"#;
        let (envelope, found) = read_alone::<EntityAnswer>(text).expect("an answer");
        let told = (envelope.code, envelope.exception.as_deref());
        assert_eq!(told, (404, Some("a.B")));
        assert_eq!(envelope.message.as_deref(), Some("no"));
        assert!(found.is_empty());
    }

    #[test]
    fn every_class_is_checked_and_every_byte_read() {
        let good = list(&[entity("a")]);
        read_alone::<EntitiesAnswer>(&good).expect("an answer");
        let classes = [
            "EntityListResponse",
            "EntityDetail",
            "InstanceType",
            "Classification",
            "InstanceProperties",
            "PrimitivePropertyValue",
        ];
        for class in classes {
            let wrong = good.replace(&format!(r#""class":"{class}""#), r#""class":"Other""#);
            let error = read_alone::<EntitiesAnswer>(&wrong).expect_err(class);
            assert!(error.message().contains("Other"), "{error}");
            let without = good.replace(&format!(r#""class":"{class}","#), "");
            read_alone::<EntitiesAnswer>(&without).expect_err(class);
        }
        let nameless = good.replace(r#""guid":"a","#, "");
        let error = read_alone::<EntitiesAnswer>(&nameless).expect_err("no GUID");
        assert!(error.message().contains("GUID"), "{error}");
        let empty = good.replace(r#""guid":"a""#, r#""guid":"""#);
        read_alone::<EntitiesAnswer>(&empty).expect_err("an empty GUID");
        for length in 0..good.len() {
            read_alone::<EntitiesAnswer>(&good[..length]).expect_err("cut off");
        }
        let more = good.clone() + "1";
        read_alone::<EntitiesAnswer>(&more).expect_err("more than an answer");
        let mut not_text = good.into_bytes();
        let inside = not_text.len() - 20;
        not_text[inside] = 0xFF;
        let mut checked = Checked::default();
        read::<EntitiesAnswer>(&not_text, &mut checked).expect_err("not UTF-8");
    }

    #[test]
    fn entities_and_their_classifications_are_kept_as_they_came() {
        let text = list(&[entity("a"), entity("b")]);
        let (_, found) = read_alone::<WholeEntitiesAnswer>(&text).expect("an answer");
        let texts: Vec<&str> = found.entities.iter().map(RawJson::text).collect();
        assert_eq!(texts, [entity("a"), entity("b")]);
        let kept = classification(&found.entities[0], "C").expect("read");
        let kept = kept.expect("it carries it");
        assert!(entity("a").contains(kept.text()));
        assert!(kept.text().starts_with(r#"{"class":"Classification""#));
        let other = classification(&found.entities[0], "D").expect("read");
        assert_eq!(other, None);
        let wrong = entity("a").replace(r#""name":"C""#, r#""name":1"#);
        let wrong = RawJson::decode(&mut Reader::new(wrong.as_bytes(), LIMITS).expect("JSON"));
        classification(&wrong.expect("JSON"), "C").expect_err("a name is a text");
    }
}
