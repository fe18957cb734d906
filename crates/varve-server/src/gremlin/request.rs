//! The request of a client to `/gremlin`: a script, values of its variables, names of its sources.

use std::collections::HashMap;

use compact_str::CompactString;
use http::StatusCode;
use serde::Deserialize;
use serde_json::Value as Json;
use varve_gremlin::bytecode::{Bytecode, from_bytecode};
use varve_gremlin::execute::Environment;
use varve_gremlin::tree::Script;
use varve_gremlin::{ParseError, parse_script_with};
use varve_query::Value;

use super::wire::check_names;
use crate::errors::ApiError;
use crate::request::Query;

/// The program that a client sends.
#[derive(Debug)]
pub(super) enum Program {
    /// The text of a script.
    Text(String),
    /// A script that was parsed with the names of its variables.
    Parsed(Script),
    /// A traversal as bytecode.
    Bytecode(Bytecode),
}

impl Program {
    /// The program as a script with these variables.
    ///
    /// # Errors
    /// When the text or the bytecode is no Gremlin.
    pub(super) fn parsed(self, environment: &Environment) -> Result<Script, ParseError> {
        match self {
            Self::Text(text) => {
                let variables = environment.iter().map(|(name, _)| name.as_str());
                parse_script_with(&text, variables)
            }
            Self::Parsed(script) => Ok(script),
            Self::Bytecode(bytecode) => from_bytecode(bytecode),
        }
    }
}

/// A script and what it refers to.
#[derive(Debug)]
pub(super) struct GremlinRequest {
    pub(super) program: Program,
    pub(super) bindings: HashMap<CompactString, Value>,
    /// The graphs for which the names of sources and graphs stand.
    pub(super) aliases: HashMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Body {
    gremlin: Option<String>,
    #[serde(default)]
    bindings: Option<serde_json::Map<String, Json>>,
    #[serde(default)]
    aliases: Option<HashMap<String, String>>,
    /// Ignored: all languages are read alike.
    #[serde(default, rename = "language")]
    _language: Option<String>,
    as_of: Option<serde::de::IgnoredAny>,
    as_of_tx: Option<serde::de::IgnoredAny>,
}

/// Why a body has no point in time.
pub(super) const NO_TIMES: &str = "as_of and as_of_tx are parameters of the URL, or options of the \
                                   source: g.with('as_of', '2024-05-01'); a body has none";

impl GremlinRequest {
    pub(super) fn of_body(body: &[u8]) -> Result<Self, ApiError> {
        let body: Body =
            serde_json::from_slice(body).map_err(|_| unreadable("body could not be parsed"))?;
        if body.as_of.is_some() || body.as_of_tx.is_some() {
            return Err(ApiError::illegal_argument(NO_TIMES));
        }
        let script = body
            .gremlin
            .ok_or_else(|| unreadable("no gremlin script supplied"))?;
        let bindings = body.bindings.unwrap_or_default();
        let names = bindings.keys().map(String::as_str);
        check_names(names).map_err(ApiError::illegal_argument)?;
        Ok(Self {
            program: Program::Text(script),
            bindings: bindings
                .iter()
                .map(|(name, value)| (CompactString::new(name), value_of(value)))
                .collect(),
            aliases: body.aliases.unwrap_or_default(),
        })
    }

    pub(super) fn of_query(query: &Query) -> Result<Self, ApiError> {
        let script = query
            .get("gremlin")
            .ok_or_else(|| ApiError::illegal_argument("The request query can't be empty"))?;
        let mut bindings = HashMap::new();
        let mut aliases = HashMap::new();
        for (name, value) in query.iter() {
            if let Some(name) = name.strip_prefix("bindings.") {
                // A value that is no JSON is a text.
                let value = serde_json::from_str(value)
                    .map_or_else(|_| Value::text(value), |value| value_of(&value));
                bindings.insert(CompactString::new(name), value);
            } else if let Some(name) = name.strip_prefix("aliases.") {
                aliases.insert(name.to_owned(), value.to_owned());
            }
        }
        let names = bindings.keys().map(CompactString::as_str);
        check_names(names).map_err(ApiError::illegal_argument)?;
        Ok(Self {
            program: Program::Text(script.to_owned()),
            bindings,
            aliases,
        })
    }
}

/// An error before a script is run, which has no class at the original.
pub(super) fn unreadable(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "", message.into())
}

/// A JSON value as a value of queries: whole numbers are as narrow as they can be.
pub(super) fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => match i32::try_from(number) {
                Ok(number) => Value::Int(number),
                Err(_) => Value::Long(number),
            },
            None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::text(text),
        Json::Array(items) => Value::list(items.iter().map(value_of).collect()),
        Json::Object(members) => Value::map(
            members
                .iter()
                .map(|(name, value)| (Value::text(name), value_of(value))),
        ),
    }
}
