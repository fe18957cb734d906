//! What a forwarded request says of its client.

use std::sync::Mutex;

use super::*;

const CLIENT: &str = "198.51.100.1";

/// A leader that keeps the heads of its requests, and answers each with an empty object.
struct Recorder {
    heads: Arc<Mutex<Vec<String>>>,
    _space: Arc<dyn varve_kv::Space>,
}

impl Recorder {
    fn take(shared: &Arc<SharedMemory>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
                    head.push(byte[0]);
                }
                kept.lock().unwrap().push(String::from_utf8(head).unwrap());
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                stream.write_all(answer).unwrap();
            }
        });
        Self {
            heads,
            _space: take_lease(shared, &address),
        }
    }

    fn asked(&self) -> usize {
        self.heads.lock().unwrap().len()
    }
}

/// The values of a header.
fn values<'a>(head: &'a str, wanted: &str) -> Vec<&'a str> {
    let pairs = head.lines().filter_map(|line| line.split_once(": "));
    let found = pairs.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found.map(|(_, value)| value).collect()
}

#[test]
fn the_leader_learns_the_client_from_the_server_that_forwards() {
    let shared = SharedMemory::new();
    let config = ServerConfig {
        trusted_proxies: vec!["127.0.0.1".to_owned()],
        ..ServerConfig::default()
    };
    let server = Server::start_with(&shared, config);
    server.done("POST", GRAPH, &json!({}));
    let recorder = Recorder::take(&shared);
    // What a client itself claims stands on the left.
    let said = format!("x-forwarded-for: 6.6.6.6, {CLIENT}\r\nforwarded: for=6.6.6.6\r\n");
    for _ in 0..1_000 {
        // Until the server has seen that it leads no longer, it answers itself.
        server.ask_with("GET", &vertices(), &said, &Value::Null);
        if recorder.asked() > 0 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let head = recorder.heads.lock().unwrap()[0].clone();
    assert_eq!(values(&head, "x-varve-forwarded"), ["1"], "{head}");
    assert_eq!(values(&head, "x-forwarded-for"), [CLIENT], "{head}");
    assert_eq!(values(&head, "forwarded"), [""; 0], "{head}");
}
