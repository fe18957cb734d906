//! The HTTP client of all tests: requests with their answers, and bytes on a connection.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value as Json;

/// How long a read or a write may wait: a server that hangs fails the test instead of blocking it.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A request. `headers`: more lines, each with its `\r\n`; without a `content-type` among them the
/// body is JSON. A GET, HEAD or DELETE without a body has no headers of one.
#[must_use]
pub fn request(method: &str, path: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let json = match headers.contains("content-type:") {
        true => "",
        false => "content-type: application/json\r\n",
    };
    let of_body = match body.len() {
        0 if ["GET", "HEAD", "DELETE"].contains(&method) => String::new(),
        length => format!("{json}content-length: {length}\r\n"),
    };
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{of_body}{headers}\r\n");
    [head.as_bytes(), body].concat()
}

/// An answer as it came, without the framing of its body.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    fn of_head(head: String) -> io::Result<Self> {
        let status = head.get(9..12).and_then(|code| code.parse().ok());
        Ok(Self {
            status: status.ok_or_else(|| invalid(&head))?,
            head,
            body: Vec::new(),
        })
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body, which must be text.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    /// The body as JSON; as a string if it is no JSON.
    #[must_use]
    pub fn json(&self) -> Json {
        let text = || Json::String(String::from_utf8_lossy(&self.body).into_owned());
        serde_json::from_slice(&self.body).unwrap_or_else(|_| text())
    }

    /// Whether the status is one of success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Asserts status and body.
    #[track_caller]
    pub fn is(&self, status: u16, body: &str) {
        assert_eq!((self.status, self.text()), (status, body));
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// A connection, to which any bytes can be written.
pub struct Connection<S = TcpStream> {
    /// The socket.
    pub stream: S,
    /// What was read and not taken.
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    #[must_use]
    pub fn to(address: impl ToSocketAddrs) -> Self {
        Self::try_to(address).expect("a connection")
    }

    /// Connects, to a server that may be gone.
    ///
    /// # Errors
    /// When nobody accepts.
    pub fn try_to(address: impl ToSocketAddrs) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Self::on(stream))
    }

    /// Whether the server has not closed the connection, and has sent nothing unasked.
    fn is_idle(&self) -> bool {
        let peek = || {
            self.stream.set_nonblocking(true)?;
            let peeked = self.stream.peek(&mut [0]);
            self.stream.set_nonblocking(false)?;
            peeked
        };
        peek().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl<S: Read + Write> Connection<S> {
    /// A connection on an open stream.
    pub fn on(stream: S) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Sends a GET and reads its answer.
    pub fn get(&mut self, path: &str) -> Answer {
        self.send(&request("GET", path, "", ""));
        self.receive()
    }

    /// Sends a request and reads its answer.
    ///
    /// # Errors
    /// When the connection ends before the whole answer came.
    pub fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.write_all(request)?;
        self.try_receive(request.starts_with(b"HEAD "))
    }

    /// Reads one answer, which must come.
    #[track_caller]
    pub fn receive(&mut self) -> Answer {
        self.try_receive(false).expect("an answer")
    }

    /// Reads one answer to HEAD, which has no body whatever its length says.
    #[track_caller]
    pub fn receive_head(&mut self) -> Answer {
        self.try_receive(true).expect("an answer")
    }

    fn try_receive(&mut self, is_head: bool) -> io::Result<Answer> {
        let mut answer = Answer::of_head(self.read_head()?)?;
        if is_head {
            return Ok(answer);
        }
        answer.body = match answer.header("transfer-encoding") {
            Some("chunked") => self.read_chunks()?,
            _ => {
                let length = answer.header("content-length").unwrap_or("0");
                let length = length.parse().map_err(|_| invalid(length))?;
                self.take(length)?
            }
        };
        Ok(answer)
    }

    /// Reads the head of an answer, up to its body.
    ///
    /// # Errors
    /// When the connection ends within it.
    pub fn read_head(&mut self) -> io::Result<String> {
        self.read_to(b"\r\n\r\n")
    }

    /// Reads a line without its end.
    ///
    /// # Errors
    /// When the connection ends within it.
    pub fn read_line(&mut self) -> io::Result<String> {
        let line = self.read_to(b"\n")?;
        Ok(line.trim_end().to_owned())
    }

    /// Reads up to the end of `mark`.
    fn read_to(&mut self, mark: &[u8]) -> io::Result<String> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[searched..];
            if let Some(at) = rest.windows(mark.len()).position(|part| part == mark) {
                let bytes = self.take(searched + at + mark.len())?;
                return String::from_utf8(bytes).map_err(|error| invalid(&error.to_string()));
            }
            searched = self.buffer.len().saturating_sub(mark.len() - 1);
            self.fill_more()?;
        }
    }

    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.read_line()?;
            let size = usize::from_str_radix(&line, 16).map_err(|_| invalid(&line))?;
            body.extend(self.take(size)?);
            if self.take(2)? != b"\r\n" {
                return Err(invalid("a chunk is longer than its size"));
            }
            if size == 0 {
                return Ok(body);
            }
        }
    }

    /// Takes so many bytes.
    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < length {
            self.fill_more()?;
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    /// Waits for more and returns it, whatever it is.
    #[track_caller]
    pub fn receive_some(&mut self) -> String {
        while self.buffer.is_empty() {
            self.fill_more().expect("more bytes");
        }
        String::from_utf8(std::mem::take(&mut self.buffer)).expect("text")
    }

    /// Reads to the end of the connection and returns what came. A reset counts as an end.
    #[track_caller]
    pub fn receive_rest(&mut self) -> Vec<u8> {
        loop {
            match self.fill() {
                Ok(count) if count > 0 => {}
                Err(error) if error.kind() != io::ErrorKind::ConnectionReset => {
                    panic!("reading: {error}")
                }
                _ => return std::mem::take(&mut self.buffer),
            }
        }
    }

    fn fill_more(&mut self) -> io::Result<()> {
        if self.fill()? > 0 {
            return Ok(());
        }
        let read = String::from_utf8_lossy(&self.buffer).into_owned();
        let what = format!("closed after {read:?}");
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, what))
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut chunk = [0; 65_536];
        let count = self.stream.read(&mut chunk)?;
        self.buffer.extend_from_slice(&chunk[..count]);
        Ok(count)
    }
}

/// A status and a body.
pub type Response = (u16, Json);

/// Is notified of every request of a client: method, path, when it began, and the response if there
/// was one.
pub type Watcher = Arc<dyn Fn(&str, &str, Instant, Option<&Response>) + Send + Sync>;

/// Sends requests to one server, each on an idle connection or a new one. No request is sent twice.
/// Clones share their connections.
#[derive(Clone)]
pub struct Client {
    /// Host and port.
    address: String,
    /// Header lines of every request.
    headers: String,
    watch: Option<Watcher>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Client {
    /// A client of the server at `http://<host>:<port>`, or `<host>:<port>`.
    #[must_use]
    pub fn of(url: &str) -> Self {
        Self {
            address: url.trim_start_matches("http://").to_owned(),
            headers: "accept: */*\r\n".to_owned(),
            watch: None,
            idle: Arc::default(),
        }
    }

    /// The same, with this header in every request.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    /// The same, which reports every request.
    #[must_use]
    pub fn watched(mut self, watch: Watcher) -> Self {
        self.watch = Some(watch);
        self
    }

    /// A connection of its own, for raw bytes.
    #[must_use]
    pub fn connect(&self) -> Connection {
        Connection::to(&self.address)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// When no whole answer came.
    pub fn exchange(&self, method: &str, path: &str, body: &str) -> io::Result<Answer> {
        let idle = std::iter::from_fn(|| self.idle.lock().pop());
        let mut connection = match idle.into_iter().find(Connection::is_idle) {
            Some(connection) => connection,
            None => Connection::try_to(&self.address)?,
        };
        let answer = connection.exchange(&request(method, path, &self.headers, body))?;
        if answer.header("connection") != Some("close") {
            self.idle.lock().push(connection);
        }
        Ok(answer)
    }

    /// The response, or nothing if there was none.
    #[must_use]
    pub fn try_ask(&self, method: &str, path: &str, body: &str) -> Option<Response> {
        let started = Instant::now();
        let answer = self.exchange(method, path, body).ok();
        let response = answer.map(|answer| (answer.status, answer.json()));
        if let Some(watch) = &self.watch {
            watch(method, path, started, response.as_ref());
        }
        response
    }

    /// The response, which must come.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, body: &str) -> Response {
        let response = self.try_ask(method, path, body);
        response.unwrap_or_else(|| panic!("{method} {path}: no answer"))
    }

    /// The body of a response, which must be one of success.
    #[track_caller]
    pub fn must(&self, method: &str, path: &str, body: &str) -> Json {
        let (status, response) = self.ask(method, path, body);
        assert!(
            (200..300).contains(&status),
            "{method} {path} {body}: {status} {response}"
        );
        response
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that sends each of these texts on a connection of its own, once a head has come.
    fn answering(texts: &'static [&'static str]) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for text in texts {
                let (stream, _) = listener.accept().unwrap();
                let mut connection = Connection::on(stream);
                connection.read_head().unwrap();
                connection.send(text.as_bytes());
            }
        });
        Client::of(&format!("http://{address}"))
    }

    #[test]
    fn answers_are_read_and_closed_connections_not_used_again() {
        let client = answering(&[
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[1\r\n1\r\n]\r\n0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{",
        ]);
        let ended = || {
            let idle = || client.idle.lock().iter().any(Connection::is_idle);
            while idle() {
                std::thread::yield_now();
            }
        };
        assert_eq!(client.ask("GET", "/", ""), (200, serde_json::json!({})));
        ended();
        assert_eq!(client.ask("GET", "/", ""), (200, serde_json::json!([1])));
        ended();
        assert_eq!(client.exchange("HEAD", "/", "").unwrap().status, 404);
        ended();
        assert_eq!(client.try_ask("GET", "/", ""), None, "the answer is cut");
        assert_eq!(client.try_ask("GET", "/", ""), None, "nobody listens");
    }
}
