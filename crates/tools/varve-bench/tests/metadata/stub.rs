//! A substitute for an open-metadata repository: it stores entities by type and home, and supports
//! nothing else.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// How the repository misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Right,
    /// Refuses the entity with this number, from 1.
    Refuses(usize),
    /// Stops after this number of requests.
    Leaves(usize),
    /// Returns one instance too many for pages of this size.
    Exceeds(u64),
}

/// The repository, which ends with its process.
pub(crate) struct Stub {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    manner: Manner,
    state: Mutex<Served>,
}

#[derive(Default)]
struct Served {
    requests: usize,
    connections: usize,
    added: usize,
    entities: Vec<Value>,
    /// The requested paths that are not supported.
    refused: Vec<String>,
}

impl Stub {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            manner,
            state: Mutex::default(),
        });
        serve_all(listener, Arc::clone(&shared));
        Self { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/platform", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.state.lock().expect("unpoisoned").connections
    }

    pub(crate) fn refused(&self) -> Vec<String> {
        self.shared
            .state
            .lock()
            .expect("unpoisoned")
            .refused
            .clone()
    }
}

/// Serves one connection after another until the repository stops.
fn serve_all(listener: TcpListener, shared: Arc<Shared>) {
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            shared.state.lock().expect("unpoisoned").connections += 1;
            if !shared.serve(&stream) {
                // Before the connection ends, so that no client can connect after it has seen the
                // end.
                drop(listener);
                return;
            }
        }
    });
}

const PREFIX: &str = "/platform/servers/varve/open-metadata/repository-services/users/bench";

impl Shared {
    /// Whether it stops before this request.
    fn is_gone(&self, requests: usize) -> bool {
        matches!(self.manner, Manner::Leaves(after) if requests > after)
    }

    /// Serves one connection to its end. Returns `false` when the repository stops.
    fn serve(&self, stream: &TcpStream) -> bool {
        let mut writer = stream.try_clone().expect("another handle");
        let mut reader = BufReader::new(stream);
        loop {
            let mut first = String::new();
            if reader.read_line(&mut first).unwrap_or(0) == 0 {
                return true;
            }
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a header");
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a length");
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let mut state = self.state.lock().expect("unpoisoned");
            state.requests += 1;
            if self.is_gone(state.requests) {
                return false;
            }
            let path = first.split(' ').nth(1).expect("a path");
            let path = path.strip_prefix(PREFIX).expect("the path of the contract");
            let answer = self.answer(&mut state, path, &body).to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                answer.len()
            );
            let whole = head + &answer;
            writer.write_all(whole.as_bytes()).expect("sent");
        }
    }

    fn answer(&self, state: &mut Served, path: &str, body: &Value) -> Value {
        match path {
            "/metadata-collection-id" => json!({
                "class": "MetadataCollectionIdResponse",
                "relatedHTTPCode": 200,
                "metadataCollectionId": "home",
            }),
            "/instances/entity" => {
                state.added += 1;
                if self.manner == Manner::Refuses(state.added) {
                    return exception("EntityConflictException");
                }
                let guid = format!("e{}", state.added);
                state.add(&guid, &body["entityTypeGUID"], "home")
            }
            "/instances/entities/reference-copy" => {
                let guid = body["guid"].as_str().expect("a GUID").to_owned();
                let home = body["metadataCollectionId"].as_str().expect("a home");
                state.add(&guid, &body["type"]["typeDefGUID"], home);
                json!({"class": "VoidResponse", "relatedHTTPCode": 200})
            }
            "/instances/entities" | "/instances/entities/by-property" => {
                let asked = body["pageSize"].as_u64();
                let asked = asked.expect("a page");
                let exceeds = self.manner == Manner::Exceeds(asked);
                state.find(body, asked + u64::from(exceeds))
            }
            _ if path.starts_with("/instances/entity/") && body.is_null() => {
                let rest = &path["/instances/entity/".len()..];
                let (guid, kind) = rest.split_once('/').unwrap_or((rest, ""));
                let entity = state.entities.iter().find(|it| it["guid"] == *guid);
                let mut entity = entity.cloned().expect("a GUID that was given out");
                let class = match kind {
                    "summary" => "EntitySummary",
                    _ => "EntityDetail",
                };
                entity["class"] = json!(class);
                json!({"class": format!("{class}Response"), "relatedHTTPCode": 200, "entity": entity})
            }
            _ => {
                state.refused.push(path.to_owned());
                exception("FunctionNotSupportedException")
            }
        }
    }
}

fn exception(name: &str) -> Value {
    json!({
        "relatedHTTPCode": 400,
        "exceptionClassName": format!("org.odpi.openmetadata.repositoryservices.ffdc.exception.{name}"),
        "exceptionErrorMessage": "as configured",
    })
}

impl Served {
    fn add(&mut self, guid: &str, type_guid: &Value, home: &str) -> Value {
        let entity = json!({
            "class": "EntityDetail",
            "type": {"class": "InstanceType", "typeDefGUID": type_guid},
            "metadataCollectionId": home,
            "guid": guid,
            "version": 1,
        });
        self.entities.push(entity.clone());
        json!({"class": "EntityDetailResponse", "relatedHTTPCode": 200, "entity": entity})
    }

    /// At most `most` entities.
    fn find(&self, body: &Value, most: u64) -> Value {
        let wanted = &body["matchProperties"]["instanceProperties"]["metadataCollectionId"];
        let home = wanted["primitiveValue"].as_str();
        let fits = |it: &&Value| {
            it["type"]["typeDefGUID"] == body["typeGUID"]
                && home.is_none_or(|home| {
                    let quoted = format!(
                        "\\Q{}\\E",
                        it["metadataCollectionId"].as_str().expect("a home")
                    );
                    quoted == home
                })
        };
        let offset = body["offset"].as_u64();
        let found: Vec<&Value> = self
            .entities
            .iter()
            .filter(fits)
            .skip(offset.unwrap_or(0) as usize)
            .take(most as usize)
            .collect();
        match found.is_empty() {
            true => json!({"class": "EntityListResponse", "relatedHTTPCode": 200}),
            false => {
                json!({"class": "EntityListResponse", "relatedHTTPCode": 200, "entities": found})
            }
        }
    }
}
