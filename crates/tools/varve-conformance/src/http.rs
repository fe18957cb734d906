//! A blocking HTTP/1.1 client that sends exactly the given bytes: raw paths, odd bodies, missing
//! headers. Ordinary clients normalise these, which a conformance replay must not do.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The time limit of one answer, including the connection.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest accepted answer, in bytes.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A server's address: `http://host:port`.
#[derive(Clone, Debug)]
pub struct Server {
    authority: String,
}

/// One request, sent unchanged.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The verb.
    pub method: String,
    /// The path with its query, already percent-encoded; sent untouched.
    pub path: String,
    /// Headers besides `Host`, `Connection` and `Content-Length`, which the client adds.
    pub headers: Vec<(String, String)>,
    /// The body; `None` sends no body and no length.
    pub body: Option<Vec<u8>>,
}

/// One answer; the body is already decompressed.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text (invalid UTF-8 replaced).
    pub body: String,
}

impl Response {
    /// The value of a header, by its lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    }
}

impl Server {
    /// Reads `http://host:port[/]`.
    ///
    /// # Errors
    /// When the text is not of that form.
    pub fn parse(url: &str) -> Result<Self, String> {
        let authority = url
            .strip_prefix("http://")
            .map(|rest| rest.trim_end_matches('/'))
            .filter(|a| !a.is_empty() && !a.contains('/') && a.contains(':'))
            .ok_or_else(|| format!("expected http://host:port, got '{url}'"))?;
        Ok(Self {
            authority: authority.to_owned(),
        })
    }

    /// Sends one request on a new connection and reads the answer.
    ///
    /// # Errors
    /// When the connection fails, or the answer is not HTTP.
    pub fn send(&self, request: &Request) -> io::Result<Response> {
        let stream = TcpStream::connect(&self.authority)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
        let mut bytes = format!(
            "{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
            request.method, request.path, self.authority
        )
        .into_bytes();
        for (name, value) in &request.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if let Some(body) = &request.body {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            bytes.extend_from_slice(body);
        } else {
            bytes.extend_from_slice(b"\r\n");
        }
        (&stream).write_all(&bytes)?;
        read_response(&mut BufReader::new(stream), request.method == "HEAD")
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.to_owned())
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    reader.take(64 * 1024).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

fn read_response(reader: &mut impl BufRead, is_head: bool) -> io::Result<Response> {
    let status_line = read_line(reader)?;
    let status = status_line
        .strip_prefix("HTTP/1.")
        .and_then(|rest| rest.get(2..5))
        .and_then(|code| code.parse::<u16>().ok())
        .ok_or_else(|| invalid(&format!("not an HTTP status line: '{status_line}'")))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| invalid("a header without ':'"))?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut response = Response {
        status,
        headers,
        body: String::new(),
    };
    if is_head || status == 204 || status == 304 {
        return Ok(response);
    }
    let raw = read_body(reader, &response)?;
    let plain = match response.header("content-encoding") {
        Some("gzip") => {
            let mut out = Vec::new();
            flate2::read::GzDecoder::new(raw.as_slice())
                .take(BODY_BYTES_MAX)
                .read_to_end(&mut out)?;
            out
        }
        _ => raw,
    };
    response.body = String::from_utf8_lossy(&plain).into_owned();
    Ok(response)
}

fn read_body(reader: &mut impl BufRead, head: &Response) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if head
        .header("transfer-encoding")
        .is_some_and(|v| v.eq_ignore_ascii_case("chunked"))
    {
        loop {
            let line = read_line(reader)?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).map_err(|_| invalid("a bad chunk size"))?;
            if size == 0 {
                return Ok(body);
            }
            let read = reader.take(size).read_to_end(&mut body)?;
            if read as u64 != size || body.len() as u64 > BODY_BYTES_MAX {
                return Err(invalid(
                    "a chunk that is cut short, or a body over the limit",
                ));
            }
            read_line(reader)?;
        }
    }
    match head.header("content-length").map(str::parse::<u64>) {
        Some(Ok(length)) if length <= BODY_BYTES_MAX => {
            reader.take(length).read_to_end(&mut body)?;
            if (body.len() as u64) < length {
                return Err(invalid("a body shorter than its Content-Length"));
            }
        }
        Some(_) => return Err(invalid("a bad Content-Length")),
        None => {
            reader.take(BODY_BYTES_MAX).read_to_end(&mut body)?;
        }
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Response> {
        read_response(&mut text.as_bytes(), false)
    }

    #[test]
    fn reads_both_ways_of_framing_a_body() {
        let fixed =
            read("HTTP/1.1 201 Created\r\nContent-Length: 3\r\nX: y\r\n\r\nabcdef").unwrap();
        assert_eq!((fixed.status, fixed.body.as_str()), (201, "abc"));
        assert_eq!(fixed.header("x"), Some("y"));
        let chunked = read(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
        );
        assert_eq!(chunked.unwrap().body, "abc");
        let closed = read("HTTP/1.1 200 OK\r\n\r\nall of it").unwrap();
        assert_eq!(closed.body, "all of it");
    }

    #[test]
    fn reports_a_body_that_is_cut_short() {
        assert!(read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").is_err());
        assert!(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc").is_err());
        assert!(read("220 smtp ready\r\n\r\n").is_err());
    }

    #[test]
    fn reads_only_plain_addresses() {
        assert!(Server::parse("http://127.0.0.1:8080/").is_ok());
        for bad in [
            "127.0.0.1:8080",
            "https://a:1",
            "http://",
            "http://a:1/graphs",
        ] {
            assert!(Server::parse(bad).is_err(), "{bad}");
        }
    }
}
