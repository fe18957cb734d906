//! Parses the messages of drivers.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use compact_str::CompactString;
use varve_auth::Proof;
use varve_graphson::{Bytecode, Format, Request, Value as WireValue};
use varve_model::value::Uuid;
use varve_query::Value;

use super::host::Options;
use super::parts::{BATCH, Form, PART_BYTES};
use super::request::Program;
use super::status::Refusal;
use super::wire;

/// The request in a message.
#[derive(Debug)]
pub(super) enum Ask {
    /// Runs a program.
    Run(Box<Job>),
    /// Ends a session.
    Close(CompactString),
    /// Authenticates the client; an error if the message has no usable credentials.
    Authenticate(Result<Proof, Refusal>),
}

/// A program to run, and its options.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) program: Program,
    /// Whether it begins or ends a transaction, and so has no results.
    pub(super) is_command: bool,
    pub(super) session: Option<CompactString>,
    pub(super) bindings: HashMap<CompactString, Value>,
    pub(super) aliases: HashMap<String, String>,
    pub(super) form: Form,
    /// The client's time limit, if it sets one.
    pub(super) limit: Option<Duration>,
}

/// The operations of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Eval,
    Bytecode,
    Close,
    Authenticate,
}

/// Parses a request.
pub(super) fn ask(mut request: Request, format: Format) -> Result<Ask, Refusal> {
    match operation(&request)? {
        Operation::Authenticate => Ok(Ask::Authenticate(proof(&mut request))),
        Operation::Close => Ok(Ask::Close(session(&mut request)?)),
        operation => Ok(Ask::Run(Box::new(job(request, operation, format)?))),
    }
}

/// The credentials in a message of SASL PLAIN, in base64 or bytes. Without a mechanism, PLAIN is
/// assumed.
fn proof(request: &mut Request) -> Result<Proof, Refusal> {
    match take(request, "saslMechanism") {
        WireValue::Null => {}
        WireValue::String(name) if name == "PLAIN" => {}
        _ => {
            return Err(Refusal::unauthorized(
                "Only the SASL mechanism PLAIN is supported",
            ));
        }
    }
    let message = match take(request, "sasl") {
        WireValue::String(text) => STANDARD.decode(text.as_bytes()).ok(),
        WireValue::Binary(bytes) => Some(bytes),
        _ => None,
    };
    let message = message.ok_or_else(|| {
        Refusal::unauthorized("The argument [sasl] must be a message of SASL PLAIN in base 64")
    })?;
    Proof::parse_plain(&message).map_err(|error| Refusal::unauthorized(error.to_string()))
}

fn session(request: &mut Request) -> Result<CompactString, Refusal> {
    match take(request, "session") {
        WireValue::String(name) => Ok(name),
        WireValue::Uuid(name) => Ok(CompactString::new(Uuid(name).to_string())),
        _ => Err(missing(&request.op, "session")),
    }
}

fn job(mut request: Request, operation: Operation, format: Format) -> Result<Job, Refusal> {
    let session = match request.processor == "session" {
        true => Some(session(&mut request)?),
        false => None,
    };
    let mut options = Options::default();
    for (name, value) in &request.arguments {
        if let Some(value) = option_value(value) {
            options.take(name, &value);
        }
    }
    let program = take(&mut request, "gremlin");
    let is_command = matches!(&program, WireValue::Bytecode(bytecode) if is_command(bytecode));
    let program = match (operation, program) {
        (Operation::Eval, WireValue::String(text)) => Program::Text(text.into()),
        (Operation::Bytecode, WireValue::Bytecode(bytecode)) => {
            let bytecode = bytecode.into_gremlin();
            Program::Bytecode(bytecode.map_err(|error| Refusal::malformed(error.to_string()))?)
        }
        (_, WireValue::Null) => return Err(missing(&request.op, "gremlin")),
        (Operation::Eval, _) => {
            return Err(Refusal::invalid("The argument [gremlin] must be text"));
        }
        (_, _) => {
            let message = "A message with an [bytecode] op code requires a [gremlin] argument \
                           that is of type Bytecode";
            return Err(Refusal::invalid(message));
        }
    };
    let bindings = match take(&mut request, "bindings") {
        WireValue::Null => HashMap::new(),
        WireValue::Map(entries) => wire::bindings(entries).map_err(Refusal::invalid)?,
        _ => return Err(Refusal::invalid("The argument [bindings] must be a map")),
    };
    let aliases = aliases(take(&mut request, "aliases"))?;
    let batch = options
        .batch
        .map_or(BATCH, |batch| usize::try_from(batch).unwrap_or(usize::MAX));
    Ok(Job {
        program,
        is_command,
        session,
        bindings,
        aliases,
        form: Form {
            id: request.id,
            format,
            batch,
            part_bytes: PART_BYTES,
            is_whole: false,
            traversers: operation == Operation::Bytecode,
            texts: false,
            references: options.references.unwrap_or_default(),
            plain_dates: false,
        },
        limit: options.timeout_ms.map(Duration::from_millis),
    })
}

fn operation(request: &Request) -> Result<Operation, Refusal> {
    let unknown = || {
        Refusal::malformed(format!(
            "Message with op code [{}] is not recognized.",
            request.op
        ))
    };
    match (request.processor.as_str(), request.op.as_str()) {
        ("" | "session", "eval") => Ok(Operation::Eval),
        ("traversal" | "session", "bytecode") => Ok(Operation::Bytecode),
        ("session", "close") => Ok(Operation::Close),
        ("" | "traversal" | "session", "authentication") => Ok(Operation::Authenticate),
        ("" | "traversal" | "session", _) => Err(unknown()),
        (other, _) => Err(Refusal::invalid(format!(
            "Invalid OpProcessor requested [{other}]"
        ))),
    }
}

/// Whether the bytecode begins or ends a transaction, such as `g.tx().commit()`.
fn is_command(bytecode: &Bytecode) -> bool {
    let [first] = bytecode.source.as_slice() else {
        return false;
    };
    bytecode.steps.is_empty() && first.name == "tx"
}

fn missing(op: &str, argument: &str) -> Refusal {
    Refusal::invalid(format!(
        "A message with an [{op}] op code requires a [{argument}] argument."
    ))
}

/// Removes and returns an argument; null if it is absent.
fn take(request: &mut Request, name: &str) -> WireValue {
    let arguments = &mut request.arguments;
    let place = arguments.iter().position(|(key, _)| key == name);
    place.map_or(WireValue::Null, |place| arguments.swap_remove(place).1)
}

/// The value of an option, if it is an integer or a text. Values of other types are ignored.
fn option_value(value: &WireValue) -> Option<Value> {
    match value {
        WireValue::Int(number) => Some(Value::Int(*number)),
        WireValue::Long(number) => Some(Value::Long(*number)),
        WireValue::String(text) => Some(Value::Text(text.clone())),
        _ => None,
    }
}

fn aliases(value: WireValue) -> Result<HashMap<String, String>, Refusal> {
    let wrong = || Refusal::invalid("The argument [aliases] must be a map of texts");
    match value {
        WireValue::Null => Ok(HashMap::new()),
        WireValue::Map(entries) => entries
            .into_iter()
            .map(|entry| match entry {
                (WireValue::String(name), WireValue::String(wanted)) => {
                    Ok((name.into(), wanted.into()))
                }
                _ => Err(wrong()),
            })
            .collect(),
        _ => Err(wrong()),
    }
}
