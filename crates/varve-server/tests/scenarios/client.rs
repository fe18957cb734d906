//! Sends scripts and bytecode over a WebSocket or HTTP, and reads the answers.

use varve_graphson::{
    Bytecode, Format, Request, Response, Value, graphson, read_response, write_request,
};
use varve_testkit::http::{Connection, request};
use varve_testserver::TestServer;
use varve_testserver::driver::{Driver, map, text};

/// How requests get to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Socket,
    Http,
}

enum Way {
    Socket(Box<Driver>),
    Http(Connection, Format),
}

/// A connection that speaks one format.
pub(crate) struct Client(Way);

type Arguments<'a> = [(&'a str, Value)];

impl Client {
    pub(crate) fn connect(server: &TestServer, door: Door, format: Format) -> Self {
        Self(match door {
            Door::Http => Way::Http(server.connect(), format),
            Door::Socket => Way::Socket(Box::new(Driver::connect(server, format))),
        })
    }

    /// The results of a script, or the message of the error.
    pub(crate) fn script(
        &mut self,
        graph: &str,
        script: &str,
        bindings: Vec<(Value, Value)>,
    ) -> Result<Vec<Value>, String> {
        let mut arguments = vec![("gremlin", text(script)), ("aliases", alias(graph))];
        if !bindings.is_empty() {
            arguments.push(("bindings", Value::Map(bindings)));
        }
        self.ask("", "eval", &arguments)
    }

    /// The results of bytecode, or the message of the error.
    pub(crate) fn bytecode(&mut self, graph: &str, code: Bytecode) -> Result<Vec<Value>, String> {
        let arguments = [
            ("gremlin", Value::Bytecode(code)),
            ("aliases", alias(graph)),
        ];
        let traversers = self.ask("traversal", "bytecode", &arguments)?;
        let mut values = Vec::new();
        for traverser in traversers {
            let Value::Traverser { bulk, value } = traverser else {
                return Err(format!("{traverser:?} is no traverser"));
            };
            let bulk = usize::try_from(bulk).map_err(|error| error.to_string())?;
            values.extend(std::iter::repeat_n(*value, bulk));
        }
        Ok(values)
    }

    fn ask(
        &mut self,
        processor: &str,
        op: &str,
        arguments: &Arguments<'_>,
    ) -> Result<Vec<Value>, String> {
        match &mut self.0 {
            Way::Socket(driver) => values(driver.ask(processor, op, arguments)),
            Way::Http(connection, format) => over_http(connection, *format, (op, arguments)),
        }
    }
}

fn alias(graph: &str) -> Value {
    map(&[("g", text(&format!("__g_{graph}")))])
}

/// The values of all parts of an answer, or the message of the error.
fn values(parts: Vec<Response>) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    for part in parts {
        match (part.code, part.data) {
            (200 | 206, Value::List(items)) => values.extend(items),
            (204, Value::Null) => {}
            (code @ 200..=299, data) => return Err(format!("{code} with {data:?}")),
            _ => return Err(part.message.into()),
        }
    }
    Ok(values)
}

/// GraphSON as JSON with typed members, GraphBinary as a message of the protocol.
fn over_http(
    connection: &mut Connection,
    format: Format,
    (op, arguments): (&str, &Arguments<'_>),
) -> Result<Vec<Value>, String> {
    let mut body = Vec::new();
    let sent = match format {
        Format::GraphBinary => {
            let request = Request {
                id: 1,
                op: op.into(),
                processor: "".into(),
                arguments: arguments
                    .iter()
                    .map(|(name, value)| ((*name).into(), value.clone()))
                    .collect(),
            };
            write_request(format, &request, &mut body);
            format.mime()
        }
        Format::GraphSon => {
            let mut before = b'{';
            for (name, value) in arguments {
                body.push(before);
                body.extend_from_slice(format!("\"{name}\":").as_bytes());
                graphson::write(value, &mut body);
                before = b',';
            }
            body.push(b'}');
            "application/json"
        }
    };
    let mime = format.mime();
    let headers = format!("content-type: {sent}\r\naccept: {mime}\r\n");
    let request = request("POST", "/gremlin", &headers, body);
    let answer = connection.exchange(&request).expect("an answer");
    if answer.status != 200 {
        let message = answer.json()["message"].as_str().map(str::to_owned);
        return Err(message.ok_or("an error without a message")?);
    }
    values(vec![
        read_response(format, &answer.body).expect("a response"),
    ])
}
