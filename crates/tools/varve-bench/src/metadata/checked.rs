//! The content of earlier answers, so that identical bytes are not checked again.

use std::collections::HashMap;

use varve_omrs::json::{JsonError, Known, Reader};

/// The most bytes to keep. If there are more, all are forgotten: most of them recur soon or never.
/// At 1280-10 the graph walks repeat some 105 MB of classifications; if they were forgotten in
/// between, checking them again would be counted as time of the repository.
const BYTES_MAX: usize = 256 << 20;

/// The last valid classifications of entities, by the entities' GUIDs.
#[derive(Debug)]
pub(crate) struct Checked {
    known: HashMap<Box<str>, Known>,
    bytes: usize,
    bytes_max: usize,
}

impl Default for Checked {
    fn default() -> Self {
        Self::up_to(BYTES_MAX)
    }
}

impl Checked {
    fn up_to(bytes_max: usize) -> Self {
        Self {
            known: HashMap::new(),
            bytes: 0,
            bytes_max,
        }
    }

    /// Skips the value at the reader's position. Calls `check` to read it, unless it is identical
    /// to the last one of this entity.
    ///
    /// # Errors
    /// As `check`.
    pub(super) fn pass<'a>(
        &mut self,
        guid: &str,
        reader: &mut Reader<'a>,
        check: impl FnOnce(&mut Reader<'a>, &mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        // Without a GUID the value has no key; the missing GUID is reported at the end of the
        // entity.
        if guid.is_empty() {
            return check(reader, self);
        }
        if let Some(known) = self.known.get(guid)
            && reader.pass_known(known)
        {
            return Ok(());
        }
        let known = reader.remembered(|reader| check(reader, self))?;
        if known.bytes() > self.bytes_max / 16 {
            return Ok(());
        }
        if self.bytes + known.bytes() > self.bytes_max {
            *self = Self::up_to(self.bytes_max);
        }
        self.bytes += known.bytes();
        if let Some(former) = self.known.insert(guid.into(), known) {
            self.bytes -= former.bytes();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use varve_omrs::json::Limits;

    use super::*;

    /// Skips each of these values, each of one entity. Returns how many were checked.
    fn checks(checked: &mut Checked, values: &[(&str, &str)]) -> usize {
        let mut count = 0;
        for (guid, value) in values {
            let mut reader = Reader::new(value.as_bytes(), Limits::DEFAULT).expect("text");
            let check = |reader: &mut Reader<'_>, _: &mut Checked| {
                count += 1;
                reader.skip()
            };
            checked.pass(guid, &mut reader, check).expect("JSON");
            reader.end().expect("it was passed whole");
        }
        count
    }

    #[test]
    fn what_was_last_sent_of_an_entity_is_not_checked_again() {
        let mut checked = Checked::default();
        assert_eq!(
            checks(&mut checked, &[("a", "[1]"), ("a", "[1]"), ("a", " [1] ")]),
            1
        );
        assert_eq!(
            checks(&mut checked, &[("b", "[1]"), ("a", "[2]"), ("a", "[1]")]),
            3
        );
        assert_eq!(checks(&mut checked, &[("", "[1]"), ("", "[1]")]), 2);
        assert_eq!((checked.known.len(), checked.bytes), (2, 6));
    }

    #[test]
    fn what_is_wrong_is_reported_each_time() {
        let mut checked = Checked::default();
        for _ in 0..2 {
            let mut reader = Reader::new(b"[1", Limits::DEFAULT).expect("text");
            let result = checked.pass("a", &mut reader, |reader, _| reader.skip());
            result.expect_err("it has no end");
        }
        assert_eq!(checked.bytes, 0);
    }

    #[test]
    fn no_more_is_kept_than_is_bearable() {
        let bytes_max = 64 << 10;
        let mut checked = Checked::up_to(bytes_max);
        let value = format!("[\"{}\"]", "x".repeat(1 << 10));
        let mut most = 0;
        for number in 0..200 {
            checks(&mut checked, &[(&number.to_string(), &value)]);
            let held = checked.known.values().map(Known::bytes);
            assert_eq!(checked.bytes, held.sum::<usize>());
            assert!(checked.bytes <= bytes_max);
            most = most.max(checked.bytes);
        }
        assert!(most > bytes_max - 2 * value.len(), "as much as is bearable");
        let long = format!("[\"{}\"]", "x".repeat(bytes_max / 16));
        assert_eq!(checks(&mut checked, &[("a", &long), ("a", &long)]), 2);
    }

    /// The amount that the walks of the largest published volume repeat.
    #[test]
    fn the_classifications_of_the_largest_volume_are_kept() {
        assert!(Checked::default().bytes_max > 2 * 105_000_000);
    }
}
