//! The bodies of errors.

use super::*;

#[test]
fn no_answer_names_a_folder_of_the_server() {
    for (text, expected) in [
        (
            "IO error: while open a file for lock: /var/lib/varve/graphs/g/LOCK: Permission denied",
            "IO error: while open a file for lock: LOCK: Permission denied",
        ),
        ("reading '/data/x.sst' failed", "reading 'x.sst' failed"),
        ("(/a/b/c) and /d/.", "(c) and d/."),
        ("5/6 of http://h/p, a/b", "5/6 of http://h/p, a/b"),
        ("no path", "no path"),
    ] {
        assert_eq!(without_folders(text), expected);
    }
    let error = ApiError::storage("damaged: /d/e/1.log").with_cause("/d/e/1.log");
    let answer = body(&error, false);
    assert!(!answer.contains("/d"), "{answer}");
    let own_words = ApiError::not_found("Vertex '/a/b' does not exist");
    assert!(body(&own_words, false).contains("/a/b"));
}

fn body(error: &ApiError, trace: bool) -> String {
    let pieces: Vec<_> = error.to_response(trace).body.pieces().cloned().collect();
    String::from_utf8(pieces.concat()).unwrap()
}

#[test]
fn the_object_has_the_three_keys_in_order() {
    let error = ApiError::not_found("Graph 'a\"b' does not exist").with_cause("java.io.X: y");
    assert_eq!(
        body(&error, false),
        r#"{"exception":"class org.apache.hugegraph.exception.NotFoundException","message":"Graph 'a\"b' does not exist","cause":"java.io.X: y"}"#
    );
    assert_eq!(error.status(), StatusCode::NOT_FOUND);
    assert!(body(&error, true).contains(r#","trace":["crates/varve-server/src/errors/tests.rs:"#));
}

#[test]
fn json_errors_are_plain_text_with_jacksons_words() {
    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Only {
        name: String,
    }
    let error: ApiError = serde_json::from_str::<Only>(r#"{"foo":1}"#)
        .unwrap_err()
        .into();
    let text = body(&error, false);
    assert!(
        text.starts_with(r#"Unrecognized field "foo", not marked as ignorable"#),
        "{text}"
    );
    assert_eq!(error.to_response(false).content_type, ContentType::Text);
    assert_eq!(error.status(), StatusCode::BAD_REQUEST);
}
