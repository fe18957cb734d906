//! Append, eliminate, and the strategies of batch updates.

use super::*;

#[test]
fn strategies_combine_values() {
    let fixture = fixture();
    let key = |name: &str| Arc::clone(fixture.schema.property_key_by_name(name).expect(name));
    let list =
        |items: &[&str]| Value::List(items.iter().map(|t| Value::Text((*t).into())).collect());
    let set = |items: &[&str]| Value::Set(items.iter().map(|t| Value::Text((*t).into())).collect());
    for (name, key, old, new, combined) in [
        (
            "SUM",
            key("age"),
            Value::Int(29),
            Value::Int(3),
            Value::Int(32),
        ),
        (
            "SUM",
            key("weight"),
            Value::Double(0.5),
            Value::Double(0.25),
            Value::Double(0.75),
        ),
        (
            "BIGGER",
            key("age"),
            Value::Int(1),
            Value::Int(2),
            Value::Int(2),
        ),
        (
            "SMALLER",
            key("date"),
            Value::Date(1),
            Value::Date(2),
            Value::Date(1),
        ),
        (
            "UNION",
            key("hobby"),
            set(&["x", "y"]),
            set(&["z", "x"]),
            set(&["x", "y", "z"]),
        ),
        (
            "UNION",
            key("tags"),
            list(&["p", "p", "z"]),
            list(&["b", "b", "z"]),
            list(&["p", "z", "b"]),
        ),
        (
            "INTERSECTION",
            key("hobby"),
            set(&["x", "k"]),
            set(&["k", "z"]),
            set(&["k"]),
        ),
        (
            "APPEND",
            key("tags"),
            list(&["t"]),
            list(&["t", "q"]),
            list(&["t", "t", "q"]),
        ),
        (
            "ELIMINATE",
            key("tags"),
            list(&["t", "w", "t"]),
            list(&["t"]),
            list(&["w"]),
        ),
        (
            "OVERRIDE",
            key("name"),
            Value::Text("a".into()),
            Value::Text("b".into()),
            Value::Text("b".into()),
        ),
    ] {
        let strategy = UpdateStrategy::from_name(name).expect(name);
        assert_eq!(
            strategy.combine(&key, &old, &new).expect(name),
            combined,
            "{name}"
        );
    }
    for (name, key, old, new, message) in [
        (
            "SUM",
            key("name"),
            Value::Text("a".into()),
            Value::Text("b".into()),
            "Property type must be Number for strategy SUM, but got type String, String",
        ),
        (
            "BIGGER",
            key("name"),
            Value::Text("a".into()),
            Value::Text("b".into()),
            "Property type must be Date or Number for strategy BIGGER, but got type String, String",
        ),
        (
            "UNION",
            key("age"),
            Value::Int(1),
            Value::Int(2),
            "Property type must be Set or List for strategy UNION, but got type Integer, Integer",
        ),
        (
            "SUM",
            key("age"),
            Value::Int(i32::MAX),
            Value::Int(1),
            "Invalid property value '2147483648' for key 'age': Can't read '2147483648' as int: For input string: \"2147483648\"",
        ),
    ] {
        let strategy = UpdateStrategy::from_name(name).expect(name);
        assert_eq!(
            strategy.combine(&key, &old, &new).expect_err(name).message,
            message
        );
    }
}

#[test]
fn append_and_eliminate() {
    let fixture = fixture();
    fixture.put(vertex_input(
        "person",
        None,
        &[
            ("name", text("marko")),
            ("age", int(29)),
            ("city", text("B")),
        ],
    ));
    let marko = || ElementId::Vertex(VertexId::text("1:marko"));
    fixture
        .change(marko(), UpdateAction::Append, &[("age", int(30))])
        .expect("set");
    assert_eq!(
        fixture.value(&fixture.stored("1:marko"), "age"),
        Some(Value::Int(30))
    );
    fixture
        .change(marko(), UpdateAction::Eliminate, &[("city", text("other"))])
        .expect("removed");
    assert_eq!(fixture.value(&fixture.stored("1:marko"), "city"), None);
    for (action, name, value, message) in [
        (
            UpdateAction::Append,
            "name",
            text("x"),
            "Can't update primary key: 'name'",
        ),
        (
            UpdateAction::Append,
            "price",
            int(1),
            "Can't update property for vertex '1:marko' because there is no property key 'price' in its vertex label",
        ),
        (
            UpdateAction::Append,
            "nope",
            int(1),
            "Undefined property key: 'nope'",
        ),
        (
            UpdateAction::Eliminate,
            "age",
            int(30),
            "Can't remove non-null vertex property 'vp[age->30]'",
        ),
        (
            UpdateAction::Append,
            "age",
            text("x"),
            "Invalid property value 'x' for key 'age', expect a value of type Integer, actual type String",
        ),
    ] {
        let error = fixture
            .change(marko(), action, &[(name, value)])
            .expect_err(message);
        assert_eq!(error.message, message);
    }
    let nobody = ElementId::Vertex(VertexId::text("1:none"));
    let error = fixture
        .change(nobody, UpdateAction::Append, &[("nope", int(1))])
        .expect_err("404");
    assert_eq!(error.message, "Vertex '1:none' does not exist");

    let lists = [("hobby", texts(&["x", "y"])), ("tags", texts(&["t"]))];
    fixture.put(vertex_input("all", Some(text("a")), &lists));
    let a = || ElementId::Vertex(VertexId::text("a"));
    let more = [("hobby", texts(&["z", "x"])), ("tags", texts(&["t", "q"]))];
    fixture
        .change(a(), UpdateAction::Append, &more)
        .expect("appended");
    let stored = fixture.stored("a");
    let members = |name: &str| fixture.value(&stored, name).expect(name).members().to_vec();
    let owned = |items: &[&str]| {
        items
            .iter()
            .map(|t| Value::Text((*t).into()))
            .collect::<Vec<_>>()
    };
    assert_eq!(members("hobby"), owned(&["x", "y", "z"]));
    assert_eq!(members("tags"), owned(&["t", "t", "q"]));
}

#[test]
fn batch_updates_combine_and_keep_what_is_not_named() {
    let fixture = fixture();
    fixture.put(vertex_input(
        "person",
        None,
        &[
            ("name", text("marko")),
            ("age", int(29)),
            ("city", text("B")),
        ],
    ));
    let next = || 77;
    let rules = Rules {
        schema: &fixture.schema,
        mode: GraphMode::None,
        next_vertex_id: &next,
        next_edge_number: &next,
    };
    let named = [("age", UpdateStrategy::Sum), ("nope", UpdateStrategy::Sum)];
    let strategies = Strategies::resolve(&fixture.schema, named).expect("they fit");
    let strategies = Arc::new(strategies);
    let person = |name: &'static str, age: i64| {
        vertex_input("person", None, &[("name", text(name)), ("age", int(age))])
    };
    let inputs = vec![person("marko", 1), person("new", 5), person("marko", 2)];
    let mutations = rules
        .vertex_updates(&fixture.schema, inputs, &strategies)
        .expect("accepted");
    assert_eq!(mutations.len(), 2);
    let request = WriteRequest::now(mutations);
    let written = fixture
        .graph
        .write(&request, varve_graph::write::Contention::Wait)
        .expect("written")
        .expect("nobody else writes");
    let ages: Vec<_> = written
        .contents(&request)
        .map(|element| match element {
            (IdRef::Vertex(id), Some(content)) => {
                let vertex = row::decode_vertex(id.clone(), content).expect("a vertex");
                fixture.value(&vertex, "age")
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ages, [Some(Value::Int(32)), Some(Value::Int(5))]);
    written.ticket.wait().expect("stored");
    let city = fixture.value(&fixture.stored("1:marko"), "city");
    assert_eq!(city, Some(Value::Text("B".into())));
    let auto = rules.vertex_updates(
        &fixture.schema,
        vec![vertex_input("auto", None, &[])],
        &strategies,
    );
    assert_eq!(
        auto.err().map(|e| e.message).as_deref(),
        Some("Automatic Id strategy is not supported now")
    );
}
