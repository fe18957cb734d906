//! Vertices, their ids and the values of their properties.

use super::*;

#[test]
fn vertices_that_are_refused() {
    let fixture = fixture();
    let longest = "x".repeat(16 * 1024);
    let too_long = "x".repeat(16 * 1024 + 1);
    let cases: Vec<(VertexInput<'_>, &str)> = vec![
        (
            vertex_input("person", None, &[("age", int(29))]),
            "The primary keys: [name] of vertex label 'person' must be set when using 'PRIMARY_KEY' id strategy",
        ),
        (
            vertex_input("person", None, &[("name", text("x"))]),
            "All non-null property keys [name, age] of vertex label 'person' must be set, missed keys [age]",
        ),
        (
            vertex_input(
                "person",
                None,
                &[("name", text("x")), ("age", RawValue::Null)],
            ),
            "Not allowed to set value of property 'age' to null for vertex 'null'",
        ),
        (
            vertex_input(
                "person",
                None,
                &[("name", text("x")), ("age", int(1)), ("price", int(3))],
            ),
            "Invalid property 'price' for vertex label 'person(id=1)'",
        ),
        (
            vertex_input(
                "person",
                None,
                &[("name", text("x")), ("age", int(1)), ("nope", int(3))],
            ),
            "Undefined property key: 'nope'",
        ),
        (
            vertex_input("nope", None, &[]),
            "Undefined vertex label: 'nope'",
        ),
        (
            VertexInput {
                label: None,
                ..vertex_input("", None, &[])
            },
            "Undefined vertex label: 'vertex'",
        ),
        (
            VertexInput {
                properties: None,
                ..vertex_input("person", None, &[])
            },
            "The properties of vertex can't be null",
        ),
        (
            vertex_input(
                "person",
                Some(text("1:zz")),
                &[("name", text("zz")), ("age", int(1))],
            ),
            "Can't customize vertex id when id strategy is 'PRIMARY_KEY' for vertex label 'person'",
        ),
        (
            vertex_input("person", None, &[("name", text("")), ("age", int(1))]),
            "The value of primary key can't be empty",
        ),
        (
            vertex_input("book", None, &[("name", text("b1"))]),
            "Must customize vertex string id when id strategy is 'CUSTOMIZE_STRING' for vertex label 'book'",
        ),
        (
            vertex_input("book", Some(int(5)), &[("name", text("b1"))]),
            "Must customize vertex string id when id strategy is 'CUSTOMIZE_STRING' for vertex label 'book'",
        ),
        (
            vertex_input("num", Some(text("124")), &[]),
            "Must customize vertex number id when id strategy is 'CUSTOMIZE_NUMBER' for vertex label 'num'",
        ),
        (
            vertex_input("uu", Some(text("notuuid")), &[]),
            "Invalid UUID string: notuuid",
        ),
        (
            vertex_input("auto", Some(int(7)), &[]),
            "Can't customize vertex id when id strategy is 'AUTOMATIC' for vertex label 'auto'",
        ),
        (
            vertex_input("all", Some(text("a1")), &[("cnt", int(3))]),
            "The rocksdb store does not support aggregate property",
        ),
        (
            vertex_input("all", Some(text(&too_long)), &[]),
            "The max length of vertex id is 16384, but got 16385",
        ),
        (
            vertex_input("all", Some(text("")), &[]),
            "The id can't be null or empty",
        ),
        (
            vertex_input("strict", Some(text("s")), &[]),
            "All non-null property keys [age, def] of vertex label 'strict' must be set, missed keys [age]",
        ),
    ];
    for (input, message) in cases {
        let error = fixture.vertex(GraphMode::None, input).expect_err(message);
        assert_eq!(error.message, message);
    }
    let restored = fixture.vertex(GraphMode::Restoring, vertex_input("auto", None, &[]));
    assert_eq!(
        restored.expect_err("an id is wanted").message,
        "Must customize vertex number id when id strategy is 'AUTOMATIC' for vertex label 'auto' in restoring mode"
    );
    let loaded = fixture.vertex(
        GraphMode::Loading,
        vertex_input("strict", Some(text("s")), &[]),
    );
    assert!(loaded.is_ok(), "a loader may leave out required properties");
    let fits = vertex_input("all", Some(text(&longest)), &[]);
    assert!(fixture.vertex(GraphMode::None, fits).is_ok());
}

#[test]
fn values_that_are_refused() {
    let fixture = fixture();
    let dates = "Expected date format is: [yyyy-MM-dd, yyyy-MM-dd HH:mm:ss, yyyy-MM-dd HH:mm:ss.SSS], but got";
    for (key, value, message) in [
        (
            "age",
            text("abc"),
            "Invalid property value 'abc' for key 'age', expect a value of type Integer, actual type String",
        ),
        (
            "age",
            RawValue::Double(1.5),
            "Invalid property value '1.5' for key 'age': Can't read '1.5' as int: For input string: \"1.5\"",
        ),
        (
            "age",
            int(3_000_000_000),
            "Invalid property value '3000000000' for key 'age': Can't read '3000000000' as int: For input string: \"3000000000\"",
        ),
        (
            "age",
            RawValue::Unsigned(u64::MAX),
            "Invalid property value '18446744073709551615' for key 'age': Can't read '18446744073709551615' as int: For input string: \"18446744073709551615\"",
        ),
        (
            "b",
            int(300),
            "Invalid property value '300' for key 'b': Can't read '300' as byte: Value out of range. Value:\"300\" Radix:10",
        ),
        (
            "l",
            RawValue::Double(1e20),
            "Invalid property value '1.0E20' for key 'l': Can't read '1.0E20' as long: For input string: \"1.0E20\"",
        ),
        (
            "flag",
            text("true"),
            "Invalid property value 'true' for key 'flag', expect a value of type Boolean, actual type String",
        ),
        (
            "name",
            int(5),
            "Invalid property value '5' for key 'name', expect a value of type String, actual type Integer",
        ),
        (
            "name",
            texts(&["x"]),
            "Invalid property value '[x]' for key 'name', expect a value of type String, actual type ArrayList",
        ),
        (
            "weight",
            text("1.0"),
            "Invalid property value '1.0' for key 'weight', expect a value of type Double, actual type String",
        ),
        (
            "u",
            text("x"),
            "Invalid property value 'x' for key 'u': Invalid UUID string: x",
        ),
        (
            "blob",
            RawValue::List(vec![int(1), int(300)]),
            "Invalid property value '[1, 300]' for key 'blob': expect byte or int value, but got '300'",
        ),
        (
            "tags",
            RawValue::List(vec![text("a"), int(1)]),
            "Invalid property value '1' for key 'tags', expect a value of type String, actual type Integer",
        ),
    ] {
        let input = vertex_input("all", Some(text("d")), &[(key, value)]);
        let error = fixture.vertex(GraphMode::None, input).expect_err(message);
        assert_eq!(error.message, message);
    }
    for bad in [
        "2020-01-02T03:04:05",
        "2020-01-02T03:04:05Z",
        "2020-01-02 03:04",
        "2020-01",
        "2020",
        "20200102",
        "x",
    ] {
        let input = vertex_input("all", Some(text("d")), &[("date", text(bad))]);
        let error = fixture.vertex(GraphMode::None, input).expect_err(bad);
        assert_eq!(
            error.message,
            format!("Invalid property value '{bad}' for key 'date': {dates} '{bad}'")
        );
    }
}

#[test]
fn values_that_are_taken() {
    let fixture = fixture();
    for (key, value, stored) in [
        (
            "date",
            int(1_577_934_245_000),
            Value::Date(1_577_934_245_000),
        ),
        ("date", text("1970-01-01 00:00:01"), Value::Date(1_000)),
        ("weight", int(1), Value::Double(1.0)),
        ("weight", text("Infinity"), Value::Double(f64::INFINITY)),
        ("f", RawValue::Double(1.5), Value::Float(1.5)),
        ("b", int(-128), Value::Byte(-128)),
        ("l", int(i64::MIN), Value::Long(i64::MIN)),
        (
            "hobby",
            text("x"),
            Value::Set(vec![Value::Text("x".into())]),
        ),
        (
            "hobby",
            texts(&["x", "y", "x"]),
            Value::Set(vec![Value::Text("x".into()), Value::Text("y".into())]),
        ),
        (
            "tags",
            texts(&["t", "t"]),
            Value::List(vec![Value::Text("t".into()), Value::Text("t".into())]),
        ),
        (
            "u",
            text("835E1153928149578691CF79258E90EC"),
            Value::Uuid(0x835e_1153_9281_4957_8691_cf79_258e_90ec),
        ),
        ("blob", text("aGVsbG8="), Value::Blob(b"hello".to_vec())),
        ("blob", text("0x6869"), Value::Blob(b"hi".to_vec())),
        (
            "blob",
            RawValue::List(vec![int(104), int(-1)]),
            Value::Blob(vec![104, 255]),
        ),
        (
            "obj",
            RawValue::Map(vec![(Cow::Borrowed("a"), int(1))]),
            Value::Object(Box::new(Datum::Map(vec![("a".into(), Datum::Int(1))]))),
        ),
    ] {
        let input = vertex_input("all", Some(text("d")), &[(key, value)]);
        let vertex = fixture.vertex(GraphMode::None, input).expect(key);
        assert_eq!(fixture.value(&vertex, key), Some(stored), "{key}");
    }
    let twice = vertex_input(
        "num",
        Some(int(1)),
        &[("name", int(5)), ("name", text("last"))],
    );
    let vertex = fixture
        .vertex(GraphMode::None, twice)
        .expect("the last counts");
    assert_eq!(
        fixture.value(&vertex, "name"),
        Some(Value::Text("last".into()))
    );
}

#[test]
fn ids_that_are_made() {
    let fixture = fixture();
    let person =
        |name: &'static str| vertex_input("person", None, &[("name", text(name)), ("age", int(1))]);
    let multi = |name: &'static str, age: i64, date: RawValue<'static>| {
        vertex_input(
            "multi",
            None,
            &[("name", text(name)), ("age", int(age)), ("date", date)],
        )
    };
    for (input, id) in [
        (person("a:b>c!d`e"), VertexId::text("1:a`:b>c`!d`e")),
        (person("中文 空格"), VertexId::text("1:中文 空格")),
        (
            multi("m", 5, text("2020-01-02")),
            VertexId::text("7:m!15!7MyZZKG0"),
        ),
        (
            multi("m!n", -5, text("2020-01-02 03:04:05.678")),
            VertexId::text("7:m`!n!0B7~~~~~~~~~w!7My_DSxj"),
        ),
        (
            multi("m", 1_000_000, int(0)),
            VertexId::text("7:m!43p90!10"),
        ),
        (
            vertex_input("book", Some(text("123")), &[("name", text("b"))]),
            VertexId::text("123"),
        ),
        (
            vertex_input("num", Some(int(-5)), &[]),
            VertexId::Number(-5),
        ),
        (
            vertex_input("uu", Some(text("835e1153928149578691cf79258e90eb")), &[]),
            VertexId::Uuid(0x835e_1153_9281_4957_8691_cf79_258e_90eb),
        ),
        (vertex_input("auto", None, &[]), VertexId::Number(77)),
    ] {
        assert_eq!(
            fixture.vertex(GraphMode::None, input).expect("accepted").id,
            id
        );
    }
    let given = vertex_input("auto", Some(int(5)), &[]);
    let vertex = fixture
        .vertex(GraphMode::Merging, given)
        .expect("ids are given");
    assert_eq!(vertex.id, VertexId::Number(5));
}
