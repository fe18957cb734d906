//! The content types of answers.

/// The content types that the API speaks, with or without charset exactly as HugeGraph's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentType {
    /// `application/json;charset=UTF-8`: every success but the few below.
    Json,
    /// `application/json`: `/`, `/apis` and all errors.
    JsonBare,
    /// `text/plain;charset=UTF-8`: metrics.
    TextUtf8,
    /// `text/plain`: JSON parse errors.
    Text,
    /// `application/vnd.sun.wadl+xml`: the answer to OPTIONS.
    Wadl,
    /// Any other type.
    Other(&'static str),
}

impl ContentType {
    /// The header's text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json;charset=UTF-8",
            Self::JsonBare => "application/json",
            Self::TextUtf8 => "text/plain;charset=UTF-8",
            Self::Text => "text/plain",
            Self::Wadl => "application/vnd.sun.wadl+xml",
            Self::Other(text) => text,
        }
    }
}
