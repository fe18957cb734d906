//! Values that occur repeatedly in documents: such a value is read once, and then recognised by its
//! bytes.

use super::{JsonError, Reader, kind_of};

/// A value that was read before ([`Reader::remembered`]). The same bytes need not be read again.
#[derive(Debug, Clone)]
pub struct Known {
    text: Box<str>,
    /// The number of values in it, itself included.
    values: usize,
    /// The number of its nested levels, its own included.
    levels: usize,
}

impl Known {
    /// The length of the value in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len()
    }
}

impl Reader<'_> {
    /// Reads the next value, an object or a list, with `read`, which must read all of it. Returns
    /// what [`Reader::pass_known`] needs to recognise the value.
    ///
    /// # Errors
    /// When the document ends, the value is neither an object nor a list, or `read` fails.
    pub fn remembered(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), JsonError>,
    ) -> Result<Known, JsonError> {
        let first = self.peek()?;
        if first != b'{' && first != b'[' {
            let message = format!("an object or a list was expected, found {}", kind_of(first));
            return Err(self.error(message));
        }
        let (start, values, deepest) = (self.at, self.values_left, self.deepest);
        self.deepest = self.depth;
        read(self)?;
        let levels = self.deepest - self.depth;
        self.deepest = self.deepest.max(deepest);
        Ok(Known {
            text: self.text[start..self.at].into(),
            values: values - self.values_left,
            levels,
        })
    }

    /// Skips the next value if it has the bytes of `known` and is within the limits of values and
    /// depth here, too. Returns whether it did; if not, only white space was skipped.
    pub fn pass_known(&mut self, known: &Known) -> bool {
        self.white_space();
        // A prefix match is enough: an object or a list ends with its bracket, whatever follows.
        let is_it = self.text.as_bytes()[self.at..].starts_with(known.text.as_bytes())
            && known.values <= self.values_left
            && known.levels <= self.limits.depth.saturating_sub(self.depth);
        if is_it {
            self.at += known.text.len();
            self.deepest = self.deepest.max(self.depth + known.levels);
            self.values_left -= known.values;
        }
        is_it
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    /// Reads a list of two values. Returns whether the second was recognised as the first.
    fn second_is_known(document: &str, limits: Limits) -> Result<bool, JsonError> {
        let mut reader = Reader::new(document.as_bytes(), limits)?;
        let (mut known, mut is_known) = (None, false);
        reader.list(|reader| match &known {
            None => {
                known = Some(reader.remembered(Reader::skip)?);
                Ok(())
            }
            Some(known) => {
                is_known = reader.pass_known(known);
                if is_known { Ok(()) } else { reader.skip() }
            }
        })?;
        reader.end()?;
        Ok(is_known)
    }

    #[test]
    fn the_same_bytes_are_known_and_others_are_read() {
        let known = |document: &str| second_is_known(document, Limits::DEFAULT);
        assert!(known(r#"[{"a":[1]}, {"a":[1]} ]"#).expect("JSON"));
        assert!(known(r#"[[],[]]"#).expect("JSON"));
        assert!(!known(r#"[{"a":[1]},{"a":[2]}]"#).expect("JSON"));
        assert!(!known(r#"[{"a":[1]},{"a": [1]}]"#).expect("JSON"));
        assert!(!known(r#"[[],[1]]"#).expect("JSON"));
        known(r#"[{"a":[1]},{"a":[1]"#).expect_err("the list has no end");
        known(r#"[{"a":[1]},{"a":[1}]"#).expect_err("it is no JSON");
        known("[1,1]").expect_err("a number does not say where it ends");
    }

    #[test]
    fn what_is_known_counts_as_what_is_read() {
        let document = r#"[{"a":[[1],2]},{"a":[[1],2]}]"#;
        for values in 0..20 {
            for depth in 0..8 {
                let limits = Limits {
                    values,
                    depth,
                    ..Limits::DEFAULT
                };
                // The list, and twice an object, a list, a list in it, and two numbers.
                let fits = values >= 11 && depth >= 4;
                assert_eq!(second_is_known(document, limits).is_ok(), fits);
            }
        }
    }

    #[test]
    fn what_is_known_may_stand_deeper_only_where_there_is_room() {
        let limits = Limits {
            depth: 4,
            ..Limits::DEFAULT
        };
        let document = "[[[]],[[[]]],[[[[]]]]]";
        let mut reader = Reader::new(document.as_bytes(), limits).expect("it is short");
        let mut known = None;
        let result = reader.list(|reader| match &known {
            None => {
                known = Some(reader.remembered(|reader| reader.list(Reader::skip))?);
                Ok(())
            }
            Some(known) => reader.list(|reader| {
                if reader.pass_known(known) {
                    return Ok(());
                }
                reader.list(|reader| {
                    assert!(!reader.pass_known(known), "it would be too deep");
                    reader.skip()
                })
            }),
        });
        result.expect_err("the last one is too deep");
        assert_eq!(
            known.map(|known| (known.bytes(), known.values, known.levels)),
            Some((4, 2, 2))
        );
    }
}
