//! Every value survives a round trip in both formats, the output has the reference's form, and no
//! input makes a reader panic.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

use jiff::civil;
use proptest::prelude::*;
use varve_graphson::*;

fn text() -> impl Strategy<Value = Text> + Clone {
    "[a-z\"\\\\\u{e9}\u{1F600}\n\u{1}]{0,6}".prop_map(Text::from)
}

fn date_time() -> impl Strategy<Value = DateTime> {
    (
        -60_000_000_000_i64..250_000_000_000,
        0_u32..1_000_000_000,
        -18 * 3600..=18 * 3600_i32,
    )
        .prop_map(|(seconds, nanoseconds, offset)| DateTime {
            seconds,
            nanoseconds,
            offset,
        })
}

fn date() -> impl Strategy<Value = civil::Date> {
    (1_i16..=9999, 1_i8..=12, 1_i8..=28)
        .prop_map(|(year, month, day)| civil::date(year, month, day))
}

fn time() -> impl Strategy<Value = civil::Time> {
    (
        0_i8..24,
        0_i8..60,
        0_i8..60,
        prop_oneof![Just(0), 0..1_000_000_000_i32],
    )
        .prop_map(|(hour, minute, second, nanosecond)| {
            civil::time(hour, minute, second, nanosecond)
        })
}

fn temporal() -> impl Strategy<Value = Temporal> {
    prop_oneof![
        date_time().prop_map(|instant| Temporal::Instant(instant.seconds, instant.nanoseconds)),
        date().prop_map(Temporal::LocalDate),
        (date(), time()).prop_map(|(date, time)| Temporal::LocalDateTime(date.to_datetime(time))),
        time().prop_map(Temporal::LocalTime),
        (1_i8..=12, 1_i8..=28).prop_map(|(month, day)| Temporal::MonthDay(month, day)),
        (time(), -18 * 3600..=18 * 3600_i32)
            .prop_map(|(time, offset)| Temporal::OffsetTime(time, offset)),
        any::<(i32, i32, i32)>()
            .prop_map(|(years, months, days)| Temporal::Period(years, months, days)),
        any::<i32>().prop_map(Temporal::Year),
        (0..9999, 1_i8..=12).prop_map(|(year, month)| Temporal::YearMonth(year, month)),
        date_time().prop_map(Temporal::ZonedDateTime),
        (-18 * 3600..=18 * 3600_i32).prop_map(Temporal::ZoneOffset),
    ]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i8>().prop_map(Value::Byte),
        any::<i16>().prop_map(Value::Short),
        any::<i32>().prop_map(Value::Int),
        any::<i64>().prop_map(Value::Long),
        any::<i128>().prop_map(|value| Value::BigInt(Box::new(value.into()))),
        (any::<i128>(), -20_i64..20).prop_map(|(digits, scale)| {
            let number = bigdecimal::BigDecimal::new(digits.into(), scale);
            let number = varve_model::Decimal::new(number).expect("within the bound");
            Value::BigDecimal(Box::new(number))
        }),
        any::<f32>().prop_map(Value::Float),
        any::<f64>().prop_map(Value::Double),
        Just(Value::Double(f64::INFINITY)),
        Just(Value::Float(f32::NEG_INFINITY)),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        any::<char>().prop_map(Value::Char),
        text().prop_map(Value::String),
        any::<u128>().prop_map(Value::Uuid),
        any::<Vec<u8>>().prop_map(Value::Binary),
        any::<i64>().prop_map(Value::Date),
        any::<i64>().prop_map(Value::Timestamp),
        date_time().prop_map(Value::DateTime),
        (any::<i32>(), 0_u32..1_000_000_000).prop_map(|(seconds, nanoseconds)| {
            let seconds = i64::from(seconds);
            Value::Duration(Duration {
                seconds,
                nanoseconds,
            })
        }),
        temporal().prop_map(Value::Temporal),
        any::<std::net::IpAddr>().prop_map(Value::Address),
        text().prop_map(Value::Class),
        (0..TokenClass::ALL.len(), text()).prop_map(|(class, name)| {
            let class = TokenClass::ALL[class];
            Value::Token { class, name }
        }),
        (text(), text(), any::<i32>()).prop_map(|(language, script, arguments)| Value::Lambda {
            language,
            script,
            arguments,
        }),
    ]
}

fn properties(value: BoxedStrategy<Value>) -> BoxedStrategy<Vec<Property>> {
    let property = (text(), value).prop_map(|(key, value)| Property { key, value });
    prop::collection::vec(property, 0..3).boxed()
}

fn metrics() -> impl Strategy<Value = Metrics> {
    let leaf = (
        text(),
        text(),
        0..1_000_000_000_i64,
        prop::collection::vec((text(), any::<i64>()), 0..2),
    )
        .prop_map(|(id, name, nanoseconds, counts)| Metrics {
            id,
            name,
            nanoseconds,
            counts,
            annotations: vec![("percentDur".into(), Value::Double(1.5))],
            nested: Vec::new(),
        });
    (leaf.clone(), prop::collection::vec(leaf, 0..2))
        .prop_map(|(outer, nested)| Metrics { nested, ..outer })
}

/// Elements, and values made of elements or of other values.
fn structure(inner: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let vertex = (
        inner.clone(),
        text(),
        prop::collection::vec(vertex_property(inner.clone()), 0..3),
    )
        .prop_map(|(id, label, mut properties)| {
            properties.sort_by(|one, other| one.label.cmp(&other.label));
            Vertex {
                id,
                label,
                properties,
            }
        });
    let edge = (
        (inner.clone(), text()),
        (inner.clone(), text()),
        (inner.clone(), text()),
        properties(inner.clone()),
    )
        .prop_map(
            |((id, label), (in_id, in_label), (out_id, out_label), properties)| Edge {
                id,
                label,
                in_id,
                in_label,
                out_id,
                out_label,
                properties,
            },
        );
    let list = || prop::collection::vec(inner.clone(), 0..4);
    let labels = prop::collection::vec(text(), 0..2);
    let instruction =
        (text(), list()).prop_map(|(name, arguments)| Instruction { name, arguments });
    let instructions = || prop::collection::vec(instruction.clone(), 0..3);
    let tree = prop::collection::vec(
        (inner.clone(), prop::collection::vec(inner.clone(), 0..2)),
        0..3,
    )
    .prop_map(|keys| {
        let leaves = |keys: Vec<Value>| Tree {
            branches: keys.into_iter().map(|key| (key, Tree::default())).collect(),
        };
        Tree {
            branches: keys
                .into_iter()
                .map(|(key, below)| (key, leaves(below)))
                .collect(),
        }
    });
    let graph = (
        prop::collection::vec(vertex.clone(), 0..3),
        prop::collection::vec(edge.clone(), 0..2),
    )
        .prop_map(|(vertices, mut edges)| {
            // GraphBinary omits the labels of the ends.
            for edge in &mut edges {
                (edge.in_label, edge.out_label) = Default::default();
            }
            Graph { vertices, edges }
        });
    prop_oneof![
        vertex.prop_map(|vertex| Value::Vertex(Box::new(vertex))),
        edge.prop_map(|edge| Value::Edge(Box::new(edge))),
        vertex_property(inner.clone())
            .prop_map(|property| Value::VertexProperty(Box::new(property))),
        (text(), inner.clone())
            .prop_map(|(key, value)| Value::Property(Box::new(Property { key, value }))),
        prop::collection::vec((labels, inner.clone()), 0..3).prop_map(|members| {
            let (labels, objects) = members.into_iter().unzip();
            Value::Path(Path { labels, objects })
        }),
        tree.prop_map(Value::Tree),
        graph.prop_map(|graph| Value::Graph(Box::new(graph))),
        (instructions(), instructions())
            .prop_map(|(steps, source)| Value::Bytecode(Bytecode { steps, source })),
        (
            "gt|between|within|startingWith",
            prop::collection::vec(inner.clone(), 2..4)
        )
            .prop_map(|(name, operands)| {
                Value::Predicate {
                    name: Text::from(name.as_str()),
                    // `gt` has one operand of any type. Several operands are a list in GraphSON.
                    operands: if name == "between" {
                        operands
                    } else {
                        operands[..1].to_vec()
                    },
                }
            }),
        ("[A-Z][a-z]{1,3}Strategy", properties(inner.clone())).prop_map(
            |(class, configuration)| Value::Strategy {
                class: format!("a.b.{class}").into(),
                configuration: configuration
                    .into_iter()
                    .map(|each| (each.key, each.value))
                    .collect(),
            }
        ),
        metrics().prop_map(|metrics| Value::Metrics(Box::new(metrics))),
        (0..1_000_000_000_i64, prop::collection::vec(metrics(), 0..2)).prop_map(
            |(nanoseconds, metrics)| Value::TraversalMetrics {
                nanoseconds,
                metrics
            }
        ),
    ]
    .boxed()
}

fn vertex_property(inner: BoxedStrategy<Value>) -> impl Strategy<Value = VertexProperty> + Clone {
    (inner.clone(), text(), inner.clone(), properties(inner))
        .prop_map(|(id, label, value, properties)| VertexProperty {
            id,
            label,
            value,
            properties,
        })
        .boxed()
}

fn value() -> impl Strategy<Value = Value> {
    scalar().boxed().prop_recursive(4, 40, 4, |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..4);
        let pairs = prop::collection::vec((inner.clone(), inner.clone()), 0..3);
        prop_oneof![
            list().prop_map(Value::List),
            list().prop_map(Value::Set),
            pairs.prop_map(Value::Map),
            prop::collection::vec((inner.clone(), any::<i64>()), 0..3).prop_map(Value::BulkSet),
            (any::<i64>(), inner.clone()).prop_map(|(bulk, value)| Value::Traverser {
                bulk,
                value: Box::new(value),
            }),
            (text(), inner.clone()).prop_map(|(key, value)| Value::Binding {
                key,
                value: Box::new(value),
            }),
            structure(inner.clone().boxed()),
        ]
        .boxed()
    })
}

/// Changes of bytes: a position and the new byte.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_survives_graphson(value in value()) {
        let mut bytes = Vec::new();
        graphson::write(&value, &mut bytes);
        prop_assert_eq!(graphson::read(&bytes), Ok(value));
    }

    #[test]
    fn a_value_survives_graphbinary(value in value()) {
        let mut bytes = Vec::new();
        graphbinary::write(&value, &mut bytes);
        prop_assert_eq!(graphbinary::read(&bytes), Ok(value));
    }

    #[test]
    fn damaged_bytes_make_errors_and_no_panic(value in value(), changes in changes(), cut in any::<prop::sample::Index>()) {
        for write in [graphson::write, graphbinary::write] {
            let mut bytes = Vec::new();
            write(&value, &mut bytes);
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            let _ = (graphson::read(&bytes), graphbinary::read(&bytes));
            bytes.truncate(cut.index(bytes.len()));
            let _ = (graphson::read(&bytes), graphbinary::read(&bytes));
        }
    }

    #[test]
    fn random_bytes_make_no_panic(bytes in any::<Vec<u8>>()) {
        let _ = (graphson::read(&bytes), graphbinary::read(&bytes));
    }
}

fn json(value: &Value) -> String {
    let mut bytes = Vec::new();
    graphson::write(value, &mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn elements_have_the_form_of_the_reference() {
    let name = VertexProperty {
        id: Value::Long(0),
        label: "name".into(),
        value: Value::String("marko".into()),
        properties: Vec::new(),
    };
    let vertex = Vertex {
        id: Value::Int(1),
        label: "person".into(),
        properties: vec![name],
    };
    assert_eq!(
        json(&Value::Vertex(Box::new(vertex))),
        r#"{"@type":"g:Vertex","@value":{"id":{"@type":"g:Int32","@value":1},"label":"person","properties":{"name":[{"@type":"g:VertexProperty","@value":{"id":{"@type":"g:Int64","@value":0},"value":"marko","label":"name"}}]}}}"#
    );
    let bare = Vertex {
        id: Value::Int(1),
        label: "person".into(),
        properties: Vec::new(),
    };
    assert_eq!(
        json(&Value::Vertex(Box::new(bare))),
        r#"{"@type":"g:Vertex","@value":{"id":{"@type":"g:Int32","@value":1},"label":"person"}}"#
    );
    let instant = DateTime::from_text("2023-08-02T00:00:00Z").expect("a date");
    assert_eq!(
        json(&Value::DateTime(instant)),
        r#"{"@type":"gx:OffsetDateTime","@value":"2023-08-02T00:00Z"}"#
    );
}

#[test]
fn plain_json_is_a_value_too() {
    let read = |text: &str| graphson::read(text.as_bytes());
    assert_eq!(read("1"), Ok(Value::Int(1)));
    assert_eq!(read("2147483648"), Ok(Value::Long(2_147_483_648)));
    assert!(matches!(read("9223372036854775808"), Ok(Value::BigInt(_))));
    assert_eq!(read("1.5"), Ok(Value::Double(1.5)));
    assert_eq!(
        read(r#"{"b": [1, null], "a": true}"#),
        Ok(Value::Map(vec![
            (
                Value::String("b".into()),
                Value::List(vec![Value::Int(1), Value::Null])
            ),
            (Value::String("a".into()), Value::Bool(true)),
        ]))
    );
    for text in [
        "", "{", "[1,]", "nul", "1 2", "\"a", "{\"a\"}", "{a:1}", "[1 2]", "\"\\x\"", "-", "1e",
        "\u{1}",
    ] {
        assert!(
            matches!(
                read(text),
                Err(WireError::Short(_) | WireError::Malformed { .. })
            ),
            "{text}: {:?}",
            read(text)
        );
    }
}

#[test]
fn limits_hold_before_memory_is_taken() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(graphson::read(deep.as_bytes()), Err(WireError::TooDeep));
    let typed = |levels: usize| {
        let open = r#"{"@type":"g:List","@value":["#.repeat(levels);
        graphson::read(format!("{open}1{}", "]}".repeat(levels)).as_bytes())
    };
    assert!(typed(NESTING_MAX - 1).is_ok());
    assert_eq!(typed(NESTING_MAX), Err(WireError::TooDeep));
    // A list with a length of 2^31 - 1.
    assert_eq!(
        graphbinary::read(&[9, 0, 0x7F, 0xFF, 0xFF, 0xFF]),
        Err(WireError::Short("a type code"))
    );
    assert_eq!(
        graphbinary::read(&[3, 0, 0x7F, 0xFF, 0xFF, 0xFF]),
        Err(WireError::Short("a String"))
    );
    assert!(matches!(
        graphbinary::read(&[9, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
        Err(WireError::Value { .. })
    ));
    let nested: Vec<u8> = [9_u8, 0, 0, 0, 0, 1].repeat(100_000);
    assert_eq!(graphbinary::read(&nested), Err(WireError::TooDeep));
    let nulls = [
        &[9, 0][..],
        &(VALUES_MAX as i32 + 1).to_be_bytes(),
        &[0x27, 0, 1].repeat(VALUES_MAX + 1),
    ]
    .concat();
    assert_eq!(graphbinary::read(&nulls), Err(WireError::TooMany));
    let big = format!(
        r#"{{"@type":"gx:BigInteger","@value":{}}}"#,
        "9".repeat(100_000)
    );
    assert!(matches!(
        graphson::read(big.as_bytes()),
        Err(WireError::Value { .. })
    ));
    let scale = [0x22, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 1];
    assert!(matches!(
        graphbinary::read(&scale),
        Err(WireError::Value { .. })
    ));
}

#[test]
fn types_of_others_are_refused_by_name() {
    let custom = [0, 0, 0, 0, 3, b'a', b'.', b'b'];
    assert_eq!(
        graphbinary::read(&custom),
        Err(WireError::Unsupported("a.b".into()))
    );
    assert_eq!(
        graphbinary::read(&[0x7F, 0]),
        Err(WireError::Unsupported("0x7F".into()))
    );
    let json = br#"{"@type":"janusgraph:RelationIdentifier","@value":{}}"#;
    assert_eq!(
        graphson::read(json),
        Err(WireError::Unsupported(
            "janusgraph:RelationIdentifier".into()
        ))
    );
}

#[test]
fn a_strategy_may_have_any_key() {
    let strategy = Value::Strategy {
        class: "ReadOnlyStrategy".into(),
        configuration: vec![
            ("@type".into(), Value::Map(Vec::new())),
            ("a".into(), Value::Int(1)),
        ],
    };
    let mut written = Vec::new();
    graphson::write(&strategy, &mut written);
    assert_eq!(graphson::read(&written), Ok(strategy));
}
