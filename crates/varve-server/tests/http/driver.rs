//! A driver of TinkerPop, as far as tests need one.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};
use varve_graphson::{
    Bytecode, Format, Instruction, Request, Response, Value, read_response, write_request,
};

use crate::fixture::Fixture;

pub(crate) const FORMATS: [Format; 2] = [Format::GraphSon, Format::GraphBinary];

/// A driver on a connection of its own.
pub(crate) struct Driver {
    pub(crate) socket: WebSocket<TcpStream>,
    format: Format,
    /// The mime type of its messages.
    pub(crate) mime: &'static str,
    ids: u128,
}

pub(crate) fn text(text: &str) -> Value {
    Value::String(text.into())
}

pub(crate) fn map(entries: &[(&str, Value)]) -> Value {
    let each = entries.iter();
    Value::Map(
        each.map(|(key, value)| (text(key), value.clone()))
            .collect(),
    )
}

pub(crate) fn step(name: &str, arguments: &[Value]) -> Instruction {
    Instruction {
        name: name.into(),
        arguments: arguments.to_vec(),
    }
}

pub(crate) fn steps(steps: &[Instruction]) -> Value {
    Value::Bytecode(Bytecode {
        steps: steps.to_vec(),
        source: Vec::new(),
    })
}

impl Driver {
    pub(crate) fn connect(fixture: &Fixture, format: Format) -> Self {
        Self::at(fixture, format, "/gremlin")
    }

    pub(crate) fn at(fixture: &Fixture, format: Format, path: &str) -> Self {
        Self::named(fixture, format, path, "")
    }

    /// One that gives itself this name.
    pub(crate) fn named(fixture: &Fixture, format: Format, path: &str, agent: &str) -> Self {
        Self::of(fixture.server.address(), format, path, agent)
    }

    /// One of the server at this address.
    pub(crate) fn of(address: SocketAddr, format: Format, path: &str, agent: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        let timeout = Some(Duration::from_secs(20));
        stream.set_read_timeout(timeout).unwrap();
        let request = format!("ws://{address}{path}").into_client_request();
        let mut request = request.unwrap();
        let headers = request.headers_mut();
        headers.insert("user-agent", agent.parse().unwrap());
        let (socket, _) = client(request, stream).unwrap();
        Self {
            socket,
            format,
            mime: format.mime(),
            ids: 0,
        }
    }

    pub(crate) fn send(&mut self, processor: &str, op: &str, arguments: &[(&str, Value)]) -> u128 {
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

    pub(crate) fn receive(&mut self) -> Response {
        let message = self.socket.read().unwrap();
        read_response(self.format, &message.into_data()).unwrap()
    }

    /// All parts of the answer to one request.
    pub(crate) fn ask(
        &mut self,
        processor: &str,
        op: &str,
        arguments: &[(&str, Value)],
    ) -> Vec<Response> {
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

    pub(crate) fn eval(&mut self, script: &str) -> Vec<Response> {
        self.ask("", "eval", &[("gremlin", text(script))])
    }

    /// The answer to a script of a session.
    pub(crate) fn eval_in(&mut self, session: &str, script: &str) -> Vec<Response> {
        let arguments = [("gremlin", text(script)), ("session", text(session))];
        self.ask("session", "eval", &arguments)
    }

    /// The results of a script.
    #[track_caller]
    pub(crate) fn results(&mut self, script: &str) -> Vec<Value> {
        results(self.eval(script))
    }

    #[track_caller]
    pub(crate) fn refuses(&mut self, script: &str, code: i32, message: &str) {
        let parts = self.eval(script);
        assert_eq!(parts[0].code, code, "{script}: {parts:?}");
        assert!(parts[0].message.contains(message), "{script}: {parts:?}");
    }
}

#[track_caller]
pub(crate) fn results(parts: Vec<Response>) -> Vec<Value> {
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
