//! Loads on trial: their numbers, and what the graph is asked.

use super::*;

/// Files with wrong rows of all kinds.
fn messy() -> Loads {
    let loads = Loads::with(LoadConfig::default());
    let known = "id,name,age,from,to\np1,Ann,30,2000-01-01,\np9,Old,80,2000-01-01,2010-01-01\n";
    let people = "id,name,age,from,to\np4,Dan,1,2000-01-01,2005-01-01\np4,Dan,2,2005-01-01,2015-01-01\n\
        p5,Eve,x,2000-01-01,\np6,Fay,3000000000,2000-01-01,\np8,,5,2000-01-01,\n\
        p9,Old,81,2010-01-01,2020-01-01\np4,Don,2,2005-01-01,2015-01-01\np2,Bob,7,,2001-01-01\n";
    let jobs = "person,company,from,to\np1,Acme,2001-01-01,\np4,Acme,2001-01-01,2014-01-01\n\
        p5,Acme,2001-01-01,\np6,Acme,2001-01-01,\np7,Acme,2001-01-01,\np8,Acme,2001-01-01,\n\
        p9,Acme,2005-01-01,2015-01-01\np9,Acme,1995-01-01,2015-01-01\n\
        p9,Acme,2016-01-01,2025-01-01\np4,Acme,1990-01-01,2014-01-01\n\
        p4,Acme,2001-01-01,2016-01-01\np4,Acme,2020-01-01,\np1,Bolt,2001-01-01,\np1,None,2001-01-01,\n\
        p1,Acme,31.31.2001,\np1,Acme,2003-01-01,2002-01-01\np1,,2001-01-01,\np4,Bolt,2001-01-01,2014-01-01\n";
    for (name, text) in [
        ("known.csv", known),
        ("people.csv", people),
        ("known_companies.csv", "name\nAcme\n"),
        ("companies.csv", "name\nBolt\n"),
        ("jobs.csv", jobs),
    ] {
        assert_eq!(loads.put(name, 0, text.as_bytes()).status, 201);
    }
    loads
}

/// A mapping of these files of vertices, and of the jobs.
fn mapping_of_jobs(people: &str, companies: &str) -> String {
    format!(
        "[[vertex]]\nfile = \"{people}\"\nlabel = \"person\"\nid = \"id\"\n\
             valid_from = \"from\"\nvalid_to = \"to\"\n\
             [[vertex]]\nfile = \"{companies}\"\nlabel = \"company\"\nvalid_from = 1980-01-01\n\
             [schema]\npropertykeys = [{{ name = \"name\" }}, {{ name = \"age\", data_type = \"INT\" }}]\n\
             vertexlabels = [{{ name = \"person\", id_strategy = \"CUSTOMIZE_STRING\", \
             properties = [\"name\", \"age\"], nullable_keys = [\"age\"] }}, {{ name = \"company\", \
             id_strategy = \"PRIMARY_KEY\", properties = [\"name\"], primary_keys = [\"name\"] }}]\n\
             edgelabels = [{{ name = \"job\", source_label = \"person\", target_label = \"company\" }}]\n\
             [[edge]]\nfile = \"jobs.csv\"\nlabel = \"job\"\nsource = \"person\"\n\
             target = \"company\"\nvalid_from = \"from\"\nvalid_to = \"to\"\n"
    )
}

#[test]
fn the_numbers_of_a_dry_run_are_those_of_the_load() {
    let loads = messy();
    let known = mapping_of_jobs("known.csv", "known_companies.csv");
    let known = known.split("[[edge]]").next().expect("a part");
    assert_eq!(outcome(&loads.load(known, "")).1["refused"], 0);
    let mapping = mapping_of_jobs("people.csv", "companies.csv");
    let unchecked = outcome(&loads.load(&mapping, "?dry_run=true&check_vertex=false")).1;
    let dry = loads.load(&mapping, "?dry_run=true");
    let (refused, end) = outcome(&dry);
    let refused = by_line(refused);
    let of = |file: &str| {
        let rows = refused.iter().filter(|row| row["file"] == file);
        rows.map(|row| row["line"].as_u64().expect("a line"))
            .collect::<Vec<u64>>()
    };
    assert_eq!(of("people.csv"), [4, 5, 6, 9], "{refused:?}");
    let lines = [4, 5, 6, 7, 9, 10, 11, 12, 13, 15, 16, 17, 18];
    assert_eq!(of("jobs.csv"), lines, "{refused:?}");
    assert_eq!(unchecked["inputs"][2]["refused"], 3);
    assert_eq!(loads.count("V", "company"), 1);
    let stored = loads.load(&mapping, "");
    let (of_load, end_of_load) = outcome(&stored);
    assert_eq!((refused, end), (by_line(of_load), end_of_load));
}

/// Refused rows by file and line: those that are not sent are told before those of a batch.
fn by_line(mut refused: Vec<&Value>) -> Vec<&Value> {
    refused.sort_by_key(|row| (row["file"].to_string(), row["line"].as_u64()));
    refused
}

#[test]
fn a_dry_run_needs_no_schema_in_the_graph() {
    let loads = messy();
    let mapping = mapping_of_jobs("people.csv", "companies.csv");
    let dry = loads.load(&mapping, "?dry_run=true");
    let stored = loads.load(&mapping, "");
    // Reasons name ids, which have the numbers of labels once these are made.
    let rows = |lines: &[Value]| {
        let (refused, end) = outcome(lines);
        let lines = refused.into_iter().map(|row| row["line"].clone());
        (lines.collect::<Vec<Value>>(), end)
    };
    assert_eq!(rows(&dry), rows(&stored));
    assert_eq!(rows(&stored).1["inputs"][2]["loaded"], 1);
}

#[test]
fn what_is_asked_of_ends_is_bounded_and_checked() {
    let loads = messy();
    let ask = |body: &Value| {
        let path = format!("{GRAPH}/load/ends");
        let answer = loads.server.send("POST", &path, &body.to_string());
        (answer.status, answer.text().to_owned())
    };
    let end = json!({"id": "x", "label": "person"});
    let edge = |end: &Value| json!({"label": "job", "ends": [end, end]});
    let (status, text) = ask(&json!({ "edges": [edge(&end)] }));
    assert_eq!(
        (status, &*text),
        (200, r#"{"refused":["Invalid vertex id 'x'"]}"#)
    );
    let planned = json!({"id": "x", "label": "person", "planned": [{}]});
    let (status, text) = ask(&json!({ "edges": [edge(&planned)] }));
    assert_eq!((status, &*text), (200, r#"{"refused":[null]}"#));
    let many: Vec<Value> = (0..501).map(|_| edge(&end)).collect();
    assert_eq!(ask(&json!({ "edges": many })).0, 400);
    // What is no id is that edge's reason, and the others have their own.
    let wrong = edge(&json!({"id": true, "label": "person"}));
    let large = edge(&json!({"id": 9_223_372_036_854_775_808_u64, "label": "person"}));
    let edges = json!([wrong, edge(&end), large, edge(&planned)]);
    let (status, text) = ask(&json!({ "edges": edges }));
    assert_eq!(status, 200, "{text}");
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    let id = |at: usize| {
        answer["refused"][at]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(id(0).ends_with("but got 'true'"), "{text}");
    assert_eq!(answer["refused"][1], "Invalid vertex id 'x'");
    assert!(id(2).ends_with("but got '9223372036854775808'"), "{text}");
    assert_eq!(answer["refused"][3], Value::Null);
    let states = vec![json!({}); 51];
    let many = json!({"id": "x", "label": "person", "planned": states});
    let (_, text) = ask(&json!({ "edges": [edge(&many)] }));
    assert!(text.contains("the maximum number is '50'"), "{text}");
}
