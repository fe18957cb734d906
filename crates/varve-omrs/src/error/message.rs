//! The messages of errors: identifier, usual exception, text.

use super::Exception;

/// The default user action.
const CORRECT_AND_RETRY: &str = "Correct the request and send it again.";
/// The system action of most messages.
const NOTHING_CHANGED: &str = "The request was refused; nothing was changed.";

macro_rules! messages {
    ($($variant:ident $id:literal $exception:ident $text:literal;)*) => {
        /// The message of an error. In its text, `{0}`, `{1}` … are replaced by parameters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Message {
            $(#[doc = concat!("`", $id, "`: ", $text)] $variant,)*
        }

        impl Message {
            /// All messages.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The contract's identifier.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }

            /// The usual exception of the message.
            #[must_use]
            pub const fn exception(self) -> Exception {
                match self {
                    $(Self::$variant => Exception::$exception,)*
                }
            }

            const fn template(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}

messages! {
    TypeInUse "OMRS-REPOSITORY-400-001" TypeDefInUse "The type {0} ({1}) is still used by {2}";
    AttributeTypeInUse "OMRS-REPOSITORY-400-002" TypeDefInUse "The attribute type {0} ({1}) is still used by {2}";
    TypeAlreadyDefined "OMRS-REPOSITORY-400-003" TypeDefKnown "The type {0} ({1}) is defined already";
    AttributeTypeAlreadyDefined "OMRS-REPOSITORY-400-004" TypeDefKnown "The attribute type {0} ({1}) is defined already";
    UnknownClassification "OMRS-REPOSITORY-400-005" ClassificationError "No classification type is called {0}";
    ClassificationNotAllowed "OMRS-REPOSITORY-400-006" ClassificationError "The classification {0} is not allowed for entities of type {1}";
    NoSearchCriteria "OMRS-REPOSITORY-400-013" InvalidParameter "Nothing to search for was given in {0}";
    NoGuid "OMRS-REPOSITORY-400-014" InvalidParameter "No GUID was given in {0}";
    InvalidTypeDef "OMRS-REPOSITORY-400-017" InvalidTypeDef "The definition of type {0} is not valid: {1}";
    InvalidAttributeTypeDef "OMRS-REPOSITORY-400-018" InvalidTypeDef "The definition of attribute type {0} is not valid: {1}";
    NoTypeGuid "OMRS-REPOSITORY-400-022" InvalidParameter "No type GUID was given in {0}";
    NoTypeName "OMRS-REPOSITORY-400-023" InvalidParameter "No type name was given in {0}";
    NoClassificationName "OMRS-REPOSITORY-400-026" InvalidParameter "No classification name was given in {0}";
    UnknownProperty "OMRS-REPOSITORY-400-028" PropertyError "Type {0} has no property {1}";
    NoPropertiesInType "OMRS-REPOSITORY-400-029" PropertyError "Type {0} has no properties, {1} was given";
    WrongPropertyKind "OMRS-REPOSITORY-400-030" PropertyError "Property {0} of type {1} takes {2}; {3} was given";
    NullPropertyName "OMRS-REPOSITORY-400-031" PropertyError "A property of type {0} was given without a name";
    NullPropertyValue "OMRS-REPOSITORY-400-032" PropertyError "Property {0} of type {1} was given without a value";
    MissingProperty "OMRS-REPOSITORY-400-033" PropertyError "Property {0} of type {1} must have a value";
    BadTypeGuid "OMRS-REPOSITORY-400-034" TypeError "The type GUID {0} is not that of type {1}";
    StatusNotInType "OMRS-REPOSITORY-400-035" StatusNotSupported "Type {1} has no status {0}";
    NoStatus "OMRS-REPOSITORY-400-036" InvalidParameter "No status was given in {0}";
    NoNewProperties "OMRS-REPOSITORY-400-037" PropertyError "No properties were given for {0}";
    FutureAsOfTime "OMRS-REPOSITORY-400-038" InvalidParameter "The time {0} lies in the future";
    InstanceOfOtherType "OMRS-REPOSITORY-400-039" InvalidParameter "The instance {0} is of type {1}, not {2}";
    NullReferenceInstance "OMRS-REPOSITORY-400-041" InvalidParameter "No instance was given in {0}";
    LocalReferenceInstance "OMRS-REPOSITORY-400-042" InvalidParameter "The home of {0} is this repository: it takes no reference copy of it";
    NullProxy "OMRS-REPOSITORY-400-043" InvalidParameter "No proxy was given in {0}";
    LocalProxy "OMRS-REPOSITORY-400-044" InvalidParameter "The home of {0} is this repository: it takes no proxy of it";
    NotDeleted "OMRS-REPOSITORY-400-046" EntityNotDeleted "The instance {0} is not deleted";
    WrongRelationshipEnd "OMRS-REPOSITORY-400-047" InvalidParameter "End {0} of relationship type {1} takes entities of type {2}; the entity given is of type {3}";
    NotClassified "OMRS-REPOSITORY-400-048" ClassificationError "The entity {0} has no classification {1}";
    NullPatch "OMRS-REPOSITORY-400-049" InvalidParameter "No patch was given in {0}";
    NegativePage "OMRS-REPOSITORY-400-050" PagingError "{0} is {1}; it cannot be negative";
    ProxyOnly "OMRS-REPOSITORY-400-051" EntityProxyOnly "Only a proxy of the entity {0} is known here";
    NullAsOfTime "OMRS-REPOSITORY-400-057" InvalidParameter "A historical call needs a time in {0}";
    StatusDeleted "OMRS-REPOSITORY-400-058" StatusNotSupported "The status DELETED is set by deleting, not by an update";
    TypeConflict "OMRS-REPOSITORY-400-059" TypeDefConflict "The definition of {0} ({1}) contradicts the one that is here: {2}";
    HomeRefresh "OMRS-REPOSITORY-400-063" HomeEntity "The home of {0} is this repository: there is nowhere to refresh it from";
    PatchGoesBack "OMRS-REPOSITORY-400-067" PatchError "The patch of type {0} leads from version {1} back to version {2}";
    PatchOfOtherVersion "OMRS-REPOSITORY-400-068" PatchError "The patch applies to version {1} of type {0}, which is at version {2}";
    InvalidPatch "OMRS-REPOSITORY-400-069" PatchError "The patch of type {0} is not valid: {1}";
    PatchChangesPropertyType "OMRS-REPOSITORY-400-070" PatchError "The patch of type {0} changes the type of property {1}";
    BadCondition "OMRS-REPOSITORY-400-074" InvalidParameter "The condition at {0} needs either a property with an operator and a value, or nested conditions";
    NoNameInClassificationCondition "OMRS-REPOSITORY-400-075" InvalidParameter "The condition at {0} does not name a classification";
    InNeedsArray "OMRS-REPOSITORY-400-076" InvalidParameter "The operator IN of the condition at {0} needs an array";
    LikeNeedsString "OMRS-REPOSITORY-400-077" InvalidParameter "The operator LIKE of the condition at {0} needs a string";
    OrderNeedsNumber "OMRS-REPOSITORY-400-078" InvalidParameter "The operator {1} of the condition at {0} needs a number or a date";
    NotASubtype "OMRS-REPOSITORY-400-079" TypeError "The type {0} is not a subtype of {1}";
    AlreadyClassified "OMRS-REPOSITORY-400-081" ClassificationError "The entity {0} has the classification {1} already";
    BadTimeRange "OMRS-REPOSITORY-400-083" InvalidParameter "The time range from {0} to {1} is empty";
    UnknownEntity "OMRS-REPOSITORY-404-002" EntityNotKnown "No entity with GUID {0} is known";
    UnknownRelationship "OMRS-REPOSITORY-404-003" RelationshipNotKnown "No relationship with GUID {0} is known";
    UnknownTypeDef "OMRS-REPOSITORY-404-004" TypeDefNotKnown "No type {0} with GUID {1} is known";
    UnknownInstanceType "OMRS-REPOSITORY-404-005" TypeError "No type of this kind is known by {0}, given in {1}";
    UnknownAttributeTypeDef "OMRS-REPOSITORY-404-006" TypeDefNotKnown "No attribute type {0} with GUID {1} is known";
    UnknownTypeGuid "OMRS-REPOSITORY-404-007" TypeDefNotKnown "No type with GUID {0} is known";
    UnknownAttributeTypeGuid "OMRS-REPOSITORY-404-008" TypeDefNotKnown "No attribute type with GUID {0} is known";
    UnknownTypeName "OMRS-REPOSITORY-404-009" TypeDefNotKnown "No type is called {0}";
    UnknownAttributeTypeName "OMRS-REPOSITORY-404-010" TypeDefNotKnown "No attribute type is called {0}";
    RelationshipDeleted "OMRS-REPOSITORY-404-012" RelationshipNotKnown "The relationship {0} is deleted";
    EntityDeleted "OMRS-REPOSITORY-404-013" EntityNotKnown "The entity {0} is deleted";
    LogicError "OMRS-METADATA-COLLECTION-500-012" RepositoryError "The repository came to a state it should not have: {0}";
    NotHome "OMRS-METADATA-COLLECTION-500-016" InvalidParameter "This call cannot change {0}: its home is {1}";
    ForeignNewHome "OMRS-LOCAL-REPOSITORY-400-002" InvalidParameter "The new home of {0} must be this repository, {2}; {1} was given";
    ProxyNotChanged "OMRS-LOCAL-REPOSITORY-503-007" InvalidParameter "Only a proxy of the entity {0} is known here: this call cannot change it";
    MethodNotImplemented "OMRS-METADATA-COLLECTION-501-001" FunctionNotSupported "{0} is not supported";
    TypeNotImplemented "OMRS-METADATA-COLLECTION-501-002" TypeDefNotSupported "The type {0} is not supported: {1}";
    NullUser "OMRS-REST-API-400-001" UserNotAuthorized "No user was named";
    NoLocalRepository "OMRS-REST-API-503-001" RepositoryError "There is no local repository: this server runs without the option omrs.enabled";
    NoEnterpriseRepository "OMRS-REST-API-503-002" RepositoryError "There is no enterprise repository";
    BadRequestBody "VARVE-OMRS-400-001" InvalidParameter "The request's body cannot be read: {0}";
    OrderNeedsProperty "VARVE-OMRS-400-002" PropertyError "The order {0} needs the name of a property";
    IdentifierTaken "VARVE-OMRS-400-003" InvalidParameter "The {0} {1} is taken by another type";
    MissingParameter "VARVE-OMRS-400-004" InvalidParameter "No value was given for {0}";
    InvalidEntity "VARVE-OMRS-400-005" InvalidEntity "The entity is not valid: {0}";
    InvalidRelationship "VARVE-OMRS-400-006" InvalidRelationship "The relationship is not valid: {0}";
    BadRequest "VARVE-OMRS-400-008" InvalidParameter "The request cannot be served: {0}";
    BadNumber "VARVE-OMRS-400-009" InvalidParameter "{0} must be a whole number; {1} was given";
    UnknownServer "VARVE-OMRS-404-001" InvalidParameter "This platform has no server with the name {0}";
    Forbidden "VARVE-OMRS-403-001" UserNotAuthorized "{0}";
    ServerFailure "VARVE-OMRS-500-001" RepositoryError "{0}";
    Unavailable "VARVE-OMRS-503-001" RepositoryError "{0}";
    BadPropertyValue "VARVE-OMRS-400-007" PropertyError "Property {0} of type {1} has a value that is not valid: {2}";
    GuidTaken "VARVE-OMRS-400-020" InvalidParameter "The GUID {0} is taken by another instance";
    CopyOfOwn "VARVE-OMRS-400-023" EntityConflict "A reference copy of {0} was sent, but its home is this repository";
    TooManyRelationships "VARVE-OMRS-400-021" RepositoryError "The entity {0} has more than {1} relationships, too many to change with it in one call";
    InstanceTooLarge "VARVE-OMRS-400-025" InvalidParameter "The instance cannot be stored: {0}";
    BadPattern "VARVE-OMRS-400-030" InvalidParameter "The regular expression in {0} cannot be read: {1}";
    TooManyValues "VARVE-OMRS-400-032" InvalidParameter "The operator IN of the condition at {0} has {1} values; {2} are allowed";
    TooManyPatterns "VARVE-OMRS-400-033" InvalidParameter "The request has too many regular expressions, {0} among them: {1} {2} are allowed";
    NestedTooDeeply "VARVE-OMRS-400-031" InvalidParameter "The conditions at {0} are nested too deeply";
    TooManyExamined "VARVE-OMRS-503-030" RepositoryError "More than {0} instances would have to be read; narrow the search";
    TooMuchHeld "VARVE-OMRS-503-031" RepositoryError "The answer would need more than {0} bytes of memory; request pages";
    TookTooLong "VARVE-OMRS-503-032" RepositoryError "The answer would take longer than {0} milliseconds; narrow the search";
    AnswerTooLong "VARVE-OMRS-503-033" RepositoryError "The answer would have more than {0} bytes; request pages, or narrow the search";
    ComparisonTooLong "VARVE-OMRS-503-034" RepositoryError "Comparing a regular expression with one text could take more than {0} steps; use a shorter expression";
    PatternNotSupported "VARVE-OMRS-501-030" FunctionNotSupported "The regular expression in {0} is not supported: {1}";
    StoreLimit "VARVE-OMRS-400-101" RepositoryError "The store's limits do not allow this: {0}";
    StoreFailed "VARVE-OMRS-500-101" RepositoryError "The store failed: {0}";
    StoreBusy "VARVE-OMRS-503-101" RepositoryError "The store is busy: {0}";
    StoreUnwritable "VARVE-OMRS-503-103" RepositoryError "The store refuses writes: {0}";
    OutcomeUnknown "VARVE-OMRS-503-102" RepositoryError "Whether the change is stored is unknown (VRV-OUTCOME-UNKNOWN): {0}";
}

impl Message {
    /// The stable code of the kind of failure, which the server's other APIs have, too.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::OutcomeUnknown => "VRV-OUTCOME-UNKNOWN",
            Self::StoreUnwritable => "VRV-UNWRITABLE",
            Self::TookTooLong => "VRV-TIMEOUT",
            Self::StoreBusy | Self::Unavailable => "VRV-BUSY",
            Self::StoreFailed => "VRV-STORAGE",
            Self::TooManyExamined
            | Self::TooMuchHeld
            | Self::AnswerTooLong
            | Self::ComparisonTooLong
            | Self::StoreLimit
            | Self::TooManyRelationships => "VRV-LIMIT",
            _ => match self.related_http_code() {
                403 => "VRV-DENIED",
                404 => "VRV-NOT-FOUND",
                500 => "VRV-INTERNAL",
                501 => "VRV-NOT-SUPPORTED",
                503 => "VRV-STATE",
                _ => "VRV-ARG",
            },
        }
    }

    /// The number between the letters and the counter of the identifier: `404` of
    /// `OMRS-REPOSITORY-404-002`.
    #[must_use]
    pub fn related_http_code(self) -> u16 {
        let code = self.id().rsplit('-').nth(1);
        code.and_then(|code| code.parse().ok())
            .expect("a test looks at the identifier of every message")
    }

    /// The text with the parameters inserted.
    #[must_use]
    pub fn text(self, parameters: &[String]) -> String {
        let mut text = format!("{} ", self.id());
        let mut rest = self.template();
        while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            let index = usize::from(rest.as_bytes()[at + 1] - b'0');
            text.push_str(parameters.get(index).map_or("?", String::as_str));
            rest = &rest[at + 3..];
        }
        text.push_str(rest);
        text
    }

    /// The action of the repository.
    #[must_use]
    pub const fn system_action(self) -> &'static str {
        match self {
            Self::OutcomeUnknown => "The request was given up; the change may be stored, or not.",
            Self::StoreFailed | Self::ServerFailure => "The request was given up.",
            _ => NOTHING_CHANGED,
        }
    }

    /// The action that the user can take.
    #[must_use]
    pub const fn user_action(self) -> &'static str {
        if matches!(
            self,
            Self::TooManyExamined | Self::TooMuchHeld | Self::TookTooLong | Self::AnswerTooLong
        ) {
            return "Ask for pages, or for less.";
        }
        if matches!(self, Self::ComparisonTooLong) {
            return "Ask with a shorter expression.";
        }
        if matches!(self, Self::OutcomeUnknown) {
            return "Read whether the change is stored, and repeat it if it is not.";
        }
        if matches!(self, Self::StoreUnwritable) {
            return "Make space on the server's disk; writes go on by themselves.";
        }
        if matches!(self, Self::NoLocalRepository) {
            return "Start the server with omrs.enabled = true (VARVE_OMRS_ENABLED=true).";
        }
        match self.exception() {
            Exception::UserNotAuthorized => "Ask the operator for the right to do this.",
            Exception::RepositoryError => "Look into the server's log; report what it says.",
            Exception::FunctionNotSupported => "Do without this call, or ask another repository.",
            _ => CORRECT_AND_RETRY,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn identifiers_are_unique_and_hold_a_status() {
        let mut seen = HashSet::new();
        for message in Message::ALL {
            assert!(seen.insert(message.id()), "{} twice", message.id());
            let code = message.related_http_code();
            assert!(
                [400, 403, 404, 500, 501, 503].contains(&code),
                "{}",
                message.id()
            );
        }
    }

    #[test]
    fn templates_name_parameters_by_one_digit() {
        for message in Message::ALL {
            for (at, _) in message.template().match_indices('{') {
                let hole = &message.template().as_bytes()[at..at + 3];
                assert!(
                    hole[1].is_ascii_digit() && hole[2] == b'}',
                    "{}",
                    message.id()
                );
            }
        }
    }

    #[test]
    fn text_fills_parameters_in() {
        let parameters = ["Asset".to_owned(), "colour".to_owned()];
        assert_eq!(
            Message::UnknownProperty.text(&parameters),
            "OMRS-REPOSITORY-400-028 Type Asset has no property colour"
        );
    }
}
