//! Stores the elements of a batch, and finds those that the store refuses.

use crate::batches::{BadRow, Sending};

/// The prefix of the message that a vertex of an edge does not exist.
const NO_VERTEX: &str = "Invalid vertex id ";

/// Why a store did not take elements.
#[derive(Debug)]
pub enum Refused<F> {
    /// One of the elements is wrong, and none of them is stored.
    Elements(String),
    /// The store failed; elements may be stored or not.
    Failed(F),
}

/// Stores elements, of which it also gets the JSON as one array.
type Store<'a, F> = &'a mut dyn FnMut(&[Sending], &str) -> Result<(), Refused<F>>;

/// Stores elements with `store`. Bisects refused elements: those that are refused alone are added
/// to `bad`. `goes_on` is asked before each attempt.
///
/// # Errors
/// When the store failed.
pub fn store_each<F>(
    elements: &mut [Sending],
    bad: &mut Vec<BadRow>,
    goes_on: &dyn Fn() -> bool,
    store: Store<'_, F>,
) -> Result<(), F> {
    if elements.is_empty() || !goes_on() {
        return Ok(());
    }
    match store(elements, &body(elements)) {
        Ok(()) => {
            let stored = elements.iter_mut();
            stored.for_each(|element| element.stored = true);
            Ok(())
        }
        Err(Refused::Elements(message)) => {
            if let [element] = elements {
                let (line, reason) = (element.line, reason(message));
                bad.push(BadRow { line, reason });
                return Ok(());
            }
            let (first, second) = elements.split_at_mut(elements.len() / 2);
            store_each(first, bad, goes_on, store)?;
            store_each(second, bad, goes_on, store)
        }
        Err(Refused::Failed(failure)) => Err(failure),
    }
}

/// The reason for a refused row, from the store's message.
pub(crate) fn reason(message: String) -> String {
    match message.strip_prefix(NO_VERTEX) {
        Some(id) => format!("the vertex {id} does not exist"),
        None => message,
    }
}

fn body(elements: &[Sending]) -> String {
    let length: usize = elements.iter().map(|element| element.json.len() + 1).sum();
    let mut body = String::with_capacity(length + 2);
    for (at, element) in elements.iter().enumerate() {
        body.push(if at == 0 { '[' } else { ',' });
        body.push_str(&element.json);
    }
    body.push(']');
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(line: u64) -> Sending {
        Sending {
            line,
            bytes: line..line + 1,
            json: line.to_string(),
            mark: None,
            stored: false,
        }
    }

    #[test]
    fn refused_elements_are_found_and_the_others_are_stored() {
        let mut elements: Vec<Sending> = (0..7).map(sending).collect();
        let mut bad = Vec::new();
        let mut store = |_: &[Sending], body: &str| match body.contains('3') || body.contains('5') {
            true => Err(Refused::<()>::Elements("Invalid vertex id 'x'".to_owned())),
            false => Ok(()),
        };
        store_each(&mut elements, &mut bad, &|| true, &mut store).expect("no failure");
        let lines: Vec<u64> = bad.iter().map(|row| row.line).collect();
        assert_eq!(lines, [3, 5]);
        assert_eq!(bad[0].reason, "the vertex 'x' does not exist");
        let stored = elements.iter().filter(|element| element.stored);
        assert_eq!(stored.count(), 5);
    }

    #[test]
    fn a_failure_ends_it() {
        let mut elements: Vec<Sending> = (0..7).map(sending).collect();
        let mut store = |_: &[Sending], _: &str| Err(Refused::Failed("gone"));
        let ended = store_each(&mut elements, &mut Vec::new(), &|| true, &mut store);
        assert_eq!(ended, Err("gone"));
    }
}
