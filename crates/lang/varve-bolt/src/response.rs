//! The responses of the server.

use bytes::BytesMut;

use crate::error::{BoltError, Result};
use crate::handshake::Version;
use crate::packstream::{Map, Value, Writer};

const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const IGNORED: u8 = 0x7E;
const FAILURE: u8 = 0x7F;

/// A response. Each request has any number of records and then one of the other responses.
#[derive(Debug, Clone, PartialEq)]
pub enum Response {
    /// The request succeeded; what the map has depends on the request.
    Success(Map),
    /// One row of a result.
    Record(Vec<Value>),
    /// The request had no effect, as an earlier one failed.
    Ignored,
    /// The request failed.
    Failure(Failure),
}

impl Response {
    /// Appends the message, without chunks: see [`frame`](crate::framing::frame).
    ///
    /// # Errors
    /// [`BoltError::Unwritable`] for a value that PackStream cannot express.
    pub fn write(&self, version: Version, output: &mut BytesMut) -> Result<()> {
        let mut writer = Writer::new(output);
        match self {
            Response::Success(metadata) => {
                writer.structure(SUCCESS, 1)?;
                writer.entries(metadata)
            }
            Response::Record(values) => {
                begin_record(&mut writer, values.len())?;
                values.iter().try_for_each(|value| writer.value(value))
            }
            Response::Ignored => writer.structure(IGNORED, 0),
            Response::Failure(failure) => {
                writer.structure(FAILURE, 1)?;
                failure.write(version, &mut writer)
            }
        }
    }
}

/// Begins a record of `count` values, which the caller writes next.
///
/// # Errors
/// For 2³¹ values or more.
pub fn begin_record(writer: &mut Writer<'_>, count: usize) -> Result<()> {
    writer.structure(RECORD, 1)?;
    writer.list(count)
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Neo4j's code, as `Neo.ClientError.Statement.SyntaxError`. Drivers retry a transaction if it
    /// begins with `Neo.TransientError.`.
    pub code: String,
    /// The text for the user.
    pub message: String,
    /// GQL's status, as `42001`. Clients before 5.7 do not get it.
    pub gql_status: String,
    /// The text that belongs to the status. Clients before 5.7 do not get it.
    pub description: String,
}

impl Failure {
    /// A failure with the status `50N42`, which stands for all that have none of their own.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Failure {
        let message = message.into();
        Failure {
            code: code.into(),
            description: format!(
                "error: general processing exception - unexpected error. {message}"
            ),
            message,
            gql_status: "50N42".to_owned(),
        }
    }

    /// The same failure with another status.
    #[must_use]
    pub fn with_status(self, status: impl Into<String>, description: impl Into<String>) -> Failure {
        Failure {
            gql_status: status.into(),
            description: description.into(),
            ..self
        }
    }

    fn write(&self, version: Version, writer: &mut Writer<'_>) -> Result<()> {
        if version < Version::V5_7 {
            return texts(
                writer,
                2,
                &[("code", &self.code), ("message", &self.message)],
            );
        }
        let metadata = [
            ("neo4j_code", self.code.as_str()),
            ("message", &self.message),
            ("gql_status", &self.gql_status),
            ("description", &self.description),
        ];
        texts(writer, 5, &metadata)?;
        writer.string("diagnostic_record")?;
        let record = [
            ("OPERATION", ""),
            ("OPERATION_CODE", "0"),
            ("CURRENT_SCHEMA", "/"),
            ("_classification", self.classification()),
        ];
        texts(writer, 4, &record)
    }

    /// Whose fault it is, by the code.
    fn classification(&self) -> &'static str {
        match self.code.split('.').nth(1) {
            Some("ClientError") => "CLIENT_ERROR",
            Some("TransientError") => "TRANSIENT_ERROR",
            _ => "DATABASE_ERROR",
        }
    }
}

impl From<&BoltError> for Failure {
    fn from(error: &BoltError) -> Failure {
        Failure::new(error.code(), error.to_string())
    }
}

/// Begins a map of `count` entries and writes the first of them.
fn texts(writer: &mut Writer<'_>, count: usize, entries: &[(&str, &str)]) -> Result<()> {
    writer.map(count)?;
    entries.iter().try_for_each(|(key, value)| {
        writer.string(key)?;
        writer.string(value)
    })
}
