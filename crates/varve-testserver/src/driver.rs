//! A driver of TinkerPop, as far as tests need one.

use std::net::{SocketAddr, TcpStream};

use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, HandshakeError, Message, WebSocket, client};
use varve_graphson::{
    Bytecode, Format, Instruction, Request, Response, Value, read_response, write_request,
};
use varve_testkit::http::Connection;

use crate::TestServer;

/// The formats of messages.
pub const FORMATS: [Format; 2] = [Format::GraphSon, Format::GraphBinary];

/// A driver on a connection of its own.
pub struct Driver {
    /// The WebSocket.
    pub socket: WebSocket<TcpStream>,
    format: Format,
    /// The mime type of its messages.
    pub mime: &'static str,
    ids: u128,
}

/// A text as a value.
#[must_use]
pub fn text(text: &str) -> Value {
    Value::String(text.into())
}

/// A map with texts as keys.
#[must_use]
pub fn map(entries: &[(&str, Value)]) -> Value {
    let each = entries.iter();
    Value::Map(
        each.map(|(key, value)| (text(key), value.clone()))
            .collect(),
    )
}

/// A step of bytecode.
#[must_use]
pub fn step(name: &str, arguments: &[Value]) -> Instruction {
    Instruction {
        name: name.into(),
        arguments: arguments.to_vec(),
    }
}

/// Bytecode of these steps.
#[must_use]
pub fn steps(steps: &[Instruction]) -> Value {
    Value::Bytecode(Bytecode {
        steps: steps.to_vec(),
        source: Vec::new(),
    })
}

/// Opens a WebSocket with these headers.
///
/// # Errors
/// The status of the answer, if it is refused.
pub fn open(
    address: SocketAddr,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<WebSocket<TcpStream>, u16> {
    let mut request = format!("ws://{address}{path}")
        .into_client_request()
        .unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    match client(request, Connection::to(address).stream) {
        Ok((socket, _)) => Ok(socket),
        Err(HandshakeError::Failure(Error::Http(response))) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

impl Driver {
    /// Connects to `/gremlin`.
    #[must_use]
    pub fn connect(server: &TestServer, format: Format) -> Self {
        Self::at(server, format, "/gremlin")
    }

    /// Connects to a path.
    #[must_use]
    pub fn at(server: &TestServer, format: Format, path: &str) -> Self {
        Self::named(server, format, path, "")
    }

    /// The same, with a name for itself.
    #[must_use]
    pub fn named(server: &TestServer, format: Format, path: &str, agent: &str) -> Self {
        let opened = open(server.address(), path, &[("user-agent", agent)]);
        Self {
            socket: opened.unwrap_or_else(|status| panic!("{path}: {status}")),
            format,
            mime: format.mime(),
            ids: 0,
        }
    }

    /// Sends a request; returns its id.
    pub fn send(&mut self, processor: &str, op: &str, arguments: &[(&str, Value)]) -> u128 {
        self.ids += 1;
        let arguments = arguments.iter();
        let request = Request {
            id: self.ids,
            op: op.into(),
            processor: processor.into(),
            arguments: arguments
                .map(|(name, value)| ((*name).into(), value.clone()))
                .collect(),
        };
        let mime = self.mime;
        let mut frame = vec![mime.len() as u8];
        frame.extend_from_slice(mime.as_bytes());
        write_request(self.format, &request, &mut frame);
        self.socket.send(Message::Binary(frame.into())).unwrap();
        self.ids
    }

    /// The next part of an answer.
    pub fn receive(&mut self) -> Response {
        let message = self.socket.read().unwrap();
        read_response(self.format, &message.into_data()).unwrap()
    }

    /// All parts of the answer to one request.
    pub fn ask(&mut self, processor: &str, op: &str, arguments: &[(&str, Value)]) -> Vec<Response> {
        let id = self.send(processor, op, arguments);
        let mut parts = Vec::new();
        loop {
            let part = self.receive();
            assert_eq!(part.id, Some(id), "{part:?}");
            let more = part.code == 206;
            parts.push(part);
            if !more {
                return parts;
            }
        }
    }

    /// The answer to a script.
    pub fn eval(&mut self, script: &str) -> Vec<Response> {
        self.ask("", "eval", &[("gremlin", text(script))])
    }

    /// The answer to a script of a session.
    pub fn eval_in(&mut self, session: &str, script: &str) -> Vec<Response> {
        let arguments = [("gremlin", text(script)), ("session", text(session))];
        self.ask("session", "eval", &arguments)
    }

    /// The results of a script.
    #[track_caller]
    pub fn results(&mut self, script: &str) -> Vec<Value> {
        results(self.eval(script))
    }

    /// A script must be refused with this code and a message that has this text.
    #[track_caller]
    pub fn refuses(&mut self, script: &str, code: i32, message: &str) {
        let parts = self.eval(script);
        assert_eq!(parts[0].code, code, "{script}: {parts:?}");
        assert!(parts[0].message.contains(message), "{script}: {parts:?}");
    }
}

/// The values of an answer, which must be one of success.
#[track_caller]
pub fn results(parts: Vec<Response>) -> Vec<Value> {
    let mut all = Vec::new();
    for part in parts {
        match (part.code, part.data) {
            (200 | 206, Value::List(items)) => all.extend(items),
            (204, Value::Null) => {}
            (code, data) => panic!("{code} {} {data:?}", part.message),
        }
    }
    all
}
