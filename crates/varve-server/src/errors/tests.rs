//! The bodies of errors.

use super::*;
use crate::respond::ContentType;

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
        r#"{"exception":"class org.apache.hugegraph.exception.NotFoundException","message":"Graph 'a\"b' does not exist","cause":"java.io.X: y","code":"VRV-NOT-FOUND"}"#
    );
    assert_eq!(error.status(), StatusCode::NOT_FOUND);
    assert!(body(&error, true).contains(r#","trace":["crates/varve-server/src/errors/tests.rs:"#));
}

#[test]
fn an_error_of_a_script_has_its_class_as_cause() {
    let error = ApiError::no_index("m").of_script();
    let class = "org.apache.hugegraph.exception.NoIndexException";
    assert_eq!(
        body(&error, false),
        format!(
            r#"{{"exception":"{class}","message":"m","cause":"[{class}]","code":"VRV-NO-INDEX"}}"#
        )
    );
    let unread = ApiError::new(StatusCode::BAD_REQUEST, "", "m").of_script();
    let expected = r#"{"exception":"","message":"m","cause":"","code":"VRV-ARG"}"#;
    assert_eq!(body(&unread, false), expected);
    let unknown = ApiError::outcome_unknown().of_script();
    assert!(body(&unknown, false).contains(r#""cause":"VRV-OUTCOME-UNKNOWN""#));
}

#[test]
fn json_errors_have_jacksons_words() {
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
    let words = r#""message":"Unrecognized field \"foo\", not marked as ignorable"#;
    assert!(text.contains(words), "{text}");
    assert!(text.ends_with(r#""code":"VRV-JSON"}"#), "{text}");
    let content_type = error.to_response(false).content_type;
    assert_eq!(content_type, ContentType::JsonBare);
    assert_eq!(error.status(), StatusCode::BAD_REQUEST);
}
