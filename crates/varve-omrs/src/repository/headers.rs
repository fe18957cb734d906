//! Headers of new and changed instances.

use super::target::InstanceKind;
use super::{Repository, guid};
use crate::error::{Message, OmrsError};
use crate::graph_store::GraphTransaction;
use crate::instances::{InstanceAuditHeader, InstanceHeader, InstanceProvenanceType};
use crate::json::Millis;
use crate::types::{Catalogue, InstanceStatus, ResolvedType, TypeIndex};
use crate::validate::new_status;

/// The version of the header's own structure.
const HEADER_VERSION: i64 = 1;

/// The user who creates or changes an instance, and the time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Author<'a> {
    pub(super) user: &'a str,
    pub(super) now: Millis,
}

impl<'a> Author<'a> {
    /// The author of changes in this transaction, at its time.
    pub(super) fn of(user: &'a str, transaction: &GraphTransaction<'_, '_>) -> Self {
        Self {
            user,
            now: transaction.now(),
        }
    }
}

/// The home of a new instance.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    provenance: InstanceProvenanceType,
    metadata_collection_id: String,
    metadata_collection_name: Option<String>,
    replicated_by: Option<String>,
}

impl Repository {
    /// The origin of instances whose home is this repository.
    pub(super) fn own_origin(&self) -> Origin {
        Origin {
            provenance: InstanceProvenanceType::LocalCohort,
            metadata_collection_id: self.metadata_collection_id.clone(),
            metadata_collection_name: Some(self.name().to_owned()),
            replicated_by: None,
        }
    }

    /// The origin of instances that this repository replicates for an external source.
    ///
    /// # Errors
    /// `InvalidParameterException` when the source has no id.
    pub(super) fn external_origin(
        &self,
        id: Option<&str>,
        name: Option<&str>,
    ) -> Result<Origin, OmrsError> {
        let parameter = "metadataCollectionId";
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            let message = Message::MissingParameter;
            return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
        };
        Ok(Origin {
            provenance: InstanceProvenanceType::ExternalSource,
            metadata_collection_id: id.to_owned(),
            metadata_collection_name: name.map(str::to_owned),
            replicated_by: Some(self.metadata_collection_id.clone()),
        })
    }

    /// The header of a new instance, with a new GUID.
    pub(super) fn new_header(
        &self,
        kind: InstanceKind,
        audit: InstanceAuditHeader,
    ) -> InstanceHeader {
        let guid = guid::random();
        InstanceHeader {
            audit,
            instance_url: Some(self.instance_url(kind, &guid)),
            guid: Some(guid),
            re_identified_from_guid: None,
        }
    }

    /// The URL at which an instance can be read.
    pub(super) fn instance_url(&self, kind: InstanceKind, guid: &str) -> String {
        let kind = match kind {
            InstanceKind::Entity => "entity",
            InstanceKind::Relationship => "relationship",
        };
        let mut url = format!(
            "{}/open-metadata/repository-services/instances/{kind}/",
            self.options.base_url
        );
        for byte in guid.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                url.push(char::from(byte));
            } else {
                url.push_str(&format!("%{byte:02X}"));
            }
        }
        url
    }
}

/// The audit header of a new instance of a type.
pub(super) fn new_audit(
    author: Author<'_>,
    origin: &Origin,
    of: &ResolvedType,
    status: InstanceStatus,
) -> InstanceAuditHeader {
    InstanceAuditHeader {
        header_version: Some(HEADER_VERSION),
        instance_type: Some(of.instance_type().clone()),
        provenance: Some(origin.provenance),
        metadata_collection_id: Some(origin.metadata_collection_id.clone()),
        metadata_collection_name: origin.metadata_collection_name.clone(),
        replicated_by: origin.replicated_by.clone(),
        created_by: Some(author.user.to_owned()),
        create_time: Some(author.now),
        version: 1,
        status: Some(status),
        ..InstanceAuditHeader::default()
    }
}

/// Records a change in the header of an instance.
pub(super) fn change(audit: &mut InstanceAuditHeader, author: Author<'_>) {
    audit.updated_by = Some(author.user.to_owned());
    audit.update_time = Some(author.now);
    audit.version = audit.version.saturating_add(1);
    if !audit.maintained_by.iter().any(|user| user == author.user) {
        audit.maintained_by.push(author.user.to_owned());
    }
}

/// Marks an instance as deleted, as a change.
pub(super) fn delete(audit: &mut InstanceAuditHeader, author: Author<'_>) {
    change(audit, author);
    mark_deleted(audit);
}

/// Sets the status to deleted, and remembers the previous one.
pub(super) fn mark_deleted(audit: &mut InstanceAuditHeader) {
    audit.status_on_delete = audit.status;
    audit.status = Some(InstanceStatus::Deleted);
}

/// Restores the status before the deletion, as a change.
pub(super) fn restore(audit: &mut InstanceAuditHeader, author: Author<'_>) {
    change(audit, author);
    audit.status = audit.status_on_delete.take();
}

/// Restores the status of an earlier header, as a change. If the type `of` no longer has that
/// status, the present one stays.
pub(super) fn revert(
    audit: &mut InstanceAuditHeader,
    earlier: &InstanceAuditHeader,
    (types, of): (&Catalogue, TypeIndex),
    author: Author<'_>,
) {
    change(audit, author);
    if new_status(types, of, earlier.status).is_ok() {
        audit.status = earlier.status;
        audit.status_on_delete = earlier.status_on_delete;
    }
}
