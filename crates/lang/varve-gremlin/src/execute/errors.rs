//! Exceptions of scripts: their classes, and the matching of `catch`.

use varve_query::QueryError;

use super::environment::Item;

pub(super) const ILLEGAL_ARGUMENT: &str = "java.lang.IllegalArgumentException";
const NO_SUCH_ELEMENT: &str = "java.util.NoSuchElementException";
const MISSING_METHOD: &str = "groovy.lang.MissingMethodException";
const MISSING_PROPERTY: &str = "groovy.lang.MissingPropertyException";
const OUT_OF_BOUNDS: &str = "java.lang.IndexOutOfBoundsException";
const NULL_POINTER: &str = "java.lang.NullPointerException";

/// Superclasses of all exceptions that a script can catch.
const ANY: &[&str] = &["Exception", "RuntimeException", "Throwable"];

/// The class of the exception that a script sees. `None` for errors that end a script and cannot be
/// caught: a passed deadline, an exceeded limit, a failure of the store.
#[must_use]
pub fn class_of(error: &QueryError) -> Option<&str> {
    match error {
        QueryError::Script { exception, .. } => Some(exception),
        QueryError::Unbound(_) => Some(MISSING_PROPERTY),
        QueryError::Cast { .. } => Some("java.lang.ClassCastException"),
        QueryError::Arithmetic(_) => Some("java.lang.ArithmeticException"),
        error if error.code() == "VRV-NO-INDEX" => {
            Some("org.apache.hugegraph.exception.NoIndexException")
        }
        QueryError::Unsupported(_) | QueryError::NotAllowed(_) => {
            Some("java.lang.UnsupportedOperationException")
        }
        QueryError::View(_) | QueryError::Limit(_) => None,
        _ => Some(ILLEGAL_ARGUMENT),
    }
}

/// Whether `catch (A | B e)` catches exceptions of this class.
pub(super) fn catches(classes: &[crate::tree::Text], class: &str) -> bool {
    let simple = class.rsplit('.').next().unwrap_or(class);
    classes.is_empty()
        || classes
            .iter()
            .any(|caught| ANY.contains(&caught.as_str()) || caught == simple)
}

pub(super) fn no_such_method(receiver: &Item, name: &str, arguments: &[Item]) -> QueryError {
    let kinds: Vec<&str> = arguments.iter().map(Item::kind).collect();
    let class = receiver.kind();
    QueryError::script(
        MISSING_METHOD,
        format!(
            "No signature of method: {class}.{name}() is applicable for argument types: ({})",
            kinds.join(", ")
        ),
    )
}

pub(super) fn no_such_property(receiver: &Item, name: &str) -> QueryError {
    let class = receiver.kind();
    QueryError::script(
        MISSING_PROPERTY,
        format!("No such property: {name} for class: {class}"),
    )
}

pub(super) fn nothing_next() -> QueryError {
    QueryError::script(NO_SUCH_ELEMENT, "next(): the traversal has no result")
}

pub(super) fn out_of_bounds(index: i64, size: usize) -> QueryError {
    QueryError::script(
        OUT_OF_BOUNDS,
        format!("Index {index} out of bounds for length {size}"),
    )
}

pub(super) fn on_null(what: &str) -> QueryError {
    QueryError::script(NULL_POINTER, format!("Cannot {what} on null object"))
}
