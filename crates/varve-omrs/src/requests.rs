//! The bodies of the REST API's requests, and its responses with their envelope.

mod change;
mod find;
mod response;
mod search;
mod types;

pub use change::{
    ClassificationProxyRequest, ClassificationRequest, ClassificationWithEntityRequest,
    EntityCreateRequest, EntityProxyRequest, InstanceGraphRequest, InstancePropertiesRequest,
    ProxyClassificationRequest, RelationshipCreateRequest,
};
pub use find::{
    EntityFindRequest, EntityNeighborhoodFindRequest, EntityPropertyFindRequest, FindRequest,
    HistoryRangeRequest, HistoryRequest, HistorySequencingOrder, InstanceFindRequest, Page,
    PagedFindRequest, PropertyMatchFindRequest, RelatedEntitiesFindRequest, SequencingOrder,
    SubtypeLimitedFindRequest, TypeLimitedFindRequest,
};
pub use response::{
    AttributeTypeDefListResponse, AttributeTypeDefResponse, BooleanResponse,
    ClassificationListResponse, ClassificationResponse, EntityDetailResponse, EntityListResponse,
    EntitySummaryResponse, InstanceGraphResponse, MetadataCollectionIdResponse,
    RelationshipListResponse, RelationshipResponse, Response, ResponseEnvelope,
    TypeDefGalleryResponse, TypeDefListResponse, TypeDefResponse, VoidResponse,
};
pub use search::{
    ClassificationCondition, MatchCriteria, PropertyComparisonOperator, PropertyCondition,
    SearchClassifications, SearchProperties,
};
pub use types::{
    TypeDefChangeRequest, TypeDefDeleteRequest, TypeDefProperties, TypeDefReIdentifyRequest,
    TypeDefValidationForRequest,
};
