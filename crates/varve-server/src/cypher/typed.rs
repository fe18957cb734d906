//! The media type of the Query API's typed JSON.

/// How the media type of parameters and answers begins, whatever its version.
pub(super) const TYPED: &str = "application/vnd.neo4j.query";

/// Whether a media type is one of the Query API's own.
pub(crate) fn is_typed(mime: &str) -> bool {
    mime.trim_start().starts_with(TYPED)
}
