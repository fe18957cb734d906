//! Headers of instances: type, origin, home, author and time of changes.

use std::collections::BTreeMap;

use crate::json::{Millis, RawJson, Shared, json_enum, json_object};
use crate::types::{InstanceStatus, TypeDefCategory, TypeDefLink};

json_enum! {
    /// The provenance of an instance, which decides who may change it.
    pub enum InstanceProvenanceType {
        Unknown = "UNKNOWN",
        /// Created by a member of the cohort, its home.
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
    /// The origin of a classification of an entity.
    pub enum ClassificationOrigin {
        /// Assigned to the entity itself.
        Assigned = "ASSIGNED",
        /// Propagated along a relationship.
        Propagated = "PROPAGATED",
    }
}

json_object! {
    /// The type of an instance, as its header has it.
    pub struct InstanceType {
        @class "InstanceType";
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// The category of the type.
        category: Option<TypeDefCategory> = "typeDefCategory",
        /// The GUID of the type.
        guid: Option<String> = "typeDefGUID",
        /// The name of the type.
        name: Option<String> = "typeDefName",
        /// The version of the definition when the instance was last changed.
        version: i64 = "typeDefVersion",
        /// Prose.
        description: Option<String> = "typeDefDescription",
        /// The glossary term that describes the type.
        description_guid: Option<String> = "typeDefDescriptionGUID",
        /// All supertypes, nearest first.
        super_types: Vec<TypeDefLink> = "typeDefSuperTypes",
        /// The statuses that the instance may have.
        valid_statuses: Vec<InstanceStatus> = "validStatusList",
        /// The properties that the instance may have, with inherited ones.
        valid_properties: Vec<String> = "validInstanceProperties",
    }
}

impl InstanceType {
    /// The type's GUID; empty if there is none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.guid.as_deref().unwrap_or_default()
    }

    /// The type's name; empty if there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

json_object! {
    /// The header members of every instance, including classifications.
    pub struct InstanceAuditHeader {
        /// The version of this object's structure.
        header_version: Option<i64> = "headerVersion",
        /// Its type.
        instance_type: Option<Shared<InstanceType>> = "type",
        /// Its provenance.
        provenance: Option<InstanceProvenanceType> = "instanceProvenanceType",
        /// The id of its home metadata collection.
        metadata_collection_id: Option<String> = "metadataCollectionId",
        /// The name of its home metadata collection.
        metadata_collection_name: Option<String> = "metadataCollectionName",
        /// The metadata collection that replicates it for an external source.
        replicated_by: Option<String> = "replicatedBy",
        /// Its licence.
        license: Option<String> = "instanceLicense",
        /// The user who created it.
        created_by: Option<String> = "createdBy",
        /// The user who last changed it; absent before the first change.
        updated_by: Option<String> = "updatedBy",
        /// All users who changed it.
        maintained_by: Vec<String> = "maintainedBy",
        /// When it was created.
        create_time: Option<Millis> = "createTime",
        /// When it was last changed; absent before the first change.
        update_time: Option<Millis> = "updateTime",
        /// 1 for a new instance, incremented by each change. A change of a classification
        /// increments only the classification's version.
        version: i64 = "version",
        /// Its status.
        status: Option<InstanceStatus> = "status",
        /// The status before the deletion, while it is deleted.
        status_on_delete: Option<InstanceStatus> = "statusOnDelete",
        /// Properties by which a repository maps foreign metadata; stored and returned unchanged.
        mapping_properties: BTreeMap<String, RawJson> = "mappingProperties",
    }
}

json_object! {
    /// The header of an entity or a relationship.
    pub struct InstanceHeader {
        @base
        /// The members of every instance's header.
        audit: InstanceAuditHeader;
        /// Opaque, case-sensitive; clients may choose it.
        guid: Option<String> = "guid",
        /// The URL at which its home returns it.
        instance_url: Option<String> = "instanceURL",
        /// The GUID it had before it was re-identified.
        re_identified_from_guid: Option<String> = "reIdentifiedFromGUID",
    }
}

impl InstanceHeader {
    /// The GUID; empty if there is none.
    #[must_use]
    pub fn guid(&self) -> &str {
        self.guid.as_deref().unwrap_or_default()
    }
}

impl InstanceAuditHeader {
    /// Whether the instance is deleted, and neither restored nor purged.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.status == Some(InstanceStatus::Deleted)
    }

    /// The name of its type; empty if there is none.
    #[must_use]
    pub fn type_name(&self) -> &str {
        let instance_type = self.instance_type.as_deref();
        instance_type.map_or("", InstanceType::name)
    }
}
