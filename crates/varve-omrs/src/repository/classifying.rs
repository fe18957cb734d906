//! Classifications: giving them to entities, changing them, taking them away.

use super::{Repository, not_supported};
use crate::error::OmrsError;
use crate::instances::{Classification, EntityDetail, EntityProxy};
use crate::requests::{
    ClassificationProxyRequest, ClassificationRequest, InstancePropertiesRequest,
};

impl Repository {
    /// Gives an entity a classification.
    ///
    /// # Errors
    /// The contract's for `classifyEntity`.
    pub fn classify_entity(
        &self,
        user: &str,
        guid: &str,
        name: &str,
        request: InstancePropertiesRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid, name, request);
        Err(not_supported("classifyEntity"))
    }

    /// Gives an entity a classification of which the caller knows home and origin.
    ///
    /// # Errors
    /// The contract's for `classifyEntity`.
    pub fn classify_entity_detailed(
        &self,
        user: &str,
        guid: &str,
        name: &str,
        request: ClassificationRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid, name, request);
        Err(not_supported("classifyEntity"))
    }

    /// Takes a classification away.
    ///
    /// # Errors
    /// The contract's for `declassifyEntity`.
    pub fn declassify_entity(
        &self,
        user: &str,
        guid: &str,
        name: &str,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid, name);
        Err(not_supported("declassifyEntity"))
    }

    /// Gives a classification other properties.
    ///
    /// # Errors
    /// The contract's for `updateEntityClassification`.
    pub fn update_entity_classification(
        &self,
        user: &str,
        guid: &str,
        name: &str,
        request: InstancePropertiesRequest,
    ) -> Result<EntityDetail, OmrsError> {
        let _ = (user, guid, name, request);
        Err(not_supported("updateEntityClassification"))
    }

    /// As [`Self::classify_entity`], of an entity that may be known here as a proxy only, or not at all.
    ///
    /// # Errors
    /// The contract's for `classifyEntity`.
    pub fn classify_entity_proxy(
        &self,
        user: &str,
        name: &str,
        request: ClassificationProxyRequest,
    ) -> Result<Classification, OmrsError> {
        let _ = (user, name, request);
        Err(not_supported("classifyEntity"))
    }

    /// As [`Self::classify_entity_detailed`], of an entity that may be known here as a proxy only, or not at all.
    ///
    /// # Errors
    /// The contract's for `classifyEntity`.
    pub fn classify_entity_proxy_detailed(
        &self,
        user: &str,
        name: &str,
        request: ClassificationProxyRequest,
    ) -> Result<Classification, OmrsError> {
        let _ = (user, name, request);
        Err(not_supported("classifyEntity"))
    }

    /// As [`Self::declassify_entity`]; gives the classification that was taken away.
    ///
    /// # Errors
    /// The contract's for `declassifyEntity`.
    pub fn declassify_entity_proxy(
        &self,
        user: &str,
        name: &str,
        proxy: EntityProxy,
    ) -> Result<Classification, OmrsError> {
        let _ = (user, name, proxy);
        Err(not_supported("declassifyEntity"))
    }

    /// As [`Self::update_entity_classification`].
    ///
    /// # Errors
    /// The contract's for `updateEntityClassification`.
    pub fn update_entity_proxy_classification(
        &self,
        user: &str,
        name: &str,
        request: ClassificationProxyRequest,
    ) -> Result<Classification, OmrsError> {
        let _ = (user, name, request);
        Err(not_supported("updateEntityClassification"))
    }
}
