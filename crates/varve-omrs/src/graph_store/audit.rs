//! Stored headers, read without copying. They are then decoded, or rendered as JSON directly.
//! Values that are stored as JSON are parsed only then; searches and purges skip them.

use std::collections::BTreeMap;

use varve_encoding::datum::{Cursor, Token};

use super::decode::{Decoded, int, map, named, optional_int, raw_json, text};
use crate::instances::{InstanceAuditHeader, InstanceHeader, InstanceProvenanceType, InstanceType};
use crate::json::{self, Encode, Limits, Millis, RawJson, Shared, Writer};
use crate::types::{InstanceStatus, ResolvedType};

/// An audit header that is being read. It states its type in full (`said_type`), or only the type's
/// version; then the rest comes from the catalogue.
pub(super) struct Audit<'a> {
    header_version: Option<i64>,
    type_version: Option<i64>,
    said_type: Option<&'a str>,
    provenance: Option<InstanceProvenanceType>,
    metadata_collection_id: Option<&'a str>,
    metadata_collection_name: Option<&'a str>,
    replicated_by: Option<&'a str>,
    license: Option<&'a str>,
    created_by: Option<&'a str>,
    updated_by: Option<&'a str>,
    maintained_by: Vec<&'a str>,
    create_time: Option<Millis>,
    update_time: Option<Millis>,
    version: i64,
    status: Option<InstanceStatus>,
    status_on_delete: Option<InstanceStatus>,
    mapping_properties: Option<Mapping<'a>>,
}

/// The values of members that are not stored.
impl Default for Audit<'_> {
    fn default() -> Self {
        Self {
            header_version: Some(1),
            type_version: None,
            said_type: None,
            provenance: Some(InstanceProvenanceType::LocalCohort),
            metadata_collection_id: None,
            metadata_collection_name: None,
            replicated_by: None,
            license: None,
            created_by: None,
            updated_by: None,
            maintained_by: Vec::new(),
            create_time: None,
            update_time: None,
            version: 0,
            status: Some(InstanceStatus::Active),
            status_on_delete: None,
            mapping_properties: None,
        }
    }
}

impl<'a> Audit<'a> {
    /// Reads the value of the member `name`, or skips it if it is not part of an audit header.
    pub(super) fn read(&mut self, name: &str, cursor: &mut Cursor<'a>) -> Decoded<()> {
        match name {
            "hv" => self.header_version = optional_int(cursor)?,
            "tv" => self.type_version = Some(int(cursor)?),
            "ty" => self.said_type = Some(text(cursor)?),
            "pr" => self.provenance = named(cursor, InstanceProvenanceType::from_name)?,
            "mc" => self.metadata_collection_id = Some(text(cursor)?),
            "mn" => self.metadata_collection_name = Some(text(cursor)?),
            "rb" => self.replicated_by = Some(text(cursor)?),
            "li" => self.license = Some(text(cursor)?),
            "cb" => self.created_by = Some(text(cursor)?),
            "ub" => self.updated_by = Some(text(cursor)?),
            "mb" => {
                let Token::List(count) = cursor.token()? else {
                    return Err(cursor.error());
                };
                for _ in 0..count {
                    self.maintained_by.push(text(cursor)?);
                }
            }
            "ct" => self.create_time = Some(Millis(int(cursor)?)),
            "ut" => self.update_time = Some(Millis(int(cursor)?)),
            "v" => self.version = int(cursor)?,
            "st" => self.status = named(cursor, InstanceStatus::from_name)?,
            "sd" => self.status_on_delete = named(cursor, InstanceStatus::from_name)?,
            "mp" => self.mapping_properties = Some(Mapping::read(cursor)?),
            _ => cursor.skip()?,
        }
        Ok(())
    }

    /// Whether the stored header states its type in full, because the type differs from the
    /// catalogue's.
    pub(super) fn says_type(&self) -> bool {
        self.said_type.is_some()
    }

    /// The id of the home metadata collection.
    pub(super) fn home(&self) -> Option<&'a str> {
        self.metadata_collection_id
    }

    /// When the instance was created.
    pub(super) fn create_time(&self) -> Option<Millis> {
        self.create_time
    }

    /// When the instance was last updated.
    pub(super) fn update_time(&self) -> Option<Millis> {
        self.update_time
    }

    /// The instance's version number.
    pub(super) fn version(&self) -> i64 {
        self.version
    }

    /// The instance's status.
    pub(super) fn status(&self) -> Option<InstanceStatus> {
        self.status
    }

    /// Drops the mapping properties, which only other repositories understand.
    pub(super) fn without_mapping(mut self) -> Self {
        self.mapping_properties = None;
        self
    }

    /// The type that the header states; `None` if it states none. Fails if it refers to the
    /// catalogue and `of` is `None`, or if its JSON is damaged.
    fn instance_type(
        &self,
        of: Option<&ResolvedType>,
        cursor: &Cursor<'_>,
    ) -> Decoded<Option<Shared<InstanceType>>> {
        let Some(version) = self.type_version else {
            let Some(json) = self.said_type else {
                return Ok(None);
            };
            let said: InstanceType =
                json::decode(json.as_bytes(), Limits::KEPT).map_err(|_| cursor.error())?;
            return Ok(Some(said.into()));
        };
        let known = of.ok_or_else(|| cursor.error())?.instance_type();
        Ok(Some(if known.version == version {
            known.clone()
        } else {
            Shared::new(InstanceType {
                version,
                ..InstanceType::clone(known)
            })
        }))
    }

    /// Decodes the audit header of an instance of the catalogue's type `of`. Fails if the header
    /// refers to the type and `of` is `None`, or if stored JSON is damaged.
    pub(super) fn finish(
        self,
        of: Option<&ResolvedType>,
        cursor: &Cursor<'_>,
    ) -> Decoded<InstanceAuditHeader> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok(InstanceAuditHeader {
            instance_type: self.instance_type(of, cursor)?,
            header_version: self.header_version,
            provenance: self.provenance,
            metadata_collection_id: owned(self.metadata_collection_id),
            metadata_collection_name: owned(self.metadata_collection_name),
            replicated_by: owned(self.replicated_by),
            license: owned(self.license),
            created_by: owned(self.created_by),
            updated_by: owned(self.updated_by),
            maintained_by: self
                .maintained_by
                .iter()
                .copied()
                .map(str::to_owned)
                .collect(),
            create_time: self.create_time,
            update_time: self.update_time,
            version: self.version,
            status: self.status,
            status_on_delete: self.status_on_delete,
            mapping_properties: self.mapping(cursor)?,
        })
    }

    /// Writes the members of the audit header as JSON, in the order of [`InstanceAuditHeader`],
    /// without absent ones. Fails as [`Audit::finish`] does.
    pub(super) fn write(
        self,
        of: Option<&ResolvedType>,
        cursor: &Cursor<'_>,
        writer: &mut Writer,
    ) -> Decoded<()> {
        let instance_type = self.instance_type(of, cursor)?;
        let number = |key, number: Option<i64>, writer: &mut Writer| {
            if let Some(number) = number {
                writer.known_key(key);
                writer.integer(number);
            }
        };
        let text = |key, text: Option<&str>, writer: &mut Writer| {
            if let Some(text) = text {
                writer.known_key(key);
                writer.string(text);
            }
        };
        number("\"headerVersion\":", self.header_version, writer);
        if let Some(instance_type) = instance_type {
            writer.known_key("\"type\":");
            instance_type.encode(writer);
        }
        let provenance = self.provenance.map(InstanceProvenanceType::name);
        text("\"instanceProvenanceType\":", provenance, writer);
        text(
            "\"metadataCollectionId\":",
            self.metadata_collection_id,
            writer,
        );
        text(
            "\"metadataCollectionName\":",
            self.metadata_collection_name,
            writer,
        );
        text("\"replicatedBy\":", self.replicated_by, writer);
        text("\"instanceLicense\":", self.license, writer);
        text("\"createdBy\":", self.created_by, writer);
        text("\"updatedBy\":", self.updated_by, writer);
        if !self.maintained_by.is_empty() {
            writer.known_key("\"maintainedBy\":");
            let names = &self.maintained_by;
            writer.list(|writer| names.iter().for_each(|name| writer.string(name)));
        }
        number(
            "\"createTime\":",
            self.create_time.map(|time| time.0),
            writer,
        );
        number(
            "\"updateTime\":",
            self.update_time.map(|time| time.0),
            writer,
        );
        number("\"version\":", Some(self.version), writer);
        let status = [self.status, self.status_on_delete];
        let [status, on_delete] = status.map(|status| status.map(InstanceStatus::name));
        text("\"status\":", status, writer);
        text("\"statusOnDelete\":", on_delete, writer);
        let mapping = self.mapping(cursor)?;
        if !mapping.is_empty() {
            writer.known_key("\"mappingProperties\":");
            json::Field::write(&mapping, writer);
        }
        Ok(())
    }

    fn mapping(&self, cursor: &Cursor<'_>) -> Decoded<BTreeMap<String, RawJson>> {
        let Some(Mapping(members)) = &self.mapping_properties else {
            return Ok(BTreeMap::new());
        };
        let member =
            |(name, json): &(&str, &str)| Ok(((*name).to_owned(), raw_json(json, cursor)?));
        members.iter().map(member).collect()
    }
}

/// The stored header of an instance.
#[derive(Default)]
pub(super) struct Head<'a> {
    pub(super) audit: Audit<'a>,
    pub(super) is_proxy: bool,
    pub(super) url: Option<&'a str>,
    pub(super) earlier_guid: Option<&'a str>,
}

impl<'a> Head<'a> {
    /// Reads a header from its stored bytes.
    pub(super) fn read(bytes: &'a [u8]) -> Decoded<Self> {
        let mut head = Self::default();
        let mut cursor = Cursor::new(bytes);
        for _ in 0..map(&mut cursor)? {
            match cursor.name()? {
                "px" => head.is_proxy = cursor.token()? == Token::Bool(true),
                "url" => head.url = Some(text(&mut cursor)?),
                "rg" => head.earlier_guid = Some(text(&mut cursor)?),
                name => head.audit.read(name, &mut cursor)?,
            }
        }
        Ok(head)
    }

    /// Decodes the header of an instance of the catalogue's type `of`, and tells whether the
    /// instance is a proxy. Fails as [`Audit::finish`] does.
    pub(super) fn finish(
        self,
        guid: &str,
        of: Option<&ResolvedType>,
        cursor: &Cursor<'_>,
    ) -> Decoded<(InstanceHeader, bool)> {
        let header = InstanceHeader {
            audit: self.audit.finish(of, cursor)?,
            guid: Some(guid.to_owned()),
            instance_url: self.url.map(str::to_owned),
            re_identified_from_guid: self.earlier_guid.map(str::to_owned),
        };
        Ok((header, self.is_proxy))
    }
}

/// Stored mapping properties: each a name, and a value as JSON.
struct Mapping<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Mapping<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Decoded<Self> {
        let count = map(cursor)?;
        let members = (0..count).map(|_| Ok((cursor.name()?, text(cursor)?)));
        members.collect::<Decoded<_>>().map(Self)
    }
}
