//! Mode RESTORING of the graph while a dump is loaded.

use serde::Deserialize;
use serde_json::json;

use crate::CommandError;
use crate::rest::{GraphClient, RestError};

/// The mode in which schema elements keep their ids.
const RESTORING: &str = "RESTORING";
/// The normal mode.
const NONE: &str = "NONE";

/// The answer of `GET …/mode`.
#[derive(Deserialize)]
struct ModeAnswer {
    mode: String,
}

/// Does `work` while the graph is in mode RESTORING, and sets the mode back however `work` ends.
/// If the graph is in mode RESTORING already, a load was killed, and the mode is NONE afterwards.
///
/// # Errors
/// When the mode cannot be read, set or set back, or `work` fails. If the mode cannot be set back
/// after another error, the message has both, that error first.
pub(super) fn while_restoring<T>(
    client: &GraphClient,
    work: impl FnOnce() -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let path = client.of_graph("mode");
    let set = |mode: &str| client.send_patiently("PUT", &path, &json!(mode).to_string());
    let found: ModeAnswer = client.get(&path)?;
    let before = match found.mode.as_str() {
        RESTORING => NONE,
        other => other,
    };
    let outcome = match set(RESTORING) {
        Ok(_) => work(),
        // The mode has not changed.
        Err(
            error @ RestError::Refused {
                status: 400..=499, ..
            },
        ) => return Err(error.into()),
        // The mode may have changed.
        Err(error) => Err(error.into()),
    };
    let Err(cause) = set(before) else {
        return outcome;
    };
    let still = format!(
        "the graph may still be in mode {RESTORING}: {cause}; set it back with PUT {path} and the \
         body \"{before}\""
    );
    match outcome {
        Ok(_) => Err(format!("the load has ended, but {still}").into()),
        Err(first) => Err(format!("{first}; {still}").into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::while_restoring;
    use crate::CommandError;
    use crate::cli::Trust;
    use crate::rest::GraphClient;

    /// A server that gives these answers, each on a connection of its own. Its thread returns the
    /// requests: method and body.
    fn server(answers: &[(&str, &str)]) -> (GraphClient, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address").to_string();
        let answers: Vec<String> = answers
            .iter()
            .map(|(status, body)| {
                let length = body.len();
                let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
                format!("{head}Content-Length: {length}\r\n\r\n{body}")
            })
            .collect();
        let requests = std::thread::spawn(move || {
            let mut requests = Vec::new();
            for answer in answers {
                let (stream, _) = listener.accept().expect("a client");
                let mut reader = BufReader::new(&stream);
                let (mut line, mut length) = (String::new(), 0);
                reader.read_line(&mut line).expect("a request");
                let method = line.split(' ').next().unwrap_or_default().to_owned();
                while line != "\r\n" {
                    line.clear();
                    reader.read_line(&mut line).expect("a header");
                    let header = line.to_ascii_lowercase();
                    if let Some(value) = header.strip_prefix("content-length:") {
                        length = value.trim().parse().expect("a length");
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).expect("a body");
                requests.push(format!("{method} {}", String::from_utf8_lossy(&body)));
                (&stream).write_all(answer.as_bytes()).expect("sent");
            }
            requests
        });
        let client = GraphClient::new(&address, "g", &Trust::default()).expect("a client");
        (client, requests)
    }

    const LOADING: (&str, &str) = ("200 OK", r#"{"mode":"LOADING"}"#);
    const DONE: (&str, &str) = ("200 OK", "{}");
    const REFUSED: (&str, &str) = ("403 Forbidden", r#"{"message":"not allowed"}"#);
    const BROKEN: (&str, &str) = ("500 Internal Server Error", r#"{"message":"broken"}"#);

    fn fails() -> Result<(), CommandError> {
        Err("no such label".into())
    }

    fn says(outcome: Result<(), CommandError>) -> String {
        outcome.map_or_else(|error| error.to_string(), |()| "done".to_owned())
    }

    #[test]
    fn the_mode_is_set_back_after_success_and_after_an_error() {
        for succeeds in [true, false] {
            let (client, requests) = server(&[LOADING, DONE, DONE]);
            let work = || if succeeds { Ok(()) } else { fails() };
            let said = if succeeds { "done" } else { "no such label" };
            assert_eq!(says(while_restoring(&client, work)), said);
            let requests = requests.join().expect("the server");
            assert_eq!(requests, ["GET ", "PUT \"RESTORING\"", "PUT \"LOADING\""]);
        }
    }

    #[test]
    fn a_mode_that_cannot_be_set_back_is_told_after_the_first_error() {
        let still = "the graph may still be in mode RESTORING: not allowed (HTTP 403); set it back \
                     with PUT /graphs/g/mode and the body \"LOADING\"";
        let (client, _requests) = server(&[LOADING, DONE, REFUSED]);
        let said = says(while_restoring(&client, fails));
        assert_eq!(said, format!("no such label; {still}"));
        let (client, _requests) = server(&[LOADING, DONE, REFUSED]);
        let said = says(while_restoring(&client, || Ok(())));
        assert_eq!(said, format!("the load has ended, but {still}"));
    }

    #[test]
    fn a_mode_that_cannot_be_set_is_set_back_unless_the_server_refused_it() {
        let (client, requests) = server(&[LOADING, REFUSED]);
        let said = says(while_restoring(&client, fails));
        assert_eq!(said, "not allowed (HTTP 403)");
        assert_eq!(requests.join().expect("the server").len(), 2);
        let (client, requests) = server(&[LOADING, BROKEN, DONE]);
        let said = says(while_restoring(&client, fails));
        assert_eq!(said, "broken (HTTP 500)");
        assert_eq!(requests.join().expect("the server")[2], "PUT \"LOADING\"");
    }
}
