//! Drafted mappings of five data sets make graphs whose counts and sums are right, without a
//! change.

mod data;
mod messy;
mod of_graph;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde::Deserialize as _;
use serde_json::Value as Json;
use varve_load::{
    BatchKind, Catalogue, Converter, Inferred, Mapping, Owners, Source, check_columns,
    check_schema, infer, source_of,
};

use data::Set;

/// What a load of the drafted mapping would store.
struct Graph {
    drafted: Inferred,
    vertices: BTreeMap<String, HashMap<u64, Json>>,
    edges: BTreeMap<String, Vec<Json>>,
}

fn inferred(set: &Set, folder: &Path) -> Inferred {
    let files = set.write(folder);
    let sources: Result<Vec<Source>, String> = files.iter().map(|file| source_of(file)).collect();
    infer(
        &sources.expect("sources"),
        &Catalogue::default(),
        &|| Ok(()),
    )
    .expect("drafted")
}

fn drafted(path: &Path) -> Result<Inferred, String> {
    infer(
        &[source_of(path).expect("a source")],
        &Catalogue::default(),
        &|| Ok(()),
    )
}

impl Graph {
    fn of(set: &Set) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let drafted = inferred(set, folder.path());
        let mapping = Mapping::parse(&drafted.mapping, "mapping.toml", &mut |file| {
            Ok(vec![file.to_path_buf()])
        });
        let mapping = mapping.unwrap_or_else(|error| panic!("{error}\n{}", drafted.mapping));
        let mut schema = drafted.schema.clone();
        assert_eq!(mapping.schema.as_ref(), Some(&schema));
        let labels = schema["vertexlabels"].as_array_mut().expect("labels");
        for (id, label) in labels.iter_mut().enumerate() {
            label["id"] = Json::from(id + 1);
        }
        let catalogue = Catalogue::deserialize(&schema).expect("a schema");
        let labels = mapping.vertices.iter().map(|source| &*source.label);
        let mut owners = Owners::new(labels, &catalogue);
        let mut graph = Self {
            drafted,
            vertices: BTreeMap::new(),
            edges: BTreeMap::new(),
        };
        for source in &mapping.vertices {
            graph.read((BatchKind::Vertices, source), &catalogue, &mut owners);
        }
        for source in &mapping.edges {
            graph.read((BatchKind::Edges, source), &catalogue, &mut owners);
        }
        graph.check_edges(&catalogue);
        graph
    }

    fn read(&mut self, of: (BatchKind, &Source), catalogue: &Catalogue, owners: &mut Owners) {
        let (kind, source) = of;
        let columns = check_columns(source, kind).expect("columns");
        check_schema(source, &columns, kind, catalogue).expect("a schema");
        let mut converter = Converter::new(kind);
        for row in source.rows().expect("rows") {
            let row = row.expect("a row");
            let fields = row.fields.expect("fields");
            let element = converter.element(fields, source, catalogue, owners);
            let element = element.unwrap_or_else(|error| {
                let file = source.file.display();
                panic!("{file}:{}: {error}\n{}", row.line, self.drafted.mapping)
            });
            let Some(element) = element else { continue };
            let json: Json = serde_json::from_str(&element.json).expect("JSON");
            let label = source.label.clone();
            if kind == BatchKind::Vertices {
                let known = self.vertices.entry(label).or_default();
                known.insert(element.identity.expect("an id"), json);
            } else {
                self.edges.entry(label).or_default().push(json);
            }
        }
    }

    /// All ends exist, and no edge replaces another.
    fn check_edges(&self, catalogue: &Catalogue) {
        let mut ids = HashSet::new();
        for (label, vertices) in &self.vertices {
            let label = catalogue.vertex_label(label).expect("a label");
            for vertex in vertices.values() {
                match &*label.primary_keys {
                    [] => _ = ids.insert(vertex["id"].to_string()),
                    [key] => {
                        // The key of a text is the text; numbers have an encoding of their own.
                        let value = &vertex["properties"][key];
                        let number = value
                            .as_i64()
                            .map(|number| varve_model::sortable::encode_number(number).to_string());
                        let key = number.unwrap_or_else(|| value.as_str().expect("a text").into());
                        ids.insert(Json::from(format!("{}:{key}", label.id)).to_string());
                    }
                    _ => {}
                }
            }
        }
        for (name, edges) in &self.edges {
            let label = catalogue.edge_label(name).expect("a label");
            let source = catalogue
                .vertex_label(&label.source_label)
                .expect("a label");
            let mut known = HashSet::new();
            for edge in edges {
                let is_known = ids.contains(&edge["inV"].to_string());
                assert!(is_known, "{edge} {}", self.drafted.mapping);
                let is_whole = source.primary_keys.len() < 2;
                assert!(
                    !is_whole || ids.contains(&edge["outV"].to_string()),
                    "{edge}"
                );
                let sort = label
                    .sort_keys
                    .iter()
                    .map(|key| edge["properties"][key].to_string());
                let sort = sort.collect::<Vec<_>>().join(",");
                let key = [&edge["outV"], &edge["inV"], &edge["valid_from"]];
                assert!(
                    known.insert(format!("{key:?} {sort}")),
                    "twice: {name} {edge}"
                );
            }
        }
    }

    fn has(&self, vertices: &[(&str, usize)], edges: &[(&str, usize)]) {
        let found = self.vertices.iter();
        let found: BTreeMap<&str, usize> = found.map(|(it, all)| (&**it, all.len())).collect();
        let expected: BTreeMap<&str, usize> = vertices.iter().copied().collect();
        assert_eq!(found, expected, "{}", self.drafted.mapping);
        let found = self.edges.iter();
        let found: BTreeMap<&str, usize> = found.map(|(it, all)| (&**it, all.len())).collect();
        let expected: BTreeMap<&str, usize> = edges.iter().copied().collect();
        assert_eq!(found, expected, "{}", self.drafted.mapping);
    }

    fn sum_of_vertices(&self, label: &str, property: &str, expected: impl Iterator<Item = f64>) {
        let all = self.vertices[label].values();
        let found: f64 = all
            .filter_map(|it| it["properties"][property].as_f64())
            .sum();
        near(found, expected.sum());
    }

    fn sum_of_edges(&self, label: &str, property: &str, expected: impl Iterator<Item = f64>) {
        let all = self.edges[label].iter();
        let found: f64 = all
            .filter_map(|it| it["properties"][property].as_f64())
            .sum();
        near(found, expected.sum());
    }

    fn kind(&self, key: &str) -> &str {
        let keys = self.drafted.schema["propertykeys"]
            .as_array()
            .expect("keys");
        let key = keys.iter().find(|it| it["name"] == key).expect("a key");
        key["data_type"].as_str().expect("a type")
    }

    /// A note on a column, or on a whole file, has this part.
    fn says(&self, subject: &str, part: &str) {
        let mut notes = self.drafted.unsure.iter();
        let found = notes.any(|note| {
            let is_it = match &note.column {
                Some(column) => column == subject,
                None => note.file.ends_with(subject),
            };
            is_it && note.text.contains(part)
        });
        assert!(found, "{:?}", self.drafted.unsure);
        assert!(
            self.drafted.mapping.contains(part),
            "{}",
            self.drafted.mapping
        );
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.001, "{found}, not {expected}");
}

#[test]
fn a_trade_with_many_tables() {
    let graph = Graph::of(&data::trade());
    graph.has(
        &[
            ("categories", 8),
            ("suppliers", 29),
            ("products", 77),
            ("customers", 91),
            ("employees", 9),
            ("shippers", 3),
            ("orders", 830),
        ],
        &[
            ("products_supplier", 77),
            ("products_category", 77),
            ("employees_report_to", 8),
            ("orders_customer", 830),
            ("orders_employee", 830),
            ("orders_ship_via", 830),
            ("order_details", 2155),
        ],
    );
    graph.sum_of_vertices("orders", "Freight", (0..830).map(|n| f64::from(n) + 0.25));
    graph.sum_of_edges(
        "order_details",
        "Quantity",
        (0..2155).map(|n| f64::from(n % 50 + 1)),
    );
    for (key, kind) in [
        ("HireDate", "DATE"),
        ("ShippedDate", "DATE"),
        ("Discontinued", "BOOLEAN"),
        ("UnitPrice", "DOUBLE"),
        ("UnitsInStock", "INT"),
    ] {
        assert_eq!(graph.kind(key), kind, "{key}");
    }
    graph.says("ShippedDate", "'NULL' (42 times) is no value");
}

#[test]
fn a_social_network() {
    let graph = Graph::of(&data::social());
    graph.has(
        &[("users", 200), ("posts", 300)],
        &[("posts_author", 300), ("follows", 1000), ("likes", 600)],
    );
    graph.sum_of_vertices("posts", "likes", (1..=300).map(|n| f64::from(n % 17)));
    graph.sum_of_edges(
        "follows",
        "weight",
        (0..1000).map(|n| f64::from(n % 5) + 0.5),
    );
    assert_eq!(graph.kind("joined"), "DATE");
    assert_eq!(graph.kind("liked_at"), "DATE");
}

#[test]
fn flights_between_airports_by_code() {
    let graph = Graph::of(&data::flights());
    graph.has(&[("airports", 120), ("airlines", 12)], &[("routes", 900)]);
    graph.sum_of_edges("routes", "distance", (0..900).map(|n| f64::from(n * 10)));
    graph.sum_of_vertices("airports", "altitude", (1..=120).map(|n| f64::from(n * 10)));
    graph.says("airline", "tells edges apart");
}

#[test]
fn a_sample_of_a_benchmark() {
    let graph = Graph::of(&data::benchmark());
    graph.has(
        &[
            ("person", 100),
            ("place", 20),
            ("comment", 80),
            ("person_email_emailaddress", 150),
        ],
        &[
            ("person_isLocatedIn_place", 100),
            ("person_knows_person", 300),
            ("comment_hasCreator_person", 80),
            ("person_email_emailaddress_person", 150),
        ],
    );
    graph.sum_of_vertices("comment", "length", (0..80).map(f64::from));
    assert_eq!(graph.kind("creationDate"), "DATE");
}

#[test]
fn people_companies_and_jobs_in_time() {
    let graph = Graph::of(&data::temporal());
    graph.has(&[("people", 60), ("companies", 12)], &[("jobs", 100)]);
    graph.sum_of_edges(
        "jobs",
        "salary",
        (0..100).map(|n| f64::from(30_000 + n * 10)),
    );
    let heights = (1..=60).map(|n| 1.0 + f64::from(50 + n % 40) / 100.0);
    graph.sum_of_vertices("people", "height", heights);
    assert_eq!(graph.kind("born"), "DATE");
    assert_eq!(graph.kind("employees"), "INT");
    let job = &graph.edges["jobs"][0];
    assert_eq!(job["valid_from"], "2015-01-15");
    assert_eq!(job["valid_to"], "2019-05-31T00:00:00Z");
    let person = graph.vertices["people"].values().next();
    let person = person.expect("a person");
    assert_eq!(
        person["valid_from"], "1900-01-01",
        "jobs need people who exist"
    );
}

#[test]
fn edges_alone_make_their_vertices() {
    let set = Set {
        files: vec![("knows.csv", b"source,target,w\na,b,1\nb,c,2\n".to_vec())],
    };
    let graph = Graph::of(&set);
    graph.has(&[("node", 3)], &[("knows", 2)]);
}

#[test]
fn a_column_of_texts_names_the_row_that_made_it_one() {
    let set = Set {
        files: vec![(
            "a.csv",
            b"id,n,at\n1,5,2020-01-01\n2,6,soon\n3,x,2020-01-03\n".to_vec(),
        )],
    };
    let graph = Graph::of(&set);
    graph.says("n", "line 4 has 'x'; 2 of 3 values are whole numbers");
    graph.says("at", "line 3 has 'soon'; 2 of 3 values are dates");
}

#[test]
fn an_id_is_unique_in_the_graph() {
    let strategies = |files: &[(&'static str, &str)]| {
        let files = files
            .iter()
            .map(|(name, text)| (*name, text.as_bytes().to_vec()));
        let set = Set {
            files: files.collect(),
        };
        let folder = tempfile::tempdir().expect("a folder");
        let drafted = inferred(&set, folder.path());
        let labels = drafted.schema["vertexlabels"]
            .as_array()
            .expect("labels")
            .clone();
        let strategies = labels.iter().map(|label| label["id_strategy"].as_str());
        strategies.flatten().map(str::to_owned).collect::<Vec<_>>()
    };
    let a = ("a.csv", "id,x\n1,p\n2,r\n");
    let meeting = strategies(&[a, ("b.csv", "id,y\n1,q\n"), ("c.csv", "id,z\n7,q\n")]);
    assert_eq!(meeting, ["PRIMARY_KEY", "PRIMARY_KEY", "CUSTOMIZE_NUMBER"]);
    let apart = strategies(&[a, ("b.csv", "code,y\nk1,q\n")]);
    assert_eq!(apart, ["CUSTOMIZE_NUMBER", "CUSTOMIZE_STRING"]);
}

#[test]
fn what_is_no_table_is_refused() {
    for (text, part) in [
        (&b"id^x\n1^p\n2^q\n"[..], "separates the columns"),
        (b"id x\n1 p\n", "separates the columns"),
        (b"1,Ann\n2,Bob\n", "should name the columns"),
        (
            b"Ann,1970-01-02\nBob,1970-01-03\n",
            "should name the columns",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).expect("written");
        let refused = drafted(&path).expect_err("refused");
        assert!(refused.contains(part), "{refused}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    std::fs::write(&path, b"id,n\nx,M\xfcller\ny,Zo\xeb\n").expect("written");
    let drafted = drafted(&path).expect("drafted");
    assert!(drafted.mapping.contains("charset = \"windows-1252\""));
    assert_eq!(drafted.files[0].rows[0].cells[1].as_deref(), Some("Müller"));
}

#[test]
fn rows_that_are_no_export_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let schema = serde_json::json!({"propertykeys": [], "vertexlabels": [
        {"id": 1, "name": "person", "id_strategy": "CUSTOMIZE_STRING"}], "edgelabels": []});
    let catalogue = Catalogue::deserialize(&schema).expect("a schema");
    let read = |text: &str| -> Result<Vec<bool>, String> {
        std::fs::write(&path, text).expect("written");
        let source = Mapping::of_file(&path, "").expect("a source");
        let of = (BatchKind::Vertices, &source);
        check_columns(&source, of.0)?;
        let mut owners = Owners::new([].into_iter(), &catalogue);
        let mut converter = Converter::new(of.0);
        let rows = source.rows()?.map(|row| row?.fields);
        let elements = rows.map(|row| converter.element(row?, of.1, &catalogue, &mut owners));
        elements.map(|it| it.map(|it| it.is_some())).collect()
    };
    let export = "{\"times\":{}}\n{\"type\":\"vertex\",\"label\":\"person\",\"ref\":\"\\\"a\\\"\"}\n\
                  {\"type\":\"edge\",\"label\":\"knows\"}\n";
    assert_eq!(read(export), Ok(vec![false, true, false]));
    for (text, part) in [
        ("{\"name\":\"Ann\"}\n", "no 'type'"),
        ("{\"times\":{}}\n{\"name\":\"Ann\"}\n", "say `label`"),
        ("{\"times\":3,\"name\":\"Ann\"}\n", "say `label`"),
        ("{\"type\":\"Vertex\"}\n", "say `label`"),
    ] {
        let refused = read(text).expect_err("refused");
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn a_word_for_no_value_in_one_column_is_a_value_of_another() {
    let of = |text: &str| {
        let files = vec![("a.csv", text.as_bytes().to_vec())];
        Graph::of(&Set { files })
    };
    let values = |graph: &Graph, name: &str| {
        let all = graph.vertices["a"].values();
        let mut all: Vec<String> = all.map(|it| it["properties"][name].to_string()).collect();
        all.sort();
        all
    };
    let graph = of("id,country,n,m\n1,NA,5,2\n2,DE,NA,-\n3,FR,7,3\n");
    assert_eq!(values(&graph, "country"), ["\"DE\"", "\"FR\"", "\"NA\""]);
    assert_eq!(values(&graph, "n"), ["5", "7", "null"]);
    assert_eq!(values(&graph, "m"), ["2", "3", "null"]);
    graph.says(
        "n",
        "'NA' (1 rows): taken for no value, since the others are numbers",
    );
    // Where there is nothing else, it is a value.
    let graph = of("id,country,n\n1,NA,5\n2,NA,NA\n3,NA,7\n");
    assert_eq!(values(&graph, "n"), ["5", "7", "null"]);
    assert_eq!(values(&graph, "country"), ["\"NA\"", "\"NA\"", "\"NA\""]);
}

#[test]
fn a_column_without_a_name_keeps_its_values() {
    let graph = |text: &str| {
        let files = vec![("a.csv", text.as_bytes().to_vec())];
        Graph::of(&Set { files })
    };
    // As pandas writes the numbers of rows.
    let named = graph("id,,name\nx,7,Ann\ny,8,Bob\n");
    let mut values: Vec<_> = named.vertices["a"].values().collect();
    values.sort_by_key(|it| it["id"].to_string());
    assert_eq!(values[0]["properties"]["column"], 7);
    let none = graph("id,name,\nx,Ann,\ny,Bob,\n");
    let mapping = &none.drafted.mapping;
    assert!(mapping.contains("ignore = [\"\"]"), "{mapping}");
}

#[test]
fn a_comma_that_may_separate_thousands_makes_a_text() {
    let of = |text: &str| {
        let files = vec![("a.csv", text.as_bytes().to_vec())];
        Graph::of(&Set { files })
    };
    let graph = of("id;pay\na;1,250\nb;3,400\nc;12\n");
    assert_eq!(graph.kind("pay"), "TEXT");
    graph.says("pay", "separate thousands");
    assert!(!graph.drafted.mapping.contains("\ndecimal = "));
    let graph = of("id;pay;size\na;1,250;1,5\nb;3,400;2\n");
    assert_eq!(graph.kind("pay"), "DOUBLE");
    graph.sum_of_vertices("a", "pay", [1.25, 3.4].into_iter());
    graph.says("pay", "have a decimal comma");
}

#[test]
fn whole_numbers_keep_their_digits() {
    let files = vec![
        (
            "a.jsonl",
            b"{\"id\":1,\"n\":18446744073709551615,\"m\":9007199254740993,\"o\":1}\n\
              {\"id\":2,\"n\":1.5,\"m\":0.5,\"o\":9007199254740993}\n"
                .to_vec(),
        ),
        ("b.csv", b"code,o\nx,1.5\ny,2.5\n".to_vec()),
    ];
    let graph = Graph::of(&Set { files });
    let has = |name: &str, value: Json| {
        let mut all = graph.vertices["a"].values();
        let found = all.any(|it| it["properties"][name] == value);
        assert!(found, "{:?}", graph.vertices["a"]);
    };
    has("n", Json::from("18446744073709551615"));
    has("m", Json::from("9007199254740993"));
    has("o", Json::from(9_007_199_254_740_993_i64));
    graph.says("n", "more than a LONG holds");
    graph.says("m", "a DOUBLE, which does not hold");
    graph.says("o", "has another type");
}

#[test]
fn a_draft_is_limited_in_rows_columns_and_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let write = |text: &str| std::fs::write(&path, text).expect("written");
    let refused = |text: &str| {
        write(text);
        drafted(&path).expect_err("refused")
    };
    let many = |from: usize| {
        let names = (from..from + 6_000).map(|at| format!("\"c{at}\":1"));
        format!("{{{}}}\n", names.collect::<Vec<_>>().join(","))
    };
    let said = refused(&(many(0) + &many(6_000)));
    assert!(said.contains("12000 columns, at most 10000"), "{said}");
    let said = refused(&format!("{{\"{}\":1}}\n", "n".repeat(2 << 20)));
    assert!(said.contains("the names of its columns"), "{said}");
    // Rows that cannot be read count, too.
    write(&("{\"id\":1}\n".to_owned() + &"{\n".repeat(100_001)));
    let file = drafted(&path).expect("drafted").files.remove(0);
    assert_eq!((file.rows_read, file.rows_refused), (1, 99_999));
    assert!(file.has_more);
    // It stops wherever it is.
    let sources =
        [("people.csv", "id,n"), ("letters.csv", "id,people_id")].map(|(name, header)| {
            let path = folder.path().join(name);
            let lines: String = (0..50).map(|at| format!("{at},{at}\n")).collect();
            std::fs::write(&path, format!("{header}\n{lines}")).expect("written");
            source_of(&path).expect("a source")
        });
    let calls = std::cell::Cell::new(0);
    let infer_until = |most: usize| {
        calls.set(0);
        infer(&sources, &Catalogue::default(), &|| {
            calls.set(calls.get() + 1);
            let is_late = calls.get() > most;
            if is_late {
                Err("late".to_owned())
            } else {
                Ok(())
            }
        })
    };
    infer_until(usize::MAX).expect("drafted");
    let all = calls.get();
    assert!(all > 105, "{all} calls: also after the rows");
    for most in 0..all {
        let stopped = infer_until(most).expect_err("stopped");
        assert!(stopped.ends_with("late"), "{stopped}");
        assert_eq!(calls.get(), most + 1);
    }
}

#[test]
fn a_file_that_was_not_read_to_its_end_has_a_key_that_is_called_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        source_of(&path).expect("a source")
    };
    let people = |count: usize| -> String {
        let lines = (0..count).map(|at| format!("{at},mail{at},{}\n", at % 7));
        format!("person_id,mail,n\n{}", lines.collect::<String>())
    };
    let texts: String = (0..50).map(|at| format!("mail{at},x{at}\n")).collect();
    let letters = write("letters.csv", &format!("mail,text\n{texts}"));
    let draft = |count: usize| {
        let sources = [write("persons.csv", &people(count)), letters.clone()];
        infer(&sources, &Catalogue::default(), &|| Ok(())).expect("drafted")
    };
    let says = |drafted: &Inferred| {
        let mut notes = drafted.unsure.iter();
        notes.any(|note| {
            note.text
                .contains("a later row with the key of an earlier one replaces")
        })
    };
    let whole = draft(100);
    assert!(!says(&whole), "{:?}", whole.unsure);
    assert!(
        !whole.mapping.contains("id = \"person_id\""),
        "{}",
        whole.mapping
    );
    let cut = draft(100_001);
    assert!(says(&cut), "{:?}", cut.unsure);
    assert!(
        cut.mapping.contains("the key of an earlier one"),
        "{}",
        cut.mapping
    );
    let id = "id = \"person_id\"";
    assert!(cut.mapping.contains(id), "{}", cut.mapping);
}
