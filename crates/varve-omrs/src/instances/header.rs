//! What is known of an instance beside its content: type, origin, home, who changed it and when.

use std::collections::BTreeMap;

use crate::json::{Millis, RawJson, Shared, json_enum, json_object};
use crate::types::{InstanceStatus, TypeDefCategory, TypeDefLink};

json_enum! {
    /// Where an instance comes from, which decides who may change it.
    pub enum InstanceProvenanceType {
        Unknown = "UNKNOWN",
        /// Made by a member of the cohort, its home.
        LocalCohort = "LOCAL_COHORT",
        /// Read from an archive that a repository exported; read-only.
        ExportArchive = "EXPORT_ARCHIVE",
        /// Read from an archive made for distribution; read-only.
        ContentPack = "CONTENT_PACK",
        /// Its home has left the cohort; read-only.
        DeregisteredRepository = "DEREGISTERED_REPOSITORY",
        /// Part of a server's configuration; read-only.
        Configuration = "CONFIGURATION",
        /// Mastered by a tool outside the cohort; changed only through the repository that
        /// replicates it.
        ExternalSource = "EXTERNAL_SOURCE",
    }
}

json_enum! {
    /// How a classification came to its entity.
    pub enum ClassificationOrigin {
        /// Given to the entity itself.
        Assigned = "ASSIGNED",
        /// Spread along a relationship.
        Propagated = "PROPAGATED",
    }
}

json_object! {
    /// What an instance says of its type.
    pub struct InstanceType {
        @class "InstanceType";
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// What the type is a type of.
        category: Option<TypeDefCategory> = "typeDefCategory",
        /// Which type.
        guid: Option<String> = "typeDefGUID",
        /// Which type.
        name: Option<String> = "typeDefName",
        /// The version of the definition when the instance was changed last.
        version: i64 = "typeDefVersion",
        /// Prose.
        description: Option<String> = "typeDefDescription",
        /// The glossary term that describes the type.
        description_guid: Option<String> = "typeDefDescriptionGUID",
        /// All supertypes, nearest first.
        super_types: Vec<TypeDefLink> = "typeDefSuperTypes",
        /// Which status the instance may have.
        valid_statuses: Vec<InstanceStatus> = "validStatusList",
        /// Which properties the instance may have, inherited ones included.
        valid_properties: Vec<String> = "validInstanceProperties",
    }
}

impl InstanceType {
    /// The type's GUID; empty where there is none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.guid.as_deref().unwrap_or_default()
    }

    /// The type's name; empty where there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

json_object! {
    /// What is known of every instance, classifications included.
    pub struct InstanceAuditHeader {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// Its type.
        instance_type: Option<Shared<InstanceType>> = "type",
        /// Where it comes from.
        provenance: Option<InstanceProvenanceType> = "instanceProvenanceType",
        /// The metadata collection that is its home.
        metadata_collection_id: Option<String> = "metadataCollectionId",
        /// The name of that metadata collection.
        metadata_collection_name: Option<String> = "metadataCollectionName",
        /// The metadata collection that replicates it for an external source.
        replicated_by: Option<String> = "replicatedBy",
        /// The licence it is under.
        license: Option<String> = "instanceLicense",
        /// Who made it.
        created_by: Option<String> = "createdBy",
        /// Who changed it last; absent until the first change.
        updated_by: Option<String> = "updatedBy",
        /// All who changed it.
        maintained_by: Vec<String> = "maintainedBy",
        /// When it was made.
        create_time: Option<Millis> = "createTime",
        /// When it was changed last; absent until the first change.
        update_time: Option<Millis> = "updateTime",
        /// 1 when made, one more with each change. A change of a classification counts for the
        /// classification only.
        version: i64 = "version",
        /// Where it stands in its life.
        status: Option<InstanceStatus> = "status",
        /// The status it had when it was deleted, while it is.
        status_on_delete: Option<InstanceStatus> = "statusOnDelete",
        /// What a repository that is not native keeps to map it; handed on as it came.
        mapping_properties: BTreeMap<String, RawJson> = "mappingProperties",
    }
}

json_object! {
    /// What is known of every entity and relationship.
    pub struct InstanceHeader {
        @base
        /// What is known of every instance.
        audit: InstanceAuditHeader;
        /// Opaque, case-sensitive; clients may choose it.
        guid: Option<String> = "guid",
        /// Where it can be read at its home.
        instance_url: Option<String> = "instanceURL",
        /// The GUID it had before it was re-identified.
        re_identified_from_guid: Option<String> = "reIdentifiedFromGUID",
    }
}

impl InstanceHeader {
    /// The GUID; empty where there is none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.guid.as_deref().unwrap_or_default()
    }
}

impl InstanceAuditHeader {
    /// Whether the instance is deleted, which it is until it is restored or purged.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.status == Some(InstanceStatus::Deleted)
    }

    /// The name of its type; empty where there is none.
    #[must_use]
    pub fn type_name(&self) -> &str {
        let instance_type = self.instance_type.as_deref();
        instance_type.map_or("", InstanceType::name)
    }
}
