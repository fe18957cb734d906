//! Requests and responses of the Gremlin protocol, in both formats.

use crate::budget::VALUES_MAX;
use crate::error::{Result, WireError};
use crate::json::{self, Json, write_string};
use crate::number::{uuid, uuid_text};
use crate::value::{Text, Value, named};
use crate::{graphbinary, graphson};

/// GraphBinary 1.0 with every result as its text, which TinkerPop's console asks for.
const GRAPHBINARY_TEXTS: &str = "application/vnd.graphbinary-v1.0-stringd";

/// Whether a client of this mime type gets the texts of results instead of the results.
#[must_use]
pub fn wants_texts(mime: &str) -> bool {
    mime.split(';').next().unwrap_or(mime).trim() == GRAPHBINARY_TEXTS
}

/// The formats of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// GraphSON 3.0. It includes JSON without types.
    GraphSon,
    /// GraphBinary 1.0.
    GraphBinary,
}

impl Format {
    /// The format of a mime type; `None` for other versions of these formats, and for GraphSON
    /// without types. Other parameters are ignored.
    #[must_use]
    pub fn from_mime(mime: &str) -> Option<Format> {
        let mut parts = mime.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        if parts.any(|parameter| parameter.eq_ignore_ascii_case("types=false")) {
            return None;
        }
        match name {
            "application/vnd.gremlin-v3.0+json" | "application/json" => Some(Format::GraphSon),
            "application/vnd.graphbinary-v1.0" | GRAPHBINARY_TEXTS => Some(Format::GraphBinary),
            _ => None,
        }
    }

    /// The mime type.
    #[must_use]
    pub const fn mime(self) -> &'static str {
        match self {
            Format::GraphSon => "application/vnd.gremlin-v3.0+json",
            Format::GraphBinary => "application/vnd.graphbinary-v1.0",
        }
    }

    /// Appends a value.
    pub fn write(self, value: &Value, out: &mut Vec<u8>) {
        match self {
            Format::GraphSon => graphson::write(value, out),
            Format::GraphBinary => graphbinary::write(value, out),
        }
    }
}

/// A request of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The UUID that responses repeat.
    pub id: u128,
    /// The operation: `eval`, `bytecode`, `authentication`, `close`.
    pub op: Text,
    /// The processor of the operation: ``, `traversal`, `session`.
    pub processor: Text,
    /// Arguments by name, in order.
    pub arguments: Vec<(Text, Value)>,
}

impl Request {
    /// The argument of this name.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&Value> {
        let found = self.arguments.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value)
    }
}

/// A response, or a part of one: a status and results.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The id of the request; absent if it could not be read.
    pub id: Option<u128>,
    /// The status code: 200, 204, 206, or that of an error.
    pub code: i32,
    /// The error message; empty if there is no error.
    pub message: Text,
    /// The attributes of the status.
    pub attributes: Vec<(Text, Value)>,
    /// The results; null if there are none.
    pub data: Value,
}

/// A binary frame: the mime type (its length in one byte, then the text) and the message.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'f> {
    mime: &'f [u8],
    /// The message.
    pub message: &'f [u8],
}

impl<'f> Frame<'f> {
    /// Splits a frame.
    ///
    /// # Errors
    ///
    /// If it is too short.
    pub fn split(frame: &'f [u8]) -> Result<Self> {
        let short = || WireError::Short("the mime type");
        let (length, rest) = frame.split_first().ok_or_else(short)?;
        let (mime, message) = rest
            .split_at_checked(usize::from(*length))
            .ok_or_else(short)?;
        Ok(Self { mime, message })
    }

    /// The format of its message.
    ///
    /// # Errors
    ///
    /// If the mime type is unknown.
    pub fn format(self) -> Result<Format> {
        let known = std::str::from_utf8(self.mime).ok();
        known.and_then(Format::from_mime).ok_or_else(|| {
            let mime = String::from_utf8_lossy(self.mime);
            WireError::Unsupported(format!("the mime type {mime}"))
        })
    }

    /// The format in which its client most likely reads an answer, even if its own is unknown.
    #[must_use]
    pub fn likely_format(self) -> Format {
        match String::from_utf8_lossy(self.mime).contains("graphbinary") {
            true => Format::GraphBinary,
            false => Format::GraphSon,
        }
    }

    /// Whether its client gets the texts of results: [`wants_texts`].
    #[must_use]
    pub fn wants_texts(self) -> bool {
        std::str::from_utf8(self.mime).is_ok_and(wants_texts)
    }
}

/// Reads a request of at most `values_max` values. Reading takes some
/// [`VALUE_BYTES`](crate::VALUE_BYTES) for each value, and the bytes once more.
///
/// # Errors
///
/// If the bytes are not a request, or have more values.
pub fn read_request(format: Format, bytes: &[u8], values_max: usize) -> Result<Request> {
    count_request(format, bytes, values_max).map(|(request, _)| request)
}

/// As [`read_request`], and returns the number of values in the request.
///
/// # Errors
///
/// If the bytes are not a request, or have more values.
pub fn count_request(format: Format, bytes: &[u8], values_max: usize) -> Result<(Request, usize)> {
    match format {
        Format::GraphSon => request_from_json(bytes, values_max),
        Format::GraphBinary => request_from_binary(bytes, values_max),
    }
}

/// Finds the id of a request that may be invalid otherwise, so that the error can be sent to its
/// client.
#[must_use]
pub fn request_id(format: Format, bytes: &[u8]) -> Option<u128> {
    match format {
        Format::GraphBinary => {
            let id = bytes.get(1..17)?;
            Some(u128::from_be_bytes(id.try_into().ok()?))
        }
        Format::GraphSon => {
            let name = b"\"requestId\"";
            let found = bytes.windows(name.len()).position(|part| part == name)?;
            let rest = &bytes[found + name.len()..];
            let texts = rest[..rest.len().min(ID_WITHIN_BYTES)].split(|byte| *byte == b'"');
            let mut texts = texts.filter_map(|text| std::str::from_utf8(text).ok());
            texts.find_map(uuid)
        }
    }
}

/// The id is searched for within this many bytes after its name.
const ID_WITHIN_BYTES: usize = 128;

const REQUEST: &str = "request";

fn request_from_json(bytes: &[u8], values_max: usize) -> Result<(Request, usize)> {
    let json = json::read(bytes, values_max)?;
    let Json::Object(mut members) = json else {
        return Err(WireError::value(REQUEST, "it is no object"));
    };
    let mut reader = graphson::reader(values_max);
    let mut member = |name| match Json::take(&mut members, name) {
        None => Ok(Value::Null),
        Some(json) => reader.value(json),
    };
    let id = match member("requestId")? {
        Value::Uuid(id) => Some(id),
        Value::String(text) => uuid(&text),
        _ => None,
    };
    let mut text = |name| match member(name)? {
        Value::String(text) => Ok(text),
        Value::Null => Ok(Text::default()),
        _ => Err(WireError::value(
            REQUEST,
            format!("its {name} is no string"),
        )),
    };
    let (op, processor) = (text("op")?, text("processor")?);
    let arguments = match member("args")? {
        Value::Map(entries) => named(entries),
        Value::Null => Some(Vec::new()),
        _ => None,
    };
    let request = Request {
        id: id.ok_or_else(|| WireError::value(REQUEST, "its requestId is no UUID"))?,
        op,
        processor,
        arguments: arguments
            .ok_or_else(|| WireError::value(REQUEST, "its args are no map of strings"))?,
    };
    Ok((request, reader.budget.used(values_max)))
}

/// The first byte of a message in GraphBinary 1.0.
const VERSION: u8 = 0x81;

fn request_from_binary(bytes: &[u8], values_max: usize) -> Result<(Request, usize)> {
    let mut reader = graphbinary::Reader::new(bytes, values_max);
    version(&mut reader)?;
    let id = reader.u128()?;
    let op = reader.string()?;
    let processor = reader.string()?;
    let arguments = named(reader.map()?);
    reader.end()?;
    let request = Request {
        id,
        op,
        processor,
        arguments: arguments
            .ok_or_else(|| WireError::value(REQUEST, "its args are no map of strings"))?,
    };
    Ok((request, reader.budget.used(values_max)))
}

fn version(reader: &mut graphbinary::Reader<'_>) -> Result<()> {
    match reader.u8("the version")? {
        VERSION => Ok(()),
        other => Err(WireError::Unsupported(format!(
            "GraphBinary version 0x{other:02X}"
        ))),
    }
}

/// Appends a request, as drivers do; for tests of the server.
pub fn write_request(format: Format, request: &Request, out: &mut Vec<u8>) {
    match format {
        Format::GraphSon => {
            out.extend_from_slice(b"{\"requestId\":");
            graphson::write(&Value::Uuid(request.id), out);
            out.extend_from_slice(b",\"op\":");
            write_string(&request.op, out);
            out.extend_from_slice(b",\"processor\":");
            write_string(&request.processor, out);
            out.extend_from_slice(b",\"args\":");
            graphson::write(&Value::Map(entries(&request.arguments)), out);
            out.push(b'}');
        }
        Format::GraphBinary => {
            out.push(VERSION);
            out.extend_from_slice(&request.id.to_be_bytes());
            graphbinary::put_string(&request.op, out);
            graphbinary::put_string(&request.processor, out);
            put_map(&request.arguments, out);
        }
    }
}

fn entries(named: &[(Text, Value)]) -> Vec<(Value, Value)> {
    let entry = |(key, value): &(Text, Value)| (Value::String(key.clone()), value.clone());
    named.iter().map(entry).collect()
}

fn put_map(named: &[(Text, Value)], out: &mut Vec<u8>) {
    let entries = entries(named);
    graphbinary::put_map(entries.iter().map(|(key, value)| (key, value)), out);
}

/// Appends a response.
pub fn write_response(format: Format, response: &Response, out: &mut Vec<u8>) {
    put_response(
        format,
        response,
        |out| format.write(&response.data, out),
        out,
    );
}

/// Results of a response, written one by one, so that their size is known before they are complete.
#[derive(Debug)]
pub struct Items {
    format: Format,
    bytes: Vec<u8>,
    count: usize,
}

impl Items {
    /// A list of no results.
    #[must_use]
    pub const fn new(format: Format) -> Items {
        Items {
            format,
            bytes: Vec::new(),
            count: 0,
        }
    }

    /// Appends a result.
    pub fn push(&mut self, value: &Value) {
        if self.count > 0 && self.format == Format::GraphSon {
            self.bytes.push(b',');
        }
        self.format.write(value, &mut self.bytes);
        self.count += 1;
    }

    /// The number of results.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The size of the results in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Appends a response with the list of these results as its data. `response.data` is ignored.
    pub fn write_response(&self, response: &Response, out: &mut Vec<u8>) {
        let data = |out: &mut Vec<u8>| match self.format {
            Format::GraphSon => {
                out.extend_from_slice(b"{\"@type\":\"g:List\",\"@value\":[");
                out.extend_from_slice(&self.bytes);
                out.extend_from_slice(b"]}");
            }
            Format::GraphBinary => {
                graphbinary::put_list_start(self.count, out);
                out.extend_from_slice(&self.bytes);
            }
        };
        put_response(self.format, response, data, out);
    }
}

fn put_response(
    format: Format,
    response: &Response,
    data: impl FnOnce(&mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    match format {
        Format::GraphSon => {
            out.extend_from_slice(b"{\"requestId\":");
            match response.id {
                Some(id) => write_string(&uuid_text(id), out),
                None => out.extend_from_slice(b"null"),
            }
            out.extend_from_slice(b",\"status\":{\"message\":");
            write_string(&response.message, out);
            out.extend_from_slice(b",\"code\":");
            out.extend_from_slice(itoa::Buffer::new().format(response.code).as_bytes());
            out.extend_from_slice(b",\"attributes\":");
            graphson::write(&Value::Map(entries(&response.attributes)), out);
            out.extend_from_slice(b"},\"result\":{\"data\":");
            data(out);
            out.extend_from_slice(b",\"meta\":");
            graphson::write(&Value::Map(Vec::new()), out);
            out.extend_from_slice(b"}}");
        }
        Format::GraphBinary => {
            out.push(VERSION);
            match response.id {
                Some(id) => {
                    out.push(0);
                    out.extend_from_slice(&id.to_be_bytes());
                }
                None => out.push(1),
            }
            graphbinary::put_i32(response.code, out);
            out.push(0);
            graphbinary::put_string(&response.message, out);
            put_map(&response.attributes, out);
            put_map(&[], out);
            data(out);
        }
    }
}

const RESPONSE: &str = "response";

/// Reads a response, as drivers do.
///
/// # Errors
///
/// If the bytes are not a response.
pub fn read_response(format: Format, bytes: &[u8]) -> Result<Response> {
    match format {
        Format::GraphSon => response_from_json(bytes),
        Format::GraphBinary => response_from_binary(bytes),
    }
}

fn response_from_json(bytes: &[u8]) -> Result<Response> {
    let wrong = |message: &str| WireError::value(RESPONSE, message);
    let Json::Object(mut members) = json::read(bytes, VALUES_MAX)? else {
        return Err(wrong("it is no object"));
    };
    let mut reader = graphson::reader(VALUES_MAX);
    let id = match Json::take(&mut members, "requestId") {
        Some(Json::String(text)) => {
            Some(uuid(&text).ok_or_else(|| wrong("its requestId is no UUID"))?)
        }
        _ => None,
    };
    let Some(Json::Object(mut status)) = Json::take(&mut members, "status") else {
        return Err(wrong("it has no status"));
    };
    let Some(Json::Object(mut result)) = Json::take(&mut members, "result") else {
        return Err(wrong("it has no result"));
    };
    let mut member = |members: &mut Vec<_>, name| match Json::take(members, name) {
        None => Ok(Value::Null),
        Some(json) => reader.value(json),
    };
    let code = match member(&mut status, "code")? {
        Value::Int(code) => code,
        _ => return Err(wrong("its code is no number")),
    };
    let message = match member(&mut status, "message")? {
        Value::String(message) => message,
        _ => Text::default(),
    };
    let attributes = match member(&mut status, "attributes")? {
        Value::Map(entries) => {
            named(entries).ok_or_else(|| wrong("its attributes are no map of strings"))?
        }
        _ => Vec::new(),
    };
    Ok(Response {
        id,
        code,
        message,
        attributes,
        data: member(&mut result, "data")?,
    })
}

fn response_from_binary(bytes: &[u8]) -> Result<Response> {
    let mut reader = graphbinary::Reader::new(bytes, VALUES_MAX);
    version(&mut reader)?;
    let id = match reader.u8("a flag")? {
        0 => Some(reader.u128()?),
        _ => None,
    };
    let code = reader.i32()?;
    let message = match reader.u8("a flag")? {
        0 => reader.string()?,
        _ => Text::default(),
    };
    let attributes = named(reader.map()?);
    reader.map()?;
    let data = reader.value()?;
    reader.end()?;
    let wrong = || WireError::value(RESPONSE, "its attributes are no map of strings");
    Ok(Response {
        id,
        code,
        message,
        attributes: attributes.ok_or_else(wrong)?,
        data,
    })
}
