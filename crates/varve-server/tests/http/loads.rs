//! `…/load`: files are uploaded in pieces, drafted, tried and loaded, with the client's rights.

#[path = "../../../varve-load/tests/data/mod.rs"]
mod data;
mod trials;

use serde_json::{Value, json};
use varve_server::{LoadConfig, ServerConfig};
use varve_testkit::http::{Answer, request};
use varve_testserver::TestServer;

use data::Set;

const GRAPH: &str = "/graphs/hugegraph";
const FILES: &str = "/graphs/hugegraph/load/files";

struct Loads {
    server: TestServer,
}

impl Loads {
    fn with(load: LoadConfig) -> Self {
        let server = TestServer::start(ServerConfig {
            load,
            ..ServerConfig::default()
        });
        let made = server.send("POST", GRAPH, r#"{"name":"hugegraph"}"#);
        assert!(made.is_success(), "{}", made.text());
        Self { server }
    }

    fn put(&self, name: &str, offset: usize, bytes: &[u8]) -> Answer {
        let path = format!("{FILES}/{name}?offset={offset}");
        let head = "content-type: application/octet-stream\r\n";
        self.server.exchange(&request("PUT", &path, head, bytes))
    }

    /// Uploads the files, each in pieces.
    fn upload(&self, set: &Set) {
        for (name, bytes) in &set.files {
            for (at, piece) in bytes.chunks(5_000).enumerate() {
                let answer = self.put(name, at * 5_000, piece);
                assert_eq!(answer.status, 201, "{}", answer.text());
            }
        }
    }

    fn infer(&self) -> Value {
        let answer = self
            .server
            .send("POST", &format!("{GRAPH}/load/infer"), "{}");
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// The lines of a load.
    fn load(&self, mapping: &str, query: &str) -> Vec<Value> {
        let path = format!("{GRAPH}/load{query}");
        let body = json!({ "mapping": mapping }).to_string();
        let answer = self.server.send("POST", &path, &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let lines = answer.text().lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    fn refused(&self, mapping: &str, message: &str) {
        let body = json!({ "mapping": mapping }).to_string();
        let schema = || {
            let answer = self.server.send("GET", &format!("{GRAPH}/schema"), "");
            answer.text().to_owned()
        };
        let before = schema();
        let answer = self.server.send("POST", &format!("{GRAPH}/load"), &body);
        assert_eq!(schema(), before, "a refused mapping changes nothing");
        let text = answer.text().to_owned();
        assert!(
            answer.status == 400 && text.contains(message),
            "{} {text}",
            answer.status
        );
    }

    fn gremlin(&self, script: &str) -> Value {
        let body = json!({ "gremlin": format!("g = hugegraph.traversal(); {script}") });
        let answer = self.server.send("POST", "/gremlin", &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["result"]["data"][0].clone()
    }

    fn count(&self, of: &str, label: &str) -> u64 {
        let count = self.gremlin(&format!("g.{of}().hasLabel('{label}').count()"));
        count.as_u64().unwrap_or_else(|| panic!("{count}"))
    }

    fn sum(&self, of: &str, label: &str, key: &str) -> f64 {
        let sum = self.gremlin(&format!(
            "g.{of}().hasLabel('{label}').values('{key}').sum()"
        ));
        sum.as_f64().unwrap_or_else(|| panic!("{sum}"))
    }
}

/// Loads a data set as it is drafted.
fn loaded(set: &Set) -> Loads {
    let loads = Loads::with(LoadConfig::default());
    loads.upload(set);
    let drafted = loads.infer();
    let mapping = drafted["mapping"].as_str().expect("a text");
    let lines = loads.load(mapping, "?dry_run=true");
    assert_eq!(
        lines.last().expect("a line")["done"]["refused"],
        0,
        "{lines:?}\n{mapping}"
    );
    assert_eq!(loads.gremlin("g.V().count()"), 0);
    let lines = loads.load(mapping, "");
    let end = &lines.last().expect("a line")["done"];
    assert_eq!(
        (&end["refused"], &end["replaced"]),
        (&json!(0), &json!(0)),
        "{lines:?}\n{mapping}"
    );
    loads
}

#[test]
fn drafts_of_five_data_sets_load_as_they_are() {
    let trade = loaded(&data::trade());
    assert_eq!(trade.count("V", "orders"), 830);
    assert_eq!(trade.count("E", "order_details"), 2155);
    assert_eq!(trade.count("E", "employees_report_to"), 8);
    let freight: f64 = (0..830).map(|n| f64::from(n) + 0.25).sum();
    assert!((trade.sum("V", "orders", "Freight") - freight).abs() < 0.001);
    let social = loaded(&data::social());
    assert_eq!(social.count("V", "posts"), 300);
    assert_eq!(
        (social.count("E", "follows"), social.count("E", "likes")),
        (1000, 600)
    );
    let flights = loaded(&data::flights());
    assert_eq!(
        (flights.count("V", "airports"), flights.count("E", "routes")),
        (120, 900)
    );
    let distance: f64 = (0..900).map(|n| f64::from(n * 10)).sum();
    assert!((flights.sum("E", "routes", "distance") - distance).abs() < 0.001);
    let benchmark = loaded(&data::benchmark());
    assert_eq!(benchmark.count("V", "person"), 100);
    assert_eq!(benchmark.count("E", "person_knows_person"), 300);
}

#[test]
fn a_second_draft_takes_the_labels_of_the_graph() {
    for set in [
        data::trade(),
        data::social(),
        data::flights(),
        data::benchmark(),
        data::temporal(),
    ] {
        let loads = loaded(&set);
        let count = || {
            (
                loads.gremlin("g.V().count()"),
                loads.gremlin("g.E().count()"),
            )
        };
        let before = count();
        let drafted = loads.infer();
        let mapping = drafted["mapping"].as_str().expect("a text");
        assert!(!mapping.contains("[schema]"), "{mapping}");
        let lines = loads.load(mapping, "");
        assert_eq!(outcome(&lines).1["refused"], 0, "{lines:?}\n{mapping}");
        assert_eq!(count(), before, "{mapping}");
    }
}

#[test]
fn a_draft_says_in_what_files_differ_from_their_labels() {
    let loads = Loads::with(LoadConfig::default());
    let upload = |files: &[(&str, &str)]| {
        assert_eq!(loads.server.send("DELETE", FILES, "").status, 204);
        for (name, text) in files {
            assert_eq!(loads.put(name, 0, text.as_bytes()).status, 201);
        }
        loads.infer()
    };
    assert_eq!(loads.put("x.csv", 0, b"x\n").status, 201);
    let drafted = upload(&[
        ("people.csv", "person_id,name,age\na1,Ann,30\n002,Bob,40\n"),
        ("companies.csv", "company_id,name\nc1,Acme\n"),
        (
            "jobs.csv",
            "person_id,company_id,title,from,to\na1,c1,dev,2018-01-01,\n002,c1,ops,2019-01-01,\n",
        ),
    ]);
    let lines = loads.load(drafted["mapping"].as_str().expect("a text"), "");
    assert_eq!(outcome(&lines).1["refused"], 0, "{lines:?}");
    // Ids that look like numbers, a column more, a column less, and a value of another type.
    let drafted = upload(&[
        ("People.csv", "person_id,age,email\n103,20,x@y\n104,old,\n"),
        (
            "jobs_fix.csv",
            "company_id,person_id,from,to\nc1,103,2020-01-01,\nc1,a1,2018-01-01,2020-06-01\n",
        ),
    ]);
    let mapping = drafted["mapping"].as_str().expect("a text");
    for part in [
        "column 'email': ignored: label 'people' of the graph has no such property",
        "column 'age': 'age' is INT in the graph, but not all its values are",
        "no columns for [\"name\"] of label 'people' of the graph",
        "label = \"jobs\"",
        "source = \"person_id\"\ntarget = \"company_id\"",
    ] {
        assert!(mapping.contains(part), "{part}\n{mapping}");
    }
    let lines = loads.load(mapping, "");
    let (refused, end) = outcome(&lines);
    // The people have no times, so the new one is valid from now on, and its job is refused.
    let reasons = refused.iter().map(|row| row["reason"].as_str());
    let reasons: Vec<&str> = reasons.map(|it| it.expect("a text")).collect();
    assert_eq!(
        reasons,
        [
            "column 'age': 'old' is not a whole number",
            "The vertex '103' does not exist then (at the valid_from)"
        ],
        "{lines:?}\n{mapping}"
    );
    assert_eq!(end["elements"], 2);
    assert_eq!(
        (loads.count("V", "people"), loads.count("E", "jobs")),
        (3, 2)
    );
    // A file that no label is like is a label of its own.
    let drafted = upload(&[("cities.csv", "city_id,name\nx,Bonn\n")]);
    let mapping = drafted["mapping"].as_str().expect("a text");
    assert!(mapping.contains("label = \"cities\""), "{mapping}");
    let lines = loads.load(mapping, "");
    assert_eq!(outcome(&lines).1["refused"], 0, "{lines:?}\n{mapping}");
    // Its name is another one, but its columns are those of people.
    let drafted = upload(&[("staff.csv", "person_id,name,age\n105,Eve,50\n")]);
    let mapping = drafted["mapping"].as_str().expect("a text");
    assert!(
        mapping.contains("of label 'people' of the graph, which has the same columns"),
        "{mapping}"
    );
    let lines = loads.load(mapping, "");
    assert_eq!(outcome(&lines).1["refused"], 0, "{lines:?}\n{mapping}");
    assert_eq!(loads.count("V", "people"), 4);
}

#[test]
fn who_worked_where_is_asked_in_time() {
    let loads = loaded(&data::temporal());
    let at = |day: &str| {
        let path = format!("{GRAPH}/graph/edges?label=jobs&limit=-1&as_of={day}");
        let answer = loads.server.get(&path).json();
        answer["edges"].as_array().expect("edges").len()
    };
    assert_eq!(
        (at("2018-06-01"), at("2021-06-01"), at("2014-06-01")),
        (60, 40, 0)
    );
}

#[test]
fn refused_rows_are_named_and_the_others_are_stored() {
    let loads = Loads::with(LoadConfig::default());
    let rows: String = (0..3000)
        .map(|n| match n {
            17 => "17,x\n".to_owned(),
            2500 => "2500,3000000000\n".to_owned(),
            n => format!("{n},{n}\n"),
        })
        .collect();
    let text = format!("id,n\n{rows}");
    assert_eq!(loads.put("items.csv", 0, text.as_bytes()).status, 201);
    let mapping = "[[vertex]]\nfile = \"items.csv\"\nlabel = \"item\"\nid = \"id\"\n\
        [schema]\npropertykeys = [{ name = \"n\", data_type = \"INT\" }]\n\
        vertexlabels = [{ name = \"item\", id_strategy = \"CUSTOMIZE_NUMBER\", properties = [\"n\"] }]\n";
    let lines = loads.load(mapping, "");
    let refused: Vec<&Value> = lines
        .iter()
        .map(|line| &line["refused"])
        .filter(|it| !it.is_null())
        .collect();
    assert_eq!(refused[0]["line"], 19);
    assert_eq!(
        refused[0]["reason"],
        "column 'n': 'x' is not a whole number"
    );
    assert_eq!((refused.len(), &refused[1]["line"]), (2, &json!(2502)));
    let end = &lines.last().expect("a line")["done"];
    assert_eq!(
        end["inputs"][0],
        json!({"file": "items.csv", "kind": "vertex", "label": "item", "loaded": 2998, "refused": 2})
    );
    assert_eq!(loads.count("V", "item"), 2998);
    let lines = loads.load(mapping, "?max_errors=0");
    let end = &lines.last().expect("a line")["failed"];
    assert!(
        end["message"]
            .as_str()
            .expect("a text")
            .contains("max_errors"),
        "{end}"
    );
    let other = mapping.replace("\"item\"\nid", "\"itm\"\nid");
    loads.refused(
        &other,
        "there is no vertex label 'itm' (did you mean 'item'?)",
    );
    loads.refused(
        &mapping.replace("items.csv", "../items.csv"),
        "no such file was uploaded",
    );
    loads.refused("[[vertex]]\nfile = 1\n", "mapping:2: ");
}

#[test]
fn uploads_are_bounded_and_belong_together() {
    let loads = Loads::with(LoadConfig {
        files_bytes_max: 1000,
        files_max: 2,
        ..LoadConfig::default()
    });
    let is = |answer: &Answer, status: u16, message: &str| {
        let text = answer.text();
        assert!(
            answer.status == status && text.contains(message),
            "{} {text}",
            answer.status
        );
    };
    is(
        &loads.put("a.csv", 0, b"\xef\xbb\xbfid\n"),
        201,
        "\"bytes\":6",
    );
    is(&loads.put("a.csv", 5, b"x"), 400, "has 6 bytes");
    is(&loads.put("a.csv", 6, b"1\n"), 201, "\"bytes\":8");
    is(
        &loads.put("b.csv", 0, &[b'x'; 993]),
        413,
        "load.files_bytes_max",
    );
    is(&loads.put("b.csv", 0, &[b'x'; 992]), 201, "992");
    is(&loads.put("b.csv", 0, b"x"), 201, "\"bytes\":1");
    is(&loads.put("c.csv", 0, b"x"), 400, "load.files_max");
    for name in ["..", ".a", "a%2Fb", "a%5Cb", "a%0Ab"] {
        assert_ne!(loads.put(name, 0, b"x").status, 201, "{name}");
    }
    let listed = loads.server.get(FILES).json();
    assert_eq!(listed["files"][0], json!({"name": "a.csv", "bytes": 8}));
    // A small file that unpacks to much.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &vec![b'a'; 10_000]).expect("packed");
    is(
        &loads.put("b.csv", 0, &packed.finish().expect("packed")),
        201,
        "b.csv",
    );
    let answer = loads
        .server
        .send("POST", &format!("{GRAPH}/load/infer"), "{}");
    is(
        &answer,
        400,
        "b.csv: cannot be unpacked: it has more than 1000 bytes",
    );
    assert_eq!(loads.server.send("DELETE", FILES, "").status, 204);
    assert_eq!(loads.server.get(FILES).json()["files"], json!([]));
}

#[test]
fn a_draft_of_messy_files_loads_all_but_what_is_no_date() {
    let people = "person_id,name\np1,Ann\np2,Bob\np1,Ann\n";
    let companies = "company_id,name\nc1,Acme\nc2,Bolt\n";
    let mut jobs = "person_id,company_id,title,from,to\n".to_owned();
    for day in 1..=20 {
        let year = 1990 + day;
        jobs.push_str(&format!("p1,c1,dev,{year}-01-01,{day:02}.06.{year}\n"));
    }
    jobs.push_str("p2,c2,dev,2019-01-01,\np2,c2,lead,2020-01-01,01.01.2021\n");
    jobs.push_str("p2,c1,dev,2019-01-01,31.06.2021\n");
    let files = [
        ("people.csv", people),
        ("companies.csv", companies),
        ("jobs.csv", &*jobs),
    ];
    let loads = Loads::with(LoadConfig::default());
    loads.upload(&Set {
        files: files
            .map(|(name, text)| (name, text.as_bytes().to_vec()))
            .into(),
    });
    let drafted = loads.infer();
    let mapping = drafted["mapping"].as_str().expect("a text");
    let lines = loads.load(mapping, "");
    let refused: Vec<&Value> = lines.iter().map(|line| &line["refused"]).collect();
    let refused: Vec<&&Value> = refused.iter().filter(|it| it.is_object()).collect();
    assert_eq!(refused.len(), 1, "{lines:?}\n{mapping}");
    assert_eq!(refused[0]["line"], 24);
    assert_eq!(loads.count("V", "people"), 2);
    let at = |day: &str| {
        let script =
            format!("g.with('as_of','{day}').E().hasLabel('jobs').values('title').order().fold()");
        loads.gremlin(&script)
    };
    assert_eq!(at("2020-06-01"), json!(["dev", "lead"]));
    assert_eq!(at("2021-06-01"), json!(["dev"]));
    assert_eq!(at("1991-05-31"), json!(["dev"]));
    assert_eq!(at("1991-06-01"), json!([]));
    // What the graph has now, another draft may not define anew.
    let other = mapping.replace("CUSTOMIZE_STRING", "AUTOMATIC");
    assert_ne!(other, mapping);
    loads.refused(
        &other,
        "that is of CUSTOMIZE_STRING ids with the properties name, not of AUTOMATIC ids",
    );
}

#[test]
fn a_file_of_corrections_ends_what_was_open() {
    let loads = Loads::with(LoadConfig::default());
    let jobs = "person_id,company_id,from,to\np1,c1,2018-03-01,\np2,c1,2018-03-01,\n";
    let fix = "person_id,company_id,from,to\np1,c1,2018-03-01,2021-05-15\n";
    let people = "person_id\np1\np2\n";
    let companies = "company_id\nc1\n";
    let files = [
        ("people.csv", people),
        ("companies.csv", companies),
        ("jobs.csv", jobs),
        ("fix.csv", fix),
    ];
    loads.upload(&Set {
        files: files
            .map(|(name, text)| (name, text.as_bytes().to_vec()))
            .into(),
    });
    let mapping = |jobs: &str, more: &str| {
        format!(
            "[[vertex]]\nfile = \"people.csv\"\nlabel = \"people\"\nid = \"person_id\"\n\
             valid_from = 2000-01-01\n\
             [[vertex]]\nfile = \"companies.csv\"\nlabel = \"companies\"\nid = \"company_id\"\n\
             valid_from = 2000-01-01\n\
             [[edge]]\nfile = \"{jobs}\"\nlabel = \"jobs\"\nsource = \"person_id\"\n\
             target = \"company_id\"\nvalid_from = \"from\"\nvalid_to = \"to\"\n{more}\n\
             [schema]\nvertexlabels = [\n\
             {{name = \"people\", id_strategy = \"CUSTOMIZE_STRING\"}},\n\
             {{name = \"companies\", id_strategy = \"CUSTOMIZE_STRING\"}}]\n\
             edgelabels = [{{name = \"jobs\", source_label = \"people\", target_label = \"companies\"}}]\n"
        )
    };
    let load = |mapping: &str| {
        let lines = loads.load(mapping, "");
        let end = &lines.last().expect("a line")["done"];
        assert_eq!(end["refused"], 0, "{lines:?}");
    };
    let at = |day: &str| loads.gremlin(&format!("g.with('as_of','{day}').E().count()"));
    load(&mapping("jobs.csv", ""));
    // A row alone says nothing of the time after its end.
    load(&mapping("fix.csv", ""));
    assert_eq!(at("2021-06-01"), 2);
    load(&mapping("fix.csv", "valid_to_ends_edge = true"));
    assert_eq!(at("2021-05-14"), 2);
    assert_eq!(at("2021-05-15"), 1);
    assert_eq!(loads.gremlin("g.E().count()"), 1);
    loads.refused(
        &mapping("fix.csv", "valid_to_ends_edge = true")
            .replace("valid_to = \"to\"", "ignore = [\"to\"]"),
        "needs `valid_to`",
    );
}

#[test]
fn an_update_changes_what_its_rows_name_in_their_times() {
    let loads = Loads::with(LoadConfig::default());
    let people = "id,name,age,from,to\np1,Ann,30,2000-01-01,\np2,Bob,40,2000-01-01,\n";
    let fix = "id,age,from,to\np1,31,2010-01-01,2015-01-01\np2,,2010-01-01,\np3,50,2010-01-01,\n\
        p1,32,2015-01-01,2020-01-01\np1,x,2010-01-01,\n";
    for (name, text) in [("people.csv", people), ("fix.csv", fix)] {
        assert_eq!(loads.put(name, 0, text.as_bytes()).status, 201);
    }
    let mapping = |file: &str, more: &str| {
        format!(
            "[[vertex]]\nfile = \"{file}\"\nlabel = \"person\"\nid = \"id\"\n\
             valid_from = \"from\"\nvalid_to = \"to\"\n{more}\n[schema]\n\
             propertykeys = [{{ name = \"name\" }}, {{ name = \"age\", data_type = \"INT\" }}]\n\
             vertexlabels = [{{ name = \"person\", id_strategy = \"CUSTOMIZE_STRING\", \
             properties = [\"name\", \"age\"], nullable_keys = [\"name\", \"age\"] }}]\n"
        )
    };
    let lines = loads.load(&mapping("people.csv", ""), "");
    assert_eq!(outcome(&lines).1["refused"], 0, "{lines:?}");
    let update = mapping("fix.csv", "update = true");
    let dry = loads.load(&update, "?dry_run=true");
    let lines = loads.load(&update, "");
    assert_eq!(outcome(&dry), outcome(&lines));
    assert_eq!(outcome(&lines).0.len(), 1, "{lines:?}");
    let of = |id: &str, day: &str| {
        let path = format!("{GRAPH}/graph/vertices/%22{id}%22?as_of={day}");
        let vertex = loads.server.get(&path).json();
        vertex["properties"].clone()
    };
    let ann = |age: i64| json!({"name": "Ann", "age": age});
    for (day, age) in [
        ("2009-01-01", 30),
        ("2012-01-01", 31),
        ("2016-01-01", 32),
        ("2021-01-01", 30),
    ] {
        assert_eq!(of("p1", day), ann(age), "{day}");
    }
    assert_eq!(of("p2", "2021-01-01"), json!({"name": "Bob", "age": 40}));
    assert_eq!(of("p3", "2021-01-01"), json!({"age": 50}));
    let both = mapping("fix.csv", "update = true\nvalid_to_ends_edge = true");
    loads.refused(&both, "does not go with");
}

/// The refused rows and the end of a load.
fn outcome(lines: &[Value]) -> (Vec<&Value>, Value) {
    let refused = lines.iter().map(|line| &line["refused"]);
    let mut end = lines.last().expect("a line")["done"].clone();
    end["dry_run"] = Value::Null;
    (refused.filter(|it| it.is_object()).collect(), end)
}
