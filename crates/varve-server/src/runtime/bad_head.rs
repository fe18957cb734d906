//! The answer to a request whose head cannot be read.
//!
//! Such a request reaches no handler: hyper answers it by itself, with a status and no body. That
//! answer is recognised here and replaced by one with the error object that clients expect.

use http::StatusCode;

use crate::errors::ApiError;

/// Longest answer without a body that hyper makes by itself.
const LONGEST: usize = 256;

/// The answer to send in the place of `written`, if that is hyper's own answer to a bad head. The
/// server's own answers with such a status always have a body.
pub(super) fn instead_of(written: &[u8]) -> Option<Vec<u8>> {
    const START: &[u8] = b"HTTP/1.1 4";
    if !written.starts_with(START) || written.len() > LONGEST {
        return None;
    }
    let text = std::str::from_utf8(written).ok()?;
    if !text.ends_with("\r\n\r\n") || !text.contains("content-length: 0\r\n") {
        return None;
    }
    let error = match &text[9..12] {
        "400" => ApiError::bad_request(
            "The head of the request is malformed. In a path and a query, characters like \
             > < \" and the space must be escaped: > as %3E",
        ),
        "414" => too_large(StatusCode::URI_TOO_LONG, "path"),
        "431" => too_large(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "head"),
        _ => return None,
    };
    let answer = error.to_response(false);
    let length = answer.body().len();
    let head = text.strip_suffix("\r\n")?.replace(
        "content-length: 0\r\n",
        &format!("content-type: application/json\r\ncontent-length: {length}\r\n"),
    );
    let pieces = answer.body().pieces().map(|piece| &**piece);
    let whole: Vec<&[u8]> = [head.as_bytes(), b"\r\n"]
        .into_iter()
        .chain(pieces)
        .collect();
    Some(whole.concat())
}

fn too_large(status: StatusCode, what: &str) -> ApiError {
    let exception = "jakarta.ws.rs.ClientErrorException";
    ApiError::new(
        status,
        exception,
        format!("The {what} of the request is too large"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_without_a_body_are_replaced() {
        let bare = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let text = String::from_utf8(instead_of(bare).unwrap()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(
            head,
            format!(
                "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\ndate: x",
                body.len()
            )
        );
        assert_eq!(
            body,
            r#"{"exception":"class jakarta.ws.rs.BadRequestException","message":"The head of the request is malformed. In a path and a query, characters like > < \" and the space must be escaped: > as %3E","cause":"","code":"VRV-ARG"}"#
        );
        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 10\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
        ] {
            assert_eq!(instead_of(other.as_bytes()), None, "{other}");
        }
    }
}
