//! The errors of calls: the contract's exceptions and messages.

mod exception;
mod message;

pub use exception::Exception;
pub use message::Message;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::json::JsonError;

/// The error of a call: the exception that the client throws, and its message.
///
/// Where most errors arise, the names of the method and the repository are not known. The response
/// with the error adds them (see [`Response::failed`](crate::requests::Response::failed)).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", .exception.name(), .message.text(.parameters))]
pub struct OmrsError {
    /// The exception that the client throws.
    pub exception: Exception,
    /// The message.
    pub message: Message,
    /// The parameters of the message's text, in its order.
    pub parameters: Vec<String>,
    /// Further values for programs, such as `parameterName`.
    pub properties: BTreeMap<String, String>,
}

impl OmrsError {
    /// An error with the usual exception of `message`.
    #[must_use]
    pub fn new(message: Message, parameters: &[&str]) -> Self {
        Self::with_exception(message.exception(), message, parameters)
    }

    /// An error with another exception than the usual one of `message`.
    #[must_use]
    pub fn with_exception(exception: Exception, message: Message, parameters: &[&str]) -> Self {
        let parameters = parameters.iter().map(|text| shortened(text)).collect();
        Self {
            exception,
            message,
            parameters,
            properties: BTreeMap::new(),
        }
    }

    /// An invalid parameter: the property `parameterName` names it.
    #[must_use]
    pub fn of_parameter(message: Message, parameter: &str, parameters: &[&str]) -> Self {
        let mut error = Self::with_exception(Exception::InvalidParameter, message, parameters);
        error
            .properties
            .insert("parameterName".to_owned(), parameter.to_owned());
        error
    }

    /// The error when the time of a request is over.
    #[must_use]
    pub(crate) fn took_too_long(time_max: Duration) -> Self {
        Self::new(Message::TookTooLong, &[&time_max.as_millis().to_string()])
    }

    /// The code that an HTTP status would have. The HTTP status itself is always 200.
    #[must_use]
    pub fn related_http_code(&self) -> u16 {
        self.message.related_http_code()
    }
}

impl From<JsonError> for OmrsError {
    /// The error of a body that cannot be decoded.
    fn from(error: JsonError) -> Self {
        let path = error.path();
        let name = if path.is_empty() {
            "requestBody"
        } else {
            &path
        };
        Self::of_parameter(Message::BadRequestBody, name, &[&error.to_string()])
    }
}

/// The longest parameter that an error repeats, in characters. Longer ones are cut.
const PARAMETER_CHARACTERS_MAX: usize = 300;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(PARAMETER_CHARACTERS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
