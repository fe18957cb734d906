//! What the repository writes into headers, and who may change what.

use varve_omrs::Exception;
use varve_omrs::instances::{
    Classification, InstanceAuditHeader, InstanceHeader, InstanceProvenanceType,
};
use varve_omrs::json::Millis;
use varve_omrs::requests::TypeDefValidationForRequest;
use varve_omrs::types::{InstanceStatus, TypeIndex};
use varve_omrs::validate;

use super::{InstanceState, Naive, class};
use crate::call::InstanceKind;

impl Naive {
    /// The header of a new instance. With a source it is external, and replicated here.
    pub(super) fn new_audit(
        &self,
        user: &str,
        of: TypeIndex,
        status: InstanceStatus,
        source: Option<(&str, Option<&str>)>,
    ) -> InstanceAuditHeader {
        let (home, name) = match source {
            Some((home, name)) => (home, name),
            None => (self.home.0.as_str(), Some(self.home.1.as_str())),
        };
        InstanceAuditHeader {
            header_version: Some(1),
            instance_type: Some(self.types.get(of).instance_type().clone()),
            provenance: Some(if source.is_some() {
                InstanceProvenanceType::ExternalSource
            } else {
                InstanceProvenanceType::LocalCohort
            }),
            metadata_collection_id: Some(home.to_owned()),
            metadata_collection_name: name.map(str::to_owned),
            replicated_by: source.map(|_| self.home.0.clone()),
            created_by: Some(user.to_owned()),
            create_time: Some(self.now),
            version: 1,
            status: Some(status),
            ..Default::default()
        }
    }

    /// What every update of an instance that is homed here does.
    pub(super) fn touch(&self, audit: &mut InstanceAuditHeader, user: &str) {
        audit.version += 1;
        audit.updated_by = Some(user.to_owned());
        audit.update_time = Some(self.now);
        if !audit.maintained_by.iter().any(|one| one == user) {
            audit.maintained_by.push(user.to_owned());
        }
    }

    /// Refuses what is homed elsewhere, or replicated for an external source by another.
    pub(super) fn unlocked(&self, header: &InstanceHeader) -> Result<(), Exception> {
        if self.is_ours(&header.audit) {
            return Ok(());
        }
        Err(Exception::InvalidParameter)
    }

    pub(super) fn is_ours(&self, audit: &InstanceAuditHeader) -> bool {
        let home = Some(&self.home.0);
        match audit.provenance {
            Some(InstanceProvenanceType::LocalCohort) => {
                audit.metadata_collection_id.as_ref() == home
            }
            Some(InstanceProvenanceType::ExternalSource) => audit.replicated_by.as_ref() == home,
            _ => false,
        }
    }

    pub(super) fn expect_type(
        &self,
        state: &InstanceState,
        of: &TypeDefValidationForRequest,
    ) -> Result<(), Exception> {
        let (guid, name) = (of.type_guid.as_deref(), of.type_name.as_deref());
        validate::expected_type(state.header(), guid, name).map_err(class)
    }

    pub(super) fn type_of(&self, audit: &InstanceAuditHeader) -> TypeIndex {
        let name = audit.type_name();
        self.types.by_name(name).expect("only known types are kept")
    }
}

/// From when on a copy holds: its last update, or the last change of a classification, else its
/// creation.
pub(super) fn valid_from(
    audit: &InstanceAuditHeader,
    classifications: &[Classification],
) -> Option<Millis> {
    let of = |audit: &InstanceAuditHeader| audit.update_time.or(audit.create_time);
    let classified = classifications.iter().filter_map(|one| of(&one.audit));
    of(audit).into_iter().chain(classified).max()
}

/// The exception for an instance that is not there.
pub(super) fn unknown(kind: InstanceKind) -> Exception {
    match kind {
        InstanceKind::Entity => Exception::EntityNotKnown,
        InstanceKind::Relationship => Exception::RelationshipNotKnown,
    }
}

pub(super) fn not_deleted(kind: InstanceKind) -> Exception {
    match kind {
        InstanceKind::Entity => Exception::EntityNotDeleted,
        InstanceKind::Relationship => Exception::RelationshipNotDeleted,
    }
}
