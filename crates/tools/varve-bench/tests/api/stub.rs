//! A substitute for a HugeGraph 1.5.0 server: it answers the tool's preparation properly, and
//! misbehaves in the requests of the scenarios.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// How the server treats reads of vertices after the preparation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Right,
    /// Answers with an element that was not requested.
    OtherElement,
    Status(u16),
    /// Answers 503, also during the preparation.
    BusyFromTheStart,
    /// Sends bytes that are not HTTP.
    NoHttp,
    /// Closes the connection instead of answering.
    HangUp,
    /// Closes the connection, announced in the header, after this number of answers.
    ClosesAfter(u32),
    /// Closes its port.
    StopsListening,
    Chunked,
    /// Sends the answer byte by byte.
    Pieces,
    /// Never answers.
    Silent,
    /// Acknowledges vertices without storing them.
    Forgets,
}

/// The server, which ends with its process.
pub(crate) struct Stub {
    address: SocketAddr,
}

struct Shared {
    manner: Manner,
    vertices: Mutex<HashMap<String, String>>,
    /// Whether the vertices to read have been loaded.
    loaded: AtomicBool,
    listener: Mutex<Option<TcpListener>>,
    address: SocketAddr,
}

impl Stub {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            manner,
            vertices: Mutex::default(),
            loaded: AtomicBool::new(false),
            listener: Mutex::new(Some(listener.try_clone().expect("another handle"))),
            address,
        });
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if shared.stopped() {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || shared.serve(&stream));
            }
        });
        Self { address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

struct Request {
    method: String,
    path: String,
    body: String,
}

fn read(stream: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream
        .read_line(&mut line)
        .ok()
        .filter(|length| *length > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(Request { method, path, body })
}

fn write(mut stream: &TcpStream, status: u16, more: &str, body: &str) {
    let answer = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{more}\r\n{body}",
        body.len()
    );
    // The client may have closed the connection.
    let _ = stream.write_all(answer.as_bytes());
}

impl Shared {
    fn stopped(&self) -> bool {
        self.listener.lock().expect("not poisoned").is_none()
    }

    fn serve(&self, stream: &TcpStream) {
        let mut input = BufReader::new(stream);
        let mut answered = 0;
        while let Some(request) = read(&mut input) {
            let is_read = request.method == "GET" && request.path.contains("/vertices/%22");
            let is_probe = request.path.contains("history");
            let begun =
                self.loaded.load(Ordering::SeqCst) || self.manner == Manner::BusyFromTheStart;
            if is_read && !is_probe && begun {
                answered += 1;
                if !self.misbehave(stream, &request, answered) {
                    break;
                }
            } else {
                let (status, body) = self.answer(&request);
                // Before the answer, since the users connect after it.
                let stops =
                    self.manner == Manner::StopsListening && self.loaded.load(Ordering::SeqCst);
                if stops {
                    self.stop_listening();
                }
                write(stream, status, "", &body);
                if stops {
                    return;
                }
            }
        }
    }

    fn stop_listening(&self) {
        drop(self.listener.lock().expect("not poisoned").take());
        // Wakes the accepting thread, which ends and closes the port.
        let _ = TcpStream::connect(self.address);
    }

    /// Answers a read in the given manner. Returns whether the connection stays open.
    fn misbehave(&self, stream: &TcpStream, request: &Request, answered: u32) -> bool {
        let (status, body) = self.answer(request);
        let mut out = stream;
        match self.manner {
            Manner::OtherElement => write(stream, 200, "", r#"{"id":"other"}"#),
            Manner::Status(status) => write(stream, status, "", r#"{"message":"busy"}"#),
            Manner::BusyFromTheStart => write(stream, 503, "", r#"{"message":"busy"}"#),
            Manner::NoHttp => {
                let _ = out.write_all(b"SSH-2.0-OpenSSH_9.2\r\n\r\n");
                return false;
            }
            Manner::HangUp => return false,
            Manner::ClosesAfter(count) if answered >= count => {
                write(stream, status, "Connection: close\r\n", &body);
                return false;
            }
            Manner::Chunked => {
                let (a, b) = body.split_at(body.len() / 2);
                let text = format!(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n",
                    a.len(),
                    b.len()
                );
                let _ = out.write_all(text.as_bytes());
            }
            Manner::Pieces => {
                let text = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.set_nodelay(true);
                for byte in text.bytes() {
                    let _ = out.write_all(&[byte]);
                }
            }
            Manner::Silent => {}
            _ => write(stream, status, "", &body),
        }
        true
    }

    fn answer(&self, request: &Request) -> (u16, String) {
        let path = request.path.split('?').next().unwrap_or_default();
        let get = request.method == "GET";
        match path {
            "/versions" => (
                200,
                r#"{"versions":{"core":"1.5.0","api":"0.71.0.0"}}"#.to_owned(),
            ),
            "/" => (
                200,
                r#"{"service":"hugegraph","version":"1.5.0"}"#.to_owned(),
            ),
            _ if path.ends_with("/graphs/hugegraph") => (200, "{}".to_owned()),
            _ if path.contains("/schema/indexlabels/") => {
                (200, r#"{"status":"CREATED"}"#.to_owned())
            }
            _ if path.contains("/schema/") => (201, "{}".to_owned()),
            _ if path.ends_with("/graph/vertices") => self.put(&request.body),
            _ if path.ends_with("/graph/vertices/batch") => self.put_batch(&request.body),
            _ if path.ends_with("/graph/edges") => edge(&request.body),
            _ if get && path.contains("/graph/vertices/%22") && !path.contains("/history") => {
                let id = path.split("%22").nth(1).unwrap_or_default();
                let vertices = self.vertices.lock().expect("not poisoned");
                match vertices.get(id) {
                    Some(vertex) => (200, vertex.clone()),
                    None => (404, "{}".to_owned()),
                }
            }
            _ => (404, "{}".to_owned()),
        }
    }

    fn put(&self, body: &str) -> (u16, String) {
        let vertex: serde_json::Value = serde_json::from_str(body).expect("JSON");
        let id = vertex["id"].as_str().expect("an id").to_owned();
        if self.manner != Manner::Forgets {
            let mut vertices = self.vertices.lock().expect("not poisoned");
            vertices.insert(id, body.to_owned());
        }
        (201, body.to_owned())
    }

    fn put_batch(&self, body: &str) -> (u16, String) {
        let elements: Vec<serde_json::Value> = serde_json::from_str(body).expect("JSON");
        let mut vertices = self.vertices.lock().expect("not poisoned");
        let mut ids = Vec::new();
        for element in elements {
            let id = element["id"].as_str().expect("an id").to_owned();
            vertices.insert(id.clone(), element.to_string());
            ids.push(id);
        }
        // The tests load 400 vertices, besides the two from which the tool learns the form of edge
        // ids.
        self.loaded.store(vertices.len() >= 402, Ordering::SeqCst);
        (201, serde_json::to_string(&ids).expect("JSON"))
    }
}

fn edge(body: &str) -> (u16, String) {
    let mut edge: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let end = |name: &str| edge[name].as_str().expect("an end").to_owned();
    let id = format!("S{}>1>1>>S{}", end("outV"), end("inV"));
    edge["id"] = id.into();
    (201, edge.to_string())
}
