//! The error of a document: what is wrong, and where.

use std::fmt::Write as _;

/// A document that cannot be read: what is wrong, and the path to it from the root, as in
/// `initialProperties.instanceProperties.name.primitiveValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    message: String,
    /// Byte offset in the document.
    offset: usize,
    /// The steps from the root, innermost first.
    steps: Vec<Step>,
    fault: Fault,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The document is not JSON, or not the expected value.
    Malformed,
    /// The document, or a string in it, is too long.
    TooLong,
    /// The document is nested too deep.
    TooDeep,
    /// The document has too many values.
    TooMany,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The longest key that is quoted in a path, in characters.
const KEY_CHARACTERS_MAX: usize = 60;

impl JsonError {
    /// An error at byte `offset`.
    #[must_use]
    pub fn new(offset: usize, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            offset,
            steps: Vec::new(),
            fault: Fault::Malformed,
        }
    }

    /// The same error, of this kind.
    #[must_use]
    pub(crate) fn of(mut self, fault: Fault) -> Self {
        self.fault = fault;
        self
    }

    /// The kind of the error.
    #[must_use]
    pub const fn fault(&self) -> Fault {
        self.fault
    }

    /// Puts the property `key` of an object before the path of the error.
    #[must_use]
    pub fn in_key(mut self, key: &str) -> Self {
        self.steps
            .push(Step::Key(key.chars().take(KEY_CHARACTERS_MAX).collect()));
        self
    }

    /// Puts the element `index` of a list before the path of the error.
    #[must_use]
    pub fn in_index(mut self, index: usize) -> Self {
        self.steps.push(Step::Index(index));
        self
    }

    /// The message, without path and offset.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The byte offset in the document at which reading stopped.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The path from the root, empty for the root itself.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps.iter().rev() {
            match step {
                Step::Key(key) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
                Step::Index(index) => {
                    let _ = write!(path, "[{index}]");
                }
            }
        }
        path
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.steps.is_empty() {
            write!(f, "{} at byte {}", self.message, self.offset)
        } else {
            write!(
                f,
                "{}: {} at byte {}",
                self.path(),
                self.message,
                self.offset
            )
        }
    }
}

impl std::error::Error for JsonError {}
