//! What a graph exports as CSV, JSON Lines, Parquet and Arrow loads into an empty graph, which then
//! exports the same.

use serde_json::{Value, json};
use varve_server::ServerConfig;
use varve_testkit::http::request;
use varve_testserver::TestServer;

const KEYS: [(&str, &str, &str); 10] = [
    ("name", "TEXT", "SINGLE"),
    ("age", "INT", "SINGLE"),
    ("level", "BYTE", "SINGLE"),
    ("seen", "LONG", "SINGLE"),
    ("height", "FLOAT", "SINGLE"),
    ("weight", "DOUBLE", "SINGLE"),
    ("born", "DATE", "SINGLE"),
    ("alive", "BOOLEAN", "SINGLE"),
    ("tags", "TEXT", "LIST"),
    ("days", "DATE", "SET"),
];

struct Graphs {
    server: TestServer,
}

impl Graphs {
    fn done(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.server.send(method, path, &body.to_string());
        let text = answer.text().to_owned();
        assert!(answer.is_success(), "{path}: {} {text}", answer.status);
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// A graph with a schema.
    fn make(&self, graph: &str) {
        self.done(
            "POST",
            &format!("/graphs/{graph}"),
            &json!({ "name": graph }),
        );
        let schema = format!("/graphs/{graph}/schema");
        for (name, data_type, cardinality) in KEYS {
            let key = json!({"name": name, "data_type": data_type, "cardinality": cardinality});
            self.done("POST", &format!("{schema}/propertykeys"), &key);
        }
        let names: Vec<&str> = KEYS.iter().map(|(name, ..)| *name).collect();
        for (name, strategy, primary) in [
            ("person", "PRIMARY_KEY", &["name"][..]),
            ("thing", "CUSTOMIZE_STRING", &[]),
            ("number", "CUSTOMIZE_NUMBER", &[]),
        ] {
            let nullable: Vec<&&str> = names.iter().filter(|it| !primary.contains(it)).collect();
            let label = json!({"name": name, "id_strategy": strategy, "primary_keys": primary,
                "properties": names, "nullable_keys": nullable});
            self.done("POST", &format!("{schema}/vertexlabels"), &label);
        }
        for (name, target, sort) in [("knows", "person", &["born"][..]), ("has", "thing", &[])] {
            let frequency = if sort.is_empty() {
                "SINGLE"
            } else {
                "MULTIPLE"
            };
            let label = json!({"name": name, "source_label": "person", "target_label": target,
                "properties": ["born", "weight"], "nullable_keys": ["weight"],
                "frequency": frequency, "sort_keys": sort});
            self.done("POST", &format!("{schema}/edgelabels"), &label);
        }
    }

    fn fill(&self, graph: &str) {
        let path = format!("/graphs/{graph}/graph");
        let odd = [
            "Ann",
            "=1+1",
            "a,\"b\"",
            "'tis",
            "x:y!z`",
            " ",
            "Zoë 日本",
            "two\nlines",
            "NULL",
            "-5",
            "[1]",
        ];
        let people = odd.iter().enumerate().map(|(at, name)| {
            json!({"label": "person", "valid_from": "2020-01-01T00:00:00.000001Z", "properties": {
                "name": name, "age": at, "level": -3, "seen": 9_007_199_254_740_993_i64,
                "height": 1.1, "weight": 0.1 * 3.0, "born": "1970-01-02 03:04:05.678",
                "alive": at % 2 == 0, "tags": ["a", "b;c", ""], "days": ["2020-02-29"]}})
        });
        let more = [
            json!({"label": "thing", "id": "=t 1", "valid_from": "2020-01-01", "properties": {"weight": "NaN"}}),
            json!({"label": "thing", "id": "7", "valid_from": "2020-01-01", "valid_to": "2999-01-01", "properties": {}}),
            json!({"label": "number", "id": -7, "valid_from": "2020-01-01", "properties": {"weight": "-Infinity"}}),
        ];
        let vertices: Vec<Value> = people.chain(more).collect();
        let ids = self.done("POST", &format!("{path}/vertices/batch"), &json!(vertices));
        let edge = |label: &str, from: usize, to: usize, born: &str| {
            let target = if label == "has" { "thing" } else { "person" };
            json!({"label": label, "outV": ids[from], "inV": ids[to], "outVLabel": "person",
                "inVLabel": target, "valid_from": "2021-05-05", "properties": {"born": born}})
        };
        let edges = json!([
            edge("knows", 0, 4, "2020-01-01"),
            edge("knows", 0, 4, "2020-01-02"),
            edge("has", 4, odd.len(), "2020-01-03"),
            edge("has", 1, odd.len(), "2020-01-03"),
        ]);
        self.done("POST", &format!("{path}/edges/batch"), &edges);
    }

    fn export(&self, graph: &str, query: &str) -> Vec<u8> {
        let answer = self
            .server
            .get(&format!("/graphs/{graph}/explore/export?{query}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.body
    }

    /// All elements without the time of their storing, sorted.
    fn elements(&self, graph: &str) -> Vec<String> {
        let lines = String::from_utf8(self.export(graph, "format=jsonl")).expect("UTF-8");
        let elements = lines.lines().skip(1).map(|line| {
            let mut element: Value = serde_json::from_str(line).expect("JSON");
            for time in ["version", "recorded_at"] {
                element.as_object_mut().expect("an object").remove(time);
            }
            element.to_string()
        });
        let mut elements: Vec<String> = elements.collect();
        elements.sort();
        elements
    }

    fn load(&self, graph: &str, files: &[(&str, Vec<u8>)], mapping: &str) {
        for (name, bytes) in files {
            let path = format!("/graphs/{graph}/load/files/{name}");
            let head = "content-type: application/octet-stream\r\n";
            let answer = self.server.exchange(&request("PUT", &path, head, bytes));
            assert_eq!(answer.status, 201, "{}", answer.text());
        }
        let body = json!({ "mapping": mapping }).to_string();
        let answer = self
            .server
            .send("POST", &format!("/graphs/{graph}/load"), &body);
        let last = answer.text().lines().last().unwrap_or_default().to_owned();
        let last: Value = serde_json::from_str(&last).expect("JSON");
        assert_eq!(last["done"]["refused"], 0, "{}", answer.text());
    }
}

#[test]
fn exports_load_again_unchanged() {
    let server = TestServer::start(ServerConfig::default());
    let graphs = Graphs { server };
    graphs.make("first");
    graphs.fill("first");
    let expected = graphs.elements("first");
    assert_eq!(expected.len(), 18);
    for format in ["csv", "parquet", "arrow"] {
        graphs.make(format);
        let name = |what: &str| format!("{what}.{format}");
        let export =
            |what: &str| graphs.export("first", &format!("format={format}&elements={what}"));
        let (vertices, edges) = (name("vertices"), name("edges"));
        let files = [(&*vertices, export("vertices")), (&*edges, export("edges"))];
        let mapping = format!("[[vertex]]\nfile = \"{vertices}\"\n[[edge]]\nfile = \"{edges}\"\n");
        graphs.load(format, &files, &mapping);
        let found = graphs.elements(format);
        assert_eq!(found, expected, "{format}");
    }
    graphs.make("jsonl");
    let files = [("all.jsonl", graphs.export("first", "format=jsonl"))];
    let mapping = "[[vertex]]\nfile = \"all.jsonl\"\n[[edge]]\nfile = \"all.jsonl\"\n";
    graphs.load("jsonl", &files, mapping);
    assert_eq!(graphs.elements("jsonl"), expected);
}

#[test]
fn a_label_is_exported_with_its_own_columns() {
    let server = TestServer::start(ServerConfig::default());
    let graphs = Graphs { server };
    graphs.make("first");
    graphs.fill("first");
    let table = graphs.export("first", "format=csv&elements=edges&label=has");
    let table = String::from_utf8(table).expect("UTF-8");
    let header = table.lines().next().expect("a header");
    assert!(
        header.ends_with("~to_label,weight,born") || header.ends_with("~to_label,born,weight"),
        "{header}"
    );
    assert_eq!(table.lines().count(), 3);
}
