//! Seeded fuzzing of every decoder: arbitrary bytes, and own bytes with a few changes. No decoder
//! panics, and what a key decodes to encodes back to the same bytes.
//!
//! `VARVE_FUZZ_ROUNDS` sets the number of inputs, `VARVE_FUZZ_SEED` the seed. A failure prints the
//! seed and the round.

use bigdecimal::BigDecimal;
use compact_str::CompactString;
use num_bigint::BigInt;
use varve_encoding::{datum, index, key, row, tables, value};
use varve_model::value::{DateTime, Duration};
use varve_model::{
    CommitVersion, Datum, Decimal, Direction, Edge, EdgeId, EdgeLabelId, ElementId, Instant, Many,
    Numbered, Properties, PropertyKeyId, Value, Vertex, VertexId, VertexLabelId,
};

const ROUNDS_DEFAULT: u64 = 300_000;

/// SplitMix64: small, seeded, good enough to draw inputs.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A byte; those with a meaning in a layout are frequent.
    fn byte(&mut self) -> u8 {
        const TELLING: [u8; 16] = [
            0x00, 0x01, 0x02, 0x04, 0x0D, 0x10, 0x20, 0x30, 0x7F, 0x80, 0x81, 0xE0, 0xF0, 0xF1,
            0xFE, 0xFF,
        ];
        match self.below(2) {
            0 => TELLING[self.below(TELLING.len())],
            _ => self.next() as u8,
        }
    }

    fn bytes(&mut self, bound: usize) -> Vec<u8> {
        (0..self.below(bound)).map(|_| self.byte()).collect()
    }

    fn text(&mut self) -> String {
        const CHARS: [char; 8] = ['\0', '\u{1}', 'a', 'b', '!', '>', 'é', '\u{10ffff}'];
        let bound = if self.below(8) == 0 { 120 } else { 5 };
        (0..self.below(bound))
            .map(|_| CHARS[self.below(CHARS.len())])
            .collect()
    }

    fn vertex_id(&mut self) -> VertexId {
        match self.below(4) {
            0 => VertexId::Number(self.next().cast_signed() >> self.below(64)),
            1 => VertexId::Uuid(u128::from(self.next()) << self.below(65)),
            _ => VertexId::text(&self.text()),
        }
    }

    fn schema_id(&mut self) -> u32 {
        ((self.next() as u32) >> self.below(32)).max(1)
    }

    fn edge_id(&mut self) -> EdgeId {
        let parent = EdgeLabelId(self.schema_id());
        let sub = self.below(3) == 0;
        EdgeId {
            source: self.vertex_id(),
            parent,
            label: if sub {
                EdgeLabelId(self.schema_id())
            } else {
                parent
            },
            sort_values: CompactString::new(self.text()),
            target: self.vertex_id(),
        }
    }

    fn datum(&mut self, depth: usize) -> Datum {
        match self.below(if depth > 3 { 5 } else { 7 }) {
            0 => Datum::Null,
            1 => Datum::Bool(true),
            2 => Datum::Int(self.next().cast_signed()),
            3 => Datum::Float(1.5),
            4 => Datum::Text(self.text()),
            5 => Datum::List((0..self.below(4)).map(|_| self.datum(depth + 1)).collect()),
            _ => {
                let members = (0..self.below(4)).map(|_| (self.text(), self.datum(depth + 1)));
                Datum::Map(members.collect())
            }
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(match depth {
            0 => 21,
            1..=4 => 20,
            _ => 17,
        }) {
            0 => Value::Boolean(self.below(2) == 0),
            1 => Value::Byte(self.next() as i8),
            2 => Value::Int(self.next() as i32),
            3 => Value::Long(self.next().cast_signed()),
            4 => Value::Float(f32::from_bits(self.next() as u32)),
            5 => Value::Double(f64::from_bits(self.next())),
            6 => Value::Text(self.text()),
            7 => Value::Blob(self.bytes(80)),
            8 => Value::Date(self.next().cast_signed() >> self.below(64)),
            9 => Value::Uuid(u128::from(self.next())),
            10 => Value::Object(Box::new(self.datum(0))),
            11 => Value::Short(self.next() as i16),
            12 => Value::BigInt(Box::new(self.big())),
            13 => {
                let scale = i64::from(self.next() as i32 % 5_001);
                let number = Decimal::new(BigDecimal::new(self.big(), scale));
                Value::BigDecimal(Box::new(number.expect("within the bound")))
            }
            14 => Value::Char(char::from(self.byte())),
            15 => Value::DateTime(DateTime {
                micros: self.next().cast_signed(),
                offset: self.next() as i32,
            }),
            16 => Value::Duration(Duration {
                seconds: self.next().cast_signed(),
                nanos: self.next() as u32 % 1_000_000_000,
            }),
            17 => Value::List(self.values(depth)),
            18 => Value::Set(self.values(depth)),
            19 => {
                let entries = self.values(depth).into_iter();
                let entries = entries.map(|key| (key, self.value(depth + 1)));
                Value::Map(entries.collect())
            }
            _ => {
                let values = (0..=self.below(3)).map(|number| Numbered {
                    number: number as u32 * 3,
                    value: self.value(1),
                    meta: (0..self.below(3))
                        .map(|_| (PropertyKeyId(self.schema_id()), self.value(1)))
                        .collect(),
                });
                Value::Many(Box::new(
                    Many::new(values.collect()).expect("ascending numbers"),
                ))
            }
        }
    }

    fn big(&mut self) -> BigInt {
        BigInt::from_signed_bytes_be(&self.bytes(20))
    }

    fn values(&mut self, depth: usize) -> Vec<Value> {
        let count = self.below(4);
        (0..count).map(|_| self.value(depth + 1)).collect()
    }

    fn properties(&mut self) -> Properties {
        let pairs = (0..self.below(5)).map(|_| (PropertyKeyId(self.schema_id()), self.value(0)));
        pairs.collect()
    }

    fn header(&mut self) -> row::Header {
        let mut header = row::Header::put_now();
        header.kind = [
            row::RowKind::Put,
            row::RowKind::Delete,
            row::RowKind::Marker,
        ][self.below(3)];
        header.version = CommitVersion(self.next());
        header.overlaid = self.below(2) == 0;
        if self.below(2) == 0 {
            header.from = Some(Instant(self.next().cast_signed()));
        }
        if self.below(2) == 0 {
            header.to = Instant(self.next().cast_signed());
        }
        header.until = [header.to, Instant(0)][self.below(2)];
        header
    }

    /// Own bytes of a random kind.
    fn encoded(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.below(10) {
            8 => {
                index::put_ordered(Some(&self.value(0)), &mut out);
                let id = match self.below(2) {
                    0 => ElementId::Vertex(self.vertex_id()),
                    _ => ElementId::Edge(self.edge_id()),
                };
                key::put_ordered_element(&id, &mut out);
            }
            0 => key::put_vertex_id(&self.vertex_id(), &mut out),
            1 => out = key::edge_clustering(&self.edge_id(), Direction::In),
            2 => key::put_element(&ElementId::Edge(self.edge_id()), &mut out),
            3 => {
                let id = ElementId::Edge(self.edge_id());
                out = key::pending_clustering(Instant(self.next().cast_signed()), &id);
            }
            4 => {
                let id = index::IndexId::Label(varve_model::IndexLabelId(self.schema_id()));
                out = index::partition(id, self.byte(), &index::ordered(&self.value(0)));
            }
            5 => {
                index::put_ordered(Some(&self.value(0)), &mut out);
                key::put_element(&ElementId::Vertex(self.vertex_id()), &mut out);
            }
            6 => {
                self.header().encode(&mut out);
                let (id, label) = (self.vertex_id(), VertexLabelId(self.schema_id()));
                let properties = self.properties();
                row::put_vertex_content(
                    &Vertex {
                        id,
                        label,
                        properties,
                    },
                    &mut out,
                );
            }
            7 => {
                let (source_label, target_label) = (VertexLabelId(1), VertexLabelId(300));
                let (id, properties) = (self.edge_id(), self.properties());
                let edge = Edge {
                    id,
                    source_label,
                    target_label,
                    properties,
                };
                row::put_edge_content(&edge, &mut out);
            }
            _ => datum::encode(&self.datum(0), &mut out),
        }
        out
    }

    /// A few changes: flipped, removed, inserted and copied bytes.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            match self.below(5) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = self.byte(),
                2 => bytes.truncate(at),
                3 => bytes.insert(at, self.byte()),
                _ => {
                    let part = bytes[at..].to_vec();
                    bytes.extend_from_slice(&part);
                }
            }
        }
    }

    fn input(&mut self) -> Vec<u8> {
        match self.below(4) {
            0 => self.bytes(40),
            1 => self.encoded(),
            _ => {
                let mut bytes = self.encoded();
                self.mutate(&mut bytes);
                bytes
            }
        }
    }
}

fn number_from(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => default,
    }
}

#[test]
fn decoders_never_panic_and_keys_are_unambiguous() {
    let rounds = number_from("VARVE_FUZZ_ROUNDS", ROUNDS_DEFAULT);
    let seed = number_from("VARVE_FUZZ_SEED", 2026);
    let mut random = Random(seed);
    for round in 0..rounds {
        let input = random.input();
        let outcome = std::panic::catch_unwind(|| check(&input));
        assert!(
            outcome.is_ok(),
            "VARVE_FUZZ_SEED={seed}, round {round}, input {input:02x?}"
        );
    }
}

fn check(bytes: &[u8]) {
    for table in tables::TABLES {
        let length = (table.partition_len)(bytes);
        assert!(length.is_none_or(|length| 0 < length && length <= bytes.len()));
    }
    check_keys(bytes);
    check_edges(bytes);
    if let Some(length) = index::ordered_len(bytes) {
        assert!(length <= bytes.len());
    }
    assert!(index::values_len(bytes) <= bytes.len());
    for values in 0..3 {
        let _ = index::element_key(bytes, values);
    }
    check_rows(bytes);
    check_values(bytes);
}

fn check_keys(bytes: &[u8]) {
    if let Ok(id) = key::decode_vertex_id(bytes) {
        assert_eq!(key::vertex_id(&id), bytes);
    }
    if let Some((id, rest)) = key::take_schema_id(bytes) {
        let mut again = Vec::new();
        key::put_schema_id(id, &mut again);
        assert_eq!(again, bytes[..bytes.len() - rest.len()]);
    }
    if let Ok(id) = key::decode_element(bytes) {
        let mut again = Vec::new();
        key::put_element(&id, &mut again);
        assert_eq!(again, bytes);
    }
    if let Ok(id) = key::decode_ordered_element(bytes) {
        let mut again = Vec::new();
        key::put_ordered_element(&id, &mut again);
        let is_edge = matches!(id, ElementId::Edge(_));
        assert_eq!(key::is_ordered_edge(&again), is_edge);
        assert_eq!(again, bytes);
    }
    if let Ok((at, id)) = key::decode_pending(bytes) {
        assert_eq!(key::pending_clustering(at, &id), bytes);
    }
    if let Ok((current, version)) = key::split_event(bytes) {
        assert_eq!(key::event_clustering(current, version), bytes);
    }
}

fn check_edges(bytes: &[u8]) {
    let _ = row::edge_labels_of_clustering(bytes);
    let owner = key::vertex_id(&VertexId::Number(7));
    if let Ok((id, side)) = key::decode_edge(&owner, bytes) {
        assert_eq!(key::edge_clustering(&id, side), bytes);
        assert_eq!(
            row::edge_labels_of_clustering(bytes),
            Some((id.parent, id.label))
        );
    }
    if let Some(length) = key::vertex_id_len(bytes) {
        let _ = key::decode_edge(&bytes[..length], &bytes[length..]);
    }
}

fn check_rows(bytes: &[u8]) {
    if let Ok((header, content)) = row::Header::decode(bytes) {
        let mut again = Vec::new();
        header.encode(&mut again);
        let (read, rest) = row::Header::decode(&again).expect("own bytes");
        assert_eq!((read, rest.len()), (header, 0));
        assert!(!row::decides_always(bytes) || header.until == Instant::FOREVER);
        check_content(content);
    }
    check_content(bytes);
}

fn check_content(content: &[u8]) {
    let id = VertexId::Number(1);
    let by_reader = row::vertex_parts(content).ok().and_then(|(_, mut reader)| {
        let mut count = 0;
        while reader.next_property().ok()?.is_some() {
            count += 1;
        }
        Some(count)
    });
    if let Ok(vertex) = row::decode_vertex(id.clone(), content) {
        assert_eq!(row::vertex_label(content), Ok(vertex.label));
        // A key that comes twice counts once in the properties.
        assert!(by_reader >= Some(vertex.properties.len()));
    }
    let (source, target) = (id.clone(), id);
    let sort_values = CompactString::default();
    let (parent, label) = (EdgeLabelId(1), EdgeLabelId(1));
    let _ = row::decode_edge(
        EdgeId {
            source,
            parent,
            label,
            sort_values,
            target,
        },
        content,
    );
    if let Ok((_, _, mut reader)) = row::edge_parts(content) {
        while let Ok(Some(_)) = reader.next_property() {}
    }
}

fn check_values(bytes: &[u8]) {
    let (owned, borrowed) = (value::take_value(bytes), value::take_value_ref(bytes));
    if let Some((read, rest)) = owned {
        let (_, after) = borrowed.expect("what is read owned is read borrowed");
        assert_eq!(after.len(), rest.len());
        let mut again = Vec::new();
        value::put_value(&read, &mut again);
        let (back, rest) = value::take_value(&again).expect("what is read is written again");
        assert!(rest.is_empty() && back.is_identical(&read));
        assert!(index::ordered_len(&index::ordered(&read)).is_some());
    }
    if let Ok(read) = datum::decode(bytes) {
        assert_eq!(datum::to_bytes(&read), bytes);
    }
    let mut cursor = datum::Cursor::new(bytes);
    let passed = cursor.skip().is_ok() && cursor.is_at_end();
    assert_eq!(passed, datum::decode(bytes).is_ok());
}
