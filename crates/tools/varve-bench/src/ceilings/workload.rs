//! The requests: schema, vertices and edges like those of HugeGraph's published load tests.
//!
//! A vertex has a custom string id of 16 hexadecimal digits and seven properties (about 165 bytes
//! of JSON). An edge connects two random vertices, which may be the same, and has two properties.
//! The number of an element is the seed of its random values, so each run sends the same elements.

use std::ops::Range;

use crate::random::Random;

/// Vertices per batch request.
pub(crate) const BATCH_VERTICES: usize = 200;
/// Edges per batch request.
pub(crate) const BATCH_EDGES: usize = 500;

/// The schema requests, each as path below the graph and body.
pub(crate) fn schema() -> Vec<(&'static str, String)> {
    let key = |name: &str, data_type: &str| {
        (
            "schema/propertykeys",
            format!(r#"{{"name":"{name}","data_type":"{data_type}"}}"#),
        )
    };
    vec![
        key("name", "TEXT"),
        key("city", "TEXT"),
        key("lang", "TEXT"),
        key("age", "INT"),
        key("price", "INT"),
        key("weight", "DOUBLE"),
        key("date", "DATE"),
        (
            "schema/vertexlabels",
            r#"{"name":"person","id_strategy":"CUSTOMIZE_STRING","properties":["name","city","lang","age","price","weight","date"]}"#
                .to_owned(),
        ),
        (
            "schema/edgelabels",
            r#"{"name":"knows","source_label":"person","target_label":"person","properties":["date","weight"]}"#
                .to_owned(),
        ),
    ]
}

/// The id of vertex number `at`: 16 hexadecimal digits. Ids do not grow with the numbers.
pub(crate) fn vertex_id(at: u64) -> String {
    format!("{:016x}", Random::new(at).next())
}

pub(crate) fn vertex(at: u64) -> String {
    let mut random = Random::new(at ^ 0xABCD);
    format!(
        r#"{{"label":"person","id":"{}","properties":{{"name":"n{:08}","city":"Beijing","lang":"java","age":{},"price":{},"weight":{}.5,"date":"2020-01-{:02}"}}}}"#,
        vertex_id(at),
        random.below(100_000_000),
        random.below(100),
        random.below(1_000_000),
        random.below(100),
        random.below(28) + 1,
    )
}

/// Edge number `at` between two of the first `vertices` vertices.
pub(crate) fn edge(at: u64, vertices: u64) -> String {
    let mut random = Random::new(at ^ 0x00ED_6E00);
    let (source, target) = (
        vertex_id(random.below(vertices)),
        vertex_id(random.below(vertices)),
    );
    format!(
        r#"{{"label":"knows","outV":"{source}","outVLabel":"person","inV":"{target}","inVLabel":"person","properties":{{"date":"2020-01-{:02}","weight":{}.25}}}}"#,
        random.below(28) + 1,
        random.below(100),
    )
}

/// Cuts a range of elements into batches of `size`; the last one may be smaller.
pub(crate) fn batches(elements: Range<u64>, size: usize) -> impl Iterator<Item = Range<u64>> {
    let end = elements.end;
    elements
        .step_by(size)
        .map(move |first| first..(first + size as u64).min(end))
}

/// A JSON array with the bodies of these elements.
pub(crate) fn batch(elements: Range<u64>, body: impl Fn(u64) -> String) -> String {
    let bodies: Vec<String> = elements.map(body).collect();
    format!("[{}]", bodies.join(","))
}

/// A whole HTTP request; `path` is below the graph `hugegraph`.
pub(crate) fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    let mut request = format!("{method} /graphs/hugegraph/{path} HTTP/1.1\r\nHost: localhost\r\n");
    if !body.is_empty() {
        request += &format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        );
    }
    request += "\r\n";
    request += body;
    request.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_batch_has_the_rest() {
        let of = |elements| batches(elements, 200).collect::<Vec<_>>();
        assert_eq!(of(0..0), []);
        assert_eq!(of(0..250), [0..200, 200..250]);
        assert_eq!(of(0..400), [0..200, 200..400]);
        assert_eq!(of(1_000..1_250), [1_000..1_200, 1_200..1_250]);
    }
}
