//! Sends scripts and bytecode over a WebSocket or HTTP, and reads the answers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value as Json;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};
use varve_graphson::{Bytecode, Format, Request, Value, graphson, read_response, write_request};

/// A client gives up reading after this long: a hang fails the test in place of blocking it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How requests get to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Socket,
    Http,
}

enum Connection {
    Socket(Box<WebSocket<TcpStream>>),
    Http(TcpStream),
}

/// A connection that speaks one format.
pub(crate) struct Client {
    connection: Connection,
    format: Format,
    ids: u128,
}

fn text(text: &str) -> Value {
    Value::String(text.into())
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, door: Door, format: Format) -> Self {
        let stream = open(address);
        let connection = match door {
            Door::Http => Connection::Http(stream),
            Door::Socket => {
                let (socket, _) = client(format!("ws://{address}/gremlin"), stream).expect("open");
                Connection::Socket(Box::new(socket))
            }
        };
        Self {
            connection,
            format,
            ids: 0,
        }
    }

    /// The results of a script, or the message of the error.
    pub(crate) fn script(
        &mut self,
        graph: &str,
        script: &str,
        bindings: Vec<(Value, Value)>,
    ) -> Result<Vec<Value>, String> {
        let mut arguments = vec![
            ("gremlin".into(), text(script)),
            ("aliases".into(), alias(graph)),
        ];
        if !bindings.is_empty() {
            arguments.push(("bindings".into(), Value::Map(bindings)));
        }
        self.ask("", "eval", arguments)
    }

    /// The results of bytecode, or the message of the error.
    pub(crate) fn bytecode(&mut self, graph: &str, code: Bytecode) -> Result<Vec<Value>, String> {
        let arguments = vec![
            ("gremlin".into(), Value::Bytecode(code)),
            ("aliases".into(), alias(graph)),
        ];
        let traversers = self.ask("traversal", "bytecode", arguments)?;
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
        arguments: Vec<(varve_graphson::Text, Value)>,
    ) -> Result<Vec<Value>, String> {
        self.ids += 1;
        let request = Request {
            id: self.ids,
            op: op.into(),
            processor: processor.into(),
            arguments,
        };
        let format = self.format;
        match &mut self.connection {
            Connection::Socket(socket) => over_socket(socket, format, &request),
            Connection::Http(stream) => over_http(stream, format, &request),
        }
    }
}

fn open(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    stream.set_nodelay(true).expect("no delay");
    stream
}

fn alias(graph: &str) -> Value {
    Value::Map(vec![(text("g"), text(&format!("__g_{graph}")))])
}

fn over_socket(
    socket: &mut WebSocket<TcpStream>,
    format: Format,
    request: &Request,
) -> Result<Vec<Value>, String> {
    let mime = format.mime();
    let mut frame = vec![mime.len() as u8];
    frame.extend_from_slice(mime.as_bytes());
    write_request(format, request, &mut frame);
    let sent = socket.send(Message::Binary(frame.into()));
    sent.expect("the request is sent");
    let mut values = Vec::new();
    loop {
        let message = socket.read().expect("a message").into_data();
        let part = read_response(format, &message).expect("a response");
        assert_eq!(part.id, Some(request.id), "{part:?}");
        let is_part = part.code == 206;
        match (part.code, part.data) {
            (200 | 206, Value::List(items)) => values.extend(items),
            (204, Value::Null) => {}
            (200..=299, data) => return Err(format!("{} with {data:?}", part.code)),
            _ => return Err(part.message.into()),
        }
        if !is_part {
            return Ok(values);
        }
    }
}

/// GraphSON as JSON with typed members, GraphBinary as a message of the protocol.
fn over_http(
    stream: &mut TcpStream,
    format: Format,
    request: &Request,
) -> Result<Vec<Value>, String> {
    let mut body = Vec::new();
    let sent = match format {
        Format::GraphBinary => {
            write_request(format, request, &mut body);
            format.mime()
        }
        Format::GraphSon => {
            let mut before = b'{';
            for (name, value) in &request.arguments {
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
    let (status, body) = exchange(stream, "POST /gremlin", &headers, &body);
    if status != 200 {
        let error: Json = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
        let message = error["message"].as_str();
        return Err(message.ok_or("an error without a message")?.to_owned());
    }
    let response = read_response(format, &body).expect("a response");
    match (response.code, response.data) {
        (200, Value::List(items)) => Ok(items),
        (204, Value::Null) => Ok(Vec::new()),
        (code, data) => Err(format!("{code} with {data:?}")),
    }
}

/// Sends one request on a connection of its own; gives the status and the body of the answer.
pub(crate) fn http(
    address: SocketAddr,
    request: &str,
    headers: &str,
    body: &[u8],
) -> (u16, Vec<u8>) {
    exchange(&mut open(address), request, headers, body)
}

fn exchange(stream: &mut TcpStream, request: &str, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let length = body.len();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    let sent = [head.as_bytes(), body].concat();
    stream.write_all(&sent).expect("the request is sent");
    let mut read = Vec::new();
    let end = loop {
        let end = read.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            break end + 4;
        }
        more(stream, &mut read);
    };
    let head = String::from_utf8(read.drain(..end).collect()).expect("UTF-8");
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse::<usize>().expect("a number"))
    });
    let length = length.expect("a content-length");
    while read.len() < length {
        more(stream, &mut read);
    }
    (head[9..12].parse().expect("a status"), read)
}

fn more(stream: &mut TcpStream, read: &mut Vec<u8>) {
    let mut chunk = [0; 65_536];
    let count = stream.read(&mut chunk).expect("more of an answer");
    assert!(count > 0, "the connection was closed within an answer");
    read.extend_from_slice(&chunk[..count]);
}
